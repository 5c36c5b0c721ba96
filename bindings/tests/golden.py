"""The golden test: the same stream gives the same canonical bytes in C, Python, Redis and PostgreSQL, now and later.

golden.sh runs it beside a PostgreSQL server. GOLDEN may only change together with the version of the format, with a
model, or with the number of blocks that a budget makes."""

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
    "text": "bcb110b7346537c676064351b8c28b7fbdf9a84b839d1830a0a3642e21772faa",
    "bytes": "d721cc6a4ab45891b23d5922a426d109f593f45f846de4b8b3a634aec2979c8e",
    "integers": "e76a66f5368f5761cecfcb37c4bc1d9b11cd39a14b8f71e1b72331d745ecdbc1",
    "few": "10fbd54209b9f96851c601813757281dde1af5ee1084b8ff6e652cc614159a4b",
    "deletions": "5245a1b409627fc5480dc7b504a260e62e01217cc1d27ed8955edbaf1c070db0",
    "paper": "8854c77d404b359b5cd0dff048ec8f9234ba60ce563a42b2472ee6b9e9c6babc",
    "paper narrow": "e4b1b1d3cf12969f97fa6b816e090fd0c44142c9eafd0b4a904948b2ab3d2e4c",
    "top": "116d4c00f680e4fe7649367e8077f3427ba1083756e4a0290883185f407da7cf",
    "top integers": "08187d02bc49b431683c9195be40f32dfcee94eee8058634671a4ca721faf57e",
    "top paper": "d5d1100f97e769cd71cdb16998b42a128d287cf5efa5da9e09c9962cb0dff95b",
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
