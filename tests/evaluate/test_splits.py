import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from labelfold import CCDR, ManifoldClassifier, hide_labels
from labelfold.datasets import make_swiss_roll
from labelfold.evaluate import LabeledKFold, draw_labeled


def test_balanced_draw_has_as_many_of_each_class():
    y = np.repeat(["a", "b", "c"], [50, 30, 20])
    rows = draw_labeled(y, 13, random_state=0)
    assert np.all(np.diff(rows) > 0)
    counts = np.unique(y[rows], return_counts=True)[1]
    assert sorted(counts) == [4, 4, 5]


def test_a_rare_class_gives_what_it_has():
    y = np.repeat([0, 1, 2], [50, 30, 2])
    assert np.bincount(y[draw_labeled(y, 20, random_state=0)]).tolist() == [9, 9, 2]
    assert len(draw_labeled(y, 82, random_state=0)) == 82


def test_unbalanced_draw_follows_the_frequencies():
    y = np.repeat([0, 1], [900, 100])
    rows = np.concatenate(
        [draw_labeled(y, 100, balanced=False, random_state=seed) for seed in range(20)]
    )
    assert np.mean(y[rows]) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("balanced", [True, False])
def test_every_row_of_a_class_is_equally_likely(balanced):
    y = np.repeat([0, 1], [10, 5])
    rows = [draw_labeled(y, 6, balanced=balanced, random_state=seed) for seed in range(3000)]
    shares = np.bincount(np.concatenate(rows), minlength=15) / 3000
    expected = np.where(y == 0, 0.3, 0.6) if balanced else 0.4
    np.testing.assert_allclose(shares, expected, atol=0.04)


def test_unlabeled_rows_are_never_drawn():
    y = np.array(["a", None, "b", None, "a", "b"], dtype=object)
    assert draw_labeled(y, 4, random_state=0).tolist() == [0, 2, 4, 5]


def test_draws_are_reproducible():
    y = np.arange(100) % 7
    first = draw_labeled(y, 20, random_state=3)
    np.testing.assert_array_equal(first, draw_labeled(y, 20, random_state=3))
    assert not np.array_equal(first, draw_labeled(y, 20, random_state=4))


@pytest.mark.parametrize("size", [2, 11, 0.5])
def test_impossible_size(size):
    with pytest.raises(ValueError, match=f"^size={size} (must be|is more than)"):
        draw_labeled([0, 1, 2] * 3, size)


def partial_y():
    return hide_labels(np.arange(60) % 3, np.arange(60) % 4 == 0)


@pytest.mark.parametrize("shuffle", [True, False])
def test_folds_divide_the_labeled_rows_and_keep_the_others(shuffle):
    y = partial_y()
    splitter = LabeledKFold(5, shuffle=shuffle, random_state=0 if shuffle else None)
    folds = list(splitter.split(np.empty((60, 1)), y))
    assert len(folds) == splitter.get_n_splits() == 5
    tests = np.concatenate([test for _, test in folds])
    np.testing.assert_array_equal(np.sort(tests), np.flatnonzero(y != -1))
    for train, test in folds:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(60))
        assert np.bincount(y[test]).tolist() == [1, 1, 1]
        assert set(np.flatnonzero(y == -1)) <= set(train)


def test_folds_of_text_labels_are_the_same():
    y = partial_y()
    text = np.where(y == -1, None, np.array(["x", "y", "z"], dtype=object)[y])
    for (_, first), (_, second) in zip(
        LabeledKFold(3).split(y, y), LabeledKFold(3).split(y, text), strict=True
    ):
        np.testing.assert_array_equal(first, second)


def test_too_many_folds():
    with pytest.raises(ValueError, match="n_splits=6 is more than the 5 samples labeled"):
        next(LabeledKFold(6).split(np.empty((60, 1)), partial_y()))
    with pytest.raises(ValueError, match="more than the 0 samples labeled"):
        next(LabeledKFold(2).split(np.empty((4, 1)), [-1, -1, -1, -1]))


def test_scores_are_those_of_held_out_labels():
    X, truth, _ = make_swiss_roll(400, random_state=0)
    y = hide_labels(truth, draw_labeled(truth, 150, random_state=0))
    model = ManifoldClassifier(CCDR(6))
    cv = LabeledKFold(3)
    scores = cross_val_score(model, X, y, cv=cv)
    by_hand = [
        np.mean(clone(model).fit(X[train], y[train]).predict(X[test]) == y[test])
        for train, test in cv.split(X, y)
    ]
    np.testing.assert_allclose(scores, by_hand)


def test_plain_cross_validation_counts_unlabeled_rows_as_errors():
    # What the user guide warns of.
    X, truth, _ = make_swiss_roll(400, random_state=0)
    y = hide_labels(truth, draw_labeled(truth, 200, random_state=0))
    model = ManifoldClassifier(CCDR(6))
    plain = cross_val_score(model, X, y, cv=3, scoring="accuracy").mean()
    right = cross_val_score(model, X, y, cv=LabeledKFold(3), scoring="accuracy").mean()
    assert plain < 0.5 < 0.8 < right
