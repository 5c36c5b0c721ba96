"""Columns of queries in duckdb, and sketches that queries ask.

SPDX-License-Identifier: MIT
"""

import datetime

import pytest

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

from legosketch import Sketch


@pytest.fixture
def con():
    with duckdb.connect() as connection:
        connection.execute("SET timezone = 'Asia/Kolkata'")
        yield connection


@pytest.mark.parametrize("kind, values", [
    ("VARCHAR", "'apple', 'Äpfel', ''"), ("BLOB", r"'\xFF\x00'::BLOB"), ("BIGINT", "1, -1"), ("UTINYINT", "1, 255"),
    ("HUGEINT", "1, -1, 18446744073709551616"), ("BOOLEAN", "true, false"), ("DOUBLE", "0.1, 2, 1e-7, 'inf', 'nan'"),
    ("FLOAT", "0.5, 2"), ("DECIMAL(10,3)", "1.5, 2, -0.125"), ("DATE", "DATE '2026-11-18'"),
    ("TIMESTAMP", "TIMESTAMP '2026-11-18 12:00:00.5'"),
    ("TIME", "TIME '12:00:00.25'"), ("UUID", "'12345678-9abc-def0-1234-56789abcdef0'"), ("INTEGER[]", "[1, NULL], []"),
    ("STRUCT(a VARCHAR, b INTEGER)", "{'a': 'x', 'b': 1}, {'a': NULL, 'b': 2}"), ("ENUM('a', 'b')", "'b', 'a'"),
])  # fmt: skip
def test_items_are_those_of_python(con, kind, values):
    query = f"SELECT unnest([{values}]::{kind}[]) UNION ALL SELECT NULL"
    s, expected = Sketch("64K"), Sketch("64K")
    s.update(con.sql(query))
    for (value,) in con.sql(query).fetchall():
        value = tuple(value.values()) if isinstance(value, dict) else tuple(value) if isinstance(value, list) else value
        expected.update([value])
    assert s == expected and s.total >= 1
    assert [e for e in s.estimate_many(con.sql(query)) if e == e] == [1] * s.total


def test_instants(con):
    """Which duckdb itself gives to Python only if there is pytz."""
    instant = "TIMESTAMPTZ '2026-11-18 12:00:00+05:30'"
    s = Sketch("64K")
    s.update(con.sql(f"SELECT {instant}"))
    s.update(con.sql(f"SELECT {{'day': DATE '2026-11-18', 'at': {instant}}}"))
    at = datetime.datetime(2026, 11, 18, 6, 30, tzinfo=datetime.timezone.utc)
    assert (s[at], s[datetime.date(2026, 11, 18), at], s.total) == (1, 1, 2)


def test_rows_come_in_batches(con):
    s = Sketch("64K")
    s.add_many(con.sql("SELECT range % 7 FROM range(3_000_000)"))
    assert s.total == 3_000_000 and s[3] == len(range(3, 3_000_000, 7))
    counted = con.sql("SELECT range % 7 AS item, count(*) AS n FROM range(3_000_000) GROUP BY item").to_arrow_table()
    t = Sketch("64K")
    t.add_many(counted["item"], counted["n"])
    assert s == t
    with pytest.raises(TypeError, match=r"has 2, \['item', 'n'\]"):
        s.add_many(con.sql("SELECT 1 AS item, 2 AS n"))
    with pytest.raises((ValueError, duckdb.Error), match="out of range"):
        s.add_many(con.sql("SELECT CAST(range / 10_000 AS TINYINT) FROM range(3_000_000)"))
    with pytest.raises(TypeError, match="format"):
        s.add_many(con.sql("SELECT INTERVAL 1 DAY"))


def test_a_query_asks_a_sketch(con):
    s, numbers = Sketch("64K"), Sketch("64K")
    s.update({"a": 5, "b": 3})
    numbers.update({1: 4, 2.5: 2})
    con.create_function("often", lambda item: pa.array(s.estimate_many(item)), ["VARCHAR"], "DOUBLE", type="arrow")
    con.create_function("number", lambda item: pa.array(numbers.estimate_many(item)), ["DOUBLE"], "DOUBLE", type="arrow")
    asked = con.sql("SELECT item, often(item) FROM (VALUES ('a'), ('b'), ('c'), (NULL)) t(item)").fetchall()
    assert asked == [("a", 5.0), ("b", 3.0), ("c", 0.0), (None, None)]
    assert con.sql("SELECT number(1), number(2.5), number(3)").fetchall() == [(4.0, 2.0, 0.0)]
    # in a query whose items are counted meanwhile, by a sketch or by the very one: nobody waits for another
    for query in ("SELECT 'a' || range FROM range(300_000) WHERE often('a' || range % 2) = 0",
                  "SELECT number(range % 3) + 0.5 FROM range(300_000)"):  # fmt: skip
        s.add_many(con.sql(query))
    assert s.total >= 300_008
