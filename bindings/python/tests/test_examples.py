"""The examples run from top to bottom; what they claim they check themselves.

SPDX-License-Identifier: MIT
"""

import importlib.util
import pathlib
import subprocess
import sys

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "count_a_log.py"


def run(folder, *arguments):
    return subprocess.run([sys.executable, EXAMPLE, *arguments], cwd=folder, capture_output=True, text=True)


def test_made_log(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "10.0.0.1" in done.stdout
    assert (tmp_path / "estimates.png").exists() == (importlib.util.find_spec("matplotlib") is not None)


def test_own_log(tmp_path):
    log = tmp_path / "words.txt"
    log.write_text("the whale\nthe sea\n\na ship\n", encoding="utf-8")
    done = run(tmp_path, log)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[4].split() == ["the", "2", "2"]
