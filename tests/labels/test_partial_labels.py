"""Any y, complete or partial, is read in one way or raises an error that says what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from labelfold import LaplacianClassifier, ManifoldClassifier, PartialLabels, hide_labels
from labelfold.exceptions import InputError


@pytest.mark.parametrize(
    ("y", "codes", "classes"),
    [
        ([0, -1, 1, 0], [0, -1, 1, 0], [0, 1]),
        (np.array([5, 7, -1], dtype=np.int8), [0, 1, -1], [5, 7]),
        (np.array([5, 7], dtype=np.uint8), [0, 1], [5, 7]),
        ([0.0, np.nan, 2.0], [0, -1, 1], [0, 2]),
        ([True, False, True], [1, 0, 1], [False, True]),
        (["b", "a", None], [1, 0, -1], ["a", "b"]),
        (["b", "a", np.nan], [1, 0, -1], ["a", "b"]),
        (["b", "a", -1], [1, 0, -1], ["a", "b"]),
        (np.array(["b", "a", -1], dtype=object), [1, 0, -1], ["a", "b"]),
        ([3, None, 1, np.nan, -1], [1, -1, 0, -1, -1], [1, 3]),
        (pd.Series(["x", None, "y"]), [0, -1, 1], ["x", "y"]),
        (pd.Series([1, 2, pd.NA], dtype="Int64"), [0, 1, -1], [1, 2]),
        (pd.Series(["x", pd.NA], dtype="string"), [0, -1], ["x"]),
        (pd.Series([True, pd.NA, False], dtype="boolean"), [1, -1, 0], [False, True]),
        (pd.Categorical(["x", None, "z"], categories=["z", "x", "w"]), [0, -1, 1], ["x", "z"]),
        (pd.Series([2, 1, None], dtype="category"), [1, 0, -1], [1, 2]),
        ([1, 1, 1], [0, 0, 0], [1]),
        ([-1, -1], [-1, -1], []),
        ([None, None], [-1, -1], []),
        ([1, None], [0, -1], [1]),
    ],
)
def test_reads_every_kind(y, codes, classes):
    labels = PartialLabels.from_y(y)
    np.testing.assert_array_equal(labels.codes, codes)
    assert labels.classes.tolist() == classes
    np.testing.assert_array_equal(labels.mask, np.array(codes) >= 0)
    assert labels.n_labeled == np.sum(np.array(codes) >= 0)
    assert labels.n_classes == len(classes)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1, 1, 1], "recode as 0/1, or mark unlabeled rows with None"),
        ([-1.0, 1.0, np.nan], "recode as 0/1"),
        (np.array([-1, 1, None], dtype=object), "recode as 0/1"),
        ([0.5, 1.0], "continuous"),
        ([1.0, np.inf], "infinite"),
        (["a", "-1"], "the text '-1'"),
        (np.array(["a", -1]), "the text '-1'"),
        (np.array(["a", np.nan]), "the text 'nan'"),
        (["a", 1], "mixes"),
        ([(1, 2), (3, 4)], "1d array"),
        (np.zeros((3, 2)), r"shape \(3, 2\)"),
        (3, "1d array"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "dtype datetime64"),
        (np.array([1j]), "dtype complex"),
        (np.array([frozenset([1]), "a"], dtype=object), "frozenset"),
    ],
)
def test_a_y_that_can_be_read_in_two_ways_raises(y, message):
    with pytest.raises(ValueError, match=message):
        PartialLabels.from_y(y)


def test_column_vector_warns():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        labels = PartialLabels.from_y(np.array([[0], [1], [-1]]))
    np.testing.assert_array_equal(labels.codes, [0, 1, -1])


def test_wrong_length_names_both():
    with pytest.raises(ValueError, match="y has 3 entries but X has 4 rows"):
        PartialLabels.from_y([0, 1, 2], n_samples=4)


def test_is_immutable():
    y = np.array([0, 1, -1])
    labels = PartialLabels.from_y(y)
    with pytest.raises(ValueError, match="read-only"):
        labels.codes[0] = 1
    with pytest.raises(AttributeError):
        labels.codes = y
    y[0] = 1
    assert labels.codes[0] == 0


def test_membership_is_the_papers_C():
    C = PartialLabels.from_y(["b", None, "a", "b"]).membership().toarray()
    np.testing.assert_array_equal(C, [[0, 0, 1, 0], [1, 0, 0, 1]])


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 4, 5, 4], dtype=np.uint8),
        np.array([3, 4, 5, 4], dtype=np.uint64),
        np.array([3, 4, 5, 4], dtype=np.int16),
        np.array([3.0, 4.0, 5.0, 4.0]),
        np.array(["a", "b", "c", "b"]),
        np.array(["a", "b", "c", "b"], dtype=object),
        np.array([True, False, True, True]),
        np.array([b"a", b"b", b"c", b"b"]),
        ["a", "b", "c", "b"],
        pd.Series(["a", "b", "c", "b"], dtype="category"),
        pd.Series([1, 2, 3, 2], dtype="Int64"),
        np.array([0, 1, 1, 1]),
    ],
)
@pytest.mark.parametrize("keep", [[True, False, True, False], [0, 2], []])
def test_hide_labels_keeps_just_these(y, keep):
    hidden = PartialLabels.from_y(hide_labels(y, keep))
    whole = PartialLabels.from_y(y)
    kept = np.zeros(4, dtype=bool)
    kept[keep] = True
    np.testing.assert_array_equal(hidden.mask, kept)
    assert [hidden.classes[c] for c in hidden.codes[kept]] == [
        whole.classes[c] for c in whole.codes[kept]
    ]


def test_hide_labels_avoids_the_ambiguous_pair_and_reveals_nothing():
    y = np.array([0, 1, 1])
    hidden = hide_labels(y, keep=[1, 2])
    assert hidden.dtype == object
    assert PartialLabels.from_y(hidden).classes.tolist() == [1]
    np.testing.assert_array_equal(y, [0, 1, 1])
    np.testing.assert_array_equal(hide_labels([0, -1, 2], keep=[0, 1]), [0, -1, -1])


@pytest.mark.parametrize(("keep", "message"), [([True], "mask of shape"), ([0.5], "dtype float")])
def test_hide_labels_with_a_wrong_keep_raises(keep, message):
    with pytest.raises(ValueError, match=message):
        hide_labels([0, 1, 2], keep)


CLASSIFIERS = pytest.mark.parametrize("estimator", [LaplacianClassifier(), ManifoldClassifier()])


@CLASSIFIERS
def test_score_skips_unlabeled_rows(estimator):
    X = np.random.default_rng(0).random((60, 3))
    truth = (X[:, 0] > 0.5).astype(int)
    model = estimator.fit(X, hide_labels(truth, keep=range(0, 60, 2)))
    expected = np.mean(model.predict(X + 0.1)[::3] == truth[::3])
    assert model.score(X + 0.1, hide_labels(truth, np.arange(0, 60, 3))) == expected
    for method in (model.score, model.fit):
        with pytest.raises(InputError, match="None of the 60 entries of y is a label"):
            method(X, np.full(60, -1))


@CLASSIFIERS
def test_a_classifier_without_labels_says_that_they_are_required(estimator):
    X = np.random.default_rng(0).random((20, 3))
    message = "requires y to be passed, but the target y is None: give one label per row"
    with pytest.raises(InputError, match=message):
        estimator.fit(X, None)
    with pytest.raises(InputError, match=message):
        estimator.fit(X, np.arange(20) % 2).score(X, None)
