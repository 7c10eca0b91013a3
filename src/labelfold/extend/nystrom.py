"""New rows in a spectral embedding: the eigenvector equation, read as a formula for one more row.

Row i of G v = (1 - lambda) D v gives v_i from its neighbors; the same expression with a new row's
weights is its coordinate (CCDR-MC eq. 17-19 and 37). Fed with row i of the graph itself it
returns v_i, to the residual of the solve over |1 - lambda|.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["extend_by_degree", "extend_unnormalized"]

Array = NDArray[np.float64]

LEAST_FACTOR = 1e-8  # instead of |1 - lambda| = 0, where neighbors say nothing about a coordinate
LEAST_SHARE = 0.1  # instead of 1 - lambda / d(x), which may vanish or change sign


def extend_by_degree(
    weights: sp.csr_array,
    embedding: Array,
    eigenvalues: Array,
    *,
    anchors: Array | None = None,
    anchor_weights: Array | None = None,
) -> Array:
    """Return coordinates for L v = lambda D v.

    ::

        f(x) = (a z + sum_j w_j y_j) / ((1 - lambda) (a + sum_j w_j))

    A common factor of a row's weights cancels.

    Parameters
    ----------
    weights : csr_array of shape (n_new, n_samples)
        w_j, times beta for CCDR.
    embedding : ndarray of shape (n_samples, n_components)
        y_j.
    eigenvalues : ndarray of shape (n_components,)
        lambda.
    anchors : ndarray of shape (n_new, n_components), default=None
        z: the center of each new row's class.
    anchor_weights : ndarray of shape (n_new,), default=None
        a: the weight of a labeled row's edge to its class node; 0 for an unlabeled row.
    """
    total = np.asarray(weights @ embedding)
    degree = np.asarray(weights.sum(axis=1), dtype=float)
    if anchors is not None and anchor_weights is not None:
        total = total + anchor_weights[:, None] * anchors
        degree = degree + anchor_weights
    factor = 1 - eigenvalues
    factor = np.where(factor < 0, -1.0, 1.0) * np.maximum(np.abs(factor), LEAST_FACTOR)
    return np.asarray(total / degree[:, None] / factor)


def extend_unnormalized(
    relative_weights: sp.csr_array,
    degrees: Array,
    embedding: Array,
    eigenvalues: Array,
    *,
    least_share: float = LEAST_SHARE,
) -> Array:
    """Return coordinates for L e = lambda e: e(x) = sum_j w_j e_j / (d(x) - lambda).

    Written as the neighbors' mean over 1 - lambda / d(x), which is kept at ``least_share`` or
    above: far from the data d(x) falls below lambda, where the formula blows up and then changes
    sign. With d(x) = 1 it is the extension for L v = lambda D v.

    Parameters
    ----------
    relative_weights : csr_array of shape (n_new, n_samples)
        w_j, up to a factor for each row.
    degrees : ndarray of shape (n_new,)
        d(x), the sum of the weights themselves.
    embedding : ndarray of shape (n_samples, n_components)
        e_j.
    eigenvalues : ndarray of shape (n_components,)
        lambda.
    least_share : float, default=0.1
        Instead of a smaller 1 - lambda / d(x).
    """
    sums = np.asarray(relative_weights.sum(axis=1), dtype=float)
    mean = np.asarray(relative_weights @ embedding) / sums[:, None]
    share = 1 - eigenvalues / degrees[:, None]
    return np.asarray(mean / np.maximum(share, least_share))
