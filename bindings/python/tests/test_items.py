"""What an item is: the table of docs/python.md, the same bytes whatever holds a value.

SPDX-License-Identifier: MIT
"""

import datetime as dt
import decimal
import struct
import uuid
from decimal import Decimal

import pytest

from legosketch import Sketch, _core, group

UTC = dt.timezone.utc
EAST = dt.timezone(dt.timedelta(hours=5, minutes=30))
ID = uuid.UUID("12345678-9ABC-DEF0-1234-56789abcdef0")


def number(value):
    return struct.pack("<Q", value % 2**64)


# Values of one type -> the bytes of each, or None for a null.
TEXTS = {"": b"", "apple": b"apple", "Äpfel": "Äpfel".encode(), "a\0b": b"a\0b"}
BYTES = {b"": b"", b"\xff\0": b"\xff\0"}
INTEGERS = {n: number(n) for n in (0, 1, -1, 258, 2**63 - 1, -(2**63))}
LARGE = {2**63: number(2**63), 2**64 - 1: number(2**64 - 1)}
LARGER = {2**64: b"18446744073709551616", -(2**63) - 1: b"-9223372036854775809", 10**40: b"1" + b"0" * 40}
BOOLS = {True: number(1), False: number(0)}
FLOATS = {
    0.0: number(0), -0.0: number(0), 2.0: number(2), -3.0: number(-3), 1e18: number(10**18), 2.0**63: number(2**63),
    0.1: b"0.1", -2.5: b"-2.5", 1 / 3: b"0.3333333333333333", 1e-7: b"1e-07", 0.0001: b"0.0001", 1.5e-5: b"1.5e-05",
    123456789012345.6: b"123456789012345.6", 1234567890123456.5: b"1.2345678901234565e+15", 2.0**64: b"1.8446744073709552e+19",
    1e100: b"1e+100", 5e-324: b"5e-324", 1.7976931348623157e308: b"1.7976931348623157e+308",
    float("inf"): b"Infinity", -float("inf"): b"-Infinity", float("nan"): None,
}  # fmt: skip
NARROW = {  # of 32 bits: as the double that is printed the same
    2.0: number(2), 0.5: b"0.5", 0.1: b"0.1", 16777216.0: number(16777216), 1234567.5: b"1234567.5", 1e-7: b"1e-07",
    3.4028235e38: b"3.4028235e+38", 12345678848.0: number(12345678848), float("inf"): b"Infinity", float("nan"): None,
}  # fmt: skip
DECIMALS = {
    Decimal("1.5"): b"1.5", Decimal("-0.10"): b"-0.1", Decimal("2.00"): number(2), Decimal("-7"): number(-7),
    Decimal("0.00"): number(0), Decimal("0.0000001"): b"0.0000001", Decimal("120.50"): b"120.5",
    Decimal("18446744073709551615"): number(2**64 - 1), Decimal("18446744073709551616"): b"18446744073709551616",
    Decimal("-9223372036854775808"): number(-(2**63)), Decimal("-9223372036854775809"): b"-9223372036854775809",
}  # fmt: skip
DATES = {
    dt.date(2026, 11, 18): b"2026-11-18", dt.date(1970, 1, 1): b"1970-01-01", dt.date(1969, 12, 31): b"1969-12-31",
    dt.date(2000, 2, 29): b"2000-02-29", dt.date(1, 1, 1): b"0001-01-01", dt.date(9999, 12, 31): b"9999-12-31",
}  # fmt: skip
INSTANTS = {
    dt.datetime(2026, 11, 18, 12): b"2026-11-18 12:00:00",
    dt.datetime(2026, 11, 18, 12, 0, 0, 500000): b"2026-11-18 12:00:00.5",
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999): b"1969-12-31 23:59:59.999999",
    dt.datetime(2026, 1, 2): b"2026-01-02 00:00:00",
}
AWARE = {
    dt.datetime(2026, 11, 18, 12, tzinfo=UTC): b"2026-11-18 12:00:00+00",
    dt.datetime(2026, 11, 18, 12, 0, 0, 250, tzinfo=EAST): b"2026-11-18 06:30:00.00025+00",
}
TIMES = {dt.time(12): b"12:00:00", dt.time(0, 0, 0, 1): b"00:00:00.000001", dt.time(23, 59, 59, 120000): b"23:59:59.12"}
UUIDS = {ID: b"12345678-9abc-def0-1234-56789abcdef0", uuid.UUID(int=0): b"00000000-0000-0000-0000-000000000000"}
TUPLES = {  # as PostgreSQL's jsonb_build_array() prints them
    (): b"[]", ("a", 1): b'["a", 1]', ("a",): b'["a"]', (1, -2, 2**64): b"[1, -2, 18446744073709551616]",
    (2.0, 0.5, 1e-7, 1e20): b"[2, 0.5, 0.0000001, 100000000000000000000]", (None, True, False): b"[null, true, false]",
    ('"\\/\b\f\n\r\t\x01\x7fé',): '["\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7fé"]'.encode(), (b"ab\xff",): b'["\\\\x6162ff"]',
    (("a", ("b",)), ()): b'[["a", ["b"]], []]', (Decimal("1.50"), Decimal("3.0")): b"[1.5, 3]",
    (dt.date(2026, 11, 18), ID): b'["2026-11-18", "12345678-9abc-def0-1234-56789abcdef0"]',
    (dt.datetime(2026, 11, 18, 12, 0, 0, 500000),): b'["2026-11-18T12:00:00.5"]', (dt.time(12),): b'["12:00:00"]',
    (dt.datetime(2026, 11, 18, 12, tzinfo=EAST),): b'["2026-11-18T06:30:00+00:00"]',
    (float("nan"), float("inf")): b'[null, "Infinity"]',
}  # fmt: skip
NULLS = {None: None, Decimal("nan"): None}
OBJECTS = {**TEXTS, **BYTES, **INTEGERS, **LARGE, **LARGER, **DATES, **INSTANTS, **AWARE, **TIMES, **UUIDS, **TUPLES, **NULLS}
OF_A_KIND = [OBJECTS, BOOLS, FLOATS, DECIMALS]  # apart, since True == 1 == 1.0 == Decimal(1) in a dict, too


def agrees(keys, expected):
    """Keys in an array are these items, and nulls where there are such."""
    one, many = Sketch("64K", top="16K"), Sketch("64K", top="16K")
    for i, item in enumerate(expected):
        if item is not None:
            one.add(item, i + 1)
    many.add_many(keys, range(1, len(expected) + 1))
    found = [(t.item, t.estimate) for t in many.top(None, items=bytes)]
    assert sorted(found) == sorted((t.item, t.estimate) for t in one.top(None, items=bytes))
    estimates = list(map(float, many.estimate_many(keys)))
    assert [e if e == e else None for e in estimates] == [None if i is None else one.estimate(i) for i in expected]


@pytest.mark.parametrize("kind", OF_A_KIND)
def test_objects(kind):
    for value, expected in kind.items():
        if expected is None:
            for use in (_core.item_bytes, Sketch("4K").add, Sketch("4K").estimate, lambda item: group(item, 3)):
                with pytest.raises(TypeError, match="left out"):
                    use(value)
        else:
            assert _core.item_bytes(value) == expected, value
    agrees(list(kind), list(kind.values()))


def test_what_is_equal_is_one_item():
    for same in ((1, True, 1.0, Decimal(1), Decimal("1.00")), (0.5, Decimal("0.50")), (2**63, 2.0**63),
                 (dt.datetime(2026, 1, 1, 5, 30, tzinfo=EAST), dt.datetime(2026, 1, 1, tzinfo=UTC))):
        assert len({_core.item_bytes(value) for value in same}) == 1 == len(set(same))


def test_subclasses():
    class Text(str):
        pass

    class Pair(tuple):
        pass

    assert _core.item_bytes(Text("a")) == b"a" and _core.item_bytes(Pair(("a", 1))) == b'["a", 1]'
    assert _core.item_bytes(["a", 1][:0] and None or ("a", [1, 2])) == b'["a", [1, 2]]'  # lists, inside


@pytest.mark.parametrize("item, message", [
    ([1], "many items"), ({"a": 1}, "many items"), ({1}, "many items"), (frozenset([1]), "many items"),
    (object(), "an item is str, bytes, a number"), (1j, "not complex: count str"), (dt.timedelta(1), "not timedelta"),
    (dt.time(1, tzinfo=UTC), "not time"), (("a", object()), "not object"), (("a", {"b": 1}), "many items"),
])  # fmt: skip
def test_what_is_no_item(item, message):
    s = Sketch("4K")
    for use in (s.add, s.estimate, s.bounds, lambda i: s.update([i]), lambda i: s.estimate_many([i])):
        with pytest.raises(TypeError, match=message):
            use(item)
    assert s.total == 0


def test_what_is_too_large():
    for item in (Decimal("1e200000"), Decimal("1e-20000"), dt.datetime(1, 1, 1, tzinfo=EAST)):
        with pytest.raises(ValueError):
            Sketch("4K").add(item)
    nested = ("x",)
    for _ in range(100_000):
        nested = (nested,)
    with pytest.raises(RecursionError):
        Sketch("4K").add(nested)
    assert Decimal("1e30") and _core.item_bytes(Decimal("1e30")) == b"1" + b"0" * 30
    with decimal.localcontext() as context:  # which has no say
        context.prec = 3
        assert _core.item_bytes(Decimal("1234.5678")) == b"1234.5678"


def test_numpy():
    np = pytest.importorskip("numpy")
    cells = [
        ("f8", FLOATS), ("f4", NARROW), ("?", BOOLS), ("i8", INTEGERS), ("u8", {**LARGE, 7: number(7)}),
        ("M8[D]", DATES), ("M8[us]", INSTANTS),
    ]  # fmt: skip
    for kind, values in cells:
        keys = np.array(list(values), kind)
        expected = list(values.values())
        agrees(keys, expected)
        agrees(np.repeat(keys, 2)[::2], expected)
        agrees(keys.astype(keys.dtype.newbyteorder(">")), expected)
        agrees(list(keys), expected)  # scalars of numpy's
        if kind != "f4":  # of which numpy makes other floats when it makes Python's
            agrees(keys.astype(object), expected)
            tuples = [(None if item is None else value, "x") for value, item in zip(keys.tolist(), expected)]
            agrees([(value, "x") for value in keys], list(map(_core.item_bytes, tuples)))
    assert _core.item_bytes((np.float32(0.1), np.bool_(True), np.int8(-1))) == b"[0.1, true, -1]"
    agrees(np.array(["2026-11-18", "NaT"], "M8[D]"), [b"2026-11-18", None])
    agrees(np.array(["2026-11", "NaT"], "M8[M]"), [b"2026-11-01", None])
    for unit in ("h", "m", "s", "ms", "us", "ns"):
        agrees(np.array(["2026-11-18T12", "NaT", "1815-12-10T01"], f"M8[{unit}]"),
               [b"2026-11-18 12:00:00", None, b"1815-12-10 01:00:00"])  # fmt: skip
    agrees(np.array(["2026-11-18T12:00:00.000000001"], "M8[ns]"), [b"2026-11-18 12:00:00.000000001"])
    agrees(np.array(["-0043-03-15", "12026-01-01"], "M8[D]"), [b"0044-03-15 BC", b"12026-01-01"])
    agrees(np.array(["-0043-03-15T12"], "M8[s]"), [b"0044-03-15 12:00:00 BC"])
    agrees(np.array([(1, "a"), (2, "b")], [("n", "i4"), ("s", "U1")]), [b'[1, "a"]', b'[2, "b"]'])
    for wrong in (np.array([1], "f2"), np.array([1], "g"), np.array([1j]), np.array([1], "m8[s]"),
                  np.array(["2020"], "M8[ps]"), np.zeros((2, 2), "f8")):  # fmt: skip
        for keys in (wrong, list(wrong)):
            with pytest.raises(TypeError):
                Sketch("4K").add_many(keys)


def test_arrow():
    pa = pytest.importorskip("pyarrow")
    cells = [
        ([pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], TEXTS),
        ([pa.binary(), pa.large_binary(), pa.binary_view()], BYTES),
        ([pa.int64(), pa.decimal128(38, 0), pa.decimal256(50, 3)], INTEGERS),
        ([pa.uint64(), pa.decimal128(38, 5), pa.dictionary(pa.int8(), pa.uint64())], {**LARGE, 7: number(7)}),
        ([pa.decimal256(76, 2), pa.decimal256(60, 0)], LARGER),
        ([pa.bool_(), pa.dictionary(pa.int8(), pa.bool_())], BOOLS),
        ([pa.float64(), pa.dictionary(pa.int8(), pa.float64())], FLOATS),
        ([pa.float32()], NARROW),
        ([pa.decimal128(38, 7), pa.decimal256(76, 9)], DECIMALS),
        ([pa.decimal64(18, 2)], {Decimal("-120.50"): b"-120.5", Decimal("7.00"): number(7), Decimal("0"): number(0)}),
        ([pa.decimal32(9, 2)], {Decimal("-120.50"): b"-120.5", Decimal("7.00"): number(7)}),
        ([pa.date32(), pa.date64(), pa.dictionary(pa.int8(), pa.date32())], DATES),
        ([pa.timestamp("us")], INSTANTS),
        ([pa.timestamp("us", "UTC"), pa.timestamp("us", "Asia/Kolkata")], AWARE),
        ([pa.time64("us"), pa.time64("ns")], TIMES),
        ([pa.time32("s")], {dt.time(12): b"12:00:00"}),
        ([pa.time32("ms")], {dt.time(23, 59, 59, 120000): b"23:59:59.12"}),
        ([pa.list_(pa.int64()), pa.large_list(pa.int16())],
         {(): b"[]", (1, -2): b"[1, -2]", (None, 3): b"[null, 3]"}),
        ([pa.list_(pa.string(), 2)], {("a", "b"): b'["a", "b"]', ("c", None): b'["c", null]'}),
    ]  # fmt: skip
    for kinds, values in cells:
        for kind in kinds:
            plain = kind.value_type if pa.types.is_dictionary(kind) else kind
            array = pa.array([list(v) if isinstance(v, tuple) else v for v in values], plain, from_pandas=False)
            if kind is not plain:
                array = pa.DictionaryArray.from_arrays(pa.array(range(len(array)), pa.int8()), array)
            expected = list(values.values())
            agrees(array, expected)
            spoiled = pa.concat_arrays([array[:1], pa.nulls(1, kind), array])
            agrees(spoiled, [expected[0], None, *expected])
            agrees(spoiled[2:], expected)
            agrees(pa.chunked_array([array[:1], array[1:]]), expected)
            agrees(pa.table({"item": array}), expected)
            agrees(pa.record_batch({"item": spoiled})[1:], [None, *expected])
            if not pa.types.is_dictionary(kind):  # in structs they are what tuples have
                rows = pa.StructArray.from_arrays([spoiled[1:], pa.array(range(len(array) + 1))], ["a", "b"])
                tuples = [(None if e is None else v, i) for i, (v, e) in enumerate(zip([None, *values], [None, *expected]))]
                if kind != pa.float32():
                    agrees(rows, list(map(_core.item_bytes, tuples)))
                    agrees(rows[1:], list(map(_core.item_bytes, tuples[1:])))
    assert pa.array([ID]).type == pa.uuid()
    agrees(pa.array([ID, None], pa.uuid()), [UUIDS[ID], None])
    agrees(pa.array([ID.bytes], pa.binary(16)), [ID.bytes])
    agrees(pa.StructArray.from_arrays([pa.array([ID], pa.uuid()), pa.array([b"ab"], pa.binary(2))], ["a", "b"]),
           [_core.item_bytes((ID, b"ab"))])  # fmt: skip
    agrees(pa.array([{"a": {"b": 0.1, "c": [True]}}, None]), [b"[[0.1, [true]]]", None])
    agrees(pa.array([None, None]), [None, None])
    agrees(pa.array([-62167219200, 253402300800], pa.timestamp("s")), [b"0001-01-01 00:00:00 BC", b"10000-01-01 00:00:00"])


def test_arrow_types_that_are_no_items():
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.duration("s"), pa.month_day_nano_interval(), pa.map_(pa.string(), pa.int64()), pa.float16(),
                 pa.list_view(pa.int64()), pa.struct([("a", pa.duration("s"))]), pa.dictionary(pa.int8(), pa.float16()),
                 pa.run_end_encoded(pa.int32(), pa.int64()), pa.dense_union([pa.field("a", pa.int64())])):  # fmt: skip
        array = pa.nulls(1, kind)
        with pytest.raises(TypeError, match="not an Arrow column of format"):
            Sketch("4K").add_many(array)


def test_tables():
    pa = pytest.importorskip("pyarrow")
    both = pa.table({"a": [1, 2], "b": ["x", "y"]})
    for table in (both, both.to_batches()[0], both.to_reader()):
        with pytest.raises(TypeError, match=r"has 2, \['a', 'b'\]: select one"):
            Sketch("4K").add_many(table)
    agrees(both.to_struct_array(), [b'[1, "x"]', b'[2, "y"]'])
    agrees(both.select(["a"]), [number(1), number(2)])
    s = Sketch("4K")
    s.update(both.select(["b"]).to_reader())
    assert s.total == 2 and s.estimate("x") == 1
    agrees(pa.StructArray.from_arrays([pa.array(["x"])], ["a"]), [b'["x"]'])  # no table, so a tuple of one


def test_tables_of_others():
    pl, pd, duckdb = map(pytest.importorskip, ("polars", "pandas", "duckdb"))
    for one in (pl.DataFrame({"a": ["x", None, "y"]}), pl.Series(["x", None, "y"]), pd.DataFrame({"a": ["x", None, "y"]}),
                pl.Series(["x", None, "y"], dtype=pl.Categorical), pd.Series(["x", None, "y"])):  # fmt: skip
        agrees(one, [b"x", None, b"y"])
    agrees(duckdb.sql("SELECT unnest(['x', NULL, 'y'])"), [b"x", None, b"y"])
    for table in (pl.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [1], "b": [2]}), duckdb.sql("SELECT 1 a, 2 b")):
        with pytest.raises(TypeError, match=r"has 2, \['a', 'b'\]"):
            Sketch("4K").add_many(table)
    for series, values in ((pl.Series(list(DECIMALS)[:5]), DECIMALS), (pl.Series(list(DATES)), DATES), (pl.Series(list(INSTANTS)), INSTANTS),
                           (pd.Series(list(INSTANTS)), INSTANTS), (pd.Series(list(FLOATS)), FLOATS),
                           (pd.Series([True, False]), BOOLS), (pd.Series(list(DATES)), DATES), (pd.Series(list(UUIDS)), UUIDS)):  # fmt: skip
        agrees(series, list(values.values())[:len(series)])
    agrees(pd.Series([1, None, 3]), [number(1), None, number(3)])  # which pandas makes floats of
    aware = pd.Series([pd.Timestamp("2026-11-18 12:00:00.000000001", tz="Asia/Kolkata"), pd.NaT])
    agrees(aware, [b"2026-11-18 06:30:00.000000001+00", None])
    agrees(list(aware), [b"2026-11-18 06:30:00.000000001+00", None])
    agrees(pd.Series([1, pd.NA, 2], dtype="Int64"), [number(1), None, number(2)])
    agrees([pd.NA, pd.NaT, 1.5], [None, None, b"1.5"])
