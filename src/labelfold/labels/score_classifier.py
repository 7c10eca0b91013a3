"""What classifiers that score every class share: the largest score wins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from labelfold.labels.partial_labels import PartialLabels
from labelfold.labels.transduction import nearest_distributions

__all__ = ["ScoreClassifierMixin"]


class ScoreClassifierMixin(ClassifierMixin, ABC):
    """Mixin of classifiers that score every class; a subclass does that in ``_scores``."""

    classes_: NDArray[Any]
    _certain: float = 1.0  # a class whose score is ahead by this much has probability 1

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the form that ``fit`` takes.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        scores = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the distribution over classes that is nearest to the scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the form that ``fit`` takes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One row per row of X, one column per class in the order of ``classes_``.
        """
        return nearest_distributions(self._scores(X) / self._certain)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores; for two classes the second one's minus the first one's.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the form that ``fit`` takes.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def score(self, X: Any, y: ArrayLike) -> float:
        """Return the accuracy of :meth:`predict` on the labeled rows of y.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, in the form that ``fit`` takes.
        y : array-like of shape (n_samples,)
            Their labels; unlabeled rows do not count.

        Returns
        -------
        float
            Share of the labeled rows with the right class.
        """
        # Not ClassifierMixin's, which takes sample weights that fit does not.
        predicted = self.predict(X)
        labels = PartialLabels.some_from_y(y, n_samples=len(predicted))
        rows = np.flatnonzero(labels.mask)
        return float(np.mean(predicted[rows] == labels.at(rows)))

    @abstractmethod
    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Return scores of rows, one column per class."""
