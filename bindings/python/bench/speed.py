"""How fast the package is, beside the library's own batches in the same process.

    python bindings/python/bench/speed.py build/liblegosketch.so

Million items a second, the best of several rounds in which all take turns. Needs numpy and pyarrow.

SPDX-License-Identifier: MIT
"""

import ctypes
import sys
import time

import numpy
import pyarrow

from legosketch import Sketch

ITEMS, ROUNDS, BUDGETS = 8_000_000, 5, (1200 << 10, 32 << 20)


class Options(ctypes.Structure):  # lego_options
    _fields_ = [
        ("budget", ctypes.c_uint64), ("model", ctypes.c_void_p), ("seed", ctypes.c_uint64),
        ("allocator", ctypes.c_void_p), ("bricks", ctypes.c_uint32), ("columns", ctypes.c_uint32),
        ("cell_bits", ctypes.c_uint32), ("packing", ctypes.c_int),
    ]


def main(library_path):
    library = ctypes.CDLL(library_path)
    keys = numpy.random.default_rng(1).zipf(1.1, ITEMS).astype("u8") % numpy.uint64(1 << 20)
    narrow = keys.astype("i4")
    words = pyarrow.array(numpy.char.add("user-", keys.astype("U")).tolist())
    few = words[: ITEMS // 8].to_pylist()
    estimates = numpy.zeros((ITEMS, 3))  # lego_estimate
    at = [ctypes.c_void_p(a.ctypes.data) for a in (keys, estimates)]
    size = ctypes.c_size_t(ITEMS)
    for budget in BUDGETS:
        c, python = ctypes.c_void_p(), Sketch(budget)
        if library.lego_sketch_create(ctypes.byref(Options(budget)), ctypes.byref(c)) != 0:
            sys.exit("lego_sketch_create() failed")
        tasks = {
            "C: lego_sketch_add_u64s": (ITEMS, lambda: library.lego_sketch_add_u64s(c, at[0], None, size)),
            "add_many(uint64)": (ITEMS, lambda: python.add_many(keys)),
            "C: lego_sketch_estimate_u64s": (ITEMS, lambda: library.lego_sketch_estimate_u64s(c, at[0], size, at[1])),
            "estimate_many(uint64)": (ITEMS, lambda: python.estimate_many(keys)),
            "add_many(int32)": (ITEMS, lambda: python.add_many(narrow)),
            "add_many(Arrow strings)": (ITEMS, lambda: python.add_many(words)),
            "update(list of str)": (len(few), lambda: python.update(few)),
            "estimate_many(Arrow strings)": (ITEMS, lambda: python.estimate_many(words)),
            "add(str), one by one": (len(few) // 4, lambda: [python.add(w) for w in few[: len(few) // 4]]),
        }
        best = dict.fromkeys(tasks, float("inf"))
        for _ in range(ROUNDS):
            library.lego_sketch_clear(c)
            python.clear()
            for name, (_, task) in tasks.items():
                start = time.perf_counter()
                task()
                best[name] = min(best[name], time.perf_counter() - start)
        print(f"{budget >> 10} KB")
        for name, (n, _) in tasks.items():
            print(f"  {name:30} {n / best[name] / 1e6:7.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
