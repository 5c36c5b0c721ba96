#!/usr/bin/env python3
"""Tests the reference, and the library against the reference: python3 tests/reference/test_reference.py

LEGOSKETCH names the shared library (build/liblegosketch.so), which is called as any program of any language would."""

import ctypes
import dataclasses
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blocks
import lego
import make_golden

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LIBRARY = os.path.abspath(os.environ.get("LEGOSKETCH", os.path.join(ROOT, "build", "liblegosketch.so")))
RANDOM = os.path.join(ROOT, "tests", "golden", "random.lego")


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)


class Golden(Folder):
    def test_the_golden_files_come_out_again(self):
        make_golden.make(self.folder)
        for name in os.listdir(self.folder):
            self.assertTrue(filecmp.cmp(self.path(name), os.path.join(make_golden.GOLDEN, name), False), name)

    def test_every_activation_sees_both_sides_of_zero(self):
        signs = {}

        def watched(model, name, x, linear=lego.linear):
            y = linear(model, name, x)
            signs.setdefault(name, set()).update(np.sign(y).ravel())
            return y

        self.addCleanup(setattr, lego, "linear", lego.linear)
        lego.linear = watched
        make_golden.make(self.folder)
        for name, _, outputs in lego.LAYERS:
            if outputs > 1:  # one output: the end of a network, without an activation
                self.assertLessEqual({-1, 1}, signs[name], name)


class Reference(Folder):
    def test_multipliers(self):
        self.assertEqual("e220a8397b1dcdaf 6e789e6aa1b965f5 06c45d188009454f f88bb8a8724c81ed 1b39896a51a8749b "
                         "53cb9f0c747ea2eb 2c829abe1f4532e1 c584133ac916ab3d",
                         " ".join(f"{x:016x}" for x in lego.MULTIPLIERS))

    def test_hash(self):
        """The published XXH3 of the empty input: which half is which."""
        place = lego.item_to_cells(lego.read_model(RANDOM), lego.Shape(1, 64), b"")
        self.assertEqual((0x6001c324468d497f, 0x99aa06d3014798d8), (place.lo, place.hi))

    @unittest.skipUnless(sys.hash_info.algorithm == "siphash13", "this Python hashes with something else")
    def test_siphash(self):
        """Python's own hash of bytes, by the key that it makes of PYTHONHASHSEED (a linear congruential generator)."""
        items = [bytes(range(n)) for n in range(1, 40)] + [b"x" * 256, b"y" * 300]
        for seed in (0, 42):
            key, x = b"", seed
            for _ in range(16):
                x = (x * 214013 + 2531011) % 2**32
                key += bytes([x >> 16 & 255]) if seed else b"\0"
            done = subprocess.run([sys.executable, "-c", f"print([hash(item) for item in {items}])"], check=True,
                                  env={"PYTHONHASHSEED": str(seed)}, capture_output=True)
            self.assertEqual([word % 2**64 for word in json.loads(done.stdout)], [lego.siphash13(key, item) for item in items])

    def test_sizes_of_the_networks(self):
        """The multiply-adds of the published networks, counted by hand."""
        size = {name: inputs * outputs for name, inputs, outputs in lego.LAYERS}

        def sum_of(prefix):
            return sum(n for name, n in size.items() if name.startswith(prefix))

        self.assertEqual(3476, 5 * sum_of("dec.pair") + sum_of("dec.mix") + sum_of("dec.out"))
        cells = 5 * 512 * sum_of("scan.cell")
        self.assertEqual(1.67, round((cells + 5 * (sum_of("scan") - sum_of("scan.cell"))) / 1e6, 2))

    def test_linear(self):
        model = lego.read_model(RANDOM)
        x = np.random.RandomState(1).random_sample((7, 32))
        matrix, bias = model.layers["scan.skew.0"]
        np.testing.assert_allclose(lego.linear(model, "scan.skew.0", x), x @ matrix.T + bias, rtol=1e-12)

    def test_model_round_trip(self):
        lego.write_model(self.path("copy"), lego.read_model(RANDOM))
        self.assertTrue(filecmp.cmp(self.path("copy"), RANDOM, False))

    def test_rows_are_exact(self):
        """Whatever becomes a pair, a cell has the sum of the columns that are there."""
        rng = np.random.RandomState(4)
        for columns in (16, 18, 130, 132, 260, 262):
            row, sums = lego.Row(columns), [0] * columns
            for _ in range(300):
                column, value = int(rng.randint(columns)), int(rng.randint(0, 2**rng.randint(1, 34)))
                row.add(column, value)
                sums[column] += value
            self.assertTrue(row.wide and row.pairs)
            n = len(row.cells)
            self.assertEqual(2 * -(-columns // 130), columns - n)
            for i in range(n):
                cells = {i, i ^ 1} if i // 2 in row.pairs else {i}
                self.assertEqual(sum(sums[c] for c in range(columns) if c % n in cells), row.cells[i])
                self.assertEqual(i // 2 in row.pairs, any(
                    sum(sums[c] for c in range(columns) if c % n == j) >= 2**31 for j in (i, i ^ 1)))
            self.assertEqual(row, lego.Row.from_bytes(row.to_bytes(), True))

    def test_folding_is_hashing_into_fewer_bricks(self):
        model = lego.read_model(RANDOM)
        for scale in (1, 10**7):
            stream = [(i, 1 + scale * i * i % 977) for i in range(200)]
            for large, small in [(6, 3), (12, 4), (5, 1)]:
                folded = lego.fold(lego.build(model, lego.Shape(large, 32), stream), small)
                same = lego.build(model, lego.Shape(small, 32), stream)
                self.assertEqual(lego.write_sketch(same), lego.write_sketch(folded))


# ---- streams: lists of (item, count) --------------------------------------------------------------------------------

def skewed(n, scale=1.0, seed=1):
    """Counts that fall like a power of the rank."""
    order = np.random.RandomState(seed).permutation(n).tolist()
    return [(b"item %d" % i, 1 + int(scale * n / (rank + 1))) for rank, i in enumerate(order)]


def turnstile(n):
    """Counts of both signs; some items come twice, some end below zero."""
    rng = np.random.RandomState(2)
    return [(b"%d" % rng.randint(n), int(c)) for c in rng.randint(-300, 1000, n)]


def huge(n):
    counts = np.random.RandomState(3).randint(-10**6, 10**12, n).tolist()
    return [(("naïve %d" % i).encode(), count) for i, count in enumerate(counts)]


# ---- the library ----------------------------------------------------------------------------------------------------

class Options(ctypes.Structure):
    _fields_ = [("budget", ctypes.c_uint64), ("top", ctypes.c_uint64), ("model", ctypes.c_void_p),
                ("seed", ctypes.c_uint64), ("allocator", ctypes.c_void_p), ("secret", ctypes.c_char_p)]


class Estimate(ctypes.Structure):
    _fields_ = [("value", ctypes.c_double), ("lower", ctypes.c_int64), ("upper", ctypes.c_int64),
                ("likely", ctypes.c_int64)]


class Info(ctypes.Structure):
    _fields_ = [("model", ctypes.c_void_p), ("seed", ctypes.c_uint64), ("secret", ctypes.c_int),
                ("total", ctypes.c_int64), ("items", ctypes.c_int), ("exact", ctypes.c_int), ("keeping", ctypes.c_double),
                ("distinct", ctypes.c_double), ("distinct_error", ctypes.c_double), ("errors", 4 * ctypes.c_double),
                ("classes", 64 * ctypes.c_double), ("class_errors", 64 * ctypes.c_double),
                ("bytes", ctypes.c_uint64), ("budget", ctypes.c_uint64), ("cache_bytes", ctypes.c_uint64),
                ("blocks", ctypes.c_uint32), ("columns", ctypes.c_uint32), ("top_bytes", ctypes.c_uint64),
                ("top_budget", ctypes.c_uint64), ("top_total", ctypes.c_int64)]


class Items(ctypes.Structure):
    _fields_ = [("n", ctypes.c_size_t), ("integers", ctypes.c_void_p), ("bytes", ctypes.c_char_p),
                ("offsets", ctypes.c_void_p), ("counts", ctypes.c_void_p), ("kind", ctypes.c_int)]


WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


SECRET = bytes(range(16, 32))


class Sketch:
    """A sketch of the library. model: a .lego file, or the name of one inside the library; blocks: to which it folds,
    empty, since a budget gives more."""

    library = None

    def __init__(self, model="compact", budget=4096, seed=0, blocks=None):
        if not Sketch.library:
            Sketch.library = ctypes.CDLL(LIBRARY)
            Sketch.library.lego_model_builtin.restype = ctypes.c_void_p
            Sketch.library.lego_add.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64]
            Sketch.library.lego_add_u64.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int64]
        self.model, self.handle = ctypes.c_void_p(), ctypes.c_void_p()
        if os.path.exists(model):
            with open(model, "rb") as file:
                data = file.read()
            self.call("lego_model_load", data, ctypes.c_size_t(len(data)), None, ctypes.byref(self.model))
        else:
            self.model = ctypes.c_void_p(self.library.lego_model_builtin(model.encode()))
        self.create(budget, seed)
        while blocks and self.info().blocks % blocks:
            budget += 256
            self.library.lego_destroy(self.handle)
            self.create(budget, seed)
        if blocks:
            self.call("lego_fold", self.handle, ctypes.c_uint32(blocks))

    def create(self, budget, seed):
        public = 0 if isinstance(seed, bytes) else seed
        options = Options(budget, 0, self.model, public, None, seed if isinstance(seed, bytes) else None)
        self.call("lego_create", ctypes.byref(options), ctypes.byref(self.handle))

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: {status}")

    def add(self, stream):
        for item, count in stream:
            if isinstance(item, int):
                self.call("lego_add_u64", self.handle, item, count)
            else:
                self.call("lego_add", self.handle, item, len(item), count)

    def add_many(self, stream, threads=1):
        """The same in one call for each kind of items."""
        self.library.lego_set_threads(self.handle, threads)
        for kind in (lego.BYTES, lego.INTEGERS):
            items, counts = [], []
            for item, count in stream:
                if kind == (lego.INTEGERS if isinstance(item, int) else lego.BYTES):
                    items.append(item)
                    counts.append(count)
            counts = np.array(counts, np.int64)
            if kind == lego.INTEGERS:
                integers = np.array(items, np.uint64)
                many = Items(len(items), integers.ctypes.data, None, None, counts.ctypes.data)
            else:
                offsets = np.cumsum([0] + [len(item) for item in items]).astype(np.uint64)
                many = Items(len(items), None, b"".join(items), offsets.ctypes.data, counts.ctypes.data)
            self.call("lego_add_items", self.handle, ctypes.byref(many))

    def query(self, item):
        item, answer = lego.item_bytes(item), Estimate()
        self.call("lego_query", self.handle, item, ctypes.c_size_t(len(item)), ctypes.byref(answer))
        return answer

    def info(self):
        info = Info()
        self.library.lego_describe(self.handle, ctypes.byref(info))
        return info

    def load(self, data):
        """In the place of what it was."""
        self.library.lego_destroy(self.handle)
        self.handle = ctypes.c_void_p()
        self.call("lego_load", data, ctypes.c_size_t(len(data)), None, ctypes.byref(self.handle))

    def save(self):
        chunks = []

        @WRITE
        def write(_, data, size):
            chunks.append(data[:size])
            return 0

        self.call("lego_save", self.handle, write, None)
        return b"".join(chunks)

    def __del__(self):
        self.library.lego_destroy(self.handle)
        # models may be of other sketches too, and are few


@unittest.skipUnless(os.path.exists(LIBRARY), f"there is no {LIBRARY}: build it or set LEGOSKETCH")
class Bricks(Folder):
    """What the library builds and answers, against what Python computes from the same stream."""

    def check(self, stream, model=RANDOM, queries=100, absent=10, **options):
        own, sketch = lego.read_model(model), Sketch(model, **options)
        sketch.add_many(stream)
        data, info = sketch.save(), sketch.info()
        read = lego.read_sketch(data, own.rows, options.get("seed"))
        what = f"{own.name}, {options}: {read.shape}, {read.wide_rows()} wide"
        self.assertEqual((own.name, own.fingerprint), (read.name, read.fingerprint))
        self.assertEqual((read.shape.bricks, read.shape.columns), (info.blocks, info.columns))
        self.assertEqual(sum(count for _, count in stream), info.total)
        self.assertEqual(lego.write_sketch(lego.build(own, read.shape, stream)), data, what)
        self.check_answers(own, sketch, read, stream, queries, absent, what)
        return read

    def check_answers(self, own, sketch, read, stream, queries, absent, what):
        truth = truth_of(stream)
        items = list(truth)[::-(-len(truth) // queries)][:queries] + [b"absent %d" % i for i in range(absent)]
        self.branches, held = set(), []
        for item in items:
            answer, (value, upper) = sketch.query(item), lego.estimate(own, read, item)
            self.assertEqual(upper, answer.upper, (what, item))
            self.assertAlmostEqual(value, answer.value, delta=1e-5 * max(1, abs(value)), msg=(what, item))
            self.assertLessEqual(answer.lower, upper)
            self.branches.add("upper" if value == upper else "zero" if value == 0 else "between")
            held.append(answer.lower <= truth.get(item, 0) <= answer.upper)
        if all(count >= 0 for _, count in stream):
            self.assertGreaterEqual(np.mean(held), 0.95, what)

    def test_budgets(self):
        for budget in (4096, 5000, 20480, 307200):
            read = self.check(skewed(1500), budget=budget)
            self.assertLessEqual(read.shape.bricks * (read.rows * read.shape.columns * 4 + 9), budget)

    def test_wide_rows(self):
        some = set()
        for scale in (1, 1000, 10**5, 10**7, 10**10):
            read = self.check(skewed(300, scale), queries=40, budget=4096)
            pairs = sum(len(row.pairs) for brick in read.bricks for row in brick.rows)
            some.add((read.wide_rows() > 0, pairs > 3, pairs > 100))
        self.assertGreaterEqual(len(some), 3)

    def test_seeds(self):
        for seed in (1, 2**63, 2**64 - 1, SECRET):
            self.assertEqual(seed, self.check(skewed(200), seed=seed, queries=20).shape.seed)

    def test_deletions(self):
        self.check(turnstile(800))
        self.check(turnstile(800), budget=20480)
        stream = skewed(500, 1000)
        read = self.check(stream + [(item, -count) for item, count in stream])
        self.assertEqual({0}, {cell for brick in read.bricks for row in brick.rows for cell in row.cells})

    def test_huge_counts(self):
        for n, budget in [(5, 4096), (600, 4096), (600, 65536)]:
            self.check([(item, count // 1000) for item, count in huge(n)], budget=budget)
        self.check([(b"a", 10**12), (b"b", -10**12), (b"c", 9 * 10**14)])

    def test_odd_items(self):
        odd = [(b"", 3), (b" ", 2), (b"\0", 1), (b"x" * 300, 4), ("größe".encode(), 5), (0, 2), (2**64 - 1, 7)]
        self.check(odd + skewed(300), queries=400, budget=6000)

    def test_other_models(self):
        """Other rows, columns, quanta and tables."""
        rng = np.random.RandomState(5)
        for rows, columns, quantum, entries in [(1, 64, 1, 1), (3, 640, 7, 256), (8, 8192, 4096, 3), (8, 128, 8, 255)]:
            model = make_golden.random_model(rng, rows, columns, quantum, "other-1.x")
            model.v = [float(np.float32(v)) for v in make_golden.uniform(rng, 0.002, 1, entries)]
            lego.write_model(self.path("other.lego"), model)
            for budget in (4096, 30000):
                self.check(skewed(700, 3), model=self.path("other.lego"), queries=40, budget=budget)
            self.check(turnstile(300), model=self.path("other.lego"), queries=40, budget=8192)

    def test_thresholds(self):
        """Some bricks pass both thresholds, some fail one, some the other."""
        model, name = dataclasses.replace(lego.read_model(RANDOM), columns=128, name="t"), self.path("t.lego")
        lego.write_model(name, model)
        stream = skewed(300, 5)
        read = self.check(stream, model=name, queries=60, budget=20480)  # of eight bricks or so
        self.assertLessEqual({"upper", "between"}, self.branches)
        scans = [lego.scan(model, read, b) for b in range(read.shape.bricks)]
        self.assertGreaterEqual(len(scans), 7)
        alphas, ns = sorted(s[1] for s in scans), sorted(s[2] for s in scans)
        beta, limit = (ns[2] + ns[3]) / 2, (alphas[-3] + alphas[-2]) / 2
        passed = [s[2] > beta and s[1] < limit for s in scans]
        self.assertEqual({True, False}, set(passed))
        for beta, limit in [(beta, 1e30), (-1e30, limit), (beta, limit), (1e30, 1e30), (-1e30, -1e30)]:
            lego.write_model(name, dataclasses.replace(model, beta=beta, limit=limit))
            self.check(stream, model=name, queries=60, budget=20480)

    def test_order_and_threads(self):
        """Without deletions the bytes follow from the content alone."""
        stream, seen = skewed(500, 10**6), set()
        for order in (stream, stream[::-1], sorted(stream)):
            for threads in (0, 1, 4):
                sketch = Sketch(RANDOM)
                sketch.add_many(order, threads) if threads else sketch.add(order)
                seen.add(sketch.save())
        self.assertEqual(1, len(seen))

    def test_folds(self):
        stream = skewed(500, 10**6)
        lego.write_model(self.path("f.lego"), dataclasses.replace(lego.read_model(RANDOM), columns=128, name="f"))
        model = lego.read_model(self.path("f.lego"))
        sketch = Sketch(self.path("f.lego"), 33000)
        sketch.add(stream)
        bricks = sketch.info().blocks
        self.assertGreater(bricks, 8)
        read = lego.read_sketch(sketch.save(), model.rows)
        while bricks > 1:
            bricks = max(n for n in range(1, bricks) if bricks % n == 0)
            sketch.call("lego_fold", sketch.handle, ctypes.c_uint32(bricks))
            self.assertEqual(lego.write_sketch(lego.fold(read, bricks)), sketch.save())


# ---- blocks ---------------------------------------------------------------------------------------------------------

def truth_of(stream):
    truth = {}
    for item, count in stream:
        truth[item] = truth.get(item, 0) + count
    return truth


class OwnBlocks(unittest.TestCase):
    """The reference of the compact model against itself and its golden files."""

    def test_examples(self):
        """Those of block.h and format.md."""
        bits = blocks.Bits()
        blocks.put_levels(bits, [0, 4, 1], 0)
        self.assertEqual("011" "10" "10" "0" "0", f"{bits.value:0{bits.at}b}"[::-1])
        self.assertEqual(bytes(5), blocks.List(62).pack())
        block = blocks.List(62, 1, {0x123456 << 40: 1, 0x923456 << 40: 3})
        used = 6 + 2 * 22 + 2 + 2  # quotients, remainders, map 0, and the digit of 3 - 1 with its place in map 1
        data = int.from_bytes(block.pack(), "little")
        self.assertEqual(used | 1 << 11 | 2 << 15, data % 2**40)  # step 1, 2 entries
        self.assertEqual("10" "0" "10" "0", f"{data >> 40:0{used}b}"[::-1][:6])

    def random_block(self, rng, i):
        low, high = [(1, 2), (1, 1000), (-3, 4), (-2**50, 2**50), (1, 2**50), (-9, 0)][i % 6]
        block = blocks.List(34 + i % 29)
        for _ in range(rng.randint(0, 700) if i % 5 else 3000):
            key = int(rng.randint(0, 2**32)) << 32 | int(rng.randint(0, 2**32))
            block = block.added(blocks.cut(key, 34 + i % 29), int(rng.randint(low, high, dtype=np.int64)))
        return block

    def test_blocks_round_trip(self):
        rng, refused, steps = np.random.RandomState(6), 0, set()
        for i in range(30):
            block = self.random_block(rng, i)
            steps.add(block.step)
            data = block.pack()
            again, size = blocks.unpack(data, 34 + i % 29)
            self.assertEqual((type(block), data, len(data)), (type(again), again.pack(), size))
            for bit in rng.randint(0, 8 * len(data), 10).tolist():  # another block, or none
                wrong = (int.from_bytes(data, "little") ^ 1 << bit).to_bytes(len(data), "little")
                try:
                    other, size = blocks.unpack(wrong, 34 + i % 29)
                    self.assertEqual(wrong[:size], other.pack())
                except ValueError:
                    refused += 1
        self.assertGreater(refused, 50)
        self.assertLessEqual({0, blocks.FLOOR, blocks.LAST}, steps)

    def test_a_list_follows_from_its_content(self):
        """Whichever way it came to a step, and in whatever order."""
        rng = np.random.RandomState(7)
        items = [(int(rng.randint(0, 2**32)) << 32, int(rng.randint(1, 99))) for _ in range(100)]
        made = set()
        for order in (items, items[::-1]):
            block = blocks.List(50)
            for key, count in order:
                block = block.added(key, count)
            made.add(block.pack())
            for step in range(block.step + 1, blocks.LAST_LIST + 1):
                self.assertEqual(block.lowered(step), block.lowered(step - 1).lowered(step))
        self.assertEqual(1, len(made))

    def test_nothing_is_lost_but_what_is_told(self):
        """What came is listed or lost, the sample has the smallest prints with their counts, the heaviest are kept."""
        rng = np.random.RandomState(8)
        for n in (300, 700, 5000):
            block, truth = blocks.List(62), {}
            for i in rng.permutation(n):
                key, count = blocks.spot(blocks.hash62(int(i), 3), 1)[1], 5000 if i < 40 else 1 + int(i) % 3
                truth[key] = count
                block = block.added(key, count)
            self.assertEqual(sum(truth.values()), blocks.sum_of(block))
            self.assertEqual(blocks.LAST if n == 5000 else blocks.FLOOR, block.step)
            for entry, key in zip(block.entries, sorted(truth)[:blocks.SAMPLE]):
                self.assertEqual((blocks.cut(key, entry.known), truth[key]), (entry.key, entry.value))
            heavy = [block.find(key) for key in truth if truth[key] == 5000]
            self.assertEqual({5000}, {entry.value for entry in heavy})

    def test_hashes_come_back(self):
        for number in (1, 2, 3, 7, 64, 129, 200, 2**27 + 2**20):
            for i in range(200):
                known = blocks.hash62(i, 5)
                block, key = blocks.spot(known, number)
                self.assertEqual(known, blocks.spot_hash(block, blocks.cut(key, blocks.whole_bits(number)), number))

    def test_golden(self):
        steps, signed = set(), 0
        for name, most, seed, stream, _ in make_golden.block_cases():
            with open(os.path.join(make_golden.GOLDEN, f"blocks-{name}.sketch"), "rb") as file:
                sketch = blocks.read_sketch(file.read())
            self.assertEqual((most, seed, sum(c for _, c in stream)), (sketch.most, sketch.seed, sketch.total))
            steps |= {block.step for block in sketch.blocks}
            truth = truth_of(stream)
            signed += min(truth.values()) < 0
            for item, count in truth.items() if min(truth.values()) >= 0 else ():
                self.assertGreaterEqual(sketch.answer(item)[2], count, name)
            if name == "light":
                self.assertEqual([sketch.answer(item)[0] for item in truth], list(truth.values()))
        self.assertLessEqual({0, blocks.FLOOR}, steps)
        self.assertGreater(signed, 0)

    def test_merging_lists_is_counting_both(self):
        for most, n, scale in [(12, 300, 1), (36, 1000, 2), (60, 1500, 300)]:
            parts = [skewed(n, scale)[i::3] for i in range(3)]
            all_at_once = blocks.build(most, sum(parts, []))
            merged = blocks.merge(blocks.build(most, parts[0]), *((blocks.build(most, part), 1) for part in parts[1:]))
            self.assertFalse(all_at_once.keeps())
            self.assertEqual(blocks.write_sketch(all_at_once), blocks.write_sketch(merged))
            for fewer in (b for b in range(1, most) if most % b == 0 and n < 60 * b):
                own = blocks.build(fewer, sum(parts, []))
                self.assertFalse(own.keeps())
                self.assertEqual(blocks.write_sketch(own), blocks.write_sketch(blocks.fold(merged, fewer)))


@unittest.skipUnless(os.path.exists(LIBRARY), f"there is no {LIBRARY}: build it or set LEGOSKETCH")
class Blocks(unittest.TestCase):
    """What the library does with the compact model, byte for byte."""

    steps = set()

    def same(self, own, sketch):
        """The bytes are those of the reference; what was judged of items that are not listed is the library's. Every
        saved block is read back, and gives the same bytes again."""
        data = sketch.save()
        read = blocks.read_sketch(data, own.seed if isinstance(own.seed, bytes) else None)
        own.fingerprint, own.unlisted = read.fingerprint, read.unlisted
        what = own.most, [block.step for block in own.blocks], [block.step for block in read.blocks]
        self.assertEqual(blocks.write_sketch(own), data, what)
        self.assertEqual(blocks.write_sketch(read), data, what)
        info = sketch.info()
        self.assertEqual((own.most, own.total), (info.blocks, info.total))
        self.assertEqual(own.is_whole(), bool(info.exact))
        keeping = sum(isinstance(block, blocks.Keeper) for block in own.blocks)
        self.assertAlmostEqual(keeping / len(own.blocks), info.keeping)
        Blocks.steps |= {block.step for block in own.blocks}

    def answers(self, own, sketch, items):
        for item in items:
            answer, (value, lower, upper) = sketch.query(item), own.answer(item)
            self.assertEqual((lower, upper), (answer.lower, answer.upper), item)
            self.assertTrue(float(lower) <= answer.value <= answer.likely <= upper or value is not None, item)
            if value is not None:
                self.assertEqual((float(value), upper), (answer.value, answer.likely), item)

    def check(self, stream, at_once=True, **options):
        """A stream of one kind of items, since a call has one kind."""
        sketch = Sketch(**options)
        sketch.add_many(stream) if at_once else sketch.add(stream)
        own = blocks.build(sketch.info().blocks, stream, seed=options.get("seed", 0), name="compact")
        self.same(own, sketch)
        truth = truth_of(stream)
        self.answers(own, sketch, list(truth)[:200] + [b"absent %d" % i for i in range(20)])
        if all(count >= 0 for _, count in stream):
            for item in list(truth)[:200]:
                self.assertGreaterEqual(sketch.query(item).upper, truth[item])
        return own

    def test_budgets(self):
        for budget in (4096, 5000, 20000):
            own = self.check(skewed(2500), budget=budget)
            self.assertLessEqual(256 * own.most, budget)

    def test_every_state(self):
        Blocks.steps = set()
        for scale in (0, 1, 100, 10**5, 10**12):
            for n in (40, 130, 170, 300, 800):
                self.check(skewed(n, scale), blocks=3)
        for n in range(96, 152, 4):
            self.check([(i, 1) for i in range(n)], blocks=1)
        self.check([(i, 1) for i in range(4000)], blocks=1)
        self.assertEqual(set(range(blocks.LAST + 1)), Blocks.steps)

    def test_growth(self):
        """From nothing to the budget's number of blocks."""
        numbers = {len(self.check(skewed(n), budget=20000).smallest()) for n in (20, 60, 200, 700, 1500, 3000)}
        self.assertGreater(len(numbers), 4)
        self.assertEqual(1, len(blocks.read_sketch(Sketch(budget=10**6).save()).blocks))

    def test_seeds(self):
        for seed in (1, 2**63, 2**64 - 1, SECRET):
            self.check(skewed(200), seed=seed)
            self.check([(i, i) for i in range(50)], seed=seed)
        self.check(skewed(3000), seed=SECRET, budget=4096)

    def test_crowds(self):
        """Down to 0.1 bytes an item, in several orders."""
        for scale in (0, 1):
            stream = skewed(2600, scale)
            for order in (stream, sorted(stream, key=lambda one: one[1]), sorted(stream, key=lambda one: -one[1])):
                self.check(order, blocks=1)
        runs = [(i // 3, 1) for i in range(2400)]
        for order in (runs, sorted(runs, key=lambda one: one[0] % 100), 3 * [(i, 1) for i in range(800)]):
            self.check(order, blocks=2)

    def test_giants(self):
        rng = np.random.RandomState(9)
        for weight in (1000, 10**9, 2**60):
            stream = [(int(i), 1 + int(i) % 4) for i in rng.randint(0, 3000, 1500)]
            for at in (300, 1400):
                late = stream[:at] + [(10**6, weight)] + stream[at:]
                own = self.check(late, blocks=2)
                self.assertEqual(weight, own.read(10**6)[0])
            small = [(10**6 + i % 7, 3) if i % 20 == 0 else one for i, one in enumerate(2 * stream)]
            self.check(small, blocks=1)
        self.check([(i, 2**60 // 700 + i % 3) for i in range(700)], blocks=2)
        self.check([(i, 1 << i % 48) for i in range(1200)], blocks=1)

    def test_deletions(self):
        """Below 0, to 0, of all, and of whom nobody lists."""
        self.check(turnstile(800))
        self.check(turnstile(800), blocks=2)
        stream = skewed(100, 1000)
        own = self.check(stream + [(item, -count) for item, count in stream], budget=20000)
        self.assertTrue(own.is_empty())
        rng = np.random.RandomState(10)
        for i, high in enumerate((1, 2, 40, 2**40)):
            items, counts = rng.randint(0, 900, 1200), rng.randint(-high, high + 1, 1200)
            stream = list(zip(items.tolist(), counts.tolist()))
            self.check(stream, blocks=2, at_once=i % 2 == 0)
            above = [(item, abs(count) + 1) for item, count in stream]
            self.check(above + [(item, -count) for item, count in above[:900]], blocks=2, at_once=i % 2 == 1)
            self.check([(item, -count) for item, count in above], blocks=1)
            emptied = [(item, -count) for item, count in above]
            self.check(above + emptied + above[:300], blocks=1)

    def test_huge_counts(self):
        for n, most in [(5, 1), (600, 3), (600, 12)]:
            self.check(huge(n), blocks=most)
        self.check([(b"a", 10**12), (b"b", -10**12), (b"c", 2 * 10**18)])

    def test_integers(self):
        self.check([(i * i, 1 + i % 9) for i in range(1, 500)] + [(2**63, 7), (2**64 - 1, 9)])

    def test_loaded_sketches_go_on(self):
        for scale in (0, 5):
            stream = skewed(1200, scale)
            for cut in (100, 400, 900):
                half = Sketch(blocks=2)
                half.add_many(stream[:cut])
                own = blocks.read_sketch(half.save())
                loaded = Sketch()
                loaded.load(blocks.write_sketch(own))
                for item, count in stream[cut:]:
                    own.add(item, count)
                for sketch in half, loaded:
                    sketch.add_many(stream[cut:])
                    self.same(own, sketch)

    def test_nurseries(self):
        """Of blocks of which much more is lost than is listed, as a file may say."""
        for times in (0, 5, 9, 17):
            own = blocks.build(1, [(i, 10 + i) for i in range(250)], name="compact",
                               fingerprint=blocks.read_sketch(Sketch().save()).fingerprint)
            block, = own.blocks
            lost = times * sum(entry.value for entry in block.entries)
            block.plus += lost
            own.total += lost
            loaded, stream = Sketch(), [(1000 + i, 1 + i % 30) for i in range(300)]
            loaded.load(blocks.write_sketch(own))
            loaded.add_many(stream)
            for item, count in stream:
                own.add(item, count)
            self.same(own, loaded)

    def merged(self, parts, mosts, times):
        """The first of them with the others, by the library and by the reference."""
        sketches, own = [], []
        for stream, most in zip(parts, mosts, strict=True):
            sketches.append(Sketch(blocks=most))
            sketches[-1].add_many(stream)
            own.append(blocks.build(most, stream, name="compact"))
        handles = (ctypes.c_void_p * len(times))(*(sketch.handle for sketch in sketches[1:]))
        into, weights = sketches[0], (ctypes.c_int64 * len(times))(*times)
        into.call("lego_merge_many", into.handle, handles, weights, ctypes.c_size_t(len(times)))
        return into, blocks.merge(own[0], *zip(own[1:], times, strict=True))

    def test_merges(self):
        """Of several at once, with weights, exact or full; into a smaller one, and then it is added to and folded."""
        for n, scale in ((60, 5), (300, 0), (300, 50), (900, 3)):
            parts = [skewed(n, scale, seed) for seed in range(4)]
            for mosts, times in (((6, 6, 6, 6), (1, 1, 1)), ((6, 3, 6, 12), (1, 4, 2)), ((4, 4, 2, 2), (1, -1, 2)),
                                 ((1, 1, 1, 1), (2**20, 1, -3))):
                into, own = self.merged(parts, mosts, times)
                self.same(own, into)
                into.add_many(parts[0][:50])
                for item, count in parts[0][:50]:
                    own.add(item, count)
                self.same(own, into)
                into.call("lego_fold", into.handle, ctypes.c_uint32(1))
                self.same(blocks.fold(own, 1), into)

    def test_many_parts(self):
        stream = skewed(4000, 2)
        into, own = self.merged([stream[i::40] for i in range(40)], 40 * [2], 39 * [1])
        self.same(own, into)
        into, own = self.merged(3 * [stream[:700]], 3 * [1], [1, -2])
        self.same(own, into)

    def test_sizes_that_do_not_nest(self):
        for mosts, refused in (((4, 6), True), ((6, 3), False), ((3, 6), False), ((6, 4), True)):
            parts = [skewed(800), skewed(800)]
            if refused:
                self.assertRaisesRegex(RuntimeError, "lego_merge_many", self.merged, parts, mosts, [1])
            else:
                self.same(*self.merged(parts, mosts, [1])[::-1])


if __name__ == "__main__":
    unittest.main()
