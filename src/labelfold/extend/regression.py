"""New rows in any embedding: kernel regression of the coordinates on the rows.

With rows x_i, coordinates y_i and their mean,

    f(x) = mean + k(x, X) (K + rho I)^(-1) (Y - mean),    k(x, x') = exp(-|x - x'|^2 / scale),

the "nonlinear regression" of SSDE. Scale and ridge rho are those that predict left-out rows best;
with K = U diag(s) U^T one decomposition of a scale serves every ridge.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances

from labelfold.exceptions import InputError
from labelfold.extend.local_average import first_least
from labelfold.graph.adjacency import ReadOnly
from labelfold.graph.point_space import Metric, PointSpace, Rows, middle, number_equal_rows
from labelfold.methods import stored
from labelfold.solvers.ridge import leave_one_out

__all__ = ["KernelRegression"]

Array = NDArray[np.float64]

N_EXACT = 5000  # distinct rows up to which all of K is decomposed: 20 s on one core
N_LANDMARKS = 2000  # for more rows
N_COMPARED = 500  # landmarks while scales are compared; 1,000 choose no better
# From smooth to rough. A smaller ridge would fit what a solver's tolerance left.
RIDGES = 10 ** np.arange(1, -6.1, -0.5)
LONGEST = 1e5  # norm of coefficients for targets up to 1: rounding stays at 1e-11 of the values
SCALE_RATIO = 3.0  # between scales: the error is flat around its least
LARGEST_SCALE = 4.0  # in median squared distances
MOST_SCALES = 12
USUAL_RIDGE = 1e-3  # if no left-out row can decide
RANK = 1e-7  # least eigenvalue of the landmarks' kernel that counts: any ridge hides smaller ones
DIRECT_FEATURES = 32  # up to which differences are as quick as the expanded |x|^2 - 2 x.y + |y|^2
ENTRIES_AT_ONCE = 2**22  # of the kernel with new rows


@stored
@dataclass(frozen=True, eq=False)
class KernelRegression(ReadOnly):
    """A smooth function from rows to coordinates; make it with :meth:`fit`.

    Parameters
    ----------
    scale, ridge : float
        Scale of the kernel, a squared distance, and the ridge rho.
    leave_one_out_error : float
        ``sqrt(sum_i |y_i - f_i|^2 / sum_i |y_i - mean|^2)``, f_i being what the others predict at
        row i: near 0 f is as good as the coordinates, at 1 it is no better than their mean.
    n_samples : int
        Number of rows it was fitted to.
    compared : ndarray of shape (n_scales, 3)
        Scales that were compared, with the best ridge and error of each.
    rows, coefficients : {ndarray, csr_array} and ndarray of shape (n_landmarks, n_components)
        Distinct rows or a selection of them, as the frame measures them, and what multiplies k.
    mean : ndarray of shape (n_components,)
        What f tends to far from all rows.
    frame : object
        Metric, center and unit of the rows.

    Examples
    --------
    >>> from labelfold.datasets import make_swiss_roll
    >>> from labelfold.extend.regression import KernelRegression
    >>> X, _, coordinates = make_swiss_roll(600, random_state=0)
    >>> print(KernelRegression.fit(X[:500], coordinates[:500]))
    kernel regression: scale ..., ridge 1e-06, left-out error 0.0... %
    """

    scale: float
    ridge: float
    leave_one_out_error: float
    n_samples: int
    compared: Array = field(repr=False)
    rows: Rows = field(repr=False)
    coefficients: Array = field(repr=False)
    mean: Array = field(repr=False)
    frame: _Frame = field(repr=False)

    @classmethod
    def fit(
        cls,
        X: Any,
        Y: Any,
        *,
        metric: Metric = "euclidean",
        scale: float | None = None,
        ridge: float | None = None,
        seed: int = 0,
    ) -> KernelRegression:
        """Fit f, with the scale and ridge that predict left-out rows best.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features)
            Rows.
        Y : array-like of shape (n_samples, n_components)
            Their coordinates.
        metric : str, default="euclidean"
            "cosine" takes rows at unit length; see
            :class:`~labelfold.extend.local_average.LocalAverage` for others.
        scale, ridge : float, default=None
            Values to use instead of the best.
        seed : int, default=0
            Draws landmarks.

        Notes
        -----
        Equal rows count as one, with their mean coordinates and their number c as weight: the same
        f, from K + rho C^(-1), but no row is predicted by its twin. The mean is kept when a row is
        left out. Two distinct rows say nothing about each other, and usual values are taken.

        Above 5,000 rows, f is spanned by kernels at 2,000 of them, fitted to all (Nystroem):
        features Z = K_nm K_mm^(-1/2), with landmarks kept when a row is left out. Scales, from the
        median squared distance to the nearest row to four times that between any two, are compared
        with 500 landmarks and up to 5,000 rows. A plain subsample would favor scales that are too
        large: what is left out is then farther from the rest than it is among all rows.

        Cost for n distinct rows in d features, m landmarks: O(n^2 d + n^3) up to 5,000 rows,
        O(n m d + n m^2) time and 3 n m numbers above. Above 500 distinct rows the choice of scale
        depends on their order, since landmarks are drawn; above 5,000 f itself does.
        """
        Y = np.asarray(Y, dtype=float)
        _check(X, Y, scale, ridge)
        frame = _Frame.around(X, metric)
        mean = Y[0] + np.mean(Y - Y[0], axis=0)  # Y[0] itself if all are equal
        size = float(np.max(np.abs(Y - mean))) or 1.0
        problem = _Problem.from_rows(frame.measure(X), (Y - mean) / size, seed)
        usual = RIDGES if len(problem.roots) > 2 else np.array([USUAL_RIDGE])
        ridges = usual if ridge is None else np.array([ridge])
        if scale is None:
            compared = problem.compare_scales(ridges)
            own_scale = compared[first_least(compared[:, 2]), 0]
        else:
            compared, own_scale = np.empty((0, 3)), scale / frame.unit**2
        landmarks, spectrum = problem.decompose(own_scale)
        best, error = spectrum.choose(ridges)
        return cls(
            scale=float(own_scale * frame.unit**2),
            ridge=best,
            leave_one_out_error=error,
            n_samples=len(Y),
            compared=compared * [frame.unit**2, 1, 1],
            rows=landmarks,
            coefficients=size * spectrum.coefficients(best),
            mean=mean,
            frame=frame,
        )

    @property
    def n_landmarks(self) -> int:
        """Number of rows that carry a kernel."""
        return len(self.coefficients)

    def predict(self, X: Any) -> Array:
        """Return coordinates of new rows, each by itself.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_new, n_features)
            Rows, dense or sparse.
        """
        coordinates = np.empty((X.shape[0], len(self.mean)))
        step = max(1, ENTRIES_AT_ONCE // self.n_landmarks)
        scale = self.scale / self.frame.unit**2
        for start in range(0, len(coordinates), step):
            part = slice(start, start + step)
            new = self.frame.measure(X[part])
            kernel = np.exp(_squared_distances(new, self.rows) / -scale)
            coordinates[part] = self.mean + kernel @ self.coefficients
        return coordinates

    def __str__(self) -> str:
        few = self.n_landmarks < self.n_samples and self.n_landmarks == N_LANDMARKS
        landmarks = f", {self.n_landmarks} landmarks" if few else ""
        return (
            f"kernel regression: scale {self.scale:.3g}, ridge {self.ridge:.3g}{landmarks}, "
            f"left-out error {100 * self.leave_one_out_error:.2g} %"
        )


@stored
@dataclass(frozen=True, eq=False)
class _Frame(ReadOnly):
    """The center and unit in which rows are measured, so that squares neither overflow nor cancel.

    The unit is a power of two, which costs no digit. Sparse rows are not centered.
    """

    space: PointSpace
    center: Array | None
    unit: float

    @classmethod
    def around(cls, X: Any, metric: Metric) -> _Frame:
        """Return the frame of rows."""
        space = PointSpace(metric)
        if space.search_metric != "euclidean":
            raise InputError(
                f"metric={metric!r} has no kernel here: use LocalAverage on distances to "
                "neighbors, or the metric 'euclidean' or 'cosine'."
            )
        rows = space.prepare(_floats(X, sparse=sp.issparse(X)))
        center = None if sp.issparse(rows) else middle(rows)
        entries = rows.data if center is None else rows - center
        _, exponent = np.frexp(np.max(np.abs(entries), initial=0.0))
        return cls(space, center, float(np.ldexp(1.0, exponent)))

    def measure(self, X: Any) -> Rows:
        """Return rows in this frame, dense or sparse as those it was made for."""
        rows: Any = self.space.prepare(_floats(X, sparse=self.center is None))
        if self.center is not None:
            return np.asarray((rows - self.center) / self.unit)
        measured = rows / self.unit
        measured.sum_duplicates()
        measured.eliminate_zeros()
        return measured


@dataclass(frozen=True, eq=False)
class _Problem:
    """Distinct rows, roots of their numbers c, and sqrt(c) times the mean target of each.

    Above 500 rows they are in random order: any first part of them is a sample.
    """

    rows: Rows
    roots: Array  # a column
    targets: Array

    @classmethod
    def from_rows(cls, rows: Rows, targets: Array, seed: int) -> _Problem:
        groups = number_equal_rows(rows)
        _, first, counts = np.unique(groups, return_index=True, return_counts=True)
        sums = np.zeros((len(first), targets.shape[1]))
        np.add.at(sums, groups, targets)
        roots = np.sqrt(counts)[:, None]
        order = np.arange(len(first))
        if len(order) > N_COMPARED:
            order = np.random.default_rng(seed).permutation(order)
        return cls(rows[first[order]], roots[order], (sums / roots)[order])

    def compare_scales(self, ridges: Array) -> Array:
        """Return scales from smooth to rough, with the best ridge and error of each."""
        few = slice(0, N_EXACT)
        D = _squared_distances(self.rows[few], self.rows[:N_COMPARED])
        np.fill_diagonal(D, 0)
        compared = []
        for scale in _scales(D):
            kernel = np.exp(D / -scale)
            spectrum = _Spectrum.from_kernel(kernel, self.roots[few], self.targets[few])
            compared.append((scale, *spectrum.choose(ridges)))
        return np.array(compared)

    def decompose(self, scale: float) -> tuple[Rows, _Spectrum]:
        """Return the rows that carry a kernel, and the spectrum of all rows."""
        n = len(self.roots)
        landmarks = self.rows[: n if n <= N_EXACT else N_LANDMARKS].copy()
        K = _squared_distances(self.rows, landmarks)
        np.fill_diagonal(K, 0)
        K /= -scale
        return landmarks, _Spectrum.from_kernel(np.exp(K, out=K), self.roots, self.targets)


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """sqrt(C) K sqrt(C), or its Nystroem form Z Z^T, as U diag(s) U^T."""

    vectors: Array  # U
    squares: Array  # s
    targets: Array
    lift: Array  # coefficients of kernels are factors * lift (s + rho)^(-1) U^T targets
    factors: Array

    @classmethod
    def from_kernel(cls, K: Array, roots: Array, targets: Array) -> _Spectrum:
        """Decompose a kernel between n rows and the first m of them; all of it for m = n."""
        n, m = K.shape
        if m == n:
            s, U = np.linalg.eigh(roots * K * roots.T)
            return cls(U, np.maximum(s, 0), targets, U, roots)
        t, V = np.linalg.eigh(K[:m])
        kept = t > RANK
        root = V[:, kept] / np.sqrt(t[kept])  # K_mm^(-1/2), without its last rotation
        Z = roots * (K @ root)
        s, W = np.linalg.eigh(Z.T @ Z)
        sizes = np.sqrt(s)  # Z holds all of K_mm^(1/2), so that none vanishes
        return cls(Z @ (W / sizes), s, targets, root @ (W * sizes), np.ones((m, 1)))

    def choose(self, ridges: Array) -> tuple[float, float]:
        """Return the ridge of least error on left-out rows, and this error."""
        size = float(np.linalg.norm(self.targets)) or 1.0
        errors, lengths = np.empty(len(ridges)), np.empty(len(ridges))
        for k, ridge in enumerate(ridges):
            predicted = leave_one_out(self.vectors, self.squares, self.targets, ridge)
            # A row that no other reaches is predicted by the mean.
            errors[k] = np.linalg.norm(np.nan_to_num(predicted) - self.targets) / size
            lengths[k] = np.linalg.norm(self.coefficients(ridge))
        short = np.flatnonzero(lengths <= max(LONGEST, lengths.min()))
        best = short[first_least(errors[short])]
        return float(ridges[best]), float(errors[best])

    def coefficients(self, ridge: float) -> Array:
        """Return what multiplies the kernels."""
        projected = self.vectors.T @ self.targets
        return np.asarray(self.factors * (self.lift @ (projected.T / (self.squares + ridge)).T))


def _scales(D: Array) -> Array:
    """Return scales to compare, from smooth to rough; D as for the spectrum, squared."""
    if not D.any():
        return np.ones(1)
    apart = np.where(D > 0, D, np.inf)
    nearest, usual = np.median(apart.min(axis=0)), np.median(D[D > 0])
    if D.shape[0] == 2:  # no left-out row can decide
        return np.array([usual])
    span = LARGEST_SCALE * usual / nearest
    n_scales = min(MOST_SCALES, 2 + int(np.log(span) / np.log(SCALE_RATIO)))
    return np.geomspace(LARGEST_SCALE * usual, nearest, n_scales)


def _floats(X: Any, *, sparse: bool) -> Rows:
    if sparse:
        return sp.csr_array(X, dtype=np.float64)
    given: Any = X
    return np.asarray(given.toarray() if sp.issparse(X) else X, dtype=np.float64)


def _squared_distances(a: Any, b: Any) -> Array:
    if sp.issparse(a) or a.shape[1] > DIRECT_FEATURES:
        return np.asarray(euclidean_distances(a, b, squared=True))
    return np.asarray(cdist(a, b, "sqeuclidean"))


def _check(X: Any, Y: Array, scale: float | None, ridge: float | None) -> None:
    if Y.ndim != 2 or len(Y) != X.shape[0]:
        raise InputError(f"Y of shape {Y.shape} must have one row for each of X's {X.shape[0]}.")
    for name, value in (("scale", scale), ("ridge", ridge)):
        if value is not None and not (np.isfinite(value) and value > 0):
            raise InputError(f"{name}={value!r} must be positive and finite, or None.")
