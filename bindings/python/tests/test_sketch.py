"""One sketch, without any other package. test_merging.py has two.

SPDX-License-Identifier: MIT
"""

import copy
import gc
import math
import pickle
import struct
from array import array
from collections import Counter, OrderedDict, UserDict

import pytest

import legosketch
from legosketch import LegoError, Sketch

WORDS = "to be or not to be that is the question".split()


def test_items_are_bytes():
    s = Sketch("64K")
    s.add("äpfel")
    assert s.estimate("äpfel".encode()) == s.estimate(bytearray("äpfel".encode())) == 1
    assert s.estimate(memoryview("äpfel".encode())) == 1
    s.add(258, 3)
    assert s.estimate(struct.pack("<Q", 258)) == 3
    s.add(-5, 7)
    assert s.estimate(2**64 - 5) == s.estimate(struct.pack("<q", -5)) == 7
    s.add("")
    assert s.estimate(b"") == 1
    assert s.total == 12


@pytest.mark.parametrize("item", [-(2**63), -1, 0, 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_integers_at_the_ends(item):
    s = Sketch("4K")
    s.add(item)
    assert s.estimate(struct.pack("<Q", item % 2**64)) == 1


def test_surrogates_are_no_utf8():
    s = Sketch("4K")
    for use in (lambda: s.add("\ud800"), lambda: s.update(["a", "\ud800"]), lambda: s.estimate("\ud800"),
                lambda: s.add(("a", "\ud800"))):
        with pytest.raises(UnicodeEncodeError):
            use()


def test_add_arguments():
    s = Sketch("4K")
    s.add("a", count=4)
    s.add("a", -1)
    assert s.estimate("a") == 3
    for wrong in (lambda: s.add(), lambda: s.add("a", 1, 2), lambda: s.add("a", number=1), lambda: s.add("a", 1.5)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(OverflowError):
        s.add("a", 2**63)
    with pytest.raises(LegoError, match="64 bits") as error:
        s.add("a", 2**62)
    assert error.value.status == 4 and isinstance(error.value, ValueError)
    assert s.estimate("a") == 3


def test_update_as_counter_does():
    expected = Counter(WORDS)
    expected.update({"to": 5, 7: 2})
    ways = [Sketch("64K") for _ in range(4)]
    for s, words in zip(ways, (WORDS, tuple(WORDS), iter(WORDS), (w for w in WORDS))):
        s.update(words)
    for s, mapping in zip(ways, (dict, OrderedDict, UserDict, Counter)):
        s.update(mapping({"to": 5, 7: 2}))
    assert all(s == ways[0] for s in ways)
    assert {w: ways[0].estimate(w) for w in expected} == expected


def test_a_mapping_has_its_counts(batched, counted):
    for mapping in (dict, OrderedDict, UserDict, Counter):
        assert batched(mapping({"a": 3, 7: 2})) == counted(["a", 7], [3, 2])
        with pytest.raises(TypeError, match="leave counts out"):
            batched(mapping({"a": 3}), [1])
    assert list(counted("aab").estimate_many({"a": 5, "c": 5})) == [2, 0]  # asked for, a mapping is its keys


def test_nulls_of_lists(batched, counted):
    keys = ["a", None, "b", math.nan, "a"]
    assert batched(keys) == counted(["a", "b", "a"])
    assert batched(keys, [1, 2, 3, 4, 5]) == counted(["a", "b", "a"], [1, 3, 5])
    estimates = batched(keys).estimate_many(keys)
    assert [estimates[0], estimates[2]] == [2, 1] and math.isnan(estimates[1]) and math.isnan(estimates[3])
    with pytest.raises(LegoError, match="null"):
        batched(keys).bounds_many(keys)


def test_buffers_of_python(batched, counted):
    for code in "bBhHiIlLqQ":
        assert batched(array(code, [1, 2, 2, 100])) == counted([1, 2, 2, 100])
    assert batched(array("h", [-3, 5])) == counted([-3, 5])
    assert batched(memoryview(array("q", range(10)))[::3]) == counted([0, 3, 6, 9])
    assert batched(memoryview(array("q", range(10)))[::-1]) == counted(range(10))
    unaligned = memoryview(bytearray(8 * 4 + 1))[1:].cast("Q")
    unaligned[2] = 77
    assert batched(unaligned) == counted([0, 0, 77, 0])
    assert batched(array("q")) == counted([])
    assert batched(memoryview(b"a\0\1").cast("?")) == counted([True, False, True])
    for wrong in (memoryview(b"abc").cast("c"),):
        with pytest.raises(TypeError, match="format"):
            batched(wrong)
    with pytest.raises(TypeError, match="one dimension, not 2"):
        batched(memoryview(bytes(16)).cast("B", (4, 4)))


def test_counts(batched, counted):
    for counts in ([1, -2, 3], (1, -2, 3), array("q", [1, -2, 3]), array("b", [1, -2, 3]), iter([1, -2, 3])):
        assert batched(["a", "b", "c"], counts) == counted("abc", [1, -2, 3])
    assert batched(iter("abc"), array("Q", [1, 2, 3])) == counted("abc", [1, 2, 3])
    for counts in ([1, 2], [1, 2, 3, 4], array("q", [1]), []):
        with pytest.raises(ValueError, match="differ in length"):
            batched(["a", "b", "c"], counts)
    for counts in (array("Q", [2**63]), [2**63]):
        with pytest.raises(OverflowError):
            batched(["a"], counts)
    for counts in (["x"], [1.5], array("d", [1.0]), [None], 5, "a", b"a"):
        with pytest.raises(TypeError):
            batched(["a"], counts)


def test_one_item_is_not_many():
    s = Sketch("4K")
    for one in ("apple", b"apple", bytearray(b"apple")):
        for use in (s.update, s.add_many, s.estimate_many):
            with pytest.raises(TypeError, match="one item"):
                use(one)
    with pytest.raises(TypeError, match="many items are"):
        s.update(5)


def test_large_batches_have_several_chunks(counted):
    n = 2**23 + 5  # KEYS_MOST, and a little
    one, other = Sketch("64K"), Sketch("64K")
    one.add_many(array("I", [3]) * n)
    other.add(3, n)
    assert one == other
    one.update(str(i % 7) for i in range(2**19 + 3))  # KEYS_GATHERED
    for i in range(7):
        assert one.estimate(str(i)) == len(range(i, 2**19 + 3, 7))


def test_index_and_in(crowd):
    s = Sketch("64K")
    s.update(["a", "b", "a", 7])
    assert (s["a"], s["b"], s[7], s["c"]) == (2, 1, 1, 0) and type(s["a"]) is float
    assert "a" in s and 7 in s and b"a" in s and "c" not in s and 8 not in s
    s.add("a", -2)
    assert "a" not in s
    s.add("owed", -3)
    assert "owed" in s and s["owed"] == -3
    full = crowd(budget="64K")
    assert all(i in full for i in range(0, 100_000, 997))  # never false of what has come
    for wrong in (lambda: s[None], lambda: s[[1]], lambda: None in s, lambda: iter(s), lambda: list(s), lambda: s[1:2]):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError):
        s["a"] = 5


def test_clear():
    for top in (False, True):
        s = Sketch("64K", top=top)
        empty = s.copy()
        s.update(WORDS)
        assert s != empty
        s.clear()
        assert s == empty and s.total == 0


def test_top():
    s = Sketch("64K", top=True)
    s.update(["a", "b", "a", "c", "a", "b"])
    assert [(t.item, t.estimate, t.exact) for t in s.top(2)] == [("a", 3, True), ("b", 2, True)]
    assert len(s.top()) == len(s.top(None)) == 3 and s.top(0) == [] and s.top_total == 6
    assert s.top(1, items=bytes)[0].item == b"a" and s.top(1, items=int)[0].item == b"a"
    s.add(b"\xff", 9)  # no UTF-8
    assert [t.item for t in s.top(2)] == [b"\xff", "a"]
    assert [t.item for t in s.top(2, items=bytes)] == [b"\xff", b"a"]
    with pytest.raises(LegoError, match="top=True"):
        Sketch("64K").top()
    with pytest.raises(ValueError):
        s.top(-1)
    assert (s + s).top(1)[0].estimate == 18


def loaded(s):
    return [s, Sketch.from_bytes(s.to_bytes()), pickle.loads(pickle.dumps(s)), s.copy(), s + Sketch("64K")]


def test_a_sketch_knows_what_its_items_are():
    s = Sketch("64K", top="8K")
    assert s.items == "none"
    s.update([5, 2**64 - 1, 5])
    assert all(t.items == "integers" and [i.item for i in t.top()] == [5, 2**64 - 1] for t in loaded(s))
    s.clear()
    assert s.items == "none"
    s.update(["question", "question", "be", b"bytes"])
    assert all(t.items == "bytes" and [i.item for i in t.top(1)] == ["question"] for t in loaded(s))
    with pytest.raises(TypeError):
        s.update([1, 1, 2j])
    assert s.items == "bytes"  # what was refused is of no kind
    s.update({3: 9, -1: 8, 2.5: 7, 2**63 + 1: 6, b"\xff\xfe": 5})
    for t in loaded(s):
        assert t.items == "mixed"
        assert [i.item for i in t.top(6)] == [3, 2**64 - 1, "2.5", 2**63 + 1, b"\xff\xfe", "question"]
        assert t.top(6, items=int)[5].item == int.from_bytes(b"question", "little") and t.top(1, items=bytes)[0].item == b"\3" + bytes(7)
    ints, texts = Sketch("64K"), Sketch("64K")
    for i, keys in enumerate(([1, 2], array("q", [1, 2]), [1.0, True], range(100))):
        ints.add_many(keys)
        texts.add_many([str(key) for key in keys], [i + 1] * len(keys))
        assert (ints.items, texts.items, (ints + texts).items) == ("integers", "bytes", "mixed")
    ints.update([0.5])
    assert ints.items == "mixed"


def test_more_are_kept_than_ten():
    s = Sketch("1M", top=True)
    s.update({f"item {i}": 1000 - i for i in range(500)})
    assert [t.item for t in s.top(None)] == [f"item {i}" for i in range(500)]
    assert len(s.top()) == 10 and s.top_total == s.total


@pytest.mark.parametrize("options", [
    {}, {"top": True}, {"model": "paper"}, {"model": "paper", "top": "8K", "seed": 2**64 - 1}, {"threads": 3},
    {"top": True, "threads": 3},
])
def test_copies(options, tmp_path):
    s = Sketch("64K", **options)
    s.update(WORDS)
    path = tmp_path / "words.sketch"
    s.save(path)
    for other in (
        s.copy(), copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s)), pickle.loads(pickle.dumps(s, 2)),
        Sketch.from_bytes(s.to_bytes()), Sketch.from_bytes(bytearray(s.to_bytes())), Sketch.load(path),
        Sketch.load(str(path)),
    ):
        assert other == s and not other != s and type(other) is Sketch
        assert (other.total, other.seed, other.model) == (s.total, s.seed, s.model)
        other.add("more")
        assert other != s
    again = pickle.loads(pickle.dumps(s))
    assert (again.threads, again.top_bytes) == (s.threads, s.top_bytes)
    assert s.copy().threads == s.threads == options.get("threads", 1)


def test_a_model_of_ones_own(tmp_path):
    data = legosketch._core.model_bytes("paper")
    path = tmp_path / "mine.lego"
    path.write_bytes(data)
    ways = [Sketch("300K", model=m) for m in (data, bytearray(data), path, str(path))]
    for s in ways:
        s.update(WORDS)
    assert all(s == ways[0] for s in ways)
    again = pickle.loads(pickle.dumps(ways[0]))
    larger = Sketch("600K", model=path)
    larger.update(WORDS)
    both = ways[1] + larger  # of two shapes
    del ways, larger, s
    gc.collect()  # the models of what is left must still be there
    assert again.estimate("to") == 2 and both.estimate("to") == 4 and again.model == "paper"
    with pytest.raises(LegoError):
        Sketch(model=data[:-1])
    with pytest.raises(ValueError):
        legosketch._core.model_bytes("compact")  # which is in no file
    with pytest.raises(FileNotFoundError):
        Sketch(model="no such model")


def test_subclass():
    class Mine(Sketch):
        pass

    s = Mine("64K")
    s.note = "kept where Python keeps attributes"
    s.add("a")
    assert type(s.copy()) is Mine and type(s + s) is Mine and type(Mine.from_bytes(s.to_bytes())) is Mine
    assert s == Sketch.from_bytes(s.to_bytes())
    global Its  # where pickle finds it
    Its = Mine
    Mine.__qualname__ = "Its"
    again = pickle.loads(pickle.dumps(s))
    assert type(again) is Mine and again.note == s.note and again == s


def test_is_made_whole_or_not_at_all():
    with pytest.raises(TypeError):
        object.__new__(Sketch)
    with pytest.raises(TypeError):
        legosketch._core.Sketch()
    s = Sketch("64K")
    s.add("a")
    s.__init__()
    assert s.total == 1
    assert not hasattr(s, "__dict__")
    with pytest.raises(TypeError):
        hash(s)


def test_budgets():
    for budget, least in (("64K", 0.9 * 65536), ("64KiB", 0.9 * 65536), (65536, 0.9 * 65536), ("0.5m", 0.9 * 524288)):
        assert least < Sketch(budget).budget <= 65536 * (8 if budget == "0.5m" else 1)
    for wrong in ("", "K", "1.K", "-1", "1X", " 1M", "1MM", "１M"):
        with pytest.raises(ValueError, match="no size"):
            Sketch(wrong)
    for wrong in (1, "4095", "65G", 2**63):
        with pytest.raises(ValueError, match="budget"):
            Sketch(wrong)
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError):
            Sketch(wrong)
    for wrong in (None, 1.5, [], b"1M"):
        with pytest.raises(TypeError):
            Sketch(wrong)
    with pytest.raises(ValueError):
        Sketch(0)
    with pytest.raises(ValueError):
        Sketch(seed=-1)
    with pytest.raises(ValueError):
        Sketch("64K", top="64K")


def test_facts(crowd):
    s = Sketch("64K", seed=7)
    s.update(WORDS)
    assert s.total == len(WORDS) and s.seed == 7 and s.model == "compact" and s.bytes <= 65536
    assert s.blocks > 0 and s.cache_bytes >= 0
    assert (s.distinct, s.exact, s.keeping) == (len(set(WORDS)), True, 0) and s.bytes < 1000 < 60_000 < s.budget <= 65536
    full = crowd(budget="64K")
    assert not full.exact and 0 < full.keeping <= 1 and abs(full.distinct - 100_001) < 17_000  # 4 standard errors
    assert 60_000 < full.bytes <= full.budget
    bricks = Sketch("64K", model="paper")
    assert (bricks.exact, bricks.keeping) == (False, 0)
    assert s.expected_error()[:2] == (0, 0)
    error = full.expected_error()
    assert 0 <= error.absolute < 0.5 and 0 <= error.relative < 0.5  # each came once
    assert all(map(math.isnan, bricks.expected_error())) and bricks.classes() == []
    assert (s.columns, s.top_bytes, s.top_total, s.threads) == (0, 0, 0, 1)
    s.threads = 2
    assert s.threads == 2
    for wrong in (0, -1, 2**40, 2**70, "a", None):
        for use in (lambda w: setattr(s, "threads", w), lambda w: Sketch(threads=w),
                    lambda w: Sketch.from_bytes(s.to_bytes(), threads=w)):
            with pytest.raises((ValueError, OverflowError, TypeError)):
                use(wrong)
    assert s.threads == 2
    with pytest.raises(AttributeError):
        del s.threads
    with pytest.raises(AttributeError):
        s.total = 5
    top = Sketch("64K", top="8K", threads=4)
    assert 0 < top.top_bytes < 1000 < top.top_budget <= 8192 and top.threads == 4
    assert 0 < Sketch("64K", top=True).top_budget <= 8192 < Sketch("64K", top="16K").top_budget
    assert Sketch("64K", model="paper").columns > 0


def test_shown():
    s = Sketch("64K")
    s.update(WORDS)
    assert repr(s) == f"<Sketch of 10 items: compact, {s.bytes:,} bytes>"
    assert "<svg" in s._repr_html_() and "items counted" in s._repr_html_()
    assert "<svg" in Sketch("64K", top=True)._repr_html_()
    top = Sketch("64K", top=True)
    top.add("<script>", 5)
    top.add("x" * 100, 3)
    assert "&lt;script&gt;" in top._repr_html_() and "<script>" not in top._repr_html_()
    assert f"{top.top_bytes:,} of them for the top" in repr(top)


def test_arguments_that_mean_nothing_are_refused():
    for wrong in (True, 0, 5.5):
        with pytest.raises(TypeError):
            Sketch("4K", model=wrong)  # open() would take it for a file descriptor
    with pytest.raises(FileNotFoundError, match="built-in"):
        Sketch("4K", model="nope")
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError, match="seed"):
            Sketch("4K", seed=wrong)
    with pytest.raises(TypeError):
        Sketch("4K", seed="a")
    for wrong in (100, "97K", "1M", -1, 2**70):
        with pytest.raises(ValueError, match="top is from"):
            Sketch("100K", top=wrong)
    with pytest.raises(ValueError, match="top is from"):
        Sketch("4K", top=True)
    for none in (0, None, False, "0"):
        assert Sketch("100K", top=none).top_bytes == 0
    for wrong in ({"heavy": True}, {"flat": True}, {"model": "rule"}):  # of versions before
        with pytest.raises((TypeError, FileNotFoundError)):
            Sketch("100K", **wrong)
    with pytest.raises(TypeError, match="items"):
        Sketch("100K", top=True).top(items="str")
    s = Sketch("4K")
    for wrong in (5, "ab", [1.5, 2], [1]):
        with pytest.raises((TypeError, ValueError), match="count|integer"):
            s.add_many([1, 2], wrong)
    for wrong in (3 * s.blocks, 2**40):
        with pytest.raises(LegoError, match="divisor"):
            s.fold(wrong)
    assert s.total == 0


def test_groups():
    """The values are those of tests/reference/lego.py, which has XXH3 from another package."""
    assert [legosketch.group(item, 1000) for item in ("", 7, "naïve", b"apple")] == [781, 320, 100, 367]
    assert legosketch.group("naïve", 1000, seed=42) == legosketch.group("naïve".encode(), 1000, 42) == 928
    assert legosketch.group(-5, 1000) == legosketch.group(bytearray(b"\xfb" + b"\xff" * 7), 1000) == 532
    assert {legosketch.group(i, 6) for i in range(100)} == set(range(6))
    for groups, seed in ((0, 0), (-1, 0), (2**32, 0), (4, -1), (4, 2**64)):
        with pytest.raises(ValueError):
            legosketch.group("x", groups, seed)
    assert legosketch.group(True, 1000) == legosketch.group(1, 1000)
    for item in (1j, None, []):
        with pytest.raises(TypeError):
            legosketch.group(item, 4)
