"""Coordinates that weights reconstruct best: closed forms, dense against ARPACK, null vectors."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag, subspace_angles
from sklearn.exceptions import ConvergenceWarning

from labelfold.solvers.eigen import null_space
from labelfold.solvers.eigen.null_space import bottom_eigenpairs, closed_components

SOLVERS = ["dense", "arpack"]


def ring(n):
    """Every point is the mean of its two neighbors on a circle."""
    step = np.roll(np.eye(n), 1, axis=1)
    return (step + step.T) / 2


def random_weights(n, rng, k=5):
    W = np.zeros((n, n))
    for i in range(n):
        others = rng.choice(np.delete(np.arange(n), i), k, replace=False)
        w = rng.normal(1, 1, size=k) ** 3
        W[i, others] = w / w.sum() if abs(w.sum()) > 1 else 1 / k
    return W


def bottom(W, n_pairs, solver="dense", X=None):
    X = np.random.default_rng(5).normal(size=(len(W), 3)) if X is None else X
    return bottom_eigenpairs(sp.csr_array(W), n_pairs, X=X, solver=solver)


@pytest.mark.parametrize("solver", SOLVERS)
def test_ring_has_cosines(solver):
    # I - W has eigenvalues 1 - cos(2 pi j / n), each but the first twice.
    pairs = bottom(ring(50), 6, solver)
    j = np.array([1, 1, 2, 2, 3, 3])
    np.testing.assert_allclose(pairs.values, (1 - np.cos(2 * np.pi * j / 50)) ** 2, rtol=1e-9)
    angles = 2 * np.pi * np.outer(np.arange(50), [1, 2, 3]) / 50
    waves = np.hstack([np.cos(angles), np.sin(angles)])
    assert subspace_angles(pairs.vectors, waves).max() < 1e-7
    assert pairs.certificate.ok
    assert pairs.certificate.solver == solver


@pytest.mark.parametrize("solver", SOLVERS)
def test_against_singular_vectors(solver):
    # W is not symmetric: right and left singular vectors of I - W differ.
    W = random_weights(120, np.random.default_rng(0))
    pairs = bottom(W, 4, solver)
    _, s, Vt = np.linalg.svd(np.eye(120) - W)
    np.testing.assert_allclose(pairs.values, s[-2:-6:-1] ** 2, rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(pairs.vectors.T * Vt[-2:-6:-1], axis=1)), 1)
    np.testing.assert_allclose(pairs.vectors.sum(axis=0), 0, atol=1e-12)


def test_solvers_give_one_basis():
    W = block_diag(
        *[random_weights(40, np.random.default_rng(1))] * 3
    )  # all eigenvalues three times
    a, b = (bottom(W, 8, solver) for solver in SOLVERS)
    np.testing.assert_allclose(a.values, b.values, atol=1e-12)
    np.testing.assert_allclose(a.vectors, b.vectors, atol=1e-7)
    np.testing.assert_array_equal(a.values[:2], 0)
    np.testing.assert_allclose(b.values[2:5], b.values[2], rtol=1e-9)  # none is missed


def test_a_pair_that_arpack_misses_is_found(monkeypatch):
    ask, n_asked = null_space._arpack, []

    def forgetful(M, shift, solve, known, n_wanted, rng):
        n_asked.append(n_wanted)
        if len(n_asked) > 1:
            return ask(M, shift, solve, known, n_wanted, rng)
        vectors, values = ask(M, shift, solve, known, n_wanted + 2, rng)
        return vectors[:, [0, 3, 4]], values[[0, 3, 4]]

    monkeypatch.setattr(null_space, "_arpack", forgetful)
    W = random_weights(120, np.random.default_rng(0))
    np.testing.assert_allclose(bottom(W, 3, "arpack").vectors, bottom(W, 3).vectors, atol=1e-9)
    assert n_asked == [3, 1, 1, 1]


def test_eigenvalues_of_very_different_size():
    # A chain whose ends are hardly joined to what is between.
    parts = [random_weights(60, np.random.default_rng(seed)) for seed in range(3)]
    W = block_diag(*parts)
    for row, column in ((59, 60), (60, 59), (119, 120), (120, 119)):
        W[row] *= 1 - 1e-5
        W[row, column] = 1e-5
    pairs = bottom(W, 8, "arpack")
    assert pairs.values[1] < 1e-9 < 1e-4 < pairs.values[2]
    assert pairs.certificate.max_residual < 1e-13
    assert bottom(W, 8).certificate.ok


def test_closed_components_of_a_directed_graph():
    # 0 and 1 name each other, so do 4 and 5; 2 and 3 name these, and nobody names them.
    W = np.zeros((6, 6))
    W[[0, 1, 4, 5], [1, 0, 5, 4]] = 1
    W[2, [0, 4]] = 0.25, 0.75
    W[3, [1, 2]] = -1, 2
    np.testing.assert_array_equal(closed_components(sp.csr_array(W)), [0, 0, -1, -1, 1, 1])
    pairs = bottom(W, 1)
    # Up to a factor and a constant: 0 on the first component, 1 on the last.
    v = pairs.vectors[:, 0]
    np.testing.assert_allclose((v - v[0]) / (v[5] - v[0]), [0, 0, 0.75, 1.5, 1, 1], atol=1e-12)
    assert pairs.certificate.ok
    assert pairs.values[0] == 0


def test_a_weight_of_zero_is_not_an_edge():
    W = sp.csr_array((np.array([1.0, 0, 1, 1, 1]), ([0, 0, 1, 2, 3], [1, 2, 0, 3, 2])))
    np.testing.assert_array_equal(closed_components(W), [0, 0, 1, 1])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_pairs", [2, 4, 7])
def test_null_space_of_components(solver, n_pairs):
    rng = np.random.default_rng(2)
    sizes = [30, 40, 50, 60, 70]
    W = block_diag(*[random_weights(n, rng) for n in sizes])
    component = np.repeat(np.arange(5), sizes)
    X = rng.normal(size=(5, 6))[component] + 0.1 * rng.normal(size=(250, 6))
    pairs = bottom(W, n_pairs, solver, X)
    assert pairs.certificate.ok
    n_null = min(n_pairs, 4)
    for p in range(5):
        assert np.ptp(pairs.vectors[component == p, :n_null], axis=0).max() < 1e-12
    # In the order of the variance of X that they explain.
    explained = np.linalg.norm(pairs.vectors[:, :n_null].T @ (X - X.mean(axis=0)), axis=1)
    means = np.array([X[component == p].mean(axis=0) for p in range(5)]) - X.mean(axis=0)
    expected = np.linalg.svd(np.sqrt(sizes)[:, None] * means, compute_uv=False)
    np.testing.assert_allclose(explained, expected[:n_null], rtol=1e-9)


def test_null_space_larger_than_the_data():
    W = block_diag(*[ring(5)] * 7)
    X = np.arange(35.0)[:, None]
    few, many = bottom(W, 4, X=X), bottom(W, 34, X=X)
    np.testing.assert_allclose(few.vectors, many.vectors[:, :4], atol=1e-12)
    steps = np.diff(few.vectors[:, 0])
    assert np.all(steps >= -1e-12) or np.all(steps < 1e-12)
    assert many.certificate.ok
    # A basis that the data leave open does not depend on rounding.
    np.testing.assert_allclose(bottom(W, 4, X=X / 3 + 0.1).vectors, few.vectors, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_pairs(solver):
    W = random_weights(30, np.random.default_rng(3))
    pairs = bottom(W, 29, solver)
    expected = np.linalg.svd(np.eye(30) - W, compute_uv=False)[::-1][1:] ** 2
    np.testing.assert_allclose(pairs.values, expected, rtol=1e-8)


def test_no_convergence_warns_with_numbers(monkeypatch):
    monkeypatch.setattr(null_space, "RESTARTS", 1)
    W = random_weights(400, np.random.default_rng(0))
    with pytest.warns(ConvergenceWarning, match=r"NOT converged.*worst residual"):
        pairs = bottom(W, 60, "arpack")
    assert not pairs.certificate.ok
    assert np.all(np.isfinite(pairs.vectors))


def test_wrong_arguments():
    with pytest.raises(ValueError, match="eigen_solver='magic'"):
        bottom(ring(5), 2, "magic")
    for n_pairs in (0, 5):
        with pytest.raises(ValueError, match=f"n_pairs={n_pairs}"):
            bottom(ring(5), n_pairs)
