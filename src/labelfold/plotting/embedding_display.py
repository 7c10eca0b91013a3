"""A map as a picture: points coloured by class, classes named where they lie, centres marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from labelfold.labels import PartialLabels
from labelfold.plotting.class_layout import codes_in, name_anchors, order_classes, strip_rows
from labelfold.plotting.map_artists import (
    draw_centers,
    draw_labeled,
    draw_unlabeled,
    name_rows,
    point_size,
    write_names,
)
from labelfold.plotting.palette import class_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Text


class EmbeddingDisplay:
    """Picture of an embedding with partial labels.

    Labelled points are drawn in the colour of their class (past eight classes, in colour and
    shape), unlabelled points in grey underneath, class centres as stars, and each class carries its
    name at a point in its midst. An embedding of one column is drawn as a strip, a row for each
    class.

    It is recommended to use :meth:`from_estimator` for the map of an estimator. All parameters are
    stored as attributes.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the points.

    labels : array-like of shape (n_samples,) or PartialLabels, default=None
        Label of each point, with -1, None or NaN where it is unknown. None draws every point as
        unlabelled.

    class_centers : array-like of shape (n_classes, n_components), default=None
        Coordinates of the class centres.

    classes : array-like of shape (n_classes,), default=None
        The class of each row of `class_centers`, which also fixes the order of colours. By default
        the sorted classes of `labels`.

    class_names : sequence of str, default=None
        What to write for each class, in the order of `classes`, or of the sorted classes of
        `labels` where `classes` is None. By default the classes themselves.

    components : tuple of one or two int, default=(0, 1)
        Columns of the embedding to draw, counted from zero. One column gives a strip.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.

    figure_ : matplotlib Figure
        Figure that holds it.

    scatter_ : matplotlib PathCollection or None
        The labelled points, in the order of the rows.

    unlabeled_ : matplotlib PathCollection or None
        The unlabelled points, in the order of the rows.

    centers_ : matplotlib PathCollection or None
        The class centres.

    text_ : list of matplotlib Text
        The names of the classes that have a labelled point or a centre.

    See Also
    --------
    CCDR : Eigenmaps with class centres, which this display shows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from labelfold.plotting import EmbeddingDisplay
    >>> embedding = np.array([[0.0, 0.0], [0.1, 0.2], [1.0, 1.0], [1.1, 0.9]])
    >>> display = EmbeddingDisplay(embedding, labels=["cat", None, "dog", None]).plot()
    >>> [text.get_text() for text in display.text_]
    ['cat', 'dog']
    """

    ax_: Axes
    figure_: Figure | SubFigure
    scatter_: PathCollection | None
    unlabeled_: PathCollection | None
    centers_: PathCollection | None
    text_: list[Text]

    def __init__(
        self,
        embedding: ArrayLike,
        *,
        labels: Any = None,
        class_centers: ArrayLike | None = None,
        classes: Sequence[Any] | NDArray[Any] | None = None,
        class_names: Sequence[str] | None = None,
        components: tuple[int, ...] = (0, 1),
    ) -> None:
        self.embedding: NDArray[Any] = check_array(embedding, input_name="embedding")
        self.labels = _check_labels(labels, len(self.embedding))
        self.class_centers = _check_centers(class_centers, self.embedding.shape[1])
        self.components = _check_components(components, self.embedding.shape[1])
        n_centers = None if self.class_centers is None else len(self.class_centers)
        self.classes = order_classes(
            self.labels, None if classes is None else list(classes), n_centers
        )
        self.class_names = _check_names(class_names, self.classes)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        components: tuple[int, ...] = (0, 1),
        class_names: Sequence[str] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the map of a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted estimator with `embedding_`, and optionally `class_centers_` and `classes_`; or
            any fitted transformer, if `X` is given. Of a :class:`ManifoldClassifier` the map is
            drawn.

        X : array-like of shape (n_samples, n_features), default=None
            Points to draw, through `estimator.transform`. By default the points the estimator was
            fitted on, by its `embedding_`.

        y : array-like of shape (n_samples,) or PartialLabels, default=None
            Label of each drawn point, with -1, None or NaN where it is unknown.

        components : tuple of one or two int, default=(0, 1)
            Columns of the embedding to draw, counted from zero.

        class_names : sequence of str, default=None
            What to write for each class, in the order of `estimator.classes_`.

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
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.decomposition import PCA
        >>> from labelfold.plotting import EmbeddingDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> display = EmbeddingDisplay.from_estimator(PCA(2).fit(X), X, y)
        >>> display.ax_.get_xlabel()
        'coordinate 1'
        """
        check_is_fitted(estimator)
        mapper = getattr(estimator, "embedder_", estimator)
        if X is None and not hasattr(estimator, "embedding_"):
            raise ValueError(
                f"{type(estimator).__name__} keeps no embedding_ of its training points: "
                "pass X, the points to draw."
            )
        return cls(
            estimator.embedding_ if X is None else mapper.transform(X),
            labels=y,
            class_centers=getattr(mapper, "class_centers_", None),
            classes=getattr(estimator, "classes_", None),
            class_names=class_names,
            components=components,
        ).plot(ax=ax, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        show_names: bool = True,
        show_centers: bool = True,
        unlabeled_kwargs: dict[str, Any] | None = None,
        center_kwargs: dict[str, Any] | None = None,
        text_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        show_names : bool, default=True
            Whether to write the names of the classes.

        show_centers : bool, default=True
            Whether to mark the class centres, where there are any.

        unlabeled_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.scatter` for the unlabelled points.

        center_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.scatter` for the class centres.

        text_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.annotate` for the names of the classes.

        **kwargs : dict
            Passed to `matplotlib.axes.Axes.scatter` for the labelled points.

        Returns
        -------
        display : EmbeddingDisplay
            The display itself, with `ax_`, `figure_` and the drawn artists.
        """
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        codes = codes_in(self.labels, self.classes, len(self.embedding))
        known = codes >= 0
        points, centers = self._places(codes)
        if not show_centers:
            centers = None
        styles = class_styles(len(self.classes))
        size = point_size(len(points))

        self.ax_, self.figure_ = ax, ax.figure
        self.unlabeled_ = draw_unlabeled(ax, points[~known], size, unlabeled_kwargs or {})
        self.scatter_ = draw_labeled(ax, points[known], codes[known], styles, size, kwargs)
        self.centers_ = draw_centers(ax, centers, styles, center_kwargs or {})
        if self._is_strip:
            names = self.class_names if show_names else [""] * len(self.classes)
            self.text_ = name_rows(ax, names, styles, has_unlabeled=not known.all())
        else:
            anchors = name_anchors(points, codes, centers) if show_names else {}
            self.text_ = write_names(ax, anchors, self.class_names, styles, text_kwargs or {})
            ax.set_ylabel(f"coordinate {self.components[1] + 1}")
        ax.set_xlabel(f"coordinate {self.components[0] + 1}")
        return self

    @property
    def _is_strip(self) -> bool:
        return len(self.components) == 1

    def _places(self, codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Where points and centres stand on the page."""
        points = self.embedding[:, self.components]
        centers = None if self.class_centers is None else self.class_centers[:, self.components]
        if self._is_strip:
            points = np.column_stack([points, strip_rows(codes, len(self.classes))])
            if centers is not None:
                centers = np.column_stack([centers, np.arange(len(centers))])
        return points, centers


def _check_labels(labels: Any, n_points: int) -> PartialLabels | None:
    if labels is None:
        return None
    known = labels if isinstance(labels, PartialLabels) else PartialLabels.from_y(labels)
    if len(known) != n_points:
        raise ValueError(
            f"labels has {len(known)} entries but the embedding has {n_points} rows: "
            "pass one label for each row, -1 or None where it is unknown."
        )
    return known


def _check_centers(class_centers: ArrayLike | None, n_columns: int) -> NDArray[Any] | None:
    if class_centers is None or len(np.asarray(class_centers)) == 0:
        return None
    centers: NDArray[Any] = check_array(class_centers, input_name="class_centers")
    if centers.shape[1] != n_columns:
        raise ValueError(
            f"class_centers has {centers.shape[1]} columns but the embedding has {n_columns}: "
            "pass the centres of the same map."
        )
    return centers


def _check_components(components: tuple[int, ...], n_columns: int) -> list[int]:
    chosen = [int(index) for index in components]
    if n_columns == 1 and chosen == [0, 1]:
        return [0]
    if len(chosen) not in (1, 2):
        raise ValueError(
            f"components={tuple(chosen)} names {len(chosen)} columns: "
            "name two for a map, or one for a strip."
        )
    if not all(0 <= index < n_columns for index in chosen):
        raise ValueError(
            f"components={tuple(chosen)} is out of range for an embedding of {n_columns} columns: "
            f"columns are counted from 0 to {n_columns - 1}."
        )
    return chosen


def _check_names(class_names: Sequence[str] | None, classes: Sequence[Any]) -> list[str]:
    if class_names is None:
        # Labels with NaN among them are floats, whose classes are whole numbers all the same.
        return [f"{v:.0f}" if isinstance(v, float) else str(v) for v in classes]
    if len(class_names) != len(classes):
        raise ValueError(
            f"class_names has {len(class_names)} entries for {len(classes)} classes: "
            "pass one name for each class, in the order of classes."
        )
    return [str(name) for name in class_names]
