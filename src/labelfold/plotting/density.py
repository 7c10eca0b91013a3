"""A crowd of points as an image: cells of a grid instead of markers that hide each other.

Each point votes for its class with its confidence, and for none with the rest. A cell takes the
color of the class with the most votes, drawn towards the grey of unlabeled points as far as votes
are missing for it: no mixture of two class colors that could be read as a third. Its opacity is
the share of cells that hold no more points (histogram equalization), so that neither a heap nor an
outskirt takes up the whole range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting.palette import UNLABELED_COLOR, ClassStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

DENSITY_THRESHOLD = 50_000  # points from which on a crowd is an image
CELL_SIZE = 1.5  # of a cell's sides, in points of 1/72 inch
LEAST_OPACITY = 0.3  # of a cell with a single point


@dataclass(frozen=True)
class DensityGrid:
    """Points counted in the cells of a grid, as arrays of rows and columns, lowest row first."""

    counts: NDArray[np.intp]  # points in each cell
    winners: NDArray[np.intp]  # class with the most votes, -1 where there are none
    shares: NDArray[np.float64]  # its votes as a share of the cell's points
    extent: tuple[float, float, float, float]  # left, right, bottom and top


def draw_density(
    ax: Axes,
    points: NDArray[Any],
    codes: NDArray[Any],
    votes: NDArray[Any],
    styles: Sequence[ClassStyle],
) -> tuple[AxesImage, NDArray[np.intp]]:
    """Draw points as an image underneath everything else; return it and the points in each cell."""
    from matplotlib.image import AxesImage

    box = ax.get_window_extent()
    per_cell = CELL_SIZE / 72 * ax.figure.dpi
    shape = (max(int(box.height / per_cell), 1), max(int(box.width / per_cell), 1))
    grid = count_in_cells(points, codes, votes, shape)
    # Not imshow, which takes the axes for the image's own: their margins, aspect and directions.
    image = AxesImage(ax, extent=grid.extent, origin="lower", interpolation="nearest", zorder=1.0)
    image.set_data(shade(grid, styles))
    ax.add_image(image)
    left, right, bottom, top = grid.extent
    ax.update_datalim([(left, bottom), (right, top)])
    ax.autoscale_view()
    return image, grid.counts


def count_in_cells(
    points: NDArray[Any], codes: NDArray[Any], votes: NDArray[Any], shape: tuple[int, int]
) -> DensityGrid:
    """Count points, and the votes for their classes, in so many rows and columns of cells.

    A code of -1 is no class; `votes` are how much each point counts for its class, from 0 to 1.
    """
    n_rows, n_columns = shape
    low, high = points.min(axis=0), points.max(axis=0)
    flat = high <= low
    low, high = np.where(flat, low - 0.5, low), np.where(flat, high + 0.5, high)
    place = (points - low) / (high - low) * (n_columns, n_rows)
    # The uppermost points lie on the edge of a cell that is not there.
    column, row = np.minimum(place, (n_columns - 1, n_rows - 1)).astype(np.intp).T
    cells = row * n_columns + column
    counts = np.bincount(cells, minlength=n_rows * n_columns)
    winners = np.full(counts.shape, -1)
    shares = np.zeros(counts.shape)
    has_class = (codes >= 0) & (votes > 0)
    if has_class.any():
        n_classes = int(codes.max()) + 1
        # Only pairs of cell and class that occur: a table of all would not fit for many classes.
        pairs, which = np.unique(
            cells[has_class] * n_classes + codes[has_class], return_inverse=True
        )
        sums = np.bincount(which, weights=votes[has_class])
        at, code = np.divmod(pairs, n_classes)
        best = np.lexsort((-code, sums))  # the last to be written wins: of equals the first class
        winners[at[best]] = code[best]
        shares[at[best]] = sums[best]
    shares = np.minimum(shares / np.maximum(counts, 1), 1.0)
    extent = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
    return DensityGrid(counts.reshape(shape), winners.reshape(shape), shares.reshape(shape), extent)


def shade(grid: DensityGrid, styles: Sequence[ClassStyle]) -> NDArray[np.float64]:
    """Return color and opacity of each cell, of shape (n_rows, n_columns, 4)."""
    from matplotlib.colors import to_rgba_array

    colors = to_rgba_array([*(style.color for style in styles), UNLABELED_COLOR])
    share = grid.shares[..., np.newaxis]
    shaded: NDArray[np.float64] = share * colors[grid.winners] + (1.0 - share) * colors[-1]
    is_full = grid.counts > 0
    levels, level, n_cells = np.unique(
        grid.counts[is_full], return_inverse=True, return_counts=True
    )
    up_to = np.cumsum(n_cells)
    # From 0 for the least count to 1 for the largest.
    rank = (up_to - up_to[0]) / (up_to[-1] - up_to[0]) if len(levels) > 1 else np.ones(1)
    shaded[..., 3] = 0.0
    shaded[is_full, 3] = LEAST_OPACITY + (1.0 - LEAST_OPACITY) * rank[level]
    return shaded
