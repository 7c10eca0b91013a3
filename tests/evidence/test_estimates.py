"""Error estimate, class sizes and label sets, against samples whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from labelfold.evidence import choose_sets, estimate_class_sizes, estimate_error, find_threshold
from labelfold.exceptions import FewLabelsWarning, InputError
from labelfold.intervals import wilson_interval

CLASSES = np.array(["a", "b", "c"])


def draw(n: int, seed: int):
    """Probabilities and classes drawn from them."""
    rng = np.random.default_rng(seed)
    distributions = rng.dirichlet([0.4, 0.3, 0.2], size=n)
    codes = (rng.uniform(size=(n, 1)) > np.cumsum(distributions, axis=1)).sum(axis=1)
    return distributions, np.minimum(codes, 2)


def test_error_is_the_mean_doubt_about_predicted_classes():
    distributions, codes = draw(50_000, 0)
    predicted = distributions.argmax(axis=1)
    found = estimate_error(distributions, predicted, np.array([20, 15, 5]), CLASSES)
    assert found.error == pytest.approx(np.mean(predicted != codes), abs=0.01)
    assert (found.low, found.high) == pytest.approx(wilson_interval(found.error, 30))
    for code, one in enumerate(found.classes):
        rows = predicted == code
        assert (one["label"], one["n_rows"]) == (CLASSES[code], rows.sum())
        assert one["error"] == pytest.approx(np.mean(codes[rows] != code), abs=0.02)
        assert one["low"] < one["error"] < one["high"]
    assert "40 left-out labels" in str(found)


def test_a_class_that_nothing_is_predicted_as_has_no_error():
    found = estimate_error(np.array([[0.9, 0.1, 0.0]]), np.array([0]), np.array([1, 1, 1]), CLASSES)
    assert [one["label"] for one in found.classes] == ["a"]


def test_class_sizes_are_right_where_counting_predictions_is_not():
    rng = np.random.default_rng(0)
    distributions = np.column_stack([0.7 + 0.1 * rng.uniform(size=5000), np.zeros(5000)])
    distributions[:, 1] = 1 - distributions[:, 0]
    codes = np.full(5000, -1)
    codes[:10] = 0, 0, 0, 0, 0, 0, 0, 1, 1, 1
    a, b = estimate_class_sizes(distributions, codes, CLASSES[:2], 10).classes
    assert a["share"] == pytest.approx(0.75, abs=0.01)  # predictions: all of them
    assert a["share"] + b["share"] == pytest.approx(1)
    assert a["low"] < a["share"] < a["high"]
    half = 1.2816 * np.sqrt(0.75 * 0.25 / 15)
    assert a["high"] - a["share"] == pytest.approx(half, rel=0.02)


def test_class_sizes_of_labels_alone_are_their_counts():
    found = estimate_class_sizes(np.full((4, 2), 0.5), np.array([0, 1, 1, 1]), CLASSES[:2], 4)
    assert [(one["low"], one["share"], one["high"]) for one in found.classes] == [
        (0.25, 0.25, 0.25),
        (0.75, 0.75, 0.75),
    ]
    assert str(found) == "a 25.0% (25.0% to 25.0%), b 75.0% (75.0% to 75.0%)"


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_sets_of_exchangeable_rows_cover_as_asked(coverage):
    """Split conformal: the mean coverage over samples is between c and c + 1 / (m + 1)."""
    covered = []
    for seed in range(400):
        distributions, codes = draw(119, seed)
        wrong = distributions**2  # badly calibrated probabilities are covered too
        threshold = find_threshold(wrong[:19], codes[:19], coverage)
        sets = choose_sets(wrong[19:], np.zeros(100, dtype=int), threshold)
        sets[:, 0] = wrong[19:, 0] >= threshold  # undo: the predicted class is always in it
        covered.append(np.mean(sets[np.arange(100), codes[19:]]))
    assert np.mean(covered) == pytest.approx(np.ceil(20 * coverage) / 20, abs=0.015)


def test_too_few_labels_leave_all_classes_and_say_how_many_it_takes():
    distributions, codes = draw(8, 0)
    with pytest.warns(FewLabelsWarning, match="8 labels are too few .* label 9 rows or more"):
        threshold = find_threshold(distributions, codes, 0.9)
    assert choose_sets(distributions, codes, threshold).all()
    assert (
        find_threshold(
            np.vstack([distributions, distributions[:1]]), np.append(codes, codes[0]), 0.9
        )
        > 0
    )


def test_the_predicted_class_is_in_its_set():
    sets = choose_sets(np.array([[0.4, 0.3, 0.3]]), np.array([2]), 0.9)
    np.testing.assert_array_equal(sets, [[False, False, True]])


@pytest.mark.parametrize("coverage", [0, 1, 1.5, -1, np.nan, "0.9"])
def test_coverage_must_be_a_share(coverage):
    with pytest.raises(InputError, match="coverage"):
        find_threshold(np.ones((1, 1)), np.array([0]), coverage)
