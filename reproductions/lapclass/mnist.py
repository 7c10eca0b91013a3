"""MNIST's training images as the paper takes them: 100 principal components of all 60,000."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from reproductions.data import load_mnist
from reproductions.lapclass.points import Points

__all__ = ["mnist"]

N_COMPONENTS = 100
SHARED, GROUP = 10_000, 5  # four different subsets of 10,000 in 20 draws


@lru_cache(maxsize=1)
def mnist(data_home: Path | None) -> Points:
    """Return all training images, projected."""
    X, y = load_mnist("train", data_home=data_home)
    projection = PCA(N_COMPONENTS, svd_solver="covariance_eigh")
    return Points(projection.fit_transform(X.astype(np.float64)), y, shared=SHARED, group=GROUP)
