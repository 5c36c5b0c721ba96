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
    "text": "b29a682f1808cc70f5828eb9a4a915afbf6a23b2bcf83a66b94e45e35b5a8e6a",
    "bytes": "78ce87b2169031e617f2f18a3b24fd7e0894ad4fd8d8f2bfa9fd0b6281d74426",
    "integers": "9e53520e9eb5ab8a646fd349d0bb6803203397aa0e8c4c106b151e6c33d26885",
    "few": "cf7d04e036c9c0d2d5cd17f32b3f13369c3765b7133795e2bc77a148ca4a7f4b",
    "few integers": "a7d1348953693bb3047ea3b300b1bde49ea54be6599b39d1ca219aa46c8c0c03",
    "few top": "dbdb2644e0203cfd10e26c1dc662b1c40247c6ef940d9fbed4ad87abb3ee94b1",
    "listed": "51a456e0d3bec1c2ce2dfb4b39d1404aec2168a2e2c10fc058ea2a4cb733a2b6",
    "deletions": "95c038a412d91d77b23e7ef8680536947f50a76d4ddf9085c0c4bc17fa236e24",
    "paper": "eb28116361905af4b7c9cae64e9ae0b56cabd581eb7de97f3b94fa33f94efab3",
    "paper narrow": "92b8370255c2892d260407998297580f3c6041047994d76bdeca687a241ba07c",
    "top": "9da5a5d6a1b0d46b32fcbaa2b2e5a5f2aec4b5e314ecb8324b280252af442bb8",
    "top integers": "982812b4303f08e401b57f94aa0c58c876968c72fb36a3f66a744d335468e72e",
    "top paper": "4f24065b6e7e4bd37e89cb6ac7cffb613053fcd9df6432125185ec2776efc4a4",
    "top with room": "85b1b2caf1fe76f1abb0ce92fbcd419ce798002065d9be451147030b6b9c51a8",
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
