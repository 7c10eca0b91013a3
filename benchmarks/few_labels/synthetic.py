"""Synthetic sets: from a seed to rows and classes, with an error that no method can beat.

Every function returns rows (float64) and classes (int64); the seed is fixed, so the rows are the
same in every run and only the draw of labels is random.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]
SEED = 0


def make_gauss3() -> Rows:
    """Three unit Gaussians in 10 dimensions that overlap: means 1.8 along their own axes."""
    rng = np.random.default_rng(SEED)
    y = np.repeat(np.arange(3), 500)
    X = rng.standard_normal((1500, 10))
    X[np.arange(1500), y] += 1.8
    return X, y


def make_gauss2h() -> Rows:
    """Two unit Gaussians in 100 dimensions, apart on the first axis only, at -1.5 and 1.5."""
    rng = np.random.default_rng(SEED)
    y = np.repeat(np.arange(2), 750)
    X = rng.standard_normal((1500, 100))
    X[:, 0] += np.where(y == 1, 1.5, -1.5)
    return X, y


def make_gauss4c() -> Rows:
    """Four clusters at +-2.2 on two axes of 60; opposite corners are one class."""
    rng = np.random.default_rng(SEED)
    right, top = np.divmod(np.repeat(np.arange(4), 375), 2)
    X = rng.standard_normal((1500, 60))
    X[:, 0] += 2.2 * (2 * right - 1)
    X[:, 1] += 2.2 * (2 * top - 1)
    return X, right ^ top


def make_linear() -> Rows:
    """A noisy linear rule on 60 whitened features, whose scales decay like 1 / sqrt(1 + j).

    No cluster shows the classes. The noise is 0.3 of the rule's spread, so the best error is
    arctan(0.3) / pi = 9.3 %.
    """
    rng = np.random.default_rng(SEED)
    white = rng.standard_normal((800, 60))
    rule = rng.standard_normal(60)
    noise = 0.3 * np.linalg.norm(rule) * rng.standard_normal(800)
    return white / np.sqrt(1 + np.arange(60)), (white @ rule + noise > 0).astype(np.int64)


def make_two_moons() -> Rows:
    """Two moons of 1,000 rows with noise of 0.12, and five columns of noise of 0.1."""
    X, y = make_moons(2000, noise=0.12, random_state=SEED)
    noise = np.random.default_rng(SEED).normal(scale=0.1, size=(2000, 5))
    return np.hstack([X, noise]), y.astype(np.int64)


def make_unbgauss() -> Rows:
    """One Gaussian in 5 dimensions, a tenth of whose 2,000 rows is shifted by 3 on one axis."""
    rng = np.random.default_rng(SEED)
    y = np.repeat([0, 1], [1800, 200])
    X = rng.standard_normal((2000, 5))
    X[:, 0] += 3 * y
    return X, y


def make_blobs() -> Rows:
    """Three separate unit Gaussians in the plane, 200 rows each, with centers 8 apart.

    A graph of 8 neighbors joins two of them by a few edges.
    """
    rng = np.random.default_rng(SEED)
    y = np.repeat(np.arange(3), 200)
    angles = 2 * np.pi * y / 3
    centers = 8 / np.sqrt(3) * np.column_stack([np.cos(angles), np.sin(angles)])
    return centers + rng.standard_normal((600, 2)), y
