"""All compiled kernels: plain loops here, machine code by numba at first use.

Kernels are serial and release the interpreter lock. Threads work on ranges of rows, bars or points,
whose results do not depend on where a range ends, so they have the same bits for any number. No
thread pool outlives a call, since a forked process could not use it. numba is imported with the
first kernel, and its code is cached on disk.

:func:`recurrence_step` serves the eigensolver; the others are passes over the bars of the low-rank
solver (:mod:`labelfold.solvers.lowrank`). A bar e = (i, j) has a force t and a stiffness s, and
q = |r_i - r_j|^2. Along R + a P, q goes to q + a b + a^2 c with b = 2 (r_i - r_j).(p_i - p_j) and
c = |p_i - p_j|^2, and the force to t + s (a b + a^2 c). A rope has the force max(t, 0).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

__all__ = [
    "advance",
    "compiled",
    "pull",
    "recall",
    "recurrence_step",
    "restore",
    "rope_slope",
    "trace",
]


@cache
def compiled(kernel: Callable[..., Any]) -> Any:
    """Return a kernel as machine code, cached on disk between runs if possible."""
    import numba

    try:
        return numba.njit(nogil=True, cache=True)(kernel)
    except RuntimeError:  # neither the package's directory nor the user's cache can be written
        return numba.njit(nogil=True)(kernel)


def recurrence_step(
    indptr: Any,
    indices: Any,
    data: Any,
    s: Any,
    diagonal: Any,
    X: Any,
    Y: Any,
    a: float,
    b: float,
    c: float,
    first: int,
    last: int,
) -> None:
    """Overwrite a range of rows of Y with those of a (S W S + diag(diagonal)) X + b X + c Y.

    W is in compressed rows, S = diag(s), and X is not Y. Factors are float64, sums have the type of
    X and Y.

    SciPy's product holds the interpreter lock, each addition would be another pass over memory, and
    so would a scaled copy of W.
    """
    n_columns = X.shape[1]
    number = X.dtype.type
    before = number(c)
    total = np.empty(n_columns, X.dtype)
    for i in range(first, last):
        own = number(a * diagonal[i] + b)
        for t in range(n_columns):
            total[t] = before * Y[i, t] + own * X[i, t]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            weight = number(a * (s[i] * data[k] * s[j]))
            for t in range(n_columns):
                total[t] += weight * X[j, t]
        for t in range(n_columns):
            Y[i, t] = total[t]


def trace(
    R: Any, P: Any, ends: Any, t: Any, s: Any, b: Any, c: Any, sums: Any, first: int, last: int
) -> None:
    """Fill in b and c of a range, and in sums the coefficients of its energy as a polynomial in a.

    The energy of a bar is t^2 / (2 s), which changes by t x + s x^2 / 2 for x = a b + a^2 c.
    """
    rank = R.shape[1]
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    s4 = 0.0
    for e in range(first, last):
        i = ends[e, 0]
        j = ends[e, 1]
        be = 0.0
        ce = 0.0
        for k in range(rank):
            p = P[i, k] - P[j, k]
            be += (R[i, k] - R[j, k]) * p
            ce += p * p
        be *= 2
        b[e] = be
        c[e] = ce
        s1 += t[e] * be
        s2 += t[e] * ce + 0.5 * s[e] * be * be
        s3 += s[e] * be * ce
        s4 += 0.5 * s[e] * ce * ce
    sums[0] = s1
    sums[1] = s2
    sums[2] = s3
    sums[3] = s4


def advance(t: Any, s: Any, b: Any, c: Any, a: float, first: int, last: int) -> None:
    """Move the forces of a range by a step a."""
    for e in range(first, last):
        t[e] += s[e] * a * (b[e] + a * c[e])


def pull(
    R: Any,
    indptr: Any,
    others: Any,
    bars: Any,
    t: Any,
    first_rope: int,
    last_rope: int,
    masses: Any,
    mean: Any,
    G: Any,
    first: int,
    last: int,
) -> None:
    """Fill in a range of G = 2 (L(t) - diag(masses)) (R - mean), with t >= 0 on ropes."""
    rank = R.shape[1]
    for i in range(first, last):
        for k in range(rank):
            G[i, k] = -2 * masses[i] * (R[i, k] - mean[k])
        for x in range(indptr[i], indptr[i + 1]):
            e = bars[x]
            j = others[x]
            force = 2 * t[e]
            if force < 0 and first_rope <= e < last_rope:
                continue
            for k in range(rank):
                G[i, k] += force * (R[i, k] - R[j, k])


def rope_slope(t: Any, s: Any, b: Any, c: Any, a: float, first: int, last: int) -> float:
    """Return the derivative in a of the energy of a range of ropes."""
    slope = 0.0
    for e in range(first, last):
        force = t[e] + s[e] * a * (b[e] + a * c[e])
        if force > 0:
            slope += force * (b[e] + 2 * a * c[e])
    return slope


def recall(S: Any, Y: Any, rho: Any, order: Any, q: Any, shares: Any) -> None:
    """First loop of L-BFGS: take the remembered steps out of q, latest first."""
    for x in range(len(order) - 1, -1, -1):
        m = order[x]
        share = 0.0
        for k in range(len(q)):
            share += S[m, k] * q[k]
        share *= rho[m]
        shares[m] = share
        for k in range(len(q)):
            q[k] -= share * Y[m, k]


def restore(S: Any, Y: Any, rho: Any, order: Any, q: Any, shares: Any) -> None:
    """Second loop of L-BFGS: put the remembered steps back, earliest first."""
    for x in range(len(order)):
        m = order[x]
        share = 0.0
        for k in range(len(q)):
            share += Y[m, k] * q[k]
        share = shares[m] - rho[m] * share
        for k in range(len(q)):
            q[k] += share * S[m, k]
