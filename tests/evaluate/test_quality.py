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


def rows_and_embedding(n_samples=150, n_features=8, *, seed=0):
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
def test_an_embedding_that_changes_nothing_is_perfect(measure, n_features, n_neighbors):
    X, _ = rows_and_embedding(n_features=n_features)
    assert measure(X, X, n_neighbors=n_neighbors) == 1.0
    assert measure(X, 3 * X + 1, n_neighbors=n_neighbors) == 1.0


@both
@pytest.mark.parametrize("n_features", [2, 8])
def test_equal_distances_and_equal_rows_do_not_spoil_a_perfect_embedding(measure, n_features):
    X = np.random.default_rng(0).integers(3, size=(120, n_features)) + 1000
    assert len(np.unique(X, axis=0)) < 120
    assert measure(X, X) == measure(X, X, n_rows=40, random_state=0) == 1.0


def test_by_hand():
    # Point 4 comes to lie between the points 1 and 2. Nearest in the map are the points
    # 1, 4, 4, 2, 1, with ranks 1, 4, 4, 1, 3 in the data: an excess of 8, times 2 / (5 * 6).
    # Nearest in the data are 1, 0, 1, 2, 3, with ranks 1, 2, 2, 1, 4 in the map: an excess of 5.
    X = [[0.0], [1.0], [3.0], [7.0], [15.0]]
    embedding = [[0.0], [1.0], [3.0], [7.0], [1.9]]
    assert trustworthiness(X, embedding, n_neighbors=1) == pytest.approx(7 / 15, abs=1e-15)
    assert continuity(X, embedding, n_neighbors=1) == pytest.approx(2 / 3, abs=1e-15)


@both
def test_random_embedding_is_half_way(measure):
    X, _ = rows_and_embedding(400)
    embedding = np.random.default_rng(1).normal(size=(400, 2))
    assert measure(X, embedding) == pytest.approx(0.5, abs=0.05)


def test_embedding_in_a_single_point_is_not_continuous():
    X, _ = rows_and_embedding(400)
    assert continuity(X, np.zeros((400, 2))) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("n_neighbors", [1, 5, 74])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("n_features", [2, 8, 40])
def test_agrees_with_scikit_learn(n_neighbors, seed, n_features):
    X, embedding = rows_and_embedding(n_features=n_features, seed=seed)
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
    X, embedding = rows_and_embedding()
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
    X, embedding = rows_and_embedding(n_features=20)
    X[np.abs(X) < 1] = 0
    expected = measure(X, embedding, metric=metric)
    assert measure(container(X), embedding, metric=metric) == pytest.approx(expected, abs=1e-12)


@both
@pytest.mark.parametrize("shift", [1.0, 1e6])
def test_order_motion_and_storage_change_nothing(measure, shift):
    X, embedding = rows_and_embedding()
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
    X, embedding = rows_and_embedding(1000)
    everything = measure(X, embedding)
    some = measure(X, embedding, n_rows=300, random_state=0)
    assert some == pytest.approx(everything, abs=0.02)
    assert some != everything
    assert some == measure(X, embedding, n_rows=300, random_state=0)
    assert measure(X, embedding, n_rows=300) == measure(X, embedding, n_rows=300)
    assert some == measure(X, embedding, n_rows=300, random_state=np.random.RandomState(0))
    assert some != measure(X, embedding, n_rows=300, random_state=1)


@both
@pytest.mark.parametrize("n_rows", [150, 151, np.int64(10**9)])
def test_as_many_rows_as_there_are(measure, n_rows):
    X, embedding = rows_and_embedding()
    assert measure(X, embedding, n_rows=n_rows) == measure(X, embedding)


@both
def test_mean_over_samples_is_the_value_of_all_rows(measure):
    X, embedding = rows_and_embedding(60)
    samples = [measure(X, embedding, n_rows=20, random_state=seed) for seed in range(200)]
    error = np.std(samples) / np.sqrt(len(samples))
    assert np.mean(samples) == pytest.approx(measure(X, embedding), abs=4 * error)


@both
@pytest.mark.parametrize("n_rows", [None, 50])
def test_blocks_make_no_difference(measure, n_rows, monkeypatch):
    X, embedding = rows_and_embedding()
    whole = measure(X, embedding, n_rows=n_rows, random_state=0)
    monkeypatch.setattr(quality, "BLOCK_MEBIBYTES", 0.01)
    assert measure(X, embedding, n_rows=n_rows, random_state=0) == pytest.approx(whole, abs=1e-12)


@both
def test_distances_are_not_held_all_at_once(measure, monkeypatch):
    n_samples = 3000
    X, embedding = rows_and_embedding(n_samples)
    monkeypatch.setattr(quality, "BLOCK_MEBIBYTES", 4)
    tracemalloc.start()
    try:
        measure(X, embedding)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * n_samples**2 / 3


# Error of the nearest-neighbor rule


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


# Bad input


@both
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 5}, "n_neighbors=5 must be less than half .* 10 rows: lower"),
        ({"n_neighbors": 0}, "n_neighbors=0 must be an integer of at least 1"),
        ({"n_neighbors": 2.0}, r"n_neighbors=2\.0 must be an integer"),
        ({"n_neighbors": True}, "n_neighbors=True must be an integer"),
        ({"n_rows": 0}, "n_rows=0 must be"),
        ({"n_rows": -1}, "n_rows=-1 must be"),
        ({"n_rows": 0.5}, "n_rows=0.5 must be"),
        ({"metric": "precomputed"}, r"'precomputed' is not available.*pass the rows"),
        ({"embedding": np.zeros((9, 2))}, "embedding has 9 rows but X has 10: give"),
        ({"embedding": np.zeros(10)}, "Expected 2D array, got 1D array"),
    ],
)
def test_bad_arguments(measure, options, message):
    X, embedding = rows_and_embedding(10)
    with pytest.raises(ValueError, match=message):
        measure(X, **{"embedding": embedding, "n_neighbors": 2, **options})


@pytest.mark.parametrize(
    ("y", "n_neighbors", "message"),
    [
        ([0, 1, 0, -1, -1], 3, "=3 needs at least 4 labeled rows, got 3: lower n_n"),
        ([-1] * 5, 3, "n_neighbors=3 needs at least 4 labeled rows, got 0"),
        ([None, "a", None, "b", "b"], 3, "at least 4 labeled rows, got 3"),
        ([0, 1, 0, 1], 3, "y has 4 entries but X has 5 rows"),
        ([0, 1, 0, 1, 0], 0, "n_neighbors=0 must be"),
        ([0, 1, 0, 1, 0], "3", "n_neighbors='3' must be"),
    ],
)
def test_bad_arguments_of_the_error(y, n_neighbors, message):
    with pytest.raises(ValueError, match=message):
        knn_error(np.arange(5.0)[:, None], y, n_neighbors=n_neighbors)


@both
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_and_infinite_values(measure, bad):
    X, embedding = rows_and_embedding(20)
    spoilt_X, spoilt_embedding = X.copy(), embedding.copy()
    spoilt_X[3, 1] = spoilt_embedding[3, 1] = bad
    with pytest.raises(ValueError, match="Input X contains"):
        measure(spoilt_X, embedding)
    with pytest.raises(ValueError, match="Input embedding contains"):
        measure(X, spoilt_embedding)
    with pytest.raises(ValueError, match="Input embedding contains"):
        knn_error(spoilt_embedding, np.arange(20) % 2)
