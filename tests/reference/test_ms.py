#!/usr/bin/env python3
"""Tests the reference of the meta-sketch's training, and that the golden file is what it gives:
python3 tests/reference/test_ms.py"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy; the products are too small for more

import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ms
from test_training import number


class Golden(unittest.TestCase):
    def test_the_golden_file_comes_out_again(self):
        """But for last digits: the order in which numpy sums depends on the machine."""
        with open(ms.GOLDEN) as file:
            committed = file.read().splitlines()
        for line, (want, have) in enumerate(zip(committed, ms.lines(), strict=True), 1):
            for a, b in zip(want.split(), have.split(), strict=True):
                x, y = number(a), number(b)
                same = a == b if x is None or y is None else abs(x - y) <= 1e-5 * abs(x) + 1e-9
                self.assertTrue(same, f"line {line}:\n{want}\n{have}")


class Tape(unittest.TestCase):
    def test_gradients_are_differences(self):
        recipe = ms.Recipe(seed=3, n_min=20, n_max=20, rate=1e-4)
        arrays = ms.initial(recipe)
        *_, x, f = ms.make_task(recipe, 0)
        _, gradients, _ = ms.evaluate(arrays, x, f)
        chosen, good = np.random.default_rng(1), 0
        for name, array in arrays.items():
            i, slopes = chosen.integers(array.size), []
            for h in 1e-6, -1e-6:
                changed = {**arrays, name: array.copy()}
                changed[name].flat[i] += h
                slopes.append(ms.evaluate(changed, x, f)[0][0])
            slope, ours = (slopes[0] - slopes[1]) / 2e-6, gradients[name].flat[i]
            good += abs(slope - ours) <= 1e-4 * (abs(slope) + np.abs(gradients[name]).max() + 1e-3)
        self.assertGreaterEqual(good, len(arrays) - 3)  # a kink may lie in between

    def test_sparsemax(self):
        """Sums to 1, nothing below 0, and no other point of the simplex is nearer."""
        random = np.random.default_rng(2)
        x = ms.Value(random.normal(size=(40, ms.SLOTS)) * np.geomspace(0.01, 100, 40)[:, None])
        a = ms.sparsemax(x).array
        self.assertTrue(np.allclose(a.sum(1), 1) and a.min() >= 0)
        for _ in range(100):
            other = random.dirichlet(np.full(ms.SLOTS, 0.1), size=40)
            self.assertTrue((((x.array - other)**2).sum(1) >= ((x.array - a)**2).sum(1)).all())


if __name__ == "__main__":
    unittest.main()
