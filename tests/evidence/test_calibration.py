"""Probabilities from left-out scores: limits, invariants, and data of known probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from labelfold.evidence import Calibration, calibrate
from labelfold.labels.transduction import nearest_distributions


def draw(n: int, n_classes: int, sharpness: float, seed: int = 0):
    """Scores in [0, 1] and classes drawn from softmax(sharpness * scores)."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(size=(n, n_classes))
    chance = softmax(sharpness * scores, axis=1)
    codes = (rng.uniform(size=(n, 1)) > np.cumsum(chance, axis=1)).sum(axis=1)
    return scores, np.minimum(codes, n_classes - 1), chance


@pytest.mark.parametrize(("n_classes", "sharpness"), [(2, 5.0), (3, 6.0), (10, 12.0)])
def test_many_labels_find_the_sharpness_that_made_them(n_classes, sharpness):
    scores, codes, chance = draw(20_000, n_classes, sharpness)
    found = calibrate(scores, codes)
    assert found.sharpness == pytest.approx(sharpness, rel=0.1)
    assert found.share < 0.1
    np.testing.assert_allclose(found.distributions(scores), chance, atol=0.03)


def test_scores_that_are_probabilities_keep_their_value():
    rng = np.random.default_rng(0)
    scores = rng.dirichlet([0.5, 0.5, 0.5], size=20_000)
    codes = (rng.uniform(size=(20_000, 1)) > np.cumsum(scores, axis=1)).sum(axis=1)
    found = calibrate(scores, np.minimum(codes, 2))
    assert found.share > 0.8
    np.testing.assert_allclose(found.distributions(scores), scores, atol=0.06)


def test_two_labels_leave_the_prior():
    found = calibrate(np.array([[0.8, 0.2], [0.1, 0.9]]), np.array([0, 1]))
    assert found.n_labels == 2
    assert 2 < found.sharpness < 8
    assert found.floor == pytest.approx(1 / 7)
    sure = found.distributions(np.array([[1.0, 0.0]]))[0, 0]
    assert 0.75 < sure < 0.95


def test_no_labels_leave_the_prior_alone():
    found = calibrate(np.empty((0, 5)), np.empty(0, dtype=int))
    assert found.sharpness == pytest.approx(np.e * 5**0.4, rel=0.05)
    assert found.share == pytest.approx(0.5)


def test_noise_makes_probabilities_equal():
    rng = np.random.default_rng(0)
    found = calibrate(rng.uniform(size=(2000, 4)), rng.integers(4, size=2000))
    assert found.distributions(np.eye(4)).max() < 0.45


def test_the_formula():
    scores = np.array([[0.7, 0.2, 0.1], [2.0, -0.5, 0.3]])
    bounded = np.array([[0.7, 0.2, 0.1], [1.01, -0.005, 0.3]])
    mixed = 0.75 * softmax(3 * bounded, axis=1) + 0.25 * nearest_distributions(bounded)
    found = Calibration(sharpness=3.0, share=0.25, floor=0.1, n_labels=5).distributions(scores)
    np.testing.assert_allclose(found, 0.9 * mixed + 0.1 / 3, atol=1e-12)


def test_probabilities_keep_the_order_of_the_scores():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=2, size=(500, 6))  # many above 1 and below 0
    found = calibrate(scores[:50], scores[:50].argmax(axis=1)).distributions(scores)
    np.testing.assert_array_equal(found.argmax(axis=1), scores.argmax(axis=1))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    assert found.min() > 0


def test_the_order_of_classes_and_of_labels_does_not_matter():
    scores, codes, _ = draw(60, 4, 5.0)
    one, other = np.random.default_rng(1).permutation(60), np.array([2, 0, 3, 1])
    turned = np.empty_like(scores)
    turned[:, other] = scores
    a, b, c = (
        calibrate(scores, codes),
        calibrate(scores[one], codes[one]),
        calibrate(turned, other[codes]),
    )
    for found in (b, c):
        assert found.sharpness == pytest.approx(a.sharpness)
        assert found.share == pytest.approx(a.share)


def test_text_says_what_is_promised():
    scores, codes, _ = draw(30, 3, 5.0)
    assert "30 left-out labels" in str(calibrate(scores, codes))
    assert "drawn at random" in str(calibrate(scores, codes, "audit"))
    assert "promises nothing" in str(calibrate(scores, codes, "chosen"))
