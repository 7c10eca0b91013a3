"""Distances between means, from points and from distances alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.preprocessing import normalize

from labelfold.graph import group_means
from labelfold.graph.search import make_index

X = np.random.default_rng(0).normal([2, 0, 0], size=(40, 3))
GROUPS = np.arange(40) % 4 - 1


def of_index(rows, metric):
    index = make_index(rows, metric, n_neighbors=3, neighbor_search="exact", seed=0, n_jobs=None)
    return index.distances_of_means(GROUPS)


def means(rows):
    return np.array([rows[group == GROUPS].mean(axis=0) for group in range(3)])


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_points(store):
    expected = cdist(means(X), means(X))
    np.testing.assert_allclose(of_index(store(X), "euclidean"), expected)
    np.testing.assert_allclose(of_index(store(X), "sqeuclidean"), expected**2)
    unit = means(normalize(X))
    np.testing.assert_allclose(of_index(store(X), "cosine"), cdist(unit, unit) ** 2 / 2)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_distances_alone_tell_the_same(store):
    expected = cdist(means(X), means(X))
    np.testing.assert_allclose(of_index(store(cdist(X, X)), "precomputed"), expected, atol=1e-12)


def test_other_metrics(monkeypatch):
    D = cdist(X, X, "cityblock")
    expected = of_index(D, "precomputed")
    np.testing.assert_allclose(of_index(X, "manhattan"), expected, atol=1e-12)
    monkeypatch.setattr(group_means, "DISTANCES_AT_ONCE", 100)  # a few rows at a time
    np.testing.assert_allclose(of_index(X, "manhattan"), expected, atol=1e-12)
    assert np.all(expected >= 0)
