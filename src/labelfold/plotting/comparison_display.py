"""Errors of several methods as a picture: a line a method, or bars where there is one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression

from labelfold.plotting.palette import UNLABELED_COLOR, ClassStyle, class_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Text

__all__ = ["ComparisonDisplay"]

LEAST_GAP = 0.055  # between names of lines, as a share of the axes' height
SHARE_OF_GAP = 0.25  # between two dimensions, that the intervals of one take up
NOTE_COLOR = "#595959"


class ComparisonDisplay:
    """Picture of errors against the dimension, with intervals.

    Each method has a line in its own colour (past eight methods, in colour and shape) with its
    name at the end. For a single dimension there is a bar a method. A method without any result is
    named, and not drawn.

    It is recommended to use :meth:`labelfold.evaluate.Comparison.plot`. All parameters are stored
    as attributes.

    Parameters
    ----------
    methods : sequence of str
        Names of the methods.

    dims : sequence of int
        The dimensions.

    errors : array-like of shape (n_methods, n_dims)
        Share of errors; NaN where there is none.

    lows, highs : array-like of shape (n_methods, n_dims)
        Ends of the intervals; NaN where there is none.

    chance : float, default=None
        Error by guessing, a dashed line where the picture reaches as far.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.

    figure_ : matplotlib Figure
        Figure that holds it.

    errorbars_ : dict of str to matplotlib ErrorbarContainer
        Points and intervals of every method that has a result.

    text_ : list of matplotlib Text
        What is written: names at the lines' ends, or the rows of bars without a result.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from labelfold.plotting.comparison_display import ComparisonDisplay
    >>> errors = [[0.3, 0.2], [0.25, 0.1]]
    >>> display = ComparisonDisplay(["PCA", "CCDR"], [2, 5], errors, errors, errors).plot()
    >>> [text.get_text() for text in display.text_]
    ['PCA', 'CCDR']
    """

    ax_: Axes
    figure_: Figure | SubFigure
    errorbars_: dict[str, ErrorbarContainer]
    text_: list[Text]

    def __init__(
        self,
        methods: Sequence[str],
        dims: Sequence[int],
        errors: ArrayLike,
        lows: ArrayLike,
        highs: ArrayLike,
        *,
        chance: float | None = None,
    ) -> None:
        self.methods = list(methods)
        self.dims = list(dims)
        self.errors = _as_table(errors, "errors", len(self.methods), len(self.dims))
        self.lows = _as_table(lows, "lows", len(self.methods), len(self.dims))
        self.highs = _as_table(highs, "highs", len(self.methods), len(self.dims))
        self.chance = chance

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        **kwargs : dict
            Passed to `matplotlib.axes.Axes.errorbar`.

        Returns
        -------
        display : ComparisonDisplay
            The display itself, with `ax_`, `figure_` and the drawn artists.
        """
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        from matplotlib.ticker import PercentFormatter

        self.ax_, self.figure_ = ax, ax.figure
        self.errorbars_, self.text_ = {}, []
        styles = class_styles(len(self.methods))
        if len(self.dims) == 1:
            self._draw_bars(ax, styles, kwargs)
        else:
            self._draw_lines(ax, styles, kwargs)
        ax.spines[["top", "right"]].set_visible(False)
        is_upright = len(self.dims) > 1
        if self.chance is not None:
            draw_guide = ax.axhline if is_upright else ax.axvline
            draw_guide(self.chance, color=UNLABELED_COLOR, linestyle="--", zorder=0)
        error_axis = ax.yaxis if is_upright else ax.xaxis
        error_axis.set_major_formatter(PercentFormatter(1.0))
        error_axis.set_label_text("error on hidden labels")
        return self

    def _draw_bars(self, ax: Axes, styles: list[ClassStyle], options: dict[str, Any]) -> None:
        places = np.arange(len(self.methods))
        for place, (name, style) in enumerate(zip(self.methods, styles, strict=True)):
            error = self.errors[place, 0]
            if np.isnan(error):
                self.text_.append(ax.text(0, place, " no result", va="center", color=NOTE_COLOR))
                continue
            ax.barh(place, error, height=0.7, color=style.color, alpha=0.6)
            given = {"fmt": "none", "ecolor": style.text_color, "elinewidth": 2, **options}
            around = self._around(place)
            self.errorbars_[name] = ax.errorbar([error], [place], xerr=around, **given)
        ax.set_yticks(places, self.methods)
        ax.invert_yaxis()  # the first method on top
        ax.set_xlim(left=0)
        ax.set_title(f"{self.dims[0]} {'dimension' if self.dims[0] == 1 else 'dimensions'}")

    def _draw_lines(self, ax: Axes, styles: list[ClassStyle], options: dict[str, Any]) -> None:
        order = np.argsort(self.dims)
        places = np.asarray(self.dims)[order]
        # Side by side, so that the intervals of one dimension can be told apart.
        width = SHARE_OF_GAP * float(np.diff(places).min())
        shifts = width * (np.arange(len(styles)) / max(len(styles) - 1, 1) - 0.5)
        ends: list[tuple[float, str, ClassStyle]] = []
        for row, (name, style) in enumerate(zip(self.methods, styles, strict=True)):
            errors = self.errors[row][order]
            known = np.flatnonzero(~np.isnan(errors))
            if len(known) == 0:
                continue
            given = {"color": style.color, "marker": style.marker, "elinewidth": 3, **options}
            bars = ax.errorbar(
                places + shifts[row], errors, yerr=self._around(row)[:, order], **given
            )
            for interval in bars.lines[2]:
                interval.set_alpha(0.35)
            self.errorbars_[name] = bars
            ends.append((float(errors[known[-1]]), name, style))
        ax.set_ylim(bottom=0)
        heights = _spread([end for end, _, _ in ends], LEAST_GAP * ax.get_ylim()[1])
        for height, (_, name, style) in zip(heights, ends, strict=True):
            self.text_.append(
                ax.annotate(
                    name,
                    (1, height),
                    xycoords=ax.get_yaxis_transform(),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    color=style.text_color,
                    annotation_clip=False,
                )
            )
        absent = [name for name in self.methods if name not in self.errorbars_]
        if absent:
            ax.set_title(f"No result: {', '.join(absent)}", color=NOTE_COLOR, fontsize="medium")
        ax.set_xticks(places)
        ax.set_xlabel("dimension")

    def _around(self, row: int) -> NDArray[np.float64]:
        """Return how far a method's intervals reach below and above, 0 where there is none."""
        below, above = self.errors[row] - self.lows[row], self.highs[row] - self.errors[row]
        return np.nan_to_num(np.maximum([below, above], 0.0))


def _as_table(values: ArrayLike, name: str, n_methods: int, n_dims: int) -> NDArray[np.float64]:
    table = np.asarray(values, dtype=float)
    if table.shape != (n_methods, n_dims):
        raise ValueError(
            f"{name} has shape {table.shape} for {n_methods} methods and {n_dims} dimensions: "
            "give a row a method and a column a dimension."
        )
    return table


def _spread(heights: Sequence[float], gap: float) -> NDArray[np.float64]:
    """Return the nearest heights in the same order, from 0 on, that are at least a gap apart."""
    spread = np.array(heights, dtype=float)
    if len(spread):
        order = np.argsort(spread, kind="stable")
        steps = gap * np.arange(len(spread))
        spread[order] = isotonic_regression(spread[order] - steps, y_min=0) + steps
    return spread
