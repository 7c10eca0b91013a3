"""Extensions to new rows against refitting, scikit-learn's kernel ridge, and each other."""

import dataclasses
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.stats import ortho_group
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsRegressor, NearestNeighbors
from sklearn.preprocessing import normalize

from labelfold import NeighborGraph
from labelfold.datasets import make_swiss_roll
from labelfold.extend import regression
from labelfold.extend.local_average import LocalAverage
from labelfold.extend.regression import RIDGES, KernelRegression
from labelfold.threads import limit_threads


def rows_and_targets(n=40, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    Y = np.column_stack([np.sin(X[:, 0]) + X[:, 1], X[:, 1] * X[:, 2], np.abs(X[:, 0])])
    return X, Y + 5


def new_rows(n=25, n_features=3):
    return np.random.default_rng(99).standard_normal((n, n_features))


def kernel_ridge(X, Y, new, scale, ridge):
    mean = Y.mean(axis=0)
    return mean + KernelRidge(alpha=ridge, kernel="rbf", gamma=1 / scale).fit(X, Y - mean).predict(
        new
    )


def left_out_error(X, Y, scale, ridge, groups=None):
    """Refit without every row, or every group of equal rows; the mean stays."""
    groups = np.arange(len(X)) if groups is None else groups
    mean, squares = Y.mean(axis=0), 0.0
    for group in np.unique(groups):
        rest, out = groups != group, groups == group
        model = KernelRidge(alpha=ridge, kernel="rbf", gamma=1 / scale)
        predicted = mean + model.fit(X[rest], Y[rest] - mean).predict(X[out][:1])
        squares += out.sum() * np.sum((predicted - Y[out].mean(axis=0)) ** 2)
    return squares


def rms(a, b):
    return float(np.sqrt(np.mean(np.sum((a - b) ** 2, axis=1))))


@pytest.fixture
def few_landmarks(monkeypatch):
    """Set how many rows choose the scale, are fitted exactly, and are landmarks of more."""

    def limit(n_compared, n_exact, n_landmarks):
        monkeypatch.setattr(regression, "N_COMPARED", n_compared)
        monkeypatch.setattr(regression, "N_EXACT", n_exact)
        monkeypatch.setattr(regression, "N_LANDMARKS", n_landmarks)

    return limit


@pytest.fixture(scope="module")
def roll():
    X, _, coordinates = make_swiss_roll(800, random_state=1)
    return X[:500], coordinates[:500], X[500:], coordinates[500:]


@pytest.fixture(scope="module")
def unrolled(roll):
    return KernelRegression.fit(roll[0], roll[1])


class TestEquations:
    @pytest.mark.parametrize("ridge", [1e-6, 1e-2, 5.0])
    @pytest.mark.parametrize("scale", [0.3, 20.0])
    def test_equals_scikit_learns_kernel_ridge_and_its_refits(self, scale, ridge):
        X, Y = rows_and_targets()
        fit = KernelRegression.fit(X + 7, Y, scale=scale, ridge=ridge)
        expected = kernel_ridge(X, Y, new_rows(), scale, ridge)
        assert fit.predict(new_rows() + 7) == pytest.approx(expected, abs=1e-8)
        assert (fit.scale, fit.ridge) == (pytest.approx(scale), ridge)
        spread = np.sum((Y - Y.mean(axis=0)) ** 2)
        expected = np.sqrt(left_out_error(X, Y, scale, ridge) / spread)
        assert fit.leave_one_out_error == pytest.approx(expected, rel=1e-6)

    def test_left_out_error_with_landmarks_is_that_of_refits(self, few_landmarks):
        few_landmarks(10, 20, 12)
        X, Y = rows_and_targets()
        fit = KernelRegression.fit(X, Y, scale=2.0, ridge=0.05)
        landmarks = np.asarray(fit.rows) * fit.frame.unit + fit.frame.center
        K = np.exp(-cdist(X, landmarks, "sqeuclidean") / 2)
        own = np.exp(-cdist(landmarks, landmarks, "sqeuclidean") / 2)
        mean, squares = Y.mean(axis=0), 0.0
        for i in range(len(X)):
            rest = np.arange(len(X)) != i
            normal = K[rest].T @ K[rest] + 0.05 * own
            a = np.linalg.solve(normal, K[rest].T @ (Y - mean)[rest])
            squares += np.sum((mean + K[i] @ a - Y[i]) ** 2)
        expected = np.sqrt(squares / np.sum((Y - mean) ** 2))
        assert fit.n_landmarks == 12
        assert fit.leave_one_out_error == pytest.approx(expected, rel=1e-8)
        a = np.linalg.solve(K.T @ K + 0.05 * own, K.T @ (Y - mean))
        expected = mean + np.exp(-cdist(new_rows(), landmarks, "sqeuclidean") / 2) @ a
        assert fit.predict(new_rows()) == pytest.approx(expected, abs=1e-8)

    def test_takes_the_least_error_of_all_scales_and_ridges(self):
        X, Y = rows_and_targets()
        fit = KernelRegression.fit(X, Y)
        errors = [
            KernelRegression.fit(X, Y, scale=scale, ridge=ridge).leave_one_out_error
            for scale in fit.compared[:, 0]
            for ridge in RIDGES
        ]
        assert fit.leave_one_out_error == pytest.approx(min(errors), rel=1e-6)
        assert fit.leave_one_out_error == pytest.approx(fit.compared[:, 2].min(), rel=1e-6)

    def test_scales_reach_from_the_nearest_row_past_the_usual_distance(self):
        X, Y = rows_and_targets()
        D = cdist(X, X, "sqeuclidean")
        scales = KernelRegression.fit(X, Y).compared[:, 0]
        nearest = np.median(np.sort(D, axis=1)[:, 1])
        assert scales[-1] == pytest.approx(nearest)
        assert scales[0] == pytest.approx(4 * np.median(D[D > 0]))
        assert np.all(scales[:-1] / scales[1:] < 3.01)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_all_points_as_landmarks_is_exact(self, weighted):
        X, Y = rows_and_targets(60)
        roots = np.sqrt(1 + np.arange(60) % 3)[:, None] if weighted else np.ones((60, 1))
        # One more row that carries no kernel and has no weight leaves m = n - 1 on the long way.
        K = np.exp(-cdist(X, X, "sqeuclidean") / 2)
        longer = np.vstack([K, np.ones(60)])
        exact = regression._Spectrum.from_kernel(K, roots, roots * Y)
        spanned = regression._Spectrum.from_kernel(
            longer, np.append(roots, [[0.0]], axis=0), np.vstack([roots * Y, np.zeros(3)])
        )
        for ridge in (1e-4, 1.0):
            assert K @ spanned.coefficients(ridge) == pytest.approx(
                K @ exact.coefficients(ridge), abs=1e-8
            )
            errors = [s.choose(np.array([ridge]))[1] for s in (exact, spanned)]
            assert errors[0] == pytest.approx(errors[1], rel=1e-6)


class TestQuality:
    def test_unrolls_held_out_points(self, roll, unrolled):
        X, Y, X_new, Y_new = roll
        nearest = np.median(NearestNeighbors(n_neighbors=1).fit(X).kneighbors()[0])
        error = rms(unrolled.predict(X_new), Y_new)
        by_neighbors = rms(
            KNeighborsRegressor(5, weights="distance").fit(X, Y).predict(X_new), Y_new
        )
        assert error < 0.01 * nearest
        assert error < 0.01 * by_neighbors

    def test_the_left_out_error_is_near_the_held_out_one(self, roll, unrolled):
        held_out = rms(unrolled.predict(roll[2]), roll[3]) / rms(roll[1], roll[1].mean(axis=0))
        assert 0.4 < unrolled.leave_one_out_error / held_out < 2.5

    def test_few_landmarks_lose_little(self, roll, unrolled, few_landmarks):
        few_landmarks(150, 400, 250)
        few = KernelRegression.fit(roll[0], roll[1])
        assert few.n_landmarks == 250
        assert rms(few.predict(roll[2]), roll[3]) < 2 * rms(unrolled.predict(roll[2]), roll[3])
        assert "250 landmarks" in str(few)
        assert "landmarks" not in str(unrolled)

    def test_the_seed_fixes_the_landmarks(self, roll, few_landmarks):
        few_landmarks(100, 200, 100)
        X, Y, X_new, _ = roll
        once, again, other = (
            KernelRegression.fit(X, Y, seed=seed).predict(X_new) for seed in (3, 3, 4)
        )
        assert np.array_equal(once, again)
        assert not np.allclose(once, other)

    def test_batch_equals_one_by_one_and_chunks(self, roll, unrolled, monkeypatch):
        X_new = roll[2][:50]
        whole = unrolled.predict(X_new)
        one_by_one = np.vstack([unrolled.predict(X_new[[i]]) for i in range(50)])
        assert one_by_one == pytest.approx(whole, abs=1e-9)
        monkeypatch.setattr(regression, "ENTRIES_AT_ONCE", 3500)
        assert unrolled.predict(X_new) == pytest.approx(whole, abs=1e-9)

    def test_the_number_of_threads_does_not_matter(self, roll, unrolled):
        maps = []
        for n_jobs in (1, 2):
            with limit_threads(n_jobs):
                fit = KernelRegression.fit(roll[0][:250], roll[1][:250], scale=unrolled.scale)
            maps.append(fit.predict(roll[2]))
        assert maps[0] == pytest.approx(maps[1], abs=1e-8)

    def test_noise_does_not_make_rounding_show(self, few_landmarks):
        few_landmarks(150, 400, 250)
        X, _, Y = make_swiss_roll(700, noise=0.5, random_state=1)
        fit = KernelRegression.fit(X[:600], Y[:600])
        one_by_one = np.vstack([fit.predict(X[[i]]) for i in range(600, 700)])
        assert one_by_one == pytest.approx(fit.predict(X[600:]), abs=1e-10 * np.ptp(Y))

    def test_long_coefficients_are_avoided_unless_asked_for(self, roll, unrolled, monkeypatch):
        monkeypatch.setattr(regression, "LONGEST", 50.0)
        X, Y = roll[0][:150], roll[1][:150]
        length = 50 * np.max(np.abs(Y - Y.mean(axis=0)))
        assert np.linalg.norm(KernelRegression.fit(X, Y).coefficients) <= length
        given = KernelRegression.fit(X, Y, scale=unrolled.scale, ridge=1e-6)
        assert np.linalg.norm(given.coefficients) > length

    def test_noise_gets_a_larger_ridge(self):
        X, Y = rows_and_targets(150)
        noise = np.random.default_rng(1).standard_normal(Y.shape)
        smooth, noisy = KernelRegression.fit(X, Y[:, :2]), KernelRegression.fit(X, Y + noise)
        assert noisy.ridge > 30 * smooth.ridge
        assert noisy.leave_one_out_error > 0.5
        assert KernelRegression.fit(X, noise).leave_one_out_error == pytest.approx(1, abs=0.1)


class TestInvariance:
    @pytest.mark.parametrize("n_features", [3, 40])
    def test_rigid_motion_and_order_of_rows(self, n_features):
        X, Y = rows_and_targets(n_features=n_features)
        new = new_rows(n_features=n_features)
        fit, order = KernelRegression.fit(X, Y), np.random.default_rng(0).permutation(len(X))
        found = KernelRegression.fit(X[order], Y[order]).predict(new)
        assert found == pytest.approx(fit.predict(new), abs=1e-8)
        Q = ortho_group.rvs(n_features, random_state=0)
        moved = KernelRegression.fit(X @ Q + 1e5, Y)
        assert moved.scale == pytest.approx(fit.scale)
        assert moved.ridge == fit.ridge
        assert moved.predict(new @ Q + 1e5) == pytest.approx(fit.predict(new), abs=1e-6)

    def test_rigid_motion_and_unit_of_targets(self):
        X, Y = rows_and_targets()
        Q = ortho_group.rvs(3, random_state=0) * 1e-30
        fit, moved = KernelRegression.fit(X, Y), KernelRegression.fit(X, Y @ Q + 2e-30)
        assert moved.leave_one_out_error == pytest.approx(fit.leave_one_out_error)
        found = (moved.predict(new_rows()) - 2e-30) @ Q.T * 1e60
        assert found == pytest.approx(fit.predict(new_rows()), abs=1e-7)

    @pytest.mark.parametrize("unit", [1e-100, 1e-9, 1e9, 1e100])
    def test_unit_of_rows(self, unit):
        X, Y = rows_and_targets()
        fit, other = KernelRegression.fit(X, Y), KernelRegression.fit(X * unit, Y)
        assert other.scale / unit / unit == pytest.approx(fit.scale)
        assert other.predict(new_rows() * unit) == pytest.approx(fit.predict(new_rows()), abs=1e-7)

    def test_sparse_is_dense(self):
        X, Y = rows_and_targets(80, n_features=60)
        X[np.abs(X) < 0.8] = 0
        new = new_rows(n_features=60)
        new[np.abs(new) < 0.8] = 0
        dense, sparse = KernelRegression.fit(X, Y), KernelRegression.fit(sp.csr_matrix(X), Y)
        assert sparse.scale == pytest.approx(dense.scale)
        expected = kernel_ridge(X, Y, new, dense.scale, dense.ridge)
        for fit in (dense, sparse):
            assert fit.predict(new) == pytest.approx(expected, abs=1e-8)
            assert fit.predict(sp.csr_array(new)) == pytest.approx(expected, abs=1e-8)

    def test_cosine_takes_rows_at_unit_length(self):
        X, Y = rows_and_targets()
        lengths = np.random.default_rng(0).uniform(0.1, 10, size=(len(X), 1))
        expected = KernelRegression.fit(normalize(X), Y).predict(normalize(new_rows()))
        found = KernelRegression.fit(X * lengths, Y, metric="cosine").predict(3 * new_rows())
        assert found == pytest.approx(expected, abs=1e-8)


class TestDegenerate:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize("n_compared", [10, 500])
    def test_equal_rows_weigh_by_their_number_and_do_not_predict_each_other(
        self, kind, n_compared, monkeypatch
    ):
        monkeypatch.setattr(regression, "N_COMPARED", n_compared)
        X, Y = rows_and_targets(30)
        groups = np.concatenate([np.arange(30), np.arange(12), np.zeros(5, dtype=int)])
        shift = np.random.default_rng(0).standard_normal((len(groups), 3))
        X, Y = X[groups], Y[groups] + shift
        fit = KernelRegression.fit(kind(X), Y, scale=2.0, ridge=0.01)
        expected = kernel_ridge(X, Y, new_rows(), 2.0, 0.01)
        assert fit.predict(kind(new_rows())) == pytest.approx(expected, abs=1e-8)
        assert (fit.n_landmarks, fit.n_samples) == (30, 47)
        means = np.array([Y[groups == g].mean(axis=0) for g in groups])
        spread = np.sum((means - Y.mean(axis=0)) ** 2)
        expected = np.sqrt(left_out_error(X, Y, 2.0, 0.01, groups) / spread)
        assert fit.leave_one_out_error == pytest.approx(expected, rel=1e-6)

    def test_zeros_of_both_signs_are_equal(self):
        fit = KernelRegression.fit(np.array([[0.0, 1], [-0.0, 1], [2, 1]]), np.eye(3))
        assert fit.n_landmarks == 2
        explicit = sp.csr_array((np.array([0.0, 1, 1, 2]), ([0, 0, 1, 2], [0, 1, 1, 0])))
        assert KernelRegression.fit(explicit, np.eye(3)).n_landmarks == 2

    @pytest.mark.parametrize("n", [1, 4])
    def test_one_distinct_row(self, n):
        Y = np.arange(2.0 * n).reshape(n, 2)
        fit = KernelRegression.fit(np.ones((n, 3)), Y)
        assert fit.predict(new_rows()) == pytest.approx(np.tile(Y.mean(axis=0), (25, 1)))

    def test_constant_targets(self):
        fit = KernelRegression.fit(rows_and_targets()[0], np.full((40, 2), 0.1))
        assert np.all(fit.predict(new_rows()) == 0.1)
        assert fit.leave_one_out_error == 0

    def test_two_rows_are_joined_and_three_have_an_answer(self):
        fit = KernelRegression.fit(np.array([[0.0], [2.0]]), np.array([[-1.0], [1.0]]))
        path = fit.predict(np.linspace(0, 2, 9)[:, None]).ravel()
        assert path[[0, 4, 8]] == pytest.approx([-1, 0, 1], abs=0.01)
        assert np.all(np.diff(path) > 0)
        assert np.all(np.isfinite(KernelRegression.fit(np.eye(3), np.eye(3)).predict(np.eye(3))))

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize("n_features", [3, 40])
    @pytest.mark.parametrize("unit", [1e-100, 1.0])
    def test_far_from_all_rows_is_the_mean(self, kind, n_features, unit):
        X, Y = rows_and_targets(n_features=n_features)
        far = kind(np.full((2, n_features), [[1e150], [-1e150]]))
        fit = KernelRegression.fit(kind(X * unit), Y)
        assert fit.predict(far) == pytest.approx(np.tile(Y.mean(axis=0), (2, 1)))

    def test_an_outlier_takes_no_digits_from_the_others(self):
        X, Y = rows_and_targets()
        X[0] = 1e60
        fit = KernelRegression.fit(X, Y, scale=2.0, ridge=0.01)
        K, new = (np.exp(-cdist(rows, X, "sqeuclidean") / 2) for rows in (X, new_rows()))
        a = np.linalg.solve(K + 0.01 * np.eye(40), Y - Y.mean(axis=0))
        expected = Y.mean(axis=0) + new @ a
        assert fit.predict(new_rows()) == pytest.approx(expected, abs=1e-8)

    def test_wrong_arguments_are_named(self):
        X, Y = rows_and_targets()
        with pytest.raises(ValueError, match="ridge=0 must be positive"):
            KernelRegression.fit(X, Y, ridge=0)
        with pytest.raises(ValueError, match="scale=nan must be positive"):
            KernelRegression.fit(X, Y, scale=np.nan)
        with pytest.raises(ValueError, match="one row for each of X's 40"):
            KernelRegression.fit(X, Y[:-1])
        with pytest.raises(ValueError, match="metric='manhattan' has no kernel"):
            KernelRegression.fit(X, Y, metric="manhattan")


class TestLocalAverage:
    @pytest.mark.parametrize("metric", ["manhattan", "precomputed"])
    def test_beats_the_plain_mean_of_neighbors(self, roll, metric):
        X, Y, X_new, Y_new = roll
        given, new = (X, X_new)
        if metric == "precomputed":
            given, new = cdist(X, X), cdist(X_new, X)
        graph = NeighborGraph.build(given, n_neighbors=12, metric=metric)
        fit = LocalAverage.fit(graph.index.neighbors(12), Y)
        found = graph.distances_to(new)
        plain = dataclasses.replace(fit, width=np.inf)
        error = rms(fit.predict(found), Y_new)
        assert error < 0.8 * rms(plain.predict(found), Y_new)
        relative = error / rms(Y, Y.mean(axis=0))
        assert fit.leave_one_out_error == pytest.approx(relative, rel=0.4)
        one_by_one = np.vstack([fit.predict(found[[i]]) for i in range(20)])
        assert np.array_equal(one_by_one, fit.predict(found)[:20])

    def test_left_out_error_is_over_rows_that_are_not_equal(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((30, 2))
        X[1] = X[0]
        Y = rng.standard_normal((30, 2))
        distances = NeighborGraph.build(X, n_neighbors=6).index.neighbors(6)
        assert np.any(distances.data == 0)
        fit = LocalAverage.fit(distances, Y)
        squares = 0.0
        for i in range(30):
            row = distances[[i]]
            near, d = row.indices[row.data > 0], row.data[row.data > 0]
            w = np.exp(-(d**2) / (fit.width * np.mean(d**2)))
            squares += np.sum((w @ Y[near] / w.sum() - Y[i]) ** 2)
        expected = np.sqrt(squares / np.sum((Y - Y.mean(axis=0)) ** 2))
        assert fit.leave_one_out_error == pytest.approx(expected)

    def test_rows_without_neighbors_do_not_count(self):
        distances = sp.csr_array(np.array([[0, 1.0, 0], [1.0, 0, 0], [0, 0, 0]]))
        fit = LocalAverage.fit(distances, np.array([[0.0], [1.0], [9.0]]))
        assert np.isfinite(fit.leave_one_out_error)
        nobody = LocalAverage.fit(sp.csr_array((3, 3)), np.eye(3))
        assert np.isnan(nobody.leave_one_out_error)

    @pytest.mark.parametrize("unit", [0.0, 1e-100, 1e100])
    def test_extreme_distances(self, unit):
        Y = np.array([[0.0], [1.0], [5.0]])
        found = sp.csr_array((unit * np.array([1.0, 1.0]), ([0, 0], [0, 1])), shape=(1, 3))
        assert LocalAverage(Y, 0.5, 0.0).predict(found) == pytest.approx(np.array([[0.5]]))


class TestValues:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_pickles_and_is_read_only(self, kind):
        X, Y = rows_and_targets()
        given = Y.copy()
        fit = KernelRegression.fit(kind(X), Y)
        again = pickle.loads(pickle.dumps(fit))
        assert np.array_equal(again.predict(new_rows()), fit.predict(new_rows()))
        for one in (fit, again):
            stored = one.rows.data if sp.issparse(one.rows) else one.rows
            for array in (stored, one.coefficients, one.mean, one.compared):
                assert not array.flags.writeable
        with pytest.raises(dataclasses.FrozenInstanceError):
            fit.scale = 2.0
        X += 1
        Y[:] = 0
        assert np.array_equal(again.predict(new_rows()), fit.predict(new_rows()))
        average = LocalAverage.fit(sp.csr_array(np.ones((40, 40))), given)
        assert given.flags.writeable
        assert not pickle.loads(pickle.dumps(average)).coordinates.flags.writeable

    def test_say_how_good_they_are(self):
        X, Y = rows_and_targets()
        fit = KernelRegression.fit(X, Y, scale=2.0, ridge=0.01)
        percent = f"{100 * fit.leave_one_out_error:.2g}"
        assert str(fit) == f"kernel regression: scale 2, ridge 0.01, left-out error {percent} %"
        assert str(LocalAverage(Y, 0.5, 0.123)) == "local average: width 0.5, left-out error 12 %"
