"""Medoids and distances between means, from points and from distances alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.preprocessing import normalize

from labelfold.graph import group_centers
from labelfold.graph.group_centers import distances_of_means, medoid
from labelfold.graph.precomputed import PrecomputedIndex
from labelfold.graph.search import make_index

X = np.random.default_rng(0).normal([2, 0, 0], size=(40, 3))
GROUPS = np.arange(40) % 4 - 1


def of_index(rows, metric):
    return distances_of_means(make_index(rows, metric, n_neighbors=3), GROUPS)


def means(rows):
    return np.array([rows[group == GROUPS].mean(axis=0) for group in range(3)])


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_means_of_points(store):
    expected = cdist(means(X), means(X))
    np.testing.assert_allclose(of_index(store(X), "euclidean"), expected)
    np.testing.assert_allclose(of_index(store(X), "sqeuclidean"), expected**2)
    unit = means(normalize(X))
    np.testing.assert_allclose(of_index(store(X), "cosine"), cdist(unit, unit) ** 2 / 2)
    np.testing.assert_allclose(of_index(store(cdist(X, X)), "precomputed"), expected, atol=1e-12)


def test_means_in_other_metrics(monkeypatch):
    D = cdist(X, X, "cityblock")
    expected = of_index(D, "precomputed")
    np.testing.assert_allclose(of_index(X, "manhattan"), expected, atol=1e-12)
    monkeypatch.setattr(group_centers, "DISTANCES_AT_ONCE", 100)  # a few rows at a time
    np.testing.assert_allclose(of_index(X, "manhattan"), expected, atol=1e-12)
    assert np.all(expected >= 0)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "sqeuclidean", "manhattan"])
def test_medoid_has_the_least_sum_of_distances(metric, store, monkeypatch):
    D = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    assert medoid(make_index(store(X), metric, n_neighbors=3)) == D.sum(axis=1).argmin()
    monkeypatch.setattr(group_centers, "DISTANCES_AT_ONCE", 100)
    assert medoid(PrecomputedIndex(store(D))) == D.sum(axis=1).argmin()


def test_of_two_precomputed_distances_the_shorter_counts():
    given = np.array([[0.0, 1, 5], [9, 0, 3], [4, 3, 0]])
    assert medoid(PrecomputedIndex(given)) == 1
    given[1, 2] = given[2, 1] = 9
    assert medoid(PrecomputedIndex(given)) == 0
    assert medoid(PrecomputedIndex(np.ones((4, 4)))) == 0  # the first of those that tie
