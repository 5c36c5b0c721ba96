"""What Python counts has the bytes of what the command counts. LEGOSKETCH names the command.

SPDX-License-Identifier: MIT
"""

import os
import random
import subprocess
from array import array
from pathlib import Path

import pytest

from legosketch import LegoError, Sketch

COMMAND = os.environ.get("LEGOSKETCH")
pytestmark = pytest.mark.skipif(not COMMAND, reason="LEGOSKETCH does not name the command")


@pytest.fixture
def built(tmp_path):
    """The file that `legosketch build` makes of a file."""

    def build(content, *options):
        source, result = tmp_path / "input", tmp_path / "built.sketch"
        source.write_bytes(content)
        command = [COMMAND, "build", "-o", result, "--budget", "64K", *options, source]
        subprocess.run(command, check=True, capture_output=True)
        return result

    return build


RNG = random.Random(5)
NUMBERS = [int(min(RNG.paretovariate(0.8), 2**63)) for _ in range(20000)]
WORDS = [f"wört {n % 3000}" for n in NUMBERS]
LINES = "".join(w + "\n" for w in WORDS).encode()


@pytest.mark.parametrize("options, arguments", [
    ({}, []), ({"top": True}, ["--top"]), ({"seed": 9}, ["--seed", "9"]), ({"model": "paper"}, ["--model", "paper"]),
])
def test_words(built, options, arguments):
    s = Sketch("64K", **options)
    s.update(WORDS)
    path = built(LINES, *arguments)
    assert s.to_bytes() == path.read_bytes()
    assert Sketch.load(path) == s


def test_numbers(built):
    s = Sketch("64K")
    s.add_many(array("Q", NUMBERS))
    assert s.to_bytes() == built(array("Q", NUMBERS).tobytes(), "--format", "u64").read_bytes()
    narrow = [n % 2**32 for n in NUMBERS]
    s = Sketch("64K")
    s.add_many(array("I", narrow))
    assert s.to_bytes() == built(array("I", narrow).tobytes(), "--format", "u32").read_bytes()


def test_counts(built):
    counts = [RNG.randint(1, 50) for _ in WORDS]
    s = Sketch("64K")
    s.add_many(WORDS, counts)
    s.add("taken", -3)
    content = "".join(f"{w}\t{c}\n" for w, c in zip(WORDS + ["taken"], counts + [-3])).encode()
    assert s.to_bytes() == built(content, "--format", "tsv").read_bytes()


def test_the_command_reads_what_python_saves(tmp_path):
    s = Sketch("64K", top=True)
    s.update(WORDS)
    s.save(tmp_path / "words.sketch")
    command = [COMMAND, "top", "-k", "5", tmp_path / "words.sketch"]
    top = subprocess.run(command, check=True, capture_output=True, text=True)
    assert all(t.item in line for t, line in zip(s.top(5), top.stdout.splitlines()[-5:]))


def test_golden_files():
    """What tests/golden has, which the C tests check the content of, stays what it is; with the model it is of."""
    golden = Path(__file__).parents[3] / "tests/golden"
    bricks = sorted(golden.glob("bricks-*.sketch"))
    assert bricks
    for path in bricks:
        assert Sketch.load(path, model=golden / "random.lego").to_bytes() == path.read_bytes(), path
    blocks = sorted(golden.glob("blocks-*.sketch"))
    assert blocks
    for path in blocks:  # of a model that only the C tests make
        with pytest.raises(LegoError, match="another model"):
            Sketch.load(path)
