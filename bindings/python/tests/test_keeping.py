"""Sketches too full to list all their items, whose blocks keep the heaviest: what they promise then.

SPDX-License-Identifier: MIT
"""

import math
import random
from collections import Counter

import pytest

from legosketch import Sketch
from legosketch._merging import merge_tree


def zipf(skew, distinct=20_000, length=200_000, seed=1):
    """`length` draws of `distinct` items, the k-th with probability ~ k ** -skew, in no order."""
    return random.Random(seed).choices(range(distinct), [k**-skew for k in range(1, distinct + 1)], k=length)


STREAMS = {f"zipf {skew}": zipf(skew) for skew in (0.5, 1, 1.5)}
STREAMS["keys in runs"] = sorted(STREAMS["zipf 1"])
STREAMS["once each"] = list(range(30_000))


def full(stream, each):
    """A sketch of about so many bytes for each distinct item; and the counts."""
    truth = Counter(stream)
    s = Sketch(max(4096, int(each * len(truth))))
    s.add_many(stream)
    assert s.keeping > 0 and not s.exact and s.total == len(stream)
    return s, truth


def share(tests):
    tests = list(tests)
    return sum(tests) / len(tests)


@pytest.mark.parametrize("each", [0.25, 0.5, 1])
@pytest.mark.parametrize("name", STREAMS)
def test_bounds(name, each):
    s, truth = full(STREAMS[name], each)
    lower, upper, likely = s.bounds_many(truth)
    assert all(count <= bound for count, bound in zip(truth.values(), upper))
    assert share(count <= bound for count, bound in zip(truth.values(), likely)) >= 0.99
    assert share(count >= bound for count, bound in zip(truth.values(), lower)) >= 0.99
    values = s.estimate_many(truth)
    for a, value, b, c in zip(lower, values, likely, upper):
        assert a <= value <= b <= c
    if s.blocks > 30:  # where there are enough to tell, it is close
        assert sum(likely) - sum(values) <= 0.1 * (sum(upper) - sum(values))
    assert all(item in s for item in truth)


def test_the_heaviest():
    s, truth = full(STREAMS["zipf 1"], 0.5)
    heavy = truth.most_common(len(truth) // 100)
    assert share(s.estimate(item) == count for item, count in heavy[:30]) >= 0.9
    assert share(abs(s.estimate(item) - count) <= 0.05 * count for item, count in heavy) >= 0.95


@pytest.mark.parametrize("name", ["zipf 1", "once each"])
def test_an_item_that_is_not_listed(name):
    """What such items mostly count is 1 here. From absent=0.25 on it is 0, and what is listed stays."""
    s, truth = full(STREAMS[name], 0.5)
    once = [item for item, count in truth.items() if count == 1]
    never = range(10**6, 10**6 + 2000)
    assert share(value == 1 for value in s.estimate_many(once)) >= 0.95
    assert share(value == 1 for value in s.estimate_many(never)) >= 0.95
    for absent in 0.01, 0.2499:
        assert list(s.estimate_many([*once, *never], absent=absent)) == list(s.estimate_many([*once, *never]))
    for absent in 0.25, 0.5, 0.999:
        assert share(value == 0 for value in s.estimate_many(never, absent=absent)) >= 0.95
        for plain, value in zip(s.estimate_many(truth), s.estimate_many(truth, absent=absent)):
            assert value == plain or value == 0
        assert all(bound >= count for bound, count in zip(s.bounds_many(truth, absent=absent)[1], truth.values()))


@pytest.mark.parametrize("each", [0.25, 0.5, 1])
@pytest.mark.parametrize("name", STREAMS)
def test_facts(name, each):
    s, truth = full(STREAMS[name], each)
    assert 0 < s.distinct_error <= 1.5 / math.sqrt(4 * s.blocks) * s.distinct
    assert abs(s.distinct - len(truth)) <= 4 * s.distinct_error
    estimates = s.estimate_many(truth)
    wrong = [(abs(value - count), count) for value, count in zip(estimates, truth.values())]
    error = s.expected_error()
    assert all(map(math.isfinite, error)) and min(error) >= 0
    relative = sum(far / count for far, count in wrong) / len(wrong)
    absolute = sum(far for far, _ in wrong) / len(wrong)
    assert abs(error.relative - relative) <= 0.3 * relative + 0.02 + 4 * error.relative_error
    assert abs(error.absolute - absolute) <= 0.7 * absolute + 0.02 + 4 * error.absolute_error


@pytest.mark.parametrize("name", STREAMS)
def test_classes(name):
    s, truth = full(STREAMS[name], 0.5)
    classes = s.classes()
    assert [c.low for c in classes] == sorted({c.low for c in classes})
    assert abs(sum(c.items for c in classes) - len(truth)) <= 5 * s.distinct_error + 0.02 * len(truth)
    for low, high, items, error in classes:
        assert (low, high) == (1, 1) or high == 2 * (low - 1)
        there = sum(low <= count <= high for count in truth.values())
        # of those that are listed there are twins, and some that were let go once
        assert error >= 0 and abs(items - there) <= 5 * error + 0.1 * there + 0.005 * len(truth)
    most = max(truth.values())
    assert classes[-1].low <= 2 * most and 0.9 * most <= classes[-1].high and classes[-1].error <= classes[0].error


def test_classes_of_an_exact_sketch():
    s = Sketch("64K")
    assert s.classes() == []
    s.update({"once": 1, "too": 1, "twice": 2, "three": 3, "four": 4, "many": 2**40, "more": 2**40 + 1})
    assert s.classes() == [(1, 1, 2, 0), (2, 2, 1, 0), (3, 4, 2, 0), (2**39 + 1, 2**40, 1, 0), (2**40 + 1, 2**41, 1, 0)]
    assert (s.distinct, s.distinct_error, tuple(s.expected_error())) == (7, 0, (0, 0, 0, 0))
    s.update({"once": -1, "too": -1})
    assert s.classes()[0] == (2, 2, 1, 0)


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_a_call_is_its_additions_in_their_order(cut):
    stream = STREAMS["zipf 1"][:60_000]
    one_by_one, copied, whole = Sketch("8K"), Sketch("8K"), Sketch("8K", threads=2)
    whole.add_many(stream)
    for item in stream:
        one_by_one.add(item)
    for at in range(0, len(stream), len(stream) // cut):
        copied = Sketch.from_bytes(copied.to_bytes()).copy()
        copied.add_many(stream[at : at + len(stream) // cut])
    assert one_by_one.keeping == 1 and one_by_one == whole == copied


def test_nothing_that_reads_changes_anything():
    s, truth = full(STREAMS["zipf 1"], 0.5)
    before = s.to_bytes()
    for _ in range(2):
        s.estimate_many(truth), s.bounds_many(range(1000), absent=0.5), s.copy()
        s.expected_error(), s.classes(), s.distinct
    assert s.to_bytes() == before


RISING = [f"rises {i}" for i in range(80)]


@pytest.fixture(scope="module")
def hundred():
    """Parts, and the counts of all of them: RISING is light in each, and the heaviest of all of them together."""
    parts, truth = [], Counter()
    for number in range(100):
        pairs = [(f"heavy {number} {i}", 20) for i in range(600)] + [(item, 3) for item in RISING]
        pairs += [(f"light {number} {i}", 1) for i in range(2000)]
        random.Random(number).shuffle(pairs)
        parts.append(Sketch("4K"))
        parts[-1].add_many([item for item, _ in pairs], [count for _, count in pairs])
        truth.update(dict(pairs))
        assert parts[-1].keeping > 0
    return parts, truth


def rising(sketch):
    """The share of their weight that the sketch has."""
    return sum(map(float, sketch.estimate_many(RISING))) / (80 * 100 * 3)


@pytest.mark.parametrize("fan_in", [100, 16])
def test_many_are_merged_at_once(hundred, fan_in):
    parts, truth = hundred
    whole = merge_tree((part.copy() for part in parts), fan_in)
    assert whole.total == sum(truth.values()) and rising(whole) >= 0.9
    assert all(count <= bound for count, bound in zip(truth.values(), whole.bounds_many(truth)[1]))
    if fan_in == 100:
        assert rising(sum(parts)) < 0.5  # one after the other, they are let go again and again


def test_two_are_merged(hundred):
    one, other = hundred[0][:2]
    assert one + other == other + one
    weighted = one.copy()
    weighted.merge_many([other], weights=[5])
    assert weighted.total == one.total + 5 * other.total and min(weighted.bounds_many(RISING)[1]) >= 3 + 5 * 3


def test_deletions_come_off():
    s, truth = full(STREAMS["zipf 1"], 0.5)
    heavy = [item for item, _ in truth.most_common(30)]
    s.add_many(heavy, [-truth[item] // 2 for item in heavy])
    for item in heavy:
        truth[item] -= -(-truth[item] // 2)
    assert s.total == sum(truth.values())
    assert share(s.estimate(item) == truth[item] for item in heavy) >= 0.9
    assert all(count <= bound for count, bound in zip(truth.values(), s.bounds_many(truth)[1]))
