"""Pictures of a sketch: what a notebook shows, facts and bars of what it knows best, and plots.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import Sketch

_BAR, _LABEL, _ROW = 240, 170, 18  # pixels: the longest bar, the names to the left of them, from one to the next


def _bars(rows: list[tuple[str, float, str]]) -> str:
    """Rows of a name, a share of the longest bar and what is written behind it."""
    drawn = []
    for i, (name, share, text) in enumerate(rows):
        y = i * _ROW
        name = name if len(name) <= 24 else name[:23] + "…"
        drawn.append(
            f'<text x="{_LABEL - 6}" y="{y + 13}" text-anchor="end">{html.escape(name)}</text>'
            f'<rect x="{_LABEL}" y="{y + 3}" width="{max(1, share * _BAR):.0f}" height="12" fill="#4c78a8"/>'
            f'<text x="{_LABEL + max(1, share * _BAR) + 6:.0f}" y="{y + 13}">{html.escape(text)}</text>'
        )
    return (
        f'<svg width="{_LABEL + _BAR + 110}" height="{len(rows) * _ROW + 4}" font-size="12" font-family="sans-serif" '
        f'fill="currentColor">{"".join(drawn)}</svg>'
    )


def picture(sketch: Sketch) -> str:
    """HTML: the most frequent items where they are kept, else how much was counted in how few bytes, as logarithms."""
    top = sketch.top(10) if sketch.top_bytes else []
    if top and top[0].estimate > 0:
        rows = [(str(t.item), max(0.0, t.estimate / top[0].estimate), f"{t.estimate:,.0f}") for t in top]
    else:
        sizes = {"items counted": max(0, sketch.total), "bytes": sketch.bytes}
        longest = math.log1p(max(sizes.values()))
        rows = [(name, math.log1p(size) / longest, f"{size:,}") for name, size in sizes.items()]
    return f"<div><code>{html.escape(repr(sketch))}</code><br>{_bars(rows)}</div>"


def plot(sketch: Sketch, keys: Any, axes: Any) -> Any:
    """What Sketch.plot() draws; see there."""
    try:
        import matplotlib.pyplot
        import matplotlib.ticker
    except ImportError as error:
        raise ImportError("plot() draws with matplotlib: pip install 'legosketch[plot]'") from error
    if keys is None:
        rows = [(t.estimate, t.lower, t.likely, t.item) for t in sketch.top(None)]
    else:
        keys = list(keys)
        least_of, _, most_of = sketch.bounds_many(keys)
        rows = list(zip(sketch.estimate_many(keys), least_of, most_of, keys))
    rows = sorted((row for row in rows if row[0] > 0), key=lambda row: (-row[0], str(row[3])))
    if not rows:
        raise ValueError("there is nothing to plot: none of these items has come")
    if axes is None:
        axes = matplotlib.pyplot.figure(figsize=(8, 4.5), layout="constrained").add_subplot()
    estimates, lower, likely, items = zip(*rows)
    ranks = range(1, len(rows) + 1)
    least = min(estimates) / 2  # a bound of 0 is below what a logarithm can show
    axes.fill_between(ranks, [max(bound, least) for bound in lower], likely, step="mid", color="#4c78a8", alpha=0.25,
                      linewidth=0, label="99 % of them")
    axes.plot(ranks, estimates, drawstyle="steps-mid", color="#4c78a8", linewidth=1.8, label="estimate",
              marker="o" if len(rows) <= 50 else None, markersize=4)
    axes.set(xlabel="rank", ylabel="count")
    # logarithms, where there is enough for them
    for axis, scale, values in ((axes.xaxis, axes.set_xscale, ranks), (axes.yaxis, axes.set_yscale, estimates)):
        if max(values) >= 50 * min(values):
            scale("log")
            axis.set_minor_formatter(matplotlib.ticker.NullFormatter())
        else:
            axis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:,.12g}"))
    about = "" if sketch.exact else "about "
    axes.set_title(f"{sketch.total:,} counted, {about}{sketch.distinct:,.0f} distinct items, {sketch.bytes:,} bytes",
                   loc="left", fontsize="medium")
    axes.grid(which="major", color="#d9d9d9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    names = 0
    for rank in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000):
        if rank <= len(rows) and (names < 3 or rank >= 10):
            name = str(items[rank - 1])
            axes.annotate(name if len(name) <= 20 else name[:19] + "…", (rank, estimates[rank - 1]),
                          xytext=(5, 5), textcoords="offset points", fontsize="small", color="#444444")
            names += 1
    if any(a != b for a, b in zip(lower, likely)):
        axes.legend(frameon=False)
    return axes
