"""Two sketches, and one folded to the size of another.

SPDX-License-Identifier: MIT
"""

import math
import re

import pytest

import legosketch
from legosketch import LegoError, Sketch
from legosketch._merging import merge_tree

WORDS = "to be or not to be that is the question".split()


def test_sum():
    parts = [Sketch("64K") for _ in range(3)]
    for i, part in enumerate(parts):
        part.update(["a", str(i)])
    whole = sum(parts)
    assert whole == parts[0] + parts[1] + parts[2] and whole.estimate("a") == 3 and parts[0].total == 2
    assert sum(parts[:1]) == parts[0] and sum(parts[:1]) is not parts[0]
    for wrong in (lambda: 1 + parts[0], lambda: "a" + parts[0], lambda: 0 - parts[0], lambda: 0.0 + parts[0]):
        with pytest.raises(TypeError):
            wrong()


def test_merge_and_subtract(counted):
    a, b = counted(WORDS), counted(["to", "do"])
    whole = counted(WORDS + ["to", "do"])
    assert a + b == b + a == whole
    assert whole - b == a and whole - a == b
    c = a.copy()
    c += b
    assert c == whole
    c -= b
    assert c == a
    c.merge(b)
    assert c == whole
    twice = counted(WORDS * 2)
    assert a + a == twice
    a.merge(a)
    assert a == twice
    a -= a
    assert a.total == 0 and a.estimate("to") == 0


def test_many_at_once(counted):
    parts = [counted(words.split()) for words in ("to be or", "not to be", "that is", "the question")]
    for ways in (parts, tuple(parts), iter(parts), (part for part in parts)):
        whole = Sketch("64K")
        whole.merge_many(ways)
        assert whole == counted(WORDS) == sum(parts)
    whole.merge_many([])
    assert whole == counted(WORDS)
    whole.merge_many(parts, weights=iter([-1] * 4))
    assert whole.total == 0 and whole.estimate("to") == 0
    whole.merge_many([parts[0], parts[2], parts[0]], [3, -2, 2**40])  # one of them twice
    assert [whole[word] for word in ("to", "is", "not")] == [3 + 2**40, -2, 0]
    twice = counted(WORDS)
    twice.merge_many([twice, twice], [2, -1])  # itself, as it was
    assert twice == counted(WORDS * 2)
    assert [part.total for part in parts] == [3, 3, 2, 2]  # nothing else changed


def test_what_is_refused_of_many_changes_nothing(counted):
    s, good = counted(WORDS), counted(["to"])
    before = s.to_bytes()
    for wrong in ([good, None], [good, "a"], [5], 5, None, s):
        with pytest.raises(TypeError):
            s.merge_many(wrong)
    for weights in ([1, "a"], [1, 1.5], 5):
        with pytest.raises(TypeError):
            s.merge_many([good, good], weights)
    for weights, why in (([1], "in length: 2 and 1"), ([1, 2, 3], "in length: 2 and 3"), ([1, 0], "not 0")):
        with pytest.raises(ValueError, match=why):
            s.merge_many([good, good], weights)
    with pytest.raises(OverflowError):
        s.merge_many([good], [2**63])
    with pytest.raises(LegoError, match="64 bits"):
        s.merge_many([good, good], [2**62, 2**62])
    for other, why in (Sketch("64K", seed=1), "seeds 0 and 1"), (Sketch("64K", model="paper"), "models compact and paper"):
        with pytest.raises(LegoError, match=why):
            s.merge_many([good, other])
    assert s.to_bytes() == before and good.total == 1


def test_who_does_not_merge_among_many_is_named(crowd):
    one, other = crowd(budget="96K"), crowd(budget="80K")
    with pytest.raises(LegoError, match=f"{other.blocks:,} blocks .* and {one.blocks:,} .*neither number") as error:
        one.merge_many([one, Sketch("10K"), other])
    assert error.value.status == legosketch._core.LEGO_ERR_SHAPE and one.total == 100_001
    top = Sketch("96K", top=True)
    with pytest.raises(LegoError, match="sketches with top can not be subtracted"):
        one.merge_many([one, top], [1, -1])
    assert one.total == 100_001


def test_a_tree_merges_all_in_their_order():
    class Part(list):
        def merge_many(self, others):
            merges.append(1 + len(others))
            for other in others:
                self.extend(other)

    for n in (0, 1, 2, 3, 4, 5, 16, 17, 30):
        for fan_in in (2, 3, 16):
            merges = []
            assert merge_tree((Part([i]) for i in range(n)), fan_in) == (list(range(n)) or None)
            assert len(merges) <= 1 or (len(merges) <= 1 + n / (fan_in - 1) and set(merges[:-1]) == {fan_in})
            assert n > fan_in or len(merges) == (n > 0)  # at once


def test_merge_refuses():
    s = Sketch("64K")
    for other, why in ((Sketch("64K", seed=1), "seed"), (Sketch("64K", model="paper"), "model")):
        for use in (s.merge, s.__add__, other.merge):
            with pytest.raises(LegoError, match=why):
                use(s if use == other.merge else other)
    for wrong in (None, 5, "a", {}):
        with pytest.raises(TypeError):
            s.merge(wrong)
        with pytest.raises(TypeError):
            s + wrong
        with pytest.raises(TypeError):
            s -= wrong
        with pytest.raises(TypeError):
            wrong + s


def sizes_that_fold():
    """Two budgets, neither of whose numbers of blocks is a multiple of the other, with much in common."""
    blocks = {Sketch(f"{k}K").blocks: f"{k}K" for k in range(40, 100)}
    return next((blocks[n], blocks[m]) for n in blocks for m in blocks
                if n < m and m % n != 0 and math.gcd(n, m) >= n // 8)  # fmt: skip


def test_sizes_that_do_not_merge_are_named(crowd):
    one, other = (crowd(budget=budget) for budget in sizes_that_fold())
    for use in (one.merge, one.__add__, one.__isub__, one.__iadd__):
        with pytest.raises(LegoError, match="neither number is a multiple") as error:
            use(other)
        text = str(error.value)
        assert error.value.status == legosketch._core.LEGO_ERR_SHAPE
        for sketch in (one, other):
            assert f"{sketch.blocks:,}" in text and f"{sketch.budget:,}" in text
    assert one.total == 100_001
    blocks, = re.search(r"fold\((\d+)\)$", text).groups()  # the advice is good
    for sketch in (one, other):
        sketch.fold(int(blocks))
    assert (one + other).total == 200_002


def test_exact_sketches_merge_whatever_their_budgets(crowd):
    small, large = Sketch("65K"), Sketch("100K")
    small.update(["a", "b", "a"])
    large.update(["a", "c"])
    for one, other in ((small, large), (large, small)):
        both = one + other
        assert both.exact and both.budget == one.budget
        assert [both.bounds(item) for item in "abcd"] == [(3, 3, 3), (1, 1, 1), (1, 1, 1), (0, 0, 0)]
    full = crowd(budget="100K")
    with pytest.raises(LegoError, match="or merge this one into the other$"):
        small + full
    assert (full + small).total == full.total + 3


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ({"budget": "100K"}, {"budget": "65K"}, "neither number"),
        ({"budget": "300K", "model": "paper"}, {"budget": "170K", "model": "paper"}, "columns"),
        ({"budget": "300K", "top": "24K"}, {"budget": "293K", "top": "16K"}, "tops"),
        ({"budget": "64K", "top": True}, {"budget": "90K", "top": True}, "neither number"),
        ({"budget": "64K", "top": "8K"}, {"budget": "64K"}, "neither number"),
        ({"budget": "80K"}, {"budget": "90K", "top": True}, "neither number"),
    ],
)
def test_the_advice_for_sketches_that_do_not_merge_is_good(first, second, why, crowd):
    """It is to make both with a budget and a top. Of the two that were refused, one is of that size already."""
    sketches = crowd(**first), crowd(**second)
    with pytest.raises(LegoError, match=why) as error:
        sketches[0] + sketches[1]
    advice = r": make both with budget=([\d_]+)(?:, top=([\d_]+))?$"  # and no fold, which would ruin them
    budget, top = re.search(advice, str(error.value)).groups()
    advice = {**first, "budget": int(budget), "top": int(top or 0)}
    made = crowd(**advice)
    assert made.budget == advice["budget"]
    same = [sketch for sketch in sketches if sketch == made]
    assert len(same) == 1
    assert (made + same[0]).blocks == (same[0] + made).blocks == made.blocks


@pytest.mark.parametrize("options", [{}, {"top": "8K"}, {"model": "paper"}, {"model": "paper", "top": True}])
def test_the_least_budget(options):
    s = Sketch("300K", **options)
    assert s.bytes <= s.budget <= 300 * 1024
    options["top"] = s.top_budget
    assert Sketch(s.budget, **options) == s
    less = Sketch(s.budget - 1, **options)
    assert (less.blocks, less.columns) < (s.blocks, s.columns)


def test_advice_for_sketches_that_were_folded(crowd):
    """No budget makes one as small."""
    one, other = crowd(budget="64K", top="8K"), crowd(budget="90K", top="12K")
    one.fold(7)
    other.fold(other.blocks // 2)
    budget, top = 4096 + one.top_budget, one.top_budget
    with pytest.raises(LegoError, match=f"make both with budget={budget:_}, top={top:_}$"):
        one + other
    assert Sketch(budget, top=top).top_budget == top


def test_budgets_that_nest_merge():
    for small, large in (("64K", "128K"), ("300K", "600K"), ("1M", "4M")):
        a, b = Sketch(small), Sketch(large)
        a.add_many(list(range(150_000)))
        b.add_many(list(range(100_000, 250_000)))
        assert not a.exact
        both = a + b
        assert both == b + a and both.blocks == a.blocks and both.total == 300_000
        assert min(both.bounds_many(range(100_000, 150_000))[1]) >= 2
        b.fold(budget=small)
        again = Sketch(small)
        again.add_many(list(range(100_000, 250_000)))
        assert again.blocks == b.blocks and again.total == b.total
        assert again == b or again.keeping > 0
    assert again.keeping == 0  # the last is the very sketch


def test_fold(crowd):
    for options in ({}, {"top": "8K"}, {"model": "paper"}):
        a = crowd(budget="256K", **options)
        part = next(d for d in range(2, a.blocks + 1) if a.blocks % d == 0)
        half = a.copy()
        half.fold(a.blocks // part)
        assert half.blocks == a.blocks // part and half.bytes < a.bytes and half.total == a.total
        assert half.top_budget == a.top_budget
        assert (a + half).blocks == half.blocks
        for wrong in (0, a.blocks * 2, 2**40, -1):
            with pytest.raises(LegoError):
                a.fold(wrong)


def test_fold_within_a_budget():
    s = Sketch("1M")
    s.update(WORDS)
    for budget in ("1M", "100K", 65536, "4K"):
        s.fold(budget=budget)
        assert legosketch._size(budget) // 3 < s.budget and s.bytes <= legosketch._size(budget)
        assert s.estimate("to") == 2
    for wrong in (0, 10, -5):
        with pytest.raises(LegoError):
            s.fold(budget=wrong)
    for wrong in ({}, {"blocks": 1, "budget": "4K"}):
        with pytest.raises(TypeError, match="blocks or a budget"):
            s.fold(**wrong)


def test_top_and_plain_merge():
    listing, plain = Sketch("64K", top="8K"), Sketch("56K")
    plain.fold(math.gcd(plain.blocks, listing.blocks))
    listing.update({"a": 5, "b": 3})
    plain.update({"a": 2, "c": 4})
    both = listing + plain
    assert both.top_budget == listing.top_budget and both.total == 14
    assert [both.estimate(item) for item in "abc"] == [7, 3, 4] and "a" in [t.item for t in both.top()]
    both = plain + listing
    assert both.top_bytes == 0 and [both.estimate(item) for item in "abc"] == [7, 3, 4]
    assert both == plain + listing  # a function of the two
    for one, other in ((listing, plain), (plain, listing), (listing, listing)):
        before = one.to_bytes()
        with pytest.raises(LegoError, match="sketches with top") as error:
            one - other
        assert error.value.status == legosketch._core.LEGO_ERR_TOP and one.to_bytes() == before
