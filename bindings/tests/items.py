"""A value is the same item in PostgreSQL as in Python, by the table of docs/python.md. golden.sh runs it beside a
PostgreSQL server."""

import datetime as dt
import sys
import uuid
from decimal import Decimal

import numpy
import psycopg
from legosketch import _core

ZONE = dt.timezone(dt.timedelta(hours=5, minutes=30))
FLOATS = [0.1, -2.5, 1e-7, 1.5e-5, 1 / 3, 0.0001, 123456789012345.6, 1234567890123456.5, 2.0**64, 1e100, 5e-324,
          1.7976931348623157e308, float("inf"), -float("inf")]  # fmt: skip
INSTANT = dt.datetime(2026, 11, 18, 12, 0, 0, 500000)
ID = uuid.UUID("12345678-9ABC-DEF0-1234-56789abcdef0")
# an expression of SQL -> values that it is of
CASES = {
    "%s::bigint": [0, 1, -1, 2**63 - 1, -(2**63)],
    "%s::int": [7, -7],
    "%s::smallint": [7, -7],
    "%s::boolean": [True, False],
    "%s::text": ["a", "", "Größe", "42"],
    "%s::bytea": [b"a", b"\0\xff"],
    "%s::float8": FLOATS + [2.0, -0.0, -(2.0**63), 2.0**63],
    "%s::float4": [numpy.float32(x) for x in (0.1, 2.5, 3, 1e10, 16777217, 1.2345678e9, 1e-7, 1e30, -0.0, "inf")],
    "%s::numeric": [Decimal("1.50"), Decimal("3.00"), Decimal("-0.0000001"), Decimal(2**64), 2**64, 2**64 - 1, -(2**63),
                    -(2**63) - 1, Decimal(10) ** 300],
    "%s::date": [dt.date(2026, 11, 18), dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    "%s::timestamp": [INSTANT, dt.datetime(1969, 12, 31, 23, 59, 59)],
    "%s::timestamptz": [INSTANT.replace(tzinfo=ZONE)],
    "%s::time": [dt.time(12), dt.time(23, 59, 59, 120000)],
    "%s::uuid": [ID],
}
# what jsonb_build_array() has, and the tuple
ARRAYS = [
    ("'a', 1, -2, null, true, false, 18446744073709551616", ("a", 1, -2, None, True, False, 2**64)),
    (r"""E'"\\/\b\f\n\r\t\x01\x7fé'""", ('"\\/\b\f\n\r\t\x01\x7fé',)),
    ("2::float8, 0.5::float8, 1e-7::float8, 1e20::float8, 'inf'::float8", (2.0, 0.5, 1e-7, 1e20, float("inf"))),
    ("trim_scale(1.50), trim_scale(3.0)", (Decimal("1.50"), Decimal("3.0"))),
    ("date '2026-11-18', timestamp '2026-11-18 12:00:00.5', time '12:00'", (dt.date(2026, 11, 18), INSTANT, dt.time(12))),
    ("timestamptz '2026-11-18 12:00:00.5+05:30'", (INSTANT.replace(tzinfo=ZONE),)),
    (f"uuid '{ID}', 'ab'::bytea, jsonb_build_array('b', jsonb_build_array())", (ID, b"ab", ("b", ()))),
]


def estimate(database, sql, value, item):
    """How often the bytes of an item came, of one value."""
    given = value.item() if isinstance(value, numpy.generic) else value
    sketch = f"lego_agg({sql}) + lego_agg('another'::bytea)"  # both kinds, so that any bytes can be asked for
    query = f"SELECT lego_estimate({sketch}, %s::bytea)"
    return [row[0] for row in database.execute(query, ((given,) if "%s" in sql else ()) + (item,)).fetchall()]


def main():
    wrong = n = 0
    with psycopg.connect(autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS legosketch")
        # within jsonb, instants are printed in the session's zone
        database.execute("SET timezone = 'UTC'")
        pairs = [(sql, value) for sql, values in CASES.items() for value in values]
        pairs += [(f"jsonb_build_array({sql})", value) for sql, value in ARRAYS]
        for sql, value in pairs:
            n += 1
            item = _core.item_bytes(value)
            found = estimate(database, sql, value, item)
            if found != [1.0]:
                wrong += 1
                print(f"{sql} of {value!r}, asked for as {item!r}: {found}")
    print(f"{n} values, {wrong} of which are another item in PostgreSQL")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
