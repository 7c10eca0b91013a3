"""Warnings and errors with a name, so that a caller can filter or catch them."""

from __future__ import annotations

from typing import Any

__all__ = [
    "ApproximateSearchWarning",
    "DisconnectedGraphWarning",
    "FewEigenvectorsWarning",
    "FewNeighborsWarning",
    "GraphMismatchError",
    "HubnessWarning",
    "InfeasibleMapWarning",
    "InputError",
    "ModelFileError",
    "ModelVersionWarning",
    "UnreachedPointsWarning",
]

InfeasibleMapWarning: type[Warning]  # made when somebody asks for it, see __getattr__


class InputError(ValueError):
    """Wrong data, labels, parameters or options; the message says what to do about it.

    Raised on purpose only, so that a command can tell it from a defect.
    """


class GraphMismatchError(InputError):
    """A graph or basis was handed to ``fit`` that belongs to other rows or other parameters."""


class ModelFileError(InputError):
    """A file is none that ``labelfold.save`` wrote, was cut short or altered, or is too new."""


class ModelVersionWarning(UserWarning):
    """A file was saved with another release of labelfold or scikit-learn."""


class DisconnectedGraphWarning(UserWarning):
    """The neighbour graph fell into several pieces; most methods join them by bridges."""


class FewNeighborsWarning(UserWarning):
    """More neighbours were asked for than there are other rows."""


class FewEigenvectorsWarning(UserWarning):
    """More eigenvectors were asked for than the graph has."""


class UnreachedPointsWarning(UserWarning):
    """Some points lie in components of the graph that hold no label."""


class ApproximateSearchWarning(UserWarning):
    """The approximate neighbour search was not used as asked; the message says why."""


class HubnessWarning(UserWarning):
    """One point is among the nearest neighbours of very many others."""


def __getattr__(name: str) -> Any:
    """Make the one class that needs scikit-learn when somebody asks for it.

    The command line raises InputError, and answers ``--help`` without loading scikit-learn.
    """
    if name != "InfeasibleMapWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning

    text = "No map was found that keeps the distances and has all labels on their sides."
    kind = type(name, (ConvergenceWarning,), {"__doc__": text, "__module__": __name__})
    globals()[name] = kind
    return kind
