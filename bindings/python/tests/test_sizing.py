"""suggest(): what is suggested does what was wanted; legosketch suggest says the same.

SPDX-License-Identifier: MIT
"""

import os
import subprocess
from collections import Counter

import pytest

import legosketch
from legosketch import LegoError, Sketch, suggest


def test_what_is_suggested_does():
    counts = [1 + 30_000 // (i + 1) for i in range(30_000)]
    for error in (0.2, 0.01, 0):
        found = suggest(counts=counts, error=error)
        assert found.bytes_per_distinct == found.budget / 30_000 and found.error <= error
        s = Sketch(found.budget)
        s.add_many(range(30_000), counts)
        estimates = s.estimate_many(range(30_000))
        mean = sum(abs(value - count) / count for value, count in zip(estimates, counts)) / 30_000
        assert mean <= 2 * error and s.bytes <= found.budget
        assert s.exact or error > 0


def test_samples_are_counted():
    words = ["a"] * 5 + ["b"] * 3 + [f"w{i}" for i in range(5000)]
    expected = suggest(counts=[5, 3] + [1] * 5000, error="exact")
    for sample in (words, iter(words), Counter(words), dict(Counter(words)), [*words, None, float("nan")]):
        assert suggest(sample, error=0) == expected
    assert suggest(words, distinct=50_020, error=0).budget > 9 * expected.budget
    for name, make in (("numpy", "array"), ("pandas", "Series"), ("pyarrow", "array"), ("polars", "Series")):
        try:
            module = __import__(name)
        except ImportError:
            continue
        assert suggest(getattr(module, make)(words), error=0) == expected


def test_the_command_says_the_same():
    for skew in ("low", "1.2"):
        told = subprocess.run([os.environ["LEGOSKETCH"], "suggest", "--distinct", "20000", "--error", "5%", "--skew", skew,
                               "--csv"], capture_output=True, text=True, check=True).stdout  # fmt: skip
        found = suggest(distinct=20_000, error="5%", skew=skew if skew == "low" else float(skew))
        assert str(found.budget) in told.replace("\n", ",").split(",")


@pytest.mark.parametrize("wrong, message", [
    ({}, "for how many distinct items"), ({"sample": "text"}, "one item"), ({"distinct": 0}, "1 or more"),
    ({"distinct": float("nan")}, "1 or more"), ({"distinct": 10, "error": 2}, "a share from 0 to 1"),
    ({"distinct": 10, "error": "a%"}, "a share from 0 to 1"), ({"distinct": 10, "skew": "steep"}, "'low', 'middle'"),
    ({"distinct": 10, "skew": 4}, "from 0 to 3"), ({"sample": []}, "no items"), ({"counts": [0]}, "1 or more, not 0"),
    ({"counts": [1.5]}, "integer"), ({"sample": ["a", "b"], "distinct": 1}, "the sample alone has 2"),
    ({"sample": ["a"], "counts": [1]}, "one of the two"), ({"distinct": 1e12, "error": 0}, "more than the 64G"),
])  # fmt: skip
def test_what_is_refused(wrong, message):
    with pytest.raises((TypeError, ValueError), match=message):
        suggest(**wrong)
    assert issubclass(LegoError, ValueError) and legosketch.suggest is suggest
