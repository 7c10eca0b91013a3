"""Room on a map: names that stay apart, and images at as many points as find room.

A name that would cover one before it, or a class center, takes the first free place on a fixed
list: just above its anchor, then below, right and left of it, then all around it, farther and
farther out. A name that had to go far is tied to its anchor by a thin line.

Images are chosen greedily and without chance: after the point nearest to the middle, always the
point farthest from those chosen (the k-center rule of Gonzalez, 1985), among points whose image
would cover no other image, no name and no class center.

Boxes are arrays of left, bottom, right and top.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.offsetbox import AnnotationBbox
    from matplotlib.text import Annotation, Text

Boxes = NDArray[np.float64]

# Lengths are in points of 1/72 inch.
STEP = 6.0  # between places of a name
N_RINGS = 12
N_DIRECTIONS = 16
FREE_OF_LINE = 14.0  # how far beyond its own height a name may go without a line to its anchor
MARK_RADIUS = 5.0  # of what must be seen of a center
LONGEST_NAME = 32  # characters on the map
THUMBNAIL_SIZE = 20.0  # of the longer side
N_THUMBNAILS = 40
FRAME_WIDTH = 2.5
GAP = 3.0  # between thumbnails; the axes may still shrink a little when the page is laid out


def shortened(name: str) -> str:
    """Return a name on one line that leaves room for the others."""
    line = " ".join(name.split())
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"


def middle_points(
    points: NDArray[Any], codes: NDArray[Any], centers: NDArray[Any] | None
) -> dict[int, NDArray[Any]]:
    """Return where to write each class's name: at one of its points, else at its center.

    It is the point nearest to the median, with the axes measured in units of their spread. A class
    in two clusters has its mean, and often its median, between them, where none of its points lie.
    """
    anchors = {} if centers is None else dict(enumerate(centers))
    spread = points.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    for code in np.unique(codes[codes >= 0]):
        own = points[codes == code]
        gap = (own - np.median(own, axis=0)) / unit
        anchors[int(code)] = own[np.argmin((gap**2).sum(axis=1))]
    return dict(sorted(anchors.items()))


def part_names(ax: Axes, names: Sequence[Annotation], marks: NDArray[Any] | None) -> None:
    """Move names that cover others, in the order given, or marks at these places."""
    ax.apply_aspect()  # otherwise put off until the page is drawn
    per_point = ax.figure.dpi / 72
    # The others have no place on the page. Asking for the limits also brings them up to date.
    shown = [name for name in names if ax.viewLim.contains(*name.xy)]
    boxes = boxes_of(shown) / per_point
    moves = find_moves(boxes, boxes_of([ax])[0] / per_point, _around(ax, marks) / per_point)
    for name, move, box in zip(shown, moves, boxes, strict=True):
        if move.any():
            x, y = name.get_position()
            name.set_position((x + move[0], y + move[1]))
            if np.hypot(*move) > FREE_OF_LINE + box[3] - box[1]:
                _tie(ax, name)


def boxes_of(artists: Sequence[Artist]) -> Boxes:
    """Return the box of each artist, in pixels."""
    boxes = [artist.get_window_extent() for artist in artists]
    return np.array([box.extents for box in boxes], dtype=np.float64).reshape(-1, 4)


def find_moves(boxes: Boxes, page: Boxes, taken: Boxes) -> NDArray[np.float64]:
    """Return by how much to move each box, right and up, so that none covers one before it.

    Nor does a box cover one of `taken`. Moved boxes lie within `page`; a box stays where it is if
    it covers nothing, and if there is no room for it.
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


def _covers(boxes: Boxes, others: Boxes) -> NDArray[np.bool_]:
    """Return whether each box covers a part of any of the others."""
    low, high = boxes[:, np.newaxis, :2], boxes[:, np.newaxis, 2:]
    overlaps: NDArray[np.bool_] = np.all((low < others[:, 2:]) & (high > others[:, :2]), axis=2)
    return np.asarray(overlaps.any(axis=1))


def _places_around(box: Boxes) -> NDArray[np.float64]:
    """Return moves of a box that stands just above its anchor, the nearest first."""
    width, height = box[2:] - box[:2]
    below = -height - 2 * STEP
    beside = width / 2 + STEP
    near = [(0.0, below), (beside, below / 2), (-beside, below / 2)]
    angles = 2 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
    rings = STEP * np.arange(1, N_RINGS + 1)[:, np.newaxis]
    right = np.sin(angles) * (beside + rings)
    up = below / 2 + np.cos(angles) * (rings - below / 2)
    return np.concatenate([near, np.column_stack([right.ravel(), up.ravel()])])


def _around(ax: Axes, marks: NDArray[Any] | None) -> Boxes:
    """Return the boxes of what must be seen of marks, in pixels."""
    if marks is None:
        return np.empty((0, 4))
    places = ax.transData.transform(marks)
    radius = MARK_RADIUS * ax.figure.dpi / 72
    return np.hstack([places - radius, places + radius])


def _tie(ax: Axes, name: Annotation) -> None:
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
    """Draw images at their points, framed in the colors; return them and their points."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    height, width = images.shape[1:3]
    # One scale of grey for all, so that the images can be compared.
    options = {"cmap": "gray", "zoom": THUMBNAIL_SIZE / max(height, width), **given}
    if images.ndim == 3 and "norm" not in options:
        from matplotlib.colors import Normalize

        options["norm"] = Normalize(images.min(), images.max())
    frame = 2 * FRAME_WIDTH + GAP
    size = ax.figure.dpi / 72 * (options["zoom"] * np.array([width, height]) + frame)
    _make_room(ax, size)
    taken = np.concatenate([boxes_of(names), _around(ax, centers)])
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
    """Choose at most so many points for boxes that cover neither each other nor `taken`.

    Points are returned in the order of choice, each the farthest from those before.
    """
    half = size / 2
    boxes = np.hstack([places - half, places + half])
    is_free = np.ones(len(places), dtype=bool)
    for one in taken:
        is_free &= ~_covers(boxes, one[np.newaxis])
    chosen: list[int] = []
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    # Nearest to the middle first, then farthest from all.
    gaps = -((places - middle) ** 2).sum(axis=1)
    while len(chosen) < n_chosen and is_free.any():
        row = int(np.argmax(np.where(is_free, gaps, -np.inf)))
        away = np.abs(places - places[row])
        distances = (away**2).sum(axis=1)
        gaps = np.minimum(gaps, distances) if chosen else distances
        is_free &= (away >= size).any(axis=1)
        is_free[row] = False  # also where a box has no width
        chosen.append(row)
    return np.array(chosen, dtype=np.intp)


def _make_room(ax: Axes, size: NDArray[Any]) -> None:
    """Widen the margins by half a thumbnail, so that none hangs over the axes."""
    box = ax.get_window_extent()
    x_margin, y_margin = ax.margins() or (0.0, 0.0)
    ax.margins(
        x=max(x_margin, size[0] / 2 / max(box.width - size[0], size[0])),
        y=max(y_margin, size[1] / 2 / max(box.height - size[1], size[1])),
    )
    # Otherwise put off until the page is drawn.
    ax.autoscale_view()
    ax.apply_aspect()
