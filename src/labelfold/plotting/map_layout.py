"""Layout of a map: class names that do not overlap, and images at as many points as have room.

A name that would cover an earlier one, or a class center, takes the first free place from a fixed
list: just above its anchor, then below, right and left of it, then around it, farther and farther
out. A thin line connects a name that had to move far with its anchor.

Images are chosen greedily and deterministically: first the point nearest to the middle, then always
the point farthest from those chosen (the k-center rule of Gonzalez, 1985), among points whose image
would cover no other image, no name and no class center.

Boxes are arrays of left, bottom, right and top.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.offsetbox import AnnotationBbox
    from matplotlib.text import Annotation, Text

Boxes = NDArray[np.float64]

# Lengths are in points of 1/72 inch.
STEP = 6.0  # between candidate places of a name
N_RINGS = 12
N_DIRECTIONS = 16
FREE_OF_LINE = 14.0  # how far past its own height a name may move without a line to its anchor
MARK_RADIUS = 5.0  # of the part of a class center that must stay visible
MOST_COMPARED = 1000  # points of a class among which the densest place is sought
LONGEST_NAME = 32  # characters on the map
THUMBNAIL_SIZE = 20.0  # of the longer side
N_THUMBNAILS = 40
FRAME_WIDTH = 2.5
GAP = 3.0  # between thumbnails; the axes may still shrink a little when the page is laid out


def shorten(name: str) -> str:
    """Return a name on one line, cut to LONGEST_NAME characters."""
    line = " ".join(name.split())
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"


def find_anchors(
    points: NDArray[Any], codes: NDArray[Any], centers: NDArray[Any] | None
) -> dict[int, NDArray[Any]]:
    """Return where to write each class's name: at one of its points, otherwise at its center.

    The point is where the class is densest: the third of the class nearest to it, of at most 1,000
    points, lies within the smallest circle, with each axis in units of its standard deviation.
    """
    anchors = {} if centers is None else dict(enumerate(centers))
    spread = points.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    for code in np.unique(codes[codes >= 0]):
        own = points[codes == code]
        own = own[:: -(-len(own) // MOST_COMPARED)]
        n_near = min(len(own), 2 + len(own) // 3)
        search = NearestNeighbors(n_neighbors=n_near).fit(own / unit)
        anchors[int(code)] = own[np.argmin(search.kneighbors(own / unit)[0][:, -1])]
    return dict(sorted(anchors.items()))


def separate_names(ax: Axes, names: Sequence[Annotation], marks: NDArray[Any] | None) -> None:
    """Move names that cover earlier names or marks at these coordinates."""
    ax.apply_aspect()  # matplotlib would do it only when the page is drawn
    per_point = ax.figure.dpi / 72
    # Others are out of sight. Reading the limits also brings them up to date.
    shown = [name for name in names if ax.viewLim.contains(*name.xy)]
    boxes = get_boxes(shown) / per_point
    moves = find_moves(boxes, get_boxes([ax])[0] / per_point, _boxes_around(ax, marks) / per_point)
    for name, move, box in zip(shown, moves, boxes, strict=True):
        if move.any():
            x, y = name.get_position()
            name.set_position((x + move[0], y + move[1]))
            if np.hypot(*move) > FREE_OF_LINE + box[3] - box[1]:
                _connect(ax, name)


def get_boxes(artists: Sequence[Artist]) -> Boxes:
    """Return the box of each artist, in pixels."""
    boxes = [artist.get_window_extent() for artist in artists]
    return np.array([box.extents for box in boxes], dtype=np.float64).reshape(-1, 4)


def find_moves(boxes: Boxes, page: Boxes, taken: Boxes) -> NDArray[np.float64]:
    """Return how far to move each box, right and up, so that it covers no earlier or taken box.

    Moved boxes lie within `page`. A box stays if it covers nothing, or if there is no room for it.
    """
    moves = np.zeros((len(boxes), 2))
    placed = np.array(boxes)
    for index, box in enumerate(boxes):
        others = np.concatenate([taken, placed[:index]])
        if not _overlap(box[np.newaxis], others)[0]:
            continue
        tried = _list_moves(box)
        moved = box + np.tile(tried, 2)
        inside = (moved[:, :2] >= page[:2]).all(axis=1) & (moved[:, 2:] <= page[2:]).all(axis=1)
        free = np.flatnonzero(inside & ~_overlap(moved, others))
        if len(free):
            moves[index], placed[index] = tried[free[0]], moved[free[0]]
    return moves


def _overlap(boxes: Boxes, others: Boxes) -> NDArray[np.bool_]:
    """Return whether each box overlaps any of the others."""
    low, high = boxes[:, np.newaxis, :2], boxes[:, np.newaxis, 2:]
    overlaps: NDArray[np.bool_] = np.all((low < others[:, 2:]) & (high > others[:, :2]), axis=2)
    return np.asarray(overlaps.any(axis=1))


def _list_moves(box: Boxes) -> NDArray[np.float64]:
    """Return possible moves of a box that is just above its anchor, nearest first."""
    width, height = box[2:] - box[:2]
    below = -height - 2 * STEP
    beside = width / 2 + STEP
    near = [(0.0, below), (beside, below / 2), (-beside, below / 2)]
    angles = 2 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
    rings = STEP * np.arange(1, N_RINGS + 1)[:, np.newaxis]
    right = np.sin(angles) * (beside + rings)
    up = below / 2 + np.cos(angles) * (rings - below / 2)
    return np.concatenate([near, np.column_stack([right.ravel(), up.ravel()])])


def _boxes_around(ax: Axes, marks: NDArray[Any] | None) -> Boxes:
    """Return boxes around the marks' visible parts, in pixels."""
    if marks is None:
        return np.empty((0, 4))
    places = ax.transData.transform(marks)
    radius = MARK_RADIUS * ax.figure.dpi / 72
    return np.hstack([places - radius, places + radius])


def _connect(ax: Axes, name: Annotation) -> None:
    """Draw a line from a name to its anchor, below all names and above all points."""
    style = {"arrowstyle": "-", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
    line = ax.annotate(
        "",
        name.xy,
        xytext=name.get_position(),
        textcoords="offset points",
        arrowprops={"color": name.get_color(), **style},
        zorder=3.8,
    )
    line.set_in_layout(False)


def draw_thumbnails(
    ax: Axes,
    points: NDArray[Any],
    images: NDArray[Any],
    colors: Sequence[str],
    n_images: int,
    names: Sequence[Text],
    centers: NDArray[Any] | None,
    given: dict[str, Any],
) -> tuple[list[AnnotationBbox], NDArray[np.intp]]:
    """Draw images at some points, framed in the points' colors; return them and their rows."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    height, width = images.shape[1:3]
    # One gray scale for all images, so that they can be compared.
    options = {"cmap": "gray", "zoom": THUMBNAIL_SIZE / max(height, width), **given}
    if images.ndim == 3 and "norm" not in options:
        from matplotlib.colors import Normalize

        options["norm"] = Normalize(images.min(), images.max())
    frame = 2 * FRAME_WIDTH + GAP
    size = ax.figure.dpi / 72 * (options["zoom"] * np.array([width, height]) + frame)
    _make_room(ax, size)
    taken = np.concatenate([get_boxes(names), _boxes_around(ax, centers)])
    rows = choose_spread(ax.transData.transform(points), n_images, size, taken)
    boxes = []
    for row in rows:
        box = AnnotationBbox(
            OffsetImage(images[row], **options),
            (points[row, 0], points[row, 1]),
            pad=0.0,
            bboxprops={
                "edgecolor": colors[row],
                "linewidth": FRAME_WIDTH,
                "boxstyle": "square,pad=0",
            },
            zorder=3.5,
        )
        ax.add_artist(box)
        boxes.append(box)
    return boxes, rows


def choose_spread(
    places: NDArray[Any], n_chosen: int, size: NDArray[Any], taken: Boxes
) -> NDArray[np.intp]:
    """Choose up to `n_chosen` points whose boxes cover neither each other nor `taken`.

    Points are in the order of choice, each the farthest from those before.
    """
    half = size / 2
    boxes = np.hstack([places - half, places + half])
    is_free = np.ones(len(places), dtype=bool)
    for one in taken:
        is_free &= ~_overlap(boxes, one[np.newaxis])
    chosen: list[int] = []
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    # First the nearest to the middle, then the farthest from all chosen.
    gaps = -((places - middle) ** 2).sum(axis=1)
    while len(chosen) < n_chosen and is_free.any():
        row = int(np.argmax(np.where(is_free, gaps, -np.inf)))
        away = np.abs(places - places[row])
        distances = (away**2).sum(axis=1)
        gaps = np.minimum(gaps, distances) if chosen else distances
        is_free &= (away >= size).any(axis=1)
        is_free[row] = False  # even if a box has no width
        chosen.append(row)
    return np.array(chosen, dtype=np.intp)


def _make_room(ax: Axes, size: NDArray[Any]) -> None:
    """Widen the margins by half a thumbnail, so that none crosses the edge of the axes."""
    box = ax.get_window_extent()
    x_margin, y_margin = ax.margins() or (0.0, 0.0)
    ax.margins(
        x=max(x_margin, size[0] / 2 / max(box.width - size[0], size[0])),
        y=max(y_margin, size[1] / 2 / max(box.height - size[1], size[1])),
    )
    # Matplotlib would do it only when the page is drawn.
    ax.autoscale_view()
    ax.apply_aspect()
