"""suggest(): what budget an error takes.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from . import _core
from ._core import LegoError


class Suggestion(NamedTuple):
    """A budget, and what to expect of it."""

    budget: int  # bytes
    error: float  # the mean relative error
    bytes_per_distinct: float


def suggest(
    sample: Any = None,
    *,
    counts: Iterable[int] | None = None,
    distinct: float | None = None,
    error: float | str = 0.01,
    skew: float | str = "middle",
) -> Suggestion:
    """The least budget whose mean error of a count is as wanted, found by trying it on such counts.

    sample    items, in anything that add_many() takes: all of a stream, or a part that is like the rest; or a mapping of
              items to counts
    counts    in place of it: how often each of its items comes
    distinct  how many distinct items there will be; without it those of the sample
    error     a share of a count: 0.01, "1%", or "exact"
    skew      where there is no sample: "low", "middle" or "high", or the skewness of a Zipf stream from 0 to 3

    >>> 10_000_000 < suggest(distinct=10_000_000, error="1%").budget < 40_000_000
    True
    >>> small = suggest({"apple": 3, "pear": 1}, error="exact")
    >>> small.budget, small.error
    (4096, 0.0)
    """
    if (sample is None) == (counts is None) and sample is not None:
        raise TypeError("a sample has its counts: give one of the two")
    if sample is not None:
        counts = _counted(sample)
    given = None if counts is None else _numbers(counts)
    if given is None and distinct is None:
        raise TypeError("for how many distinct items? suggest(distinct=10_000_000), or a sample of the stream")
    many = float(len(given or ()) if distinct is None else distinct)
    if not 1 <= many < 2**63:
        raise ValueError(f"distinct items are 1 or more, not {many:g}")
    if given is not None and many < len(given):
        raise ValueError(f"the sample alone has {len(given):,} distinct items, which is more than {many:,.0f}")
    wanted, known = _share(error), _skew(skew)
    try:
        budget, expected = _core.suggest(given, known, many, wanted)
    except LegoError as refused:
        if refused.status == _core.LEGO_ERR_BUDGET:
            refused.args = (f"for an error of {wanted:.3g} it takes more than the 64G that a budget may be",)
        raise
    return Suggestion(budget, expected, budget / many)


def _counted(sample: Any) -> Iterable[int]:
    """How often each item comes; not how often null does."""
    if isinstance(sample, Mapping):
        return sample.values()
    if isinstance(sample, (str, bytes)):
        raise TypeError("str and bytes are one item; a sample has many")
    for name in ("tolist", "to_pylist", "to_list"):  # numpy and pandas, Arrow, polars
        if hasattr(sample, name):
            sample = getattr(sample, name)()
            break
    return Counter(item for item in sample if item is not None and item == item).values()


def _numbers(counts: Iterable[int]) -> Any:
    from array import array

    numbers = array("q", map(operator.index, counts))
    if not numbers:
        raise ValueError("the sample has no items: there is nothing to go by")
    if min(numbers) <= 0:
        raise ValueError(f"a count is 1 or more, not {min(numbers)}: leave out what did not come")
    return numbers


def _share(error: float | str) -> float:
    try:
        share = 0.0 if error == "exact" else float(str(error).rstrip("%"))
    except ValueError:
        share = -1
    share = share / 100 if str(error).endswith("%") else share
    if not 0 <= share <= 1:
        raise ValueError(f"an error is a share from 0 to 1, as 0.01 or '1%', or 'exact', not {error!r}")
    return share


def _skew(skew: float | str) -> float:
    number = {"low": 0.5, "middle": 1.0, "high": 1.5}.get(skew, -1) if isinstance(skew, str) else float(skew)
    if not 0 <= number <= 3:
        raise ValueError(f"skew is 'low', 'middle', 'high' or a number from 0 to 3, not {skew!r}")
    return number
