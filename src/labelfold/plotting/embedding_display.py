"""A map: a picture of an embedding, from coordinates, predictions or a fitted estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from labelfold.checks import input_errors
from labelfold.exceptions import InputError
from labelfold.plotting.interactive_map import InteractiveMap, interactive_page
from labelfold.plotting.map_artists import (
    draw_centers,
    draw_density,
    draw_points,
    draw_spokes,
    explain_new,
    find_crowd,
    make_axes,
    name_rows,
    write_names,
)
from labelfold.plotting.map_inputs import (
    PointGroups,
    check_centers,
    check_components,
    check_confidence,
    check_images,
    check_is_new,
    check_labels,
    check_n_images,
    check_names,
    codes_in,
    order_classes,
    read_estimator,
)
from labelfold.plotting.map_layout import draw_thumbnails, find_anchors
from labelfold.plotting.map_view import (
    CLASSES,
    Components,
    MapView,
    strip_rows,
    view_classes,
    view_columns,
)
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.offsetbox import AnnotationBbox


class EmbeddingDisplay:
    """Map of an embedding with partial labels.

    Labeled points have the color of their class (past ten classes, color and shape), class
    centers are stars, and each class has its name where it is densest. Points with only a
    prediction have the color of the predicted class and no outline, and are more opaque the higher
    the confidence. Other points are gray and underneath. New rows have a black ring. An embedding
    of one column is drawn as a strip with one row per class; three columns are drawn in space.

    Use :meth:`from_estimator` for the embedding of an estimator, and :meth:`from_predictions` for
    the predictions of any classifier. All parameters are stored as attributes.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the points.

    labels : array-like of shape (n_samples,) or PartialLabels, default=None
        Label of each point: -1, None or NaN for unlabeled points. By default all are unlabeled.

    predictions : array-like of shape (n_samples,) or PartialLabels, default=None
        Predicted class of each point, in the form of `labels`; used for points without a label.

    confidence : array-like of shape (n_samples,), default=None
        Confidence of each prediction, from 0 to 1. By default 1.

    is_new : array-like of bool of shape (n_samples,), default=None
        Which points to mark as new.

    images : array-like of shape (n_samples, height, width) or (n_samples, height, width, \
            n_channels), default=None
        Image of each point, gray or with 3 or 4 channels. Some of them are drawn.

    class_centers : array-like of shape (n_classes, n_components), default=None
        Coordinates of the class centers.

    classes : array-like of shape (n_classes,), default=None
        The class of each row of `class_centers`; also the order of colors. By default the sorted
        classes of `labels` and `predictions`.

    class_names : sequence of str, or mapping, default=None
        Name of each class, in the order of `classes`, or a mapping from class to name. By default
        the classes themselves. Names of more than 32 characters are shortened.

    components : tuple of one, two or three int, or "classes", default=(0, 1)
        Columns of the embedding to draw, counted from 0. One column gives a strip, three a map in
        space. "classes" draws the plane that separates three or more classes, fitted to the labeled
        points, or to the predictions if there are no labels: for embeddings of many dimensions.

    is_layout : bool, default=False
        Whether the embedding is a layout, such as that of :class:`GraphLayout`: its axes mean
        nothing, and none are drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.

    figure_ : matplotlib Figure
        Figure that holds it.

    scatter_ : matplotlib PathCollection or None
        The labeled points, in the order of the rows. In space with more than eight classes it is a
        list with one collection per shape, and so are `predicted_` and `new_`; but options with one
        value per point, such as colors, give one collection of one shape.

    predicted_, unlabeled_, new_ : matplotlib PathCollection or None
        The points with only a prediction, the unlabeled points and the new rows.

    density_ : matplotlib AxesImage or None
        Image of a crowd of points, in place of `predicted_` and `unlabeled_`.

    density_counts_ : ndarray of shape (n_rows, n_columns) or None
        Number of points in each cell of that image, lowest row first.

    centers_ : matplotlib PathCollection or None
        The class centers.

    spokes_ : matplotlib LineCollection or None
        Lines toward the corners of the classes, in the plane of the classes.

    text_ : list of matplotlib Text
        Names of the classes that have a point or a center.

    thumbnails_ : list of matplotlib AnnotationBbox
        The images.

    thumbnail_rows_ : ndarray of int
        The row of each image.

    legend_ : matplotlib Legend or None
        The legend, if there are new rows.

    See Also
    --------
    GraphDisplay : The neighbor graph on the map.

    Notes
    -----
    More than 50,000 points without a label are drawn as an image of small cells, since markers
    would hide each other. A cell has the color of the class with the most predictions in it,
    each counted by its confidence, and fades to gray if predictions are few, uncertain or divided.
    Its opacity is its rank among all cells by number of points. Labeled and new rows are drawn
    on top; more than 50,000 of either become part of the image. Strips and maps in space have no
    such image: there, so many points are one bitmap inside a vector file.

    The plane of the classes is a linear image of all coordinates. Every class has a corner of a
    regular polygon, and ridge regression brings labeled points as close as possible to the corners
    of their classes, with the penalty that predicts left-out points best. It shows what a linear
    classifier sees. Labeled points always lie a little too well in it; judge by the others.
    ``display.view.place(points)`` returns where other points of the same embedding are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.plotting import EmbeddingDisplay
    >>> embedding = np.array([[0.0, 0.0], [0.1, 0.2], [1.0, 1.0], [1.1, 0.9]])
    >>> display = EmbeddingDisplay(embedding, labels=["cat", None, "dog", None]).plot()
    >>> [text.get_text() for text in display.text_]
    ['cat', 'dog']
    """

    def __init__(
        self,
        embedding: ArrayLike,
        *,
        labels: Any = None,
        predictions: Any = None,
        confidence: ArrayLike | None = None,
        is_new: ArrayLike | None = None,
        images: ArrayLike | None = None,
        class_centers: ArrayLike | None = None,
        classes: Sequence[Any] | NDArray[Any] | None = None,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
        components: Components = (0, 1),
        is_layout: bool = False,
    ) -> None:
        with input_errors():
            self.embedding: NDArray[Any] = check_array(
                embedding, dtype=np.float64, input_name="embedding"
            )
        n_points, n_columns = self.embedding.shape
        self.labels = check_labels(labels, n_points)
        self.predictions = check_labels(predictions, n_points, "predictions")
        self.confidence = check_confidence(confidence, self.predictions, n_points)
        self.is_new = check_is_new(is_new, n_points)
        self.images = check_images(images, n_points)
        self.class_centers = check_centers(class_centers, n_columns)
        self.components = check_components(components, n_columns)
        self.is_layout = is_layout
        self.classes = order_classes(self.labels, self.predictions, classes, self.class_centers)
        self.class_names = check_names(class_names, self.classes)
        self.view = self._choose_view()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        X_new: Any = None,
        show_predictions: bool = False,
        images: ArrayLike | None = None,
        components: Components | None = None,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the embedding of a fitted estimator, or the layout of a classifier's graph.

        Parameters
        ----------
        estimator : object
            Fitted classifier with a neighbor graph, such as :class:`FewLabelClassifier`, which is
            drawn by :meth:`GraphLayout.of_classifier`; fitted estimator with `embedding_`, and
            optionally `class_centers_` and `classes_`; or any fitted transformer, if `X` is given.
            A search is represented by its best estimator.

        X : array-like of shape (n_samples, n_features), default=None
            Rows to draw, embedded by `estimator.transform`. By default the rows the estimator was
            fitted on, from its `embedding_`.

        y : array-like of shape (n_samples,) or PartialLabels, default=None
            Label of each row, without those of `X_new`: -1, None or NaN for unlabeled rows.

        X_new : array-like of shape (n_new, n_features), default=None
            New rows to draw as well, embedded by `estimator.transform` and marked as new.

        show_predictions : bool, default=False
            Whether to color unlabeled points by the estimator's predictions: its `transduction_`
            and `label_distributions_`, or for `X` and `X_new` its `predict` and `predict_proba`.
            Off by default, since predictions always look tidy on the embedding they came from.

        images : array-like of shape (n_samples + n_new, height, width), default=None
            Image of each row, those of `X_new` last; also with 3 or 4 channels at the end.

        components : tuple of one, two or three int, or "classes", default=None
            Columns of the embedding to draw, counted from 0, or the plane that separates the
            classes. By default the layout of a classifier, and the first two columns of any other
            estimator. Without openTSNE a classifier is drawn as "classes", with a warning.

        class_names : sequence of str, or mapping, default=None
            Name of each class, in the order of `estimator.classes_`, or by class.

        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : EmbeddingDisplay
            The display, drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.decomposition import PCA
        >>> from labelfold.plotting import EmbeddingDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> display = EmbeddingDisplay.from_estimator(PCA(2).fit(X), X, y)
        >>> display.ax_.get_xlabel()
        'coordinate 1'

        A classifier that saw every tenth label, with its predictions and ten new rows:

        >>> from labelfold import ManifoldClassifier, hide_labels
        >>> y_some = hide_labels(y[:-10], keep=range(0, 140, 10))
        >>> model = ManifoldClassifier().fit(X[:-10], y_some)
        >>> display = EmbeddingDisplay.from_estimator(
        ...     model, y=y_some, X_new=X[-10:], show_predictions=True
        ... )
        >>> len(display.scatter_.get_offsets()), len(display.predicted_.get_offsets())
        (14, 126)
        >>> len(display.new_.get_offsets())
        10
        """
        inputs = read_estimator(estimator, X, y, X_new, show_predictions, components)
        display = cls(**inputs, images=images, class_names=class_names)
        return display.plot(ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        embedding: ArrayLike,
        predictions: Any,
        *,
        labels: Any = None,
        confidence: ArrayLike | None = None,
        is_new: ArrayLike | None = None,
        images: ArrayLike | None = None,
        class_centers: ArrayLike | None = None,
        classes: Sequence[Any] | NDArray[Any] | None = None,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
        components: Components = (0, 1),
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the predictions of any classifier on an embedding.

        Parameters
        ----------
        embedding : array-like of shape (n_samples, n_components)
            Coordinates of the points.

        predictions : array-like of shape (n_samples,) or PartialLabels
            Predicted class of each point.

        labels, confidence, is_new, images : array-like, default=None
            More about the points; see :class:`EmbeddingDisplay`.

        class_centers, classes, class_names : array-like, default=None
            More about the classes; see :class:`EmbeddingDisplay`.

        components : tuple of one, two or three int, or "classes", default=(0, 1)
            Columns of the embedding to draw, counted from 0, or the plane that separates the
            classes.

        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : EmbeddingDisplay
            The display, drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.decomposition import PCA
        >>> from sklearn.linear_model import LogisticRegression
        >>> from labelfold.plotting import EmbeddingDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> shares = LogisticRegression(max_iter=1000).fit(X, y).predict_proba(X)
        >>> display = EmbeddingDisplay.from_predictions(
        ...     PCA(2).fit_transform(X), shares.argmax(axis=1), confidence=shares.max(axis=1)
        ... )
        >>> [text.get_text() for text in display.text_]
        ['0', '1', '2']
        """
        return cls(
            embedding,
            labels=labels,
            predictions=predictions,
            confidence=confidence,
            is_new=is_new,
            images=images,
            class_centers=class_centers,
            classes=classes,
            class_names=class_names,
            components=components,
        ).plot(ax=ax, **kwargs)

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
            Whether to mark the class centers, if there are any.

        n_images : int, default=None
            Largest number of images to draw; they are spread over the map and do not overlap. By
            default 40 if there are images.

        density : bool or "auto", default="auto"
            Whether to draw points without a label as an image rather than as markers; the options
            of scatter then have no effect. "auto" does so for more than 50,000. Ignored for strips
            and in space.

        unlabeled_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.scatter` for the unlabeled points.

        predicted_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.scatter` for points with only a prediction.

        new_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.scatter` for the new rows.

        center_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.scatter` for the class centers.

        text_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.annotate` for the names of the classes, or to `text` in
            space. The rows of a strip are named by ticks.

        image_kwargs : dict, default=None
            Passed to `matplotlib.offsetbox.OffsetImage` for the images, such as `zoom`, in points
            of 1/72 inch per pixel, or `cmap="gray_r"` for dark ink on white paper.

        **kwargs : dict
            Passed to `matplotlib.axes.Axes.scatter` for the labeled points.

        Returns
        -------
        display : EmbeddingDisplay
            The display itself, with `ax_`, `figure_` and the drawn artists.
        """
        n_images = check_n_images(n_images, self.images, self.view.n_dims)
        if density not in (True, False, "auto"):
            raise InputError(f"density={density!r} must be True, False or 'auto'.")
        self.ax_ = ax = make_axes(ax, self.view.n_dims)
        self.figure_ = ax.figure
        groups = PointGroups.from_display(self)
        points, centers = self.places(groups.codes)
        styles = class_styles(len(self.classes))
        self.density_: AxesImage | None = None
        self.density_counts_: NDArray[np.intp] | None = None
        crowd = find_crowd(groups, density if self.view.n_dims == 2 else False)
        if crowd.any():
            self.density_, self.density_counts_ = draw_density(
                ax, points[crowd], groups.codes[crowd], groups.certainty[crowd], styles
            )
        markers = groups.without(crowd)
        given = {
            "labeled": kwargs,
            "predicted": predicted_kwargs or {},
            "unlabeled": unlabeled_kwargs or {},
            "new": new_kwargs or {},
        }
        has_others = self.density_ is not None or bool(markers.predicted.any())
        has_others |= self.is_layout and bool(markers.unlabeled.any())
        drawn = draw_points(ax, points, markers, styles, given, has_others=has_others)
        self.scatter_, self.predicted_ = drawn["labeled"], drawn["predicted"]
        self.unlabeled_, self.new_ = drawn["unlabeled"], drawn["new"]
        self.legend_ = None if self.new_ is None else explain_new(ax, len(points))
        self.spokes_ = draw_spokes(ax, self.view.spoke_ends(points))
        centers = centers if show_centers else None
        self.centers_ = draw_centers(ax, centers, styles, center_kwargs or {})
        names = self.class_names if show_names else [""] * len(self.classes)
        if self.view.n_dims == 1:
            self.text_ = name_rows(ax, names, styles, bool((groups.codes < 0).any()))
        else:
            anchors = find_anchors(points, groups.codes, centers) if show_names else {}
            self.text_ = write_names(ax, anchors, names, styles, centers, text_kwargs or {})
        for axis, name in zip("xyz", self.view.axis_names, strict=False):
            ax.set(**{f"{axis}label": "" if self.is_layout else name})
        if self.is_layout and self.view.n_dims > 1:
            ax.set_axis_off()
            if self.view.n_dims == 2:
                ax.set_aspect("equal", adjustable="datalim")
        if self.view.corners is not None:
            ax.set(xticks=[], yticks=[])  # numbers mean nothing in the plane of the classes
        self.thumbnails_: list[AnnotationBbox] = []
        self.thumbnail_rows_ = np.empty(0, dtype=np.intp)
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

    def interactive(
        self, *, hover: Mapping[Any, Any] | Any = None, title: str | None = None
    ) -> InteractiveMap:
        """Return the map as an interactive page, which a notebook shows in a frame.

        The parameters are those of :meth:`write_html`.

        Returns
        -------
        page : InteractiveMap
            The page, to show or to write to a file.
        """
        return InteractiveMap(interactive_page(self, hover=hover, title=title))

    def write_html(
        self,
        path: str | os.PathLike[str],
        *,
        hover: Mapping[Any, Any] | Any = None,
        title: str | None = None,
    ) -> None:
        """Write the map as one interactive HTML file that loads nothing else.

        Points show their details under the pointer, classes can be switched off, a search marks the
        points whose label or details contain a text, and a lasso selects points. The display need
        not be drawn.

        Parameters
        ----------
        path : str or path-like
            The file, whose name ends in .html. It is written as a whole or not at all.

        hover : mapping or pandas DataFrame, default=None
            Columns to show for the point under the pointer and to search in: for each name, one
            value per point. A column "row" replaces the number of the row.

        title : str, default=None
            Heading of the page. By default the number of points.

        Raises
        ------
        ValueError
            If the map has more than 500,000 points or three components, or if `hover` does not have
            one value per point.
        """
        self.interactive(hover=hover, title=title).write(path)

    def places(self, codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return where points of these classes and the class centers are drawn."""
        points = self.view.place(self.embedding)
        centers = None if self.class_centers is None else self.view.place(self.class_centers)
        if self.view.n_dims == 1:
            points = np.column_stack([points, strip_rows(codes, len(self.classes))])
            if centers is not None:
                centers = np.column_stack([centers, np.arange(len(centers))])
        return points, centers

    def _choose_view(self) -> MapView:
        """Return the view to draw: columns, or the plane that separates the classes."""
        n_points, n_columns = self.embedding.shape
        if self.components != CLASSES:
            return view_columns(self.components, n_columns)
        has_labels = self.labels is not None and self.labels.n_labeled > 0
        codes = codes_in(self.labels if has_labels else self.predictions, self.classes, n_points)
        return view_classes(self.embedding, codes, len(self.classes))
