"""The descent of a layout, by openTSNE: points attract along edges and repel each other.

The objective is t-SNE's with exaggerated attraction (Boehm, Berens and Kobak, JMLR 2022): minimize
KL(P || Q) with P multiplied by the exaggeration, where q_ij ~ 1 / (1 + |y_i - y_j|^2). With W the
edge weights,

    B = W / row sums,  P = (B + B^T) / 2n,

so that every point is drawn to its neighbors with the same total force.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.adjacency import row_numbers, with_values
from labelfold.progress import Progress
from labelfold.threads import thread_limit

__all__ = ["MISSING", "Descent", "is_available", "to_affinities"]

Array = NDArray[np.float64]

MISSING = (
    'openTSNE, which computes layouts, is not installed: pip install "labelfold[app]". It has no '
    "wheel for Linux on ARM."
)
FEW_POINTS = 5000  # up to which a tree is quicker than interpolation on a grid
EARLY_EXAGGERATION, EARLY_STEPS, STEPS = 12.0, 100, 250
MOMENTUM = 0.8
REPORT_EVERY = 10
THETA, INTERPOLATION = 0.5, {"n_interpolation_points": 3, "min_num_intervals": 50}


def is_available() -> bool:
    """Return whether openTSNE is installed."""
    return find_spec("openTSNE") is not None


def to_affinities(weights: sp.csr_array) -> sp.csr_matrix:
    """Return P, whose sum is 1, in the precision of float32.

    Distances of rotated or scaled rows differ in their last digits, and descent would let such
    differences grow into another picture.
    """
    sums = np.asarray(weights.sum(axis=1))
    directed = with_values(weights, weights.data / sums[row_numbers(weights)])
    both = sp.csr_matrix(directed + directed.T)
    both.sort_indices()
    both.data = (both.data / (2 * weights.shape[0])).astype(np.float32).astype(np.float64)
    return both


class Descent:
    """Descent on the objective of one graph; threads do not change the result.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        Edge weights.
    exaggeration : float
        Factor on attraction.
    progress : Progress
        Called every ten steps.
    """

    def __init__(self, weights: sp.csr_array, exaggeration: float, progress: Progress) -> None:
        self._affinities, self._exaggeration = to_affinities(weights), exaggeration
        self._progress = progress

    def unfold(self, start: Array) -> Array:
        """Return the layout from a start of any scale: strong attraction first."""
        start = start - start.mean(axis=0)
        embedding = self._embedding(start / (float(start[:, 0].std()) or 1.0) * 1e-4)
        self._run(embedding, EARLY_STEPS, EARLY_EXAGGERATION, "unfolding")
        self._run(embedding, STEPS, self._exaggeration, "layout")
        return np.array(embedding, dtype=float)

    def relax(self, coordinates: Array, n_steps: int) -> Array:
        """Return the layout after a few steps from coordinates of its own scale."""
        embedding = self._embedding(coordinates)
        self._run(embedding, n_steps, self._exaggeration, "layout")
        return np.array(embedding, dtype=float)

    def evaluate(self, coordinates: Array) -> tuple[float, float]:
        """Return KL(P || Q), and the gradient's norm relative to that of its attractive part.

        The gradient is linear in the exaggeration, so two of them give the attractive part.
        """
        from openTSNE import tsne

        by_tree = self._uses_tree(coordinates)
        objective = tsne.kl_divergence_bh if by_tree else tsne.kl_divergence_fft
        settings: dict[str, Any] = {
            "dof": 1,
            "bh_params": {"theta": THETA},
            "fft_params": {**INTERPOLATION, "ints_in_interval": 1},
            "n_jobs": thread_limit(),
        }
        divergence, plain = objective(
            coordinates, self._affinities, should_eval_error=True, **settings
        )
        _, exaggerated = objective(
            coordinates, (1 + self._exaggeration) * self._affinities, **settings
        )
        attraction = exaggerated - plain
        gradient = exaggerated - attraction / self._exaggeration
        scale = float(np.linalg.norm(attraction)) or 1.0
        return float(divergence), float(np.linalg.norm(gradient)) / scale

    def _embedding(self, coordinates: Array) -> Any:
        from openTSNE import TSNEEmbedding
        from openTSNE.affinity import PrecomputedAffinities

        return TSNEEmbedding(
            np.ascontiguousarray(coordinates, dtype=float).copy(),
            # A copy, since the optimizer multiplies it by the exaggeration and divides again.
            PrecomputedAffinities(self._affinities.copy(), normalize=False),
            negative_gradient_method="bh" if self._uses_tree(coordinates) else "fft",
            theta=THETA,
            **INTERPOLATION,
            n_jobs=thread_limit(),
        )

    def _run(self, embedding: Any, n_steps: int, exaggeration: float, stage: str) -> None:
        def report(step: int, error: float, _: Array) -> None:
            self._progress(stage, step, n_steps, note=f"divergence {error:.3f}")

        embedding.optimize(
            n_steps,
            exaggeration=exaggeration,
            momentum=MOMENTUM,
            learning_rate="auto",
            max_step_norm=5,
            inplace=True,
            callbacks=[report],
            callbacks_every_iters=REPORT_EVERY,
        )

    def _uses_tree(self, coordinates: Array) -> bool:
        return len(coordinates) < FEW_POINTS or coordinates.shape[1] > 2
