"""A thread that adds batches to a SketchGroups, and what it was told of them."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

from legosketch import Sketch, group
from legosketch.redis import AddError, SketchGroups

SIZE = 300  # items of a batch


class Writer(threading.Thread):
    """with Writer(sketch) as writer: ...; then writer.counted and writer.in_doubt"""

    def __init__(self, sketch: SketchGroups, seed: int = 1) -> None:
        super().__init__()
        self.sketch = sketch
        self.counted: Counter[str] = Counter()
        self.in_doubt: Counter[str] = Counter()
        self.refused = 0
        self.batches = self.doubts = 0
        self.error: Exception | None = None
        self._random = random.Random(seed)
        self._done = threading.Event()

    def run(self) -> None:
        try:
            while not self._done.is_set():
                # few items that come often, and many that come once
                items = [f"item {int(self._random.paretovariate(0.7)) % 10**6}" for _ in range(SIZE)]
                counts = [self._random.randint(1, 9) for _ in items]
                try:
                    self.sketch.add_many(items, counts)
                    acknowledged = list(zip(items, counts))
                except AddError as error:
                    acknowledged = error.counted
                    assert len(error.counted) + len(error.refused) + len(error.in_doubt) == SIZE
                    self.refused += len(error.refused)
                    self.doubts += len(error.in_doubt) > 0
                    for item, count in error.in_doubt:
                        self.in_doubt[item] += count
                for item, count in acknowledged:
                    self.counted[item] += count
                self.batches += 1
        except Exception as error:  # shown by __exit__
            self.error = error

    def more(self, batches: int) -> None:
        """Until so many more batches were sent."""
        until, deadline = self.batches + batches, time.monotonic() + 60
        while self.batches < until and self.is_alive():
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def __enter__(self) -> Writer:
        self.start()
        self.more(5)
        return self

    def __exit__(self, *_) -> None:
        self.more(5)
        self._done.set()
        self.join()
        if self.error is not None:
            raise self.error


def sketches_here(sketch: SketchGroups, budget: int, counts: Counter) -> list[Sketch]:
    """What the groups must be."""
    here = [Sketch(budget // sketch.groups, seed=sketch.seed) for _ in sketch.keys]
    for item, count in counts.items():
        here[group(item, sketch.groups, sketch.seed)].add(item, count)
    return here
