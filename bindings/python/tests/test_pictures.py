"""plot(), where there is matplotlib.

SPDX-License-Identifier: MIT
"""

import importlib.util

import pytest

from legosketch import LegoError, Sketch


def test_plot(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    s = Sketch("8K", top=True)
    s.add_many(range(20_000), [1 + 10**5 // (i + 1) for i in range(20_000)])
    axes = s.plot()
    line, kept = axes.lines[0], s.top(None)
    assert list(line.get_ydata()) == [t.estimate for t in kept if t.estimate > 0]
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", "rank")
    assert "0" in [text.get_text() for text in axes.texts]  # the most frequent has its name
    axes.figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000
    few = Sketch("8K")
    few.update({"a": 3, "b": 2})
    figure, axes = matplotlib.pyplot.subplots()
    assert few.plot(["b", "a", "c"], ax=axes) is axes and list(axes.lines[0].get_ydata()) == [3, 2]
    assert axes.get_yscale() == "linear" and axes.get_title(loc="left").startswith("5 counted, 2 distinct items")
    with pytest.raises(LegoError, match="top=True"):
        few.plot()
    with pytest.raises(ValueError, match="nothing to plot"):
        few.plot(["c"])
    matplotlib.pyplot.close("all")


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is not None, reason="there is matplotlib")
def test_without_matplotlib():
    with pytest.raises(ImportError, match=r"legosketch\[plot\]"):
        Sketch("8K", top=True).plot()
