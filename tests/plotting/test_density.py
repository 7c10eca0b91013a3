from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.map_artists import (
    DENSITY_THRESHOLD,
    LEAST_CELL_OPACITY,
    DensityGrid,
    count_in_cells,
    shade,
)
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles

GRAY = np.array(to_rgb(UNLABELED_COLOR))


def crowd(n_points=DENSITY_THRESHOLD + 1, seed=0):
    return np.random.default_rng(seed).normal(size=(n_points, 2))


def color(code):
    return np.array(to_rgb(class_styles(8)[code].color))


# Cells


def test_counts_agree_with_a_histogram():
    points = crowd(5000)
    grid = count_in_cells(points, np.full(5000, -1), np.ones(5000), (30, 40))
    left, right, bottom, top = grid.extent
    expected, _, _ = np.histogram2d(
        points[:, 1], points[:, 0], bins=(30, 40), range=[(bottom, top), (left, right)]
    )
    np.testing.assert_array_equal(grid.counts, expected)
    np.testing.assert_array_equal([left, bottom], points.min(axis=0))
    np.testing.assert_array_equal([right, top], points.max(axis=0))


def test_winners_and_shares_agree_with_a_table():
    rng = np.random.default_rng(1)
    points = rng.random((3000, 2))
    codes, votes = rng.integers(-1, 5, 3000), rng.random(3000)
    grid = count_in_cells(points, codes, votes, (4, 6))
    low, high = points.min(axis=0), points.max(axis=0)
    cell = np.minimum(((points - low) / (high - low) * (6, 4)).astype(int), (5, 3))
    for row in range(4):
        for column in range(6):
            here = (cell == (column, row)).all(axis=1)
            sums = [votes[here & (codes == code)].sum() for code in range(5)]
            assert grid.winners[row, column] == np.argmax(sums)
            np.testing.assert_allclose(grid.shares[row, column], max(sums) / here.sum())


def test_the_first_of_equal_classes_wins_and_no_confidence_wins_nothing():
    points = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    grid = count_in_cells(points, np.array([2, 1, 0]), np.ones(3), (2, 2))
    assert grid.winners.tolist() == [[1, -1], [-1, 0]]
    grid = count_in_cells(np.eye(2), np.array([0, 1]), np.zeros(2), (2, 2))
    assert (grid.winners == -1).all()
    assert (grid.shares == 0).all()


@pytest.mark.parametrize("points", [[[3.0, 4.0]] * 5, [[3.0, float(i)] for i in range(5)]])
def test_points_on_a_line_or_all_alike(points):
    grid = count_in_cells(np.array(points), np.full(5, -1), np.ones(5), (7, 9))
    left, right, bottom, top = grid.extent
    assert grid.counts.sum() == 5
    assert left < 3.0 < right
    assert bottom < top


def test_opacity_is_the_rank_of_the_count():
    counts = np.array([[1, 1, 1, 1, 7, 7, 10**6, 0]])
    empty = np.full(counts.shape, -1)
    grid = DensityGrid(counts, empty, np.zeros(counts.shape), (0.0, 1.0, 0.0, 1.0))
    opacities = shade(grid, [])[0, :, 3]
    middle = LEAST_CELL_OPACITY + (1 - LEAST_CELL_OPACITY) * 2 / 3
    np.testing.assert_allclose(opacities, [LEAST_CELL_OPACITY] * 4 + [middle] * 2 + [1.0, 0.0])


# The picture


def test_a_crowd_is_an_image_and_labels_are_points(ax):
    embedding = crowd(DENSITY_THRESHOLD + 10)
    n_points = len(embedding)
    labels = np.where(np.arange(n_points) < 3, 0, -1)
    is_new = np.arange(n_points) >= n_points - 2
    predictions = np.where(np.arange(n_points) % 2, -1, 1)
    predictions[0] = 0
    display = EmbeddingDisplay(
        embedding, labels=labels, predictions=predictions, is_new=is_new
    ).plot(ax)
    assert display.predicted_ is None
    assert display.unlabeled_ is None
    np.testing.assert_array_equal(display.scatter_.get_offsets(), embedding[:3])
    np.testing.assert_array_equal(display.new_.get_offsets(), embedding[-2:])
    assert display.density_counts_.sum() == n_points - 3 - 2
    left, bottom = embedding[3:-2].min(axis=0)
    right, top = embedding[3:-2].max(axis=0)
    assert tuple(display.density_.get_extent()) == (left, right, bottom, top)
    assert display.density_.get_array().shape == (*display.density_counts_.shape, 4)
    assert display.density_.get_zorder() < display.scatter_.get_zorder()
    assert ax.get_aspect() == "auto"


def test_the_image_leaves_margins_and_inverted_axes(ax):
    ax.invert_yaxis()
    display = EmbeddingDisplay(crowd()).plot(ax)
    left, right, bottom, top = display.density_.get_extent()
    ax.figure.draw_without_rendering()
    assert ax.get_xlim()[0] < left < right < ax.get_xlim()[1]
    assert ax.get_ylim()[0] > top > bottom > ax.get_ylim()[1]


@pytest.mark.parametrize(
    ("n_points", "density", "expected"),
    [(50_000, "auto", False), (50_001, "auto", True), (10, True, True), (50_001, False, False)],
)
def test_a_crowd_begins_past_fifty_thousand_unless_asked(ax, n_points, density, expected):
    display = EmbeddingDisplay(crowd(n_points)).plot(ax, density=density)
    assert (display.density_ is not None) == (display.density_counts_ is not None) == expected
    assert (display.unlabeled_ is None) == expected
    if not expected:
        assert display.unlabeled_.get_rasterized() == (n_points > 50_000)


def test_labels_in_the_image_count_whatever_the_confidence(ax):
    embedding = np.tile([[0.0, 0.0], [1.0, 1.0]], (DENSITY_THRESHOLD, 1))
    labels = np.tile([0, 1], DENSITY_THRESHOLD)
    display = EmbeddingDisplay(
        embedding, labels=labels, predictions=labels, confidence=np.zeros(len(labels))
    ).plot(ax)
    np.testing.assert_allclose(display.density_.get_array()[0, 0, :3], color(0), atol=1 / 255)
    np.testing.assert_allclose(display.density_.get_array()[-1, -1, :3], color(1), atol=1 / 255)


def test_unsure_predictions_fade_to_gray_in_the_image(ax):
    embedding = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    display = EmbeddingDisplay(embedding, predictions=[0, 1, -1], confidence=[1.0, 0.25, 1.0])
    pixels = display.plot(ax, density=True).density_.get_array()
    np.testing.assert_allclose(pixels[0, 0, :3], color(0), atol=1 / 255)
    np.testing.assert_allclose(pixels[-1, -1, :3], 0.25 * color(1) + 0.75 * GRAY, atol=1 / 255)
    np.testing.assert_allclose(pixels[-1, 0, :3], GRAY, atol=1 / 255)  # no prediction at all


@pytest.mark.parametrize("components", [(0,), (0, 1, 2)])
def test_no_image_for_a_strip_or_in_space(components):
    embedding = np.random.default_rng(0).normal(size=(DENSITY_THRESHOLD + 1, 3))
    projection = "3d" if len(components) == 3 else None
    ax = Figure().add_subplot(projection=projection)
    display = EmbeddingDisplay(embedding, components=components).plot(ax, density=True)
    assert display.density_ is None
    assert display.unlabeled_.get_rasterized()


@pytest.mark.parametrize("density", ["always", None])
def test_wrong_density(ax, density):
    with pytest.raises(ValueError, match=r"density=.* must be True, False or 'auto'"):
        EmbeddingDisplay(np.eye(2)).plot(ax, density=density)
