"""Errors of several methods as a picture: a line for each, or bars where there is one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from labelfold.plotting.lines import (
    check_shape,
    draw_lines,
    line_styles,
    name_lines,
    new_axes,
    reach_of,
    start_at_zero,
    write_above,
)
from labelfold.plotting.palette import NOTE_COLOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer, ErrorbarContainer
    from matplotlib.lines import Line2D
    from matplotlib.text import Text


class ComparisonDisplay:
    """Picture of errors against the dimension, with intervals.

    Each method has a line in its own color and marker with its name at the end. Dimensions that
    span a factor of 100 or more stand on a logarithmic axis. For a single dimension there is a bar
    for each method. A method without any result is named, and not drawn.

    It is recommended to use :meth:`from_comparison`, or
    :meth:`labelfold.evaluate.Comparison.plot`, which does the same. All parameters are stored as
    attributes.

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

    bars_ : dict of str to matplotlib BarContainer
        Bars of every method that has a result; empty where there are lines.

    chance_ : matplotlib Line2D or None
        Line of the error by guessing.

    chance_text_ : matplotlib Text or None
        Its name, where the picture reaches as far.

    text_ : list of matplotlib Text
        What is written: names at the lines' ends, or the rows of bars without a result.

    See Also
    --------
    labelfold.evaluate.compare : Makes the comparison.
    SweepDisplay : Errors against a parameter.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from labelfold.plotting import ComparisonDisplay
    >>> errors = [[0.3, 0.2], [0.25, 0.1]]
    >>> display = ComparisonDisplay(["PCA", "CCDR"], [2, 5], errors, errors, errors).plot()
    >>> [text.get_text() for text in display.text_]
    ['PCA', 'CCDR']
    """

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
        shape, each = (len(self.methods), len(self.dims)), "method and dimension"
        self.errors = check_shape("errors", errors, shape, each)
        self.lows = check_shape("lows", lows, shape, each)
        self.highs = check_shape("highs", highs, shape, each)
        self.chance = chance

    @classmethod
    def from_comparison(cls, comparison: Any, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw what a comparison found.

        Parameters
        ----------
        comparison : Comparison
            Result of :func:`labelfold.evaluate.compare`.

        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ComparisonDisplay
            The display, drawn. Strokes are 80 % intervals; the dashed line, where in reach, is the
            error of always naming the largest class.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from sklearn.decomposition import PCA
        >>> from labelfold import CCDR
        >>> from labelfold.datasets import make_swiss_roll
        >>> from labelfold.evaluate import compare
        >>> from labelfold.plotting import ComparisonDisplay
        >>> X, y, _ = make_swiss_roll(300, random_state=0)
        >>> methods = {"PCA": PCA(), "CCDR": CCDR()}
        >>> found = compare(X, y, methods, dims=(1, 2), cv=3, random_state=0)
        >>> display = ComparisonDisplay.from_comparison(found)
        >>> display.errors.shape
        (2, 2)
        """
        rows = comparison.summary()
        methods = list(dict.fromkeys(row.method for row in rows))
        dims = list(dict.fromkeys(row.dimension for row in rows))
        tables = np.full((3, len(methods), len(dims)), np.nan)
        for row in rows:
            place = methods.index(row.method), dims.index(row.dimension)
            tables[:, *place] = row.error, row.low, row.high
        return cls(methods, dims, *tables, chance=comparison.chance).plot(ax=ax, **kwargs)

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
        from matplotlib.ticker import PercentFormatter

        self.ax_ = ax = new_axes(ax)
        self.figure_ = ax.figure
        self.errorbars_: dict[str, ErrorbarContainer] = {}
        self.bars_: dict[str, BarContainer] = {}
        self.text_: list[Text] = []
        is_upright = len(self.dims) > 1
        if is_upright:
            self._draw_lines(ax, kwargs)
        else:
            self._draw_bars(ax, kwargs)
        ax.spines[["top", "right"]].set_visible(False)
        self.chance_: Line2D | None = None
        self.chance_text_: Text | None = None
        if self.chance is not None:
            self._draw_chance(ax, self.chance, is_upright)
        error_axis = ax.yaxis if is_upright else ax.xaxis
        error_axis.set_major_formatter(PercentFormatter(1.0))
        error_axis.set_label_text("error on hidden labels")
        return self

    def _draw_bars(self, ax: Axes, options: dict[str, Any]) -> None:
        places, styles = np.arange(len(self.methods)), line_styles(len(self.methods))
        for place, (name, style) in enumerate(zip(self.methods, styles, strict=True)):
            error = self.errors[place, 0]
            if np.isnan(error):
                self.text_.append(ax.text(0, place, " no result", va="center", color=NOTE_COLOR))
                continue
            self.bars_[name] = ax.barh(place, error, height=0.7, color=style.color, alpha=0.6)
            given = {"fmt": "none", "ecolor": style.text_color, "elinewidth": 2, **options}
            around = reach_of(self.errors[place], self.lows[place], self.highs[place])
            self.errorbars_[name] = ax.errorbar([error], [place], xerr=around, **given)
        ax.set_yticks(places, self.methods, parse_math=False)  # a name may hold a dollar
        ax.invert_yaxis()  # the first method on top
        ax.set_xlim(left=0)
        ax.set_title(f"{self.dims[0]} {'dimension' if self.dims[0] == 1 else 'dimensions'}")

    def _draw_lines(self, ax: Axes, options: dict[str, Any]) -> None:
        order = np.argsort(self.dims)
        dims = [self.dims[column] for column in order]
        errors, lows, highs = self.errors[:, order], self.lows[:, order], self.highs[:, order]
        bars, _ = draw_lines(ax, dims, (errors, lows, highs), options)
        drawn = zip(self.methods, bars, strict=True)
        self.errorbars_ = {name: one for name, one in drawn if one is not None}
        start_at_zero(ax, errors)
        self.text_ = name_lines(ax, dims, errors, self.methods)
        absent = [name for name in self.methods if name not in self.errorbars_]
        if absent:
            title = f"No result: {', '.join(absent)}"
            ax.set_title(title, color=NOTE_COLOR, fontsize="medium", parse_math=False)
        ax.set_xlabel("dimension")

    def _draw_chance(self, ax: Axes, chance: float, is_upright: bool) -> None:
        draw_guide = ax.axhline if is_upright else ax.axvline
        self.chance_ = draw_guide(chance, color=NOTE_COLOR, linestyle="--", zorder=0)
        if chance >= (ax.get_ylim() if is_upright else ax.get_xlim())[1]:
            return
        words = "by guessing"
        if is_upright:
            self.chance_text_ = ax.annotate(
                words,
                (0.0, chance),
                xycoords=ax.get_yaxis_transform(),
                xytext=(3, 2),
                textcoords="offset points",
                color=NOTE_COLOR,
            )
        else:
            self.chance_text_ = write_above(ax, chance, words, ha="center", color=NOTE_COLOR)
