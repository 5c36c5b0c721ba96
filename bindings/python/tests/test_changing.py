"""Bytes that somebody writes to while they are read: a sketch of what they once were, or an exception.

Each test runs in a process of its own, since such a race may end that process.

SPDX-License-Identifier: MIT
"""

import subprocess
import sys

import pytest

# The writer turns one byte after another of a saved sketch around and back: a thread in a bytearray, which needs the
# loader to let go of the GIL, or a process in memory that both have, which waits for nobody.
RACE = """
import mmap, os, signal, sys, threading, time
from legosketch import LegoError, Sketch
from legosketch._core import model_bytes

def write(shared, places, on):
    while on():
        for place in places:
            for _ in range(2):  # a loop, since Python lets other threads run at the end of a round
                shared[place] ^= 0xff

def loads(load, shared, saved):
    whole, refused, start = 0, 0, time.monotonic()
    while (passed := time.monotonic() - start) < 0.4 or (refused == 0 and passed < 30):
        try:
            assert load(shared) == saved, "bytes that were never saved got loaded"
            whole += 1
        except LegoError:
            refused += 1
    assert refused, f"nothing was written meanwhile, in {whole} loads"

def beside_a_thread(load, saved, places):
    shared, stop = bytearray(saved), threading.Event()
    writer = threading.Thread(target=write, args=(shared, places, lambda: not stop.is_set()))
    sys.setswitchinterval(1e-6)
    writer.start()
    try:
        loads(load, shared, saved)
    finally:
        stop.set()
        writer.join()

def beside_a_process(load, saved, places):
    shared = mmap.mmap(-1, len(saved))
    shared[:] = saved
    parent, child = os.getpid(), os.fork()
    if child == 0:
        write(shared, places, lambda: os.getppid() == parent)
        os._exit(0)
    try:
        loads(load, shared, saved)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
"""


def alone(program):
    done = subprocess.run([sys.executable, "-c", RACE + program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-2000:]}"


@pytest.mark.parametrize("beside", ["beside_a_thread", "beside_a_process"])
@pytest.mark.parametrize("options", ["", ", top=True", ", model='paper'"])
def test_sketch(beside, options):
    alone(f"""
s = Sketch("64K"{options})
s.update(i // 3 for i in range(9000))
saved = s.to_bytes()
for step in (1, 97):
    {beside}(lambda data: Sketch.from_bytes(data).to_bytes(), saved, range(0, len(saved), step))
{beside}(lambda data: Sketch.from_bytes(memoryview(data)).to_bytes(), saved, range(0, 200))
""")


def test_model():
    alone("""
saved = model_bytes("paper")
for step in (1, 97):
    load = lambda data: model_bytes(Sketch("4K", model=memoryview(data))._model)
    beside_a_process(load, saved, range(0, len(saved), step))
""")
