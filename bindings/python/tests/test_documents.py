"""The examples in docstrings and in docs/python.md give what they say.

SPDX-License-Identifier: MIT
"""

import doctest
import os
from pathlib import Path

import pytest

import legosketch
from legosketch import _core, _sizing

FOLDER = Path(__file__).parents[3]


def test_docstrings():
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    names = set()
    for module in (legosketch, _core, _sizing):
        for test in finder.find(module, globs={**vars(legosketch)}):
            runner.run(test)
            names.add(test.name if test.examples else None)
    assert runner.summarize().failed == 0
    assert {"legosketch", "legosketch.Sketch", "legosketch.Sketch.top", "legosketch._core.Sketch.add",
            "legosketch._sizing.suggest"} <= names


def test_every_public_name_has_a_docstring():
    for name in dir(legosketch.Sketch):
        if not name.startswith("_"):
            assert getattr(legosketch.Sketch, name).__doc__, name


def test_guide(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(os.fspath(FOLDER / "docs/python.md"), module_relative=False,
                              optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 10 and result.failed == 0
