"""Errors of several methods as a picture: a line a method, or bars where there is one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelfold.exceptions import InputError
from labelfold.plotting.lines import (
    NOTE_COLOR,
    draw_errors,
    line_styles,
    name_ends,
    reach_of,
    write_above,
)
from labelfold.plotting.palette import ClassStyle
from labelfold.plotting.value_axis import place_values, start_at_zero

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer, ErrorbarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

__all__ = ["ComparisonDisplay"]


class ComparisonDisplay:
    """Picture of errors against the dimension, with intervals.

    Each method has a line in its own colour and marker with its name at the end. Dimensions that
    span a factor of 100 or more stand on a logarithmic axis. For a single dimension there is a bar
    a method. A method without any result is named, and not drawn.

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

    ax_: Axes
    figure_: Figure | SubFigure
    errorbars_: dict[str, ErrorbarContainer]
    bars_: dict[str, BarContainer]
    chance_: Line2D | None
    chance_text_: Text | None
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
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        from matplotlib.ticker import PercentFormatter

        self.ax_, self.figure_ = ax, ax.figure
        self.errorbars_, self.bars_, self.text_ = {}, {}, []
        styles = line_styles(len(self.methods))
        if len(self.dims) == 1:
            self._draw_bars(ax, styles, kwargs)
        else:
            self._draw_lines(ax, styles, kwargs)
        ax.spines[["top", "right"]].set_visible(False)
        is_upright = len(self.dims) > 1
        self.chance_, self.chance_text_ = None, None
        if self.chance is not None:
            self._draw_chance(ax, self.chance, is_upright)
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
            self.bars_[name] = ax.barh(place, error, height=0.7, color=style.color, alpha=0.6)
            given = {"fmt": "none", "ecolor": style.text_color, "elinewidth": 2, **options}
            around = reach_of(self.errors[place], self.lows[place], self.highs[place])
            self.errorbars_[name] = ax.errorbar([error], [place], xerr=around, **given)
        ax.set_yticks(places, self.methods, parse_math=False)  # a name may hold a dollar
        ax.invert_yaxis()  # the first method on top
        ax.set_xlim(left=0)
        ax.set_title(f"{self.dims[0]} {'dimension' if self.dims[0] == 1 else 'dimensions'}")

    def _draw_lines(self, ax: Axes, styles: list[ClassStyle], options: dict[str, Any]) -> None:
        order = np.argsort(self.dims)
        errors, lows, highs = self.errors[:, order], self.lows[:, order], self.highs[:, order]
        places = place_values(ax, [self.dims[column] for column in order], len(styles))
        ends: list[tuple[float, str, ClassStyle]] = []
        for row, (name, style) in enumerate(zip(self.methods, styles, strict=True)):
            known = np.flatnonzero(~np.isnan(errors[row]))
            if len(known) == 0:
                continue
            reach = reach_of(errors[row], lows[row], highs[row])
            self.errorbars_[name] = draw_errors(
                ax, places[row], errors[row], reach, style, options, joined=True
            )
            ends.append((float(errors[row, known[-1]]), name, style))
        start_at_zero(ax, errors)
        if ends:
            heights, names, drawn = zip(*ends, strict=True)
            self.text_ = name_ends(ax, heights, names, drawn)
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


def _as_table(values: ArrayLike, name: str, n_methods: int, n_dims: int) -> NDArray[np.float64]:
    table = np.asarray(values, dtype=float)
    if table.shape != (n_methods, n_dims):
        raise InputError(
            f"{name} has shape {table.shape} for {n_methods} methods and {n_dims} dimensions: "
            "give a row a method and a column a dimension."
        )
    return table
