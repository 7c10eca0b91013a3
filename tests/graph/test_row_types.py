"""Rows of narrow types: the graph is that of the same values in float64, without a copy of them."""

import pickle
import tracemalloc

import numpy as np
import pytest

from labelfold import CCDR, GraphLayout, LaplacianEigenmaps, NeighborGraph, hide_labels
from labelfold.checks import row_blocks
from labelfold.exceptions import InputError
from labelfold.graph import neighbor_index
from labelfold.graph.added_rows import add_rows
from labelfold.graph.search import InvertedFileIndex

TYPES = ("float32", "float16", "int8")


def narrow_rows(kind, n=2500, n_features=12):
    """Rows on a curved sheet, so that an inverted file finds the neighbors; some are equal."""
    rng = np.random.default_rng(0)
    plane = rng.uniform(-3, 3, size=(n, 2))
    X = 12 * np.sin(plane @ rng.normal(size=(2, n_features))) + rng.normal(size=(n, n_features))
    X[-20:] = X[:20]
    return np.asarray(8 * X if kind == "int8" else X).astype(kind)


def assert_same_graph(a, b):
    for name in ("distances", "adjacency"):
        one, other = getattr(a, name), getattr(b, name)
        np.testing.assert_array_equal(one.indptr, other.indptr)
        np.testing.assert_array_equal(one.indices, other.indices)
        np.testing.assert_array_equal(one.data, other.data)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("search", ["exact", "approximate"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
class TestGraph:
    @pytest.fixture
    def graphs(self, kind, search, metric):
        X = narrow_rows(kind)
        settings = {"n_neighbors": 8, "metric": metric, "neighbor_search": search}
        narrow = NeighborGraph.build(X, **settings)
        assert isinstance(narrow.index, InvertedFileIndex) == (search == "approximate")
        assert narrow.index.X.dtype == kind
        return X, narrow, NeighborGraph.build(X.astype(float), **settings)

    def test_it_is_that_of_the_same_values_in_float64(self, graphs):
        _, narrow, wide = graphs
        assert_same_graph(narrow, wide)
        assert narrow.search == wide.search
        np.testing.assert_array_equal(narrow.equal_groups, wide.equal_groups)

    def test_new_rows_of_any_type(self, graphs):
        X, narrow, wide = graphs
        new = X[::50] + np.ones(1, dtype=X.dtype)
        expected = wide.distances_to(new.astype(float))
        for graph in (narrow, wide, pickle.loads(pickle.dumps(narrow))):
            for rows in (new, new.astype(float)):
                found = graph.distances_to(rows)
                np.testing.assert_array_equal(found.indices, expected.indices)
                np.testing.assert_array_equal(found.data, expected.data)
        assert_same_graph(add_rows(narrow, new), add_rows(wide, new.astype(float)))

    def test_equal_rows_match_whatever_their_type(self, graphs):
        X, narrow, wide = graphs
        other = X.copy()
        other[-1, -1] += 1
        for graph in (narrow, wide):
            assert graph.index.same_as(X)
            assert graph.index.same_as(X.astype(float))
            assert not graph.index.same_as(other)


@pytest.mark.parametrize("kind", TYPES)
def test_bridges_and_other_metrics(kind):
    X = (narrow_rows("float64", n=400) / 4).astype(kind)
    X[200:380] += np.asarray(100, dtype=kind)  # far from the others
    for metric in ("euclidean", "manhattan"):
        graphs = [NeighborGraph.build(rows, metric=metric) for rows in (X, X.astype(float))]
        assert_same_graph(*(graph.bridged() for graph in graphs))
        assert len(graphs[0].bridged().bridges) >= 1


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("estimator", [CCDR(3), LaplacianEigenmaps(3)])
def test_eigenmaps(kind, estimator):
    X = narrow_rows(kind)
    y = hide_labels(np.digitize(X[:, 0].astype(float), [-20, 0, 20]), keep=range(0, 2500, 50))
    narrow = estimator.fit(X, y)
    coordinates, new = narrow.embedding_, narrow.transform(X[:30])
    assert narrow.graph_.index.X.dtype == kind
    assert coordinates.dtype == new.dtype == np.float64
    wide = estimator.fit(X.astype(float), y)
    bases = [np.linalg.qr(one)[0] for one in (coordinates, wide.embedding_)]
    cosines = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
    assert np.arccos(np.minimum(cosines, 1)).max() < 1e-3
    np.testing.assert_allclose(new, wide.transform(X[:30]), atol=1e-6)


def test_layouts():
    X = narrow_rows("float32", n=300)
    layouts = [GraphLayout(random_state=0).fit(rows) for rows in (X, X.astype(float))]
    np.testing.assert_array_equal(*(layout.embedding_ for layout in layouts))


def test_a_graph_of_narrow_rows_serves_wide_ones():
    X = narrow_rows("float16", n=300)
    graph = NeighborGraph.build(X)
    assert LaplacianEigenmaps().fit(X.astype(float), graph=graph).graph_ is graph


def test_other_types_become_float64():
    X = narrow_rows("int8", n=300)
    for kind in ("int64", "uint8", "bool", "float64"):
        assert NeighborGraph.build(X.astype(kind)).index.X.dtype == np.float64
    assert NeighborGraph.build(X.tolist()).index.X.dtype == np.float64


@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_and_infinite_entries(kind, value):
    X = narrow_rows(kind, n=300)
    X[200, 3] = value
    said = "contains NaN" if np.isnan(value) else "contains infinity"
    with pytest.raises(InputError, match=said):
        NeighborGraph.build(X)
    with pytest.raises(InputError, match=said):
        CCDR().fit(X)


def test_large_float16_sums_are_no_infinite_entries():
    X = np.full((300, 50), 6e4, dtype=np.float16) + np.arange(300, dtype=np.float16)[:, None] * 8
    assert NeighborGraph.build(X).index.X.dtype == np.float16


def test_cosine_of_a_narrow_row_of_zeros_raises():
    X = narrow_rows("int8")
    X[2400] = 0
    with pytest.raises(InputError, match=r"row 2400 \(1 of 2500 rows\)"):
        NeighborGraph.build(X, metric="cosine", neighbor_search="approximate")


class TestWhatIsHeld:
    def test_few_rows_are_copied(self):
        X = narrow_rows("float32", n=300)
        index = NeighborGraph.build(X).index
        X[:] = 0
        assert index.X.any()

    def test_many_rows_are_not(self, monkeypatch):
        X = narrow_rows("float32", n=300)
        monkeypatch.setattr(neighbor_index, "LARGEST_COPY", X.nbytes - 1)
        assert np.shares_memory(NeighborGraph.build(X).index.X, X)
        assert np.shares_memory(CCDR().fit(X).graph_.index.X, X)

    def test_a_read_only_memory_map_is_not_read_into_memory(self, tmp_path, monkeypatch):
        X = narrow_rows("float16", n=20_000, n_features=384)
        np.save(tmp_path / "rows.npy", X)
        mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
        monkeypatch.setattr(neighbor_index, "LARGEST_COPY", 0)
        expected = NeighborGraph.build(X, n_neighbors=5, neighbor_search="approximate")
        tracemalloc.start()
        graph = NeighborGraph.build(mapped, n_neighbors=5, neighbor_search="approximate")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert_same_graph(graph, expected)
        assert np.shares_memory(graph.index.X, mapped)
        assert peak < 6 * 8 * 2**22  # a few blocks; all rows in float64 take 61 MB more of them


@pytest.mark.parametrize("n_columns", [1, 50, 384, 10**7])
@pytest.mark.parametrize("n_rows", [0, 1, 4096, 4100, 70_000, 200_000])
def test_blocks_cover_all_rows_and_leave_no_short_rest(n_rows, n_columns):
    blocks = list(row_blocks(n_rows, n_columns))
    np.testing.assert_array_equal(
        np.concatenate([np.arange(n_rows)[block] for block in blocks]), np.arange(n_rows)
    )
    sizes = [block.stop - block.start for block in blocks]
    assert all((size - 4096) * n_columns < 2**22 for size in sizes[:-1])
    assert len(sizes) == 1 or 409 < sizes[-1] < 1.1 * sizes[0]
