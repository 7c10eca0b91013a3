import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

from labelfold import PartialLabels
from labelfold.exceptions import UnreachedPointsWarning
from labelfold.labels.transduction import (
    class_frequencies,
    find_unreached,
    nearest_distributions,
    transduce,
    warn_of_unreached,
)


def test_projection_is_the_nearest_distribution():
    rng = np.random.default_rng(0)
    for scores in rng.normal(0.3, 0.8, size=(10, 4)):
        found = nearest_distributions(scores[None])[0]
        reference = minimize(
            lambda p, s=scores: np.sum((p - s) ** 2),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            tol=1e-14,
        )
        np.testing.assert_allclose(found, reference.x, atol=1e-6)


def test_order_is_kept_and_huge_scores_are_no_trouble():
    scores = np.array([[1e300, -1e300, 0.0], [2.0, 1.9, -5.0], [0.0, 0.0, 0.0]])
    found = nearest_distributions(scores)
    np.testing.assert_allclose(found, [[1, 0, 0], [0.55, 0.45, 0], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_array_equal(found.argmax(axis=1), scores.argmax(axis=1))
    np.testing.assert_array_equal(nearest_distributions(np.array([[-3.0], [2.0]])), [[1.0], [1.0]])


def test_given_labels_stay_and_the_first_of_equal_scores_counts():
    labels = PartialLabels.from_y(["b", None, None, "a"])
    scores = np.array([[1.0, 0.0], [0.2, 0.7], [0.5, 0.5], [0.0, 1.0]])
    assert transduce(labels, scores).tolist() == ["b", "b", "a", "a"]
    numbers = PartialLabels.from_y([7, -1, 3])
    assert transduce(numbers, np.eye(3)[:, :2]).tolist() == [7, 7, 3]


def test_class_frequencies():
    labels = PartialLabels.from_y(["b", None, "c", "b", "a", None])
    np.testing.assert_allclose(class_frequencies(labels), [0.25, 0.5, 0.25])


def test_rows_without_a_label_in_their_group():
    labels = PartialLabels.from_y([None, 0, None, 1, None, None])
    groups = np.array([0, 0, 2, 1, 2, 4])
    unreached = find_unreached(labels, groups)
    np.testing.assert_array_equal(unreached, [2, 4, 5])
    message = "3 of 6 rows lie in 2 connected components .* the largest with 2 rows: .* class, 0 "
    with pytest.warns(UnreachedPointsWarning, match=message):
        warn_of_unreached(labels, groups, unreached)


def test_no_warning_where_every_row_is_reached():
    labels = PartialLabels.from_y([0, None, 1])
    groups = np.array([0, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_unreached(labels, groups, find_unreached(labels, groups))
