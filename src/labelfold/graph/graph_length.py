"""Lengths of k-nearest-neighbor graphs: how they grow with the points, and what that shows.

The length of the graph on n points is ::

    L(n) = sum_i sum_(j among the k nearest of i) d(i, j)^edge_power

For points drawn from a density f on a manifold of dimension m it tends to ``beta n^a int f^a``
with ``a = (m - edge_power) / m`` (Costa and Hero 2004): the slope of log L over log n gives the
dimension, and the height of the line the Renyi entropy of order a.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import betaincinv, gammaln

from labelfold.exceptions import InputError
from labelfold.graph.precomputed import NeighborIndex
from labelfold.progress import Progress, report_nothing

__all__ = [
    "Growth",
    "GrowthPlan",
    "dimension_of_slope",
    "entropy_of_length",
    "flat_log_length",
    "graph_lengths",
    "log_slope",
    "measure_growth",
    "sphere_log_length",
]

Array = NDArray[np.float64]

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(32)
# Dimensions of the spheres to compare with. Below the first the law of flat space holds; above the
# last, chords of spheres hardly shrink as points are added.
SPHERES = np.geomspace(0.5, 256.0, 28)


@dataclass(frozen=True)
class GrowthPlan:
    """How lengths are measured; see :class:`~labelfold.IntrinsicDimension` for the parameters."""

    n_neighbors: int
    edge_power: float
    n_sizes: int
    n_resamples: int
    max_size: int

    @property
    def least_points(self) -> int:
        """Number of points that a slope needs: two sizes, each with k neighbors."""
        return 2 * (self.n_neighbors + 1)

    @property
    def least_points_for_spread(self) -> int:
        """Number of points that the standard error of the slope needs."""
        return 2 * self.least_points

    def depths(self, n_points: int) -> list[int]:
        """Return how often the points are halved, for every size; one halving is a spare.

        Without room for the spare the list has two entries.
        """
        deepest = int(np.log2(n_points / (self.n_neighbors + 1)) + 1e-9)
        first = max(0, int(np.ceil(np.log2(n_points / self.max_size))))
        return list(range(first, min(first + self.n_sizes, deepest) + 1))


@dataclass(frozen=True, eq=False)
class Growth:
    """Lengths of the graphs on subsamples of decreasing size."""

    sizes: Array  # mean number of points of a subsample, each half the one before
    log_lengths: Array  # logarithm of the mean length of the graphs on subsamples of that size
    slope: float  # of the least-squares line of log_lengths over log sizes
    spread: float  # standard error of the slope; NaN for too few points
    of_points: Array  # (n_sizes, n_points): their parts of the length, mean over the resamples


def measure_growth(
    index: NeighborIndex,
    plan: GrowthPlan,
    *,
    seed: int,
    progress: Progress = report_nothing,
    stage: str = "graph lengths",
) -> Growth:
    """Split the points into halves, quarters, ... at random, and measure the graphs on the parts.

    Every resample splits all points, so that each size sees every point. The first two halves are
    independent samples with half the points each: half the difference of their own slopes, from
    halves down, varies as the slope of all points does, and a little more, since one split's parts
    are not averaged over splits.
    """
    n, depths = index.n_points, plan.depths(index.n_points)
    rng = np.random.default_rng(seed)
    unit = _typical_distance(index)
    lengths = np.empty((plan.n_resamples, len(depths), n))
    in_first_half = np.zeros((plan.n_resamples, n), dtype=bool)
    if depths[0] == 0:
        lengths[:, 0] = graph_lengths(index, plan.n_neighbors, plan.edge_power, unit=unit)
    for resample in range(plan.n_resamples):
        progress(stage, resample, plan.n_resamples)
        parts = [rng.permutation(n)]
        for depth in range(1, depths[-1] + 1):
            parts = [half for part in parts for half in np.array_split(part, 2)]
            if depth == 1:
                in_first_half[resample, parts[0]] = True
            if depth in depths:
                for part in parts:
                    lengths[resample, depth - depths[0], part] = graph_lengths(
                        index.among(part), plan.n_neighbors, plan.edge_power, unit=unit
                    )
    progress(stage, plan.n_resamples, plan.n_resamples)
    has_spare = len(depths) > 2
    sizes = n / 2.0 ** np.array(depths[:-1] if has_spare else depths)
    of_points = lengths[:, : len(sizes)].mean(axis=0)
    logs = np.log(sizes * of_points.mean(axis=1))
    return Growth(
        sizes=sizes,
        log_lengths=logs + plan.edge_power * np.log(unit),
        slope=float(log_slope(sizes, logs)),
        spread=_spread_of_halves(lengths, in_first_half, sizes) if has_spare else float("nan"),
        of_points=of_points,
    )


def graph_lengths(
    index: NeighborIndex, n_neighbors: int, edge_power: float, *, unit: float = 1.0
) -> Array:
    """Return every point's part of the length: the sum of d^edge_power over its own nearest."""
    lengths = index.neighbors(n_neighbors).data / unit
    return np.asarray((lengths**edge_power).reshape(-1, n_neighbors).sum(axis=1))


def log_slope(sizes: Array, log_lengths: Array) -> Array:
    """Return the slope of the least-squares line over log size, along the last axis."""
    x = np.log(sizes) - np.log(sizes).mean()
    return np.asarray(log_lengths @ x / (x @ x))


def dimension_of_slope(slopes: Array, sizes: Array, plan: GrowthPlan, *, calibrate: bool) -> Array:
    """Return the dimension m at which lengths grow with these slopes, infinite for 1 and more.

    Without calibration it is ``edge_power / (1 - slope)``; with it, the dimension of the sphere
    whose expected lengths at these sizes have that slope.
    """
    flat = np.full(slopes.shape, np.inf)
    finite = ~(slopes >= 1)  # NaN stays NaN
    flat[finite] = plan.edge_power / (1 - slopes[finite])
    if not calibrate:
        return flat
    seen, factors = _sphere_table(tuple(sizes.tolist()), plan.n_neighbors, plan.edge_power)
    logs = np.log(flat)
    factor = PchipInterpolator(seen, factors)(np.clip(logs, seen[0], seen[-1]))
    return np.where(logs > seen[-1], np.inf, flat * factor)


def entropy_of_length(
    dimension: float, growth: Growth, plan: GrowthPlan, *, calibrate: bool
) -> float:
    """Return the Renyi entropy from the length at the largest size, for a whole dimension.

    A length that exceeds that of a uniform density on the volume V by the factor
    ``exp((edge_power / m) h)`` has the entropy ``h + log V``. With calibration V is the unit
    sphere, without it the unit of volume.
    """
    if not np.isfinite(dimension):
        return float("nan")
    m = max(1, round(dimension))
    size = float(growth.sizes[0])
    if calibrate:
        uniform = sphere_log_length(m, size, plan.n_neighbors, plan.edge_power)
        log_volume = np.log(2) + (m + 1) / 2 * np.log(np.pi) - gammaln((m + 1) / 2)
    else:
        uniform, log_volume = flat_log_length(m, size, plan.n_neighbors, plan.edge_power), 0.0
    return float(m / plan.edge_power * (growth.log_lengths[0] - uniform) + log_volume)


def flat_log_length(dimension: float, size: float, n_neighbors: int, edge_power: float) -> float:
    """Return log (beta n^a): the length for a uniform density on unit volume without borders.

    With p = edge_power, ``beta = V_m^(-p/m) sum_(j <= k) Gamma(j + p/m) / Gamma(j)`` and V_m the
    volume of the unit ball, since the volume up to the j-th neighbor has a Gamma(j) distribution.
    """
    share = edge_power / dimension
    log_ball = dimension / 2 * np.log(np.pi) - gammaln(dimension / 2 + 1)
    k = n_neighbors
    log_sum = gammaln(k + 1 + share) - gammaln(k) - np.log1p(share)  # the sum telescopes
    return float(log_sum - share * log_ball + (1 - share) * np.log(size))


def sphere_log_length(dimension: float, size: float, n_neighbors: int, edge_power: float) -> float:
    """Return the logarithm of the expected length for n uniform points on the unit sphere S^m.

    A quarter of the squared chord to another point has a Beta(m/2, m/2) distribution, and the
    share of the sphere up to the j-th of n - 1 points is Beta(j, n - j): the expectation is an
    integral over the latter's quantiles. A dimension need not be whole.
    """
    j = np.arange(1, n_neighbors + 1)[:, None]
    shares = betaincinv(j, size - j, (NODES + 1) / 2)
    chords = 2 * np.sqrt(betaincinv(dimension / 2, dimension / 2, shares))
    return float(np.log(size * np.sum(chords**edge_power @ (NODE_WEIGHTS / 2))))


@lru_cache(maxsize=64)
def _sphere_table(
    sizes: tuple[float, ...], n_neighbors: int, edge_power: float
) -> tuple[Array, Array]:
    """Return log (edge_power / (1 - slope)) of spheres, ascending, and factors to dimensions."""
    logs = np.array(
        [[sphere_log_length(m, size, n_neighbors, edge_power) for size in sizes] for m in SPHERES]
    )
    flat = edge_power / (1 - log_slope(np.array(sizes), logs))
    return np.log(flat), SPHERES / flat


def _spread_of_halves(lengths: Array, in_first_half: NDArray[np.bool_], sizes: Array) -> float:
    """Return the root mean square of half the difference between the slopes of two halves."""
    differences = []
    for of_points, first in zip(lengths[:, 1:], in_first_half, strict=True):
        ours, theirs = of_points[:, first].mean(axis=1), of_points[:, ~first].mean(axis=1)
        differences.append(log_slope(sizes, np.log(ours / theirs)))
    return float(np.sqrt(np.mean(np.square(differences)))) / 2


def _typical_distance(index: NeighborIndex) -> float:
    """Return some neighbors' distance, as a unit in which powers neither overflow nor vanish."""
    some = index.among(np.arange(min(index.n_points, 100)))
    typical = float(some.neighbors(1).data.max())
    if typical == 0:
        raise InputError(
            f"The first {some.n_points} distinct rows are at distance 0 from each other, which "
            "leaves no dimension to estimate: use another metric."
        )
    return typical
