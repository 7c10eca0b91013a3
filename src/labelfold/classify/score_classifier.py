"""What classifiers by competing scores share: the largest score wins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from labelfold.labels.transduction import nearest_distributions

__all__ = ["ScoreClassifierMixin"]


class ScoreClassifierMixin(ClassifierMixin, ABC):
    """Mixin of classifiers that score every class; a subclass does that in ``_scores``."""

    classes_: NDArray[Any]

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
            A row a point, a column a class in the order of ``classes_``.
        """
        return nearest_distributions(self._scores(X))

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

    @abstractmethod
    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Return scores of rows, a column a class."""
