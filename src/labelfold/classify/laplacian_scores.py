"""From labels to scores of all points by a graph's smoothest functions (LAPCLASS section 3).

Columns are the indicators of the components that hold a label, which are the null vectors of the
Laplacian, then its first vectors above the null space (step 2), of length 1. Combined with a
coefficient for every class (step 3) they score all points of the graph. New points get columns of
their own from their neighbors: eigenvectors by CCDR-MC eq. 37, indicators as the neighbors' mean.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import FewEigenvectorsWarning, InputError
from labelfold.extend.nystrom import extend_unnormalized
from labelfold.graph import NeighborGraph
from labelfold.labels import PartialLabels
from labelfold.methods import stored
from labelfold.solvers.ridge import choose_columns, choose_penalty, fit_ridge
from labelfold.spectral.laplacian_basis import LaplacianBasis

__all__ = [
    "LEAST_SHARE",
    "LaplacianColumns",
    "ScoreFit",
    "check_number",
    "check_penalty",
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
ROUNDING = 1e-14  # relative to the largest eigenvalue
BLOCK_ENTRIES = 2**21  # of new points' columns that are held at a time

# In place of a smaller 1 - lambda / d(x) in the extension. With 3,000 digits of MNIST, 3 to 8
# neighbours and 1,200 vectors the error on new digits was 87 to 90 % without a bound, 16 to 17 %
# with 0.1, 10.6 to 11.3 % with 0.5, and 11.5 to 12 % where vectors below 0.5 were dropped instead.
LEAST_SHARE = 0.5


@stored
@dataclass(frozen=True, eq=False)
class LaplacianColumns:
    """Columns over the points of a graph.

    Parameters
    ----------
    basis : LaplacianBasis
        The vectors above the null space.
    labeled_pieces : ndarray of shape (n_labeled_pieces,)
        The components whose indicators come first, by their numbers in ``basis.graph.pieces``.
    """

    basis: LaplacianBasis
    labeled_pieces: NDArray[np.int32]

    @classmethod
    def of_labels(cls, basis: LaplacianBasis, labels: PartialLabels) -> LaplacianColumns:
        """Return the columns for a set of labelled points."""
        return cls(basis, np.unique(basis.graph.pieces[labels.mask]))

    @property
    def n_indicators(self) -> int:
        """Number of components with a label."""
        return len(self.labeled_pieces)

    @property
    def n_columns(self) -> int:
        """Number of all columns."""
        return self.n_indicators + self.basis.n_vectors

    @property
    def eigenvalues(self) -> Array:
        """The Laplacian's eigenvalue of every column, 0 for an indicator."""
        return np.concatenate([np.zeros(self.n_indicators), self.basis.eigenvalues])

    @property
    def roughness(self) -> Array:
        """The eigenvalues, positive for all but indicators even where rounding makes them zero."""
        least = ROUNDING * np.max(self.basis.eigenvalues, initial=1.0)
        positive = np.maximum(self.basis.eigenvalues, least)
        return np.concatenate([np.zeros(self.n_indicators), positive])

    @cached_property
    def position(self) -> NDArray[np.intp]:
        """For every point the number of its indicator; -1 where its component has no label."""
        pieces = self.basis.graph.pieces
        of_piece = np.full(int(pieces.max()) + 1, -1, dtype=np.intp)
        of_piece[self.labeled_pieces] = np.arange(self.n_indicators)
        return np.asarray(of_piece[pieces])

    @cached_property
    def heights(self) -> Array:
        """For every indicator the value that gives it length 1, in the norm of the vectors."""
        graph = self.basis.graph
        mass = np.ones(graph.n_points)
        if self.basis.normalization == "degree":
            degrees = np.asarray(graph.weights.sum(axis=1), dtype=float)
            mass = np.where(degrees > 0, degrees, 1.0)
        reached = self.position >= 0
        total = np.bincount(self.position[reached], mass[reached], minlength=self.n_indicators)
        return np.asarray(1 / np.sqrt(total))

    def for_new_rows(self) -> LaplacianColumns:
        """Return the columns with what is derived from the graph's edges, which may then go."""
        self.position, self.heights  # noqa: B018
        return self

    def truncated(self, n_columns: int) -> LaplacianColumns:
        """Return the first columns, at least the indicators."""
        return replace(self, basis=self.basis.truncated(n_columns - self.n_indicators))

    def at(self, points: NDArray[np.intp]) -> Array:
        """Return the columns' values at points of components with a label."""
        values = np.zeros((len(points), self.n_columns))
        position = self.position[points]
        values[np.arange(len(points)), position] = self.heights[position]
        values[:, self.n_indicators :] = self.basis.vectors[points]
        return values

    def combine(self, coefficients: Array) -> Array:
        """Return the combinations at all points; NaN where a component has no label.

        Parameters
        ----------
        coefficients : ndarray of shape (n_columns, n_classes)
            One combination a class.
        """
        scores = self.basis.vectors @ coefficients[self.n_indicators :]
        scores += self._levels(coefficients)[self.position]
        return np.asarray(scores)

    def combine_at_new(self, found: sp.csr_array, coefficients: Array) -> Array:
        """Return the combinations at new points; NaN where no neighbour's component has a label.

        Neighbours in components without a label have no say.

        Parameters
        ----------
        found : csr_array of shape (n_new, n_samples)
            Distances to neighbours, from :meth:`NeighborGraph.distances_to`.
        coefficients : ndarray of shape (n_columns, n_classes)
            One combination a class.
        """
        reached = self.position >= 0
        if not reached.all():
            found = _restricted(found, reached)
        rows = np.flatnonzero(np.diff(found.indptr))
        scores = np.full((found.shape[0], coefficients.shape[1]), np.nan)
        n_block = max(1, BLOCK_ENTRIES // self.n_columns)
        for start in range(0, len(rows), n_block):
            some = rows[start : start + n_block]
            scores[some] = self._combine_block(found[some], coefficients)
        return scores

    def _combine_block(self, found: sp.csr_array, coefficients: Array) -> Array:
        graph, basis = self.basis.graph, self.basis
        relative = graph.weigh(found, relative=True)
        levels = self._levels(coefficients)[self.position]
        sums = np.asarray(relative.sum(axis=1), dtype=float)
        scores = np.asarray(relative @ levels) / sums[:, None]
        # Rows of the vectors that no neighbour points to are left where they are.
        used, places = np.unique(relative.indices, return_inverse=True)
        relative = sp.csr_array(
            (relative.data, places, relative.indptr), shape=(relative.shape[0], len(used))
        )
        if basis.normalization == "degree":
            degrees = np.ones(len(sums))
        else:
            degrees = np.asarray(graph.weigh(found, relative=False).sum(axis=1), dtype=float)
        columns = extend_unnormalized(
            relative, degrees, basis.vectors[used], basis.eigenvalues, least_share=LEAST_SHARE
        )
        return np.asarray(scores + columns @ coefficients[self.n_indicators :])

    def _levels(self, coefficients: Array) -> Array:
        """Return what the indicators add in every labelled component, and NaN for the others."""
        levels = self.heights[:, None] * coefficients[: self.n_indicators]
        return np.vstack([levels, np.full((1, coefficients.shape[1]), np.nan)])


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


def _restricted(found: sp.csr_array, kept: NDArray[np.bool_]) -> sp.csr_array:
    """Return the entries in kept columns; zeros that are stored stay."""
    stays = kept[found.indices]
    before = np.concatenate([[0], np.cumsum(stays)])
    return sp.csr_array(
        (found.data[stays], found.indices[stays], before[found.indptr]), shape=found.shape
    )
