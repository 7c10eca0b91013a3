"""Warnings and errors with a name, so that a caller can filter or catch them."""

from __future__ import annotations

import sys
import warnings
from typing import Any

__all__ = [
    "ApproximateSearchWarning",
    "CheckpointWarning",
    "DisconnectedGraphWarning",
    "FewEigenvectorsWarning",
    "FewLabelsWarning",
    "FewNeighborsWarning",
    "GraphMismatchError",
    "HubnessWarning",
    "InfeasibleMapWarning",
    "InputError",
    "ModelFileError",
    "ModelVersionWarning",
    "NotEnoughMemoryError",
    "UnreachedPointsWarning",
]

LIBRARIES = ("labelfold", "sklearn")  # whose lines no warning points at
InfeasibleMapWarning: type[Warning]  # defined on first use, see __getattr__


class InputError(ValueError):
    """Wrong data, labels, parameters or options; the message says what to do.

    Raised on purpose only, so that a command can distinguish it from a defect.
    """


class GraphMismatchError(InputError):
    """A graph or basis passed to ``fit`` belongs to other rows or other parameters."""


class ModelFileError(InputError):
    """Not a labelfold model file, or truncated, modified or too new."""


class NotEnoughMemoryError(InputError, MemoryError):
    """A fit needs more memory than is free; nothing was computed yet."""


class ModelVersionWarning(UserWarning):
    """A file was saved with another release of labelfold or scikit-learn."""


class DisconnectedGraphWarning(UserWarning):
    """The neighbor graph has several connected components; most methods add bridges."""


class FewNeighborsWarning(UserWarning):
    """More neighbors were asked for than there are other rows."""


class FewLabelsWarning(UserWarning):
    """There are too few labels for the promise asked; the message says how many it takes."""


class FewEigenvectorsWarning(UserWarning):
    """More eigenvectors were asked for than the graph has."""


class UnreachedPointsWarning(UserWarning):
    """Some rows lie in connected components of the graph without a label."""


class ApproximateSearchWarning(UserWarning):
    """The approximate neighbor search was not used as asked; the message says why."""


class CheckpointWarning(UserWarning):
    """Checkpoints could not be saved any more; the fit goes on without them."""


class HubnessWarning(UserWarning):
    """One point is among the nearest neighbors of very many others."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's that called labelfold, directly or through scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def __getattr__(name: str) -> Any:
    """Define the one class that needs scikit-learn on first use.

    The command line raises InputError and answers ``--help`` without loading scikit-learn.
    """
    if name != "InfeasibleMapWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning

    text = "No embedding was found that keeps the distances and has all labels on their sides."
    kind = type(name, (ConvergenceWarning,), {"__doc__": text, "__module__": __name__})
    globals()[name] = kind
    return kind
