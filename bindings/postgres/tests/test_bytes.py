"""The same rows give the same bytes as in Python, and these go through the binary protocol as they are."""

import re

import numpy
import psycopg
import pytest
from legosketch import Sketch
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format

RANDOM = numpy.random.default_rng(7)
# More items than a buffer of the extension takes, and far more than the sketch has room for.
KEYS = (RANDOM.zipf(1.3, 200_000) % 1_000_000).astype(numpy.int64) - 1000
COUNTS = RANDOM.integers(-3, 9, KEYS.size)
# Nothing is deleted before row 150,000.
LATE = numpy.where(numpy.arange(KEYS.size) < 150_000, 1 + KEYS % 3, -(KEYS % 2))


@pytest.fixture(scope="module", autouse=True)
def public_seeds():
    """What Python makes without a seed has seed 0; so has what any connection of these tests makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGOPTIONS", "-c legosketch.secret_seeds=off")
        yield


@pytest.fixture(scope="module")
def rows(public_seeds):
    with psycopg.connect("", autocommit=True) as connection:
        connection.execute("CREATE TABLE rows (id int, key bigint, word text, bytes bytea, count bigint, late bigint)")
        with connection.cursor().copy("COPY rows FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", "int8", "text", "bytea", "int8", "int8"])
            for i, (key, count, late) in enumerate(zip(KEYS.tolist(), COUNTS.tolist(), LATE.tolist())):
                copy.write_row((i, key, word(key), raw(key), count, late))
        connection.execute("SET max_parallel_workers_per_gather = 0")
        yield connection
        connection.execute("DROP TABLE rows")


def word(key):
    return f"Wört {key}"


def raw(key):
    return str(key).encode() + bytes(key % 5)


ITEMS = {"key": lambda: KEYS, "word": lambda: [word(k) for k in KEYS.tolist()],
         "bytes": lambda: [raw(k) for k in KEYS.tolist()]}


def saved(connection, aggregate):
    statement = f"SELECT {aggregate}::bytea FROM (SELECT * FROM rows ORDER BY id) t"
    return connection.execute(statement, binary=True).fetchone()[0]


@pytest.mark.parametrize("budget", [4096, 100_000, 1 << 20, 1 << 23])
@pytest.mark.parametrize("column", ITEMS)
def test_items(rows, column, budget):
    sketch = Sketch(budget)
    sketch.add_many(ITEMS[column]())
    assert saved(rows, f"lego_agg({column}, {budget})") == sketch.to_bytes()


@pytest.mark.parametrize("counts", ["count", "late"])
@pytest.mark.parametrize("budget", [4096, 1 << 20])
@pytest.mark.parametrize("column", ITEMS)
def test_counts_with_deletions(rows, column, budget, counts):
    """... one by one in Python, so that nothing depends on how many are added at once."""
    sketch = Sketch(budget)
    items = KEYS.tolist() if column == "key" else ITEMS[column]()
    for item, count in zip(items, (COUNTS if counts == "count" else LATE).tolist()):
        sketch.add(item, count)
    assert saved(rows, f"lego_agg({column}, {counts}, {budget})") == sketch.to_bytes()


@pytest.mark.parametrize("model", ["compact", "paper"])
def test_seed_and_model(rows, model):
    sketch = Sketch(1 << 18, model=model, seed=2**64 - 5)
    sketch.add_many(KEYS)
    assert saved(rows, f"lego_agg(key, 1, {1 << 18}, -5, '{model}')") == sketch.to_bytes()


@pytest.mark.parametrize("column", ITEMS)
def test_top(rows, column):
    """With room for all items, and of few rows: what a full top keeps depends on how many are added at once."""
    sketch = Sketch(1 << 24, top=True)
    sketch.add_many(ITEMS[column]())
    assert saved(rows, f"lego_top_agg({column}, {1 << 24})") == sketch.to_bytes()
    counted = Sketch(1 << 16, top=True)
    for item, count in zip(ITEMS[column]()[:4_000], LATE[100_000:].tolist()):
        counted.add(item, count)
    rows.execute("CREATE TEMP TABLE counted AS SELECT a.id, a.key, a.word, a.bytes, b.late FROM rows a "
                 "JOIN rows b ON b.id = a.id + 100000 WHERE a.id < 4000")
    statement = f"SELECT lego_top_agg({column}, late, 65536 ORDER BY id)::bytea FROM counted"
    assert rows.execute(statement, binary=True).fetchone()[0] == counted.to_bytes()
    function = "lego_top_int" if column == "key" else "lego_top"
    sketches = f"SELECT lego_top_agg({column}, late, 65536 ORDER BY id) AS s FROM counted"
    listed = rows.execute(f"SELECT t.* FROM ({sketches}) a, {function}(s, 20) t", binary=True).fetchall()
    rows.execute("DROP TABLE counted")
    assert len(listed) == 20
    assert listed == [(listed_item(top.item), top.estimate, top.lower, top.upper, top.likely, top.exact)
                      for top in counted.top(20)]


def listed_item(item):
    """As SQL lists what Python lists as str, bytes, or an integer without sign."""
    if isinstance(item, int):
        return item - 2**64 if item >= 2**63 else item
    return item.encode() if isinstance(item, str) else item


def test_answers(rows):
    """Estimates and bounds are Python's, of a sketch with far too little room."""
    sketch = Sketch(4096)
    sketch.add_many(KEYS)
    items = numpy.unique(KEYS)[:5000]
    value = "(SELECT lego_agg(key, 4096) FROM rows)"
    estimates = rows.execute(f"SELECT lego_estimates({value}, %s)", [items.tolist()]).fetchone()[0]
    assert estimates == sketch.estimate_many(items).tolist()
    singles = rows.execute(f"SELECT lego_estimate(s, i), lower, upper, likely FROM (SELECT {value} AS s) t, "
                           "unnest(%s::bigint[]) WITH ORDINALITY u(i, o), lego_bounds(s, i) ORDER BY o",
                           [items.tolist()]).fetchall()
    assert singles == list(zip(estimates, *(bound.tolist() for bound in sketch.bounds_many(items))))


def test_parameters_without_a_type(connection):
    """psycopg sends a str as one: in a sketch of integers it is read as such, or refused."""
    ask = "SELECT lego_estimate(lego_agg(g), %s), lego_estimate(lego_agg('n' || g), %s) FROM generate_series(1, 3) g"
    assert connection.execute(ask, ["2", "n2"]).fetchone() == (1, 1)
    assert connection.execute(ask, [2, "n2"]).fetchone() == (1, 1)
    for asked in (["n2", "n2"], [2, 2]):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="items of this sketch are"):
            connection.execute(ask, asked)


class Raw(bytes):
    """Bytes that are sent as a legosketch."""


def test_binary_protocol(connection):
    oid = connection.execute("SELECT 'legosketch'::regtype::oid").fetchone()[0]

    class RawDumper(Dumper):
        format = Format.BINARY

        def dump(self, raw):
            return bytes(raw)

    class RawLoader(Loader):
        format = Format.BINARY

        def load(self, data):
            return Raw(data)

    RawDumper.oid = oid
    connection.adapters.register_dumper(Raw, RawDumper)
    connection.adapters.register_loader(oid, RawLoader)
    for top in (None, True):
        sketch = Sketch(1 << 16, top=top)
        sketch.update({"apple": 3, "pear": 1})
        cursor = connection.cursor(binary=True)
        value, estimate, total = cursor.execute("SELECT %s, lego_estimate(%s, 'apple'), lego_total(%s)",
                                                3 * [Raw(sketch.to_bytes())]).fetchone()
        assert isinstance(value, Raw) and value == sketch.to_bytes()
        assert (estimate, total) == (3, 4)
    # Python's bytes, which are bytea, are taken where a sketch is stored.
    connection.execute("CREATE TEMP TABLE stored (sketch legosketch)")
    connection.execute("INSERT INTO stored VALUES (%s)", [sketch.to_bytes()])
    loaded = Sketch.from_bytes(connection.execute("SELECT sketch FROM stored", binary=True).fetchone()[0])
    assert loaded == sketch
    with pytest.raises(psycopg.errors.InvalidBinaryRepresentation):
        connection.execute("SELECT %s", [Raw(sketch.to_bytes()[:-1])])


def test_files_of_earlier_formats(connection):
    """Refused by their number, whatever follows."""
    old = bytearray(Sketch(65536).to_bytes())
    assert int.from_bytes(old[8:12], "little") > 3
    for version in (1, 2, 3):
        old[8] = version
        with pytest.raises(psycopg.errors.InvalidBinaryRepresentation, match="version"):
            connection.execute("SELECT %s::bytea::legosketch", [bytes(old)])


CROWD = "FROM generate_series(1, 60000) g"  # more than any of these lists whole: while that is so, all go together


@pytest.mark.parametrize(("one", "other"), [
    ("lego_agg(g, 65536)", "lego_agg(g, 100000)"), ("lego_top_agg(g, 40000)", "lego_top_agg(g, 65536)"),
    ("lego_top_agg(g, 300000)", "lego_agg(g, 300000)"), ("lego_top_agg(g, 65536)", "lego_agg(g, 40000)")])
def test_the_hint_of_a_refused_sum_is_good(connection, one, other):
    """It names a budget for both, that of one of them, so that it is enough to make the other again."""
    for a, b in ((one, other), (other, one)):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="neither folds to the other") as error:
            connection.execute(f"SELECT {a} + {b} {CROWD}")
        found = re.match(r"Make both with (lego_top_agg and )?a budget of (\d+)", error.value.diag.message_hint)
        assert found and (found[1] is not None) == ("lego_top_agg" in one and "lego_top_agg" not in other)
        made = f"{one.split('(')[0]}(g, {found[2]})"
        equal = f"lego_info({made})->'budget' = lego_info({one})->'budget'"
        assert connection.execute(f"SELECT lego_total({made} + {one}), {equal} {CROWD}").fetchone() == (120000, True)
