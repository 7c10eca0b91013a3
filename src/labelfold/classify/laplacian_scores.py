"""From labels to a coefficient for every column and class (LAPCLASS section 3, step 3)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.classify.laplacian_columns import LaplacianColumns
from labelfold.exceptions import FewEigenvectorsWarning, InputError
from labelfold.graph import NeighborGraph
from labelfold.labels import PartialLabels
from labelfold.solvers.ridge import choose_columns, choose_penalty, fit_ridge
from labelfold.spectral.laplacian_basis import LaplacianBasis

__all__ = [
    "ScoreFit",
    "check_number",
    "check_penalty",
    "check_penalty_power",
    "count_eigenvectors",
    "fit_scores",
    "largest_number",
]

Array = NDArray[np.float64]

LARGEST_SHARE = 0.5  # of the labelled points, up to which numbers of eigenvectors are compared
# With a penalty the number has only to be large enough that nothing smooth is left out: a fifth of
# the labelled points, and at least 100. On MNIST, digits and Landsat with five labels a class or
# more, 50 and 300 were within half a point of it.
USUAL_SHARE, LEAST_NUMBER = 0.2, 100
LARGEST_POWER = 10  # beyond, the roughness of the smoothest vectors is out of range


@dataclass(frozen=True, eq=False)
class ScoreFit:
    """Columns, a coefficient of each for every class, and how they were found."""

    columns: LaplacianColumns
    coefficients: Array
    penalty: float
    rank: int
    criterion: str


def fit_scores(
    columns: LaplacianColumns,
    labels: PartialLabels,
    *,
    n_eigenvectors: Any,
    penalty: Any,
    penalty_power: float,
) -> ScoreFit:
    """Fit the classes' indicators on the labelled points.

    Parameters
    ----------
    columns : LaplacianColumns
        As many as there may be.
    labels : PartialLabels
        At least one.
    n_eigenvectors, penalty, penalty_power
        As given to :class:`LaplacianClassifier`; "auto" is chosen here.
    """
    rows = np.flatnonzero(labels.mask)
    design = columns.at(rows)
    targets = np.eye(labels.n_classes)[labels.codes[rows]]
    roughness = columns.roughness**penalty_power
    if isinstance(penalty, str):
        ridge = choose_penalty(design, targets, roughness)
    elif isinstance(n_eigenvectors, str) and penalty == 0:
        ridge = choose_columns(design, targets, roughness, n_first=columns.n_indicators)
        columns = columns.truncated(ridge.n_columns)
    else:
        ridge = fit_ridge(design, targets, roughness, penalty=float(penalty))
    coefficients = ridge.coefficients[: columns.n_columns]
    return ScoreFit(columns, coefficients, ridge.penalty, ridge.rank, ridge.criterion)


def check_number(n_eigenvectors: Any) -> None:
    """Refuse what is neither a fraction, nor a number, nor "auto"."""
    value = n_eigenvectors
    if isinstance(value, str) and value == "auto":
        return
    is_bool = isinstance(value, bool | np.bool_)
    if isinstance(value, Integral) and not is_bool and int(value) >= 1:
        return
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1:
        return
    raise InputError(
        f"n_eigenvectors={value!r} must be a fraction of the labelled points above 0 and up to "
        "1.0, a whole number of at least 1, or 'auto'."
    )


def check_penalty(penalty: Any) -> None:
    """Refuse what is neither a number of at least 0 nor "auto"."""
    if isinstance(penalty, str) and penalty == "auto":
        return
    is_bool = isinstance(penalty, bool | np.bool_)
    if isinstance(penalty, Real) and not is_bool and float(penalty) >= 0:
        return
    raise InputError(
        f"penalty={penalty!r} must be a number of at least 0 (0.0 is the paper's rule, "
        "float('inf') the limit of a large penalty), or 'auto'."
    )


def check_penalty_power(penalty_power: Any) -> None:
    """Refuse what is no positive number of a moderate size."""
    is_number = isinstance(penalty_power, Real) and not isinstance(penalty_power, bool | np.bool_)
    if not is_number or not 0 < float(penalty_power) <= LARGEST_POWER:
        raise InputError(
            f"penalty_power={penalty_power!r} must be a positive number up to {LARGEST_POWER}: 1 "
            "for the roughness of LAPCLASS section 4, 2 for a stiffer one."
        )


def largest_number(n_eigenvectors: Any, penalty: Any, labels: PartialLabels) -> int:
    """Return the number of eigenvectors to compute, the constant included."""
    check_number(n_eigenvectors)
    if isinstance(n_eigenvectors, Integral):
        return int(n_eigenvectors)
    if _is_penalized(penalty):
        share = USUAL_SHARE if isinstance(n_eigenvectors, str) else n_eigenvectors
        return max(LEAST_NUMBER, round(float(share) * labels.n_labeled))
    share = LARGEST_SHARE if isinstance(n_eigenvectors, str) else n_eigenvectors
    return max(1, round(float(share) * labels.n_labeled))


def count_eigenvectors(
    n_eigenvectors: Any,
    penalty: Any,
    labels: PartialLabels,
    graph: NeighborGraph,
    basis: LaplacianBasis | None,
) -> int:
    """Return :func:`largest_number`, as far as the graph and a given basis have so many."""
    is_upper_bound = isinstance(n_eigenvectors, str) or (
        _is_penalized(penalty) and not isinstance(n_eigenvectors, Integral)
    )
    wanted = largest_number(n_eigenvectors, penalty, labels)
    most = graph.n_points - int(graph.pieces.max())  # a constant, and what is above the null space
    if wanted > most and not is_upper_bound:
        warnings.warn(
            f"n_eigenvectors={wanted} is more than the graph of {graph.n_points} points has: "
            f"{most} are used.",
            FewEigenvectorsWarning,
            stacklevel=3,
        )
    wanted = min(wanted, most)
    if basis is None or wanted <= basis.n_vectors + 1:
        return wanted
    if is_upper_bound:
        return basis.n_vectors + 1
    raise InputError(
        f"n_eigenvectors={wanted} is more than the {basis.n_vectors + 1} of the basis: compute it "
        f"with build_basis(X, {wanted}), or lower n_eigenvectors."
    )


def _is_penalized(penalty: Any) -> bool:
    return isinstance(penalty, str) or penalty > 0
