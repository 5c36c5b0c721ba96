"""Many sketches merged into one, by those who have them one after the other.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from . import Sketch


def merge_tree(sketches: Iterable[Sketch], fan_in: int) -> Sketch | None:
    """All of them merged in their order, into the first; None if there are none. Up to `fan_in` are merged at once. More
    are merged as a tree: so many at a time, then so many of the results, and so on. What comes late counts as much there
    as what comes first, and only a few of each level are held at a time."""
    levels: list[list[Sketch]] = []  # the first has sketches that were not merged yet
    for sketch in sketches:
        for level in levels:
            if len(level) < fan_in:
                break
            sketch, level[:] = _merge_all(level), [sketch]
        else:
            levels.append(level := [])
        level.append(sketch)
    left = [sketch for level in reversed(levels) for sketch in level]
    return _merge_all(left) if left else None


def _merge_all(sketches: list[Sketch]) -> Sketch:
    into, *others = sketches
    into.merge_many(others)
    return into
