"""Arrow columns, and pandas, which gives its own by them.

SPDX-License-Identifier: MIT
"""

import math

import pytest

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
np = pytest.importorskip("numpy")

from legosketch import Sketch

TEXTS = ["a", "bb", None, "Äpfel", "longer than any that fits a view", "a", "", None, "bb"]
COUNTS = list(range(1, len(TEXTS) + 1))
KINDS = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), pa.binary_view(),
         pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.uint32(), pa.large_string())]


def forms(array):
    """The same column in other pieces: chunked, and in the middle of a longer one."""
    yield array
    yield pa.chunked_array([array.slice(0, 2), array.slice(2, 0), array.slice(2)])
    yield pa.chunked_array([array[:2], array[2:3], array[3:]])
    yield pa.concat_arrays([array.slice(1, 3), array, array.slice(2, 2)]).slice(3, len(array))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_texts(kind, batched, counted):
    for texts in (TEXTS, [t for t in TEXTS if t is not None]):
        array = pa.array(texts).cast(kind) if not pa.types.is_dictionary(kind) else pa.array(texts, kind)
        expected = counted(texts)
        for same in forms(array):
            assert batched(same) == expected
            assert batched(same, COUNTS[: len(texts)]) == counted(texts, COUNTS)
            assert batched(same, pa.array(COUNTS[: len(texts)], pa.int16())) == counted(texts, COUNTS)
            for text, estimate in zip(texts, expected.estimate_many(same), strict=True):
                assert math.isnan(estimate) if text is None else estimate == expected.estimate(text)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers(kind, batched, counted):
    for values in ([1, 2, None, 2, 100, 0], [1, 2, 2, 100]):
        if kind.startswith("i"):
            values = values + [-7]
        array = pa.array(values, getattr(pa, kind)())
        expected = counted(values)
        for same in list(forms(array)) + [array.dictionary_encode()]:
            assert batched(same) == expected
        for value, estimate in zip(values, expected.estimate_many(array), strict=True):
            assert math.isnan(estimate) if value is None else estimate == expected.estimate(value)


def test_fixed_and_null(batched, counted):
    assert batched(pa.array([b"abc", None, b"xyz"], pa.binary(3))) == counted([b"abc", b"xyz"])
    assert batched(pa.nulls(5)) == counted([])
    assert all(map(math.isnan, Sketch("4K").estimate_many(pa.nulls(3))))
    assert batched(pa.array([], pa.string())) == batched(pa.chunked_array([], pa.int64())) == counted([])


def test_many_chunks_of_text(counted):
    n = 2**23 + 10  # several slices
    rows = np.arange(n) % 100
    words = pa.array(["w%d" % i for i in range(100)]).take(pa.array(rows))
    some = pa.array([None if i % 5 == 0 else "w%d" % i for i in range(100)]).take(pa.array(rows))
    s, t = Sketch("64K"), Sketch("64K")
    s.add_many(words)
    t.add_many(some)
    for i in range(100):
        assert s.estimate("w%d" % i) == len(range(i, n, 100))
        assert t.estimate("w%d" % i) == (0 if i % 5 == 0 else len(range(i, n, 100)))


def test_counts_with_nulls_are_refused(batched):
    with pytest.raises(TypeError, match="null"):
        batched(["a", "b"], pa.array([1, None]))
    with pytest.raises(TypeError):
        batched(["a"], pa.array(["a"]))
    with pytest.raises(TypeError):
        batched(["a"], pa.array([1.0]))


@pytest.mark.parametrize("kind", ["object", "str", "string", "string[pyarrow]", "string[python]", "category"])
def test_series_of_texts(kind, batched, counted):
    series = pd.Series(TEXTS, dtype=kind)
    expected = counted(TEXTS)
    assert batched(series) == expected
    assert batched(series, pd.Series(COUNTS)) == counted(TEXTS, COUNTS)
    by_update = Sketch("64K")
    by_update.update(series)
    assert by_update == expected
    for text, estimate in zip(TEXTS, expected.estimate_many(series), strict=True):
        assert math.isnan(estimate) if text is None else estimate == expected.estimate(text)


@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "int64", "uint64", "Int32", "UInt64", "int64[pyarrow]"])
def test_series_of_integers(kind, batched, counted):
    values = [5, 6, 6, 100]
    assert batched(pd.Series(values, dtype=kind)) == counted(values)
    assert batched(pd.Series(values, dtype=kind)[::2]) == counted(values[::2])
    if not kind[0].islower():
        assert batched(pd.Series([5, None, 6], dtype=kind)) == counted([5, 6])


def test_series_of_anything(batched, counted):
    assert batched(pd.Series([1, "a", b"x"])) == counted([1, "a", b"x"])
    assert batched(pd.Index(["a", "b"])) == counted(["a", "b"])
    assert batched(pd.RangeIndex(10)) == counted(range(10))
