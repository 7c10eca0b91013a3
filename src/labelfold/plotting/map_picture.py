"""How a map is drawn: points coloured by class, classes named where they lie, centres marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from labelfold.labels import PartialLabels
from labelfold.plotting.class_layout import PointGroups, name_anchors, strip_rows
from labelfold.plotting.map_artists import draw_centers, draw_spokes, name_rows, write_names
from labelfold.plotting.map_axes import make_axes, name_axes
from labelfold.plotting.map_inputs import check_density, check_n_images
from labelfold.plotting.map_layers import PointOptions, draw_points
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles
from labelfold.plotting.thumbnails import draw_thumbnails

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage
    from matplotlib.legend import Legend
    from matplotlib.offsetbox import AnnotationBbox
    from matplotlib.text import Text

    from labelfold.plotting.map_artists import Points
    from labelfold.plotting.map_view import MapView
    from labelfold.plotting.palette import ClassStyle


class MapPicture:
    """What a display of a map has, and how it is drawn; see :class:`EmbeddingDisplay`."""

    embedding: NDArray[Any]
    labels: PartialLabels | None
    predictions: PartialLabels | None
    confidence: NDArray[np.float64] | None
    is_new: NDArray[np.bool_] | None
    images: NDArray[Any] | None
    class_centers: NDArray[Any] | None
    classes: list[Any]
    class_names: list[str]
    components: list[int] | Literal["classes"]
    view: MapView

    ax_: Axes
    figure_: Figure | SubFigure
    scatter_: Points | None
    predicted_: Points | None
    unlabeled_: Points | None
    new_: Points | None
    density_: AxesImage | None
    density_counts_: NDArray[np.intp] | None
    centers_: PathCollection | None
    spokes_: LineCollection | None
    text_: list[Text]
    thumbnails_: list[AnnotationBbox]
    thumbnail_rows_: NDArray[np.intp]
    legend_: Legend | None

    def plot(
        self,
        ax: Axes | None = None,
        *,
        show_names: bool = True,
        show_centers: bool = True,
        n_images: int | None = None,
        density: bool | Literal["auto"] = "auto",
        unlabeled_kwargs: dict[str, Any] | None = None,
        predicted_kwargs: dict[str, Any] | None = None,
        new_kwargs: dict[str, Any] | None = None,
        center_kwargs: dict[str, Any] | None = None,
        text_kwargs: dict[str, Any] | None = None,
        image_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on, with three dimensions for three columns. By default a new figure.

        show_names : bool, default=True
            Whether to write the names of the classes.

        show_centers : bool, default=True
            Whether to mark the class centres, where there are any.

        n_images : int, default=None
            Number of images to draw at most; they are spread over the map and do not overlap. By
            default 40, where there are images; 0 draws none.

        density : bool or "auto", default="auto"
            Whether to draw points without a label as an image rather than as markers, with no heed
            to the options of scatter. "auto" does for more than 50,000. Ignored for a strip and in
            space.

        unlabeled_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.scatter` for the unlabelled points.

        predicted_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.scatter` for points with a prediction only.

        new_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.scatter` for the new points.

        center_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.scatter` for the class centres.

        text_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.annotate` for the names of the classes, or in space to
            `text`. The rows of a strip are named by ticks.

        image_kwargs : dict, default=None
            Passed to `matplotlib.offsetbox.OffsetImage` for the images, such as `zoom`, the points
            of 1/72 inch a pixel, or `cmap="gray_r"` for dark ink on white paper.

        **kwargs : dict
            Passed to `matplotlib.axes.Axes.scatter` for the labelled points.

        Returns
        -------
        display : object
            The display itself, with `ax_`, `figure_` and the drawn artists.
        """
        n_images = check_n_images(n_images, self.images, self.view.n_dims)
        check_density(density)
        ax = make_axes(ax, self.view.n_dims)
        groups = PointGroups.of(
            self.labels,
            self.predictions,
            self.confidence,
            self.is_new,
            self.classes,
            len(self.embedding),
        )
        points, centers = self.places(groups.codes)
        styles = class_styles(len(self.classes))
        options = PointOptions(
            labeled=kwargs,
            predicted=predicted_kwargs or {},
            unlabeled=unlabeled_kwargs or {},
            new=new_kwargs or {},
        )
        drawn = draw_points(
            ax, points, groups, styles, density if self.view.n_dims == 2 else False, options
        )
        self.ax_, self.figure_ = ax, ax.figure
        self.scatter_, self.predicted_ = drawn.scatter, drawn.predicted
        self.unlabeled_, self.new_ = drawn.unlabeled, drawn.new
        self.density_, self.density_counts_ = drawn.density, drawn.density_counts
        self.legend_ = drawn.legend
        self.spokes_ = draw_spokes(ax, self.view.spoke_ends(points))
        centers = centers if show_centers else None
        self.centers_ = draw_centers(ax, centers, styles, center_kwargs or {})
        self.text_ = self._name_classes(
            groups.codes, points, centers, styles, show_names, text_kwargs
        )
        name_axes(ax, self.view)
        self.thumbnails_, self.thumbnail_rows_ = [], np.empty(0, dtype=np.intp)
        if self.images is not None and n_images > 0:
            frames = [*(style.color for style in styles), UNLABELED_COLOR]
            self.thumbnails_, self.thumbnail_rows_ = draw_thumbnails(
                ax,
                points,
                self.images,
                [frames[code] for code in groups.codes],
                n_images,
                self.text_,
                centers,
                image_kwargs or {},
            )
        return self

    def _name_classes(
        self,
        codes: NDArray[Any],
        points: NDArray[Any],
        centers: NDArray[Any] | None,
        styles: list[ClassStyle],
        show_names: bool,
        options: dict[str, Any] | None,
    ) -> list[Text]:
        """Name the rows of a strip, or the classes where they lie."""
        if self._is_strip:
            names = self.class_names if show_names else [""] * len(self.classes)
            has_others = bool((codes < 0).any())
            return name_rows(self.ax_, names, styles, has_unlabeled=has_others)
        anchors = name_anchors(points, codes, centers) if show_names else {}
        return write_names(self.ax_, anchors, self.class_names, styles, centers, options or {})

    def places(self, codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return where points of these classes and the centres stand on the page."""
        points = self.view.place(self.embedding)
        centers = None if self.class_centers is None else self.view.place(self.class_centers)
        if self._is_strip:
            points = np.column_stack([points, strip_rows(codes, len(self.classes))])
            if centers is not None:
                centers = np.column_stack([centers, np.arange(len(centers))])
        return points, centers

    @property
    def _is_strip(self) -> bool:
        return self.view.n_dims == 1
