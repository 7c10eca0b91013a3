"""Rows to label next: what is covered, in which order, and why."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from labelfold import FewLabelClassifier, NeighborGraph, hide_labels
from labelfold.evidence import draw_audit, suggest_rows
from labelfold.evidence.suggestions import doubts_of, rank_gains
from labelfold.exceptions import InputError

N_EACH = 60


def make_blobs(n_blobs, *, n_each=N_EACH, seed=0):
    """Rows of separate clusters around corners of a simplex, and their numbers."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_blobs), n_each)
    return 10 * np.eye(n_blobs)[y] + rng.standard_normal((len(y), n_blobs)), y


def build(X):
    return NeighborGraph.build(X, n_neighbors=8, weights="shared")


def numbers(suggestions):
    return [one.row for one in suggestions]


def test_without_labels_every_cluster_gets_a_row():
    X, y = make_blobs(6)
    found = suggest_rows(build(X), 9)
    assert set(y[numbers(found)]) == set(range(6))
    assert {one.reason for one in found} == {"uncovered"}
    assert found[0].gain == 1
    assert all(0 < one.gain <= 1 for one in found)


def test_a_cluster_without_a_label_comes_first():
    X, y = make_blobs(4)
    labeled = [np.flatnonzero(y == k)[0] for k in (0, 1, 3)]
    first = suggest_rows(build(X), 1, labeled=labeled)[0]
    assert (y[first.row], first.reason) == (2, "unlike every labeled row")
    model = FewLabelClassifier().fit(X, hide_labels(y, keep=labeled))
    first = suggest_rows(model, 1)[0]
    assert (y[first.row], first.reason) == (2, "unlike every labeled row")


def test_a_cluster_in_doubt_comes_before_one_that_is_not():
    X, y = make_blobs(2)
    graph = build(X)
    sure, unsure = [0.99, 0.01], [0.5, 0.5]
    labeled = np.arange(0, len(y), 4)
    for doubtful in (0, 1):
        model = SimpleNamespace(
            graph_=graph,
            labeled_rows_=labeled,
            label_distributions_=np.where((y == doubtful)[:, None], unsure, sure),
        )
        first = suggest_rows(model, 1)[0]
        assert (y[first.row], first.reason) == (doubtful, "uncertain")


def test_gain_is_heat_of_uncovered_doubt():
    X, _ = make_blobs(3, n_each=20)
    graph = build(X)
    doubts = np.random.default_rng(0).uniform(size=len(X))
    labeled = np.array([4, 30, 50])  # every cluster is covered in part
    rows, _, gains = rank_gains(
        graph.adjacency, graph.diffusion, doubts, labeled, 1, exclude=np.empty(0, dtype=int)
    )
    time, n_regions = graph.diffusion.time_of(4 * (3 + 1))
    H = graph.diffusion.spread(np.eye(len(X)), time)
    coverage = np.clip(H[:, labeled].sum(axis=1) / H.sum(axis=1) * len(X) / n_regions, 0, 1)
    gain = H @ ((0.2 + 0.8 * doubts) * (1 - coverage)) / np.sqrt(H.sum(axis=1))
    gain[labeled] = -np.inf
    assert rows == [gain.argmax()]
    assert gains[0] == pytest.approx(gain.max())


def test_equal_rows_are_not_suggested_together():
    X, _ = make_blobs(3)
    X = np.concatenate([X, X[:30], X[:30]])
    rows = numbers(suggest_rows(build(X), 12))
    assert len(np.unique(X[rows], axis=0)) == 12


def test_neither_labeled_nor_excluded_rows_and_no_row_twice():
    X, _ = make_blobs(2, n_each=15)
    graph, labeled, exclude = build(X), [0, 16], np.arange(3, 12)
    rows = numbers(suggest_rows(graph, 100, labeled=labeled, exclude=exclude))
    assert sorted(rows) == sorted(set(range(30)) - {*labeled, *exclude})
    assert suggest_rows(graph, 5, labeled=np.arange(30)) == []


def test_same_rows_again_and_in_any_order():
    X, y = make_blobs(4)
    model = FewLabelClassifier().fit(X, hide_labels(y, keep=[0, 70, 130]))
    assert suggest_rows(model, 6) == suggest_rows(model, 6)
    order = np.random.default_rng(1).permutation(len(X))
    there = numbers(suggest_rows(build(X), 1))[0]
    assert order[numbers(suggest_rows(build(X[order]), 1))[0]] == there


def test_doubt_is_one_minus_the_margin():
    distributions = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(doubts_of(distributions), [0.8, 0.3, 1])
    np.testing.assert_array_equal(doubts_of(np.ones((2, 1))), [1, 1])


def test_audit_is_a_random_sample_of_unlabeled_rows():
    X, _ = make_blobs(2)
    graph = build(X)
    labeled = np.arange(0, len(X), 2)
    drawn = draw_audit(graph, 20, labeled=labeled, random_state=3)
    assert len(set(drawn.tolist()) - set(labeled.tolist())) == 20
    np.testing.assert_array_equal(drawn, draw_audit(graph, 20, labeled=labeled, random_state=3))
    counts = sum(
        np.bincount(draw_audit(graph, 15, labeled=labeled, random_state=k), minlength=len(X))
        for k in range(400)
    )
    assert counts[labeled].sum() == 0
    expected = 400 * 15 / 60
    assert abs(counts[1::2] - expected).max() < 5 * np.sqrt(expected)
    assert len(draw_audit(graph, 999, labeled=labeled)) == 60


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 0}, "n=0"),
        ({"labeled": [120]}, "labeled must be numbers of rows, from 0 to 119"),
        ({"exclude": [-1]}, "exclude"),
        ({"exclude": [0.5]}, "exclude"),
    ],
)
def test_wrong_arguments(arguments, words):
    X, _ = make_blobs(2)
    with pytest.raises(InputError, match=words):
        suggest_rows(build(X), **arguments)


def test_a_model_without_a_graph():
    with pytest.raises(InputError, match="NeighborGraph"):
        suggest_rows(object(), 5)
