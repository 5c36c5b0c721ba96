"""How a question is meant: absent and relative, of one item and of many.

SPDX-License-Identifier: MIT
"""

import inspect
import math

import pytest

from legosketch import LegoError, Sketch

WAYS = [{"absent": 0.7}, {"relative": 0}, {"relative": 1.0}, {"absent": 0.25, "relative": 0.75}]
ITEMS = [*range(500), *(f"word {i}" for i in range(500)), *(b"\0%d" % i for i in range(500)), *range(20000, 20500)]


def crowded(**options):
    """About half a byte for each distinct item."""
    s = Sketch(6000, **options)
    s.add_many([*range(10000), *ITEMS[:1500]], [1 + 2000 // (i + 1) for i in range(11500)])
    return s


@pytest.mark.parametrize("options", [{}, {"top": 1000}])
def test_one_and_many_agree(options):
    s = crowded(**options)
    assert s.listing < 0.5
    for way in [{}, *WAYS]:
        many = list(map(float, s.estimate_many(ITEMS, **way)))
        lower, upper = s.bounds_many(ITEMS, **way)
        assert many == [s.estimate(item, **way) for item in ITEMS]
        assert list(zip(lower, upper)) == [s.bounds(item, **way) for item in ITEMS]
        assert all(a <= value <= b for a, value, b in zip(lower, many, upper))


def test_defaults_can_be_said():
    bricks = Sketch("160K", model="paper")
    bricks.add_many(ITEMS[::2])
    for s in (crowded(), bricks):
        for item in ITEMS[::7]:
            assert s.estimate(item, relative=0.5, absent=0) == s.estimate(item)
            assert s.bounds(item, absent=0.0) == s.bounds(item)
        assert list(s.estimate_many(ITEMS, absent=0, relative=0.5)) == list(s.estimate_many(ITEMS))


def test_more_doubt_and_more_weight_on_the_relative_error_mean_less():
    s = crowded()
    plain, absent, absolute, relative = (s.estimate_many(ITEMS, **way) for way in [{}, *WAYS[:3]])
    for value, a, high, low in zip(plain, absent, absolute, relative):
        assert 0 <= a <= value and low <= value <= high
    assert min(plain[:1500]) >= 1 and min(absent[:1500]) == 0  # these have come
    plain, absent, absolute, relative = (sum(way[1500:]) for way in (plain, absent, absolute, relative))
    assert absent < 0.5 * plain and relative < plain < absolute  # and these have not


def test_exact_counts_do_not_depend_on_it():
    s, top = Sketch("64K"), crowded(top=1000)
    s.update({"apple": 3, 7: 2})
    for way in WAYS:
        assert [s.estimate(item, **way) for item in ("apple", 7, "plum")] == [3, 2, 0]
        assert s.bounds("apple", **way) == (3, 3)
    kept = [t for t in top.top(None, items=int) if t.exact and isinstance(t.item, int)]
    assert kept and all(top.estimate(t.item, **way) == t.estimate for t in kept for way in WAYS)


WRONG = [{"absent": 1}, {"absent": -0.1}, {"absent": math.nan}, {"absent": math.inf}, {"relative": 1.1},
         {"relative": -0.1}, {"relative": math.nan}]  # fmt: skip


@pytest.mark.parametrize("way", WRONG)
def test_out_of_range(way):
    for s in (Sketch(), Sketch(top=True), crowded(), Sketch("160K", model="paper")):
        for ask in (s.estimate, s.bounds):
            with pytest.raises(LegoError, match="absent is from 0 to below 1, and relative from 0 to 1"):
                ask("apple", **way)
        for ask in (s.estimate_many, s.bounds_many):
            for keys in ([], ["apple"], range(5)):
                with pytest.raises(LegoError, match="absent is from 0 to below 1, and relative from 0 to 1"):
                    ask(keys, **way)


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
        assert str(inspect.signature(ask)) == "(item, *, absent=0.0, relative=0.5)"
        for arguments, names in (
            ((), {}), (("a", 0.5), {}), (("a", 0, 0.5), {}), ((), {"item": "a"}), (("a",), {"absents": 0.5}),
            (("a",), {"absent": "0.5"}), (("a",), {"relative": None}), ((), {"absent": 0.5}),
        ):  # fmt: skip
            with pytest.raises(TypeError):
                ask(*arguments, **names)
    for many in (s.estimate_many, s.bounds_many):
        for arguments, names in (((["a"], 0.5), {}), ((["a"],), {"absent": "x"}), ((["a"],), {"relative": None})):
            with pytest.raises(TypeError):
                many(*arguments, **names)


def test_a_number_that_fails_changes_nothing():
    class Failing:
        def __float__(self):
            raise RuntimeError("no number")

    s = Sketch()
    for ask in (s.estimate, s.bounds):
        with pytest.raises(RuntimeError, match="no number"):
            ask("a", relative=Failing())
    s.add("a")  # the lock is free
    assert s.estimate("a", absent=0.5) == 1
