import numpy as np
from scipy.optimize import minimize

from labelfold.labels.transduction import nearest_distributions


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


def test_distributions_stay_and_shifts_do_not_matter():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(5), size=20)
    np.testing.assert_allclose(nearest_distributions(p), p, atol=1e-15)
    np.testing.assert_allclose(nearest_distributions(p + 7), p, atol=1e-14)


def test_order_is_kept_and_huge_scores_are_no_trouble():
    scores = np.array([[1e300, -1e300, 0.0], [2.0, 1.9, -5.0], [0.0, 0.0, 0.0]])
    found = nearest_distributions(scores)
    np.testing.assert_allclose(found, [[1, 0, 0], [0.55, 0.45, 0], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_array_equal(found.argmax(axis=1), scores.argmax(axis=1))


def test_one_class():
    np.testing.assert_array_equal(nearest_distributions(np.array([[-3.0], [2.0]])), [[1.0], [1.0]])
