"""Blocks hold what their reach promises, and are of about equal size."""

import numpy as np
import pytest
from scipy.spatial import KDTree

from labelfold.distributed.blocks import Blocks, count_cells, find_blocks, search_block
from labelfold.exceptions import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4000, 5)).astype(np.float32)


@pytest.fixture(scope="module")
def blocks():
    return find_blocks(X[:2000], 5, 80, copies=2.0, seed=0)


def test_all_neighbors_within_the_reach_are_in_the_block(blocks):
    row, block, cell = blocks.members(X)
    held = np.zeros((len(X), 5), dtype=bool)
    held[row, block] = True
    own = np.empty(len(X), dtype=int)
    own[row] = blocks.block_of[cell]
    pairs = KDTree(X).query_pairs(blocks.reach * (1 - 1e-6), output_type="ndarray")
    assert len(pairs) > 500
    assert held[pairs[:, 0], own[pairs[:, 1]]].all()
    assert held[pairs[:, 1], own[pairs[:, 0]]].all()
    assert held[np.arange(len(X)), own].all()


def test_the_distance_to_a_border_is_that_to_a_plane():
    centroids = np.array([[0, 0], [4, 0], [0, 6]], dtype=np.float32)
    blocks = Blocks(centroids, np.array([0, 1, 2]), 1.5)
    rows = np.array([[1, 2], [3, 0]], dtype=np.float32)
    [(_, cells, beyond)] = blocks.measure(rows)
    assert cells.tolist() == [0, 1]
    # To the planes x = 2 and y = 3, back to x = 2, and to the one between (4, 0) and (0, 6).
    middle = (np.hypot(3, 6) ** 2 - 1) / (2 * np.hypot(4, 6))
    np.testing.assert_allclose(beyond, [[-1, 1, 1], [1, -1, middle]])
    assert [one.tolist() for one in blocks.members(rows)] == [
        [0, 0, 0, 1, 1],
        [0, 1, 2, 0, 1],
        [0, 0, 0, 1, 1],
    ]


def test_blocks_are_of_about_equal_size_with_the_copies_asked_for(blocks):
    row, _, cell = blocks.members(X)
    sizes = np.bincount(blocks.block_of[cell][np.unique(row, return_index=True)[1]])
    assert sizes.min() > 0.7 * len(X) / 5
    assert sizes.max() < 1.3 * len(X) / 5
    assert len(row) / len(X) == pytest.approx(2.0, rel=0.1)


def test_the_same_seed_gives_the_same_blocks(blocks):
    again = find_blocks(X[:2000], 5, 80, copies=2.0, seed=0)
    np.testing.assert_array_equal(again.centroids, blocks.centroids)
    assert again.reach == blocks.reach


def test_equal_rows_are_one_block():
    blocks = find_blocks(np.ones((100, 3), dtype=np.float32), 4, 16, copies=2.0, seed=0)
    assert len(blocks.members(np.ones((7, 3), dtype=np.float32))[0]) == 7


def test_a_block_is_searched_for_its_own_rows():
    indices, distances = search_block(X, 50, 4, seed=0)
    true = KDTree(X).query(X[:50], 5)
    np.testing.assert_array_equal(indices, true[1][:, 1:])
    np.testing.assert_allclose(distances, true[0][:, 1:], rtol=1e-6)


def test_a_block_without_enough_rows_is_an_error():
    with pytest.raises(InputError, match="10 rows, and 10 neighbors of each are wanted"):
        search_block(X[:10], 5, 10, seed=0)


def test_numbers_of_cells_are_bounded():
    assert count_cells(1_000_000, 100_000) == (10, 160)
    assert count_cells(10**9, 100_000) == (10_000, 10_000)
