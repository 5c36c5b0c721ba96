"""Ctrl-C ends a long batch; what was counted stays counted.

SPDX-License-Identifier: MIT
"""

import subprocess
import sys

import pytest

BATCHES = {
    "integers": "s.add_many(np.broadcast_to(np.uint8(7), 2**50))",
    "floats": "s.add_many(np.broadcast_to(np.float64(0.1), 2**50))",
    "estimates": "s.estimate_many(np.broadcast_to(np.uint8(7), 2**26))",
    "arrow": "s.update(pa.RecordBatchReader.from_batches(pa.schema({'a': pa.string()}), "
             "itertools.repeat(pa.record_batch({'a': ['x'] * 1000}))))",
}  # fmt: skip
WORK = """
import itertools, os, signal, threading, time
import numpy as np, pyarrow as pa
from legosketch import Sketch

s = Sketch("64K", threads=2)
s.add(7)

def interrupt():
    while s.total == 1 and "estimate" not in {batch!r}:
        time.sleep(0.01)
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    {batch}
    print("it came to an end")
except KeyboardInterrupt:
    print("interrupted", s.total >= 1 and s.estimate(7) >= 1)
"""


@pytest.mark.parametrize("batch", BATCHES)
def test_a_batch_is_interrupted(batch):
    pytest.importorskip("numpy")
    pytest.importorskip("pyarrow")
    done = subprocess.run([sys.executable, "-c", WORK.format(batch=BATCHES[batch])], capture_output=True, text=True,
                          timeout=120)
    assert done.stdout == "interrupted True\n", done.stderr
