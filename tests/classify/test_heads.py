import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from labelfold import LeastSquaresClassifier
from labelfold.classify.heads import make_head
from labelfold.solvers.ridge import choose_penalty


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(0)
    y = np.repeat([3, 5, 9], 40)
    X = rng.standard_normal((120, 4)) + 2 * np.eye(4)[y % 4]
    return X, y


def test_scores_solve_the_normal_equations(three_classes):
    # CCDR-MC V.A: residuals of every class are orthogonal to the coordinates and to 1.
    X, y = three_classes
    head = LeastSquaresClassifier().fit(X, y)
    scores = X @ head.coef_.T + head.intercept_
    residuals = scores - (y[:, None] == head.classes_)
    augmented = np.column_stack([X, np.ones(len(X))])
    np.testing.assert_allclose(augmented.T @ residuals, 0, atol=1e-10)
    np.testing.assert_allclose(scores.sum(axis=1), 1)
    np.testing.assert_array_equal(head.predict(X), head.classes_[scores.argmax(axis=1)])
    np.testing.assert_allclose(head.decision_function(X), scores)


def test_closed_form_on_a_line():
    # Least squares through (0, 0), (1, 0), (2, 1), (5, 1): slope 3 / 14, mean 1 / 2 at x = 2.
    head = LeastSquaresClassifier().fit([[0.0], [1.0], [2.0], [5.0]], ["a", "a", "b", "b"])
    np.testing.assert_allclose(head.coef_, [[-3 / 14], [3 / 14]])
    np.testing.assert_allclose(head.decision_function([[2.0]]), [0], atol=1e-12)
    np.testing.assert_allclose(head.predict_proba([[3.0]]), [[2 / 7, 5 / 7]])


def test_without_intercept_is_the_sign_rule():
    # CCDR-2005 section 4: the sign of a^T y with a fitted to targets -1 and +1.
    rng = np.random.default_rng(1)
    X, signs = rng.standard_normal((50, 2)) + 0.3, rng.choice([-1, 1], 50)
    a = np.linalg.lstsq(X, signs, rcond=None)[0]
    head = LeastSquaresClassifier(fit_intercept=False).fit(X, signs)
    np.testing.assert_allclose(head.decision_function(X), X @ a)
    np.testing.assert_array_equal(head.predict(X), np.where(X @ a > 0, 1, -1))
    assert not head.intercept_.any()


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_low_rank_changes_no_answer(three_classes, fit_intercept):
    X, y = three_classes
    head = LeastSquaresClassifier(fit_intercept=fit_intercept)
    plain = clone(head).fit(X, y)
    more = [X, X[:, :1] - X[:, 1:2], 3 * X[:, :1], np.zeros((len(X), 1))]
    if fit_intercept:
        more.append(np.full((len(X), 1), 1e6))
    wide = np.hstack(more)
    low = head.fit(wide, y)
    assert (plain.column_rank_, low.column_rank_) == (4, 4)
    np.testing.assert_allclose(low.decision_function(wide), plain.decision_function(X), atol=1e-9)


def test_more_coordinates_than_rows_fits_exactly(three_classes):
    _, y = three_classes
    rng = np.random.default_rng(2)
    wide = rng.standard_normal((6, 30))
    head = LeastSquaresClassifier().fit(wide, y[::20])
    np.testing.assert_array_equal(head.predict(wide), y[::20])
    assert np.isfinite(head.coef_).all()
    assert head.column_rank_ == 5


def test_units_have_no_influence(three_classes):
    X, y = three_classes
    units = 10.0 ** np.array([-200, -3, 0, 200])
    wide = np.hstack([X, X[:, :1] + X[:, 1:2]])  # rank-deficient, where units could matter
    other = wide * np.append(units, 1e3)
    scores = LeastSquaresClassifier().fit(wide, y).decision_function(wide)
    np.testing.assert_allclose(
        LeastSquaresClassifier().fit(other, y).decision_function(other), scores, atol=1e-8
    )


def test_a_column_of_rounding_error_is_no_coordinate(three_classes):
    X, y = three_classes
    noise = 1 + 1e-14 * np.random.default_rng(3).standard_normal((len(X), 1))
    head = LeastSquaresClassifier().fit(np.hstack([X, noise]), y)
    assert not head.coef_[:, -1].any()


def test_one_class():
    head = LeastSquaresClassifier().fit([[0.0], [1.0]], ["a", "a"])
    np.testing.assert_array_equal(head.predict([[7.0]]), ["a"])
    np.testing.assert_array_equal(head.predict_proba([[7.0]]), [[1.0]])


def test_make_head():
    assert isinstance(make_head("linear", 5), LeastSquaresClassifier)
    assert make_head("knn", 5).n_neighbors == 3
    assert make_head("knn", 2).n_neighbors == 2
    given = KNeighborsClassifier(7)
    made = make_head(given, 5)
    assert made is not given
    assert made.n_neighbors == 7


@pytest.mark.parametrize("head", ["Linear", 3, None, LogisticRegression])
def test_wrong_head(head):
    with pytest.raises((ValueError, TypeError), match=r"head=|class"):
        make_head(head, 5)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_penalty_is_that_of_left_out_rows(three_classes, fit_intercept):
    X, y = three_classes
    roughness = np.array([1.0, 4.0, 0.5, 2.0])
    head = LeastSquaresClassifier(
        fit_intercept=fit_intercept, penalty="auto", roughness=roughness
    ).fit(X, y)
    design = np.hstack([np.ones((len(X), int(fit_intercept))), X])
    flat = np.zeros(int(fit_intercept))
    fit = choose_penalty(design, (y[:, None] == head.classes_) * 1.0, np.append(flat, roughness))
    assert head.penalty_ == fit.penalty > 0
    scores = X @ head.coef_.T + head.intercept_
    np.testing.assert_allclose(scores, design @ fit.coefficients)
    scaled = LeastSquaresClassifier(fit_intercept=fit_intercept, penalty="auto")
    scaled.fit(X / np.sqrt(roughness), y)  # the same problem in other units
    np.testing.assert_allclose(scaled.decision_function(X / np.sqrt(roughness)), scores)


def test_penalty_with_more_coordinates_than_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 60)) * np.append([4.0, 4.0], np.ones(58))
    y = (X[:, 0] > 0).astype(int)
    plain = LeastSquaresClassifier().fit(X[:20], y[:20]).score(X[20:], y[20:])
    assert LeastSquaresClassifier(penalty="auto").fit(X[:20], y[:20]).score(X[20:], y[20:]) > plain
    with pytest.raises(ValueError, match=r"penalty=1.0 must be 0.0 or 'auto'"):
        LeastSquaresClassifier(penalty=1.0).fit(X, y)
