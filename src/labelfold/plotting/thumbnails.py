"""Images at their points: as many as find room, spread over the map.

The choice is greedy and has no chance in it: after the point nearest to the middle, always the
point farthest from those chosen (the k-centre rule of Gonzalez, 1985), among points whose image
would cover no other image, no name and no class centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting.name_places import boxes_around, boxes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.offsetbox import AnnotationBbox
    from matplotlib.text import Text

THUMBNAIL_SIZE = 20.0  # of the longer side, in points of 1/72 inch
N_THUMBNAILS = 40
FRAME_WIDTH = 2.5
GAP = 3.0  # between thumbnails; the axes may still shrink a little when the page is laid out


def choose_spread(
    places: NDArray[Any],
    n_chosen: int,
    size: tuple[float, float],
    taken: NDArray[Any] | None = None,
) -> NDArray[np.intp]:
    """Choose points for boxes that do not overlap, each the farthest from those before.

    Parameters
    ----------
    places : ndarray of shape (n_samples, 2)
        Middles of the boxes on the page.

    n_chosen : int
        How many to choose at most.

    size : tuple of two float
        Width and height of a box, in the units of `places`.

    taken : ndarray of shape (n_taken, 4), default=None
        Left, bottom, right and top of places that must stay free.

    Returns
    -------
    rows : ndarray of int
        The chosen points, in the order of choice; fewer than asked for where there is no room.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.plotting.thumbnails import choose_spread
    >>> places = np.array([[0.0, 0.0], [0.5, 0.0], [5.0, 0.0], [9.0, 0.0]])
    >>> choose_spread(places, 3, (1.0, 1.0)).tolist()
    [2, 0, 3]
    """
    half = np.asarray(size) / 2
    is_free = np.ones(len(places), dtype=bool)
    for left, bottom, right, top in [] if taken is None else taken:
        beyond = (places + half <= (left, bottom)) | (places - half >= (right, top))
        is_free &= beyond.any(axis=1)
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
    """Draw images at their points, framed in the colours, and tell which points have one."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    height, width = images.shape[1:3]
    # One scale of grey for all, so that the images can be compared.
    options = {"cmap": "gray", "zoom": THUMBNAIL_SIZE / max(height, width), **given}
    if images.ndim == 3 and "norm" not in options:
        from matplotlib.colors import Normalize

        options["norm"] = Normalize(images.min(), images.max())
    per_point = ax.figure.dpi / 72
    frame = 2 * FRAME_WIDTH + GAP
    size = (
        per_point * (options["zoom"] * width + frame),
        per_point * (options["zoom"] * height + frame),
    )
    _make_room(ax, size)
    places = ax.transData.transform(points)
    taken = np.concatenate([boxes_of(names), boxes_around(ax, centers)])
    rows = choose_spread(places, n_images, size, taken)
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


def _make_room(ax: Axes, size: tuple[float, float]) -> None:
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
