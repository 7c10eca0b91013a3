"""Intervals for the figures that splits and draws give, at the 80 % that the papers have."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy import stats

__all__ = ["LEVEL", "student_interval", "wilson_interval"]

LEVEL = 0.8


def student_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return mean -+ t(n - 1) s / sqrt(n), for two values or more."""
    n = len(values)
    mean = math.fsum(values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    half = float(stats.t.ppf((1 + LEVEL) / 2, n - 1)) * math.sqrt(variance / n)
    return mean - half, mean + half


def wilson_interval(share: float, n: int) -> tuple[float, float]:
    """Return the p for which the share observed in n trials is within z standard deviations."""
    z = float(stats.norm.ppf((1 + LEVEL) / 2))
    center = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, center - half), min(1.0, center + half)
