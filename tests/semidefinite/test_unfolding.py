"""Unfoldings as users meet them: rolls, closed forms, degenerate data, new rows, certificates."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsTransformer

from labelfold import (
    FurthestNeighborUnfolding,
    ManifoldClassifier,
    MaximumVarianceUnfolding,
)
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import DisconnectedGraphWarning
from labelfold.extend.local_average import LocalAverage
from labelfold.extend.regression import KernelRegression
from labelfold.labels import hide_labels
from labelfold.semidefinite.unfolder import gap_dimension

BOTH = pytest.mark.parametrize("method", [MaximumVarianceUnfolding, FurthestNeighborUnfolding])


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(500, random_state=0)


@pytest.fixture(scope="module")
def fitted(roll):
    return MaximumVarianceUnfolding(n_neighbors=7, rank=4, random_state=0).fit(roll[0])


def correlations(map_, coordinates):
    """Of arc length and height with the map, after the best rotation."""
    A, B = map_ - map_.mean(axis=0), coordinates - coordinates.mean(axis=0)
    U, _, Vt = np.linalg.svd(A.T @ B)
    turned = A @ U[:, :2] @ Vt[:2] if A.shape[1] > 2 else A @ U @ Vt
    return [np.corrcoef(turned[:, k], B[:, k])[0, 1] for k in range(2)]


class TestRoll:
    @BOTH
    def test_is_unrolled(self, method, roll):
        X, _, coordinates = roll
        model = method(n_neighbors=7, rank=4, random_state=0).fit(X)
        assert min(correlations(model.embedding_, coordinates)) > 0.99
        assert correlations(PCA(2).fit_transform(X), coordinates)[0] < 0.9
        assert model.certificate_.ok
        assert model.certificate_.gap < 0.14

    def test_two_eigenvalues_stand_out(self, fitted):
        spectrum = fitted.spectrum_
        assert np.all(np.diff(spectrum) <= 0)
        assert spectrum[1] > 10 * spectrum[2]
        assert gap_dimension(spectrum) == 2

    def test_spectrum_and_factor_belong_together(self, fitted):
        R = fitted.gram_factor_
        K = (R - R.mean(axis=0)) @ (R - R.mean(axis=0)).T
        top = np.linalg.eigvalsh(K)[::-1][: len(fitted.spectrum_)]
        assert top == pytest.approx(fitted.spectrum_, rel=1e-6)
        assert np.array_equal(fitted.embedding_, R[:, :2])
        assert pytest.approx(np.diag(fitted.spectrum_), abs=1e-6 * fitted.spectrum_[0]) == R.T @ R

    def test_the_certificate_is_about_this_map(self, fitted, roll):
        graph, R = fitted.graph_, fitted.gram_factor_
        entries = sp.coo_array(graph.distances)
        q = np.sum((R[entries.row] - R[entries.col]) ** 2, axis=1)
        d = entries.data**2
        errors = fitted.certificate_.errors
        assert errors.rms_squared == pytest.approx(np.linalg.norm(q - d) / np.linalg.norm(d))
        assert errors.largest_squared == pytest.approx(np.max(np.abs(q - d) / d))
        assert fitted.certificate_.objective == pytest.approx(np.sum((R - R.mean(axis=0)) ** 2))

    def test_furthest_points_are_what_is_pulled(self, roll):
        X = roll[0][:200]
        model = FurthestNeighborUnfolding(rank=4, random_state=0).fit(X)
        furthest = np.argmax(np.linalg.norm(X[:, None] - X[None], axis=2), axis=1)
        R = model.gram_factor_
        assert model.certificate_.objective == pytest.approx(np.sum((R - R[furthest]) ** 2))

    def test_local_angles_keep_more_distances(self, roll):
        X = roll[0][:200]
        plain, angles = (
            MaximumVarianceUnfolding(local_angles=yes, rank=4, random_state=0).fit(X)
            for yes in (False, True)
        )
        assert angles.certificate_.objective < plain.certificate_.objective
        assert angles.certificate_.bound < plain.certificate_.bound * 1.01


class TestClosedForms:
    @BOTH
    def test_points_along_a_curve_become_a_line(self, method):
        t = np.linspace(0, 4, 40)
        X = np.column_stack([np.cos(t), np.sin(t)])
        model = method(1, n_neighbors=1, tol=1e-6, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            model.fit(X)
        lengths = np.linalg.norm(np.diff(X, axis=0), axis=1)
        x = np.concatenate([[0], np.cumsum(lengths)])
        y = model.embedding_[:, 0]
        assert abs(np.corrcoef(x, y)[0, 1]) == pytest.approx(1, abs=1e-8)
        assert np.ptp(y) == pytest.approx(x[-1], rel=1e-4)

    @BOTH
    def test_all_pairs_give_pca(self, method):
        X = np.random.default_rng(0).standard_normal((25, 3)) * [3, 2, 1]
        model = method(3, n_neighbors=24, tol=1e-5, random_state=0).fit(X)
        expected = PCA(3).fit_transform(X)
        assert np.abs(model.embedding_) == pytest.approx(np.abs(expected), abs=2e-3)
        assert model.spectrum_[:3] == pytest.approx(np.sum(expected**2, axis=0), rel=1e-3)

    def test_conic_and_low_rank_agree(self):
        X, _, _ = make_swiss_roll(60, height=10, random_state=0)
        low = MaximumVarianceUnfolding(n_neighbors=4, tol=1e-4, random_state=0).fit(X)
        convex = MaximumVarianceUnfolding(n_neighbors=4, solver="conic").fit(X)
        assert convex.certificate_.ok
        assert abs(convex.certificate_.gap) < 1e-4
        assert low.certificate_.objective == pytest.approx(convex.certificate_.objective, rel=1e-2)
        assert np.abs(np.corrcoef(low.embedding_[:, 0], convex.embedding_[:, 0])[0, 1]) > 0.99


class TestDegenerate:
    def test_equal_rows_get_equal_coordinates(self):
        X = np.random.default_rng(0).standard_normal((40, 3))
        model = MaximumVarianceUnfolding(n_neighbors=8, random_state=0).fit(np.vstack([X, X, X]))
        assert np.array_equal(model.embedding_[:40], model.embedding_[40:80])
        assert model.certificate_.ok

    def test_two_components_are_bridged_with_a_warning(self):
        X = np.random.default_rng(0).standard_normal((30, 2))
        with pytest.warns(DisconnectedGraphWarning, match="2 separate components"):
            model = MaximumVarianceUnfolding(random_state=0).fit(np.vstack([X, X + 100]))
        assert len(model.graph_.bridges) == 1
        assert model.certificate_.ok

    def test_a_rank_too_low_is_reported(self):
        X = np.random.default_rng(0).standard_normal((30, 3))
        with pytest.warns(ConvergenceWarning, match=r"NOT converged .* Remedy: raise"):
            model = MaximumVarianceUnfolding(1, rank=1, max_iter=600, random_state=0).fit(X)
        assert not model.certificate_.ok
        assert np.isfinite(model.embedding_).all()

    FAR = 1e6 * np.random.default_rng(0).standard_normal((150, 7))  # violates everything

    @pytest.mark.parametrize("start", ["data", "geodesic", "random", FAR])
    def test_every_start(self, start):
        X, _, _ = make_swiss_roll(150, height=10, random_state=0)
        model = MaximumVarianceUnfolding(init=start, rank=4, random_state=0).fit(X)
        reference = MaximumVarianceUnfolding(rank=4, random_state=0).fit(X)
        assert model.certificate_.ok
        assert model.certificate_.objective == pytest.approx(
            reference.certificate_.objective, rel=0.02
        )

    def test_impossible_distances_are_proved_so(self):
        rng = np.random.default_rng(0)
        distances = sp.csr_array(np.triu(rng.uniform(0.1, 10, (12, 12)), 1))
        distances = distances + distances.T
        with pytest.warns(ConvergenceWarning, match="no embedding keeps these distances"):
            MaximumVarianceUnfolding(
                metric="precomputed", n_neighbors=11, max_iter=2000, random_state=0
            ).fit(distances)


class TestParameters:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_components": 3, "rank": 2}, "rank=2 must be an integer of at least 3 .*'auto'"),
            ({"rank": "many"}, "rank='many'"),
            ({"solver": "newton"}, "solver='newton' is unknown: use one of"),
            ({"init": "zero"}, "init='zero' is unknown: use one of"),
            ({"init": np.zeros((3, 2))}, r"init of shape \(3, 2\)"),
            ({"init": np.full((20, 3), np.nan)}, "must be finite coordinates"),
            ({"tol": 0.0}, "tol=0.0 must be a number, finite and greater than 0 and less than 1"),
            ({"tol": "small"}, "tol='small'"),
            ({"rank": True}, "rank=True"),
            ({"max_iter": 0}, "max_iter=0 must be an integer of at least 1"),
        ],
    )
    def test_wrong_ones_are_named(self, parameters, message):
        X = np.random.default_rng(0).standard_normal((20, 3))
        with pytest.raises(ValueError, match=message):
            MaximumVarianceUnfolding(**parameters).fit(X)

    def test_conic_has_a_size_limit(self):
        X = np.random.default_rng(0).standard_normal((500, 2))
        with pytest.raises(ValueError, match='use solver="lowrank"'):
            MaximumVarianceUnfolding(solver="conic").fit(X)

    def test_progress_on_stderr(self, roll, capsys):
        MaximumVarianceUnfolding(rank=4, verbose=1, random_state=0).fit(roll[0][:100])
        assert "objective" in capsys.readouterr().err


class TestHonesty:
    def test_one_far_point_does_not_hide_what_happens_to_the_others(self):
        X = np.random.default_rng(0).standard_normal((100, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MaximumVarianceUnfolding(random_state=0, max_iter=5000).fit(
                np.vstack([X, X[:1] + 1e4])
            )
        R, entries = model.gram_factor_, sp.coo_array(model.graph_.distances)
        q = np.sum((R[entries.row] - R[entries.col]) ** 2, axis=1)
        errors = np.abs(q / entries.data**2 - 1)
        assert model.certificate_.ok == (np.median(errors) <= 1e-3)
        assert model.certificate_.errors.median_squared == pytest.approx(np.median(errors))

    def test_stopped_early_it_keeps_its_dimensions_and_has_a_bound(self):
        X, _, _ = make_swiss_roll(300, random_state=0)
        with pytest.warns(ConvergenceWarning, match="stopped by iterations"):
            model = MaximumVarianceUnfolding(max_iter=60, random_state=0).fit(X)
        assert np.all(model.embedding_.std(axis=0) > 0)
        assert np.isfinite(model.certificate_.bound)

    def test_what_the_caller_does_to_x_afterwards_does_not_matter(self, roll):
        X = roll[0][:150].copy()
        model = MaximumVarianceUnfolding(rank=4, random_state=0).fit(X)
        expected = pickle.loads(pickle.dumps(model)).transform(roll[0][200:203])
        X[:] = X[::-1] * 3
        assert np.array_equal(model.transform(roll[0][200:203]), expected)


class TestNewPoints:
    def test_close_to_where_a_joint_map_has_them(self, roll):
        X, _, coordinates = roll
        model = MaximumVarianceUnfolding(n_neighbors=7, rank=4, random_state=0).fit(X[:400])
        A = np.column_stack([model.embedding_, np.ones(400)])
        affine = np.linalg.lstsq(A, coordinates[:400], rcond=None)[0]
        found = np.column_stack([model.transform(X[400:]), np.ones(100)]) @ affine
        error = np.median(np.linalg.norm(found - coordinates[400:], axis=1))
        spacing = np.median(np.sqrt(model.graph_.distances.data.mean()))
        assert error < spacing
        assert isinstance(model.extension_, KernelRegression)

    def test_precomputed_distances(self, roll):
        X = roll[0]
        search = KNeighborsTransformer(mode="distance", n_neighbors=7).fit(X[:200])
        model = MaximumVarianceUnfolding(
            n_neighbors=7, rank=4, metric="precomputed", random_state=0
        ).fit(search.transform(X[:200]))
        rows = MaximumVarianceUnfolding(n_neighbors=7, rank=4, random_state=0).fit(X[:200])
        assert model.certificate_.objective == pytest.approx(rows.certificate_.objective, rel=1e-3)
        placed = model.transform(search.transform(X[200:220]))
        assert placed.shape == (20, 2)
        assert isinstance(model.extension_, LocalAverage)


def test_classifies_with_few_labels(roll):
    X, y, _ = roll
    partial = hide_labels(y, np.arange(100))
    model = ManifoldClassifier(
        MaximumVarianceUnfolding(n_neighbors=7, rank=4, random_state=0), head="knn"
    ).fit(X, partial)
    assert np.mean(model.transduction_[100:] == y[100:]) > 0.85


@pytest.mark.parametrize(
    ("spectrum", "dimension"),
    [
        ([100.0, 50.0, 0.1, 0.05], 2),
        ([100.0, 0.1, 0.09, 0.08], 1),
        ([100.0, 3.6, 0.25, 0.2], 2),  # a long strip
        ([100.0, 90.0, 80.0], 3),
        ([100.0, 1e-9, 1e-20], 1),
        ([5.0], 1),
        ([0.0, 0.0], 1),
    ],
)
def test_gap_dimension(spectrum, dimension):
    assert gap_dimension(np.array(spectrum)) == dimension
