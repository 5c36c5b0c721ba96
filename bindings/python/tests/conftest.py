"""What several tests use.

SPDX-License-Identifier: MIT
"""

import pytest

from legosketch import Sketch


@pytest.fixture
def counted():
    """The reference: items added one by one, null ones left out."""

    def count(items, counts=None, **options):
        sketch = Sketch("64K", **options)
        for i, item in enumerate(items):
            if item is not None:
                sketch.add(item, 1 if counts is None else counts[i])
        return sketch

    return count


@pytest.fixture
def batched():
    """The same through add_many()."""

    def count(keys, counts=None, **options):
        sketch = Sketch("64K", **options)
        sketch.add_many(keys, counts)
        return sketch

    return count


@pytest.fixture
def crowd():
    """A sketch in which not every count is exact any more, so that it no longer merges with one of any size."""

    def make(**options):
        s = Sketch(**options)
        s.add_many(list(range(100_000)))
        s.add("a")
        return s

    return make
