"""How long Ctrl-C takes to end a batch: the worst of several moments, in milliseconds.

    build/compare/bin/python bindings/python/bench/interrupt.py         # compare.py says how to make it

SPDX-License-Identifier: MIT
"""

import os
import signal
import threading
import time

import numpy
import pyarrow
from legosketch import Sketch

KEYS = numpy.random.default_rng(1).integers(0, 2**63, 40_000_000, dtype="u8")
MOMENTS = [0.03, 0.1, 0.2, 0.3, 0.5]  # seconds after the start


def late(work):
    """Seconds from the signal to the exception."""
    worst = 0.0
    for moment in MOMENTS:
        sent = []

        def send():
            time.sleep(moment)
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=send)
        try:
            thread.start()
            work()
            thread.join()
            time.sleep(1)
        except KeyboardInterrupt:
            worst = max(worst, time.perf_counter() - sent[0])
        thread.join()
    return worst


def main():
    text = pyarrow.array(KEYS).cast(pyarrow.string())
    for what, options, keys in (
        ("integers", {}, KEYS),
        ("integers, 64 MB", {"budget": "64M"}, KEYS),
        ("integers, 1 GB, which grow", {"budget": "1G"}, KEYS),
        ("integers, with a top", {"top": True}, KEYS),
        ("integers, the paper's model", {"model": "paper"}, KEYS),
        ("floats", {}, KEYS / 3),
        ("Arrow strings", {}, text),
        ("Arrow structs", {}, pyarrow.StructArray.from_arrays([text, text], ["a", "b"])),
    ):
        sketch = Sketch(**options)
        added, asked = late(lambda: sketch.add_many(keys)), late(lambda: sketch.estimate_many(keys))
        print(f"{what:30} add_many {added * 1e3:4.0f}   estimate_many {asked * 1e3:4.0f}")


main()
