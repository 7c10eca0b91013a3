"""Evidence for a layout: how far descent has come, and what the labels did to the picture.

Neighbors in the picture are looked at for all rows, or for 20,000 evenly spread ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import row_numbers
from labelfold.methods import stored

__all__ = ["LabelEffect", "LayoutCertificate", "neighbor_purity", "neighbors_kept"]

N_NEAREST = 10  # neighbors in the picture whose classes are compared
MOST_COMPARED = 20_000
SETTLED = 0.1  # relative gradient of a layout that further steps would hardly change


@stored
@dataclass(frozen=True)
class LabelEffect:
    """What the labels' force added to the picture.

    Parameters
    ----------
    signal : float
        By how much left-out labels are predicted better than by chance, from 0 to 1.
    force : float
        Share of its weight that an edge between two classes loses: ``label_weight * signal``.
    purity : float
        Share of the ten nearest in the picture that have the same predicted class.
    purity_without : float
        The same without the labels' force.
    median_move : float
        By how much the force moved the median point, relative to the radius of the picture.
    """

    signal: float
    force: float
    purity: float
    purity_without: float
    median_move: float

    @property
    def added(self) -> float:
        """Purity that the labels' force added."""
        return self.purity - self.purity_without

    def __str__(self) -> str:
        if self.force == 0:
            return "labels have no force, as left-out ones are predicted no better than by chance"
        return (
            f"labels weaken edges between classes by {self.force:.0%}, which raises the share of "
            f"the same predicted class among the nearest from {self.purity_without:.3f} to "
            f"{self.purity:.3f} and moves the median point by {self.median_move:.1%} of the radius"
        )


@stored
@dataclass(frozen=True)
class LayoutCertificate:
    """Evidence for a fitted :class:`GraphLayout`.

    Parameters
    ----------
    divergence : float
        KL(P || Q) of the layout, without exaggeration.
    gradient : float
        Norm of the gradient, relative to that of the attractive forces: 0 if all forces balance.
    neighbors_kept : float
        Share of each row's neighbors that are among as many nearest in the picture.
    exaggeration : float
        Factor on attraction.
    n_steps : int
        Steps of the descent.
    n_sampled : int
        Rows that were laid out first, if the others were placed among them; 0 if all were.
    label_effect : LabelEffect or None
        What the labels did; None without labels.
    """

    divergence: float
    gradient: float
    neighbors_kept: float
    exaggeration: float
    n_steps: int
    n_sampled: int = 0
    label_effect: LabelEffect | None = None

    @property
    def ok(self) -> bool:
        """Whether the forces balance well enough that further steps change little."""
        return self.gradient <= SETTLED

    def __str__(self) -> str:
        text = (
            f"{'ok' if self.ok else 'NOT settled'}: forces balance to {self.gradient:.1%} after "
            f"{self.n_steps} steps, divergence {self.divergence:.3f} (exaggeration "
            f"{self.exaggeration:.2g}), {self.neighbors_kept:.0%} of the neighbors kept"
        )
        if self.n_sampled:
            text += f"; {self.n_sampled} rows laid out, the others placed among them"
        if self.label_effect is not None:
            text += f"; {self.label_effect}"
        return text + "."


def neighbor_purity(coordinates: NDArray[np.float64], codes: NDArray[np.intp]) -> float:
    """Return the share of each point's ten nearest in the picture that have its class."""
    rows, found = _nearest_in_picture(coordinates, N_NEAREST)
    others = found != rows[:, None]
    others[others.all(axis=1), -1] = False  # the point itself is not among its equals
    return float(np.mean((codes[found] == codes[rows][:, None])[others]))


def neighbors_kept(graph: NeighborGraph, coordinates: NDArray[np.float64]) -> float:
    """Return the share of neighbors that are among as many nearest in the picture."""
    rows, found = _nearest_in_picture(coordinates, int(np.diff(graph.nearest.indptr).max()))
    lists = graph.nearest[rows]
    near = np.arange(len(rows))[:, None] * graph.n_points + found
    return float(np.mean(np.isin(row_numbers(lists) * graph.n_points + lists.indices, near)))


def _nearest_in_picture(
    coordinates: NDArray[np.float64], n_nearest: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return some rows, and the nearest of each, itself among them."""
    n = len(coordinates)
    rows = np.unique(np.linspace(0, n - 1, MOST_COMPARED).astype(np.intp))
    search = NearestNeighbors(n_neighbors=min(n_nearest + 1, n), algorithm="kd_tree")
    return rows, search.fit(coordinates).kneighbors(coordinates[rows], return_distance=False)
