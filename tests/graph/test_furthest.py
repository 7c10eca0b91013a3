"""Furthest neighbours against brute force by differences in double precision."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from labelfold import NeighborGraph
from labelfold.datasets import make_swiss_roll
from labelfold.graph import furthest
from labelfold.graph.furthest import furthest_rows
from labelfold.graph.neighbors import ExactIndex
from labelfold.graph.point_space import PointSpace
from labelfold.graph.precomputed import PrecomputedIndex

EUCLIDEAN = PointSpace("euclidean")
SMALL_BLOCKS = {
    "GROUP_SIZE": 12,
    "FIRST_TRIED": 2,
    "ROWS_AT_ONCE": 5,
    "COLUMNS_AT_ONCE": 7,
    "ENTRIES_AT_ONCE": 900,
}


@pytest.fixture(params=["default", "small"])
def blocks(request, monkeypatch):
    """Run a test once more with blocks so small that a few rows fill many of them."""
    if request.param == "small":
        for name, value in SMALL_BLOCKS.items():
            monkeypatch.setattr(furthest, name, value)
    return request.param


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
    "skewed": lambda X: np.exp(2 * X),
    "flat": lambda X: X * 10.0 ** -np.arange(X.shape[1]),
    "huge": lambda X: X * 1e150,
    "tiny": lambda X: X * 1e-150,
}


@pytest.mark.parametrize("n_features", [1, 2, 3, 30])
@pytest.mark.parametrize("kind", KINDS)
def test_points_of_all_shapes(kind, n_features, blocks):
    X = KINDS[kind](np.random.default_rng(0).normal(size=(300, n_features)))
    assert_furthest(X, furthest_rows(X, EUCLIDEAN))


@settings(max_examples=60, deadline=None)
@given(
    arrays(
        float,
        st.tuples(st.integers(2, 40), st.integers(1, 4)),
        elements=st.integers(-3, 3) | st.floats(-10, 10, width=16),
    )
)
def test_any_points(X):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SMALL_BLOCKS.items():
            patch.setattr(furthest, name, value)
        assert_furthest(X, furthest_rows(X, EUCLIDEAN))


def test_differences_decide_what_single_precision_does_not_see():
    X = on_sphere(400, 3) * (1 + 1e-10 * np.random.default_rng(1).random((400, 1)))
    X = np.vstack([X, np.zeros(3), np.full(3, 1e-12)])
    assert_furthest(X, furthest_rows(X, EUCLIDEAN))


def test_rows_tried_first_may_all_be_near(blocks):
    X = np.random.default_rng(0).normal(size=(12, 3))
    X[:2] += 100  # the furthest from the centre, and close to each other
    assert_furthest(X, furthest_rows(X, EUCLIDEAN))


@pytest.mark.parametrize("n_features", [3, 10, 17, 30, 50])
def test_last_bit_decides(n_features):
    # All are at distance 1 from the first, up to rounding.
    X = np.vstack([np.zeros(n_features), on_sphere(400, n_features)])
    assert_furthest(X, furthest_rows(X, EUCLIDEAN))


@pytest.mark.parametrize("n_features", [3, 20])
def test_many_groups(n_features):
    X = np.random.default_rng(0).normal(size=(4000, n_features))
    X[:, 0] *= 3
    indices, distances = furthest_rows(X, EUCLIDEAN)
    D = cdist(X, X)
    np.testing.assert_array_equal(indices, D.argmax(axis=1))
    np.testing.assert_allclose(distances, D.max(axis=1), rtol=1e-14)


def test_two_points():
    indices, distances = furthest_rows(np.array([[0.0, 0.0], [3.0, 4.0]]), EUCLIDEAN)
    assert indices.tolist() == [1, 0]
    assert distances.tolist() == [5, 5]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_equal_rows(metric, as_given):
    index = ExactIndex(as_given(np.ones((5, 3))), PointSpace(metric))
    indices, distances = index.furthest()
    assert indices.tolist() == [1, 0, 0, 0, 0]
    assert not distances.any()


def test_of_equal_rows_the_first_is_named():
    indices, _ = furthest_rows(np.array([[0.0], [2.0], [2.0], [0.0], [1.0]]), EUCLIDEAN)
    assert indices.tolist() == [1, 0, 0, 1, 0]


def test_zeros_of_either_sign_are_equal():
    indices, distances = furthest_rows(np.array([[0.0], [-0.0], [0.0]]), EUCLIDEAN)
    assert indices.tolist() == [1, 0, 0]
    assert not distances.any()


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_sparse_equals_dense(shift, blocks):
    X = sp.random_array((150, 40), density=0.2, random_state=np.random.default_rng(0)).toarray()
    X[X != 0] += shift
    X[70:80] = X[:10]
    indices, distances = furthest_rows(sp.csr_array(X), EUCLIDEAN)
    expected = brute_force(X)
    np.testing.assert_array_equal(indices, expected[0])
    np.testing.assert_allclose(distances, expected[1], rtol=1e-14)


def test_sparse_rows_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(100, 5)) + 1e7
    indices, distances = furthest_rows(sp.csr_array(X), EUCLIDEAN)
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
def test_any_metric(metric, name, blocks):
    X = np.random.default_rng(0).normal(size=(60, 5))
    indices, distances = NeighborGraph.build(X, n_neighbors=3, metric=metric).index.furthest()
    D = cdist(X, X, name)
    np.testing.assert_array_equal(indices, D.argmax(axis=1))
    np.testing.assert_allclose(distances, D.max(axis=1), rtol=1e-12)


def test_ties_of_another_metric():
    X = np.round(np.random.default_rng(0).normal(size=(80, 3)))
    indices, _ = ExactIndex(X, PointSpace("manhattan")).furthest()
    D = cdist(X, X, "cityblock")
    np.testing.assert_array_equal(indices, D.argmax(axis=1))


@pytest.mark.parametrize("kind", ["real", "sphere", "integer"])
def test_order_of_rows(kind, blocks):
    X = KINDS[kind](np.random.default_rng(0).normal(size=(250, 4)))
    order = np.random.default_rng(1).permutation(len(X))
    indices, distances = furthest_rows(X, EUCLIDEAN)
    permuted, permuted_distances = furthest_rows(X[order], EUCLIDEAN)
    np.testing.assert_array_equal(permuted_distances, distances[order])
    if kind != "integer":  # no ties
        np.testing.assert_array_equal(order[permuted], indices[order])


def test_layout_of_memory():
    X = np.random.default_rng(0).normal(size=(250, 20))
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        found = furthest_rows(other, EUCLIDEAN)
        np.testing.assert_array_equal(found[0], furthest_rows(X, EUCLIDEAN)[0])


def test_number_of_threads(monkeypatch):
    X = on_sphere(3000, 8)
    one = furthest_rows(X, EUCLIDEAN)
    monkeypatch.setattr(furthest, "thread_limit", lambda: 3)
    three = furthest_rows(X, EUCLIDEAN)
    np.testing.assert_array_equal(one[0], three[0])
    np.testing.assert_array_equal(one[1], three[1])


@pytest.mark.parametrize(
    ("X", "share"),
    [
        (make_swiss_roll(5000, random_state=0)[0], 0.03),
        (make_swiss_roll(5000, random_state=0)[0] + 1e7, 0.03),
        (on_sphere(5000, 3), 0.1),  # every row is some row's furthest
        (np.random.default_rng(0).normal(size=(5000, 10)), 0.2),  # no groups of close rows
        (np.arange(5000.0)[:, None] % 3, 1e-5),
    ],
    ids=["roll", "far roll", "sphere", "normal", "copies"],
)
def test_few_candidates_are_compared(X, share, monkeypatch):
    compared = []
    compare = furthest._with_high_products

    def counted(queries, lifted, slack):
        compared.append(len(queries) * len(lifted))
        return compare(queries, lifted, slack)

    monkeypatch.setattr(furthest, "_with_high_products", counted)
    monkeypatch.setattr(furthest, "GROUP_SIZE", 64)
    furthest_rows(X, EUCLIDEAN)
    assert sum(compared) < share * len(X) ** 2


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_memory_is_bounded(metric, monkeypatch):
    monkeypatch.setattr(furthest, "ENTRIES_AT_ONCE", 2**18)
    X = on_sphere(3000, 12)
    tracemalloc.start()
    furthest_rows(X, PointSpace(metric))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * 8 * len(X) ** 2


def test_memory_is_bounded_where_all_are_ties(monkeypatch):
    held = []
    compare = furthest._furthest_among

    def watched(rows, queries, columns, *rest):
        held.append(len(queries) * len(columns))
        return compare(rows, queries, columns, *rest)

    monkeypatch.setattr(furthest, "_furthest_among", watched)
    monkeypatch.setattr(furthest, "ENTRIES_AT_ONCE", 10_000)
    X = 1e-9 * np.random.default_rng(0).normal(size=(1000, 3))
    X[::2, 0] += 1  # single precision sees two points
    assert_furthest(X, furthest_rows(X, EUCLIDEAN))
    assert max(held) <= 10_000


def test_simplex():
    indices, distances = furthest_rows(np.eye(100), EUCLIDEAN)
    assert indices.tolist() == [1] + [0] * 99
    np.testing.assert_array_equal(distances, np.sqrt(2))


def test_approximate_search_has_exact_furthest_neighbors():
    X = np.random.default_rng(0).normal(size=(1500, 7)) * [9, 8, 7, 1, 1, 1, 1]
    graph = NeighborGraph.build(X, n_neighbors=5, neighbor_search="approximate", random_state=0)
    assert_furthest(X, graph.index.furthest())


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_all_distances_precomputed(as_given):
    X = np.random.default_rng(0).integers(4, size=(40, 2)) + np.arange(40)[:, None] / 64
    D = cdist(X, X)
    given = D + 99 * np.eye(40)  # the diagonal says nothing
    given[0, 5] += 99  # of two the shorter counts
    indices, distances = PrecomputedIndex(as_given(given)).furthest()
    np.testing.assert_array_equal(indices, D.argmax(axis=1))
    np.testing.assert_array_equal(distances, D.max(axis=1))


def test_precomputed_zeros():
    indices, distances = PrecomputedIndex(np.zeros((4, 4))).furthest()
    assert indices.tolist() == [1, 0, 0, 0]
    assert not distances.any()


def test_some_distances_precomputed():
    D = cdist(*[np.random.default_rng(0).random((6, 2))] * 2)
    D[2, 3] = 0
    with pytest.raises(ValueError, match=r"are 29 of the 30 .* pass the full matrix"):
        PrecomputedIndex(sp.csr_array(D)).furthest()
