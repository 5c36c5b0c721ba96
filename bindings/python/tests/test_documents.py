"""The examples in docstrings, in docs/python.md and in docs/tutorial.md give what they say, and docs/api-python.md is what the
docstrings say.

SPDX-License-Identifier: MIT
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import legosketch
from legosketch import _core, _secret, _sizing

FOLDER = Path(__file__).parents[3]


def test_docstrings():
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    names = set()
    for module in (legosketch, _core, _secret, _sizing):
        for test in finder.find(module, globs={**vars(legosketch)}):
            runner.run(test)
            names.add(test.name if test.examples else None)
    assert runner.summarize().failed == 0
    assert {"legosketch", "legosketch.Sketch", "legosketch.Sketch.top", "legosketch._core.Sketch.add",
            "legosketch._secret.secret_seed", "legosketch._sizing.suggest"} <= names


def test_every_public_name_has_a_docstring():
    for name in dir(legosketch.Sketch):
        if not name.startswith("_"):
            assert getattr(legosketch.Sketch, name).__doc__, name


def test_guide(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(os.fspath(FOLDER / "docs/python.md"), module_relative=False,
                              optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 10 and result.failed == 0


def test_reference():
    made = subprocess.run([sys.executable, FOLDER / "scripts/api-reference", "python"], capture_output=True, text=True, check=True)
    assert made.stdout == (FOLDER / "docs/api-python.md").read_text(), "run scripts/api-reference python > docs/api-python.md"


def test_tutorial(tmp_path, monkeypatch):
    """Its commands come first: they make the files that the Python part reads. What they print is tested by tests/test_documents.py."""
    command = os.environ.get("LEGOSKETCH")
    if command is None:
        pytest.skip("$LEGOSKETCH names no command")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(command).parent}:{os.environ['PATH']}")
    document = FOLDER / "docs/tutorial.md"
    for block in re.findall(r"^```console\n(.*?)^```$", document.read_text(), re.DOTALL | re.MULTILINE):
        typed = "\n".join(line[2:] for line in block.splitlines() if line.startswith(("$ ", "> ")))
        subprocess.run(["bash", "-c", typed], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    result = doctest.testfile(os.fspath(document), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 5 and result.failed == 0
