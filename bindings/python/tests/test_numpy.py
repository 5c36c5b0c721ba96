"""Arrays of numpy's: a value is the same item whatever holds it.

SPDX-License-Identifier: MIT
"""

import pytest

np = pytest.importorskip("numpy")

from legosketch import Sketch

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_of_every_width(kind, batched, counted):
    ends = np.iinfo(kind)
    values = [0, 1, 2, 2, ends.max, ends.min, ends.max]
    keys = np.array(values, kind)
    expected = counted(values)
    table = np.zeros((len(keys), 3), kind)
    table[:, 1] = keys
    unaligned = np.frombuffer(b"x" + keys.tobytes(), np.uint8)[1:].view(kind)
    read_only = keys.copy()
    read_only.flags.writeable = False
    for same in (keys, np.repeat(keys, 3)[::3], keys[::-1], table[:, 1], unaligned, read_only, memoryview(keys),
                 keys.astype(keys.dtype.newbyteorder(">")), list(keys), keys.astype(object)):
        assert batched(same) == expected
        assert sorted(expected.estimate_many(same)) == sorted(expected.estimate(v) for v in values)
    for key in keys:
        assert expected.estimate(key) == expected.estimate(int(key))
    assert batched(keys, np.arange(7, dtype=kind)) == counted(values, range(7))


def test_answers():
    s = Sketch("64K")
    s.add_many(np.arange(1000) % 10)
    values = s.estimate_many(np.arange(12))
    assert isinstance(values, np.ndarray) and values.dtype == np.float64 and values.flags.writeable
    assert values.tolist() == [100] * 10 + [0] * 2
    lower, upper, likely = s.bounds_many(np.arange(12))
    assert lower.dtype == upper.dtype == likely.dtype == np.int64
    assert (lower == values).all() and (likely == values).all() and (upper == values).all()
    assert s.estimate_many(np.array([], "u8")).shape == (0,)


@pytest.mark.parametrize("options", [{}, {"top": True}, {"model": "paper"}])
def test_many_are_one_by_one(options, batched, counted):
    keys = np.random.default_rng(1).zipf(1.2, 3000).astype("u8")
    counts = np.arange(3000) - 5
    assert batched(keys, **options) == counted(keys.tolist(), **options)
    assert batched(keys, counts, **options) == counted(keys.tolist(), counts.tolist(), **options)
    s = batched(keys, **options)
    assert s.estimate_many(keys).tolist() == [s.estimate(k) for k in keys.tolist()]
    assert [tuple(b) for b in np.transpose(s.bounds_many(keys)).tolist()] == [s.bounds(k) for k in keys.tolist()]


def test_threads_change_nothing(batched):
    keys = np.random.default_rng(2).integers(0, 50000, 400000)
    one, many = Sketch("1M"), Sketch("1M", threads=4)
    for s in (one, many):
        s.add_many(keys)
    assert one == many
    assert (one.estimate_many(keys) == many.estimate_many(keys)).all()


def test_strings(batched, counted):
    texts = ["apple", "", "Äpfel", "日本", "🍎🍎", "a\0b", "x" * 50]
    encoded = [t.encode() for t in texts]
    expected = counted(texts)
    keys = np.array(texts)
    for same in (keys, np.array(encoded), np.repeat(keys, 2)[::2], keys.astype(">U50"), keys.astype(object),
                 keys.astype(np.dtypes.StringDType())):
        assert batched(same) == expected
    assert batched(np.array([b"", b""])) == counted([b"", b""])
    with pytest.raises(ValueError, match="surrogate"):
        batched(np.array(["\ud800"]))
    beyond = np.array([0x110000], "u4").view("U1")
    with pytest.raises(ValueError):
        batched(beyond)


@pytest.mark.parametrize("keys", [np.zeros((2, 2), int), np.array(5), np.array([[b"a"]]), np.zeros(1, "V3")])
def test_what_is_no_array_of_items(keys, batched):
    with pytest.raises(TypeError):
        batched(keys)


def test_counts_and_keys_in_any_form(batched, counted):
    keys, counts = np.arange(5), np.array([1, -1, 2, 3, 2**40])
    expected = counted(range(5), counts.tolist())
    for same in (counts, counts.tolist(), np.repeat(counts, 2)[::2], counts.astype(">i8"), counts.astype(object)):
        assert batched(keys, same) == expected
        assert batched(keys.tolist(), same) == expected
    with pytest.raises(OverflowError):
        batched(keys, np.full(5, 2**63, "u8"))


def test_an_array_without_end(batched):
    endless = np.broadcast_to(np.uint8(1), 2**62)
    with pytest.raises(MemoryError):
        Sketch("4K").estimate_many(endless)
