import numpy as np
import pytest

from labelfold.solvers.least_squares import smoothest_fit

RNG = np.random.default_rng(0)


def problem(n_rows, n_vectors, groups=(0,)):
    group = np.arange(n_rows) % len(groups)
    indicators = np.zeros((n_rows, len(groups)))
    indicators[np.arange(n_rows), group] = 0.3 + group
    design = np.hstack([indicators, RNG.normal(size=(n_rows, n_vectors))])
    roughness = np.append(np.zeros(len(groups)), RNG.uniform(0.1, 3, size=n_vectors))
    return design, RNG.normal(size=(n_rows, 2)), roughness


@pytest.mark.parametrize(("n_rows", "n_vectors"), [(100, 20), (100, 60), (30, 0), (23, 20)])
def test_independent_columns_are_plain_least_squares(n_rows, n_vectors):
    E, C, rho = problem(n_rows, n_vectors, groups=(0, 1, 2))
    found, rank = smoothest_fit(E, C, rho)
    np.testing.assert_allclose(found, np.linalg.lstsq(E, C, rcond=None)[0], atol=1e-10)
    assert rank == n_vectors + 3


@pytest.mark.parametrize("groups", [(0,), (0, 1)])
def test_dependent_columns_are_the_limit_of_a_small_penalty(groups):
    E, C, rho = problem(12, 40, groups)
    found, rank = smoothest_fit(E, C, rho)
    limit = np.linalg.solve(E.T @ E + 1e-9 * np.diag(rho), E.T @ C)
    np.testing.assert_allclose(found, limit, atol=1e-4)
    np.testing.assert_allclose(E @ found, C, atol=1e-10)
    assert rank == 12


def test_a_constant_has_no_roughness():
    E, _, rho = problem(12, 40)
    found, _ = smoothest_fit(E, np.full((12, 1), 3.0), rho)
    np.testing.assert_allclose(found, np.append([10.0], np.zeros(40))[:, None], atol=1e-12)


def test_columns_that_are_zero_or_equal_are_found_out():
    E, C, rho = problem(100, 10)
    doubled = np.hstack([E, E[:, 3:5], np.zeros((100, 1))])
    found, rank = smoothest_fit(doubled, C, np.append(rho, [rho[3], rho[4], 1.0]))
    once, _ = smoothest_fit(E, C, rho)
    assert rank == 11
    np.testing.assert_allclose(doubled @ found, E @ once, atol=1e-10)
    np.testing.assert_allclose(found[3:5], once[3:5] / 2, atol=1e-10)
    np.testing.assert_allclose(found[-1], 0, atol=1e-12)


def test_nearly_dependent_columns_do_not_go_through_normal_equations():
    E, C, rho = problem(200, 10)
    E[:, 9] = E[:, 8] + 1e-7 * E[:, 9]
    found, rank = smoothest_fit(E, C, rho)
    residual = C - E @ found
    assert rank == 11
    np.testing.assert_allclose(E[:, :9].T @ residual, 0, atol=1e-7)
