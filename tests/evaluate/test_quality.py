import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cityblock
from scipy.stats import special_ortho_group
from sklearn import manifold
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from labelfold import hide_labels
from labelfold.evaluate import quality
from labelfold.evaluate.quality import continuity, knn_error, trustworthiness

both = pytest.mark.parametrize("measure", [trustworthiness, continuity])
METRICS = ["euclidean", "l2", "sqeuclidean", "minkowski", "cosine", "manhattan", "chebyshev"]


def points_and_map(n_samples=150, n_features=8, *, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    return X, X[:, :2] + 0.3 * rng.normal(size=(n_samples, 2))


def from_all_distances(measure, X, embedding, *, n_neighbors, metric):
    """The definition, with all ranks in both spaces."""
    in_data, in_map = (
        pairwise_distances(points, metric=kind).argsort(axis=1, kind="stable").argsort(axis=1)
        for points, kind in ((X, metric), (embedding, "euclidean"))
    )
    chosen, ranks = (in_map, in_data) if measure is trustworthiness else (in_data, in_map)
    near = (chosen >= 1) & (chosen <= n_neighbors)
    excess = np.maximum(ranks[near] - n_neighbors, 0).sum()
    n = len(X)
    return 1 - 2 * excess / (n * n_neighbors * (2 * n - 3 * n_neighbors - 1))


# Trustworthiness and continuity


@both
@pytest.mark.parametrize("n_neighbors", [1, 5, 20])
@pytest.mark.parametrize("n_features", [2, 8, 40])
def test_a_map_that_changes_nothing_is_perfect(measure, n_features, n_neighbors):
    X, _ = points_and_map(n_features=n_features)
    assert measure(X, X, n_neighbors=n_neighbors) == 1.0
    assert measure(X, 3 * X + 1, n_neighbors=n_neighbors) == 1.0


@both
@pytest.mark.parametrize("n_features", [2, 8])
def test_equal_distances_and_equal_rows_do_not_spoil_a_perfect_map(measure, n_features):
    X = np.random.default_rng(0).integers(3, size=(120, n_features)) + 1000
    assert len(np.unique(X, axis=0)) < 120
    assert measure(X, X) == 1.0


def test_by_hand():
    # Point 4 comes to lie between the points 1 and 2. Nearest in the map are the points
    # 1, 4, 4, 2, 1, with ranks 1, 4, 4, 1, 3 in the data: an excess of 8, times 2 / (5 * 6).
    # Nearest in the data are 1, 0, 1, 2, 3, with ranks 1, 2, 2, 1, 4 in the map: an excess of 5.
    X = [[0.0], [1.0], [3.0], [7.0], [15.0]]
    embedding = [[0.0], [1.0], [3.0], [7.0], [1.9]]
    assert trustworthiness(X, embedding, n_neighbors=1) == pytest.approx(7 / 15, abs=1e-15)
    assert continuity(X, embedding, n_neighbors=1) == pytest.approx(2 / 3, abs=1e-15)


def test_worst_map():
    # Each point's nearest in the map is its farthest in the data.
    assert trustworthiness([[0.0], [1.0], [3.0]], [[1.0], [-2.0], [0.0]], n_neighbors=1) == 0.0


@both
def test_random_map_is_half_way(measure):
    X, _ = points_and_map(400)
    embedding = np.random.default_rng(1).normal(size=(400, 2))
    assert measure(X, embedding) == pytest.approx(0.5, abs=0.05)


def test_map_of_a_single_place_is_not_continuous():
    X, _ = points_and_map(400)
    assert continuity(X, np.zeros((400, 2))) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("n_neighbors", [1, 5, 74])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("n_features", [2, 8, 40])
def test_agrees_with_scikit_learn(n_neighbors, seed, n_features):
    X, embedding = points_and_map(n_features=n_features, seed=seed)
    found = trustworthiness(X, embedding, n_neighbors=n_neighbors)
    expected = manifold.trustworthiness(X, embedding, n_neighbors=n_neighbors)
    assert isinstance(found, float)
    assert found == pytest.approx(expected, abs=1e-12)
    found = continuity(X, embedding, n_neighbors=n_neighbors)
    expected = manifold.trustworthiness(embedding, X, n_neighbors=n_neighbors)
    assert isinstance(found, float)
    assert found == pytest.approx(expected, abs=1e-12)


@both
@pytest.mark.parametrize("metric", METRICS)
def test_metric_is_that_of_the_data(measure, metric):
    X, embedding = points_and_map()
    found = measure(X, embedding, n_neighbors=7, metric=metric)
    expected = from_all_distances(measure, X, embedding, n_neighbors=7, metric=metric)
    assert found == pytest.approx(expected, abs=1e-12)
    if metric == "manhattan":
        by_function = measure(X, embedding, n_neighbors=7, metric=cityblock)
        assert by_function == pytest.approx(found, abs=1e-12)


@both
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_sparse_is_dense(measure, container, metric):
    X, embedding = points_and_map(n_features=20)
    X[np.abs(X) < 1] = 0
    expected = measure(X, embedding, metric=metric)
    assert measure(container(X), embedding, metric=metric) == pytest.approx(expected, abs=1e-12)


@both
@pytest.mark.parametrize("shift", [1.0, 1e6])
def test_order_motion_and_storage_change_nothing(measure, shift):
    X, embedding = points_and_map()
    X_before, embedding_before = X.copy(), embedding.copy()
    expected = measure(X, embedding)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(embedding, embedding_before)
    assert measure(pd.DataFrame(X), pd.DataFrame(embedding)) == expected
    moved = X @ special_ortho_group.rvs(X.shape[1], random_state=0) + shift
    turned = embedding @ special_ortho_group.rvs(2, random_state=1) - shift
    order = np.random.default_rng(1).permutation(len(X))
    assert measure(moved[order], turned[order]) == pytest.approx(expected, abs=1e-12)


# Some rows, and blocks of rows


@both
def test_some_rows_are_close_to_all_and_reproducible(measure):
    X, embedding = points_and_map(1000)
    everything = measure(X, embedding)
    some = measure(X, embedding, n_rows=300, random_state=0)
    assert some == pytest.approx(everything, abs=0.02)
    assert some != everything
    assert some == measure(X, embedding, n_rows=300, random_state=0)
    assert some == measure(X, embedding, n_rows=300, random_state=np.random.RandomState(0))
    assert some != measure(X, embedding, n_rows=300, random_state=1)


@both
@pytest.mark.parametrize("n_rows", [150, 151, np.int64(10**9)])
def test_as_many_rows_as_there_are(measure, n_rows):
    X, embedding = points_and_map()
    assert measure(X, embedding, n_rows=n_rows) == measure(X, embedding)


@both
def test_mean_over_samples_is_the_value_of_all_rows(measure):
    X, embedding = points_and_map(60)
    samples = [measure(X, embedding, n_rows=20, random_state=seed) for seed in range(200)]
    error = np.std(samples) / np.sqrt(len(samples))
    assert np.mean(samples) == pytest.approx(measure(X, embedding), abs=4 * error)


@both
def test_equal_rows_are_neighbors_in_a_sample_too(measure):
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 3)), 4, axis=0).round(1)
    assert measure(X, X, n_neighbors=2, n_rows=40, random_state=0) == 1.0


@both
@pytest.mark.parametrize("n_rows", [None, 50])
def test_blocks_make_no_difference(measure, n_rows, monkeypatch):
    X, embedding = points_and_map()
    whole = measure(X, embedding, n_rows=n_rows, random_state=0)
    monkeypatch.setattr(quality, "BLOCK_MEBIBYTES", 0.01)
    assert measure(X, embedding, n_rows=n_rows, random_state=0) == pytest.approx(whole, abs=1e-12)


@both
def test_distances_are_not_held_all_at_once(measure, monkeypatch):
    n_samples = 3000
    X, embedding = points_and_map(n_samples)
    monkeypatch.setattr(quality, "BLOCK_MEBIBYTES", 4)
    tracemalloc.start()
    try:
        measure(X, embedding)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * n_samples**2 / 3


# Error of the nearest-neighbour rule


def test_error_by_hand():
    # Nearest others: 1, 0, 1, 4, 3. Only row 2 has another class than its neighbour.
    embedding = [[0.0], [0.4], [1.0], [5.0], [5.5]]
    assert knn_error(embedding, ["a", "a", "b", "b", "b"], n_neighbors=1) == pytest.approx(0.2)


@pytest.mark.parametrize("n_neighbors", [1, 2, 3, 4, 10])
@pytest.mark.parametrize("n_components", [2, 20])
def test_error_is_that_of_leave_one_out(n_neighbors, n_components):
    rng = np.random.default_rng(0)
    embedding = rng.normal(size=(120, n_components))
    y = rng.integers(3, size=120) + (embedding[:, 0] > 0)
    rule = KNeighborsClassifier(n_neighbors)
    expected = 1 - cross_val_score(rule, embedding, y, cv=LeaveOneOut()).mean()
    assert knn_error(embedding, y, n_neighbors=n_neighbors) == pytest.approx(expected, abs=1e-12)


def test_of_equally_frequent_labels_the_smallest_counts():
    embedding = [[0.0], [1.0], [2.1]]
    assert knn_error(embedding, ["b", "a", "c"], n_neighbors=2) == 1.0
    # The last two rows have the voters b and a, and are right by this rule.
    assert knn_error(embedding, ["b", "a", "a"], n_neighbors=2) == pytest.approx(1 / 3)


@pytest.mark.parametrize("n_components", [1, 20])
@pytest.mark.parametrize("n_equal", [2, 5, 30])
def test_no_row_votes_for_itself_among_equal_rows(n_equal, n_components):
    # Every place holds rows of different classes: a row can only be right by its own vote.
    embedding = np.repeat(np.arange(3.0), n_equal)[:, None] * np.ones(n_components)
    y = np.arange(3 * n_equal)
    assert knn_error(embedding, y, n_neighbors=1) == 1.0


def test_equal_rows_vote_for_each_other():
    embedding = np.repeat([[0.0], [0.1], [0.2]], 3, axis=0)
    assert knn_error(embedding, np.repeat([0, 1, 2], 3), n_neighbors=2) == 0.0


@pytest.mark.parametrize("y", [np.arange(60) % 3, np.array(list("abc") * 20)])
def test_unlabeled_rows_neither_count_nor_vote(y):
    embedding = np.random.default_rng(0).normal(size=(60, 2))
    keep = np.arange(0, 60, 2)
    expected = knn_error(embedding[keep], y[keep])
    assert knn_error(embedding, hide_labels(y, keep)) == expected
    with_none = y.astype(object)
    for mark in (None, np.nan):
        with_none[1::2] = mark
        assert knn_error(embedding, with_none) == expected


def test_rigid_motion_and_order_do_not_change_the_error():
    rng = np.random.default_rng(0)
    embedding = rng.normal(size=(100, 3))
    y = (embedding[:, 0] + rng.normal(size=100) > 0).astype(int)
    expected = knn_error(embedding, y)
    assert 0 < expected < 1
    order = rng.permutation(100)
    assert knn_error(embedding[order], y[order]) == expected
    turn = special_ortho_group.rvs(3, random_state=0)
    assert knn_error(embedding @ turn + 100, y) == expected


# Bad input


@both
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_neighbors": 5}, ValueError, "n_neighbors=5 must be less than half .* 10 rows: lower"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors=0 must be at least 1"),
        ({"n_neighbors": 2.0}, TypeError, r"n_neighbors=2\.0 must be an integer"),
        ({"n_neighbors": True}, TypeError, "n_neighbors=True must be an integer"),
        ({"n_rows": 0}, ValueError, "n_rows=0 must be"),
        ({"n_rows": -1}, ValueError, "n_rows=-1 must be"),
        ({"n_rows": 0.5}, TypeError, "n_rows=0.5 must be"),
        ({"metric": "precomputed"}, ValueError, r"'precomputed' is not available.*pass the point"),
        ({"embedding": np.zeros((9, 2))}, ValueError, "embedding has 9 rows but X has 10: give"),
        ({"embedding": np.zeros(10)}, ValueError, "Expected 2D array, got 1D array"),
    ],
)
def test_bad_arguments(measure, options, error, message):
    X, embedding = points_and_map(10)
    with pytest.raises(error, match=message):
        measure(X, **{"embedding": embedding, "n_neighbors": 2, **options})


@pytest.mark.parametrize(
    ("y", "n_neighbors", "error", "message"),
    [
        ([0, 1, 0, -1, -1], 3, ValueError, "=3 needs at least 4 labelled rows, got 3: lower n_n"),
        ([-1] * 5, 3, ValueError, "n_neighbors=3 needs at least 4 labelled rows, got 0"),
        ([None, "a", None, "b", "b"], 3, ValueError, "at least 4 labelled rows, got 3"),
        ([0, 1, 0, 1], 3, ValueError, "y has 4 entries but X has 5 rows"),
        ([0, 1, 0, 1, 0], 0, ValueError, "n_neighbors=0 must be"),
        ([0, 1, 0, 1, 0], "3", TypeError, "n_neighbors='3' must be"),
    ],
)
def test_bad_arguments_of_the_error(y, n_neighbors, error, message):
    with pytest.raises(error, match=message):
        knn_error(np.arange(5.0)[:, None], y, n_neighbors=n_neighbors)


@both
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_and_infinite_values(measure, bad):
    X, embedding = points_and_map(20)
    spoilt_X, spoilt_embedding = X.copy(), embedding.copy()
    spoilt_X[3, 1] = spoilt_embedding[3, 1] = bad
    with pytest.raises(ValueError, match="Input X contains"):
        measure(spoilt_X, embedding)
    with pytest.raises(ValueError, match="Input embedding contains"):
        measure(X, spoilt_embedding)
    with pytest.raises(ValueError, match="Input embedding contains"):
        knn_error(spoilt_embedding, np.arange(20) % 2)
