"""Embeddings that differ by a similarity are aligned."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from labelfold.ensemble.subsamples import SimilarityTransform, align


def moved(points, seed, scale):
    rng = np.random.default_rng(seed)
    rotation = ortho_group.rvs(points.shape[1], random_state=seed)
    return scale * points @ rotation + rng.standard_normal(points.shape[1])


@pytest.fixture
def points():
    return np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]


def test_a_similarity_is_recovered(points):
    image = moved(points, 1, 2.5)
    motion = SimilarityTransform.onto(points, image)
    np.testing.assert_allclose(motion(points), image, atol=1e-12)
    assert motion.scale == pytest.approx(2.5)
    np.testing.assert_allclose(motion.rotation @ motion.rotation.T, np.eye(3), atol=1e-12)


def test_the_transform_is_the_best_one(points):
    goal = moved(points, 1, 0.7) + 0.1 * np.random.default_rng(2).standard_normal(points.shape)
    best = SimilarityTransform.onto(points, goal)
    least = np.sum((best(points) - goal) ** 2)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        turn, _ = np.linalg.qr(np.eye(3) + 0.02 * rng.standard_normal((3, 3)))
        other = SimilarityTransform(
            best.origin + 0.01 * rng.standard_normal(3),
            best.target,
            best.rotation @ turn,
            best.scale * (1 + 0.02 * rng.standard_normal()),
        )
        assert np.sum((other(points) - goal) ** 2) > least


def test_moved_copies_come_together_on_the_first(points):
    maps = [points, moved(points, 1, 2.0), moved(points, 2, 0.1), moved(points, 3, 1.0)]
    motions, errors = align(maps)
    for motion, one in zip(motions, maps, strict=True):
        np.testing.assert_allclose(motion(one), points, atol=1e-9)
    np.testing.assert_allclose(errors, 0, atol=1e-9)


def test_errors_measure_the_noise(points):
    rng = np.random.default_rng(5)
    size = np.linalg.norm(points - points.mean(axis=0))
    noisy = [points + 0.05 * rng.standard_normal(points.shape) for _ in range(30)]
    motions, errors = align([moved(one, seed, 1 + seed) for seed, one in enumerate(noisy)])
    expected = 0.05 * np.sqrt(points.size) / size
    assert errors == pytest.approx(np.full(30, expected), rel=0.35)
    mean = np.mean(
        [m(moved(o, s, 1 + s)) for s, (m, o) in enumerate(zip(motions, noisy, strict=True))], axis=0
    )
    # The mean is turned onto the first map, and has its size.
    first = moved(noisy[0], 0, 1)
    assert np.linalg.norm(mean - first) < 1.5 * expected * size
    assert np.linalg.norm(mean - mean.mean(axis=0)) == pytest.approx(
        np.linalg.norm(first - first.mean(axis=0)), rel=0.02
    )


def test_the_order_of_the_others_does_not_matter(points):
    rng = np.random.default_rng(6)
    maps = [moved(points + 0.2 * rng.standard_normal(points.shape), s, 1.0) for s in range(5)]
    motions, errors = align(maps)
    again, errors_again = align([maps[0], *maps[:0:-1]])
    np.testing.assert_allclose(errors_again[[0, 4, 3, 2, 1]], errors, atol=1e-6)
    np.testing.assert_allclose(again[4](maps[1]), motions[1](maps[1]), atol=1e-5)


def test_degenerate_embeddings():
    flat = np.zeros((4, 2))
    motions, errors = align([flat, flat])
    assert np.all(np.isfinite(motions[1](np.ones((3, 2)))))
    assert np.all(np.isfinite(errors))
