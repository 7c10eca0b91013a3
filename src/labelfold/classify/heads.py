"""Heads: from coordinates and labels of some rows to a class for every row.

A head is any scikit-learn classifier. This module has the one that scikit-learn lacks, the
least-squares classifier of CCDR-MC section V.A with an optional penalty, and short names for the
usual heads.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from labelfold.checks import input_errors
from labelfold.exceptions import InputError
from labelfold.graph.point_space import LEAST_ENTRY, PointSpace
from labelfold.labels.score_classifier import ScoreClassifierMixin
from labelfold.methods import Declaration, declare
from labelfold.solvers.ridge import choose_penalty

__all__ = ["LeastSquaresClassifier", "make_head"]

HEADS = ("ridge", "linear", "knn")
N_NEIGHBORS = 3  # as in CCDR-2005 section 4
CONSTANT = 1e-10  # a column that varies by less, relative to its size, varies by rounding only


@declare(
    Declaration(
        "",
        "linear classifier by least squares, a head for embeddings",
        labels="complete",
        produces="neither",
        uses_graph=False,
        examples=({}, {"penalty": "auto"}),
    )
)
class LeastSquaresClassifier(ScoreClassifierMixin, BaseEstimator):
    """Linear classifier by least squares, one class against all others (CCDR-MC section V.A).

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the scores have a constant term. CCDR-2005's rule, the sign of a^T y for two
        classes, has none.
    penalty : {0.0, "auto"}, default=0.0
        0 is the paper's least squares. "auto" is ridge regression with the penalty that predicts
        left-out rows best, for few rows.
    roughness : array-like of shape (n_features,), default=None
        Weight of every squared coefficient in the penalty, such as the squared eigenvalue of an
        eigenvector; None is 1 for each, so that the units of coordinates count.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (n_classes, n_features)
        Coefficients of the scores, one row per class.
    intercept_ : ndarray of shape (n_classes,)
        Constant terms.
    column_rank_ : int
        Rank of the coordinates. Below n_features the fit is not unique: it is the one with the
        smallest coefficients for coordinates of unit variance.
    penalty_ : float
        The penalty used.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    Notes
    -----
    For every class k minimizes ``sum_i (y_i^T a_k + b_k - c_ki)^2``, where c_ki is 1 for a member
    and 0 otherwise, and predicts the class with the largest score. Without a penalty, coordinates
    are scaled to the same variance before the fit, so that their units have no influence even if
    the rank is low. For the penalty see :mod:`labelfold.solvers.ridge`.

    With an intercept the scores of a row sum to 1. ``predict_proba`` is the distribution nearest
    to them; it measures confidence and is not calibrated.

    Examples
    --------
    >>> from labelfold import LeastSquaresClassifier
    >>> head = LeastSquaresClassifier().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> head.predict([[2.0], [3.0]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        penalty: float | str = 0.0,
        roughness: ArrayLike | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.penalty = penalty
        self.roughness = roughness

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Coordinates of labeled rows.
        y : array-like of shape (n_samples,)
            Their classes; every row is labeled.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with input_errors():
            X, y = validate_data(self, X, y, dtype=np.float64)
            _check_classes(y)
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise InputError(f"fit_intercept={self.fit_intercept!r} must be True or False.")
        self.classes_, codes = np.unique(y, return_inverse=True)
        indicators = np.eye(len(self.classes_))[codes]
        if self.penalty == "auto":
            return self._fit_ridge(X, indicators)
        if self.penalty != 0:
            raise InputError(f"penalty={self.penalty!r} must be 0.0 or 'auto'.")
        scale = self._spread(X)
        regression = LinearRegression(fit_intercept=self.fit_intercept).fit(X / scale, indicators)
        with np.errstate(over="ignore"):
            self.coef_ = regression.coef_ / scale
        if not np.all(np.isfinite(self.coef_)):
            raise InputError(
                "Coordinates vary by so little that coefficients leave the range of float64: "
                "rescale X."
            )
        self.intercept_ = np.broadcast_to(regression.intercept_, (len(self.classes_),)).copy()
        self.column_rank_, self.penalty_ = int(regression.rank_), 0.0
        return self

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the accuracy.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Coordinates.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        float
            Share of rows with the right class.
        """
        # Not ClassifierMixin's, which takes sample weights that fit does not.
        return float(accuracy_score(y, self.predict(X)))

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _fit_ridge(self, X: NDArray[np.float64], indicators: NDArray[np.float64]) -> Self:
        PointSpace("euclidean").check(X, least=LEAST_ENTRY)
        n_constant = int(self.fit_intercept)
        design = np.hstack([np.ones((len(X), n_constant)), X])
        roughness = self._check_roughness(X.shape[1])
        fit = choose_penalty(design, indicators, np.append(np.zeros(n_constant), roughness))
        self.coef_ = fit.coefficients[n_constant:].T
        self.intercept_ = fit.coefficients[:n_constant].sum(axis=0)
        self.column_rank_, self.penalty_ = fit.rank - n_constant, fit.penalty
        return self

    def _check_roughness(self, n_features: int) -> NDArray[np.float64]:
        if self.roughness is None:
            return np.ones(n_features)
        try:
            roughness = np.asarray(self.roughness, dtype=float)
        except (TypeError, ValueError):
            roughness = np.empty(0)
        is_finite = np.all(np.isfinite(roughness) & (roughness >= 0))
        if roughness.shape != (n_features,) or not is_finite:
            raise InputError(
                f"roughness={self.roughness!r} must be {n_features} finite numbers of at least 0, "
                "one for each feature, or None."
            )
        return roughness

    def _spread(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the size of every column's variation; infinite if it is rounding only."""
        peak = np.abs(X).max(axis=0)
        peak[peak == 0] = 1
        shape = X / peak  # whose squares stay in range
        spread = shape.std(axis=0) if self.fit_intercept else np.sqrt(np.mean(shape**2, axis=0))
        return np.where(spread > CONSTANT, spread * peak, np.inf)


def _check_classes(y: NDArray[Any]) -> None:
    try:
        check_classification_targets(y)
    except TypeError as error:
        raise InputError(
            "y mixes labels of several types, or rows without a label: give every row text, or "
            "every row a number."
        ) from error


def make_head(head: Any, n_labeled: int, roughness: ArrayLike | None = None) -> Any:
    """Return an unfitted head, by name or as a copy, for that many labeled rows.

    ``roughness`` is that of the coordinates, if they are eigenvectors.
    """
    if isinstance(head, str) and head == "ridge":
        return LeastSquaresClassifier(penalty="auto", roughness=roughness)
    if isinstance(head, str) and head == "linear":
        return LeastSquaresClassifier()
    if isinstance(head, str) and head == "knn":
        return KNeighborsClassifier(n_neighbors=min(N_NEIGHBORS, n_labeled))
    if isinstance(head, str) or not (hasattr(head, "fit") and hasattr(head, "predict")):
        raise InputError(
            f"head={head!r} is not a classifier: use one of {HEADS} or an estimator with fit and "
            "predict, such as LogisticRegression()."
        )
    return clone(head)
