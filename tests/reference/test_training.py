#!/usr/bin/env python3
"""Tests the reference of the training, and that the golden file is what it gives:
python3 tests/reference/test_training.py"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy; the products are too small for more

import sys
import unittest
from dataclasses import replace

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lego
import training
from training import ABLATIONS, BALANCED, ROWS, SCOUTS, SIZE, SMALL, TABLE, Parameters

VARIANTS = [{}] + [{ablation: 1} for ablation in ABLATIONS] + [SCOUTS]


def number(word):
    try:
        return float(word)
    except ValueError:
        return None


class Golden(unittest.TestCase):
    def test_the_golden_file_comes_out_again(self):
        """But for last digits: the order in which numpy sums depends on the machine."""
        with open(training.GOLDEN) as file:
            committed = file.read().splitlines()
        case = None
        for line, (want, have) in enumerate(zip(committed, training.lines(), strict=True), 1):
            if want.startswith("case"):
                case = want
            if want == have:
                continue
            for a, b in zip(want.split(), have.split(), strict=True):
                x, y = number(a), number(b)
                same = a == b if x is None or y is None else abs(x - y) <= 1e-6 * abs(x) + 1e-12
                self.assertTrue(same, f"line {line}, {case}:\n{want}\n{have}")
        self.assertLess(os.path.getsize(training.GOLDEN), 300000)


class Tasks(unittest.TestCase):
    def test_random_numbers(self):
        """Output k is that of lego.splitmix64, and the published first output from state 1234567."""
        self.assertEqual(list(lego.splitmix64(8)), training.outputs(0, 1, 8).tolist())
        self.assertEqual(6457827717110365317, training.output(1234567, 1))

    def test_places(self):
        """Those of lego.item_to_cells, if XXH3 gave lo and hi."""
        v = [float(x) / 2**16 for x in range(1000, 1000 + TABLE)]  # all different: the weights tell the indices
        model = lego.Model("v", ROWS, training.COLUMNS, 4096, v)
        task = training.make_task(SMALL, 0, 3)
        columns, indices = training.places(task)
        lo_hi = training.outputs(task.key, 4, 2 * task.n).tolist()
        hashed = lego.xxhash.xxh3_128_intdigest
        self.addCleanup(setattr, lego.xxhash, "xxh3_128_intdigest", hashed)
        for i in range(task.n):
            lego.xxhash.xxh3_128_intdigest = lambda *_, seed: lo_hi[2 * i + 1] << 64 | lo_hi[2 * i]
            place = lego.item_to_cells(model, lego.Shape(1, training.COLUMNS), b"")
            self.assertEqual(place.columns, columns[:, i].tolist())
            v_of = np.array(v)[indices[:, i]]
            np.testing.assert_allclose(place.weights, 4096 * v_of / v_of.sum(), atol=0.51)

    def test_bounds(self):
        tasks = [training.make_task(SMALL, step, slot) for step in range(300) for slot in range(8)]
        self.assertEqual(len(tasks), len({task.key for task in tasks}))
        self.assertEqual({60, 400}, {min(task.n for task in tasks), max(task.n for task in tasks)})
        for x, low, high in ([t.alpha for t in tasks], 0.5, 1.0), ([t.scale for t in tasks], 0.5, 10):
            np.testing.assert_allclose([min(x), np.mean(x), max(x)], [low, (low + high) / 2, high], 0.03)

    def test_scouts(self):
        """The last slots: other ranges of n and alpha, all else of a task stays."""
        recipe = replace(BALANCED, **SCOUTS)
        scouts = []
        for step in range(300):
            for slot in range(8):
                task, plain = training.make_task(recipe, step, slot), training.make_task(BALANCED, step, slot)
                self.assertEqual((slot >= 6, plain.key, plain.scale), (task.scout, task.key, task.scale))
                if task.scout:
                    scouts.append(task)
                else:
                    self.assertEqual(plain, task)
        for x, low, high in ([t.n for t in scouts], 200, 2000), ([t.alpha for t in scouts], 0.5, 1.375):
            self.assertTrue(low <= min(x) and max(x) <= high)
            np.testing.assert_allclose([min(x), np.mean(x), max(x)], [low, (low + high) / 2, high], 0.04)

    def test_initial_parameters(self):
        arena = np.concatenate([training.initial(replace(SMALL, seed=seed))[:TABLE] for seed in range(200)])
        np.testing.assert_allclose([np.median(arena), np.mean(abs(arena - 0.5005))], [0.5005, 0.158], 0.02)
        arena = Parameters(training.initial(SMALL))
        for name, inputs, _ in lego.LAYERS:
            values = np.concatenate([x.ravel() for x in arena.layers[name]])
            self.assertLessEqual(abs(values).max(), 1 / np.sqrt(inputs))
            self.assertGreater(abs(values).max(), 0.3 / np.sqrt(inputs))

    def test_store(self):
        """One item after the other, and that the least of m / v is what the rule answers."""
        for variant in {}, {"no_norm": 1}:
            recipe = replace(BALANCED, **variant)
            parameters = Parameters(training.initial(recipe))
            task = training.make_task(recipe, 0, 0)
            brick = training.store(parameters, recipe, task)
            columns, index = training.places(task)
            cells, total = np.zeros((ROWS, training.COLUMNS)), 0.0
            for i in range(task.n):
                f = task.scale * ((task.n + 1) / (i + 2)) ** task.alpha
                v = parameters.v[index[:, i]]
                total += f
                for k in range(ROWS):
                    cells[k][columns[k][i]] += f * (v[k] if variant else v[k] * ROWS / sum(v))
            np.testing.assert_allclose(brick.memory, cells[:, :512], 1e-12)
            self.assertAlmostEqual(total, brick.total, delta=1e-10 * total)
            _, f2, _ = training.decode_forward(parameters, brick, np.zeros(4))
            v = brick.scale * parameters.v[brick.index]
            np.testing.assert_allclose(f2, (brick.m / v).min(axis=0), 1e-8)
            self.assertTrue((f2 >= brick.f * (1 - 1e-8)).all())
            if not variant:
                np.testing.assert_allclose(v.sum(axis=0), ROWS, 1e-12)


class Networks(unittest.TestCase):
    def test_forward(self):
        """Against the scan and decoder of lego.py, which go item by item."""
        arena, _ = training.start(BALANCED, "balanced")
        parameters = Parameters(arena)
        model = lego.Model("x", ROWS, training.COLUMNS, 1024, parameters.v.tolist(), 1, layers=parameters.layers)
        brick = training.store(parameters, BALANCED, training.make_task(BALANCED, 0, 1))
        implicit, alpha, n, _ = training.scan_forward(parameters, brick.memory)
        want = lego.g_scan(model, brick.memory)
        np.testing.assert_allclose([*implicit, alpha, n], [*want[0], *want[1:]], 1e-9)
        self.assertEqual((alpha, n), (brick.alpha, brick.distinct))
        f1, f2, (_, _, _, v) = training.decode_forward(parameters, brick, implicit)
        for i in range(0, brick.task.n, 97):
            want = lego.g_dec(model, brick.m[:, i], v[:, i], implicit, f2[i], brick.total, alpha, n)
            self.assertAlmostEqual(want, f1[i], delta=1e-9 * abs(want))


class Gradients(unittest.TestCase):
    """Of the whole loss, with the constants held: memory, S, the row of the minimum, guides, s in the decoder."""

    def setting(self, variant, tasks, recipe=BALANCED):
        recipe = replace(recipe, **variant)
        arena, _ = training.start(recipe, "balanced")
        bricks = training.batch(recipe, arena, 0)
        bricks = bricks[:tasks] + bricks[training.BATCH - recipe.scouts:]
        _, gradient = training.evaluate(recipe, arena, bricks)
        rng = np.random.RandomState(1)
        # in proportion to the parameters, some of which are 1e-5 and some 1e6
        direction = rng.standard_normal(SIZE) * np.maximum(abs(arena), 1e-6)
        if recipe.fixed_table:
            direction[:TABLE] = 0
        return recipe, arena, bricks, gradient, direction

    def test_central_differences(self):
        """Along random directions: all parameters, and each part. Limits: rounding (L is about 60) and kinks."""
        h = 1e-5
        for variant in VARIANTS:
            recipe, arena, bricks, gradient, direction = self.setting(variant, 2)
            spans = list(Parameters(arena).span.values()) if not variant else []
            for span in [slice(0, SIZE), slice(0, SIZE - 5)] + spans:
                d = np.zeros(SIZE)
                d[span] = direction[span]
                there, back = (training.evaluate(recipe, arena + s * d, bricks, False)[0].total for s in (h, -h))
                limit = 1e-6 * np.linalg.norm(gradient[span]) * np.linalg.norm(d) + 1e-15 * abs(there) / h
                self.assertAlmostEqual((there - back) / (2 * h), gradient @ d, delta=limit, msg=(variant, span))

    def test_complex_step(self):
        """The same to the last digits: the imaginary part of L at x + i h d, h tiny, is h times the slope along d."""
        for variant in VARIANTS:
            few = replace(BALANCED, n_min=300, n_max=500)
            recipe, arena, bricks, gradient, direction = self.setting(variant, 1, few)
            directions = []
            for part, span in Parameters(arena).span.items():
                d = np.zeros(SIZE)
                d[span] = direction[span]
                directions.append((part, d))
            if variant:  # coarser
                directions = [(name, sum(d for part, d in directions if part.startswith(name)))
                              for name in ("V", "scan", "dec", "loss")]
            else:
                directions += [(i, np.eye(1, SIZE, i)[0]) for i in training.sampled()]
            for name, d in directions:
                losses, _ = training.evaluate(recipe, arena + 1e-30j * d, bricks, False)
                slope = losses.total.imag / 1e-30
                self.assertAlmostEqual(slope, gradient @ d, delta=1e-9 * (abs(gradient) @ abs(d)), msg=(variant, name))
            for name in (["V"] if recipe.fixed_table else []) + (["scan"] if recipe.no_scan else []):
                for part, span in Parameters(gradient).span.items():
                    self.assertFalse(part.startswith(name) and gradient[span].any(), part)


    def test_scouts_train_the_scan_alone(self):
        """Queries know nothing of them; the scan's part of the loss is the mean over all."""
        recipe, arena, bricks, gradient, _ = self.setting(SCOUTS, 2)
        losses, _ = training.evaluate(recipe, arena, bricks)
        plain_losses, plain = training.evaluate(recipe, arena, bricks[:2])
        span = Parameters(arena).span
        for part in span:
            if part.startswith(("V", "dec")):
                np.testing.assert_array_equal(plain[span[part]], gradient[span[part]], part)
        for of in losses.metric[:3] - plain_losses.metric[:3], losses.error - plain_losses.error, \
                losses.guide - plain_losses.guide:
            np.testing.assert_array_equal(of, 0)
        off = [(brick.alpha - brick.task.alpha, brick.distinct - brick.task.n) for brick in bricks]
        np.testing.assert_allclose(losses.metric[3:], np.mean(np.square(off), axis=0), 1e-12)


class Update(unittest.TestCase):
    def test_rates(self):
        recipe = training.Recipe()
        self.assertEqual(1, training.rate(recipe, 0))
        self.assertEqual(1, training.rate(recipe, 49999))
        self.assertAlmostEqual(10**-0.1, training.rate(recipe, 50000))
        self.assertAlmostEqual(10**-0.9, training.rate(recipe, 499999))
        self.assertAlmostEqual(0.1, training.rate(recipe, 10**7))

    def test_adam(self):
        """The first step goes a rate against the sign; then one parameter by hand; the clip and the clamp."""
        trainer = training.Trainer(SMALL)
        trainer.arena[0], trainer.arena[1] = training.V_MIN, 1
        before = trainer.arena.copy()
        g = np.zeros(SIZE)
        g[[0, 1, 2, TABLE, SIZE - 1]] = 3, -4, 12, 84, 5  # norm 85.5: clipped to 10
        trainer.update(g)
        after = before.copy()
        after[[2, TABLE, SIZE - 1]] -= [1e-4, 1e-3, 1e-3]
        np.testing.assert_allclose(trainer.arena, after, 1e-6)
        g = np.zeros(SIZE)
        g[TABLE] = 2
        trainer.update(g)
        clipped = 84 * 10 / np.sqrt(9 + 16 + 144 + 84**2 + 25)
        m = (0.9 * 0.1 * clipped + 0.1 * 2) / (1 - 0.9**2)
        v = (0.999 * 0.001 * clipped**2 + 0.001 * 4) / (1 - 0.999**2)
        after[TABLE] -= 1e-3 * 0.1**0.1 * m / (np.sqrt(v) + 1e-8)
        self.assertAlmostEqual(after[TABLE], trainer.arena[TABLE], delta=1e-8)

    def test_fixed_table(self):
        trainer = training.Trainer(replace(SMALL, fixed_table=1))
        v = trainer.arena[:TABLE].copy()
        trainer.advance()
        np.testing.assert_array_equal(v, trainer.arena[:TABLE])


if __name__ == "__main__":
    unittest.main()
