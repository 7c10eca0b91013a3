"""Components, hubs and duplicates of a graph in figures, and a warning about an extreme hub.

The k-occurrence of a point counts the points that have it among their k nearest. Its mean is k. In
high dimensions, and if vectors differ in length more than in direction, a few points (hubs) are
near to very many others and many points are near to none (Radovanovic, Nanopoulos and Ivanovic,
"Hubs in space", JMLR 2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import HubnessWarning, warn_user

__all__ = ["GraphStatistics", "warn_of_hub"]

# A hub is extreme if it is near to a tenth of all points, and 25 times as often as the mean point.
# With 8 or 12 neighbors Landsat, MNIST, three other sets of digits, COIL-20 and Swiss rolls stay
# below 6 times the mean, and 20 Newsgroups with cosine distances at 19. With Euclidean distances
# its articles' hub is near to 65 % of 19,927 articles, and to 99 % of 2,000.
EXTREME_SHARE, EXTREME_FACTOR = 0.1, 25


@dataclass(frozen=True)
class GraphStatistics:
    """Components, hubs and duplicates of a graph in figures.

    Parameters
    ----------
    n_points, n_edges, n_connected_components : int
        Size, and number of connected components, bridges counted as edges.
    n_bridges : int
        Edges added to join components.
    n_duplicates : int
        Rows that have an equal row, as far as the neighbors show.
    largest_neighborhood : int
        Number of edges of the point that has the most: a hub if far above the mean.
    mean_neighborhood : float
        Mean number of edges of a point.
    largest_occurrence : int
        Number of points that have the most popular one among their nearest; the mean over all
        points is ``n_neighbors``.
    occurrence_skewness : float
        Skewness of these numbers: 0 to 1.5 in ordinary data, far above with hubs.
    share_of_antihubs : float
        Share of the points that are not among the nearest of any other.
    """

    n_points: int
    n_edges: int
    n_connected_components: int
    n_bridges: int
    n_duplicates: int
    largest_neighborhood: int
    mean_neighborhood: float
    largest_occurrence: int
    occurrence_skewness: float
    share_of_antihubs: float


def warn_of_hub(occurrences: NDArray[np.intp], n_neighbors: int, metric: Any) -> None:
    """Warn if one point is among the nearest of very many others."""
    n, largest = len(occurrences), int(occurrences.max())
    if largest <= max(EXTREME_SHARE * n, EXTREME_FACTOR * n_neighbors):
        return
    if metric == "cosine":
        advice = "Fewer features, or features of one scale, may avoid this"
    elif metric == "precomputed":
        advice = "Other distances, such as those of metric='cosine', may avoid this"
    else:
        advice = "metric='cosine' may avoid this"
    warn_user(
        f"Row {int(occurrences.argmax())} is a hub: it is among the {n_neighbors} nearest "
        f"neighbors of {largest:,} of the {n:,} rows and connects rows with little in common; "
        f"{np.mean(occurrences == 0):.0%} of the rows are not a neighbor of any other (see "
        f"graph_.statistics). {advice}.",
        HubnessWarning,
    )
