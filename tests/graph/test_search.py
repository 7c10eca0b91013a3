"""Neighbor searches: exact, approximate and precomputed, against brute force in numpy."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsTransformer

from labelfold import LaplacianEigenmaps, NeighborGraph
from labelfold.checks import seed_from
from labelfold.exceptions import ApproximateSearchWarning, FewNeighborsWarning, InputError
from labelfold.graph.neighbor_index import ExactIndex
from labelfold.graph.point_space import PointSpace
from labelfold.graph.precomputed import PrecomputedIndex
from labelfold.graph.search import make_index


def brute_force(X, Q, k, *, own):
    """The k nearest rows of X by (distance, row number)."""
    D = cdist(Q, X)
    if own:
        np.fill_diagonal(D, np.inf)
    order = np.lexsort((np.broadcast_to(np.arange(len(X)), D.shape), D), axis=1)[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def assert_found(found, expected):
    """Compare a search's sparse rows with lists of neighbors and distances."""
    indices, distances = expected
    order = np.argsort(indices, axis=1)
    k = indices.shape[1]
    np.testing.assert_array_equal(
        found.indices.reshape(-1, k), np.take_along_axis(indices, order, axis=1)
    )
    np.testing.assert_allclose(
        found.data.reshape(-1, k), np.take_along_axis(distances, order, axis=1), rtol=1e-12
    )


@pytest.mark.parametrize("n_features", [3, 30])
@pytest.mark.parametrize("kind", ["real", "integer", "far from the origin", "repeated"])
def test_exact_search(n_features, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, n_features))
    if kind == "integer":
        X = np.round(X)  # hundreds of ties at every cut-off
    elif kind == "far from the origin":
        X = X + 1e8
    elif kind == "repeated":
        X = X[rng.integers(40, size=300)]
    Q = X[:50] + rng.normal(size=(50, n_features))
    Q = np.round(Q) if kind == "integer" else Q
    index = ExactIndex(X, PointSpace("euclidean"))
    assert_found(index.neighbors(7), brute_force(X, X, 7, own=True))
    assert_found(index.query(Q, 7), brute_force(X, Q, 7, own=False))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "canberra", "correlation", "cosine"])
def test_any_metric(metric):
    X = np.random.default_rng(0).random((80, 20))
    graph = NeighborGraph.build(X, n_neighbors=5, metric=metric, weights="binary")
    D = cdist(X, X, metric={"manhattan": "cityblock"}.get(metric, metric))
    stored = graph.distances.tocoo()
    np.testing.assert_allclose(stored.data, D[stored.row, stored.col], rtol=1e-9, atol=1e-12)
    np.fill_diagonal(D, np.inf)
    nearest = D.argmin(axis=1)
    assert np.all(graph.adjacency.toarray()[np.arange(80), nearest] == 1)


@pytest.mark.parametrize("metric", ["minkowski", "sqeuclidean"])
def test_metrics_that_are_euclidean_in_disguise(metric):
    X = np.random.default_rng(0).normal(size=(80, 20)) + 1e8
    found = NeighborGraph.build(X, n_neighbors=5, metric=metric).index.neighbors(5)
    indices, distances = brute_force(X, X, 5, own=True)
    assert_found(found, (indices, distances**2 if metric == "sqeuclidean" else distances))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("n_features", [3, 40])
def test_sparse_equals_dense_and_may_be_mixed(metric, n_features):
    X = np.random.default_rng(0).random((200, n_features))
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0
    X[:, 0] += 0.1  # no empty row
    Q = X[:10] + 0.01
    dense = NeighborGraph.build(X, n_neighbors=6, metric=metric)
    sparse = NeighborGraph.build(sp.csr_array(X), n_neighbors=6, metric=metric)
    np.testing.assert_allclose(dense.distances.toarray(), sparse.distances.toarray(), atol=1e-15)
    expected = dense.distances_to(Q).toarray()
    for graph in (dense, sparse):
        for new in (Q, sp.csr_array(Q), sp.csr_matrix(Q)):
            found = graph.distances_to(new).toarray()
            np.testing.assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_cosine_of_short_rows(store):
    """Squares of such entries underflow, and scikit-learn leaves rows below 1e-15 as they are."""
    X = np.random.default_rng(0).uniform(0.1, 1, (60, 4))
    graph = NeighborGraph.build(store(X), n_neighbors=5, metric="cosine")
    lengths = 10.0 ** np.linspace(0, -300, 60)[:, None]
    short = NeighborGraph.build(store(X * lengths), n_neighbors=5, metric="cosine")
    np.testing.assert_array_equal(short.distances.indices, graph.distances.indices)
    np.testing.assert_allclose(short.distances.data, graph.distances.data, rtol=1e-9, atol=1e-16)
    model = LaplacianEigenmaps(n_neighbors=5, metric="cosine").fit(store(X))
    Q = X[:30] + 0.01
    for length in (1e-17, 1e-90, 1e-170, 1e-300):
        np.testing.assert_allclose(
            model.transform(store(length * Q)), model.transform(store(Q)), rtol=1e-7, atol=1e-12
        )


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_cosine_of_a_row_of_zeros_raises(store):
    X = np.eye(5)
    X[3] = 0
    with pytest.raises(ValueError, match="row 3"):
        NeighborGraph.build(store(X), n_neighbors=2, metric="cosine")


class TestApproximate:
    @pytest.fixture(scope="class")
    @classmethod
    def X(cls):
        rng = np.random.default_rng(0)
        centers = rng.normal(size=(60, 30)) * 3
        return centers[rng.integers(60, size=4000)] + rng.normal(size=(4000, 30))

    @pytest.fixture(scope="class")
    @classmethod
    def graph(cls, X):
        return NeighborGraph.build(X, n_neighbors=8, neighbor_search="approximate", random_state=0)

    def test_recall_is_kept_and_true_and_distances_are_exact(self, X, graph):
        assert graph.search.backend.startswith("faiss IVF-flat")
        assert graph.search.n_checked == 300
        assert graph.search.recall >= 0.99
        found = graph.index.neighbors(8).indices.reshape(-1, 8)
        true, _ = brute_force(X, X, 8, own=True)
        hits = np.mean([len(set(a) & set(b)) / 8 for a, b in zip(found, true, strict=True)])
        assert hits >= 0.98
        stored = graph.distances.tocoo()
        exact = np.linalg.norm(X[stored.row] - X[stored.col], axis=1)
        np.testing.assert_allclose(stored.data, exact, rtol=1e-13)

    def test_same_graph_for_any_number_of_threads(self, X, graph):
        for n_jobs in (1, 2):
            other = NeighborGraph.build(
                X, n_neighbors=8, neighbor_search="approximate", random_state=0, n_jobs=n_jobs
            )
            assert (other.adjacency != graph.adjacency).nnz == 0
            assert other.search == graph.search

    def test_no_seed_is_a_fixed_seed(self, X, graph):
        other = NeighborGraph.build(X, n_neighbors=8, neighbor_search="approximate")
        assert (other.adjacency != graph.adjacency).nnz == 0
        generator = np.random.RandomState(0)
        first, second = seed_from(generator), seed_from(generator)
        assert first == seed_from(0) == seed_from(None) != second
        with pytest.raises(InputError, match="'a' cannot be used to seed"):
            seed_from("a")

    def test_pickle_and_one_by_one_find_the_same(self, X, graph):
        Q = X[:100] + 0.1
        together, again = graph.distances_to(Q), pickle.loads(pickle.dumps(graph)).distances_to(Q)
        np.testing.assert_array_equal(together.indices, again.indices)
        np.testing.assert_array_equal(together.data, again.data)
        for i in range(30):
            alone = graph.distances_to(Q[[i]])
            np.testing.assert_array_equal(together[[i]].indices, alone.indices)

    def test_cosine(self, X):
        graph = NeighborGraph.build(
            X, n_neighbors=8, metric="cosine", neighbor_search="approximate", random_state=0
        )
        assert "faiss" in graph.search.backend
        assert graph.search.recall >= 0.99

    def test_exact_where_float32_is_not_enough(self, X):
        far = X.copy()
        far[2000:] += 1e9
        with pytest.warns(ApproximateSearchWarning, match="recall"):
            graph = NeighborGraph.build(
                far, n_neighbors=8, neighbor_search="approximate", random_state=0
            )
        assert graph.search.recall == 1.0
        assert_found(graph.index.neighbors(8), brute_force(far, far, 8, own=True))

    @pytest.mark.parametrize("kind", ["sparse", "manhattan"])
    def test_exact_where_it_can_not_serve(self, X, kind):
        rows = sp.csr_array(X[:300]) if kind == "sparse" else X[:300]
        metric = "manhattan" if kind == "manhattan" else "euclidean"
        with pytest.warns(ApproximateSearchWarning, match=kind):
            graph = NeighborGraph.build(rows, metric=metric, neighbor_search="approximate")
        assert graph.search.recall == 1.0

    def test_many_equal_rows(self, X):
        rows = np.vstack([X[:500], np.repeat(X[:1], 300, axis=0)])
        graph = NeighborGraph.build(
            rows, n_neighbors=8, neighbor_search="approximate", random_state=0
        )
        assert graph.statistics.n_duplicates == 301


def test_precomputed_equals_computed():
    X = np.random.default_rng(0).normal(size=(150, 5))
    X[7] = X[11]  # an explicit zero in the precomputed matrix
    given = KNeighborsTransformer(n_neighbors=9, mode="distance").fit(X)
    computed = NeighborGraph.build(X, n_neighbors=6)
    precomputed = NeighborGraph.build(given.transform(X), n_neighbors=6, metric="precomputed")
    np.testing.assert_allclose(precomputed.adjacency.toarray(), computed.adjacency.toarray())
    assert precomputed.adjacency[7, 11] == 1
    dense = NeighborGraph.build(cdist(X, X), n_neighbors=6, metric="precomputed")
    np.testing.assert_allclose(dense.adjacency.toarray(), computed.adjacency.toarray())
    Q = X[:20] + 0.01
    a = computed.distances_to(Q).toarray()
    np.testing.assert_allclose(precomputed.distances_to(given.transform(Q)).toarray(), a)
    np.testing.assert_allclose(dense.distances_to(cdist(Q, X)).toarray(), a)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((4, 3)), "square"),
        (-np.ones((4, 4)), "negative"),
        (sp.csr_array(np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0.0]])), "Row 0 .* has 1 neighbors"),
    ],
)
def test_bad_precomputed(given, message):
    with pytest.raises(ValueError, match=message):
        NeighborGraph.build(given, n_neighbors=2, metric="precomputed")


def test_given_distances_that_differ_both_ways_count_as_the_shorter():
    given = np.array([[0, 1.0, 4], [3, 0, 2], [4, 5, 0]])
    graph = NeighborGraph.build(given, n_neighbors=2, metric="precomputed")
    np.testing.assert_array_equal(graph.distances.toarray(), [[0, 1, 4], [1, 0, 2], [4, 2, 0]])


def test_radius_is_an_epsilon_ball():
    X = np.random.default_rng(0).random((200, 2))
    graph = NeighborGraph.build(X, radius=0.15, weights="binary")
    D = cdist(X, X)
    np.testing.assert_array_equal(graph.adjacency.toarray(), (D <= 0.15) & ~np.eye(200, dtype=bool))


@pytest.mark.parametrize("n_features", [1, 20])
def test_radius_includes_its_end_even_far_from_the_origin(n_features):
    X = np.zeros((20, n_features))
    X[:, 0] = np.arange(20) * 0.25
    X[10:] += 1e6  # the search expands squares, which loses all digits here
    graph = NeighborGraph.build(X, radius=0.25, weights="binary")
    np.testing.assert_array_equal(
        graph.adjacency.toarray(), (cdist(X, X) <= 0.25) & ~np.eye(20, dtype=bool)
    )


def test_new_row_outside_the_radius_gets_its_nearest():
    X = np.random.default_rng(0).random((50, 2))
    graph = NeighborGraph.build(X, radius=0.3)
    found = graph.distances_to(np.array([[0.5, 0.5], [30.0, 40.0]]))
    assert np.diff(found.indptr)[1] == 1
    assert found[[1]].indices[0] == np.argmax(X @ [0.6, 0.8])


def test_too_many_neighbors_are_lowered_with_a_warning():
    X = np.random.default_rng(0).random((5, 2))
    with pytest.warns(FewNeighborsWarning, match="n_neighbors=12 is more than the 4 other"):
        graph = NeighborGraph.build(X)
    assert graph.adjacency.nnz == 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 2.5}, r"n_neighbors=2\.5"),
        ({"radius": -1}, "radius=-1"),
        ({"radius": np.inf}, "radius=inf"),
        ({"neighbor_search": "magic"}, "neighbor_search='magic'"),
        ({"weights": "magic"}, "weights='magic'"),
        ({"scale": "magic"}, "scale='magic'"),
        ({"scale": 0}, "scale=0"),
        ({"scale": [1.0, 2.0]}, r"scale has shape \(2,\) but X has 20 rows"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        NeighborGraph.build(np.random.default_rng(0).random((20, 2)), **arguments)


class TestAmong:
    """An index of some rows finds what a search among them alone would find."""

    @pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "precomputed"])
    @pytest.mark.parametrize("is_sparse", [False, True])
    def test_is_the_index_of_those_rows(self, metric, is_sparse):
        rng = np.random.default_rng(0)
        X = rng.uniform(1, 2, (40, 5))
        rows = np.array([7, 3, 21, 30, 5, 11, 38])
        given, alone = X, X[rows]
        if metric == "precomputed":
            given = cdist(X, X)
            alone = given[np.ix_(rows, rows)]
        if is_sparse:
            given, alone = sp.csr_array(given), sp.csr_array(alone)
        part = make_index(given, metric, n_neighbors=3).among(rows)
        expected = make_index(alone, metric, n_neighbors=3)
        assert part.n_points == len(rows)
        np.testing.assert_allclose(part.neighbors(3).toarray(), expected.neighbors(3).toarray())

    def test_precomputed_zeros_stay_neighbors(self):
        given = sp.csr_array(([0.0, 1.0, 0.0, 2.0, 1.0, 2.0], [1, 2, 0, 2, 0, 1], [0, 2, 4, 6]))
        part = PrecomputedIndex(given).among(np.array([1, 0]))
        assert part.neighbors(1).toarray().tolist() == [[0, 0], [0, 0]]
        assert part.neighbors(1).nnz == 2
