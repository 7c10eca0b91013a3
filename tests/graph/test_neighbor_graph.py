"""The graph as a value: sharing, equal rows, statistics."""

import copy
import dataclasses
import pickle
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.stats import skew
from sklearn.datasets import load_digits

from labelfold import CCDR, LaplacianEigenmaps, NeighborGraph
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import GraphMismatchError, HubnessWarning
from labelfold.graph.neighbor_graph import fingerprint
from labelfold.graph.neighbor_index import ExactIndex


def test_graph_is_searched_once_for_many_fits(monkeypatch):
    X = np.random.default_rng(0).random((60, 3))
    y = np.arange(60) % 3
    graph = NeighborGraph.build(X, n_neighbors=8)
    searched = CCDR(n_neighbors=8).fit(X, y).embedding_

    def no_search(*arguments, **keywords):
        raise AssertionError("searched again")

    monkeypatch.setattr(ExactIndex, "neighbors", no_search)
    for beta in (0.1, 1, 10):
        model = CCDR(beta=beta, n_neighbors=8).fit(X, y, graph=graph)
        assert model.graph_ is graph
        if beta == 1:
            np.testing.assert_array_equal(model.embedding_, searched)
    LaplacianEigenmaps(n_neighbors=8).fit(X, graph=graph)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 9}, "n_neighbors=8 here and n_neighbors=9 there"),
        ({"weights": "binary"}, "weights='heat' here and weights='binary'"),
        ({"scale": 3.0}, "scale='auto' here and scale=3.0"),
        ({"metric": "cosine"}, "metric='euclidean' here and metric='cosine'"),
        ({"radius": 1.0}, "radius=None here and radius=1.0"),
    ],
)
def test_mismatch_of_parameters_is_an_error(parameters, message):
    X = np.random.default_rng(0).random((30, 3))
    graph = NeighborGraph.build(X, n_neighbors=8)
    with pytest.raises(GraphMismatchError, match=message):
        LaplacianEigenmaps(**{"n_neighbors": 8, **parameters}).fit(X, graph=graph)


def test_mismatch_of_rows_is_an_error():
    X = np.random.default_rng(0).random((30, 3))
    graph = NeighborGraph.build(X, n_neighbors=8)
    other = X.copy()
    other[3, 1] += 1e-9
    for rows in (X[:20], X[::-1], other, sp.csr_array(X)):
        with pytest.raises(GraphMismatchError, match="other rows"):
            LaplacianEigenmaps(n_neighbors=8).fit(rows, graph=graph)
    LaplacianEigenmaps(n_neighbors=8).fit(X.copy(), graph=graph)
    LaplacianEigenmaps(n_neighbors=8).fit(X.tolist(), graph=graph)


def test_clipped_neighbors_are_no_mismatch():
    X = np.random.default_rng(0).random((6, 3))
    with pytest.warns(UserWarning, match="n_neighbors=12"):
        graph = NeighborGraph.build(X)
    LaplacianEigenmaps().fit(X, graph=graph)


def test_graph_is_immutable():
    graph = NeighborGraph.build(np.random.default_rng(0).random((30, 3)), n_neighbors=8)
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.scale = 3.0
    for value in (graph, pickle.loads(pickle.dumps(graph))):
        with pytest.raises(ValueError, match="read-only"):
            value.adjacency.data[0] = 5
    scale = np.ones(30)
    X = np.random.default_rng(0).random((30, 3))
    graph = NeighborGraph.build(X, n_neighbors=8, scale=scale)
    scale[0] = 2
    assert graph.scale[0] == 1
    X[0] += 5
    with pytest.raises(GraphMismatchError):
        LaplacianEigenmaps(n_neighbors=8, scale=np.ones(30)).fit(X, graph=graph)


def test_statistics_count_hubs_and_duplicates():
    # A star: every leaf's nearest is the hub at the center.
    leaves = 5 * np.eye(12)
    X = np.vstack([np.zeros(12), leaves, leaves[:2]])
    statistics = NeighborGraph.build(X, n_neighbors=2, weights="binary").statistics
    assert statistics.n_points == 15
    assert statistics.n_duplicates == 4
    assert statistics.largest_neighborhood >= 12
    assert statistics.n_connected_components == 1


def test_occurrences_count_who_has_a_point_among_its_nearest():
    X = np.random.default_rng(0).normal(size=(80, 5))
    graph = NeighborGraph.build(X, n_neighbors=6)
    nearest = np.argsort(cdist(X, X), axis=1)[:, 1:7]
    counts = np.bincount(nearest.ravel(), minlength=80)
    np.testing.assert_array_equal(graph.occurrences, counts)
    assert graph.statistics.largest_occurrence == counts.max()
    assert graph.statistics.occurrence_skewness == pytest.approx(skew(counts))
    assert graph.statistics.share_of_antihubs == np.mean(counts == 0)
    within = NeighborGraph.build(X, radius=2.0)
    np.testing.assert_array_equal(within.occurrences, np.diff(within.adjacency.indptr))
    ring = np.exp(2j * np.pi * np.arange(40) / 40)
    circle = NeighborGraph.build(np.round(np.c_[ring.real, ring.imag], 12), n_neighbors=2)
    assert circle.statistics.largest_occurrence == 2
    assert circle.statistics.occurrence_skewness == circle.statistics.share_of_antihubs == 0


def short_and_long_vectors(n=400):
    """Directions at random; row 7 is short, so that it is near to all others."""
    X = np.random.default_rng(0).normal(size=(n, 60))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[7] *= 0.1
    return X


def test_an_extreme_hub_is_warned_of():
    X = short_and_long_vectors()
    message = r"Row 7 is a hub: it is among the 3 nearest neighbors of 399 of the 400 rows.*cosine"
    with pytest.warns(HubnessWarning, match=message) as caught:
        NeighborGraph.build(X, n_neighbors=3)
    assert caught[0].filename == __file__
    with pytest.warns(HubnessWarning, match=message) as caught:
        LaplacianEigenmaps(n_neighbors=3).fit(X)
    with pytest.warns(HubnessWarning, match="Other distances"):
        NeighborGraph.build(cdist(X, X), n_neighbors=3, metric="precomputed")


@pytest.mark.parametrize(
    ("X", "parameters"),
    [
        (short_and_long_vectors(), {"n_neighbors": 3, "metric": "cosine"}),
        (short_and_long_vectors(), {"radius": 1.1}),
        (short_and_long_vectors(60), {"n_neighbors": 3}),  # too few to judge
        (load_digits().data, {"n_neighbors": 8}),
        (make_swiss_roll(1000, random_state=0)[0], {"n_neighbors": 12}),
    ],
    ids=["cosine", "radius", "few points", "digits", "Swiss roll"],
)
def test_ordinary_graphs_are_not_warned_of(X, parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error", HubnessWarning)
        NeighborGraph.build(X, **parameters)


def test_zero_distance_is_not_equality():
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    graph = NeighborGraph.build(X, n_neighbors=2, metric="cosine")
    groups = graph.equal_groups
    assert groups[0] != groups[1]  # parallel, at cosine distance 0
    assert groups[3] == groups[4]


def decay(distances, scales, power):
    return np.exp(-(distances**power))


def test_fingerprints_are_equal_for_copies_and_for_nothing_else():
    values = [1, 2, "1", None, np.arange(3.0), np.arange(4.0), partial(decay, power=1)]
    values += [partial(decay, power=2), [1, 2], lambda d, s: d, lambda d, s: d]
    assert len({fingerprint(value) for value in values}) == len(values)
    for value in values[:-2]:
        assert fingerprint(copy.deepcopy(value)) == fingerprint(value)


def test_a_graph_of_another_function_raises():
    X = np.random.default_rng(0).standard_normal((20, 2))
    graph = NeighborGraph.build(X, n_neighbors=5, weights=lambda d, s: 1 / (1 + d))
    other = CCDR(n_neighbors=5, weights=lambda d, s: 1 / (2 + d))
    with pytest.raises(GraphMismatchError, match="weights="):
        other.fit(X, graph=graph)
    same = partial(decay, power=2)
    graph = NeighborGraph.build(X, n_neighbors=5, weights=same)
    CCDR(n_neighbors=5, weights=copy.deepcopy(same)).fit(X, graph=graph)
