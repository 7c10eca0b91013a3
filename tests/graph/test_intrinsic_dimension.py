"""The k-NN graph's length: its equations, and the dimension and entropy that its growth shows."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.special import beta as beta_function
from scipy.special import gammaln
from sklearn.utils import check_random_state

from labelfold import IntrinsicDimension
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import FewNeighborsWarning
from labelfold.graph import largest_class_dimension
from labelfold.graph.graph_length import (
    GrowthPlan,
    dimension_of_slope,
    flat_log_length,
    graph_lengths,
    log_slope,
    measure_growth,
    sphere_log_length,
)
from labelfold.graph.neighbor_index import ExactIndex
from labelfold.graph.point_space import PointSpace

PLAN = GrowthPlan(n_neighbors=4, edge_power=1.0, n_sizes=3, n_resamples=3, max_size=5000)
SIZES = np.array([400.0, 200.0, 100.0])


def sphere(dimension, n, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, dimension + 1))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def cube(dimension, n, seed=0):
    return np.random.default_rng(seed).random((n, dimension))


def fitted(X, y=None, **parameters):
    return IntrinsicDimension(**{"random_state": 0, "n_resamples": 4, **parameters}).fit(X, y)


def points_index(X):
    return ExactIndex(X, PointSpace("euclidean"))


# The length and its laws


def test_length_of_the_whole_graph():
    X = cube(3, 60)
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    expected = np.sum(np.sort(D, axis=1)[:, :3] ** 0.7, axis=1)
    np.testing.assert_allclose(graph_lengths(points_index(X), 3, 0.7), expected)
    in_units = graph_lengths(points_index(X), 3, 0.7, unit=10.0)
    np.testing.assert_allclose(in_units, expected / 10**0.7)
    model = fitted(X, n_neighbors=3, edge_power=0.7)
    assert model.lengths_[0] == pytest.approx(np.sum(expected))
    np.testing.assert_array_equal(model.sizes_, [60, 30, 15])


def test_slope_is_that_of_least_squares():
    logs = np.random.default_rng(0).random((5, 3))
    expected = [np.polyfit(np.log(SIZES), row, 1)[0] for row in logs]
    np.testing.assert_allclose(log_slope(SIZES, logs), expected)


@pytest.mark.parametrize("edge_power", [0.5, 1.0, 2.0])
def test_slope_of_the_limit_gives_the_dimension(edge_power):
    plan = GrowthPlan(4, edge_power, 3, 3, 5000)
    dimensions = np.array([1.0, 2.0, 3.5, 20.0])
    slopes = (dimensions - edge_power) / dimensions
    found = dimension_of_slope(slopes, SIZES, plan, calibrate=False)
    np.testing.assert_allclose(found, dimensions)


@pytest.mark.parametrize("edge_power", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("dimension", [1.0, 2.7, 8.0, 40.0])
def test_calibration_gives_a_sphere_its_dimension(edge_power, dimension):
    plan = GrowthPlan(3, edge_power, 3, 3, 5000)
    logs = np.array([sphere_log_length(dimension, size, 3, edge_power) for size in SIZES])
    slopes = np.array([log_slope(SIZES, logs)])
    found = dimension_of_slope(slopes, SIZES, plan, calibrate=True)
    assert found[0] == pytest.approx(dimension, rel=2e-3)


@pytest.mark.parametrize("calibrate", [True, False])
def test_dimension_rises_with_the_slope_up_to_infinity(calibrate):
    slopes = np.array([-9.0, -3.0, -0.5, 0.0, 0.5, 0.9, 0.99, 1.0, 1.2])
    found = dimension_of_slope(slopes, SIZES, PLAN, calibrate=calibrate)
    finite = np.isfinite(found)
    assert (found > 0).all()
    assert (np.diff(found[finite]) > 0).all()
    assert np.isinf(found[-2:]).all()
    unknown = dimension_of_slope(np.array([np.nan]), SIZES, PLAN, calibrate=calibrate)
    assert np.isnan(unknown).all()


def test_constants_of_the_limit():
    # A Poisson process of rate n has its j-th neighbor on the line at j / (2 n) on average, and
    # in the plane its first at 1 / (2 sqrt n) and its second at 3 / (4 sqrt n).
    assert flat_log_length(1, 50, 1, 1.0) == pytest.approx(np.log(1 / 2))
    assert flat_log_length(1, 50, 3, 1.0) == pytest.approx(np.log((1 + 2 + 3) / 2))
    assert flat_log_length(2, 49, 1, 1.0) == pytest.approx(np.log(7 * 0.5))
    assert flat_log_length(2, 49, 2, 1.0) == pytest.approx(np.log(7 * (0.5 + 0.75)))


def test_expected_length_on_the_sphere_in_space():
    # There a quarter of the squared chord is uniform, and the least of n - 1 of them Beta(1, n - 1)
    n = 40
    expected = n * 2 * beta_function(1.5, n - 1) / beta_function(1, n - 1)
    assert sphere_log_length(2, n, 1, 1.0) == pytest.approx(np.log(expected), abs=1e-4)


@pytest.mark.parametrize("dimension", [1, 3, 6])
def test_expected_length_on_spheres_is_what_draws_have(dimension):
    draws = [graph_lengths(points_index(sphere(dimension, 25, s)), 3, 1.3) for s in range(60)]
    mean = np.log(np.mean(np.sum(draws, axis=1)))
    assert sphere_log_length(dimension, 25, 3, 1.3) == pytest.approx(mean, abs=0.03)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_large_spheres_are_flat(dimension):
    log_area = np.log(2) + (dimension + 1) / 2 * np.log(np.pi) - gammaln((dimension + 1) / 2)
    flat = flat_log_length(dimension, 1e9, 4, 0.8) + 0.8 / dimension * log_area
    assert sphere_log_length(dimension, 1e9, 4, 0.8) == pytest.approx(flat, abs=1e-3)


# Samples


@pytest.mark.parametrize(
    ("n_points", "max_size", "depths"),
    [
        (10, 5000, [0, 1]),
        (19, 5000, [0, 1]),
        (20, 5000, [0, 1, 2]),
        (39, 5000, [0, 1, 2]),
        (40, 5000, [0, 1, 2, 3]),
        (5000, 5000, [0, 1, 2, 3]),
        (5001, 5000, [1, 2, 3, 4]),
        (81, 40, [2, 3, 4]),
    ],
)
def test_points_are_halved_while_parts_have_their_neighbors(n_points, max_size, depths):
    plan = GrowthPlan(n_neighbors=4, edge_power=1.0, n_sizes=3, n_resamples=3, max_size=max_size)
    assert plan.depths(n_points) == depths


def test_sizes_see_every_point_and_the_largest_is_bounded():
    growth = measure_growth(
        points_index(cube(2, 390)), GrowthPlan(4, 1.0, 3, 2, max_size=100), seed=0
    )
    np.testing.assert_array_equal(growth.sizes, 390 / np.array([4, 8, 16]))
    assert growth.of_points.shape == (3, 390)
    assert (growth.of_points > 0).all()
    assert (np.diff(growth.of_points.mean(axis=1)) > 0).all()
    assert growth.slope == pytest.approx(log_slope(growth.sizes, growth.log_lengths))


def test_spread_is_that_of_other_draws():
    plan = GrowthPlan(4, 1.0, 3, n_resamples=2, max_size=5000)
    growths = [measure_growth(points_index(sphere(3, 100, s)), plan, seed=s) for s in range(20)]
    among_draws = np.std([growth.slope for growth in growths])
    assert 0.9 < np.mean([growth.spread for growth in growths]) / among_draws < 1.8


# Dimension and entropy


@pytest.mark.parametrize(
    ("X", "dimension", "tolerance"),
    [
        pytest.param(cube(1, 400) @ [[1.0, 2.0, 3.0]], 1, 0.06, id="line"),
        pytest.param(sphere(1, 400), 1, 0.06, id="circle"),
        pytest.param(cube(2, 600), 2, 0.15, id="square"),
        pytest.param(sphere(2, 600), 2, 0.15, id="sphere"),
        pytest.param(cube(3, 600), 3, 0.3, id="cube"),
        pytest.param(sphere(6, 600), 6, 0.4, id="sphere of 6"),
        pytest.param(sphere(8, 1000), 8, 0.6, id="sphere of 8"),
        pytest.param(cube(6, 1000), 6, 0.8, id="cube of 6"),
        pytest.param(make_swiss_roll(1000, random_state=0)[0], 2, 0.2, id="Swiss roll"),
        pytest.param(make_swiss_roll(1000, noise=0.2, random_state=0)[0], 2, 0.3, id="noisy"),
    ],
)
def test_dimension(X, dimension, tolerance):
    model = fitted(X)
    assert model.dimension_ == pytest.approx(dimension, abs=tolerance)
    assert model.interval_[0] < model.dimension_ < model.interval_[1]
    assert np.diff(model.interval_) < 0.2 * dimension


def test_interval_is_that_of_a_normal_slope_at_80_percent():
    X = cube(2, 60)
    model = fitted(X, calibrate=False)
    seed = check_random_state(0).randint(2**31 - 1)
    growth = measure_growth(points_index(X), GrowthPlan(4, 1.0, 3, 4, 5000), seed=seed)
    assert model.dimension_ == pytest.approx(1 / (1 - growth.slope))
    ends = growth.slope + 1.2815515655446004 * growth.spread * np.array([-1, 1])
    np.testing.assert_allclose(model.interval_, 1 / (1 - ends))


def test_without_calibration_high_dimensions_come_out_low():
    X = sphere(8, 600)
    low = fitted(X, calibrate=False)
    a = np.polyfit(np.log(low.sizes_), np.log(low.lengths_), 1)[0]
    assert low.dimension_ == pytest.approx(1 / (1 - a))
    assert low.dimension_ < 7.6 < fitted(X).dimension_


@pytest.mark.parametrize("calibrate", [True, False])
@pytest.mark.parametrize(
    ("X", "edge_power", "entropy"),
    [
        pytest.param(sphere(1, 500), 0.5, np.log(2 * np.pi), id="circle"),
        pytest.param(3 * sphere(2, 800), 1.0, np.log(4 * np.pi * 9), id="sphere"),
        pytest.param(cube(2, 800), 1.0, 0.0, id="square"),
        pytest.param(
            # of order 1/2: log 2 pi + log(1/2) / (1/2 - 1)
            np.random.default_rng(0).normal(size=(2000, 2)),
            1.0,
            np.log(2 * np.pi) + 2 * np.log(2),
            id="Gaussian",
        ),
    ],
)
def test_entropy(X, edge_power, entropy, calibrate):
    model = fitted(X, edge_power=edge_power, calibrate=calibrate, n_resamples=1)
    assert model.entropy_ == pytest.approx(entropy, abs=0.12)


def test_scale_and_rigid_motion():
    X = np.hstack([cube(3, 200), np.zeros((200, 2))])
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    plain, moved = fitted(X), fitted(7 * X @ turn + 3)
    assert round(plain.dimension_) == 3
    assert moved.dimension_ == pytest.approx(plain.dimension_)
    np.testing.assert_allclose(moved.interval_, plain.interval_)
    assert moved.entropy_ == pytest.approx(plain.entropy_ + 3 * np.log(7))


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_powers_of_very_small_and_large_distances(scale):
    X = cube(2, 100)
    assert fitted(scale * X, edge_power=3.0).dimension_ == pytest.approx(
        fitted(X, edge_power=3.0).dimension_
    )


def test_seed_decides_and_threads_do_not():
    X, y = cube(8, 50), np.arange(50) % 2
    first, second = (fitted(X, y, n_jobs=n_jobs, n_resamples=1) for n_jobs in (1, 2))
    assert first.dimension_ == second.dimension_
    np.testing.assert_array_equal(first.class_dimensions_, second.class_dimensions_)
    np.testing.assert_array_equal(first.interval_, second.interval_)
    assert fitted(X, random_state=1, n_resamples=1).dimension_ != first.dimension_
    assert fitted(X, random_state=None, n_resamples=1).dimension_ == first.dimension_


# Classes


def test_a_class_is_estimated_as_if_alone():
    X = np.vstack([np.hstack([cube(1, 80), np.zeros((80, 2))]), 5 + cube(3, 120), cube(3, 50)])
    y = np.repeat(["line", "cube", None], [80, 120, 50])
    order = np.random.default_rng(0).permutation(250)
    X, y = X[order], y[order]
    model = fitted(X, y)
    assert model.classes_.tolist() == ["cube", "line"]
    for k, name in enumerate(model.classes_):
        alone = fitted(X[y == name])
        assert model.class_dimensions_[k] == alone.dimension_
        np.testing.assert_array_equal(model.class_intervals_[k], alone.interval_)
    assert model.dimension_ == fitted(X).dimension_
    np.testing.assert_allclose(model.class_dimensions_, [3, 1], atol=0.5)


def test_small_classes_are_named_and_unknown():
    X = cube(2, 100)
    y = np.repeat(["few", "many", "twins"], [19, 56, 25])
    X[80:] = X[79]
    with pytest.warns(FewNeighborsWarning, match=r"20 distinct .* 'few' \(19\), 'twins' \(5\)"):
        model = fitted(X, y)
    np.testing.assert_array_equal(np.isnan(model.class_dimensions_), [True, False, True])
    np.testing.assert_array_equal(np.isnan(model.class_intervals_[:, 0]), [True, False, True])


def test_equal_rows_of_two_classes_count_in_both():
    X = cube(2, 60)
    y = np.repeat([0, 1], 60)
    model = fitted(np.vstack([X, X]), y)
    alone = fitted(X).dimension_
    assert model.class_dimensions_.tolist() == [alone, alone]
    assert model.dimension_ == alone


def test_without_labels_there_are_no_classes():
    for y in (None, np.full(50, -1)):
        model = fitted(cube(2, 50), y)
        assert model.classes_.shape == model.class_dimensions_.shape == (0,)
        assert model.class_intervals_.shape == (0, 2)


def test_largest_class_dimension():
    X = np.vstack([np.hstack([cube(1, 100), np.zeros((100, 3))]), sphere(3, 200), cube(4, 10)])
    y = np.repeat([0, 1, 2], [100, 200, 10])
    with pytest.warns(FewNeighborsWarning, match=r"2 \(10\)"):
        largest = largest_class_dimension(X, y, random_state=0)
    assert (largest, type(largest)) == (3, int)
    with (
        pytest.warns(FewNeighborsWarning),
        pytest.raises(ValueError, match=r"classes \[2\] .* label more rows"),
    ):
        largest_class_dimension(X[300:], y[300:])
    with pytest.raises(ValueError, match="at least one is needed"):
        largest_class_dimension(X, np.full(310, None))


# Around points


def test_dimension_around_points():
    line = np.hstack([cube(1, 150), np.zeros((150, 2))])
    solid = 3 + cube(3, 450)
    model = fitted(np.vstack([line, solid]), local_size=30)
    assert model.local_dimensions_.shape == (600,)
    assert np.median(model.local_dimensions_[:150]) == pytest.approx(1, abs=0.15)
    assert np.median(model.local_dimensions_[150:]) == pytest.approx(3, abs=0.4)
    assert np.mean(model.local_dimensions_[:150] > 1.7) < 0.02
    assert np.mean(model.local_dimensions_[150:] < 1.7) < 0.02


def test_around_points_with_all_points_is_the_dimension():
    X = cube(3, 90)
    model = fitted(X, local_size=90)
    np.testing.assert_allclose(model.local_dimensions_, model.dimension_)
    assert not hasattr(model.set_params(local_size=None).fit(X), "local_dimensions_")


def test_equal_rows_have_equal_local_dimensions():
    X = cube(2, 60)
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(60), 2))
    model = fitted(X[rows], local_size=20)
    for row in range(60):
        assert len(set(model.local_dimensions_[rows == row].tolist())) == 1
    first = np.unique(rows, return_index=True)[1]
    alone = fitted(X[rows[np.sort(first)]], local_size=20)
    np.testing.assert_array_equal(model.local_dimensions_[np.sort(first)], alone.local_dimensions_)


# Kinds of input


def test_equal_rows_count_once():
    X = cube(3, 80)
    repeated = fitted(np.repeat(X, 3, axis=0))
    assert repeated.dimension_ == fitted(X).dimension_
    assert repeated.entropy_ == fitted(X).entropy_
    D = cdist(X, X)
    D = np.repeat(np.repeat(D, 3, axis=0), 3, axis=1)
    assert fitted(D, metric="precomputed").dimension_ == pytest.approx(repeated.dimension_)


def test_sparse_is_dense_however_it_is_stored():
    X = cube(4, 90) * (cube(4, 90, seed=1) < 0.7)
    X[60:] = X[:30]
    stored = sp.csr_array(X)
    row, column, values = np.repeat(np.arange(90), 4), np.tile([3, 1, 0, 2], 90), X[:, [3, 1, 0, 2]]
    loose = sp.csr_array((values.ravel(), column, np.arange(0, 361, 4)), shape=(90, 4))
    assert loose.nnz == len(row) > stored.nnz
    expected = fitted(X).dimension_
    assert fitted(stored).dimension_ == pytest.approx(expected)
    mixed = sp.vstack([stored[:60], loose[60:]], format="csr")
    assert fitted(mixed).dimension_ == pytest.approx(expected)


def test_precomputed_distances():
    X, y = cube(3, 80), np.arange(80) % 2
    D = cdist(X, X)
    plain, given = fitted(X, y), fitted(D, y, metric="precomputed")
    assert given.dimension_ == pytest.approx(plain.dimension_)
    np.testing.assert_allclose(given.class_dimensions_, plain.class_dimensions_)
    with pytest.raises(ValueError, match="pass the full matrix as a dense array"):
        fitted(sp.csr_array(D), metric="precomputed")
    with pytest.raises(ValueError, match="square"):
        fitted(D[:, :40], metric="precomputed")


def test_other_metrics_and_squared_distances_do_not_halve_the_dimension():
    assert fitted(cube(2, 150), metric="manhattan").dimension_ == pytest.approx(2, abs=0.3)
    X = sphere(2, 200)
    plain = fitted(X, local_size=20)
    away = X * np.random.default_rng(1).uniform(1, 9, size=(200, 1))
    for rows, metric in ((X, "sqeuclidean"), (away, "cosine"), (sp.csr_array(away), "cosine")):
        model = fitted(rows, metric=metric, local_size=20)
        assert model.dimension_ == pytest.approx(plain.dimension_)
        assert model.entropy_ == pytest.approx(plain.entropy_)
        np.testing.assert_allclose(model.local_dimensions_, plain.local_dimensions_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"edge_power": 0},
            "edge_power=0 must be a number, finite and at least 0.01 and at most 256",
        ),
        ({"edge_power": np.nan}, "edge_power=nan must be a number, finite"),
        ({"edge_power": "1"}, "edge_power='1' must be"),
        ({"n_neighbors": 0}, "n_neighbors=0 must be an integer of at least 1"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5 must be an integer"),
        ({"n_neighbors": 50}, "n_neighbors=50 needs at least 102 rows, got 50: lower n_neigh"),
        ({"n_neighbors": 25}, "n_neighbors=25 needs at least 52 rows, got 50"),
        ({"n_sizes": 1}, "n_sizes=1 must be an integer of at least 2"),
        ({"n_resamples": 0}, "n_resamples=0 must be an integer of at least 1"),
        ({"max_size": 39}, r"max_size=39 must be .* at least 40 = 8 \(n_neighbors \+ 1\)"),
        ({"local_size": 1}, "local_size=1 must be an integer of at least 2"),
        ({"local_size": 51}, "local_size=51 is more than the 50 rows"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(cube(2, 50), **parameters)


def test_points_without_a_dimension():
    with pytest.raises(ValueError, match="All 30 rows of X are equal"):
        fitted(np.ones((30, 2)))
    with pytest.raises(ValueError, match="at least 10 distinct rows, got 6"):
        fitted(np.repeat(cube(2, 6), 5, axis=0))
    with pytest.raises(ValueError, match="distance 0 from each other"):
        fitted(cube(1, 30), metric=lambda a, b: 0.0)


def test_few_points_have_no_interval():
    with pytest.warns(FewNeighborsWarning, match="no interval_ for fewer than 20"):
        model = fitted(cube(1, 19))
    assert np.isfinite(model.dimension_)
    assert np.isnan(model.interval_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(fitted(cube(1, 20)).interval_).all()


def test_corners_of_a_simplex_have_no_finite_dimension():
    with pytest.warns(UserWarning, match="dimension_ is infinite"):
        model = fitted(np.eye(64))
    assert model.dimension_ == np.inf
    assert np.isnan(model.entropy_)
    with pytest.raises(ValueError, match="no largest"):
        largest_class_dimension(np.eye(64), np.zeros(64))


def test_progress_is_shown(capsys):
    fitted(cube(2, 40), np.repeat(["a", "b"], 20), verbose=1)
    shown = capsys.readouterr().err
    assert "graph lengths" in shown
    assert "graph lengths of class b" in shown
