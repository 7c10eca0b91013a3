from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from labelfold.evaluate import Comparison, FitRecord
from labelfold.plotting.comparison_display import ComparisonDisplay


def comparison(errors, dims, chance=0.5):
    """A comparison of methods a, b, ... with errors by method, dimension and split."""
    records = []
    for method, tables in zip("abcdefgh", errors, strict=False):
        for dimension, splits in zip(dims, tables, strict=True):
            for split, error in enumerate(splits):
                status = "failed" if np.isnan(error) else "ok"
                records.append(FitRecord(method, dimension, split, status, error, 10, 1.0))
    return Comparison(tuple(records), "transductive", "knn", chance)


def words(display):
    return [text.get_text() for text in display.text_]


FOUND = comparison(
    [[[0.4, 0.2], [0.1, 0.1]], [[0.3, 0.5], [np.nan, 0.2]], [[np.nan] * 2, [np.nan] * 2]], (5, 2)
)


def test_from_comparison_is_the_plot_of_a_comparison(ax):
    display = ComparisonDisplay.from_comparison(FOUND, ax=ax)
    other = FOUND.plot(Figure().subplots())
    assert display.ax_ is ax
    assert (display.methods, display.dims, display.chance) == (["a", "b", "c"], [5, 2], 0.5)
    for name in ("errors", "lows", "highs"):
        np.testing.assert_array_equal(getattr(display, name), getattr(other, name))
    np.testing.assert_allclose(display.errors, [[0.3, 0.1], [0.4, 0.2], [np.nan, np.nan]])
    assert words(display) == words(other)
    assert ax.get_title() == "No result: c"


def test_from_a_summary_with_holes(ax):
    row = SimpleNamespace(method="a", dimension=2, error=0.2, low=0.1, high=0.3)
    more = SimpleNamespace(method="b", dimension=3, error=0.4, low=0.3, high=0.6)
    found = SimpleNamespace(summary=lambda: [row, more], chance=0.9)
    display = ComparisonDisplay.from_comparison(found, ax=ax)
    np.testing.assert_array_equal(display.errors, [[0.2, np.nan], [np.nan, 0.4]])
    np.testing.assert_array_equal(display.highs, [[0.3, np.nan], [np.nan, 0.6]])


def test_the_line_of_guessing_is_named_where_it_is_in_reach(ax):
    values = [[0.2, 0.6], [0.1, 0.3]]
    display = ComparisonDisplay(["a", "b"], [2, 3], values, values, values, chance=0.5).plot(ax)
    assert set(display.chance_.get_ydata()) == {0.5}
    assert display.chance_text_.get_text() == "by guessing"
    assert display.chance_text_.xy[1] == 0.5
    assert words(display) == ["a", "b"]
    far = ComparisonDisplay(["a", "b"], [2, 3], values, values, values, chance=0.9)
    assert far.plot(Figure().subplots()).chance_ is None


def test_bars_and_guessing(ax):
    display = ComparisonDisplay(
        ["a", "b"], [2], [[0.2], [np.nan]], [[0.1], [np.nan]], [[0.6], [np.nan]], chance=0.5
    ).plot(ax)
    assert list(display.bars_) == ["a"]
    assert display.bars_["a"].patches[0].get_width() == 0.2
    assert set(display.chance_.get_xdata()) == {0.5}
    assert display.chance_text_.get_position()[0] == 0.5
    assert [text.strip() for text in words(display)] == ["no result"]
    assert display.text_[0].get_position()[1] == 1
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert ax.yaxis_inverted()
    assert ax.get_title() == "2 dimensions"


@pytest.mark.parametrize("dims", [[2], [2, 3]])
def test_names_are_not_formulas(ax, dims):
    names = ["cost $a and $b_", "$\\frac$", "$_$"]
    values = np.repeat([[0.2], [0.3], [np.nan]], len(dims), axis=1)
    display = ComparisonDisplay(names, dims, values, values, values).plot(ax)
    display.figure_.draw_without_rendering()
    if len(dims) > 1:
        assert words(display) == names[:2]
        assert ax.get_title() == "No result: $_$"
    else:
        assert [label.get_text() for label in ax.get_yticklabels()] == names


def test_a_wide_span_of_dimensions_is_logarithmic(ax):
    dims = [500, 1, 2, 5, 50]
    values = np.array([[0.5, 0.1, 0.2, 0.3, 0.4]] * 2)
    display = ComparisonDisplay(["a", "b"], dims, values, values, values).plot(ax)
    assert ax.get_xscale() == "log"
    line = display.errorbars_["b"].lines[0]
    np.testing.assert_array_equal(line.get_ydata(), [0.1, 0.2, 0.3, 0.4, 0.5])
    np.testing.assert_allclose(line.get_xdata(), [1, 2, 5, 50, 500], rtol=0.1)
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["1", "2", "5", "50", "500"]


def test_no_result_at_all(ax):
    nothing = np.full((2, 2), np.nan)
    display = ComparisonDisplay(["a", "b"], [2, 3], nothing, nothing, nothing).plot(ax)
    assert display.errorbars_ == {}
    assert display.text_ == []
    assert ax.get_title() == "No result: a; b"
    display.figure_.draw_without_rendering()
