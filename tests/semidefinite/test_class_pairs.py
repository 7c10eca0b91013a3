"""Pairs within classes and between medoids, against brute force."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from labelfold import NeighborGraph, PartialLabels, hide_labels
from labelfold.exceptions import FewNeighborsWarning
from labelfold.semidefinite.class_pairs import find_class_pairs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = np.arange(60) % 3
K = 3


def find(X, y, k=K, **settings):
    graph = NeighborGraph.build(X, n_neighbors=k, **settings)
    return find_class_pairs(graph, PartialLabels.from_y(y))


def as_set(pairs):
    return {tuple(pair) for pair in pairs.tolist()}


def nearest_of_own_class(X, y, k):
    """Pairs in which either is among the other's k nearest of the class."""
    D = cdist(X, X)
    D[y[:, None] != y] = np.inf
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1, kind="stable")[:, :k]
    return {tuple(sorted((i, j))) for i, row in enumerate(near.tolist()) for j in row}


def test_neighbors_are_of_the_same_class():
    found = find(X, Y)
    assert as_set(found.edges.pairs) == nearest_of_own_class(X, Y, K)
    i, j = found.edges.pairs.T
    np.testing.assert_allclose(found.edges.lengths, cdist(X, X)[i, j])
    assert np.all(i < j)


def test_medoids_have_the_least_sum_of_distances_and_all_their_pairs_are_capped():
    found = find(X, Y)
    D = cdist(X, X)
    expected = [
        rows[D[np.ix_(rows, rows)].sum(axis=1).argmin()]
        for rows in (np.flatnonzero(c == Y) for c in range(3))
    ]
    assert found.medoids.tolist() == expected
    assert as_set(found.caps.pairs) == {
        tuple(sorted(pair)) for pair in [expected[:2], expected[1:], expected[::2]]
    }
    i, j = found.caps.pairs.T
    np.testing.assert_allclose(found.caps.lengths, D[i, j])


def test_components_of_a_class_are_joined_by_their_closest_pair():
    far = np.vstack([X[:20], X[20:40] + 100, X[40:]])
    y = np.repeat([0, 1], [40, 20])
    found = find(far, y)
    D = cdist(far[:20], far[20:40])
    i, j = np.unravel_index(D.argmin(), D.shape)
    assert found.bridges.pairs.tolist() == [[i, 20 + j]]
    np.testing.assert_allclose(found.bridges.lengths, D.min())


def test_unlabeled_points_keep_their_neighbors_of_any_class():
    y = hide_labels(Y, keep=np.arange(0, 60, 2))
    found = find(X, y)
    graph = NeighborGraph.build(X, n_neighbors=K)
    rows, columns = graph.distances.nonzero()
    is_open = (rows < columns) & ((y[rows] == -1) | (y[columns] == -1))
    own = np.flatnonzero(y != -1)
    expected = {(own[i], own[j]) for i, j in nearest_of_own_class(X[own], y[own], K)}
    expected |= set(zip(rows[is_open].tolist(), columns[is_open].tolist(), strict=True))
    assert as_set(found.edges.pairs) == expected


def test_unlabeled_points_apart_from_all_others_are_attached():
    island = np.vstack([X, X[:10] + 50])
    y = np.append(Y, np.full(10, -1))
    found = find(island, y)
    D = cdist(island[:60], island[60:])
    i, j = np.unravel_index(D.argmin(), D.shape)
    assert found.bridges.pairs.tolist() == [[i, 60 + j]]


@pytest.mark.parametrize("has_bridges", [False, True])
def test_without_labels_there_is_the_graph_with_its_bridges(has_bridges):
    graph = NeighborGraph.build(np.vstack([X[:30], X[30:] + 50]), n_neighbors=K)
    joined = graph.bridged()
    labels = PartialLabels.from_y(np.full(60, -1))
    found = find_class_pairs(joined if has_bridges else graph, labels)
    rows, columns = joined.distances.nonzero()
    upper = rows < columns
    assert as_set(found.edges.pairs) | as_set(found.bridges.pairs) == set(
        zip(rows[upper].tolist(), columns[upper].tolist(), strict=True)
    )
    assert as_set(found.bridges.pairs) == as_set(joined.bridges)
    assert len(found.caps) == len(found.medoids) == 0


@pytest.mark.parametrize(("size", "n_edges"), [(1, 0), (2, 1), (3, 3)])
def test_small_classes_keep_all_their_distances(size, n_edges):
    y = np.where(np.arange(60) < size, "small", "large").astype(object)
    message = rf"n_neighbors=3 .* of 1 of 2 classes, the smallest being 'small' with {size} in all"
    with pytest.warns(FewNeighborsWarning, match=message):
        found = find(X, y)
    assert np.sum(found.edges.pairs[:, 1] < size) == n_edges
    assert found.medoids[1] < size


def test_classes_of_enough_points_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find(X[:8], [0] * 4 + [1] * 4)


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_other_metrics(metric):
    found = find(X, Y, metric=metric)
    D = cdist(X, X, "cosine" if metric == "cosine" else "cityblock")
    for links in (found.edges, found.caps):
        np.testing.assert_allclose(links.lengths, D[tuple(links.pairs.T)])


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_precomputed_distances(store):
    found, expected = find(store(cdist(X, X)), Y, metric="precomputed"), find(X, Y)
    assert as_set(found.edges.pairs) == as_set(expected.edges.pairs)
    assert found.medoids.tolist() == expected.medoids.tolist()
    np.testing.assert_allclose(found.caps.lengths, expected.caps.lengths)


def test_precomputed_distances_to_neighbors_only_do_not_suffice():
    distances = NeighborGraph.build(X, n_neighbors=30).distances
    with pytest.raises(ValueError, match=r"20 rows labeled 0 in y: .* all are needed here"):
        find(distances, Y, metric="precomputed")
    few = NeighborGraph.build(X, n_neighbors=4).distances
    with pytest.raises(ValueError, match=r"20 rows labeled 0 in y: .* and 3 are needed"):
        find(few, Y, metric="precomputed")
