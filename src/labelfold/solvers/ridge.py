"""Ridge regression on few rows, and what the others say of every row that is left out.

E holds the values of columns at the rows, C a target a class, 1 in its rows and 0 elsewhere. Every
column has a roughness rho_j, a power of its eigenvalue where columns are a Laplacian's vectors:

    minimise  |C - E a|^2 + gamma sum_j rho_j |a_j|^2          (LAPCLASS section 4)

Columns without roughness are indicators of groups of rows and go unpenalised, so that a fit is a
level, the class means of every group, plus a difference that fades as 1 / gamma, when the largest
score names the largest class everywhere. So scores are level + gain * difference, the gain being
the slope of targets on the differences predicted for left-out rows. Infinite gamma then gives a fit
like any other: for rho = lambda the direction of Poisson learning.
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
    "leave_one_out",
    "smoothest_fit",
]

Array = NDArray[np.float64]

# In units of the mean diagonal of E diag(1 / rho) E^T, centred by groups.
PENALTIES = np.append(10 ** np.arange(-5, 3.1, 0.5), np.inf)  # to compare
LARGEST_MEAN = 100.0  # of the kernel's spectrum, relative to its median
USUAL_PENALTY = 0.1  # where no left-out row can tell
LEAST_GAIN = 1e-3  # not 0: where levels are equal the differences decide
N_CANDIDATES = 64  # numbers of columns to compare
# 1 - leverage at which a row is taken to be fitted by itself alone, and what a singular value may
# be, relative to the largest, and still count as zero.
ROUNDING = 1e-10
WELL_CONDITIONED = 1e-8  # reciprocal condition from which on normal equations are exact enough


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """Coefficients, and how they were come by.

    Parameters
    ----------
    coefficients : ndarray of shape (n_columns, n_targets)
        Scores at a point are its columns times these. Zero for columns not in use.
    penalty : float
        gamma, from 0 to infinity.
    n_columns, rank : int
        Number of columns in use, from the first on, and their rank on the rows.
    criterion : {"given", "leave-one-out", "usual"}
        How penalty or number of columns were found; "usual" where no row can be left out.
    gain : float
        Factor of the differences from the level, which the coefficients contain; 1 for penalty 0.
    candidates, errors : ndarray of shape (n_candidates,)
        What was compared, and its error on left-out rows.
    """

    coefficients: Array = field(repr=False)
    penalty: float
    n_columns: int
    rank: int
    criterion: str
    gain: float = 1.0
    candidates: Array = field(default_factory=lambda: np.empty(0), repr=False)
    errors: Array = field(default_factory=lambda: np.empty(0), repr=False)


def fit_ridge(design: Array, targets: Array, roughness: Array, *, penalty: float) -> RidgeFit:
    """Fit with a given penalty.

    Parameters
    ----------
    design, targets : ndarray of shape (n_rows, n_columns) and (n_rows, n_targets)
        E and C.
    roughness : ndarray of shape (n_columns,)
        rho, nonnegative. With a penalty, columns with roughness 0 must be indicators, every row
        being in one of them; or there are none, and the level is 0.
    penalty : float
        gamma. 0 is least squares as it is (LAPCLASS section 3), the smoothest solution where
        columns are dependent; ``numpy.inf`` is the limit.

    Notes
    -----
    With a penalty, a group's level are its class means, shrunk towards equal ones by the share of
    their spread that chance explains; for equal ones the differences alone decide. A slope below 1
    is raised by two standard errors, at most to 1, the ridge fit itself: a few rows do not prove a
    fit worthless, while for labels that are noise many do.
    """
    if not penalty >= 0:
        raise InputError(f"penalty={penalty!r} must be 0 or more.")
    if penalty == 0:
        return _least_squares(design, targets, roughness, design.shape[1], "given")
    spectrum = _Spectrum.of(design, targets, roughness)
    return spectrum.fit(penalty, spectrum.judge(penalty)[1], "given")


def choose_penalty(design: Array, targets: Array, roughness: Array) -> RidgeFit:
    """Fit with the penalty that predicts left-out rows best.

    Parameters
    ----------
    design, targets, roughness : ndarray
        As for :func:`fit_ridge`.

    Notes
    -----
    For row i, left out, let d_i be its target minus the level of the others, and t_i the difference
    that the others predict. The error of a penalty, of half decades and infinity, is

        min_{g >= 0} sum_i |d_i - g t_i|^2 / sum_i |d_i|^2.

    A row whose class has no other row in its group does not count, as nothing else speaks for its
    class. If all rows are such, a usual penalty is taken: with one row a class, targets have the
    same length in every direction, so that generalised cross-validation and the evidence give
    infinity on any data. One singular value decomposition serves all penalties.
    """
    # Not scikit-learn's RidgeCV on columns / sqrt(rho): it has no place for infinity, nor for more
    # than one unpenalised column, whose leverage is part of a row's.
    spectrum = _Spectrum.of(design, targets, roughness)
    if not spectrum.telling.any() or spectrum.unit == 0:
        return spectrum.fit(USUAL_PENALTY * spectrum.unit, 1.0, "usual")
    compared = PENALTIES * spectrum.unit
    errors, gains = np.array([spectrum.judge(penalty) for penalty in compared]).T
    best = int(np.flatnonzero(errors == errors.min())[-1])  # the smoothest of equals
    fit = spectrum.fit(compared[best], gains[best], "leave-one-out")
    return replace(fit, candidates=compared, errors=errors)


def choose_columns(
    design: Array, targets: Array, roughness: Array, *, n_first: int = 1
) -> RidgeFit:
    """Fit least squares on as many of the first columns as classify left-out rows best.

    Parameters
    ----------
    design, targets, roughness : ndarray
        As for :func:`fit_ridge`.
    n_first : int, default=1
        Number of columns that are always in. Up to 64 numbers are compared, from this one to half
        the number of rows.

    Notes
    -----
    Squares would be ruled by rows of leverage near 1, whose predictions are anywhere. So wrong
    classes are counted, leverage 1 among them; ties go to the least squared error of scores clipped
    to [0, 1]. Rows alone in their class do not count; if all are, half as many columns as rows are
    taken. One nested basis serves all numbers.
    """
    n_rows = len(design)
    most = min(design.shape[1], max(n_first, n_rows // 2))
    sizes = np.unique(np.geomspace(n_first, most, N_CANDIDATES).round().astype(np.intp))
    telling = _telling(targets, np.ones((n_rows, 1)))
    if not telling.any():
        return _least_squares(design, targets, roughness, most, "usual")
    wrong, squares = np.empty(len(sizes)), np.empty(len(sizes))
    basis, fitted, spare = np.empty((n_rows, 0)), np.zeros(targets.shape), np.ones(n_rows)
    for k, (start, stop) in enumerate(pairwise([0, *sizes])):
        added = block = design[:, start:stop]
        for _ in range(2):  # once more for what rounding left
            added = added - basis @ (basis.T @ added)
        U, s, _ = np.linalg.svd(added, full_matrices=False)
        added = U[:, s > ROUNDING * np.linalg.norm(block)]  # dependent columns add nothing
        basis = np.hstack([basis, added])
        fitted += added @ (added.T @ targets)
        spare -= np.sum(added**2, axis=1)
        alone = spare <= ROUNDING
        predicted = targets - (targets - fitted) / np.where(alone, 1.0, spare)[:, None]
        predicted[alone] = 0
        missed = alone | (targets[np.arange(n_rows), predicted.argmax(axis=1)] == 0)
        wrong[k] = np.mean(missed[telling])
        squares[k] = np.sum((targets - np.clip(predicted, 0, 1))[telling] ** 2)
    best = np.lexsort((squares, wrong))[0]
    fit = _least_squares(design, targets, roughness, int(sizes[best]), "leave-one-out")
    return replace(fit, candidates=sizes.astype(float), errors=wrong)


def leave_one_out(
    vectors: Array, squares: Array, targets: Array, penalty: float, room: Array | None = None
) -> Array:
    """Return for every row what a ridge regression on the other rows predicts there.

    Parameters
    ----------
    vectors, squares : ndarray of shape (n_rows, rank) and (rank,)
        X, s: left singular vectors and squared singular values, or eigenpairs of a kernel matrix K.
    targets : ndarray of shape (n_rows, n_targets)
        C, orthogonal to what was projected out of X.
    penalty : float
        gamma: the fit is X diag(s / (s + gamma)) X^T C, that is K (K + gamma)^(-1) C.
    room : ndarray of shape (n_rows,), default=None
        1 - leverages of unpenalised columns, if any were projected out of X and C.

    Returns
    -------
    ndarray of shape (n_rows, n_targets)
        Differences from what the unpenalised columns alone predict; times gamma for an infinite
        one. NaN at leverage 1, where a row is fitted by itself alone.

    Notes
    -----
    With v the fit, u its leverages, h = 1 - room + u all of them and r = C - v: a left-out row's
    residual is r / (1 - h), and C / room for the unpenalised columns alone. The difference is

        C / room - r / (1 - h) = (v room - C u) / (room (1 - h)),

    on the left without cancellation for a small penalty, on the right for a large one.
    """
    room = np.ones(len(vectors)) if room is None else room
    infinite = np.isinf(penalty)
    kept = squares if infinite else squares / (squares + penalty)
    lost = np.ones_like(squares) if infinite else penalty / (squares + penalty)
    projected, shares = vectors.T @ targets, vectors**2
    fitted, u = vectors @ (kept[:, None] * projected), shares @ kept
    spare = np.maximum(room - shares.sum(axis=1), 0) + shares @ lost
    residuals = targets - vectors @ projected + vectors @ (lost[:, None] * projected)
    alone = (np.minimum(spare, room) <= ROUNDING)[:, None]
    below, base = np.where(alone, 1.0, spare[:, None]), np.where(alone, 1.0, room[:, None])
    large = infinite | (u <= room / 2)[:, None]
    by_fit = (fitted * base - targets * u[:, None]) / (base * below)
    predicted = np.where(large, by_fit, targets / base - residuals / below)
    return np.where(alone, np.nan, predicted)


def smoothest_fit(design: Array, targets: Array, roughness: Array) -> tuple[Array, int]:
    """Return the smoothest of the least squares fits, and the rank of the columns.

    Minimizes |C - E a|^2, and among its minimizers sum_j rho_j |a_j|^2: the limit of ridge
    regression for a penalty that tends to 0. Where the columns are independent on the rows there is
    one minimizer, and rho has no influence.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_columns)
        E.
    targets : ndarray of shape (n_rows, n_targets)
        C.
    roughness : ndarray of shape (n_columns,)
        rho. Columns without roughness come first and are indicators of groups of rows: orthogonal,
        and none of them zero on all rows.

    Returns
    -------
    coefficients : ndarray of shape (n_columns, n_targets)
        a.
    rank : int
        The rank of E.

    Notes
    -----
    Well-conditioned problems with twice as many rows as columns go through the normal equations,
    O(n_rows n_columns^2), others through a singular value decomposition, several times that.
    """
    n_groups = int(np.count_nonzero(roughness == 0))
    indicators, others = design[:, :n_groups], design[:, n_groups:]
    dual = indicators / np.sum(indicators**2, axis=0)
    centred = others - indicators @ (dual.T @ others)
    wanted = targets - indicators @ (dual.T @ targets)
    solution, rank = _shortest(centred, wanted, 1 / np.sqrt(roughness[n_groups:]))
    levels = dual.T @ (targets - others @ solution)
    return np.vstack([levels, solution]), n_groups + rank


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """Columns / sqrt(rho) with group means taken out, as X diag(singular) V^T."""

    design: Array
    targets: Array
    centred: Array  # targets, without the means of groups
    flat: NDArray[np.bool_]  # columns without roughness
    indicators: Array  # those columns, of length 1
    vectors: Array  # X
    singular: Array
    directions: Array  # V / sqrt(rho)
    room: Array  # 1 - leverages of the indicators
    telling: NDArray[np.bool_]  # rows that others can predict
    unit: float

    @classmethod
    def of(cls, E: Array, C: Array, rho: Array) -> _Spectrum:
        flat = np.asarray(rho == 0)
        Z = E[:, flat]
        if Z.shape[1] and np.any(np.count_nonzero(Z, axis=1) != 1):
            raise InputError("Columns with roughness 0 must be indicators, one to a row.")
        Z = Z / np.maximum(np.linalg.norm(Z, axis=0), np.finfo(float).tiny)
        A = E[:, ~flat] / np.sqrt(rho[~flat])
        X, s, Vt = np.linalg.svd(A - Z @ (Z.T @ A), full_matrices=False)
        n = int(np.sum(s > s.max(initial=0.0) * max(A.shape) * np.finfo(float).eps))
        V = Vt[:n].T / np.sqrt(rho[~flat])[:, None]
        room, unit = 1 - np.sum(Z**2, axis=1), _unit(s[:n] ** 2, len(E))
        return cls(E, C, C - Z @ (Z.T @ C), flat, Z, X[:, :n], s[:n], V, room, _telling(C, Z), unit)

    def means(self, values: Array) -> Array:
        return np.asarray(self.indicators @ (self.indicators.T @ values))

    def judge(self, penalty: float) -> tuple[float, float]:
        """Return the error on left-out rows, and the gain."""
        t = leave_one_out(self.vectors, self.singular**2, self.centred, penalty, self.room)
        t = np.nan_to_num(t / (self.unit or 1.0) if np.isinf(penalty) else t)[self.telling]
        d = (self.centred[self.telling].T / self.room[self.telling]).T
        size = np.max(np.abs(t), initial=0.0)
        if size == 0:
            return 1.0, 1.0
        t = t / size  # squares of what a huge penalty leaves would underflow
        length = np.sum(t**2)
        slope = np.sum(t * d) / length
        error = 1 - max(slope, 0) ** 2 * length / np.sum(d**2)
        deviation = np.linalg.norm(np.sum(t * (d - slope * t), axis=1)) / length
        raised = min(size, slope + 2 * deviation)  # at most to a gain of 1
        return float(error), float(max(slope, raised, LEAST_GAIN * size) / size)

    def fit(self, penalty: float, gain: float, criterion: str) -> RidgeFit:
        """Return the coefficients of level + gain * difference."""
        # The limit is scaled as if it were exact for a penalty of one unit.
        factors = self.singular / (self.unit if np.isinf(penalty) else self.singular**2 + penalty)
        slopes = gain * self.directions @ (factors[:, None] * (self.vectors.T @ self.centred))
        level = self._level() - self.means(self.design[:, ~self.flat] @ slopes)
        coefficients = np.empty((self.design.shape[1], self.targets.shape[1]))
        coefficients[~self.flat] = slopes
        coefficients[self.flat] = lstsq(self.design[:, self.flat], level)[0]
        rank = len(self.singular) + int(np.sum(self.indicators.any(axis=0)))
        return RidgeFit(coefficients, float(penalty), len(coefficients), rank, criterion, gain)

    def _level(self) -> Array:
        """Return each row's group means, shrunk towards equal ones (see fit_ridge)."""
        means = self.targets - self.centred
        equal = means.mean(axis=1, keepdims=True)
        spread = np.sum((means - equal) ** 2, axis=1)
        variance = np.sum(self.means(self.targets**2) - means**2, axis=1)
        # Divided by the size of the group less 1, which is room / (1 - room).
        by_chance = variance * (1 - self.room) / np.maximum(self.room, ROUNDING)
        kept = 1 - np.minimum(by_chance / np.where(spread > 0, spread, np.inf), 1)
        return np.asarray(equal + kept[:, None] * (means - equal))


def _unit(squares: Array, n_rows: int) -> float:
    """Return the mean diagonal of the kernel, without what one nearly separate cluster makes of it.

    Its vector's roughness is next to nothing, and its share of the diagonal next to all.
    """
    if len(squares) == 0:
        return 0.0
    return float(min(np.sum(squares) / n_rows, LARGEST_MEAN * np.median(squares)))


def _least_squares(E: Array, C: Array, rho: Array, n_columns: int, criterion: str) -> RidgeFit:
    coefficients = np.zeros((E.shape[1], C.shape[1]))
    coefficients[:n_columns], rank = smoothest_fit(E[:, :n_columns], C, rho[:n_columns])
    return RidgeFit(coefficients, 0.0, n_columns, rank, criterion)


def _telling(C: Array, indicators: Array) -> NDArray[np.bool_]:
    """Tell which rows have another row of their class in their group."""
    member = (indicators != 0).astype(float) if indicators.shape[1] else np.ones((len(C), 1))
    return np.asarray(np.all((member @ (member.T @ (C != 0)) > 1) | (C == 0), axis=1))


def _shortest(A: Array, B: Array, scales: Array) -> tuple[Array, int]:
    """Return the solution that is shortest after division by ``scales``, and the rank of A."""
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
        # All solutions are this one plus combinations of null vectors.
        solution -= null @ lstsq(null / scales[:, None], solution / scales[:, None])[0]
    return np.asarray(solution), rank
