"""legosketch beside other packages that count in little memory, and beside its own C library.

    make && python3 -m venv build/compare
    build/compare/bin/pip install ./bindings/python numpy pyarrow datasketches==5.2.0 pyprobables==0.7.0 bounter==1.2.0
    build/compare/bin/python bindings/python/bench/compare.py [--only errors|speed|c] [FILE...]

FILE: a stream, NAME.u32 or NAME.u64 of raw little-endian keys or NAME.txt of one item a line, each also with .xz; without
one, all that scripts/streams.py knows.

    always 1        the constant answer
    legosketch      Sketch(budget)
    datasketches    count_min_sketch: counters of 8 bytes, and 24 more
    pyprobables     CountMinSketch: counters of 4 bytes, the better of two queries, min and mean-min
    bounter 32      CountMinSketch: counters of 32 bits, which count conservatively, so it can not delete nor merge exactly
    bounter 16      log_counting=1024: 2 bytes, of which 10 bits are exact, then random; its "10-bit" counters
    bounter 8       log_counting=8: 1 byte, of which 3 bits are exact, then random; its "8-bit" counters
    frequent        datasketches' frequent items: the most frequent of them; of all others it says 0

ERRORS are over all distinct items, against exact counts: AAE is the mean of |estimate - count|, ARE that of |estimate -
count| / count. The others have the number of rows, 1 to 8, whose AAE and ARE, as multiples of those of the constant 1,
have the least sum on the very stream. Bytes are all that a method is asked for, at most the budget:
    legosketch    Sketch.bytes: all memory of a sketch
    datasketches  get_serialized_size_bytes()
    bounter       the table; not the 64 KB more that each has, to tell how many distinct items there are
    frequent      16 for each integer that is kept, 8 and its length for a text, as in its file: in memory it is more
Counters of plain sums get each distinct item once with its count, which leaves what adding the stream leaves; the others,
ours too, get the stream in its order.

SPEED is in million items a second of this process's CPU time, one thread, the median of 5 rounds. add, estimate: one
item a call, a Python loop over the first 50,000 items of the stream. In batches: the whole stream in a call, as an Arrow
array, or a list for bounter, which has batches that count and none that ask. Counting starts with an empty sketch, asking with one
of the whole stream. pyprobables and bounter take no integers: they get their 8 bytes.

SPDX-License-Identifier: MIT
"""

import argparse
import ctypes
import lzma
import math
import pathlib
import platform
import statistics
import subprocess
import sys
import time
import typing

import bounter
import datasketches
import numpy
import probables
import pyarrow
from legosketch import Sketch

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUDGETS = {"32 KB": 32 << 10, "128 KB": 128 << 10}
LOOP = 50_000  # items of a loop in Python: half a second for the slowest
PIECE = 10_000  # items of a small batch
ROUNDS = 5  # of each measured loop or batch; the median evens out what else runs on the machine


# ---- streams: (name, items in their order, distinct items, counts); items are a numpy array, or a list of str -------


def zipf(skew, n=100_000, length=2_000_000):
    """`length` draws from n random keys, the k-th with probability ~ k ** -skew."""
    random = numpy.random.default_rng(1)
    weights = numpy.arange(1, n + 1) ** -skew
    names = random.integers(0, 2**63, n, dtype=numpy.uint64)
    return names[random.choice(n, length, p=weights / weights.sum())]


def read(path):
    path = pathlib.Path(path)
    data = lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()
    name = path.name.removesuffix(".xz")
    if name.endswith(".txt"):
        stream = data.decode().splitlines()
        items, counts = numpy.unique(stream, return_counts=True)
        return name, stream, items.tolist(), counts
    stream = numpy.frombuffer(data, {"u32": "<u4", "u64": "<u8"}[name[-3:]]).astype(numpy.uint64)
    return name, stream, *numpy.unique(stream, return_counts=True)


# ---- the methods ----------------------------------------------------------------------------------------------------


def eight_bytes(number):
    return number.to_bytes(8, "little")


class Method(typing.NamedTuple):
    """Something that counts. `choices` are what there is to choose from, given to make(budget, choice)."""

    choices: list
    make: typing.Callable
    bytes: typing.Callable
    add: typing.Callable  # of a sketch what counts a key: add(sketch)(key[, count])
    ask: typing.Callable  # ... and tells
    key: typing.Callable = int  # of an integer
    sums: bool = True  # whether all that matters is each item's count
    add_many: typing.Callable = None  # ... in batches
    ask_many: typing.Callable = None

    def keys(self, items):
        return items if isinstance(items, list) else list(map(self.key, items.tolist()))


def make_probables(budget, choice):
    rows, query = choice
    sketch = probables.CountMinSketch(width=budget // 4 // rows, depth=rows)
    sketch.query_type = query
    return sketch


def bounter_of(bits):
    log_counting = {32: None, 16: 1024, 8: 8}[bits]

    def make(budget, rows):
        width = 1 << (budget * 8 // bits // rows).bit_length() - 1  # it takes powers of two only
        return bounter.CountMinSketch(width=width, depth=rows, log_counting=log_counting)

    return Method(list(range(1, 9)), make, lambda s: s.width * s.depth * bits // 8, lambda s: s.increment,
                  lambda s: s.__getitem__, eight_bytes, False, lambda s: s.update)  # fmt: skip


class Frequent:
    """datasketches' frequent items, with what it takes."""

    def __init__(self, budget, is_text):
        self.is_text = is_text
        kind = datasketches.frequent_strings_sketch if is_text else datasketches.frequent_items_sketch
        each = 16 if not is_text else 14  # words have six letters or so
        self.sketch = kind(int(math.log2((budget - 32) / each / 0.75)))

    def size(self):
        return self.sketch.get_serialized_size_bytes() if self.is_text else 32 + 16 * self.sketch.num_active_items


METHODS = {
    "legosketch": Method([None], lambda budget, _: Sketch(budget), lambda s: s.bytes, lambda s: s.add, lambda s: s.estimate,
                         sums=False, add_many=lambda s: s.add_many, ask_many=lambda s: s.estimate_many),
    "datasketches": Method(list(range(1, 9)),
                           lambda budget, rows: datasketches.count_min_sketch(rows, (budget - 24) // 8 // rows),
                           lambda s: s.get_serialized_size_bytes(), lambda s: s.update, lambda s: s.get_estimate),
    "pyprobables": Method([(rows, query) for query in ("min", "mean-min") for rows in range(1, 9)], make_probables,
                          lambda s: 4 * s.width * s.depth, lambda s: s.add, lambda s: s.check, eight_bytes),
    "bounter 32": bounter_of(32),
    "bounter 16": bounter_of(16),
    "bounter 8": bounter_of(8),
    "frequent": Method([], Frequent, Frequent.size, lambda s: s.sketch.update, lambda s: s.sketch.get_estimate, sums=False),
}  # fmt: skip


# ---- measuring ------------------------------------------------------------------------------------------------------


def errors(estimates, counts):
    wrong = numpy.abs(numpy.asarray(estimates) - counts)
    return wrong.mean(), (wrong / counts).mean()


class Tried(typing.NamedTuple):
    aae: float
    are: float
    choice: object
    sketch: object


def choices_of(name, items):
    if name == "frequent":
        return [isinstance(items, list)]  # nothing to choose: texts have a kind of their own
    return METHODS[name].choices


def add_all(method, sketch, keys):
    if method.add_many:
        method.add_many(sketch)(keys)
    else:
        loop(method.add, keys)(sketch)


def best(name, budget, stream, items, counts):
    """The sketch whose errors, over those of always answering 1, have the least sum."""
    method, one, tried = METHODS[name], errors(numpy.ones(len(counts)), counts), []
    keys, whole = method.keys(items), None if method.sums else method.keys(stream)
    for choice in choices_of(name, items):
        sketch = method.make(budget, choice)
        if method.sums:
            add = method.add(sketch)
            for key, count in zip(keys, counts.tolist()):
                add(key, count)
        else:
            add_all(method, sketch, whole)
        assert method.bytes(sketch) <= budget, (name, choice, method.bytes(sketch))
        tried.append(Tried(*errors(list(map(method.ask(sketch), keys)), counts), choice, sketch))
    return min(tried, key=lambda t: t.aae / one[0] + t.are / one[1])


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def compare_errors(streams):
    row("stream", "budget", "always 1", *METHODS)
    row(*["---"] * (len(METHODS) + 3))
    for name, stream, items, counts in streams:
        for size, budget in BUDGETS.items():
            cells = [errors(numpy.ones(len(counts)), counts)]
            cells += [best(method, budget, stream, items, counts)[:2] for method in METHODS]
            lowest = [min(cell[i] for cell in cells) for i in range(2)]
            row(name, f"{size}, {budget / len(counts):.2g}", *(
                " / ".join(f"**{error:.3g}**" if error == low else f"{error:.3g}" for error, low in zip(cell, lowest))
                for cell in cells
            ))  # fmt: skip


def rate(n, work, make):
    """Million items a second that work(make()) does, if it does n."""
    times = []
    for _ in range(ROUNDS):
        sketch = make()
        start = time.process_time()
        work(sketch)
        times.append(time.process_time() - start)
    return f"{n / statistics.median(times) / 1e6:.3g}"


def loop(method, keys):
    def work(sketch):
        call = method(sketch)
        for key in keys:
            call(key)

    return work


def compare_speed(streams, budget):
    row("stream", "package", "add", "estimate", "add, in batches", "estimate, in batches")
    row(*["---"] * 6)
    for name, stream, items, counts in streams:
        for package, method in METHODS.items():
            choice = best(package, budget, stream, items, counts).choice
            first, whole = method.keys(stream[:LOOP]), method.keys(stream)
            batch = pyarrow.array(stream) if package == "legosketch" else whole
            full = method.make(budget, choice)
            add_all(method, full, batch)

            def empty():
                return method.make(budget, choice)

            cells = [rate(LOOP, loop(method.add, first), empty), rate(LOOP, loop(method.ask, first), lambda: full), "", ""]
            if method.add_many:
                cells[2] = rate(len(stream), lambda s: method.add_many(s)(batch), empty)
            if method.ask_many:
                cells[3] = rate(len(stream), lambda s: method.ask_many(s)(batch), lambda: full)
            row(name, package, *cells)


# ---- the C library itself -------------------------------------------------------------------------------------------


class Options(ctypes.Structure):
    """lego_options of legosketch.h."""

    _fields_ = [
        ("budget", ctypes.c_uint64),
        ("top", ctypes.c_uint64),
        ("model", ctypes.c_void_p),
        ("seed", ctypes.c_uint64),
        ("allocator", ctypes.c_void_p),
        ("secret", ctypes.c_void_p),
    ]


class Items(ctypes.Structure):
    """lego_items of legosketch.h."""

    _fields_ = [
        ("n", ctypes.c_size_t),
        ("integers", ctypes.c_void_p),
        ("bytes", ctypes.c_void_p),
        ("offsets", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
        ("kind", ctypes.c_int),
    ]


ESTIMATE = numpy.dtype([("value", "f8"), ("lower", "i8"), ("upper", "i8"), ("likely", "i8")])  # lego_estimate


class Library:
    """One sketch of build/liblegosketch.so; a method is the function lego_NAME."""

    def __init__(self, budget):
        self.library = ctypes.CDLL(str(ROOT / "build" / "liblegosketch.so"))
        self.sketch = ctypes.c_void_p()
        assert self.library.lego_create(ctypes.byref(Options(budget=budget)), ctypes.byref(self.sketch)) == 0

    def call(self, name, *arguments):
        status = getattr(self.library, "lego_" + name)(self.sketch, *arguments)
        assert name == "clear" or status == 0


def pointer(address):
    return ctypes.c_void_p(address)


def against_c(what, n, python, c, python_before=lambda: None, c_before=lambda: None):
    """In turns, so that both see the same machine; the ratio is the median of the rounds'."""
    rounds = []
    for _ in range(2 * ROUNDS):
        pair = []
        for before, work in (python_before, python), (c_before, c):
            before()
            start = time.process_time()
            work()
            pair.append(n / (time.process_time() - start) / 1e6)
        rounds.append(pair)
    ours, theirs = (statistics.median(side) for side in zip(*rounds))
    row(what, f"{ours:.1f}", f"{theirs:.1f}", f"{statistics.median(a / b for a, b in rounds):.2f}")


def beside_c(budget, keys):
    sketch, c = Sketch(budget), Library(budget)
    answers = numpy.zeros(len(keys), ESTIMATE)
    out = pointer(answers.ctypes.data)
    words = pyarrow.array([f"item-{key % 1_000_000}" for key in keys.tolist()], pyarrow.large_string())
    _, offsets, text = (buffer and buffer.address for buffer in words.buffers())
    integers = ctypes.byref(Items(len(keys), integers=keys.ctypes.data))
    strings = ctypes.byref(Items(len(keys), bytes=text, offsets=offsets))
    short = words.cast(pyarrow.string())
    fresh = sketch.clear, lambda: c.call("clear")

    def in_pieces(call):
        """call(at, n) for all keys, so many at a time."""
        return lambda: [call(at, min(PIECE, len(keys) - at)) for at in range(0, len(keys), PIECE)]

    row("million a second", "Python", "C", "ratio")
    row("---", "---", "---", "---")
    against_c("add_many, uint64 array", len(keys), lambda: sketch.add_many(keys),
              lambda: c.call("add_items", integers), *fresh)  # fmt: skip
    against_c("estimate_many, uint64 array", len(keys), lambda: sketch.estimate_many(keys),
              lambda: c.call("query_items", integers, None, out))  # fmt: skip
    assert (sketch.estimate_many(keys) == answers["value"]).all()
    against_c(f"add_many, {PIECE:,} a call", len(keys), in_pieces(lambda at, n: sketch.add_many(keys[at : at + n])),
              in_pieces(lambda at, n: c.call("add_items", ctypes.byref(Items(n, keys[at:].ctypes.data)))),
              *fresh)  # fmt: skip
    for kind, array in ("large_string", words), ("string", short):
        against_c(f"add_many, Arrow {kind}", len(keys), lambda: sketch.add_many(array),
                  lambda: c.call("add_items", strings), *fresh)  # fmt: skip
    for kind, array in ("large_string", words), ("string", short):
        against_c(f"estimate_many, Arrow {kind}", len(keys), lambda: sketch.estimate_many(array),
                  lambda: c.call("query_items", strings, None, out))  # fmt: skip
    assert (sketch.estimate_many(words) == answers["value"]).all()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="*")
    parser.add_argument("--only", choices=["errors", "speed", "c"])
    given = parser.parse_args()
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    print(f"{len(cpu)} cores of {cpu[0]}, Python {platform.python_version()}, numpy {numpy.__version__}\n")
    wanted = [given.only] if given.only else ["errors", "speed", "c"]
    files = given.file or subprocess.run([sys.executable, ROOT / "scripts" / "streams.py"], text=True, check=True,
                                         stdout=subprocess.PIPE).stdout.split()  # fmt: skip
    streams = [read(file) for file in files] if wanted != ["c"] else []
    if "errors" in wanted:
        compare_errors(streams)
        print()
    if "speed" in wanted:
        compare_speed([stream for stream in streams if given.file or stream[0].startswith(("orm", "war"))], BUDGETS["128 KB"])
        print()
    if "c" in wanted:
        beside_c(1 << 20, zipf(0.9, length=8_000_000))  # more than the package gathers at once


main()
