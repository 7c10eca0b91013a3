"""Furthest points, medoids and distances of group means, against brute force."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.preprocessing import normalize

from labelfold import NeighborGraph
from labelfold.graph import all_pairs
from labelfold.graph.all_pairs import distances_of_means, furthest_points, medoid
from labelfold.graph.neighbor_index import ExactIndex
from labelfold.graph.point_space import PointSpace
from labelfold.graph.precomputed import PrecomputedIndex
from labelfold.graph.search import make_index


@pytest.fixture(params=["default", "small"])
def blocks(request, monkeypatch):
    """Run a test once more with blocks so small that a few rows fill many of them."""
    if request.param == "small":
        monkeypatch.setattr(all_pairs, "DISTANCES_AT_ONCE", 900)
    return request.param


def furthest_rows(X, metric="euclidean"):
    return furthest_points(ExactIndex(X, PointSpace(metric)))


def brute_force(X):
    """The furthest other row by (distance, row number), one row at a time."""
    found = []
    for i, x in enumerate(X):
        differences = X - x
        distances = np.sqrt(np.einsum("ij,ij->i", differences, differences))
        distances[i] = -1
        found.append((distances.argmax(), distances.max()))
    indices, distances = zip(*found, strict=True)
    return np.array(indices), np.array(distances)


def assert_furthest(X, found):
    indices, distances = brute_force(X)
    np.testing.assert_array_equal(found[0], indices)
    np.testing.assert_array_equal(found[1], distances)


def on_sphere(n, n_features):
    X = np.random.default_rng(0).normal(size=(n, n_features))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


KINDS = {
    "real": lambda X: X,
    "integer": np.round,
    "far from the origin": lambda X: X + 1e8,
    "few digits": lambda X: 1e8 + np.round(5 * X) * 2.0**-26,
    "repeated": lambda X: X[np.arange(len(X)) ** 2 % 37],
    "heavy tails": lambda X: np.sinh(3 * X) ** 3,
    "sphere": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True),
    "flat": lambda X: X * 10.0 ** -np.arange(X.shape[1]),
    "huge": lambda X: X * 1e150,
    "tiny": lambda X: X * 1e-150,
}


@pytest.mark.parametrize("n_features", [1, 3, 30])
@pytest.mark.parametrize("kind", KINDS)
def test_points_of_all_shapes(kind, n_features, blocks):
    X = KINDS[kind](np.random.default_rng(0).normal(size=(300, n_features)))
    assert_furthest(X, furthest_rows(X))


@pytest.mark.parametrize("n_features", [3, 17, 50])
def test_last_bit_decides(n_features):
    # All are at distance 1 from the first, up to rounding.
    X = np.vstack([np.zeros(n_features), on_sphere(400, n_features)])
    assert_furthest(X, furthest_rows(X))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_equal_rows(metric, as_given):
    indices, distances = furthest_rows(as_given(np.ones((5, 3))), metric)
    assert indices.tolist() == [1, 0, 0, 0, 0]
    assert not distances.any()


def test_ties_go_to_the_lowest_number():
    indices, _ = furthest_rows(np.array([[0.0], [2.0], [2.0], [0.0], [1.0]]))
    assert indices.tolist() == [1, 0, 0, 1, 0]
    indices, distances = furthest_rows(np.array([[0.0], [-0.0], [0.0]]))
    assert indices.tolist() == [1, 0, 0]
    assert not distances.any()
    indices, distances = furthest_rows(np.eye(100))
    assert indices.tolist() == [1] + [0] * 99
    np.testing.assert_array_equal(distances, np.sqrt(2))


@pytest.mark.parametrize("shift", [0.0, 1e7])
def test_sparse_equals_dense(shift, blocks):
    X = sp.random_array((150, 40), density=0.2, random_state=np.random.default_rng(0)).toarray()
    X[X != 0] += shift
    X[70:80] = X[:10]
    indices, distances = furthest_rows(sp.csr_array(X))
    expected = brute_force(X)
    np.testing.assert_array_equal(indices, expected[0])
    np.testing.assert_allclose(distances, expected[1], rtol=1e-14)


def largest_step(a, b):
    return np.abs(a - b).max()


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("manhattan", "cityblock"),
        ("chebyshev", "chebyshev"),
        ("correlation", "correlation"),
        ("cosine", "cosine"),
        ("sqeuclidean", "sqeuclidean"),
        (largest_step, "chebyshev"),
    ],
)
@pytest.mark.parametrize("digits", [1, 9])
def test_any_metric(metric, name, digits, blocks):
    X = np.round(np.random.default_rng(0).normal(size=(60, 5)), digits)
    indices, distances = furthest_rows(X, metric)
    D = cdist(X, X, name)
    if digits == 9 or metric in ("manhattan", "chebyshev"):  # ties are told from rounding
        np.testing.assert_array_equal(indices, D.argmax(axis=1))
    np.testing.assert_allclose(distances, D.max(axis=1), rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_memory_is_bounded(metric, monkeypatch):
    monkeypatch.setattr(all_pairs, "DISTANCES_AT_ONCE", 2**18)
    X = on_sphere(3000, 12)
    tracemalloc.start()
    furthest_rows(X, metric)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * 8 * len(X) ** 2


def test_approximate_search_has_exact_furthest_neighbors():
    X = np.random.default_rng(0).normal(size=(1500, 7)) * [9, 8, 7, 1, 1, 1, 1]
    graph = NeighborGraph.build(X, n_neighbors=5, neighbor_search="approximate", random_state=0)
    assert_furthest(X, furthest_points(graph.index))


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_all_distances_precomputed(as_given, blocks):
    X = np.random.default_rng(0).integers(4, size=(40, 2)) + np.arange(40)[:, None] / 64
    D = cdist(X, X)
    given = D + 99 * np.eye(40)  # the diagonal says nothing
    given[0, 5] += 99  # of two the shorter counts
    indices, distances = furthest_points(PrecomputedIndex(as_given(given)))
    np.testing.assert_array_equal(indices, D.argmax(axis=1))
    np.testing.assert_array_equal(distances, D.max(axis=1))


def test_some_distances_precomputed():
    D = cdist(*[np.random.default_rng(0).random((6, 2))] * 2)
    D[2, 3] = 0
    with pytest.raises(ValueError, match=r"are 29 of the 30 .* pass the full matrix"):
        furthest_points(PrecomputedIndex(sp.csr_array(D)))


# Groups

ROWS = np.random.default_rng(0).normal([2, 0, 0], size=(40, 3))
GROUPS = np.arange(40) % 4 - 1


def of_index(rows, metric):
    return distances_of_means(make_index(rows, metric, n_neighbors=3), GROUPS)


def means(rows):
    return np.array([rows[group == GROUPS].mean(axis=0) for group in range(3)])


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_means_of_points(store):
    expected = cdist(means(ROWS), means(ROWS))
    np.testing.assert_allclose(of_index(store(ROWS), "euclidean"), expected)
    np.testing.assert_allclose(of_index(store(ROWS), "sqeuclidean"), expected**2)
    unit = means(normalize(ROWS))
    np.testing.assert_allclose(of_index(store(ROWS), "cosine"), cdist(unit, unit) ** 2 / 2)
    np.testing.assert_allclose(
        of_index(store(cdist(ROWS, ROWS)), "precomputed"), expected, atol=1e-12
    )


def test_means_in_other_metrics(monkeypatch):
    D = cdist(ROWS, ROWS, "cityblock")
    expected = of_index(D, "precomputed")
    np.testing.assert_allclose(of_index(ROWS, "manhattan"), expected, atol=1e-12)
    monkeypatch.setattr(all_pairs, "DISTANCES_AT_ONCE", 100)  # a few rows at a time
    np.testing.assert_allclose(of_index(ROWS, "manhattan"), expected, atol=1e-12)
    assert np.all(expected >= 0)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "sqeuclidean", "manhattan"])
def test_medoid_has_the_least_sum_of_distances(metric, store, monkeypatch):
    D = cdist(ROWS, ROWS, {"manhattan": "cityblock"}.get(metric, metric))
    assert medoid(make_index(store(ROWS), metric, n_neighbors=3)) == D.sum(axis=1).argmin()
    monkeypatch.setattr(all_pairs, "DISTANCES_AT_ONCE", 100)
    assert medoid(PrecomputedIndex(store(D))) == D.sum(axis=1).argmin()


def test_of_two_precomputed_distances_the_shorter_counts():
    given = np.array([[0.0, 1, 5], [9, 0, 3], [4, 3, 0]])
    assert medoid(PrecomputedIndex(given)) == 1
    given[1, 2] = given[2, 1] = 9
    assert medoid(PrecomputedIndex(given)) == 0
    assert medoid(PrecomputedIndex(np.ones((4, 4)))) == 0  # the first of those that tie
