"""The dimension of the manifold that rows lie on, from the growth of their neighbor graph.

Costa and Hero's k-NN graph length (entropic graph): :mod:`labelfold.graph.graph_length` has the
equations, this module the estimator, for all rows, for each class and around each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from labelfold.checks import check_integer, check_real, check_rows, seed_from
from labelfold.exceptions import FewNeighborsWarning, InputError, warn_user
from labelfold.graph.adjacency import with_values
from labelfold.graph.graph_length import (
    Growth,
    GrowthPlan,
    dimension_of_slope,
    entropy_of_length,
    log_slope,
    measure_growth,
)
from labelfold.graph.point_space import PointSpace, number_equal_rows
from labelfold.graph.precomputed import NeighborIndex
from labelfold.graph.search import make_index
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare
from labelfold.progress import Progress, show_progress
from labelfold.threads import limit_threads

__all__ = ["IntrinsicDimension", "largest_class_dimension"]

FEW_POINTS = 3000
LARGEST_POWER = 256.0  # of edges: the largest dimension that spheres calibrate
LEAST_POWER = 0.01  # below, lengths are numbers of edges
CONFIDENCE = 0.8  # of the intervals, as the papers have it

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


@declare(
    Declaration(
        "",
        "how many dimensions the rows have, and those of each class",
        labels="uses",
        produces="neither",
        uses_graph=False,
        examples=({"random_state": 0},),
    )
)
class IntrinsicDimension(BaseEstimator):
    """Intrinsic dimension and entropy of rows, from the growth of their k-NN graph.

    Parameters
    ----------
    n_neighbors : int, default=4
        Neighbors of every row in the graph. More lower the variance, and look less closely.
    edge_power : float, default=1.0
        Power of the edges' lengths, from 0.01 to 256. The entropy needs one below the dimension.
    n_sizes : int, default=3
        Number of sample sizes, each half the one before; fewer for few rows.
    n_resamples : int, default=10
        How often the rows are split at random into parts of these sizes.
    max_size : int, default=5000
        Largest sample size. If there are more rows, all are used, in parts up to this size.
    calibrate : bool, default=True
        Compare the growth with that of spheres at the same sizes; False for the law that holds
        in the limit of many rows, which comes out low in high dimension.
    local_size : int, default=None
        Number of rows in the neighborhoods for ``local_dimensions_``; None for none.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "precomputed" (all distances, as a dense matrix), or any metric of
        scikit-learn whose values are lengths. "cosine" and "sqeuclidean", which are squares, are
        measured as the chord between unit rows and as "euclidean".
    random_state : int, RandomState instance or None, default=None
        Seed of the splits; None is a fixed one. All rows and every class start from the same seed,
        so that a class has the same estimate alone.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries. Results do not depend
        on it.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    dimension_ : float
        Dimension of all rows, not rounded; infinite, with a warning, if distances hardly shrink
        as rows are added.
    interval_ : ndarray of shape (2,)
        Interval for ``dimension_`` from resampling, at 80 %; NaN for fewer than
        ``4 (n_neighbors + 1)`` rows. It shows the variance, not the bias.
    entropy_ : float
        Renyi entropy of order ``(m - edge_power) / m`` in nats, m being ``dimension_`` rounded to a
        whole number of at least 1. NaN if that is not finite.
    sizes_ : ndarray of shape (n_sizes,)
        Sample sizes, largest first; if halves are not whole, their mean.
    lengths_ : ndarray of shape (n_sizes,)
        Mean length of the graphs on samples of these sizes.
    classes_ : ndarray of shape (n_classes,)
        Classes with a labeled row, sorted; empty without labels.
    class_dimensions_ : ndarray of shape (n_classes,)
        Dimension of each class alone; NaN, with a warning, for a class of fewer than
        ``4 (n_neighbors + 1)`` distinct rows.
    class_intervals_ : ndarray of shape (n_classes, 2)
        Their intervals.
    local_dimensions_ : ndarray of shape (n_samples,)
        Dimension around each row, if ``local_size`` is given.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    CCDR : An embedding whose number of components the classes' dimensions can guide.

    Notes
    -----
    The length of the graph with p = ``edge_power``,
    ``L(n) = sum_i sum_(j among the k nearest of i) d(i, j)^p``, grows as ``beta n^a int f^a`` with
    ``a = (m - p) / m`` for n rows of density f on a manifold of dimension m. With the slope a of
    log L over log n, ``m = p / (1 - a)``, and the height of the line gives the entropy
    ``(m / p) (log L - a log n - log beta)``.

    The cost is that of about ``n_resamples`` exact neighbor searches, without an n x n matrix.
    Classes are searched alone. Equal rows count once: a distance of zero shows that data were
    repeated or rounded, not how they spread.

    A border of the manifold makes estimates low, the more so in high dimension: 2,000 rows in a
    cube of 2, 4, 6 and 8 dimensions come out at about 1.95, 3.7, 5.4 and 7.2. Spheres are
    estimated without bias, Gaussian blobs of 5 and 8 dimensions at 5.2 and 8.4. Noise counts as
    dimension as soon as neighbors are as near as it is large.

    Deviation: sizes are halved and samples drawn without replacement, all parts of a split being
    used, where the papers take bootstrap samples. The constant beta of directed k-NN graphs is
    known in closed form and not simulated. With ``calibrate=True`` the slope and the height are
    compared with the expected lengths of uniform samples of the same sizes on spheres S^m, known
    exactly by one integral for every m, instead of with their limit: the chords of a sphere of
    dimension 8 grow at 1,000 points as the limit has it for 7.4. Calibration by cubes would put
    their border into every estimate. The interval comes from the differences between independent
    halves of the points, and errs on the wide side. Local estimates add up the lengths of
    neighboring points in graphs on samples of all points, where Costa, Girotra and Hero take
    graphs inside the neighborhood, whose border then dominates.

    References
    ----------
    J. A. Costa and A. O. Hero III, "Geodesic entropic graphs for dimension and entropy estimation
    in manifold learning", IEEE Transactions on Signal Processing 52(8), 2004.

    J. A. Costa, A. Girotra and A. O. Hero III, "Estimating local intrinsic dimension with
    k-nearest neighbor graphs", IEEE/SP 13th Workshop on Statistical Signal Processing, 2005.

    Examples
    --------
    >>> from labelfold import IntrinsicDimension
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(500, random_state=0)
    >>> model = IntrinsicDimension(random_state=0).fit(X, y)
    >>> round(model.dimension_), model.class_dimensions_.round().tolist()
    (2, [2.0, 2.0])
    """

    def __init__(
        self,
        n_neighbors: int = 4,
        *,
        edge_power: float = 1.0,
        n_sizes: int = 3,
        n_resamples: int = 10,
        max_size: int = 5000,
        calibrate: bool = True,
        local_size: int | None = None,
        metric: Any = "euclidean",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.edge_power = edge_power
        self.n_sizes = n_sizes
        self.n_resamples = n_resamples
        self.max_size = max_size
        self.calibrate = calibrate
        self.local_size = local_size
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the dimension of the rows of X, and of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; all distances, of shape (n_samples, n_samples), for ``metric="precomputed"``.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None, NaN and pandas.NA are unlabeled.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._check_rows(X)
        labels = PartialLabels.from_optional_y(y, n_samples=X.shape[0])
        with limit_threads(self._n_threads(X)), show_progress(self.verbose) as progress:
            points = self._points(X)
            rows = points.distinct(np.arange(X.shape[0]))
            self._check_enough(len(rows), X.shape[0], points.plan)
            growth = points.growth(rows, progress, "graph lengths")
            self.__dict__.pop("local_dimensions_", None)  # of an earlier fit
            if self.local_size is not None:
                around = self._around_points(points.among(rows), growth, points.plan)
                self.local_dimensions_ = around[points.groups]
            of_classes = self._of_classes(points, labels, progress)
        self.sizes_ = growth.sizes
        with np.errstate(over="ignore"):  # powers of very long edges are infinite
            self.lengths_ = np.exp(growth.log_lengths)
        self.dimension_, *ends = self._dimension(growth, points.plan)
        self.interval_ = np.array(ends)
        self.entropy_ = entropy_of_length(
            self.dimension_, growth, points.plan, calibrate=self.calibrate
        )
        self.classes_ = labels.classes
        self.class_dimensions_, self.class_intervals_ = of_classes[:, 0], of_classes[:, 1:]
        if np.isinf(self.dimension_):
            warn_user(
                "Distances to neighbors hardly shrink as rows are added, as in a very high "
                "dimension: dimension_ is infinite. Fewer or other features may help."
            )
        return self

    def _n_threads(self, X: Any) -> int | None:
        """Return the bound on threads: in many small searches they would mostly wait."""
        return 1 if self.n_jobs is None and X.shape[0] <= FEW_POINTS else self.n_jobs

    def _check_rows(self, X: Any) -> Any:
        X = check_rows(self, X, reset=True)
        if self.metric == "precomputed" and sp.issparse(X):
            raise InputError(
                "metric='precomputed' needs all distances here, since subsamples have other "
                "neighbors, and X is sparse: pass the full matrix as a dense array, or the rows "
                "themselves with another metric."
            )
        return X

    def _points(self, X: Any) -> _Points:
        plan = self._check_plan(X.shape[0])
        by_distance = self.metric == "precomputed"
        space = PointSpace(self.metric)
        index = make_index(
            X if by_distance else space.prepare(X),
            space.search_metric,  # squared distances would halve the dimension
            n_neighbors=plan.n_neighbors,
        )  # threads are bound once, not in every one of many small searches
        groups = _equal_by_distance(index) if by_distance else _equal_by_entries(X)
        return _Points(index, groups, plan, seed_from(self.random_state))

    def _check_plan(self, n_samples: int) -> GrowthPlan:
        for name, least in (("n_neighbors", 1), ("n_sizes", 2), ("n_resamples", 1)):
            check_integer(name, getattr(self, name), least=least)
        # So that samples of at most this size can be halved as often as an interval needs.
        least = 8 * (self.n_neighbors + 1)
        check_integer("max_size", self.max_size, least=least, hint=" = 8 (n_neighbors + 1)")
        check_real(
            "edge_power",
            self.edge_power,
            at_least=LEAST_POWER,
            at_most=LARGEST_POWER,
            hint=": 1 suits all dimensions from 2",
        )
        if self.local_size is not None:
            check_integer("local_size", self.local_size, least=2)
            if self.local_size > n_samples:
                raise InputError(
                    f"local_size={self.local_size} is more than the {n_samples} rows of X: lower "
                    "it, or add data."
                )
        return GrowthPlan(
            int(self.n_neighbors),
            float(self.edge_power),
            int(self.n_sizes),
            int(self.n_resamples),
            int(self.max_size),
        )

    def _check_enough(self, n_distinct: int, n_samples: int, plan: GrowthPlan) -> None:
        if n_distinct == 1:
            raise InputError(f"All {n_samples} rows of X are equal: they have no dimension.")
        distinct = " distinct" if n_distinct < n_samples else ""
        if n_distinct < plan.least_points:
            raise InputError(
                f"n_neighbors={plan.n_neighbors} needs at least {plan.least_points}{distinct} "
                f"rows, got {n_distinct}: lower n_neighbors or add data."
            )
        if n_distinct < plan.least_points_for_spread:
            warn_user(
                f"{n_distinct}{distinct} rows are few for n_neighbors={plan.n_neighbors}: there "
                f"is no interval_ for fewer than {plan.least_points_for_spread}.",
                FewNeighborsWarning,
            )

    def _dimension(self, growth: Growth, plan: GrowthPlan) -> list[float]:
        """Return the dimension and the ends of its interval."""
        reach = float(ndtri((1 + CONFIDENCE) / 2)) * growth.spread
        slopes = growth.slope + np.array([0, -reach, reach])
        return dimension_of_slope(slopes, growth.sizes, plan, calibrate=self.calibrate).tolist()

    def _of_classes(self, points: _Points, labels: PartialLabels, progress: Progress) -> Array:
        """Return one row per class: its dimension and the ends of the interval."""
        found = np.full((labels.n_classes, 3), np.nan)
        small = []
        for code, name in enumerate(labels.classes.tolist()):
            rows = points.distinct(np.flatnonzero(labels.codes == code))
            if len(rows) < points.plan.least_points_for_spread:
                small.append(f"{name!r} ({len(rows)})")
                continue
            growth = points.growth(rows, progress, f"graph lengths of class {name}")
            found[code] = self._dimension(growth, points.plan)
        if small:
            warn_user(
                f"Classes with fewer than {points.plan.least_points_for_spread} distinct rows "
                f"have no dimension (NaN): {', '.join(small)}. Lower n_neighbors="
                f"{points.plan.n_neighbors} or label more rows.",
                FewNeighborsWarning,
            )
        return found

    def _around_points(self, index: NeighborIndex, growth: Growth, plan: GrowthPlan) -> Array:
        """Return the dimension in the neighborhood of each point, itself included."""
        size = min(int(self.local_size or 0), index.n_points)
        near = index.neighbors(size - 1)
        sums = with_values(near, np.ones(near.nnz)) @ growth.of_points.T
        lengths = growth.of_points.T + sums
        slopes = log_slope(growth.sizes, np.log(growth.sizes * lengths))
        return dimension_of_slope(slopes, growth.sizes, plan, calibrate=self.calibrate)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric != "precomputed"
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def largest_class_dimension(X: Any, y: ArrayLike, **parameters: Any) -> int:
    """Return the largest dimension of a class, rounded to a whole number of at least 1.

    CCDR-MC section V.D takes one more as the number of components of the embedding.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels; -1, None, NaN and pandas.NA are unlabeled.
    **parameters : dict
        Parameters of :class:`IntrinsicDimension`.

    Returns
    -------
    int
        The largest of ``class_dimensions_``, without those that are NaN.

    Examples
    --------
    >>> from labelfold.datasets import make_swiss_roll
    >>> from labelfold.graph import largest_class_dimension
    >>> X, y, _ = make_swiss_roll(500, random_state=0)
    >>> largest_class_dimension(X, y, random_state=0)
    2
    """
    model = IntrinsicDimension(**parameters)
    X = model._check_rows(X)
    labels = PartialLabels.some_from_y(y, n_samples=X.shape[0])
    with limit_threads(model._n_threads(X)), show_progress(model.verbose) as progress:
        dimensions = model._of_classes(model._points(X), labels, progress)[:, 0]
    known = dimensions[~np.isnan(dimensions)]
    if len(known) == 0 or np.isinf(known).any():
        raise InputError(
            f"The classes {labels.classes.tolist()} have the dimensions {dimensions.tolist()}, "
            "which have no largest: label more rows, lower n_neighbors, or use other features."
        )
    return max(1, round(float(known.max())))


@dataclass(frozen=True, eq=False)
class _Points:
    """Indexed points with what is needed to measure graphs on some of them."""

    index: NeighborIndex
    groups: Numbers  # of equal rows, numbered in order of appearance
    plan: GrowthPlan
    seed: int

    def distinct(self, rows: Numbers) -> Numbers:
        """Return the first of each group of equal rows, in order."""
        first = np.unique(self.groups[rows], return_index=True)[1]
        return rows[np.sort(first)]

    def among(self, rows: Numbers) -> NeighborIndex:
        """Return the index of some rows."""
        return self.index if len(rows) == len(self.groups) else self.index.among(rows)

    def growth(self, rows: Numbers, progress: Progress, stage: str) -> Growth:
        """Measure the graphs on samples of some rows, from the same seed for all."""
        return measure_growth(
            self.among(rows), self.plan, seed=self.seed, progress=progress, stage=stage
        )


def _equal_by_entries(X: Any) -> Numbers:
    """Number the groups of equal rows."""
    rows = X
    if sp.issparse(X):  # equal rows may be stored in different ways
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return number_equal_rows(rows)


def _equal_by_distance(index: NeighborIndex) -> Numbers:
    """Number the groups of points at distance 0; among equally near ones the first is nearest."""
    nearest = index.neighbors(1)
    own = np.arange(index.n_points)
    first = np.where(nearest.data == 0, np.minimum(nearest.indices, own), own)
    return np.asarray(np.unique(first, return_inverse=True)[1], dtype=np.intp)
