"""From labels to scores of all rows by a graph's smoothest functions (LAPCLASS section 3).

The columns are the indicators of the components with a label, which are null vectors of the
Laplacian, then its first vectors above the null space (step 2), all of length 1. Combined with one
coefficient per class (step 3) they score all rows. New rows get values of the columns from their
neighbors: eigenvectors by CCDR-MC eq. 37, indicators as the neighbors' mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import FewEigenvectorsWarning, InputError, warn_user
from labelfold.extend.nystrom import extend_unnormalized
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import keep_entries
from labelfold.labels import PartialLabels
from labelfold.methods import stored
from labelfold.solvers.ridge import RidgeFit, choose_columns, choose_penalty, fit_ridge
from labelfold.spectral.laplacian_basis import LaplacianBasis

__all__ = [
    "LEAST_SHARE",
    "LaplacianColumns",
    "check_number",
    "check_penalty",
    "count_eigenvectors",
    "fit_scores",
    "largest_number",
]

Array = NDArray[np.float64]

LARGEST_SHARE = 0.5  # of the labeled rows, up to which numbers of eigenvectors are compared
# With a penalty the number only has to be large enough to leave out nothing smooth: a fifth of the
# labeled rows, and at least 100. On MNIST, digits and Landsat with five labels per class or more,
# 50 and 300 were within half a point of it.
USUAL_SHARE, LEAST_NUMBER = 0.2, 100
ROUNDING = 1e-14  # relative to the largest eigenvalue
BLOCK_ENTRIES = 2**21  # of new rows' columns that are held at a time

# Replaces a smaller 1 - lambda / d(x) in the extension. With 3,000 digits of MNIST, 3 to 8
# neighbors and 1,200 vectors the error on new digits was 87 to 90 % without a bound, 16 to 17 %
# with 0.1, 10.6 to 11.3 % with 0.5, and 11.5 to 12 % if vectors below 0.5 were dropped instead.
LEAST_SHARE = 0.5


@stored
@dataclass(frozen=True, eq=False)
class LaplacianColumns:
    """Columns over the rows of a graph.

    Parameters
    ----------
    basis : LaplacianBasis
        The vectors above the null space.
    indicators : ndarray of shape (n_samples,)
        For every row the number of its component among those with a label; -1 if it has none.
    heights : ndarray of shape (n_indicators,)
        The value that gives each indicator length 1, in the norm of the vectors.
    """

    basis: LaplacianBasis
    indicators: NDArray[np.intp]
    heights: Array

    @classmethod
    def from_labels(cls, basis: LaplacianBasis, labels: PartialLabels) -> LaplacianColumns:
        """Return the columns for a set of labeled rows."""
        components = basis.graph.connected_components
        labeled = np.unique(components[labels.mask])
        indicators = np.where(
            np.isin(components, labeled), np.searchsorted(labeled, components), -1
        )
        mass = np.ones(len(components))
        if basis.normalization == "degree":
            degrees = np.asarray(basis.graph.adjacency.sum(axis=1), dtype=float)
            mass = np.where(degrees > 0, degrees, 1.0)
        reached = indicators >= 0
        heights = 1 / np.sqrt(np.bincount(indicators[reached], mass[reached]))
        return cls(basis, indicators, heights)

    @property
    def n_indicators(self) -> int:
        """Number of components with a label."""
        return len(self.heights)

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
        """The eigenvalues, above zero for all but indicators even if rounding made them zero."""
        least = ROUNDING * np.max(self.basis.eigenvalues, initial=1.0)
        positive = np.maximum(self.basis.eigenvalues, least)
        return np.concatenate([np.zeros(self.n_indicators), positive])

    def truncated(self, n_columns: int) -> LaplacianColumns:
        """Return the first columns, at least the indicators."""
        return replace(self, basis=self.basis.truncated(n_columns - self.n_indicators))

    def at(self, rows: NDArray[np.intp]) -> Array:
        """Return the columns' values at rows in components with a label."""
        values = np.zeros((len(rows), self.n_columns))
        indicators = self.indicators[rows]
        values[np.arange(len(rows)), indicators] = self.heights[indicators]
        values[:, self.n_indicators :] = self.basis.vectors[rows]
        return values

    def combine(self, coefficients: Array) -> Array:
        """Return the combinations at all rows; NaN if a row's component has no label.

        ``coefficients`` has one row per column and one column per class.
        """
        scores = self.basis.vectors @ coefficients[self.n_indicators :]
        return np.asarray(scores + self._levels(coefficients))

    def combine_at_new(self, distances: sp.csr_array, coefficients: Array) -> Array:
        """Return the combinations at new rows; NaN if no neighbor's component has a label.

        ``distances`` are those to neighbors, from :meth:`NeighborGraph.distances_to`. Neighbors in
        components without a label have no effect.
        """
        reached = self.indicators >= 0
        if not reached.all():
            distances = keep_entries(distances, reached[distances.indices])
        rows = np.flatnonzero(np.diff(distances.indptr))
        scores = np.full((distances.shape[0], coefficients.shape[1]), np.nan)
        n_block = max(1, BLOCK_ENTRIES // self.n_columns)
        for start in range(0, len(rows), n_block):
            some = rows[start : start + n_block]
            scores[some] = self._combine_block(distances[some], coefficients)
        return scores

    def _combine_block(self, distances: sp.csr_array, coefficients: Array) -> Array:
        graph, basis = self.basis.graph, self.basis
        relative = graph.weigh(distances, relative=True)
        sums = np.asarray(relative.sum(axis=1), dtype=float)
        scores = np.asarray(relative @ self._levels(coefficients)) / sums[:, None]
        # Multiply only the rows of the vectors that are neighbors.
        used, places = np.unique(relative.indices, return_inverse=True)
        relative = sp.csr_array(
            (relative.data, places, relative.indptr), shape=(relative.shape[0], len(used))
        )
        if basis.normalization == "degree":
            degrees = np.ones(len(sums))
        else:
            degrees = np.asarray(graph.weigh(distances, relative=False).sum(axis=1), dtype=float)
        columns = extend_unnormalized(
            relative, degrees, basis.vectors[used], basis.eigenvalues, least_share=LEAST_SHARE
        )
        return np.asarray(scores + columns @ coefficients[self.n_indicators :])

    def _levels(self, coefficients: Array) -> Array:
        """Return what the indicators add at every row; NaN in components without a label."""
        levels = self.heights[:, None] * coefficients[: self.n_indicators]
        unlabeled = np.full((1, coefficients.shape[1]), np.nan)
        return np.asarray(np.vstack([levels, unlabeled])[self.indicators])


def fit_scores(
    columns: LaplacianColumns,
    labels: PartialLabels,
    *,
    n_eigenvectors: Any,
    penalty: Any,
    penalty_power: float,
) -> tuple[LaplacianColumns, RidgeFit]:
    """Fit the classes' indicators on the labeled rows; return the columns in use and the fit.

    ``columns`` are as many as there may be. The other parameters are those of
    :class:`LaplacianClassifier`; "auto" is chosen here.
    """
    rows = np.flatnonzero(labels.mask)
    design = columns.at(rows)
    targets = np.eye(labels.n_classes)[labels.codes[rows]]
    roughness = columns.roughness**penalty_power
    if isinstance(penalty, str):
        return columns, choose_penalty(design, targets, roughness)
    if isinstance(n_eigenvectors, str) and penalty == 0:
        fit = choose_columns(design, targets, roughness, n_first=columns.n_indicators)
        columns = columns.truncated(fit.n_columns)
        return columns, replace(fit, coefficients=fit.coefficients[: columns.n_columns])
    return columns, fit_ridge(design, targets, roughness, penalty=float(penalty))


def check_number(n_eigenvectors: Any) -> None:
    """Raise InputError unless it is a fraction, a number or "auto"."""
    value = n_eigenvectors
    if isinstance(value, str):
        valid = value == "auto"
    elif isinstance(value, Integral):
        valid = int(value) >= 1 and not isinstance(value, bool)
    else:
        valid = isinstance(value, Real) and 0 < float(value) <= 1
    if not valid:
        raise InputError(
            f"n_eigenvectors={value!r} must be a fraction of the labeled rows above 0 and up to "
            "1.0, a whole number of at least 1, or 'auto'."
        )


def check_penalty(penalty: Any) -> None:
    """Raise InputError unless it is a number of at least 0 or "auto"."""
    if isinstance(penalty, str):
        valid = penalty == "auto"
    else:
        is_number = isinstance(penalty, Real) and not isinstance(penalty, bool)
        valid = is_number and float(penalty) >= 0
    if not valid:
        raise InputError(
            f"penalty={penalty!r} must be a number of at least 0 (0.0 is the paper's rule, "
            "float('inf') the limit of a large penalty), or 'auto'."
        )


def largest_number(n_eigenvectors: Any, penalty: Any, labels: PartialLabels) -> int:
    """Return the number of eigenvectors to compute, the constant included."""
    if isinstance(n_eigenvectors, Integral):
        return int(n_eigenvectors)
    usual, least = (USUAL_SHARE, LEAST_NUMBER) if _is_penalized(penalty) else (LARGEST_SHARE, 1)
    share = usual if isinstance(n_eigenvectors, str) else float(n_eigenvectors)
    return max(least, round(share * labels.n_labeled))


def count_eigenvectors(
    n_eigenvectors: Any,
    penalty: Any,
    labels: PartialLabels,
    graph: NeighborGraph,
    basis: LaplacianBasis | None,
) -> int:
    """Return :func:`largest_number`, or fewer if the graph or a given basis has fewer."""
    is_upper_bound = isinstance(n_eigenvectors, str) or (
        _is_penalized(penalty) and not isinstance(n_eigenvectors, Integral)
    )
    wanted = largest_number(n_eigenvectors, penalty, labels)
    n_null = int(graph.connected_components.max())  # null vectors besides the constant one
    most = graph.n_points - n_null
    if wanted > most and not is_upper_bound:
        warn_user(
            f"n_eigenvectors={wanted} is more than the graph of {graph.n_points} rows has: "
            f"{most} are used.",
            FewEigenvectorsWarning,
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
