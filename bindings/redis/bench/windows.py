#!/usr/bin/env python3
"""windows.py [MODULE]: how long LEGO.UNION over 24 hourly sketches takes, in milliseconds, median of 50.

Sketches of 64 KB with TOP 10, of 500 to 50,000 distinct items an hour: a Zipf stream of skewness 1, ten times as long.
Run it with build/engines/environment/bin/python.
"""

import os
import statistics
import sys
import time
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
MODULE = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "../../../build/legosketch.so"
os.environ["LEGOSKETCH_MODULE"] = str(MODULE.resolve())
sys.path.insert(0, str(HERE.parent / "tests"))
from legosketch import Sketch  # noqa: E402
from server import Server  # noqa: E402: it reads which module

HOURS, COMMANDS = [f"clicks:{hour:02}" for hour in range(24)], 50
QUESTIONS = {
    "one item": ["ITEMS", "item 1"],
    "100 items": ["ITEMS", *(f"item {i}" for i in range(100))],
    "the top 10": ["TOP", "10", "WITHCOUNT"],
}


def hour(distinct, seed):
    weights = 1 / numpy.arange(1, distinct + 1)
    drawn = numpy.random.default_rng(seed).choice(distinct, 10 * distinct, p=weights / weights.sum())
    sketch = Sketch("64K", top=True)
    items, counts = numpy.unique(drawn, return_counts=True)
    for item, count in zip(items.tolist(), counts.tolist()):
        sketch.add(f"item {item}", count)
    return sketch.to_bytes()


def milliseconds(server, question):
    taken = []
    for _ in range(COMMANDS):
        start = time.perf_counter()
        server("LEGO.UNION", len(HOURS), *HOURS, *question)
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def main():
    print("24 hours of      " + "".join(f"{name:>12}" for name in QUESTIONS))
    for distinct in (500, 5_000, 50_000):
        with Server() as server:
            for seed, key in enumerate(HOURS):
                server("LEGO.LOAD", key, hour(distinct, seed), "TOP", 10)
            costs = [milliseconds(server, question) for question in QUESTIONS.values()]
        print(f"{distinct:6} items" + " " * 6 + "".join(f"{cost:12.3f}" for cost in costs), flush=True)


main()
