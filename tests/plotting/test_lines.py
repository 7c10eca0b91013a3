from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from labelfold.plotting.lines import (
    LEAST_GAP,
    choose_scale,
    format_value,
    name_lines,
    place_values,
    start_at_zero,
    wrap_label,
    write_above,
)


@pytest.fixture
def laid_out():
    return Figure(layout="constrained").subplots()


def written(ax):
    """Tick labels that are not empty, after drawing."""
    ax.figure.draw_without_rendering()
    return [label for label in ax.get_xticklabels() if label.get_text()]


# Lines


@pytest.mark.parametrize("limits", [(0, 1), (-3, -1), (0, 50)])
def test_names_keep_apart_and_above_the_lower_edge(ax, limits):
    ax.set_ylim(limits)
    low, size = limits[0], limits[1] - limits[0]
    heights = low + size * np.array([0.5, 0.0, 0.501, 0.0, 0.9])
    texts = name_lines(ax, np.ones((5, 1)), heights[:, None], list("abcde"))
    found = np.array([text.xy[1] for text in texts])
    assert np.diff(np.sort(found)).min() >= LEAST_GAP * size * (1 - 1e-9)
    assert found.min() >= low
    assert found[4] == pytest.approx(heights[4])
    assert found[0] < found[2]  # the order of the lines
    assert np.all(np.abs(found - heights) <= LEAST_GAP * size)


@pytest.mark.parametrize("layout", ["constrained", None])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_titles_stand_above_words_above_the_axes(layout, scale):
    ax = Figure(layout=layout).subplots()
    ax.set_xlim(1, 100)
    ax.set_title("given before")
    words = [write_above(ax, 50, "low", ha="center"), write_above(ax, 50, "high", ha="left", row=1)]
    ax.set_xscale(scale)  # the place is one of the data, whatever the scale
    ax.set_title("given after")
    ax.figure.draw_without_rendering()
    low, high = (text.get_window_extent() for text in words)
    assert ax.get_window_extent().y1 <= low.y0
    assert low.y1 <= high.y0 + 2
    assert high.y1 <= ax.title.get_window_extent().y0
    place = ax.transData.transform((50, 0))[0]
    assert (low.x0 + low.x1) / 2 == pytest.approx(place, abs=2)
    assert high.x0 == pytest.approx(place, abs=2)
    assert ax.title.get_window_extent().y1 <= ax.figure.bbox.y1 or layout is None


# Values


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1, 2, 3], "linear"),
        ([0.1, 1, 10], "log"),
        ([0.07, 7], "log"),  # where 100 times the first is more than the last, by rounding
        ([1, 99], "linear"),
        ([0, 0.1, 1, 10], "side by side"),
        ([0, 1, 2, 3], "linear"),
        (range(0, 501, 5), "linear"),
        ([0, 0], "linear"),
        ([1, np.inf], "side by side"),
        ([1, np.nan], "side by side"),
        ([True, False], "side by side"),
        (["a", 1], "side by side"),
        ([Fraction(1, 3), np.float32(2), np.int8(3)], "linear"),
    ],
)
def test_scales(values, scale):
    assert choose_scale(values) == scale


def test_values_are_written_short():
    values = [10 ** (-1 / 3), 1000001, 12345.0, np.inf, None, True, Fraction(1, 3), "a\n b"]
    words = ["0.4642", "1000001", "12345", "inf", "None", "True", "0.3333", "a b"]
    assert format_value("a" * 40) == "a" * 31 + "…"
    assert [format_value(value) for value in values] == words


@pytest.mark.parametrize(
    "values",
    [
        [f"strategy_{number}" for number in range(12)],
        [PCA(size, svd_solver="randomized", whiten=True) for size in range(1, 13)],
        np.logspace(-4, 1, 13),
    ],
)
def test_a_dozen_names_do_not_overlap_and_are_all_there(laid_out, values):
    places = place_values(laid_out, values, 1)
    laid_out.plot(places[0], np.ones(len(values)))
    labels = written(laid_out)
    assert len(labels) == len(values)
    assert {label.get_rotation() for label in labels} == {45}
    # Parallels: their distance across is that of their ends along the axis times sin 45°.
    along = laid_out.transData.transform(np.c_[places[0], np.ones(len(values))])[:, 0]
    line = labels[0].get_fontsize() * laid_out.figure.dpi / 72
    assert np.diff(along).min() * np.sqrt(0.5) > line


def test_names_of_values_have_room(laid_out):
    place_values(laid_out, ["uniform", "distance"], 1)
    assert [label.get_rotation() for label in written(laid_out)] == [0, 0]
    # Numbers near to each other have a tick and no name.
    place_values(laid_out, [1, 2, 5, 10, 20, 50], 1)
    laid_out.set_xlim(0, 51)
    assert [label.get_text() for label in written(laid_out)] == ["1", "5", "10", "20", "50"]
    assert len(laid_out.get_xticks()) == 6
    # Many numbers have round ticks.
    place_values(laid_out, np.linspace(0.1, 0.9, 50), 1)
    laid_out.set_xlim(0.1, 0.9)
    assert len(written(laid_out)) < 12


def test_lines_stand_beside_each_other(ax):
    np.testing.assert_allclose(place_values(ax, [2, 4], 3), [[1.85, 3.85], [2, 4], [2.15, 4.15]])
    first, second = place_values(ax, [0.01, 1, 100], 2)
    np.testing.assert_allclose(second / first, 10**0.3)


# Errors


@pytest.mark.parametrize("size", [(6.4, 4.8), (3, 2)])
def test_errors_on_zero_have_room_below(size):
    ax = Figure(figsize=size).subplots()
    ax.set_ylim(0, 0.5)
    start_at_zero(ax, np.array([0.0, np.nan]))
    above = ax.transData.transform((0, 0))[1] - ax.get_window_extent().y0
    assert above * 72 / ax.figure.dpi == pytest.approx(8)
    for errors in ([0.2, np.nan], [np.nan]):
        start_at_zero(ax, np.array(errors))
        assert ax.get_ylim() == (0, 0.5)


def test_labels_are_as_long_as_their_axis(ax):
    words = "error, mean of 5 splits with 80% intervals"
    assert wrap_label(ax, words) == words
    assert wrap_label(Figure(figsize=(3, 2)).subplots(), words).count("\n") > 1
