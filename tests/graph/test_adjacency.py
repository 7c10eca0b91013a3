"""Sparse matrices as graphs, in one range of rows and in many."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelfold.graph import adjacency
from labelfold.graph.adjacency import keep_nearest, listed_by_both, row_ranges, symmetrize
from labelfold.graph.weights import automatic_scale


@pytest.fixture(params=[7, 2**20])
def n_at_once(request, monkeypatch):
    monkeypatch.setattr(adjacency, "EDGES_AT_ONCE", request.param)


@pytest.fixture
def lists():
    """Lists of four neighbors among 60 points, with zeros, ties and lengths that differ."""
    rng = np.random.default_rng(0)
    columns = np.array([rng.permutation(np.delete(np.arange(60), i))[:4] for i in range(60)])
    lengths = rng.integers(4, size=columns.size) / 3
    ends = np.repeat(np.arange(60), 4), columns.ravel()
    return sp.csr_array((lengths, ends), shape=(60, 60))


def entries_of(matrix):
    """The stored entries by their place, zeros among them."""
    entries = matrix.tocoo()
    return dict(zip(zip(entries.row, entries.col, strict=True), entries.data, strict=True))


def test_an_edge_has_the_shorter_length(lists, n_at_once):
    given, expected = entries_of(lists), {}
    for (i, j), length in given.items():
        expected[i, j] = expected[j, i] = min(length, given.get((j, i), np.inf))
    found = symmetrize(lists)
    assert found.has_canonical_format
    assert found.indices.dtype == found.indptr.dtype == np.int32
    assert 0 in found.data
    assert entries_of(found) == expected


def test_which_edges_both_ends_list(lists, n_at_once):
    given, graph = entries_of(lists), symmetrize(lists)
    both = listed_by_both(lists)
    places = zip(*graph.tocoo().coords, strict=True)
    assert [(i, j) in given and (j, i) in given for i, j in places] == both.tolist()
    assert 0 < both.sum() < len(both)


def test_no_edges(n_at_once):
    empty = sp.csr_array((5, 5))
    assert symmetrize(empty).nnz == 0
    assert len(listed_by_both(empty)) == 0
    assert automatic_scale(empty) == 1


@pytest.mark.parametrize("ties", [False, True])
def test_the_nearest_of_every_row(lists, n_at_once, ties):
    distances = symmetrize(lists)
    found = keep_nearest(distances, 3, ties=ties)
    for i in range(60):
        row, kept = (entries_of(one[[i]]) for one in (distances, found))
        nearest = sorted(row, key=lambda place: (row[place], place))[:3]
        if ties:
            nearest = [place for place in row if row[place] <= row[nearest[-1]]]
        assert sorted(kept) == sorted(nearest)


def test_the_scale_leaves_out_equal_points(lists, n_at_once):
    dense = [row[row > 0] for row in symmetrize(lists).toarray()]
    expected = 10 * np.mean([row.min() ** 2 for row in dense if len(row)])
    assert automatic_scale(symmetrize(lists)) == pytest.approx(expected)


def test_ranges_cover_all_rows(lists, n_at_once):
    rows, entries = zip(*row_ranges(lists), strict=True)
    for parts, end in ((rows, 60), (entries, lists.nnz)):
        assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
        assert parts[-1].stop == end
