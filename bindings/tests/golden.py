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
    "few integers": Case(int, 10, False, 1 << 20, "compact", 0, 0),
    "few top": Case(str, 10, False, 1 << 20, "compact", 0, 20),
    "listed": Case(bytes, 100_000, False, 1 << 21, "compact", 0, 0),  # grown, and every count exact
    "deletions": Case(str, 100_000, True, 1048576, "compact", 2**63 - 1, 0),
    "crowded deletions": Case(str, 100_000, True, 16384, "compact", 5, 0),
    "paper": Case(int, 50_000, False, 307200, "paper", 0, 0),
    "paper narrow": Case(str, 50_000, True, 20480, "paper", 1, 0),  # one brick, of fewer columns than were trained
    # What a full top keeps depends on how items are put into calls, from 4096 items on.
    "top": Case(str, 4_000, False, 16384, "compact", 0, 20),
    "top integers": Case(int, 4_000, False, 8192, "compact", 3, 20),
    "top paper": Case(str, 4_000, False, 131072, "paper", 1, 20),
    "top with room": Case(str, 100_000, False, 16 << 20, "compact", 0, 20),
}
# SHA-256 of the content that all four give.
GOLDEN = {
    "text": "1bc8a8b21875b0a5194848a384731ed9d7006cc758a8a5f8d19870fc4b5bb847",
    "bytes": "1ea86719f8ef748e5e148e00b41721198ca1bf973a04605ffd5ada49e0a0cc4e",
    "integers": "53fd98e26c9239cf4b18f855ff9a594df984eb75710a3e5f0bb8124a82c95b40",
    "few": "c78369b3b634a486c772d1aefdac3519db503b72decd64fa675de30c9ea10391",
    "few integers": "1af5801aaaf75f188d390f13ab4c291a1de741a71e465d98add1903d94edc99d",
    "few top": "c098a82d7fefee097d645f42f67067442454c608be37095c15218131f03f25d6",
    "listed": "62ee8afad9cd849b1e34448a0fab87bbd3e5bf2d4e86c4c3c2fc794c9238c2d9",
    "deletions": "0d3c3800ac65eb06e8a47d3f3b93f76b911d2ded9fc3f7b3ca1ccb80bb2a25ed",
    "crowded deletions": "ef56642f0388ff3d7b0413c333eab6ee2cd9f8a9738e9d0e324d200b9171e473",
    "paper": "4d5e989a4682c62d476d03afe70bff57a2b33708bddf36ed3f15bdc2724f4baa",
    "paper narrow": "1e2b707d4d76c0dea985561231ed1cfee222d8b7ec70dcc6d1b0d81188cf1cbc",
    "top": "8c1086503b29fc0f72950599d2d901e73a068619b338a6d7c8f04145300dbe6f",
    "top integers": "63523b4a19daf62d860a80b19a0bd7379fefeb9d4d9803664a18b9217c29ad55",
    "top paper": "f748ccda07bf4298c86f5953f7fa97add2a37fc83990b1839705afb8f401bf8d",
    "top with room": "77fb96f3d2c5d2e31b7c2fe57e953f155c4d3f621b7ba5a28a1a27b2c8ff19e3",
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


ITEMS = 13  # where a sketch says what its items are: bytes (1) or integers (2)


def content(data):
    """Of a sketch's bytes, all but what its items are, since Redis knows none but bytes, and the fingerprint of its
    model, which may change where the content does not; and so the checksum."""
    return data[:ITEMS] + data[ITEMS + 1:32] + data[40:-8]


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
    select = f"SELECT {aggregate}(item, count, %s, %s, %s::text ORDER BY place)::bytea FROM golden"
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
            for way, data in given.items():
                if data[ITEMS] != (2 if case.kind is int and way != "Redis" else 1):
                    print(f"{name}: in {way} its items are of kind {data[ITEMS]}")
                    failed = True
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
