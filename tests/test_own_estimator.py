"""A user's estimator shares work by its methods alone: it derives from scikit-learn's classes."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone

from labelfold import NeighborGraph, ResampledEmbedding, TransductiveSearchCV, hide_labels
from labelfold.datasets import make_swiss_roll

CALLS = []


class OwnClassifier(ClassifierMixin, BaseEstimator):
    """Classes after some steps of averaging over neighbors; CALLS counts the work."""

    def __init__(self, n_steps=1, n_neighbors=5):
        self.n_steps = n_steps
        self.n_neighbors = n_neighbors

    def build_graph(self, X):
        CALLS.append("graph")
        return NeighborGraph.build(X, n_neighbors=self.n_neighbors, weights="binary")

    def graph_key(self):
        return self.n_neighbors

    def sharing_key(self):
        return self.n_neighbors

    def shares_folds(self):
        return True

    def fit_many(self, models, X, ys, graph=None):
        powers = self._powers(graph, max(model.n_steps for model in models))
        for number, model in enumerate(models):
            for fold, y in enumerate(ys):
                yield number, fold, clone(model)._label(powers[model.n_steps], y)

    def fit(self, X, y, graph=None):
        graph = self.build_graph(X) if graph is None else graph
        return self._label(self._powers(graph, self.n_steps)[-1], y)

    def _powers(self, graph, n_steps):
        CALLS.append("powers")
        step = graph.adjacency.toarray() + np.eye(graph.n_points)
        step /= step.sum(axis=1, keepdims=True)
        return [np.linalg.matrix_power(step, n) for n in range(n_steps + 1)]

    def _label(self, power, y):
        self.classes_ = np.unique(y[y >= 0])
        votes = power @ (np.asarray(y)[:, None] == self.classes_)
        self.transduction_ = np.where(y >= 0, y, self.classes_[votes.argmax(axis=1)])
        return self


class OwnEmbedder(TransformerMixin, BaseEstimator):
    """The first two columns; a new row gets the mean over its neighbors."""

    def __init__(self, n_neighbors=6):
        self.n_neighbors = n_neighbors

    def fit(self, X, y=None):
        self.graph_ = NeighborGraph.build(X, n_neighbors=self.n_neighbors)
        self.embedding_ = X[:, :2].copy()
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X).embedding_

    def transform(self, X):
        raise AssertionError("an ensemble asks for given neighbors instead")

    def embed_from_neighbors(self, X, distances, codes=None):
        used = distances.copy()
        used.data[:] = 1
        return (used @ self.embedding_) / np.diff(distances.indptr)[:, None]


@pytest.fixture(scope="module")
def roll():
    X, y, _ = make_swiss_roll(150, random_state=0)
    return X, hide_labels(y, keep=np.arange(0, 150, 3))


def test_candidates_of_a_search_share_graph_and_work(roll):
    X, y = roll
    grid = {"n_steps": [1, 2, 4], "n_neighbors": [4, 8]}
    CALLS.clear()
    search = TransductiveSearchCV(OwnClassifier(), grid, cv=3).fit(X, y)
    assert (search.n_graphs_, search.n_fits_) == (2, 2)
    assert sorted(CALLS) == ["graph"] * 2 + ["powers"] * 3  # one for the best
    for number, parameters in enumerate(search.cv_results_["params"]):
        alone = TransductiveSearchCV(OwnClassifier(**parameters), {}, cv=3).fit(X, y)
        assert alone.best_score_ == search.cv_results_["mean_test_score"][number]


def test_an_ensemble_takes_the_nearest_points_of_all_its_subsamples(roll):
    X, _ = roll
    model = ResampledEmbedding(
        OwnEmbedder(), n_subsamples=3, subsample_size=60, n_neighbors=None, random_state=0
    ).fit(X)
    new = X[:20] + 0.2
    points = np.concatenate([X[rows] for rows in model.subsamples_])
    for x, found in zip(new, model.transform(new), strict=True):
        distances = np.linalg.norm(points - x, axis=1)
        nearest = points[distances <= np.sort(distances)[5]]
        np.testing.assert_allclose(found, nearest[:, :2].mean(axis=0), atol=1e-9)
