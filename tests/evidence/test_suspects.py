"""Given labels that look wrong, and the reason."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from labelfold import FewLabelClassifier, NeighborGraph, hide_labels
from labelfold.evidence import suspect_labels
from labelfold.evidence.suspects import score_labels
from labelfold.exceptions import InputError


def make_model(X, given, left_out, classes):
    """Whatever has these attributes: labels of the first rows, and their probabilities."""
    given = np.asarray(given)
    transduction = np.full(len(X), classes[0], dtype=classes.dtype)
    transduction[: len(given)] = classes[given]
    return SimpleNamespace(
        graph_=NeighborGraph.build(X, n_neighbors=5, weights="shared"),
        classes_=classes,
        labeled_rows_=np.arange(len(given)),
        transduction_=transduction,
        left_out_distributions_=np.asarray(left_out),
    )


@pytest.fixture
def rows():
    return np.random.default_rng(0).standard_normal((80, 2))


CLASSES = np.array(["a", "b", "c"])


def test_wrong_labels_of_digits_come_first():
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    labeled = rng.choice(len(y), 150, replace=False)
    wrong = labeled[:6]
    given = y.copy()
    given[wrong] = (y[wrong] + 1) % 10
    model = FewLabelClassifier().fit(X, hide_labels(given, keep=labeled))
    found = suspect_labels(model, least_score=0)
    assert len(found) == 150
    first = [one for one in found[:8] if one.row in wrong]
    assert len(first) == 6
    for one in first:
        assert (one.given, one.suggested) == (given[one.row], y[one.row])
        assert all(given[row] == one.given for row in one.rows_for)
        assert all(given[row] == one.suggested for row in one.rows_against)
        assert one.rows_against
    assert all(one.suggested != one.given for one in found)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    shown = suspect_labels(model)
    assert shown == found[: len(shown)]
    assert min(one.score for one in shown) >= 0.5 > found[len(shown)].score


def test_score_is_the_probability_that_the_label_is_wrong():
    left_out = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0], [0.6, 0.4, 0.0]])
    scores = score_labels(left_out, np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(scores, [0.1, 0.8, 0.3, 0.6])


def test_the_only_label_of_a_class_is_not_the_most_suspect():
    left_out = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.5, 0.5, 0.0]])
    np.testing.assert_allclose(score_labels(left_out, np.array([0, 0, 2])), [0.1, 0.8, 0.45])
    np.testing.assert_array_equal(score_labels(left_out, np.array([0, 1, 2])), [0, 0, 0])


def test_reasons(rows):
    rows[1] = rows[0]  # labeled a and b
    rows[2] = [40.0, 40.0]
    given = [0, 1, 0, 0, 0, 1, 2]
    left_out = [
        [0.1, 0.9, 0.0],
        [0.9, 0.1, 0.0],
        [0.2, 0.8, 0.0],
        [0.45, 0.55, 0.0],
        [0.02, 0.98, 0.0],
        [0.0, 1.0, 0.0],
        [0.9, 0.1, 0.0],
    ]
    found = suspect_labels(make_model(rows, given, left_out, CLASSES), least_score=0.2)
    assert {one.row: one.reason for one in found} == {
        0: "same row with two labels",
        1: "same row with two labels",
        2: "outlier",
        3: "on the border",
        4: "neighbors disagree",
        6: "only label of its class",
    }
    assert [one.suggested for one in found if one.row in (0, 1)] == ["b", "a"]


def test_rows_that_speak_are_the_nearest():
    X = np.arange(40.0)[:, None]
    given, left_out = np.full(40, 0), np.tile([0.9, 0.1], (40, 1))
    given[[3, 20, 21, 22, 23]] = 1
    left_out[21] = [0.8, 0.2]
    model = make_model(X, given, left_out, np.array([0, 1]))
    by_row = {one.row: one for one in suspect_labels(model, least_score=0.5)}
    assert set(by_row[21].rows_for) == {20, 22, 23}
    assert set(by_row[21].rows_against) <= {17, 18, 19, 24, 25, 26}
    assert len(by_row[21].rows_against) == 3


def test_nothing_is_suspect_with_one_class(rows):
    assert suspect_labels(make_model(rows, [0, 0], np.ones((2, 1)), CLASSES[:1])) == []


def test_arguments_are_checked(rows):
    with pytest.raises(InputError, match="left_out_distributions_"):
        suspect_labels(object())
    model = make_model(rows, [0, 1], np.full((2, 2), 0.5), CLASSES[:2])
    with pytest.raises(InputError, match="least_score"):
        suspect_labels(model, least_score=2)
