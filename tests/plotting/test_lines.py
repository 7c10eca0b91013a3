from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from labelfold.plotting.lines import LEAST_GAP, line_styles, name_ends, shifts_of
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


def test_names_have_the_markers_of_their_lines():
    ax = Figure().subplots()
    styles = line_styles(2)
    texts = name_ends(ax, [0.2, 0.8], ["a$", "b"], styles)
    assert [line.get_marker() for line in ax.get_lines()] == [style.marker for style in styles]
    assert [line.get_ydata()[0] for line in ax.get_lines()] == [text.xy[1] for text in texts]
    assert not texts[0].get_parse_math()
    ax.figure.draw_without_rendering()
