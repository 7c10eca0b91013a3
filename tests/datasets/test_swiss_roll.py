import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import chisquare
from sklearn.neighbors import KNeighborsClassifier

from labelfold.datasets import make_swiss_roll

INNER, OUTER = 1.5 * np.pi, 4.5 * np.pi
LENGTH = 0.5 * (
    OUTER * np.sqrt(1 + OUTER**2)
    + np.arcsinh(OUTER)
    - INNER * np.sqrt(1 + INNER**2)
    - np.arcsinh(INNER)
)


def test_points_lie_on_the_roll_at_their_coordinates():
    X, _, coordinates = make_swiss_roll(2000, random_state=0)
    radius = np.hypot(X[:, 0], X[:, 2])
    np.testing.assert_allclose(X[:, 0], radius * np.cos(radius), atol=1e-10)
    np.testing.assert_allclose(X[:, 2], radius * np.sin(radius), atol=1e-10)
    np.testing.assert_array_equal(X[:, 1], coordinates[:, 1])
    arc_length = 0.5 * (radius * np.sqrt(1 + radius**2) + np.arcsinh(radius))
    start = 0.5 * (INNER * np.sqrt(1 + INNER**2) + np.arcsinh(INNER))
    np.testing.assert_allclose(coordinates[:, 0], arc_length - start, atol=1e-10)


def test_roll_is_an_isometric_image_of_its_coordinates():
    X, _, coordinates = make_swiss_roll(2000, random_state=0)
    on_roll, on_rectangle = cdist(X, X), cdist(coordinates, coordinates)
    # An arc of length s with curvature at most k has a chord of at least s - k^2 s^3 / 24.
    curvature = (INNER**2 + 2) / (1 + INNER**2) ** 1.5
    near = on_rectangle < 2
    assert near.sum() > 20_000
    shortening = (on_rectangle - on_roll)[near]
    assert shortening.min() >= -1e-10
    assert np.all(shortening <= curvature**2 * on_rectangle[near] ** 3 / 24 + 1e-10)


def test_points_are_uniform_in_area():
    _, _, coordinates = make_swiss_roll(20_000, height=10.0, random_state=1)
    extent = [[0, LENGTH], [0, 10]]
    counts, _, _ = np.histogram2d(*coordinates.T, bins=[20, 5], range=extent)
    assert counts.sum() == 20_000
    assert chisquare(counts.ravel()).pvalue > 0.01
    assert coordinates[:, 0].max() > 0.999 * LENGTH


def test_bands_take_turns_with_arc_length():
    _, y, coordinates = make_swiss_roll(3000, n_classes=3, n_bands=7, random_state=0)
    np.testing.assert_array_equal(y, np.floor(coordinates[:, 0] / (LENGTH / 7)).astype(int) % 3)


def test_checkerboard_takes_turns_both_ways():
    _, y, (length, height) = (
        part.T
        for part in make_swiss_roll(
            3000, pattern="checkerboard", n_bands=4, n_rows=3, height=9.0, random_state=0
        )
    )
    column, row = np.floor(length / (LENGTH / 4)), np.floor(height / 3.0)
    np.testing.assert_array_equal(y, (column + row) % 2)


def test_random_labels_are_uniform_and_tell_nothing_about_the_place():
    _, y, coordinates = make_swiss_roll(9000, pattern="random", n_classes=3, random_state=0)
    for third in np.array_split(np.argsort(coordinates[:, 0]), 3):
        assert chisquare(np.bincount(y[third], minlength=3)).pvalue > 0.01


def test_custom_pattern_sees_the_coordinates():
    def above(coordinates):
        return coordinates[:, 1] > 10

    _, y, coordinates = make_swiss_roll(200, pattern=above, random_state=0)
    np.testing.assert_array_equal(y, (coordinates[:, 1] > 10).astype(int))
    assert y.dtype == np.int64


def test_pattern_and_noise_do_not_change_the_draws():
    X, _, coordinates = make_swiss_roll(50, noise=0.1, random_state=3)
    for pattern in ("checkerboard", "random", lambda c: np.zeros(len(c), int)):
        other, _, other_coordinates = make_swiss_roll(
            50, pattern=pattern, noise=0.1, random_state=3
        )
        np.testing.assert_array_equal(other, X)
        np.testing.assert_array_equal(other_coordinates, coordinates)
    clean, labels, clean_coordinates = make_swiss_roll(50, pattern="random", random_state=3)
    _, noisy_labels, _ = make_swiss_roll(50, pattern="random", noise=0.1, random_state=3)
    np.testing.assert_array_equal(clean_coordinates, coordinates)
    np.testing.assert_array_equal(labels, noisy_labels)
    np.testing.assert_allclose(2 * X - clean, make_swiss_roll(50, noise=0.2, random_state=3)[0])


def test_six_bands_are_as_hard_for_three_neighbors_as_the_paper_says():
    # CCDR-2005, Table 1: 3-NN errs on 5.0 % after 300 training points.
    errors = []
    for seed in range(20):
        X, y, _ = make_swiss_roll(800, random_state=seed)
        errors.append(1 - KNeighborsClassifier(3).fit(X[:300], y[:300]).score(X[300:], y[300:]))
    assert 0.045 < np.mean(errors) < 0.055


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_classes": 0}, "n_classes=0 must be an integer of at least 1"),
        ({"n_bands": 0}, "n_bands=0 must be an integer of at least 1"),
        ({"n_rows": -1}, "n_rows=-1 must be an integer of at least 1"),
        ({"n_classes": 7}, "n_classes=7 is more than the 6 classes.*raise n_bands"),
        (
            {"pattern": "checkerboard", "n_classes": 4, "n_bands": 2},
            "n_classes=4 is more than the 3 classes.*n_bands=2 by n_rows=2",
        ),
        ({"height": 0.0}, "height=0.0 must be a number, finite and greater than 0"),
        ({"height": np.inf}, "height=inf must be a number, finite"),
        ({"pattern": "stripes"}, "pattern='stripes' is unknown: give 'bands'"),
        ({"pattern": lambda c: np.zeros(3, int)}, r"shape \(3,\) for 20 points"),
        ({"pattern": lambda c: c[:, 0]}, "values of type float64.*astype"),
        ({"pattern": lambda c: np.full(len(c), -1)}, "returned class -1"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_swiss_roll(20, **arguments)
