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
# SHA-256 of the content that all four give.
GOLDEN = {
    "text": "b18bbfced25739f9d09215b1a0fd7189aae86e231f574219e1c1820a0f88acdd",
    "bytes": "8deb5729653a9b277594eb0c1945a3498afa70a3856d88e49886db0eef7afdfe",
    "integers": "5d353b640a77f6c48053385a57d0b764ae0a97cd57b7382347ac8cbaa9118e03",
    "few": "4d129d1cb64a3a8e8bd76fe6af881c8ff7d539ca1a8b8622f421a295bf0a6a8e",
    "deletions": "b9b4afeeb793dad2ba1c535611528ebd3ce685fbac8555c80ea9c15f64491192",
    "paper": "aaaa18cf2cf26f8119ce846e65bdf4a15e86a35e4775495a4ec40a0a038e977e",
    "paper narrow": "bcdd68b2056f8b0f1a217b176a235a09ad9bbfb5b9016d5bc898d7f70158920e",
    "top": "bd98bc4505e0812ae748bd28a688932c607312d0cd177616ea3e4ec0dc0917ae",
    "top integers": "50c797fa5e26022d00a9ec9b5b49691e30f45d952de336666ef5c08325fdabd0",
    "top paper": "43c53f5632ae55c1f6b81de27b524aa7c93ea2b4e3680ac38937db44cd7bb93f",
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


def content(data):
    """Of a sketch's bytes, all but the fingerprint of its model, which may change where the content does not, and so the checksum."""
    return data[:32] + data[40:-8]


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
        command += ["--format=tsv", "--keep-nul"]
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
            digests = {way: hashlib.sha256(content(data)).hexdigest() for way, data in given.items()}
            if len(set(given.values())) > 1:
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
