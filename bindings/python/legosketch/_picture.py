"""A sketch as a notebook shows it: its facts, and bars of what it knows best.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

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
