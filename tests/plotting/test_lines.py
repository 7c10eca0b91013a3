from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from labelfold.plotting.lines import (
    LEAST_GAP,
    draw_errors,
    line_styles,
    name_ends,
    reach_of,
    shifts_of,
    write_above,
)
from labelfold.plotting.palette import OKABE_ITO


def test_the_first_eight_differ_in_colour_and_in_shape():
    styles = line_styles(8)
    assert [style.color for style in styles] == list(OKABE_ITO)
    assert len({style.marker for style in styles}) == 8


def test_pairs_of_colour_and_shape_stay_unique():
    assert len({(style.color, style.marker) for style in line_styles(64)}) == 64


def test_shifts_are_about_the_middle():
    np.testing.assert_allclose(shifts_of(3, 0.5), [-0.25, 0, 0.25])
    np.testing.assert_array_equal(shifts_of(1, 0.5), [0])


@pytest.mark.parametrize("limits", [(0, 1), (-3, -1), (0, 50)])
def test_names_keep_apart_and_above_the_lower_edge(limits):
    ax = Figure().subplots()
    ax.set_ylim(limits)
    low, size = limits[0], limits[1] - limits[0]
    heights = low + size * np.array([0.5, 0.0, 0.501, 0.0, 0.9])
    texts = name_ends(ax, heights, list("abcde"), line_styles(5))
    found = np.array([text.xy[1] for text in texts])
    assert np.diff(np.sort(found)).min() >= LEAST_GAP * size * (1 - 1e-9)
    assert found.min() >= low
    assert found[4] == pytest.approx(heights[4])
    assert found[0] < found[2]  # the order of the lines
    assert np.all(np.abs(found - heights) <= LEAST_GAP * size)


def test_names_of_lines_on_zero_stay_above_the_room_for_markers():
    ax = Figure().subplots()
    ax.set_ylim(-0.1, 1)
    texts = name_ends(ax, [0.0, 0.0], ["a", "b"], line_styles(2))
    assert min(text.xy[1] for text in texts) == 0


def test_intervals_reach_from_the_errors():
    errors, lows, highs = np.array([0.2, 0.3]), np.array([0.1, np.nan]), np.array([0.5, 0.25])
    np.testing.assert_allclose(reach_of(errors, lows, highs), [[0.1, 0.0], [0.3, 0.0]])


def test_lines_are_drawn_from_left_to_right():
    ax = Figure().subplots()
    reach = np.array([[0.1, 0.2], [0.1, 0.2]])
    style = line_styles(1)[0]
    places, errors = np.array([2.0, 1.0]), np.array([0.5, 0.6])
    bars = draw_errors(ax, places, errors, reach, style, {"ls": ":"}, joined=True)
    np.testing.assert_array_equal(bars.lines[0].get_xydata(), [[1, 0.6], [2, 0.5]])
    ends = [segment[:, 1] for segment in bars.lines[2][0].get_segments()]
    np.testing.assert_allclose(ends, [[0.4, 0.8], [0.4, 0.6]])
    assert bars.lines[0].get_linestyle() == ":"
    assert bars.lines[2][0].get_alpha() < 1


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


def test_names_have_the_markers_of_their_lines():
    ax = Figure().subplots()
    styles = line_styles(2)
    texts = name_ends(ax, [0.2, 0.8], ["a$", "b"], styles)
    assert [line.get_marker() for line in ax.get_lines()] == [style.marker for style in styles]
    assert [line.get_ydata()[0] for line in ax.get_lines()] == [text.xy[1] for text in texts]
    assert not texts[0].get_parse_math()
    ax.figure.draw_without_rendering()
