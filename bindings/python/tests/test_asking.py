"""How a question is meant: absent, of one item and of many.

SPDX-License-Identifier: MIT
"""

import inspect
import math

import pytest

from legosketch import LegoError, Sketch

WAYS = [{"absent": 0.7}, {"absent": 0.25}, {"absent": 0.1}]
ITEMS = [*range(500), *(f"word {i}" for i in range(500)), *(b"\0%d" % i for i in range(500)), *range(20000, 20500)]


def crowded(**options):
    """About half a byte for each distinct item."""
    s = Sketch(6000, **options)
    s.add_many([*range(10000), *ITEMS[:1500]], [1 + 2000 // (i + 1) for i in range(11500)])
    return s


@pytest.mark.parametrize("options", [{}, {"top": 1000}])
def test_one_and_many_agree(options):
    s = crowded(**options)
    assert s.keeping > 0.5
    for way in [{}, *WAYS]:
        many = list(map(float, s.estimate_many(ITEMS, **way)))
        lower, upper, likely = s.bounds_many(ITEMS, **way)
        assert many == [s.estimate(item, **way) for item in ITEMS]
        assert list(zip(lower, upper, likely)) == [s.bounds(item, **way) for item in ITEMS]
        assert all(a <= value <= b <= c for a, value, b, c in zip(lower, many, likely, upper))


def test_defaults_can_be_said():
    bricks = Sketch("160K", model="paper")
    bricks.add_many(ITEMS[::2])
    for s in (crowded(), bricks):
        for item in ITEMS[::7]:
            assert s.estimate(item, absent=0) == s.estimate(item)
            assert s.bounds(item, absent=0.0) == s.bounds(item)
        assert list(s.estimate_many(ITEMS, absent=0)) == list(s.estimate_many(ITEMS))


def test_more_doubt_means_less():
    s = crowded()
    plain, absent = s.estimate_many(ITEMS), s.estimate_many(ITEMS, absent=0.7)
    assert all(0 <= a <= value for value, a in zip(plain, absent))
    assert min(plain[:1500]) >= 1 and min(absent[:1500]) == 0  # these have come
    assert sum(absent[1500:]) < 0.5 * sum(plain[1500:])  # and these have not


def test_exact_counts_do_not_depend_on_it():
    s, top = Sketch("64K"), crowded(top=1000)
    s.update({"apple": 3, 7: 2})
    for way in WAYS:
        assert [s.estimate(item, **way) for item in ("apple", 7, "plum")] == [3, 2, 0]
        assert s.bounds("apple", **way) == (3, 3, 3) and s.bounds("plum", **way) == (0, 0, 0)
    kept = [t for t in top.top(None, items=int) if t.exact and isinstance(t.item, int)]
    assert kept and all(top.estimate(t.item, **way) == t.estimate for t in kept for way in WAYS)


@pytest.mark.parametrize("absent", [1, -0.1, math.nan, math.inf])
def test_out_of_range(absent):
    for s in (Sketch(), Sketch(top=True), crowded(), Sketch("160K", model="paper")):
        for ask in (s.estimate, s.bounds):
            with pytest.raises(LegoError, match="absent is from 0 to below 1$"):
                ask("apple", absent=absent)
        for ask in (s.estimate_many, s.bounds_many):
            for keys in ([], ["apple"], range(5)):
                with pytest.raises(LegoError, match="absent is from 0 to below 1$"):
                    ask(keys, absent=absent)


@pytest.mark.parametrize("way", WAYS)
def test_the_papers_model_has_one_way(way):
    s = Sketch("160K", model="paper")
    s.add("apple")
    for ask, asked in ((s.estimate, "apple"), (s.bounds, 5), (s.estimate_many, []), (s.bounds_many, ["apple"])):
        with pytest.raises(LegoError, match="the paper's model have one way to answer"):
            ask(asked, **way)


def test_arguments():
    s = Sketch()
    for ask in (s.estimate, s.bounds):
        assert str(inspect.signature(ask)) == "(item, *, absent=0.0)"
        for arguments, names in (
            ((), {}), (("a", 0.5), {}), (("a", 0, 0.5), {}), ((), {"item": "a"}), (("a",), {"absents": 0.5}),
            (("a",), {"absent": "0.5"}), (("a",), {"absent": None}), ((), {"absent": 0.5}),
            (("a",), {"relative": 0.5}), (("a",), {"absent": 0, "relative": 0.5}),  # which there was once
        ):  # fmt: skip
            with pytest.raises(TypeError):
                ask(*arguments, **names)
    for many in (s.estimate_many, s.bounds_many):
        for arguments, names in (((["a"], 0.5), {}), ((["a"],), {"absent": "x"}), ((["a"],), {"absent": None}),
                                 ((["a"],), {"relative": 0.5})):  # fmt: skip
            with pytest.raises(TypeError):
                many(*arguments, **names)


def test_a_number_that_fails_changes_nothing():
    class Failing:
        def __float__(self):
            raise RuntimeError("no number")

    s = Sketch()
    for ask in (s.estimate, s.bounds):
        with pytest.raises(RuntimeError, match="no number"):
            ask("a", absent=Failing())
    s.add("a")  # the lock is free
    assert s.estimate("a", absent=0.5) == 1
