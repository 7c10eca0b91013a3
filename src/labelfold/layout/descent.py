"""The descent of a layout, by openTSNE: points attract along edges and repel each other.

The objective is t-SNE's with exaggerated attraction (Boehm, Berens and Kobak, JMLR 2022): minimize
KL(P || Q) with P multiplied by the exaggeration, where q_ij ~ 1 / (1 + |y_i - y_j|^2).
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.progress import Progress

__all__ = ["MISSING", "Descent", "is_available"]

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


class Descent:
    """Descent on the objective of one set of affinities.

    Parameters
    ----------
    affinities : csr_matrix of shape (n, n)
        P; not changed.
    exaggeration : float
        Factor on attraction.
    n_threads : int
        Number of threads, which do not change the result.
    progress : Progress
        Called every ten steps.
    """

    def __init__(
        self, affinities: sp.csr_matrix, exaggeration: float, n_threads: int, progress: Progress
    ) -> None:
        self._affinities, self._exaggeration = affinities, exaggeration
        self._n_threads, self._progress = n_threads, progress

    def unfold(self, start: Array) -> Array:
        """Return the layout from a start of any scale: strong attraction first."""
        start = start - start.mean(axis=0)
        deviation = float(start[:, 0].std()) or 1.0
        embedding = self._embedding(start / deviation * 1e-4)
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

        objective = (
            tsne.kl_divergence_bh if self._uses_tree(coordinates) else tsne.kl_divergence_fft
        )
        settings: dict[str, Any] = {
            "dof": 1,
            "bh_params": {"theta": THETA},
            "fft_params": {**INTERPOLATION, "ints_in_interval": 1},
            "n_jobs": self._n_threads,
        }
        once, twice = (
            objective(coordinates, factor * self._exaggeration * self._affinities, **settings)[1]
            for factor in (1, 2)
        )
        divergence, _ = objective(coordinates, self._affinities, should_eval_error=True, **settings)
        attraction = float(np.linalg.norm(twice - once)) or 1.0
        return float(divergence), float(np.linalg.norm(once)) / attraction

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
            n_jobs=self._n_threads,
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
