"""Supervised semidefinite embedding: closed forms, another solver, limits, and odd labels."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from labelfold import (
    ManifoldClassifier,
    MaximumVarianceUnfolding,
    SupervisedSemidefiniteEmbedding,
    hide_labels,
)
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import DisconnectedGraphWarning, FewNeighborsWarning
from labelfold.solvers.lowrank import solve_lowrank
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread

pytestmark = pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewNeighborsWarning")


def fit(X, y, **settings):
    return SupervisedSemidefiniteEmbedding(**{"random_state": 0, **settings}).fit(X, y)


@pytest.fixture(scope="module")
def clouds():
    """Three classes that overlap, and new rows of them."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 5)) + 1.5 * rng.normal(size=(3, 5))[y]
    return X[:60], y[:60], X[60:], y[60:]


class TestClosedForms:
    @pytest.mark.parametrize("spread", [1.0, 3.0])
    def test_single_points_of_a_class_move_apart_as_far_as_they_may(self, spread):
        X = np.array([[0.0, 0], [4, 0], [1, 3]])
        model = fit(X, ["a", "b", "c"], class_spread=spread, tol=1e-6)
        np.testing.assert_allclose(pdist(model.gram_factor_), spread * pdist(X), rtol=1e-4)

    @pytest.mark.parametrize("spread", [1.0, 2.0])
    def test_two_rods_end_up_in_line(self, spread):
        X = np.array([[0.0, 0], [0, 1], [3, 0], [3, 2]])  # of two points the first is the medoid
        model = fit(X, [0, 0, 1, 1], class_spread=spread, n_components=1, tol=1e-6)
        place = model.embedding_[:, 0]
        place = (place - place[0]) * np.sign(place[2] - place[0])
        apart = spread * np.linalg.norm([3, 0.5])  # the means are (0, 0.5) and (3, 1)
        np.testing.assert_allclose(place, [0, -1, apart, apart + 2], atol=1e-3)

    def test_medoids_may_always_be_as_far_apart_as_they_are(self):
        X = np.array([[0.0, 0], [0, 1], [3, 0], [3, 2]])
        model = fit(X, [0, 0, 1, 1], class_spread=0.01, n_components=1, tol=1e-6)
        place = np.abs(model.embedding_[:, 0] - model.embedding_[0, 0])
        np.testing.assert_allclose(place, [0, 1, 3, 5], atol=1e-3)
        np.testing.assert_allclose(model.spectrum_[1:], 0, atol=1e-3)

    def test_a_class_of_one_is_a_point_that_only_caps_hold(self, clouds):
        X, y = clouds[0], np.where(np.arange(60) == 7, 1, 0)
        model = fit(X, y, class_spread=2.0)
        a, b = model.medoids_
        assert b == 7
        apart = np.linalg.norm(model.gram_factor_[a] - model.gram_factor_[b])
        rest = np.delete(X, 7, axis=0).mean(axis=0)
        farthest = max(2 * np.linalg.norm(rest - X[b]), np.linalg.norm(X[a] - X[b]))
        np.testing.assert_allclose(apart, farthest, rtol=1e-3)


class TestTheProgram:
    @pytest.mark.parametrize("spread", [1.0, 4.0])
    def test_agrees_with_the_conic_solver(self, clouds, spread):
        X, y = clouds[0][:30], clouds[1][:30]
        settings = {"class_spread": spread, "n_neighbors": 3, "n_components": 5}
        found, exact = fit(X, y, **settings), fit(X, y, solver="conic", **settings)
        assert found.certificate_.ok
        assert found.certificate_.objective == pytest.approx(exact.certificate_.objective, rel=3e-3)
        # Beyond the plane of the medoids, how a class is turned about its own is not determined.
        np.testing.assert_allclose(found.spectrum_[:2], exact.spectrum_[:2], rtol=2e-3)

    def test_distances_are_kept_within_classes_and_bounded_between_medoids(self, clouds):
        X, y = clouds[:2]
        model = fit(X, y, class_spread=3.0)
        D, kept = cdist(X, X), cdist(model.gram_factor_, model.gram_factor_)
        i, j = model.edges_.T
        assert np.all(y[i] == y[j])
        squares = kept[i, j] ** 2 - D[i, j] ** 2
        assert np.linalg.norm(squares) <= 1e-3 * np.linalg.norm(D[i, j] ** 2)
        pairs = np.triu_indices(3, 1)
        a, b = (model.medoids_[ends] for ends in pairs)
        means = np.array([X[y == c].mean(axis=0) for c in range(3)])
        caps = np.maximum(3 * cdist(means, means)[pairs], D[a, b])
        assert np.all(kept[a, b] <= caps * (1 + 1e-3))
        assert np.any(kept[a, b] >= caps * (1 - 1e-3))

    def test_the_data_satisfy_all_constraints_but_are_not_as_wide(self, clouds):
        X, y = clouds[:2]
        model = fit(X, y, class_spread=1.0)
        variance = float(np.sum((X - X.mean(axis=0)) ** 2))
        assert variance < model.certificate_.objective <= model.certificate_.bound * (1 + 1e-3)
        assert model.certificate_.gap < 0.05

    def test_without_caps_there_is_no_maximum(self, clouds):
        X, y = clouds[:2]
        edges = fit(X, y).edges_
        squares = np.sum((X[edges[:, 0]] - X[edges[:, 1]]) ** 2, axis=1)
        printed = DistanceProblem(60, edges, squares, Spread(variance=1.0))
        with pytest.raises(ValueError, match="3 connected components, which can be moved apart"):
            solve_lowrank(printed, X)

    def test_a_huge_spread_leaves_only_the_class_to_be_seen(self, clouds):
        X, y = clouds[:2]
        R = fit(X, y, class_spread=1000.0, tol=1e-4).gram_factor_
        centers = np.array([R[y == c].mean(axis=0) for c in range(3)])
        assert np.sum((R - centers[y]) ** 2) < 1e-4 * np.sum(R**2)
        assert np.sum(R[:, 2:] ** 2) < 1e-4 * np.sum(R**2)  # three classes span a plane

    def test_a_long_cap_does_not_hide_errors_of_edges(self, clouds):
        X, y = clouds[:2]
        model = fit(X, y, class_spread=1000.0)
        i, j = model.edges_.T
        d = np.sum((X[i] - X[j]) ** 2, axis=1)
        q = np.sum((model.gram_factor_[i] - model.gram_factor_[j]) ** 2, axis=1)
        error = np.linalg.norm(q - d) / np.linalg.norm(d)
        assert error <= 1e-3
        assert model.certificate_.errors.rms_squared >= error * (1 - 1e-9)


class TestLabels:
    @pytest.mark.parametrize(
        ("y", "n_classes"),
        [(None, 0), (np.full(60, -1), 0), ([None] * 60, 0), (np.full(60, "one"), 1)],
    )
    def test_without_two_classes_it_is_maximum_variance_unfolding(self, clouds, y, n_classes):
        expected = MaximumVarianceUnfolding(n_neighbors=4, random_state=0).fit(clouds[0])
        model = fit(clouds[0], y)
        np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-10)
        assert len(model.medoids_) == len(model.classes_) == n_classes

    def test_some_labels(self, clouds):
        X, y = clouds[:2]
        some = hide_labels(y, keep=np.arange(0, 60, 3))
        model = fit(X, some, class_spread=4.0)
        assert model.certificate_.ok
        # Unlabeled points hold classes together.
        assert model.certificate_.objective < fit(X, y, class_spread=4.0).certificate_.objective

    @pytest.mark.parametrize(
        ("label", "message"),
        [(-1, r"bridges_\): 1 at unlabeled rows\."), (0, r"bridges_\): 1 within 1 classes\.")],
    )
    def test_points_far_from_all_others_are_joined(self, clouds, label, message):
        X, y = np.vstack([clouds[0], clouds[0][:8] + 40]), np.append(clouds[1], np.full(8, label))
        with pytest.warns(DisconnectedGraphWarning, match=message):
            model = fit(X, y)
        assert model.certificate_.ok
        assert len(model.bridges_) == 1

    @pytest.mark.parametrize("size", [1, 2])
    def test_small_classes(self, clouds, size):
        X, y = clouds[0], np.where(np.arange(60) < size, "few", "many")
        with pytest.warns(FewNeighborsWarning, match=rf"'few' with {size} in all"):
            model = fit(X, y)
        assert model.certificate_.ok
        assert np.all(np.isfinite(model.transform(clouds[2])))

    def test_every_point_its_own_class(self, clouds):
        X = clouds[0][:12]
        model = fit(X, np.arange(12), class_spread=2.0)
        assert len(model.edges_) == 0
        assert model.certificate_.ok
        np.testing.assert_array_less(pdist(model.gram_factor_), 2 * pdist(X) * (1 + 1e-3))
        assert model.certificate_.objective >= 4 * np.sum((X - X.mean(axis=0)) ** 2) * 0.999

    def test_names_of_labels_do_not_matter(self, clouds):
        X, y = clouds[:2]
        names = np.array(["pear", "apple", "fig"], dtype=object)
        one, other = fit(X, y), fit(X, names[y])
        np.testing.assert_allclose(pdist(one.embedding_), pdist(other.embedding_), rtol=1e-2)
        assert other.classes_.tolist() == ["apple", "fig", "pear"]
        assert sorted(one.medoids_) == sorted(other.medoids_)

    def test_classes_at_one_place_stay_there(self, clouds):
        X, y = clouds[0][:20].copy(), np.arange(20) % 2
        X = np.vstack([X[::2], X[::2]])  # the classes are the same points
        y = np.repeat([0, 1], 10)
        model = fit(X, y)
        assert model.certificate_.ok
        a, b = model.medoids_
        np.testing.assert_allclose(model.gram_factor_[a], model.gram_factor_[b])


class TestNewPoints:
    def test_a_row_of_two_classes_gets_the_mean_of_its_places(self, clouds):
        X, y = np.vstack([clouds[0], clouds[0][:1]]), np.append(clouds[1], 1)
        assert y[0] == 0
        model = fit(X, y)
        np.testing.assert_allclose(
            model.transform(X[:1])[0], (model.embedding_[0] + model.embedding_[60]) / 2
        )
        assert np.linalg.norm(model.embedding_[0] - model.embedding_[60]) > 0.1

    def test_a_pipeline_classifies(self, clouds):
        X, y, new, truth = clouds
        method = SupervisedSemidefiniteEmbedding(2, random_state=0)
        pipeline = make_pipeline(method, KNeighborsClassifier(3)).fit(X, y)
        assert pipeline.score(new, truth) >= 0.8
        head = ManifoldClassifier(method, head=KNeighborsClassifier(3)).fit(X, y)
        assert head.score(new, truth) >= 0.8

    def test_precomputed_distances(self, clouds):
        X, y, new, _ = clouds
        expected = fit(X, y)
        model = fit(cdist(X, X), y, metric="precomputed")
        np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-3)
        assert np.all(np.isfinite(model.transform(cdist(new, X))))


class TestInvariance:
    def test_order_of_rows(self, clouds):
        X, y = clouds[:2]
        order = np.random.default_rng(0).permutation(60)
        one, other = fit(X, y), fit(X[order], y[order])
        assert one.certificate_.objective == pytest.approx(other.certificate_.objective, rel=1e-3)
        assert sorted(order[other.medoids_]) == sorted(one.medoids_)
        np.testing.assert_allclose(one.spectrum_[:2], other.spectrum_[:2], rtol=0.02)
        places = one.embedding_[one.medoids_], other.embedding_[other.medoids_]
        np.testing.assert_allclose(*map(pdist, places), rtol=0.01)


class TestDimension:
    def test_auto(self):
        X, y, _ = make_swiss_roll(200, n_classes=2, n_bands=2, random_state=0)
        model = fit(X, y, n_components="auto", class_spread=50.0)
        assert model.n_components_ == model.embedding_.shape[1] == 1  # two classes, far apart
        assert np.all(np.diff(model.spectrum_) <= 1e-9)

    def test_more_dimensions_than_the_map_has_are_zero(self, clouds):
        model = fit(clouds[0][:3], ["a", "b", "c"], n_components=4, n_neighbors=1)
        np.testing.assert_allclose(model.embedding_[:, 2:], 0, atol=1e-6)


@pytest.mark.parametrize("spread", [0, -1, np.nan, np.inf, "much", None])
def test_spread_must_be_positive(clouds, spread):
    with pytest.raises(
        ValueError,
        match=r"class_spread=.* must be .* greater than 0 and at most 1e\+10, such as 10\.0",
    ):
        fit(*clouds[:2], class_spread=spread)
