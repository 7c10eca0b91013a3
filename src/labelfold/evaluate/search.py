"""A search over parameters that keeps every row and hides held-out labels.

Every candidate is fitted on all rows with one fold's labels hidden, and scored on its classes of
that fold in ``transduction_``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid
from sklearn.utils import _safe_indexing, check_consistent_length, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from labelfold.classify import ManifoldClassifier
from labelfold.evaluate.shared_fits import SharedFit, build_graphs, fit_together, plan_fits
from labelfold.evaluate.splits import hide_rows, hold_out
from labelfold.exceptions import InputError, warn_user
from labelfold.graph import NeighborGraph
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare, takes_partial_labels
from labelfold.progress import show_progress

__all__ = ["TransductiveSearchCV"]


@dataclass(frozen=True)
class _Fold:
    """One fold: the labels without it, its rows, and their classes."""

    y: NDArray[Any]
    rows: NDArray[np.intp]
    truth: NDArray[Any]


class _Answers(ClassifierMixin, BaseEstimator):
    """A fitted model's classes of its own rows, as a classifier of row numbers for scorers."""

    def __init__(self, model: Any = None) -> None:
        self.model = model

    @property
    def classes_(self) -> NDArray[Any]:
        return self.model.classes_

    def fit(self, rows: Any, y: Any) -> Self:
        return self

    def predict(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        return self.model.transduction_[rows]

    @available_if(lambda self: hasattr(self.model, "label_distributions_"))
    def predict_proba(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        return self.model.label_distributions_[rows]

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _refitted_has(name: str) -> Any:
    def check(search: TransductiveSearchCV) -> bool:
        if hasattr(search, "best_estimator_"):
            return hasattr(search.best_estimator_, name)
        return bool(search.refit) and hasattr(search.estimator, name)

    return check


@declare(
    Declaration(
        "",
        "search over parameters of a transductive classifier, with every row in every fit",
        labels="needs",
        produces="classification",
        uses_graph=False,
        reorders=False,
        examples=(
            {
                "estimator": ManifoldClassifier(),
                "param_grid": {"head": ["linear", "knn"]},
                "cv": 2,
            },
        ),
    )
)
class TransductiveSearchCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Search over parameters of a transductive classifier, keeping every row in every fit.

    Parameters
    ----------
    estimator : classifier
        One that sets ``transduction_``: :class:`ManifoldClassifier`, :class:`LaplacianClassifier`,
        or scikit-learn's ``LabelSpreading``, which takes integers with -1 only.
    param_grid : dict or list of dict
        Names and values to try, as for ``GridSearchCV``. ``{}`` makes it a plain estimate of the
        error of one setting.
    cv : int, splitter or iterable of (train, test), default=5
        Number of folds of :class:`LabeledKFold`, or any splits; the labels of test rows are
        hidden, the rows stay.
    scoring : str or callable, default=None
        A scorer of scikit-learn for classifiers, applied to ``transduction_`` and
        ``label_distributions_``. None is the accuracy.
    refit : bool, default=True
        Whether to fit the best candidate with all labels at the end.
    n_jobs : int, default=None
        Number of processes; the choice does not depend on it.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    cv_results_ : dict
        ``params``, ``split0_test_score`` and so on, ``mean_test_score``, ``std_test_score`` and
        ``rank_test_score``; one entry per candidate.
    best_params_ : dict
        The first candidate with the best mean score.
    best_score_ : float
        Its mean score over the folds.
    best_index_ : int
        Its number.
    best_estimator_ : classifier
        It, fitted with all labels; if ``refit``.
    classes_ : ndarray of shape (n_classes,)
        Classes with a labeled row.
    n_splits_ : int
        Number of folds.
    n_graphs_ : int
        Number of neighbor graphs built.
    n_fits_ : int
        Number of fits, those that serve several candidates or folds counted once, without the one
        of ``best_estimator_``.
    scorer_ : callable
        The scorer used.
    transduction_, label_distributions_, n_features_in_, feature_names_in_
        Those of ``best_estimator_``.

    See Also
    --------
    LabeledKFold : For ``GridSearchCV``, where held-out rows are new rows.

    Notes
    -----
    This measures how well the rows at hand are labeled. ``GridSearchCV`` with
    :class:`LabeledKFold` measures how well new rows are.

    All candidates with the same graph parameters share one graph over all folds. Candidates of
    :class:`ManifoldClassifier` that differ only in the head, or in ``n_components`` of an
    eigenmap, share the solve. Candidates of :class:`LaplacianClassifier` that differ only in
    ``n_eigenvectors``, ``penalty`` and its power share one solve over all folds. Estimators of your
    own take part by the same methods (:mod:`labelfold.evaluate.shared_fits`).

    Examples
    --------
    >>> from labelfold import CCDR, ManifoldClassifier, hide_labels
    >>> from labelfold.datasets import make_swiss_roll
    >>> from labelfold.evaluate import TransductiveSearchCV
    >>> X, y, _ = make_swiss_roll(600, random_state=0)
    >>> grid = {"embedder__beta": [0.1, 1.0], "embedder__n_components": [2, 4, 6]}
    >>> search = TransductiveSearchCV(ManifoldClassifier(CCDR()), grid)
    >>> search = search.fit(X, hide_labels(y, keep=range(200)))
    >>> search.n_graphs_, search.n_fits_
    (1, 10)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Score every candidate on every fold, and fit the best one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels; -1, None, NaN and pandas.NA are unlabeled.

        Returns
        -------
        self : object
            The fitted search.
        """
        labels = PartialLabels.from_y(y)
        check_consistent_length(X, y)
        folds = [
            _Fold(self._hide(y, rows), rows, labels.at(rows)) for rows in hold_out(self.cv, X, y)
        ]
        candidates = list(ParameterGrid(self.param_grid))
        models = [  # with copies of the values, so that no fit changes the user's own
            clone(self.estimator).set_params(
                **{name: clone(value, safe=False) for name, value in candidate.items()}
            )
            for candidate in candidates
        ]
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise InputError(f"scoring={self.scoring!r} must be one scorer: a name or a callable.")
        self.scorer_ = check_scoring(_Answers(), scoring=self.scoring)
        graphs = build_graphs(models, X)
        plan = plan_fits(models, len(folds))
        scores = self._score_all(plan, models, X, folds, graphs)

        self.classes_ = labels.classes
        self.n_splits_ = len(folds)
        self.n_graphs_ = len({id(graph) for graph in graphs if graph is not None})
        self.n_fits_ = len(plan)
        self.cv_results_ = _tabulate(candidates, scores)
        self.best_index_ = int(self.cv_results_["rank_test_score"].argmin())
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.__dict__.pop("best_estimator_", None)  # of an earlier fit
        if self.refit:
            graph = graphs[self.best_index_]
            parameters = {} if graph is None else {"graph": graph}
            self.best_estimator_ = models[self.best_index_].fit(X, y, **parameters)
        return self

    @available_if(_refitted_has("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the best estimator's classes of new rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_new,)
            Classes.
        """
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict(X))

    @available_if(_refitted_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the best estimator's distributions over the classes for new rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            One column per class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict_proba(X))

    @available_if(_refitted_has("predict"))
    def score(self, X: Any, y: ArrayLike) -> float:
        """Return the score of the best estimator's predictions on the labeled rows of y.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.
        y : array-like of shape (n_new,)
            Their labels; unlabeled rows do not count.

        Returns
        -------
        float
            By ``scoring``.
        """
        check_is_fitted(self)
        check_consistent_length(X, y)
        labels = PartialLabels.from_y(y)
        rows = np.flatnonzero(labels.mask)
        return float(self.scorer_(self.best_estimator_, _safe_indexing(X, rows), labels.at(rows)))

    @property
    def transduction_(self) -> NDArray[Any]:
        """The best estimator's class for every row of fit."""
        return self.best_estimator_.transduction_

    @property
    def label_distributions_(self) -> NDArray[np.float64]:
        """The best estimator's distribution over the classes for every row of fit."""
        return self.best_estimator_.label_distributions_

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in fit; if ``refit``."""
        return self.best_estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, if X has string names; if ``refit``."""
        return self.best_estimator_.feature_names_in_

    def _hide(self, y: ArrayLike, rows: NDArray[np.intp]) -> NDArray[Any]:
        values = np.asarray(y)
        if takes_partial_labels(self.estimator) or values.dtype.kind not in "iu":
            return hide_rows(y, rows)
        # Estimators of scikit-learn know -1 only, even if it leaves {-1, 1}.
        hidden = values.astype(np.int64)
        hidden[rows] = -1
        return hidden

    def _score_all(
        self,
        plan: list[SharedFit],
        models: list[Any],
        X: Any,
        folds: list[_Fold],
        graphs: list[NeighborGraph | None],
    ) -> NDArray[np.float64]:
        """Return scores, one row per candidate and one column per fold."""
        work = (
            delayed(_score_together)(
                [models[c] for c in share.candidates],
                X,
                [folds[f] for f in share.folds],
                graphs[share.candidates[0]],
                self.scorer_,
            )
            for share in plan
        )
        scores = np.empty((len(models), len(folds)))
        with show_progress(self.verbose) as progress:
            results = Parallel(n_jobs=self.n_jobs, return_as="generator")(work)
            for done, (share, block) in enumerate(zip(plan, results, strict=True), start=1):
                scores[np.ix_(share.candidates, share.folds)] = block
                progress("fits", done, len(plan))
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit") and not isinstance(self.estimator, type):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _score_together(
    models: Sequence[Any],
    X: Any,
    folds: Sequence[_Fold],
    graph: NeighborGraph | None,
    scorer: Any,
) -> NDArray[np.float64]:
    scores = np.empty((len(models), len(folds)))
    for model, number, fitted in fit_together(models, X, [fold.y for fold in folds], graph):
        if not hasattr(fitted, "transduction_"):
            raise InputError(
                f"{type(fitted).__name__} has no transduction_ after fit: use GridSearchCV with "
                "LabeledKFold for classifiers that only predict."
            )
        fold = folds[number]
        scores[model, number] = scorer(_Answers(fitted), fold.rows, fold.truth)
    return scores


def _tabulate(candidates: list[dict[str, Any]], scores: NDArray[np.float64]) -> dict[str, Any]:
    """Return the scores in the form of scikit-learn's searches."""
    results: dict[str, Any] = {"params": candidates}
    for name in sorted({name for candidate in candidates for name in candidate}):
        values = np.empty(len(candidates), dtype=object)
        values[:] = [candidate.get(name) for candidate in candidates]
        missing = [name not in candidate for candidate in candidates]
        results[f"param_{name}"] = np.ma.masked_array(values, mask=missing)
    for fold, column in enumerate(scores.T):
        results[f"split{fold}_test_score"] = column
    means = scores.mean(axis=1)
    results["mean_test_score"] = means
    results["std_test_score"] = scores.std(axis=1)
    results["rank_test_score"] = _rank(means)
    return results


def _rank(means: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return ranks, 1 for the best mean score; candidates without one come last."""
    unknown = np.isnan(means)
    if unknown.all():
        raise InputError(
            "No candidate has a score: scoring gives NaN for all of them. A fold may lack a class "
            "that the scorer needs: use fewer folds or another scorer."
        )
    if unknown.any():
        warn_user(
            f"{np.count_nonzero(unknown)} of {len(means)} candidates have no score, as scoring "
            "gives NaN in one fold or more: they rank last."
        )
    # Rounded, so that candidates with the same hits in another order of folds are equal.
    ranked = np.where(unknown, -np.inf, means.round(12))
    return rankdata(-ranked, method="min").astype(np.int32)
