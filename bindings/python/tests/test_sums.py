"""Sums never wrap: whatever is added, merged or taken away, with counts at the edges of 64 bits, is exact beside integers of
Python's, or refused by name with nothing changed. A sketch takes counts whose sizes come to (2**63 - 1) / Q in all, with
Q = 4 for compact and 1024 for paper (docs/design.md), and refuses none before. Beyond that it takes what there is room for after
deletions.

SPDX-License-Identifier: MIT
"""

import pickle
import random
from array import array
from collections import Counter

import pytest

from legosketch import LegoError, Sketch, _core

try:
    import numpy
    import pyarrow
except ImportError:
    numpy = pyarrow = None

SECRET = bytes(range(16))
ITEMS = [*range(8), *"abcdefgh"]


class Counted:
    """A sketch beside what it should have: the counts; the sizes that it was ever given, before which nothing is refused; and
    whether upper bounds are not certain, since one of them was ever negative, or it is a difference of sketches."""

    def __init__(self, crowd, **options):
        self.sketch = Sketch("8K", **options)
        self.quantum = 1024 if options.get("model") == "paper" else 4
        self.counts, self.sizes, self.uncertain = Counter(), 0, False
        if crowd:
            self.added([(f"crowd {i}", 1 + i % 3) for i in range(4000)])
            self.sketch.update(dict(self.counts))

    def most(self):
        return (2**63 - 1) // self.quantum

    def added(self, pairs):
        for item, count in pairs:
            self.counts[item] += count
            self.uncertain |= self.counts[item] < 0
            self.sizes += abs(count)

    def fits(self, pairs):
        return all(-(2**63) <= count < 2**63 for _, count in pairs) and self.sizes + sum(abs(c) for _, c in pairs) <= self.most()

    def check(self):
        s = self.sketch
        assert s.total == sum(self.counts.values())
        for item in ITEMS:
            (lower, upper, likely), count = s.bounds(item), self.counts[item]
            assert lower <= likely <= upper and float(lower) <= s[item] <= float(likely)
            if s.exact:
                assert lower == likely == upper == count and s[item] == float(count)
            elif not self.uncertain:
                assert upper >= count


def count_for(rng, counted):
    edge = rng.choice([0, 2**31, 2**53, 2**60, 2**61, 2**62, 2**63, 2**64, counted.most(), counted.most() - counted.sizes])
    return rng.choice([1, 1, -1]) * (edge + rng.randint(-2, 2)) if rng.random() < 0.4 else rng.randint(-3, 20)


def add_one(s, pairs):
    for item, count in pairs[:1]:
        s.add(item, count)


def add_lists(s, pairs):
    s.add_many([item for item, _ in pairs], [count for _, count in pairs])


def add_mapping(s, pairs):
    s.update(dict(pairs))


def add_integers(s, pairs):
    """What 64 bits with a sign do not hold is refused before the sketch sees it."""
    s.add_many(array("q", [item for item, _ in pairs]), array("q", [count for _, count in pairs]))


def add_numpy(s, pairs):
    counts = [count for _, count in pairs]
    kind = numpy.uint64 if counts and min(counts) >= 0 else numpy.int64
    s.add_many(numpy.array([item for item, _ in pairs], numpy.int64), numpy.array(counts, kind))


def add_arrow(s, pairs):
    items, counts = [str(item) for item, _ in pairs], [count for _, count in pairs]
    s.add_many(pyarrow.array(items, pyarrow.string()), pyarrow.array(counts, pyarrow.uint64() if counts and min(counts) >= 0
                                                                    else pyarrow.int64()))  # fmt: skip


WAYS = {add_one: ITEMS, add_lists: ITEMS, add_mapping: ITEMS, add_integers: ITEMS[:8]}
if numpy is not None:
    WAYS.update({add_numpy: ITEMS[:8], add_arrow: ITEMS[8:]})


def add(rng, counted):
    way = rng.choice(list(WAYS))
    pairs = [(rng.choice(WAYS[way]), count_for(rng, counted)) for _ in range(rng.randint(0, 4))]
    pairs = list(dict(pairs).items()) if way is add_mapping else pairs[:1] if way is add_one else pairs
    before = counted.sketch.to_bytes()
    try:
        way(counted.sketch, pairs)
    except (LegoError, OverflowError) as refused:
        assert not counted.fits(pairs) and (isinstance(refused, OverflowError) or "64 bits" in str(refused)), refused
        assert counted.sketch.to_bytes() == before
        return True
    counted.added(pairs)
    return False


def combine(rng, into, other):
    subtract = rng.random() < 0.4
    before = into.sketch.to_bytes()
    try:
        if subtract:
            into.sketch -= other.sketch
        else:
            into.sketch += other.sketch
    except LegoError as refused:
        assert into.sketch.to_bytes() == before
        if subtract and into.sketch.top_bytes:
            assert refused.status == _core.LEGO_ERR_TOP
            return False
        assert "64 bits" in str(refused) and into.sizes + other.sizes > into.most()
        return True
    sizes = into.sizes + other.sizes
    into.added([(item, -count if subtract else count) for item, count in other.counts.items()])
    into.sizes, into.uncertain = sizes, into.uncertain or other.uncertain or subtract
    return False


def move(rng, counted, path):
    """By a file, bytes, or a copy: it stays what it is."""
    s = counted.sketch
    s.save(path)
    moved = rng.choice([lambda: Sketch.load(path, secret=SECRET), lambda: Sketch.from_bytes(s.to_bytes(), secret=SECRET), s.copy,
                        lambda: s if s.fingerprint else pickle.loads(pickle.dumps(s))])()  # fmt: skip
    assert moved == s and moved.to_bytes() == path.read_bytes()
    counted.sketch = moved


@pytest.mark.parametrize("crowd", [False, True])
@pytest.mark.parametrize("options", [{}, {"top": "1K"}, {"model": "paper"}, {"secret": SECRET}, {"threads": 3}], ids=str)
def test_exact_or_refused(options, crowd, tmp_path):
    rng, refused, counted = random.Random(f"{options} {crowd}"), 0, 0
    for _ in range(40):
        pair = Counted(crowd, **options), Counted(crowd and rng.random() < 0.5, **options)
        for _ in range(12):
            into, other = pair if rng.random() < 0.7 else pair[::-1]
            what = rng.random()
            if what < 0.7:
                failed = add(rng, into)
            elif what < 0.9:
                failed = combine(rng, into, other)
            else:
                failed = move(rng, into, tmp_path / "a")
            refused, counted = refused + bool(failed), counted + (not failed)
            into.check()
    assert refused > 50 and counted > 200


def test_the_last_count_that_fits():
    """In every way that adds: to the limit, not one beyond it, and all of it back."""
    for quantum, options in (4, {}), (4, {"top": True}), (1024, {"model": "paper"}):
        most = (2**63 - 1) // quantum
        for sign in 1, -1:
            s, other = Sketch("64K", **options), Sketch("64K", **options)
            s.add("a", sign * (most - 5))
            other.add("a", sign * 6)
            before = s.to_bytes()
            for beyond in (lambda: s.add("b", 6), lambda: s.add("b", -6), lambda: s.add_many(["b", "c"], [3, -3]),
                           lambda: s.update({"b": 2**61, "c": -(2**61)}), lambda: s.merge(other)):  # fmt: skip
                with pytest.raises(LegoError, match="64 bits"):
                    beyond()
                assert s.to_bytes() == before
            s.add_many(["b", "c"], [2, -3])
            assert s.total == sign * (most - 5) - 1 and s.bounds("a")[0 if sign < 0 else 1] * sign >= most - 5
            with pytest.raises(LegoError, match="64 bits"):
                s.add("d", 7)  # bricks share cells, where -3 may have made room
