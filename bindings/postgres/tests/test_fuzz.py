"""Bytes that are nearly a sketch, by each way into the server: an error or a value, and the server stays up."""
import random

import psycopg
import pytest
import xxhash
from legosketch import Sketch
from psycopg.adapt import Dumper
from psycopg.pq import Format

EACH = 2000  # a way
LENGTH, SECRET = 16, 14  # their offsets in docs/format.md


def seeds():
    items = random.Random(1)
    for budget, model, top in ((4096, "compact", None), (4096, "paper", None), (8192, "compact", True),
                               (12000, "paper", True)):
        for n in (0, 30, 5000):
            sketch = Sketch(budget, model=model, top=top)
            for _ in range(n):
                sketch.add(items.randrange(n), items.choice((1, 1, 1, 2, 1000, -1)))
            yield sketch.to_bytes()


SEEDS = list(seeds())


def seal(data):
    """The right length and checksum, so that what is behind them is looked at."""
    data[LENGTH:LENGTH + 8] = len(data).to_bytes(8, "little")
    data[-8:] = xxhash.xxh3_64_intdigest(bytes(data[:-8])).to_bytes(8, "little")
    return data


def mutant(dice):
    data = bytearray(dice.choice(SEEDS))
    for _ in range(dice.choice((0, 1, 1, 1, 2, 3, 8))):
        kind, at = dice.randrange(8), dice.randrange(min(len(data), dice.choice((96, 400, 1 << 20))) + 1)
        if kind < 4:
            data[at:at + 1] = bytes(byte ^ 1 << dice.randrange(8) for byte in data[at:at + 1])
        elif kind == 4:
            data[at:at + 1] = bytes([dice.choice((0, 1, 127, 128, 255))])
        elif kind == 5:
            size = dice.choice((4, 8))
            value = dice.choice((0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1, dice.randrange(2**64)))
            data[at:at + size] = (value % 2 ** (8 * size)).to_bytes(size, "little")
        elif kind == 6:
            del data[at:at + dice.choice((1, 8, 64, 256, 1 << 20))]
        else:
            other = dice.choice(SEEDS)
            start = dice.randrange(len(other))
            data[at:at + dice.choice((0, 64))] = other[start:start + dice.choice((1, 8, 64, 256))]
    return bytes(seal(data) if len(data) >= 24 and dice.randrange(10) else data)


class Sent(bytes):
    """Bytes that are sent as a legosketch, through legosketch_recv."""


class SentDumper(Dumper):
    format = Format.BINARY

    def dump(self, sent):
        return bytes(sent)


WAYS = {"text": ("%s::text::legosketch", lambda data: "\\x" + data.hex()), "cast": ("%s::bytea::legosketch", bytes),
        "binary": ("%s", Sent)}


@pytest.mark.parametrize("way", [*WAYS, "copy"])
def test_mutants(connection, memory, way):
    oid = connection.execute("SELECT 'legosketch'::regtype::oid").fetchone()[0]
    SentDumper.oid = oid
    connection.adapters.register_dumper(Sent, SentDumper)
    connection.execute("CREATE TEMP TABLE taken (sketch legosketch)")
    dice = random.Random(way)
    accepted, refused = 0, {}
    before = memory()
    for _ in range(EACH):
        data = mutant(dice)
        try:
            if way == "copy":
                with connection.cursor().copy("COPY taken FROM STDIN (FORMAT binary)") as copy:
                    copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
                    copy.write(b"\0\1" + len(data).to_bytes(4, "big") + data + b"\xff\xff")  # one row of one column
            else:
                expression, convert = WAYS[way]
                connection.execute(f"INSERT INTO taken SELECT {expression}", [convert(data)])
        except psycopg.Error as error:
            message = error.diag.message_primary
            refused[message] = refused.get(message, 0) + 1
            assert error.sqlstate in ("22P03", "22023"), message
            continue
        accepted += 1
        use(connection, data) if data[SECRET] == 0 else refuse(connection)
    assert accepted > EACH / 50 and len(refused) >= 5, (accepted, refused)
    assert sum(n for message, n in refused.items() if "impossible" in message) > EACH / 10, refused
    assert memory() < before + 100


def refuse(connection):
    """A secret seed that nobody knows: it may be stored, and nothing more."""
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="secret seed"):
        connection.execute("SELECT lego_total(sketch) FROM taken")
    connection.execute("TRUNCATE taken")


def use(connection, data):
    """What was taken comes back byte for byte, and every question about it is answered or refused."""
    saved, budget, _, _, _ = connection.execute(
        "SELECT sketch::bytea, (lego_info(sketch)->>'budget')::bigint, lego_total(sketch), lego_estimate(sketch, 7.0), "
        "lego_estimates(sketch, '{0.5, 1, 1e30}'::float8[]) FROM taken", binary=True).fetchone()
    assert saved == data
    statements = ["SELECT count(*), count(*) FROM taken, lego_top(sketch)"]
    if budget < 64 << 20:  # what is added to may grow to its budget, and some mutants have one of gigabytes
        statements += ["SELECT lego_total(sketch + sketch), 2 * lego_total(sketch) FROM taken",
                       "SELECT lego_total(sketch - sketch), 0 FROM taken"]
    for statement in statements:
        try:
            left, right = connection.execute(statement).fetchone()
            assert left == right
        except psycopg.Error as error:
            assert error.sqlstate in ("22023", "22003"), error  # of the other kind, or sums beyond 64 bits
    connection.execute("TRUNCATE taken")


def test_text(connection):
    dice = random.Random(5)
    for _ in range(500):
        data = "\\x" + dice.choice(SEEDS).hex()
        at = dice.randrange(len(data))
        data = data[:at] + dice.choice(("", "g", " ", "\\", "\n", "é", "0")) + data[at + dice.randrange(2):]
        try:
            connection.execute("SELECT %s::text::legosketch", [data])
        except psycopg.Error as error:
            assert error.sqlstate in ("22P02", "22023", "22P03"), error
