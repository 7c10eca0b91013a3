"""What a fitted model says of rows, as columns of a table: coordinates, label and confidence."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from labelfold import ResampledEmbedding, load
from labelfold.exceptions import InputError
from labelfold.persistence.model_file import read_feature_names


def open_model(path: Path, *, spread: bool = False) -> tuple[Any, list[str] | None]:
    """Open a saved model that maps or labels new rows.

    Parameters
    ----------
    path : Path
        The file.

    spread : bool, default=False
        Whether it must tell a spread as well.

    Returns
    -------
    estimator, names : estimator, list of str or None
        It, and the names of the columns it was fitted on, if they are known.
    """
    estimator = load(path)
    kind = type(last_step(estimator)).__name__
    if not hasattr(estimator, "transform") and not _is_classifier(estimator):
        raise InputError(
            f"{path} holds a {kind}, which neither maps nor labels new rows: give a model by "
            "'labelfold embed --save' or 'labelfold classify --save'."
        )
    if spread and not isinstance(last_step(estimator), ResampledEmbedding):
        raise InputError(
            f"{path} holds a {kind}, which has no --spread: make the map with --method resampled."
        )
    names = read_feature_names(path)
    if names is None and hasattr(estimator, "feature_names_in_"):
        names = estimator.feature_names_in_.tolist()
    return estimator, names


def answer(estimator: Any, X: Any, *, spread: bool = False) -> dict[str, Any]:
    """Return what a model says of new rows.

    Parameters
    ----------
    estimator : estimator
        Fitted, as `open_model` returns it.

    X : matrix
        The rows.

    spread : bool, default=False
        Whether to ask a `ResampledEmbedding` for its spread.

    Returns
    -------
    dict of str to ndarray
        "x" and "spread" of a map, "label" and "confidence" of a classifier.
    """
    columns: dict[str, Any] = {}
    with warnings.catch_warnings():
        # They were found by name, but an array does not carry them.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if spread:
            # A pipeline's transform does not hand the parameter on.
            before = X if last_step(estimator) is estimator else estimator[:-1].transform(X)
            x, columns["spread"] = last_step(estimator).transform(before, return_spread=True)
            columns = {"x": x, **columns}
        elif hasattr(estimator, "transform"):
            columns["x"] = _dense(estimator.transform(X))
        if _is_classifier(estimator):
            columns["label"] = np.asarray(estimator.predict(X))
            if hasattr(estimator, "predict_proba"):
                distributions = estimator.predict_proba(X)
                columns["confidence"] = confidences(
                    distributions, estimator.classes_, columns["label"]
                )
    return columns


def confidences(
    distributions: NDArray[np.float64], classes: ArrayLike, named: ArrayLike
) -> NDArray[np.float64]:
    """Return the probability that each row's distribution gives to the class it was named.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.cli.model_answers import confidences
    >>> confidences(np.array([[0.75, 0.25], [0.5, 0.5]]), ["a", "b"], ["b", "a"])
    array([0.25, 0.5 ])
    """
    position = {value: k for k, value in enumerate(np.asarray(classes).tolist())}
    codes = [position[value] for value in np.asarray(named).tolist()]
    return np.asarray(distributions[np.arange(len(codes)), codes])


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, and anything else as it is."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def _dense(coordinates: Any) -> NDArray[np.float64]:
    """Return coordinates as an array; scalers alone keep sparse rows sparse."""
    return np.asarray(coordinates.toarray() if hasattr(coordinates, "toarray") else coordinates)


def _is_classifier(estimator: Any) -> bool:
    return hasattr(estimator, "predict") and hasattr(estimator, "classes_")
