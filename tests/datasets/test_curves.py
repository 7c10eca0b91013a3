import numpy as np
import pytest
from scipy.stats import binomtest, kstest

from labelfold.datasets import (
    make_closed_curve,
    make_concentric_circles,
    make_intertwined_curves,
)


def spiral_length(angle):
    return 0.5 * (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle))


@pytest.mark.parametrize("n_turns", [0.5, 1.5, 3])
def test_intertwined_curves_lie_on_two_spirals_at_their_arc_length(n_turns):
    X, y, coordinates = make_intertwined_curves(500, n_turns=n_turns, random_state=0)
    radius = np.hypot(*X.T)
    angle = radius + np.pi * y
    np.testing.assert_allclose(X[:, 0], radius * np.cos(angle), atol=1e-10)
    np.testing.assert_allclose(X[:, 1], radius * np.sin(angle), atol=1e-10)
    start = spiral_length(np.pi / 2)
    np.testing.assert_allclose(coordinates[:, 0], spiral_length(radius) - start, atol=1e-10)
    assert radius.min() >= np.pi / 2 - 1e-10
    assert radius.max() <= np.pi / 2 + 2 * np.pi * n_turns + 1e-10


def test_intertwined_curves_are_uniform_in_arc_length():
    _, y, coordinates = make_intertwined_curves(4000, random_state=0)
    length = spiral_length(3.5 * np.pi) - spiral_length(np.pi / 2)
    for curve in (0, 1):
        assert kstest(coordinates[y == curve, 0] / length, "uniform").pvalue > 0.01


def test_closed_curve_is_uniform_in_arc_length_and_halved_by_the_classes():
    _, y, coordinates = make_closed_curve(4000, n_half_turns=3, width=0.3, random_state=0)
    length = np.pi * (2 * 9 + 0.3)
    assert kstest(coordinates[:, 0] / length, "uniform").pvalue > 0.01
    np.testing.assert_array_equal(y, coordinates[:, 0] >= length / 2)
    assert binomtest(int(y.sum()), 4000).pvalue > 0.01


def test_closed_curve_neighbors_along_it_are_neighbors_in_the_plane():
    X, _, coordinates = make_closed_curve(5000, random_state=0)
    order = np.argsort(coordinates[:, 0])
    chords = np.linalg.norm(np.diff(X[order], axis=0), axis=1)
    arcs = np.diff(coordinates[order, 0])
    assert np.all(chords <= arcs + 1e-12)
    # The tightest bends of the default curve have radius 1/4: chord >= s - s^3 / (24 r^2).
    assert np.all(chords >= arcs - arcs**3 * 16 / 24 - 1e-12)


def test_circles_have_their_radius_and_angle():
    X, y, coordinates = make_concentric_circles(300, n_classes=3, gap=0.5, random_state=0)
    np.testing.assert_allclose(np.hypot(*X.T), 1 + 0.5 * y)
    np.testing.assert_array_equal(coordinates[:, 1], 1 + 0.5 * y)
    np.testing.assert_allclose(np.arctan2(X[:, 1], X[:, 0]) % (2 * np.pi), coordinates[:, 0])


def test_circles_are_uniform_in_angle():
    _, y, coordinates = make_concentric_circles(4000, random_state=0)
    for circle in (0, 1):
        assert kstest(coordinates[y == circle, 0] / (2 * np.pi), "uniform").pvalue > 0.01


@pytest.mark.parametrize(("n_samples", "counts"), [(2, [1, 1]), (7, [4, 3]), (100, [50, 50])])
@pytest.mark.parametrize("make", [make_intertwined_curves, make_concentric_circles])
def test_classes_are_balanced(make, n_samples, counts):
    _, y, _ = make(n_samples, random_state=0)
    assert np.bincount(y).tolist() == counts


def test_rows_are_in_random_order():
    # Folds taken in row order must hold all classes.
    _, y, _ = make_concentric_circles(300, n_classes=3, random_state=0)
    assert all(set(fold) == {0, 1, 2} for fold in np.array_split(y, 10))


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (make_intertwined_curves, {"n_samples": 1}, "n_samples=1 must be an integer of at least 2"),
        (
            make_intertwined_curves,
            {"n_turns": 0},
            "n_turns=0 must be a number, finite and greater than 0",
        ),
        (make_closed_curve, {"n_half_turns": 0}, "n_half_turns=0 must be an integer of at least 1"),
        (make_closed_curve, {"width": 1.0}, "width=1.0 must be .*greater than 0 and less than 1"),
        (make_closed_curve, {"width": 0.0}, "width=0.0 must be .*greater than 0 and less than 1"),
        (
            make_concentric_circles,
            {"n_samples": 2, "n_classes": 3},
            "n_samples=2 must be an integer of at least 3: every class needs a point",
        ),
        (make_concentric_circles, {"n_classes": 0}, "n_classes=0 must be an integer of at least 1"),
        (
            make_concentric_circles,
            {"gap": -1.0},
            "gap=-1.0 must be a number, finite and greater than 0",
        ),
    ],
)
def test_bad_arguments(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)
