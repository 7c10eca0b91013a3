"""Intervals for figures from splits and draws, by default at the 80 % of the papers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

from scipy import stats

from labelfold.exceptions import InputError

__all__ = ["LEVEL", "student_interval", "wilson_interval"]

LEVEL = 0.8
LARGEST = 1e150  # whose square is a number


def student_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """Return Student's interval mean -+ t(n - 1) s / sqrt(n).

    Parameters
    ----------
    values : sequence of float
        Two values or more.
    level : float, default=0.8
        Probability that the interval covers the mean.

    Returns
    -------
    low, high : float
        Ends of the interval.
    """
    n = len(values)
    if n < 2:
        raise InputError(f"An interval takes two values or more, got {n}.")
    if not all(-LARGEST <= value <= LARGEST for value in values):
        raise InputError(f"values={values!r} must be numbers from {-LARGEST:g} to {LARGEST:g}.")
    mean = math.fsum(values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * math.sqrt(variance / n)
    return mean - half, mean + half


def wilson_interval(share: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's interval: every p that has the share within z standard deviations.

    Parameters
    ----------
    share : float
        Share of the trials, from 0 to 1.
    n : float
        Number of trials.
    level : float, default=0.8
        Probability that the interval covers p.

    Returns
    -------
    low, high : float
        Ends of the interval.
    """
    if not (isinstance(share, Real) and 0 <= share <= 1):
        raise InputError(f"share={share!r} must be a number, at least 0 and at most 1.")
    if not (isinstance(n, Real) and 0 < n < math.inf):
        raise InputError(f"n={n!r} must be a number, finite and greater than 0.")
    z = float(stats.norm.ppf((1 + level) / 2))
    center = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, center - half), min(1.0, center + half)
