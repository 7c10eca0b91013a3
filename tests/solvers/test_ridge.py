"""Ridge fits against dense formulas, and left-out rows against fits without them."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from sklearn.linear_model import RidgeCV

from labelfold.solvers.ridge import (
    PENALTIES,
    USUAL_PENALTY,
    choose_columns,
    choose_penalty,
    fit_ridge,
    leave_one_out,
    smoothest_fit,
)

GAMMAS = [1e-6, 1e-2, 1.0, 1e3]


def problem(n_rows=30, n_rough=12, n_classes=3, n_groups=1, seed=0):
    """Indicators first, then smooth columns that separate classes, and one-hot targets."""
    rng = np.random.default_rng(seed)
    classes = np.arange(n_rows) % n_classes
    groups = np.sort(rng.integers(n_groups, size=n_rows))
    groups[:n_groups] = np.arange(n_groups)
    rough = rng.standard_normal((n_rows, n_rough))
    rough[:, :n_classes] += 2 * np.eye(n_classes)[classes][:, :n_rough]
    heights = 1 + rng.random(n_groups)
    E = np.hstack([np.eye(n_groups)[groups] * heights, rough])
    rho = np.concatenate([np.zeros(n_groups), np.linspace(0.5, 4, n_rough)])
    return E, np.eye(n_classes)[classes], rho


def solve(E, C, rho, gamma):
    return np.linalg.solve(E.T @ E + gamma * np.diag(rho), E.T @ C)


def level_of(E, C, rho):
    """Coefficients of the unpenalized columns alone."""
    a = np.zeros((E.shape[1], C.shape[1]))
    a[rho == 0] = np.linalg.lstsq(E[:, rho == 0], C, rcond=None)[0]
    return a


def left_out(E, C, rho, gamma):
    """Differences from the level, predicted for each row by a fit to the others."""
    predicted = np.full(C.shape, np.nan)
    for i in range(len(E)):
        rest = np.delete(np.arange(len(E)), i)
        if np.linalg.matrix_rank(E[rest][:, rho == 0]) < np.sum(rho == 0):
            continue
        a = solve(E[rest], C[rest], rho, gamma) - level_of(E[rest], C[rest], rho)
        predicted[i] = E[i] @ a
    return predicted


def parts(E, C, rho):
    """What leave_one_out takes, by dense projections."""
    Z = E[:, rho == 0]
    P = np.eye(len(E)) - Z @ np.linalg.pinv(Z)
    X, s, _ = np.linalg.svd(P @ (E[:, rho > 0] / np.sqrt(rho[rho > 0])), full_matrices=False)
    kept = s > 1e-10 * s[0]
    return X[:, kept], s[kept] ** 2, P @ C, np.diag(P)


def unexplained(t, d):
    """The share of d that no multiple of its predictions t explains."""
    return 1 - np.sum(t * d) ** 2 / np.sum(t**2) / np.sum(d**2)


@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize("n_rough", [12, 50])
@pytest.mark.parametrize("gamma", GAMMAS)
def test_left_out_rows_as_by_fits_without_them(gamma, n_rough, n_groups):
    E, C, rho = problem(n_rough=n_rough, n_groups=n_groups)
    X, squares, centered, room = parts(E, C, rho)
    np.testing.assert_allclose(
        leave_one_out(X, squares, centered, gamma, room), left_out(E, C, rho, gamma), atol=1e-7
    )


def test_left_out_rows_in_the_limit():
    E, C, rho = problem(n_groups=2)
    X, squares, centered, room = parts(E, C, rho)
    limit = leave_one_out(X, squares, centered, np.inf, room)
    large = leave_one_out(X, squares, centered, 1e9, room)
    np.testing.assert_allclose(1e9 * large, limit, rtol=1e-5, atol=1e-5)
    huge = leave_one_out(X, squares, centered, 1e14, room)  # where residuals alone lose all digits
    np.testing.assert_allclose(1e14 * huge, limit, rtol=1e-9, atol=1e-9)


def test_left_out_rows_of_a_kernel_regression():
    rng = np.random.default_rng(0)
    points, C = rng.standard_normal((15, 2)), rng.standard_normal((15, 2))
    K = np.exp(-np.sum((points[:, None] - points) ** 2, axis=2))
    squares, X = np.linalg.eigh(K)
    inverse = np.linalg.inv(K + 0.1 * np.eye(15))
    expected = C - inverse @ C / np.diag(inverse)[:, None]
    np.testing.assert_allclose(leave_one_out(X, squares, C, 0.1), expected, atol=1e-9)


def test_left_out_rows_as_scikit_learn_has_them():
    E, C, rho = problem()
    X, squares, centered, room = parts(E, C, rho)
    model = RidgeCV(alphas=[0.3], store_cv_results=True)
    model.fit(E[:, rho > 0] / np.sqrt(rho[rho > 0]), C)
    level = C - centered / room[:, None]
    predicted = level + leave_one_out(X, squares, centered, 0.3, room)
    np.testing.assert_allclose((C - predicted) ** 2, model.cv_results_[:, :, 0], atol=1e-10)


def test_row_fitted_by_itself_alone_is_not_predicted():
    E, C, rho = problem(n_rows=12, n_rough=5)
    E[4] = 0
    E = np.hstack([E, np.zeros((12, 1))])
    E[4, 0], E[4, -1] = E[0, 0], 1.0
    rho = np.append(rho, 1.0)
    X, squares, centered, room = parts(E, C, rho)
    unpenalized = leave_one_out(X, squares, centered, 0.0, room)
    assert np.isnan(unpenalized[4]).all()
    assert np.isfinite(np.delete(unpenalized, 4, axis=0)).all()
    assert np.isfinite(leave_one_out(X, squares, centered, 0.1, room)).all()


@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize("gamma", GAMMAS)
def test_fit_is_the_ridge_fit_with_scaled_difference(gamma, n_groups):
    E, C, rho = problem(n_groups=n_groups)
    fit = fit_ridge(E, C, rho, penalty=gamma)
    expected = solve(E, C, rho, gamma) - level_of(E, C, rho)
    difference = E @ fit.coefficients - E @ level_of(E, E @ fit.coefficients, rho)
    exact = E @ expected - E @ level_of(E, E @ expected, rho)
    np.testing.assert_allclose(difference, fit.gain * exact, atol=1e-8)
    np.testing.assert_allclose((E @ fit.coefficients).sum(axis=1), 1)
    assert (fit.penalty, fit.criterion, fit.rank) == (gamma, "given", n_groups + 12)


@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize("gamma", GAMMAS)
def test_left_out_scores_are_those_of_the_other_rows(gamma, n_groups):
    E, C, rho = problem(n_groups=n_groups)
    fit = fit_ridge(E, C, rho, penalty=gamma)
    differences = left_out(E, C, rho, gamma)
    for i in range(len(E)):
        rest, flat = np.delete(np.arange(len(E)), i), rho == 0
        level = fit_ridge(E[rest][:, flat], C[rest], rho[flat], penalty=1.0).coefficients
        expected = E[i, flat] @ level + fit.gain * differences[i]
        np.testing.assert_allclose(fit.left_out[i], expected, atol=1e-8)


def test_level_of_balanced_classes_is_equal_and_of_many_unbalanced_rows_their_share():
    E, C, rho = problem()
    np.testing.assert_allclose((E @ fit_ridge(E, C, rho, penalty=1.0).coefficients).mean(0), 1 / 3)
    E = np.ones((2000, 1))
    C = np.eye(2)[(np.arange(2000) % 10 == 0).astype(int)]
    level = fit_ridge(E, C, np.zeros(1), penalty=1.0).coefficients
    np.testing.assert_allclose(level, [[0.9, 0.1]], atol=1e-3)


@pytest.mark.parametrize(("counts", "share"), [((3, 1), 0.5), ((9, 3), 0.5 + 0.25 * 8 / 11)])
def test_level_is_shrunk_by_what_chance_explains(counts, share):
    # Spread 1/8 of the means; their variance by chance is (3/8) / 3 = 1/8 and (3/8) / 11.
    C = np.repeat(np.eye(2), counts, axis=0)
    level = fit_ridge(np.ones((len(C), 1)), C, np.zeros(1), penalty=1.0).coefficients
    np.testing.assert_allclose(level, [[share, 1 - share]])


def test_group_of_one_class_is_of_that_class():
    E, C, rho = problem(n_rows=20, n_rough=6)
    E = block_diag(E, [[2.0], [2.0]])
    C = np.vstack([C, [[0, 1, 0]] * 2])
    rho = np.append(rho, 0.0)
    for penalty in (0.1, np.inf):
        scores = E @ fit_ridge(E, C, rho, penalty=penalty).coefficients
        np.testing.assert_allclose(scores[-2:], C[-2:], atol=1e-12)


def test_limit_is_the_direction_of_poisson_learning():
    rng = np.random.default_rng(3)
    W = np.triu(rng.random((40, 40)) < 0.15, 1).astype(float)
    W[np.arange(39), np.arange(1, 40)] = 1
    L = np.diag((W + W.T).sum(axis=1)) - W - W.T
    values, vectors = np.linalg.eigh(L)
    assert values[1] > 0.01
    rows, classes = np.array([1, 8, 13, 22, 30, 38]), np.array([0, 1, 0, 1, 1, 0])
    C = np.eye(2)[classes]
    rho = np.concatenate([[0], values[1:]])
    fit = fit_ridge(vectors[rows], C, rho, penalty=np.inf)
    source = np.zeros((40, 2))
    source[rows] = C - C.mean(axis=0)
    poisson = np.linalg.pinv(L) @ source
    scores = vectors @ fit.coefficients
    scores, poisson = scores - scores[rows].mean(axis=0), poisson - poisson[rows].mean(axis=0)
    unit = np.trace((L_plus := np.linalg.pinv(L))[np.ix_(rows, rows)])
    unit = (unit - L_plus[np.ix_(rows, rows)].sum() / 6) / 6
    np.testing.assert_allclose(scores, fit.gain * poisson / unit, atol=1e-10)
    # Ridge fits with a large penalty get there.
    near = vectors @ fit_ridge(vectors[rows], C, rho, penalty=1e8).coefficients
    np.testing.assert_array_equal(near.argmax(axis=1), scores.argmax(axis=1))


def test_chosen_penalty_has_the_least_error_by_fits_without_the_row():
    E, C, rho = problem(n_groups=2)
    fit = choose_penalty(E, C, rho)
    A = E[:, 2:] / np.sqrt(rho[2:])
    unit = np.sum((A - E @ level_of(E, A, rho)) ** 2) / len(E)
    np.testing.assert_allclose(fit.candidates, PENALTIES * unit)
    errors = []
    for gamma in fit.candidates[:-1]:
        t = left_out(E, C, rho, gamma)
        d = np.array([C[i] - E[i] @ level_of(*np_delete(E, C, i), rho) for i in range(len(E))])
        errors.append(unexplained(t, d))
    np.testing.assert_allclose(fit.errors[:-1], errors, atol=1e-7)
    assert fit.penalty == fit.candidates[int(np.argmin(fit.errors))]
    assert fit.criterion == "leave-one-out"


def np_delete(E, C, i):
    return np.delete(E, i, axis=0), np.delete(C, i, axis=0)


def test_infinity_is_compared_as_what_large_penalties_tend_to():
    E, C, rho = problem()
    X, squares, centered, room = parts(E, C, rho)
    t, d = leave_one_out(X, squares, centered, 1e8, room), centered / room[:, None]
    assert choose_penalty(E, C, rho).errors[-1] == pytest.approx(unexplained(t, d), abs=1e-6)


@pytest.mark.parametrize("n_rough", [12, 50])
def test_units_do_not_matter(n_rough):
    E, C, rho = problem(n_rough=n_rough)
    fit = choose_penalty(E, C, rho)
    scores = E @ fit.coefficients
    scales = np.linspace(0.1, 3, E.shape[1])
    scaled = choose_penalty(E * scales, C, rho * scales**2)
    np.testing.assert_allclose((E * scales) @ scaled.coefficients, scores, atol=1e-8)
    rougher = choose_penalty(E, C, rho * 1e4)
    np.testing.assert_allclose(E @ rougher.coefficients, scores, atol=1e-8)
    assert rougher.penalty == pytest.approx(fit.penalty / 1e4)
    limit = E @ fit_ridge(E, C, rho, penalty=np.inf).coefficients
    rougher = fit_ridge(E, C, rho * 1e4, penalty=np.inf)
    np.testing.assert_allclose(E @ rougher.coefficients, limit, atol=1e-8)
    order = np.random.default_rng(0).permutation(len(E))
    turned = choose_penalty(E[order], C[order][:, ::-1], rho)
    np.testing.assert_allclose(turned.coefficients[:, ::-1], fit.coefficients, atol=1e-8)


def test_one_row_per_class_takes_the_usual_penalty():
    E, C, rho = problem(n_rows=4, n_classes=4)
    fit = choose_penalty(E, C, rho)
    A = E[:, 1:] / np.sqrt(rho[1:])
    unit = np.sum((A - A.mean(axis=0)) ** 2) / 4
    assert fit.criterion == "usual"
    assert fit.penalty == pytest.approx(USUAL_PENALTY * unit)
    np.testing.assert_array_equal((E @ fit.coefficients).argmax(axis=1), np.arange(4))
    assert choose_columns(E, C, np.ones(E.shape[1])).criterion == "usual"


def test_rows_alone_in_their_class_do_not_count():
    E, C, rho = problem(n_rows=31)
    C = np.hstack([C, np.zeros((31, 1))])
    C[30] = [0, 0, 0, 1]
    X, squares, centered, room = parts(E, C, rho)
    fit = choose_penalty(E, C, rho)
    t = leave_one_out(X, squares, centered, fit.candidates[9], room)[:30]
    d = (centered / room[:, None])[:30]
    assert fit.errors[9] == pytest.approx(unexplained(t, d))


def test_class_in_two_groups_with_one_row_each_is_alone_in_both():
    E = block_diag(np.ones((2, 1)), np.ones((2, 1)))
    E = np.hstack([E, np.array([[1.0], [-1], [1], [-1]])])
    C = np.eye(2)[[0, 1, 0, 1]]
    assert choose_penalty(E, C, np.array([0.0, 0, 1])).criterion == "usual"


def test_groups_of_one_class_each_leave_nothing_to_predict():
    E = block_diag(np.ones((1, 1)), np.ones((4, 1)) / 3, np.ones((1, 1)))
    E = np.hstack([E, np.arange(6.0)[:, None]])
    C = np.eye(3)[[0, 1, 1, 1, 1, 2]]
    fit = choose_penalty(E, C, np.array([0.0, 0, 0, 1]))
    assert fit.criterion == "usual"
    np.testing.assert_allclose(E @ fit.coefficients, C, atol=1e-12)


def test_labels_that_are_noise_get_their_share():
    rng = np.random.default_rng(0)
    E, _, rho = problem(n_rows=300, n_rough=60)
    C = np.eye(2)[(rng.random(300) < 0.2).astype(int)]
    E = E[rng.permutation(300)]
    fit = choose_penalty(E, C, rho)
    assert np.mean((E @ fit.coefficients).argmax(axis=1) == 0) > 0.95
    assert fit_ridge(E, C, rho, penalty=1e-6).gain < 0.5


@pytest.mark.parametrize("penalty", [1e-3, 1.0, np.inf])
def test_odd_input(penalty):
    E, C, rho = problem(n_rows=8, n_rough=20)
    twice = fit_ridge(np.vstack([E, E]), np.vstack([C, C]), rho, penalty=penalty)
    assert np.isfinite(twice.coefficients).all()
    one_class = fit_ridge(E, np.ones((8, 1)), rho, penalty=penalty)
    np.testing.assert_allclose(E @ one_class.coefficients, 1)
    one_row = fit_ridge(E[:1], C[:1], rho, penalty=penalty)
    np.testing.assert_allclose(E[:1] @ one_row.coefficients, C[:1], atol=1e-12)
    no_rough = fit_ridge(E[:, :1], C, rho[:1], penalty=penalty)
    assert no_rough.coefficients.shape == (1, 3)
    no_level = fit_ridge(E[:, 1:], C, rho[1:], penalty=penalty)
    if np.isfinite(penalty):
        exact = solve(E[:, 1:], C, rho[1:], penalty)
        np.testing.assert_allclose(no_level.coefficients, no_level.gain * exact, atol=1e-7)
    E[:, 3:] = 0
    assert np.isfinite(fit_ridge(E, C, rho, penalty=penalty).coefficients).all()


def test_odd_input_to_the_choices():
    E, C, rho = problem(n_rows=8, n_rough=20)
    for some, targets in (
        (E, np.ones((8, 1))),
        (E[:1], C[:1]),
        (np.vstack([E, E]), C.repeat(2, 0)),
    ):
        for fit in (choose_penalty(some, targets, rho), choose_columns(some, targets, rho)):
            assert np.isfinite(fit.coefficients).all()
    assert choose_penalty(E[:, :1], C, rho[:1]).criterion == "usual"


@pytest.mark.parametrize("dependent", [False, True])
def test_chosen_columns_misclassify_fewest_by_fits_without_the_row(dependent):
    E, C, _ = problem(n_rows=24, n_rough=10, seed=1)
    if dependent:
        E[:, 3], E[:, 5] = 0, E[:, 1] + E[:, 2]
    sizes = np.arange(1, 12)
    fit = choose_columns(E, C, np.ones(E.shape[1]))
    np.testing.assert_array_equal(fit.candidates, sizes)
    wrong = []
    for p in sizes:
        misses = 0
        for i in range(24):
            rest = np_delete(E[:, :p], C, i)
            scores = E[i, :p] @ (np.linalg.pinv(rest[0], rcond=1e-10) @ rest[1])
            misses += C[i, scores.argmax()] == 0
        wrong.append(misses / 24)
    np.testing.assert_allclose(fit.errors, wrong)
    assert fit.errors[fit.n_columns - 1] == min(wrong)
    np.testing.assert_allclose(
        fit.coefficients[: fit.n_columns], np.linalg.pinv(E[:, : fit.n_columns]) @ C, atol=1e-10
    )
    assert not fit.coefficients[fit.n_columns :].any()


def test_columns_by_default_go_to_half_the_rows():
    E, C, _ = problem(n_rows=30, n_rough=40)
    fit = choose_columns(E, C, np.ones(E.shape[1]), n_first=1)
    np.testing.assert_array_equal(fit.candidates, np.arange(1, 16))
    assert choose_columns(E[:6], C[:6], np.ones(E.shape[1]), n_first=5).n_columns == 5


def test_column_that_gives_a_row_leverage_1_counts_it_as_wrong():
    E, C, _ = problem(n_rows=12, n_rough=3)
    alone = np.zeros((12, 1))
    alone[0] = 1
    fit = choose_columns(np.hstack([E, alone]), C, np.ones(E.shape[1] + 1), n_first=4)
    np.testing.assert_array_equal(fit.candidates, [4, 5])
    # The other rows are fitted as if that row were not there.
    n_wrong = 1
    for i in range(1, 12):
        rest = np.setdiff1d(np.arange(1, 12), i)
        n_wrong += C[i, (E[i] @ np.linalg.pinv(E[rest]) @ C[rest]).argmax()] == 0
    assert fit.errors[1] == pytest.approx(n_wrong / 12)


def test_bad_input_says_what_is_wrong():
    E, C, rho = problem()
    with pytest.raises(ValueError, match="penalty=-1 must be 0 or more"):
        fit_ridge(E, C, rho, penalty=-1)
    with pytest.raises(ValueError, match="penalty=nan must be 0 or more"):
        fit_ridge(E, C, rho, penalty=np.nan)
    with pytest.raises(ValueError, match="must be indicators"):
        fit_ridge(E, C, rho * 0, penalty=1.0)


@pytest.mark.parametrize(("n_rows", "n_rough"), [(100, 20), (100, 60), (30, 3), (23, 20)])
def test_independent_columns_are_plain_least_squares(n_rows, n_rough):
    E, C, rho = problem(n_rows, n_rough, n_groups=3)
    found, rank = smoothest_fit(E, C, rho)
    np.testing.assert_allclose(found, np.linalg.lstsq(E, C, rcond=None)[0], atol=1e-10)
    assert rank == n_rough + 3


@pytest.mark.parametrize("n_groups", [1, 2])
def test_no_penalty_is_least_squares_and_the_limit_of_a_small_one(n_groups):
    E, C, rho = problem(12, 40, n_groups=n_groups)
    E[:, 5] = E[:, 6]
    fit = fit_ridge(E, C, rho, penalty=0.0)
    np.testing.assert_allclose(E @ fit.coefficients, C, atol=1e-10)
    np.testing.assert_allclose(fit.coefficients, solve(E, C, rho, 1e-9), atol=1e-4)
    assert (fit.rank, fit.gain, fit.criterion) == (12, 1.0, "given")


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
