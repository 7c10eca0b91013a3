"""Heat on a graph: values of rows spread along its edges, over regions as small or large as asked.

With S = D^(-1/2) W D^(-1/2), W the weights and D the degrees, heat that flows for a time t has the
kernel H_t = exp(-t (I - S)). Since the spectrum of S lies in [-1, 1],

    H_t = e^(-t) (I_0(t) + 2 sum_k I_k(t) T_k(S)),

with Bessel functions I_k and Chebyshev polynomials T_k: about sqrt(30 t) products with S, where a
walk would take t steps. The trace of H_t is the number of regions that are still distinct: n at
first, the number of connected components in the end.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import ive

__all__ = ["HeatDiffusion"]

Array = NDArray[np.float64]

TOLERANCE = 1e-4  # of the kernel's largest entry
N_PROBES = 4  # random signs that estimate a trace
FIRST_TIME, LAST_TIME = 1.0, 512.0


class HeatDiffusion:
    """Spreads values of rows over a graph.

    Parameters
    ----------
    adjacency : csr_array of shape (n_samples, n_samples)
        Symmetric edge weights.
    """

    def __init__(self, adjacency: sp.csr_array) -> None:
        degrees = np.asarray(adjacency.sum(axis=1), dtype=float)
        alone = degrees == 0
        roots = 1 / np.sqrt(np.where(alone, 1, degrees))
        scaled = adjacency.multiply(roots[:, None]).multiply(roots)
        # Heat stays where there is no edge.
        self._matrix = sp.csr_array(scaled + sp.diags_array(alone.astype(float)))
        self._times: list[float] = []
        self._traces: list[float] = []
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(degrees), N_PROBES))
        self._probes: Array = signs

    def spread(self, values: Array, time: float) -> Array:
        """Return H_t times a vector or a block of vectors."""
        orders = np.arange(2 + int(np.sqrt(30 * time) + 20))
        terms = ive(orders, time)
        terms[1:] *= 2
        terms = terms[: max(2, 1 + int(np.flatnonzero(terms > TOLERANCE * terms.max())[-1]))]
        before, now = values, self._matrix @ values
        total = terms[0] * before + terms[1] * now
        for term in terms[2:]:
            before, now = now, 2 * (self._matrix @ now) - before
            total += term * now
        return np.asarray(total)

    def time_of(self, n_regions: float) -> tuple[float, float]:
        """Return the time after which about so many regions are distinct, and their number.

        It lies between 1 and 512; the number returned is that of the time returned.
        """
        while not self._traces or (self._traces[-1] > n_regions and self._times[-1] < LAST_TIME):
            self._double()
        logs = -np.log(self._traces)
        time = np.exp(np.interp(-np.log(n_regions), logs, np.log(self._times)))
        return float(time), float(np.exp(-np.interp(np.log(time), np.log(self._times), logs)))

    def _double(self) -> None:
        """Add the next time: trace H_t = E |H_(t/2) z|^2 for random signs z."""
        last = self._times[-1] if self._times else 0.0
        time = 2 * last or FIRST_TIME
        self._probes = self.spread(self._probes, (time - last) / 2)
        trace = float(np.mean(np.sum(self._probes**2, axis=0)))
        # Rounding apart, a trace falls with time: interpolation needs it to.
        self._traces.append(min([trace, *self._traces]))
        self._times.append(time)
