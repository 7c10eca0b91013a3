"""Bounds hold for every map that keeps the distances, and are tight where the optimum is known."""

import numpy as np
import pytest
from scipy.linalg import eigvalsh

from labelfold.solvers.lowrank import bound
from labelfold.solvers.lowrank.bound import bound_from, largest_ratio
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread, edge_laplacian


def path_problem(lengths, spread=None):
    n = len(lengths) + 1
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return DistanceProblem(n, edges, np.asarray(lengths) ** 2, spread or Spread(1.0))


def optimal_multipliers(lengths):
    """For a path: forces balance the pull, y_e l_e = sum of centered positions beyond the edge."""
    x = np.concatenate([[0.0], np.cumsum(lengths)])
    x -= x.mean()
    return -np.cumsum(x)[:-1] / lengths, float(x @ x)


def cloud_problem(n, spread, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, 2)) * [10, 1]
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2)
    near = np.argsort(gaps, axis=1)[:, 1:6]
    edges = np.unique(np.sort(np.column_stack([np.repeat(np.arange(n), 5), near.ravel()])), axis=0)
    chain = np.argsort(X[:, 0])
    edges = np.unique(
        np.concatenate([edges, np.sort(np.column_stack([chain[:-1], chain[1:]]))]), axis=0
    )
    return X, DistanceProblem(n, edges, gaps[edges[:, 0], edges[:, 1]] ** 2, spread)


@pytest.mark.parametrize("n", [2, 3, 10, 100])
@pytest.mark.parametrize("factor", [1, 17])
def test_tight_on_a_path_for_multipliers_at_any_scale(n, factor):
    lengths = np.random.default_rng(n).uniform(0.5, 2, n - 1)
    y, optimum = optimal_multipliers(lengths)
    found = bound_from(path_problem(lengths), factor * y, sparse=True)
    assert found.value == pytest.approx(optimum, rel=1e-6)
    assert found.multipliers == pytest.approx(y, rel=1e-4)


@pytest.mark.parametrize("objective", ["variance", "pairs"])
@pytest.mark.parametrize("n", [20, 150])
def test_no_feasible_map_exceeds_it(objective, n):
    rng = np.random.default_rng(n)
    spread = Spread(1.0)
    if objective == "pairs":
        spread = Spread(pairs=rng.integers(0, n, (n, 2)), weights=rng.uniform(0, 2, n))
    X, problem = cloud_problem(n, spread)
    for seed in range(3):
        y = np.random.default_rng(seed).uniform(0.5, 2, len(problem.edges))
        found = bound_from(problem, y, sparse=True)
        assert np.isfinite(found.value)
        assert found.value >= spread.value(X) * (1 - 1e-12)  # X keeps its own distances
        S = edge_laplacian(n, problem.edges, found.multipliers).toarray() - spread.matrix(n)
        assert eigvalsh(S)[0] >= -1e-6 * np.abs(S).max()
        assert found.multipliers @ problem.squares == pytest.approx(found.value)


@pytest.mark.parametrize("n", [30, 120])
@pytest.mark.parametrize("has_masses", [False, True])
def test_ratio_is_one_over_lambda_2_or_that_of_masses(n, has_masses):
    masses = np.random.default_rng(2).integers(1, 4, n).astype(float) if has_masses else None
    _, problem = cloud_problem(n, Spread(1.0, masses=masses))
    y = np.random.default_rng(1).uniform(0.5, 2, len(problem.edges))
    L = edge_laplacian(n, problem.edges, y).toarray()
    expected = 1 / eigvalsh(L)[1]
    if has_masses:
        expected = eigvalsh(problem.spread.matrix(n)[1:, 1:], L[1:, 1:])[-1]
    assert largest_ratio(problem, y, sparse=True) == pytest.approx(expected, rel=1e-6)


def test_all_ways_to_invert_agree(monkeypatch):
    _, problem = cloud_problem(150, Spread(1.0))
    y = np.random.default_rng(3).uniform(0.5, 2, len(problem.edges))
    sparse = largest_ratio(problem, y, sparse=True)
    dense = largest_ratio(problem, y, sparse=False)
    monkeypatch.setattr(bound, "DENSE", 0)
    iterative = largest_ratio(problem, y, sparse=False)
    assert dense == pytest.approx(sparse, rel=1e-8)
    assert iterative == pytest.approx(sparse, rel=1e-6)
    bad = np.where(np.arange(len(y)) < 40, -y, y)
    assert np.isinf(largest_ratio(problem, bad, sparse=False))
    assert np.isinf(largest_ratio(problem, bad, sparse=True))


def test_negative_multipliers_are_mended():
    _, problem = cloud_problem(150, Spread(1.0))
    y = np.random.default_rng(3).uniform(0.5, 2, len(problem.edges))
    y[::50] = -0.5
    raw = largest_ratio(problem, y, sparse=True) * float(y @ problem.squares)
    assert bound_from(problem, y, sparse=True).value <= raw


def test_caps_take_no_negative_multipliers():
    """Two edges and a cap across them: y < 0 on the cap would promise more than half the truth."""
    edges, squares = np.array([[0, 1], [1, 2], [0, 2]]), np.array([1.0, 1.0, 100.0])
    problem = DistanceProblem(3, edges, squares, Spread(1.0), np.array([False, False, True]))
    found = bound_from(problem, np.array([1.0, 1.0, -0.1]), sparse=True)
    assert found.multipliers[2] >= 0
    assert found.value >= 2 - 1e-9  # of the points -1, 0, 1


def test_nothing_to_maximize():
    assert bound_from(path_problem([1.0, 2.0], Spread()), np.ones(2), sparse=True).value == 0


def test_contradictory_distances_give_a_negative_bound():
    """A triangle with sides 1, 1 and 10: y = (6, 6, -1) weighs the long side against the others."""
    edges = np.array([[0, 1], [1, 2], [0, 2]])
    problem = DistanceProblem(3, edges, np.array([1.0, 1.0, 100.0]), Spread(1.0))
    assert bound_from(problem, np.array([3.0, 3.0, -1.0]), sparse=True).value < 0
