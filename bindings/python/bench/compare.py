"""legosketch beside the count-min sketches of other packages, and beside its own C library.

    make && python3 -m venv build/compare
    build/compare/bin/pip install ./bindings/python numpy pyarrow datasketches==5.2.0 pyprobables==0.7.0
    build/compare/bin/python bindings/python/bench/compare.py [--only-c] [FILE...]

FILE: a stream, NAME.u32 or NAME.u64 of raw little-endian keys or NAME.txt of one item a line, each also with .xz. Two
Zipf streams made here come first.

ERRORS are over all distinct items, against exact counts, at equal bytes: AAE is the mean of |estimate - count|, ARE
that of |estimate - count| / count, "always 1" the constant answer. Bytes are
    legosketch    Sketch.bytes: all memory of a sketch but for Sketch.cache_bytes, what a scan told, where blocks share
    datasketches  get_serialized_size_bytes(): counters of 8 bytes and 24 more
    pyprobables   the array of its counters, 4 bytes each
The others have the number of rows that gives them the lowest AAE on the very stream; pyprobables also the better of two
queries, min and mean-min. Their counters are sums, so each distinct item is added once with its count, which leaves
what adding the stream item by item leaves.

SPEED is in million items a second of this process's CPU time, one thread, the median of 5 rounds. add, estimate: one
item a call, a Python loop over the first 50,000 items of the stream. add_many, estimate_many: the whole stream as an
Arrow array in one call; the others have no batches. Counting starts with an empty sketch, asking with one of the whole
stream. pyprobables takes no integers: it gets their 8 bytes.

SPDX-License-Identifier: MIT
"""

import argparse
import ctypes
import lzma
import pathlib
import platform
import statistics
import time
import typing

import datasketches
import numpy
import probables
import pyarrow
from legosketch import Sketch

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUDGETS = {"100 KB": 100 << 10, "1 MB": 1 << 20}
LOOP = 50_000  # items of a loop in Python: half a second for the slowest
PIECE = 10_000  # items of a small batch
ROUNDS = 5  # of each measured loop or batch; the median evens out what else runs on the machine


# ---- streams: (name, items in their order, distinct items, counts); items are a numpy array, or a list of str -------


def zipf(skew, n=100_000, length=2_000_000):
    """`length` draws from n random keys, the k-th with probability ~ k ** -skew."""
    random = numpy.random.default_rng(1)
    weights = numpy.arange(1, n + 1) ** -skew
    names = random.integers(0, 2**63, n, dtype=numpy.uint64)
    stream = names[random.choice(n, length, p=weights / weights.sum())]
    return f"Zipf {skew}", stream, *numpy.unique(stream, return_counts=True)


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


def make_lego(budget, rows, query):
    return Sketch(budget)


def make_datasketches(budget, rows, query):
    return datasketches.count_min_sketch(rows, (budget - 24) // 8 // rows)


def make_probables(budget, rows, query):
    sketch = probables.CountMinSketch(width=budget // 4 // rows, depth=rows)
    sketch.query_type = query
    return sketch


class Method(typing.NamedTuple):
    make: typing.Callable  # (budget, rows, query)
    rows: range  # and queries: what to choose from
    queries: list
    bytes: typing.Callable
    add: typing.Callable  # (sketch, key[, count])
    ask: typing.Callable  # (sketch, key)
    key: typing.Callable  # of an integer

    def keys(self, items):
        return items if isinstance(items, list) else list(map(self.key, items.tolist()))


countmin, probable = datasketches.count_min_sketch, probables.CountMinSketch
METHODS = {
    "legosketch": Method(make_lego, range(1), [""], lambda s: s.bytes,
                         Sketch.add, Sketch.estimate, int),
    "datasketches": Method(make_datasketches, range(1, 17), [""], countmin.get_serialized_size_bytes,
                           countmin.update, countmin.get_estimate, int),
    "pyprobables": Method(make_probables, range(1, 17), ["min", "mean-min"], lambda s: 4 * s.width * s.depth,
                          probable.add, probable.check, lambda number: number.to_bytes(8, "little")),
}  # fmt: skip


# ---- measuring ------------------------------------------------------------------------------------------------------


def errors(estimates, counts):
    wrong = numpy.abs(numpy.asarray(estimates) - counts)
    return wrong.mean(), (wrong / counts).mean()


class Tried(typing.NamedTuple):
    aae: float
    are: float
    rows: int
    query: str
    sketch: object


def best(method, budget, keys, counts):
    """The sketch of the lowest AAE: more rows are tried until two in turn were no better."""
    chosen = []
    for query in method.queries:
        tried = []
        for rows in method.rows:
            sketch = method.make(budget, rows, query)
            for key, count in zip(keys, counts.tolist()):
                method.add(sketch, key, count)
            error = errors([method.ask(sketch, key) for key in keys], counts)
            tried.append(Tried(*error, rows, query, sketch))
            if min(tried, key=lambda one: one.aae).rows <= rows - 2:
                break
        chosen.append(min(tried, key=lambda one: one.aae))
    return min(chosen, key=lambda one: one.aae)


def rate(n, work, make):
    """Million items a second that work(make()) does, if it does n."""
    times = []
    for _ in range(ROUNDS):
        sketch = make()
        start = time.process_time()
        work(sketch)
        times.append(time.process_time() - start)
    return f"{n / statistics.median(times) / 1e6:.3g}"


def loop(call, keys):
    def work(sketch):
        for key in keys:
            call(sketch, key)

    return work


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def compare_one(package, budget, stream, items, counts):
    """Cells of a row of the table."""
    method = METHODS[package]
    chosen = best(method, budget, method.keys(items), counts)
    assert method.bytes(chosen.sketch) <= budget

    def empty():
        return method.make(budget, chosen.rows, chosen.query)

    def full():
        return chosen.sketch

    first = method.keys(stream[:LOOP])
    speeds = [rate(LOOP, loop(method.add, first), empty), rate(LOOP, loop(method.ask, first), full), "", ""]
    if package == "legosketch":
        batch = pyarrow.array(stream)
        speeds[2] = rate(len(stream), lambda s: s.add_many(batch), empty)
        speeds[3] = rate(len(stream), lambda s: s.estimate_many(batch), full)
    rows = f"{chosen.rows or ''} {chosen.query}".strip()
    return [package, rows, f"{method.bytes(chosen.sketch):,}", f"{chosen.aae:.3g}", f"{chosen.are:.3g}", *speeds]


def compare(name, stream, items, counts):
    for size, budget in BUDGETS.items():
        row(name, size, "always 1", "", "", *map("{:.3g}".format, errors(numpy.ones(len(counts)), counts)), *[""] * 4)
        for package in METHODS:
            row(name, size, *compare_one(package, budget, stream, items, counts))


# ---- the C library itself -------------------------------------------------------------------------------------------


class Options(ctypes.Structure):
    """lego_options of legosketch.h."""

    _fields_ = [
        ("budget", ctypes.c_uint64),
        ("top", ctypes.c_uint64),
        ("model", ctypes.c_void_p),
        ("seed", ctypes.c_uint64),
        ("allocator", ctypes.c_void_p),
    ]


class Items(ctypes.Structure):
    """lego_items of legosketch.h."""

    _fields_ = [
        ("n", ctypes.c_size_t),
        ("integers", ctypes.c_void_p),
        ("bytes", ctypes.c_void_p),
        ("offsets", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
    ]


ESTIMATE = numpy.dtype([("value", "f8"), ("lower", "i8"), ("upper", "i8")])  # lego_estimate


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
    parser.add_argument("--only-c", action="store_true", help="only the table beside the C library")
    given = parser.parse_args()
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    print(f"{len(cpu)} cores of {cpu[0]}, Python {platform.python_version()}, numpy {numpy.__version__}\n")
    if not given.only_c:
        row("stream", "budget", "package", "rows", "bytes", "AAE", "ARE", "add", "estimate", "add_many", "estimate_many")
        row(*["---"] * 11)
        for stream in [zipf(0.9), zipf(1.1)] + [read(file) for file in given.file]:
            compare(*stream)
        print()
    beside_c(BUDGETS["1 MB"], zipf(0.9, length=8_000_000)[1])  # more than the package gathers at once


main()
