"""Ridge regression on few rows, with closed-form predictions for left-out rows.

E has one row per labeled row and one column per feature; C has one target per class, 1 in the rows
of that class and 0 elsewhere. Every column has a roughness rho_j, a power of its eigenvalue if the
columns are eigenvectors of a Laplacian. The coefficients a

    minimize  |C - E a|^2 + gamma sum_j rho_j |a_j|^2          (LAPCLASS section 4).

Columns of roughness 0 are indicators of groups of rows and carry no penalty, so a fit is a level,
the class means of every group, plus a difference. The difference fades as 1 / gamma, and then the
largest score is that of the largest class everywhere. To prevent this,

    scores = level + gain * difference,

where the gain is the slope of the targets on the differences predicted for left-out rows. An
infinite gamma then gives a fit like any other: for rho = lambda the direction of Poisson learning.

:func:`fit_ridge` takes a given gamma, :func:`choose_penalty` the gamma that predicts left-out rows
best, and :func:`choose_columns` no gamma but the best number of columns. The formula they share,
:func:`leave_one_out`, serves the primal form (singular vectors of E) and the dual form (eigenpairs
of a kernel matrix).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, lstsq, svd
from scipy.linalg.lapack import dpocon, dpotrf

from labelfold.exceptions import InputError

__all__ = [
    "RidgeFit",
    "choose_columns",
    "choose_penalty",
    "fit_ridge",
    "kernel_unit",
    "leave_one_out",
    "smoothest_fit",
]

Array = NDArray[np.float64]

# Penalties are in units of the mean diagonal of E diag(1 / rho) E^T, centered by groups.
PENALTIES = np.append(10 ** np.arange(-5, 3.1, 0.5), np.inf)  # compared by choose_penalty
USUAL_PENALTY = 0.1  # if no row can be left out
LARGEST_MEAN = 100.0  # that unit is at most so many medians of the kernel's eigenvalues
LEAST_GAIN = 1e-3  # not 0: if levels are equal, the differences decide
N_CANDIDATES = 64  # numbers of columns compared by choose_columns
# 1 - leverage at which only the row itself determines its fit, and the relative size of a singular
# value that counts as zero.
ROUNDING = 1e-10
WELL_CONDITIONED = 1e-8  # reciprocal condition above which normal equations are accurate enough


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """Coefficients, and how they were chosen.

    ``candidates`` are the penalties or numbers of columns that were compared, with their ``errors``
    on left-out rows.
    """

    coefficients: Array = field(repr=False)  # one row per column; scores are columns times these
    penalty: float  # gamma, from 0 to infinity
    n_columns: int  # number of columns in use, counted from the first; others have coefficients 0
    rank: int  # of these columns, on the rows
    criterion: str  # "given", "leave-one-out", or "usual" if no row can be left out
    gain: float = 1.0  # of the differences, contained in the coefficients
    # Scores of every row without its own target, for the penalty and the gain chosen with it.
    left_out: Array = field(default_factory=lambda: np.empty(0), repr=False)
    candidates: Array = field(default_factory=lambda: np.empty(0), repr=False)
    errors: Array = field(default_factory=lambda: np.empty(0), repr=False)


def fit_ridge(design: Array, targets: Array, roughness: Array, *, penalty: float) -> RidgeFit:
    """Fit with a given penalty.

    Parameters
    ----------
    design, targets : ndarray of shape (n_rows, n_columns) and (n_rows, n_targets)
        E and C.
    roughness : ndarray of shape (n_columns,)
        rho, nonnegative. With a penalty, the columns of roughness 0 must be indicators that put
        every row in one group. Without any such column the level is 0.
    penalty : float
        gamma. 0 is plain least squares (LAPCLASS section 3), and the smoothest solution if columns
        are dependent; ``numpy.inf`` is the limit of large penalties.

    Notes
    -----
    With a penalty, a group's level is its class means, shrunk toward equal means by the share of
    their spread that chance explains; if they are equal, the differences alone decide. A gain below
    1 is raised by two standard errors, at most to 1, which is the ridge fit itself: a few rows do
    not prove a fit worthless, but many rows do if their labels are noise.
    """
    if not penalty >= 0:
        raise InputError(f"penalty={penalty!r} must be 0 or more.")
    if penalty == 0:
        return _least_squares(design, targets, roughness, design.shape[1], "given")
    ridge = _GroupedRidge.decompose(design, targets, roughness)
    _, gain = ridge.error_and_gain(penalty)
    return ridge.fit(penalty, gain, "given")


def choose_penalty(design: Array, targets: Array, roughness: Array) -> RidgeFit:
    """Fit with the penalty that predicts left-out rows best.

    Parameters
    ----------
    design, targets, roughness : ndarray
        As for :func:`fit_ridge`.

    Notes
    -----
    For row i, left out, let d_i be its target minus the level of the other rows, and t_i the
    difference that the other rows predict. The penalties compared are half decades and infinity;
    the error of a penalty is

        min_{g >= 0} sum_i |d_i - g t_i|^2 / sum_i |d_i|^2.

    A row that is the only one of its class in its group does not count: no other row speaks for its
    class. If all rows are such, or the others are in groups of a single class, a usual penalty is
    taken. With one row per class, targets have the same length in every direction, so that
    generalized cross-validation and the evidence give infinity on any data. One singular value
    decomposition serves all penalties.
    """
    # Not scikit-learn's RidgeCV on columns / sqrt(rho): it takes no infinite penalty and only one
    # unpenalized column, whose leverage is part of a row's.
    ridge = _GroupedRidge.decompose(design, targets, roughness)
    differences = np.abs(ridge.centered[ridge.predictable])
    if differences.max(initial=0.0) <= ROUNDING or ridge.unit == 0:
        return ridge.fit(USUAL_PENALTY * ridge.unit, 1.0, "usual")
    penalties = PENALTIES * ridge.unit
    errors, gains = np.array([ridge.error_and_gain(penalty) for penalty in penalties]).T
    best = int(np.flatnonzero(errors == errors.min())[-1])  # of equals the smoothest
    fit = ridge.fit(penalties[best], gains[best], "leave-one-out")
    return replace(fit, candidates=penalties, errors=errors)


def choose_columns(
    design: Array, targets: Array, roughness: Array, *, n_first: int = 1
) -> RidgeFit:
    """Fit least squares on the number of first columns that classifies left-out rows best.

    Parameters
    ----------
    design, targets, roughness : ndarray
        As for :func:`fit_ridge`.
    n_first : int, default=1
        Number of columns that are always used. Up to 64 numbers are compared, from this one to half
        the number of rows.

    Notes
    -----
    Squared errors would be dominated by rows of leverage near 1, whose predictions can be anything.
    So wrong classes are counted, and a row of leverage 1 counts as wrong; ties go to the least
    squared error of scores clipped to [0, 1]. Rows alone in their class do not count; if all are,
    half as many columns as rows are used. One nested orthonormal basis serves all numbers.
    """
    n_rows = len(design)
    most = min(design.shape[1], max(n_first, n_rows // 2))
    sizes = np.unique(np.geomspace(n_first, most, N_CANDIDATES).round().astype(np.intp))
    predictable = _predictable_rows(targets, np.ones((n_rows, 1)))
    if not predictable.any():
        return _least_squares(design, targets, roughness, most, "usual")
    wrong, squares = np.empty(len(sizes)), np.empty(len(sizes))
    basis, fitted, spare = np.empty((n_rows, 0)), np.zeros(targets.shape), np.ones(n_rows)
    for k, (start, stop) in enumerate(pairwise([0, *sizes])):
        block = added = design[:, start:stop]
        for _ in range(2):  # the second time for rounding errors
            added = added - basis @ (basis.T @ added)
        U, s, _ = np.linalg.svd(added, full_matrices=False)
        added = U[:, s > ROUNDING * np.linalg.norm(block)]  # without dependent columns
        basis = np.hstack([basis, added])
        fitted += added @ (added.T @ targets)
        spare -= np.sum(added**2, axis=1)  # 1 - leverage
        alone = spare <= ROUNDING
        predicted = targets - (targets - fitted) / np.where(alone, 1.0, spare)[:, None]
        predicted[alone] = 0
        missed = alone | (targets[np.arange(n_rows), predicted.argmax(axis=1)] == 0)
        wrong[k] = np.mean(missed[predictable])
        squares[k] = np.sum((targets - np.clip(predicted, 0, 1))[predictable] ** 2)
    best = np.lexsort((squares, wrong))[0]
    fit = _least_squares(design, targets, roughness, int(sizes[best]), "leave-one-out")
    return replace(fit, candidates=sizes.astype(float), errors=wrong)


def leave_one_out(
    vectors: Array, squares: Array, targets: Array, penalty: float, room: Array | None = None
) -> Array:
    """Return what a ridge regression on the other rows predicts for every row.

    Parameters
    ----------
    vectors, squares : ndarray of shape (n_rows, rank) and (rank,)
        X and s. Primal: left singular vectors and squared singular values of the columns. Dual:
        eigenvectors and eigenvalues of a kernel matrix K.
    targets : ndarray of shape (n_rows, n_targets)
        C, with the unpenalized columns projected out, as they are from X.
    penalty : float
        gamma. The fit is X diag(s / (s + gamma)) X^T C; in the dual, K (K + gamma)^(-1) C.
    room : ndarray of shape (n_rows,), default=None
        1 - leverages of the unpenalized columns; None if there are none.

    Returns
    -------
    ndarray of shape (n_rows, n_targets)
        Differences from the prediction of the unpenalized columns alone; for an infinite penalty
        their limit times gamma. NaN at leverage 1, where only the row itself determines its fit.

    Notes
    -----
    Let v be the fit, u its leverages, h = 1 - room + u the leverages of all columns and r = C - v.
    The residual of a left-out row is r / (1 - h); with the unpenalized columns alone it is
    C / room. The predicted difference is

        C / room - r / (1 - h) = (v room - C u) / (room (1 - h)).

    The left side loses no digits for a small penalty, the right side none for a large one.
    """
    room = np.ones(len(vectors)) if room is None else room
    if np.isinf(penalty):
        kept, lost = squares, np.ones_like(squares)
    else:
        kept, lost = squares / (squares + penalty), penalty / (squares + penalty)
    projected, shares = vectors.T @ targets, vectors**2
    fitted, u = vectors @ (kept[:, None] * projected), shares @ kept
    residuals = targets - vectors @ projected + vectors @ (lost[:, None] * projected)
    spare = np.maximum(room - shares.sum(axis=1), 0) + shares @ lost  # 1 - h
    alone = (np.minimum(spare, room) <= ROUNDING)[:, None]
    spare, base = np.where(alone, 1.0, spare[:, None]), np.where(alone, 1.0, room[:, None])
    by_residual = targets / base - residuals / spare
    by_fit = (fitted * base - targets * u[:, None]) / (base * spare)
    is_large = np.isinf(penalty) | (u <= room / 2)[:, None]
    return np.where(alone, np.nan, np.where(is_large, by_fit, by_residual))


def kernel_unit(columns: Array) -> float:
    """Return the unit of penalties of the kernel with these columns; 1 if it is constant."""
    singular = np.linalg.svd(columns - columns.mean(axis=0), compute_uv=False)
    rank = _rank(singular, columns.shape)
    return _penalty_unit(singular[:rank] ** 2, len(columns)) or 1.0


def smoothest_fit(design: Array, targets: Array, roughness: Array) -> tuple[Array, int]:
    """Return the smoothest of the least squares fits, and the rank of the columns.

    Minimizes |C - E a|^2, and among the minimizers sum_j rho_j |a_j|^2: the limit of ridge
    regression as the penalty goes to 0. If the columns are independent on the rows, there is one
    minimizer and rho has no effect.

    Columns of roughness 0 must come first and be indicators of groups of rows: orthogonal, and none
    of them zero on all rows. Well-conditioned problems with twice as many rows as columns go
    through the normal equations, O(n_rows n_columns^2), others through a singular value
    decomposition, which takes several times as long.
    """
    n_groups = int(np.count_nonzero(roughness == 0))
    indicators, others = design[:, :n_groups], design[:, n_groups:]
    dual = indicators / np.sum(indicators**2, axis=0)
    centered = others - indicators @ (dual.T @ others)
    wanted = targets - indicators @ (dual.T @ targets)
    solution, rank = _shortest_solution(centered, wanted, 1 / np.sqrt(roughness[n_groups:]))
    levels = dual.T @ (targets - others @ solution)
    return np.vstack([levels, solution]), n_groups + rank


@dataclass(frozen=True, eq=False)
class _GroupedRidge:
    """Columns / sqrt(rho) with group means removed, as X diag(singular) V^T."""

    design: Array
    targets: Array
    centered: Array  # targets with group means removed
    is_flat: NDArray[np.bool_]  # columns of roughness 0
    indicators: Array  # these columns, of length 1
    vectors: Array  # X
    singular: Array
    directions: Array  # V / sqrt(rho)
    room: Array  # 1 - leverages of the indicators
    predictable: NDArray[np.bool_]  # rows that other rows can predict
    unit: float  # of penalties

    @classmethod
    def decompose(cls, E: Array, C: Array, rho: Array) -> _GroupedRidge:
        is_flat = np.asarray(rho == 0)
        Z = E[:, is_flat]
        if Z.shape[1] and np.any(np.count_nonzero(Z, axis=1) != 1):
            raise InputError(
                "Columns of roughness 0 must be indicators: every row needs a nonzero entry in "
                "exactly one of them."
            )
        Z = Z / np.maximum(np.linalg.norm(Z, axis=0), np.finfo(float).tiny)
        A = E[:, ~is_flat] / np.sqrt(rho[~is_flat])
        X, s, Vt = np.linalg.svd(A - Z @ (Z.T @ A), full_matrices=False)
        rank = _rank(s, A.shape)
        return cls(
            design=E,
            targets=C,
            centered=C - Z @ (Z.T @ C),
            is_flat=is_flat,
            indicators=Z,
            vectors=X[:, :rank],
            singular=s[:rank],
            directions=Vt[:rank].T / np.sqrt(rho[~is_flat])[:, None],
            room=1 - np.sum(Z**2, axis=1),
            predictable=_predictable_rows(C, Z),
            unit=_penalty_unit(s[:rank] ** 2, len(E)),
        )

    def error_and_gain(self, penalty: float) -> tuple[float, float]:
        """Return the error on left-out rows (see :func:`choose_penalty`), and the gain."""
        t = self.left_out(penalty)[self.predictable]
        d = (self.centered[self.predictable].T / self.room[self.predictable]).T
        size = np.max(np.abs(t), initial=0.0)
        if size == 0:
            return 1.0, 1.0
        t = t / size  # with a huge penalty the squares would underflow
        length = np.sum(t**2)
        slope = np.sum(t * d) / length
        error = 1 - max(slope, 0) ** 2 * length / np.sum(d**2)
        deviation = np.linalg.norm(np.sum(t * (d - slope * t), axis=1)) / length
        raised = min(size, slope + 2 * deviation)  # at most to a gain of 1
        return float(error), float(max(slope, raised, LEAST_GAIN * size) / size)

    def left_out(self, penalty: float) -> Array:
        """Return the differences that the other rows predict for each; 0 if they say nothing."""
        t = leave_one_out(self.vectors, self.singular**2, self.centered, penalty, self.room)
        return np.nan_to_num(t / (self.unit or 1.0) if np.isinf(penalty) else t)

    def fit(self, penalty: float, gain: float, criterion: str) -> RidgeFit:
        """Return the coefficients of level + gain * difference."""
        # The limit is scaled as if it were exact for a penalty of one unit.
        factors = self.singular / (self.unit if np.isinf(penalty) else self.singular**2 + penalty)
        slopes = gain * self.directions @ (factors[:, None] * (self.vectors.T @ self.centered))
        level = self._levels() - self._group_means(self.design[:, ~self.is_flat] @ slopes)
        coefficients = np.empty((self.design.shape[1], self.targets.shape[1]))
        coefficients[~self.is_flat] = slopes
        coefficients[self.is_flat] = lstsq(self.design[:, self.is_flat], level)[0]
        rank = len(self.singular) + int(np.sum(self.indicators.any(axis=0)))
        return RidgeFit(
            coefficients,
            float(penalty),
            len(coefficients),
            rank,
            criterion,
            gain,
            self._levels_of_others() + gain * self.left_out(penalty),
        )

    def _levels(self) -> Array:
        """Return each row's group means, shrunk toward equal ones (see :func:`fit_ridge`)."""
        means, squares = self.targets - self.centered, self._group_means(self.targets**2)
        return _shrink_means(means, squares, self.room / np.maximum(1 - self.room, ROUNDING))

    def _levels_of_others(self) -> Array:
        """Return for each row the level of its group without it."""
        share, room = (1 - self.room)[:, None], np.maximum(self.room, ROUNDING)[:, None]
        means = (self.targets - self.centered - share * self.targets) / room
        squares = (self._group_means(self.targets**2) - share * self.targets**2) / room
        return _shrink_means(means, squares, self.room / np.maximum(share[:, 0], ROUNDING) - 1)

    def _group_means(self, values: Array) -> Array:
        return np.asarray(self.indicators @ (self.indicators.T @ values))


def _shrink_means(means: Array, squares: Array, freedom: Array) -> Array:
    """Return means, and mean squares, of ``freedom`` + 1 rows shrunk toward equal means."""
    equal = means.mean(axis=1, keepdims=True)
    spread = np.sum((means - equal) ** 2, axis=1)
    by_chance = np.sum(squares - means**2, axis=1) / np.maximum(freedom, ROUNDING)
    kept = 1 - np.minimum(by_chance / np.where(spread > 0, spread, np.inf), 1)
    return np.asarray(equal + kept[:, None] * (means - equal))


def _rank(singular: Array, shape: tuple[int, ...]) -> int:
    least = singular.max(initial=0.0) * max(shape) * np.finfo(float).eps
    return int(np.sum(singular > least))


def _penalty_unit(squares: Array, n_rows: int) -> float:
    """Return the mean diagonal of the kernel with these eigenvalues, bounded by their median.

    A nearly separate cluster has a column of almost no roughness, which would be almost all of the
    mean.
    """
    if len(squares) == 0:
        return 0.0
    return float(min(np.sum(squares) / n_rows, LARGEST_MEAN * np.median(squares)))


def _predictable_rows(C: Array, indicators: Array) -> NDArray[np.bool_]:
    """Return whether each row has another row of its class in its group."""
    member = (indicators != 0).astype(float) if indicators.shape[1] else np.ones((len(C), 1))
    return np.asarray(np.all((member @ (member.T @ (C != 0)) > 1) | (C == 0), axis=1))


def _least_squares(E: Array, C: Array, rho: Array, n_columns: int, criterion: str) -> RidgeFit:
    coefficients = np.zeros((E.shape[1], C.shape[1]))
    coefficients[:n_columns], rank = smoothest_fit(E[:, :n_columns], C, rho[:n_columns])
    return RidgeFit(coefficients, 0.0, n_columns, rank, criterion)


def _shortest_solution(A: Array, B: Array, scales: Array) -> tuple[Array, int]:
    """Return the least squares solution that is shortest in units of ``scales``, and A's rank."""
    n, p = A.shape
    if p == 0:
        return np.zeros((0, B.shape[1])), 0
    if p <= n // 2:
        gram = A.T @ A
        factor, info = dpotrf(gram)
        if info == 0 and dpocon(factor, np.abs(gram).sum(axis=0).max())[0] > WELL_CONDITIONED:
            return np.asarray(cho_solve((factor, False), A.T @ B)), p
    U, singular, Vt = svd(A, full_matrices=p > n)
    rank = int(np.sum(singular > ROUNDING * singular.max(initial=0.0)))
    solution = Vt[:rank].T @ ((U[:, :rank].T @ B) / singular[:rank, None])
    null = Vt[rank:].T
    if null.shape[1]:
        # All solutions are this one plus combinations of null vectors. Scaling A instead would
        # change which singular values count as zero.
        solution -= null @ lstsq(null / scales[:, None], solution / scales[:, None])[0]
    return np.asarray(solution), rank
