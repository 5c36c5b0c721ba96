"""The golden test: the same stream gives the same canonical bytes in C, Python, Redis and PostgreSQL, now and later.

golden.sh runs it beside a PostgreSQL server. GOLDEN may only change together with the version of the format or with a
model."""

import collections
import hashlib
import os
import struct
import subprocess
import sys

import psycopg
from legosketch import Sketch
from server import Server

Case = collections.namedtuple("Case", "kind n deletes budget model seed top")
CASES = {
    "text": Case(str, 100_000, False, 32768, "compact", 0, 0),
    "bytes": Case(bytes, 100_000, False, 32768, "compact", 7, 0),
    "integers": Case(int, 300_000, False, 65536, "compact", 0, 0),
    "few": Case(str, 10, False, 1 << 20, "compact", 0, 0),
    # Steps of a block are not taken back (docs/format.md), so with deletions the bytes agree only where there is room.
    "deletions": Case(str, 100_000, True, 1048576, "compact", 2**63 - 1, 0),
    "paper": Case(int, 50_000, False, 307200, "paper", 0, 0),
    "paper narrow": Case(str, 50_000, True, 20480, "paper", 1, 0),  # one brick, of fewer columns than were trained
    "top": Case(str, 100_000, False, 32768, "compact", 0, 20),
    "top integers": Case(int, 100_000, False, 16384, "compact", 3, 20),
    "top paper": Case(str, 50_000, False, 131072, "paper", 1, 20),
}
# SHA-256 of what all four give.
GOLDEN = {
    "text": "8a33cf0a73e082d487eed409df9002fd99df4b9a78388b43a79e2677a4e3b8df",
    "bytes": "ed94ef80eb852e517f72f70086aee83afeb2fdc98a383a4138e7743a97744f83",
    "integers": "f45700ff0633beaabe81f99e255b7f3202075a57d917ad68e85ff00535976ee2",
    "few": "26407587df6761610e371425cafb2bd74e4e7926db09e34c5f7a76029a1346c6",
    "deletions": "471cf2dfa234b2256505b65d3cc00a182f73103a761e29d43505e64d6e42d04a",
    "paper": "8854c77d404b359b5cd0dff048ec8f9234ba60ce563a42b2472ee6b9e9c6babc",
    "paper narrow": "e4b1b1d3cf12969f97fa6b816e090fd0c44142c9eafd0b4a904948b2ab3d2e4c",
    "top": "4e39d5b3d4720611c21aff42be845e6737b0a58149e4389fe75c62221bb83323",
    "top integers": "798fd04df37cafcc29f1578e47ef7faadd1c46625a02eae0e382018688e6b0c4",
    "top paper": "466491026638cdea25a4c9ed342c38bf09406c21d8ff781ac04edcae72e2f7f9",
}


def stream(case):
    """Items with counts. Numbers below 2^16, the lower the more often, from a generator that is written down here: the
    low half of a linear congruential one's state is poor, so its high half is used."""
    state, items = 20250716, []
    for _ in range(case.n):
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        number = (state >> 40) % (2 << (state >> 32 & 15))
        count = 1 + (state >> 36) % 3
        if case.kind is str:
            item = f"Größe {number}"  # more bytes than letters
        elif case.kind is bytes:
            item = bytes([0] + [128 | number >> shift & 127 for shift in (0, 7, 14)])  # no UTF-8, nor a line's end
        else:
            item, count = number - 1000, 1  # negative ones too; the command takes keys without counts
        items.append((item, count))
    if case.deletes:
        items += [(item, -count) for item, count in items[::2]]
    return items


def raw(item):
    if isinstance(item, str):
        return item.encode()
    return item if isinstance(item, bytes) else struct.pack("<q", item)


def by_command(case, items):
    """The C library."""
    command = [os.environ["LEGOSKETCH"], "build", "-q", "-o", "-", f"--budget={case.budget}", f"--model={case.model}"]
    command += [f"--seed={case.seed}"] + ["--top"] * bool(case.top)
    if case.kind is int:
        command.append("--format=u64")
        given = b"".join(raw(item) for item, _ in items)
    else:
        command.append("--format=tsv")
        given = b"".join(b"%s\t%d\n" % (raw(item), count) for item, count in items)
    return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True).stdout


def by_python(case, items):
    sketch = Sketch(case.budget, model=case.model, seed=case.seed, top=bool(case.top))
    for item, count in items:
        sketch.add(item, count)
    return sketch.to_bytes()


def by_redis(server, case, items):
    server("DEL", "golden")
    options = ["TOP", case.top] if case.top else []
    server("LEGO.RESERVE", "golden", "BUDGET", case.budget, "MODEL", case.model, "SEED", case.seed, *options)
    server.pipeline(
        ["LEGO.INCRBY", "golden", *(word for item, count in items[i : i + 1000] for word in (raw(item), count))]
        for i in range(0, len(items), 1000)
    )
    return server("LEGO.DUMP", "golden")


def by_postgres(database, case, items):
    column = {str: "text", bytes: "bytea", int: "bigint"}[case.kind]
    database.execute(f"DROP TABLE IF EXISTS golden; "
                     f"CREATE TEMPORARY TABLE golden (place int, item {column}, count bigint)")
    with database.cursor().copy("COPY golden FROM STDIN") as copy:
        for place, (item, count) in enumerate(items):
            copy.write_row((place, item, count))
    aggregate = "lego_top_agg" if case.top else "lego_agg"
    select = f"SELECT {aggregate}(item, count, %s, %s, %s ORDER BY place)::bytea FROM golden"
    return database.execute(select, (case.budget, case.seed, case.model)).fetchone()[0]


def main():
    failed = False
    with Server() as server, psycopg.connect(autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS legosketch")
        for name, case in CASES.items():
            items = stream(case)
            given = {
                "C": by_command(case, items),
                "Python": by_python(case, items),
                "Redis": by_redis(server, case, items),
                "PostgreSQL": by_postgres(database, case, items),
            }
            digests = {way: hashlib.sha256(data).hexdigest() for way, data in given.items()}
            if len(set(digests.values())) > 1:
                sizes = {way: len(data) for way, data in given.items()}
                print(f"{name}: they differ from each other: {digests}, of {sizes} bytes")
                failed = True
            elif digests["C"] != GOLDEN.get(name):
                print(f"{name}: all four give SHA-256 {digests['C']}, not the one here")
                failed = True
    print("not the golden bytes" if failed else f"{len(CASES)} streams, the same bytes in all four")
    return failed


if __name__ == "__main__":
    sys.exit(main())
