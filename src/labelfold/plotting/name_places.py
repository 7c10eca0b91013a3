"""Names that stay apart: a name that would cover one before it, or a class centre, moves aside.

Each name in turn takes the first free place on a fixed list: just above its anchor, then below,
right and left of it, then all around it farther and farther out. A name that had to go far is tied
to its anchor by a thin line. Names that cover nothing stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

STEP = 6.0  # between places, in points of 1/72 inch
N_RINGS = 12
N_DIRECTIONS = 16
FREE_OF_LINE = 14.0  # how far beyond its own height a name may go without a line to its anchor
MARK_RADIUS = 5.0  # of what must be seen of a centre
LONGEST_NAME = 32  # characters on the map


def shortened(name: str) -> str:
    """A name on one line that leaves room for the others."""
    line = " ".join(name.split())
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"


def part_names(ax: Axes, names: Sequence[Annotation], marks: NDArray[Any] | None) -> None:
    """Move names that cover others, in the order given, or marks at these places."""
    ax.apply_aspect()  # otherwise put off until the page is drawn
    per_point = ax.figure.dpi / 72
    # The others have no place on the page. Asking for the limits also brings them up to date.
    shown = [name for name in names if ax.viewLim.contains(*name.xy)]
    boxes = boxes_of(shown) / per_point
    moves = find_moves(boxes, boxes_of([ax])[0] / per_point, boxes_around(ax, marks) / per_point)
    for name, move, box in zip(shown, moves, boxes, strict=True):
        if move.any():
            x, y = name.get_position()
            name.set_position((x + move[0], y + move[1]))
            if np.hypot(*move) > FREE_OF_LINE + box[3] - box[1]:
                _tie(ax, name)


def boxes_of(artists: Sequence[Artist]) -> NDArray[np.float64]:
    """Left, bottom, right and top of each artist, in pixels."""
    boxes = [artist.get_window_extent() for artist in artists]
    corners = [(box.x0, box.y0, box.x1, box.y1) for box in boxes]
    return np.array(corners, dtype=np.float64).reshape(-1, 4)


def boxes_around(ax: Axes, marks: NDArray[Any] | None) -> NDArray[np.float64]:
    """Left, bottom, right and top of what must be seen of marks, in pixels."""
    if marks is None:
        return np.empty((0, 4))
    places = ax.transData.transform(marks)
    radius = MARK_RADIUS * ax.figure.dpi / 72
    return np.hstack([places - radius, places + radius])


def find_moves(
    boxes: NDArray[np.float64], page: NDArray[np.float64], taken: NDArray[np.float64]
) -> NDArray[np.float64]:
    """By how much to move each box so that none covers one before it or a place that is taken.

    Parameters
    ----------
    boxes : ndarray of shape (n_boxes, 4)
        Left, bottom, right and top of each.

    page : ndarray of shape (4,)
        Left, bottom, right and top of where moved boxes must lie.

    taken : ndarray of shape (n_taken, 4)
        Left, bottom, right and top of what no box may cover.

    Returns
    -------
    moves : ndarray of shape (n_boxes, 2)
        To the right and up; zeros for a box that stays, also where there is no room for it.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.plotting.name_places import find_moves
    >>> boxes = np.array([[50.0, 50.0, 60.0, 60.0], [52.0, 50.0, 62.0, 60.0]])
    >>> page, nothing = np.array([0.0, 0.0, 100.0, 100.0]), np.empty((0, 4))
    >>> find_moves(boxes, page, nothing).tolist()
    [[0.0, 0.0], [0.0, -22.0]]
    """
    moves = np.zeros((len(boxes), 2))
    placed = np.array(boxes)
    for index, box in enumerate(boxes):
        others = np.concatenate([taken, placed[:index]])
        if not _covers(box[np.newaxis], others)[0]:
            continue
        tried = _places_around(box)
        moved = box + np.tile(tried, 2)
        inside = (moved[:, :2] >= page[:2]).all(axis=1) & (moved[:, 2:] <= page[2:]).all(axis=1)
        free = np.flatnonzero(inside & ~_covers(moved, others))
        if len(free):
            moves[index], placed[index] = tried[free[0]], moved[free[0]]
    return moves


def _covers(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each box covers a part of any of the others."""
    low, high = boxes[:, np.newaxis, :2], boxes[:, np.newaxis, 2:]
    overlaps: NDArray[np.bool_] = np.all((low < others[:, 2:]) & (high > others[:, :2]), axis=2)
    return np.asarray(overlaps.any(axis=1))


def _places_around(box: NDArray[np.float64]) -> NDArray[np.float64]:
    """Moves of a box that stands just above its anchor, the nearest first."""
    width, height = box[2:] - box[:2]
    below = -height - 2 * STEP
    beside = width / 2 + STEP
    near = [(0.0, below), (beside, below / 2), (-beside, below / 2)]
    angles = 2 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
    rings = STEP * np.arange(1, N_RINGS + 1)[:, np.newaxis]
    right = np.sin(angles) * (beside + rings)
    up = below / 2 + np.cos(angles) * (rings - below / 2)
    return np.concatenate([near, np.column_stack([right.ravel(), up.ravel()])])


def _tie(ax: Axes, name: Annotation) -> None:
    """Draw a line from a name to its anchor, below all names and above all points."""
    line = ax.annotate(
        "",
        name.xy,
        xytext=name.get_position(),
        textcoords="offset points",
        arrowprops={
            "arrowstyle": "-",
            "color": name.get_color(),
            "linewidth": 0.8,
            "shrinkA": 0,
            "shrinkB": 0,
        },
        zorder=3.8,
    )
    line.set_in_layout(False)
