"""What a fitted model says of the rows of a table."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from labelfold.tables.preparation import TablePreparation
from labelfold.tables.table import Table

__all__ = ["answer", "confidences", "features_for", "is_classifier", "last_step", "name_sets"]


def answer(
    estimator: Any, table: Table, *, std: bool = False, coverage: float | None = None
) -> dict[str, Any]:
    """Return "x" and "std" from an embedder, "label" and "confidence" from a classifier.

    With a coverage also "set", if the classifier has sets of labels.
    """
    X = features_for(estimator, table)
    columns: dict[str, Any] = {}
    with warnings.catch_warnings():
        # Columns were found by name, but an array has no names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if std:
            # A pipeline's transform does not pass the parameter on.
            before = X if last_step(estimator) is estimator else estimator[:-1].transform(X)
            x, distances = last_step(estimator).transform(before, return_std=True)
            columns = {"x": x, "std": distances}
        elif hasattr(estimator, "transform"):
            x = estimator.transform(X)  # scalers alone keep sparse rows sparse
            columns["x"] = np.asarray(x.toarray() if hasattr(x, "toarray") else x)
        if is_classifier(estimator):
            columns["label"] = np.asarray(estimator.predict(X))
            if hasattr(estimator, "predict_proba"):
                distributions = estimator.predict_proba(X)
                columns["confidence"] = confidences(
                    distributions, estimator.classes_, columns["label"]
                )
            if coverage is not None and hasattr(last_step(estimator), "predict_sets"):
                # A pipeline passes only the methods of scikit-learn on.
                before = X if last_step(estimator) is estimator else estimator[:-1].transform(X)
                sets = last_step(estimator).predict_sets(before, coverage)
                columns["set"] = name_sets(sets, estimator.classes_)
    return columns


def name_sets(sets: NDArray[np.bool_], classes: ArrayLike) -> list[str]:
    """Return the classes of each set as text, such as "cat|dog"."""
    names = [str(one) for one in np.asarray(classes).tolist()]
    return ["|".join(names[k] for k in np.flatnonzero(row)) for row in sets]


def confidences(
    distributions: NDArray[np.float64], classes: ArrayLike, predicted: ArrayLike
) -> NDArray[np.float64]:
    """Return the probability that each row's distribution gives to its predicted class."""
    position = {value: k for k, value in enumerate(np.asarray(classes).tolist())}
    codes = [position[value] for value in np.asarray(predicted).tolist()]
    return np.asarray(distributions[np.arange(len(codes)), codes])


def features_for(estimator: Any, table: Table) -> Any:
    """Return the rows as a table, or as a matrix if the model was fitted on one."""
    return table.features if _takes_tables(estimator) else table.to_matrix()


def _takes_tables(estimator: Any) -> bool:
    return isinstance(estimator, Pipeline) and isinstance(estimator[0], TablePreparation)


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, and anything else as it is."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def is_classifier(estimator: Any) -> bool:
    """Return whether an estimator predicts classes."""
    return hasattr(estimator, "predict") and hasattr(estimator, "classes_")
