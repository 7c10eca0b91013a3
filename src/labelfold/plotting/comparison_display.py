"""Errors of several methods as a picture: one line each, or one bar each for a single dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from labelfold.plotting.lines import (
    check_shape,
    draw_level,
    draw_lines,
    get_axes,
    interval_lengths,
    line_styles,
    title_absent,
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

    Each method has a line with its own color and marker, and its name at the end. Dimensions that
    span a factor of 100 or more are on a logarithmic axis. A single dimension gives one bar per
    method. A method without any result is named but not drawn. A classifier without an embedding
    has the same error in all dimensions.

    Use :meth:`from_comparison`, or :meth:`labelfold.evaluate.Comparison.plot`, which does the same.
    All parameters are stored as attributes.

    Parameters
    ----------
    methods : sequence of str
        Names of the methods.

    dims : sequence of int
        The dimensions; none if no method computes an embedding.

    errors : array-like of shape (n_methods, n_dims)
        Share of errors; NaN for no result.

    lows, highs : array-like of shape (n_methods, n_dims)
        Ends of the intervals; NaN for no interval.

    chance : float, default=None
        Error by guessing, drawn as a dashed line if it is within the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.

    figure_ : matplotlib Figure
        Figure that holds it.

    errorbars_ : dict of str to matplotlib ErrorbarContainer
        Points and intervals of every method that has a result.

    bars_ : dict of str to matplotlib BarContainer
        Bars of every method that has a result; empty for several dimensions.

    chance_, chance_text_ : matplotlib Line2D and Text, or None
        Line of the error by guessing and its name, if it is within the picture.

    text_ : list of matplotlib Text
        Names at the lines' ends, or notes at bars without a result.

    See Also
    --------
    labelfold.evaluate.compare : Compares methods.
    SweepDisplay : Errors against a parameter.

    Examples
    --------
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
        shape, each = (len(self.methods), len(self.dims) or 1), "method and dimension"
        self.errors = check_shape("errors", errors, shape, each)
        self.lows = check_shape("lows", lows, shape, each)
        self.highs = check_shape("highs", highs, shape, each)
        self.chance = chance

    @classmethod
    def from_comparison(cls, comparison: Any, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the errors of a comparison.

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
            The display, drawn. Strokes are 80 % intervals; the dashed line is the error of always
            predicting the largest class.

        Examples
        --------
        >>> from sklearn.decomposition import PCA
        >>> from labelfold import CCDR
        >>> from labelfold.datasets import make_swiss_roll
        >>> from labelfold.evaluate import compare
        >>> from labelfold.plotting import ComparisonDisplay
        >>> X, y, _ = make_swiss_roll(300, random_state=0)
        >>> methods = {"PCA": PCA(), "CCDR": CCDR()}
        >>> comparison = compare(X, y, methods, dims=(1, 2), cv=3, random_state=0)
        >>> display = ComparisonDisplay.from_comparison(comparison)
        >>> display.errors.shape
        (2, 2)
        """
        rows = comparison.summary()
        methods = list(dict.fromkeys(row.method for row in rows))
        dims = list(dict.fromkeys(row.dimension for row in rows if row.dimension is not None))
        tables = np.full((3, len(methods), len(dims) or 1), np.nan)
        for row in rows:
            columns = slice(None) if row.dimension is None else [dims.index(row.dimension)]
            tables[:, methods.index(row.method), columns] = [[row.error], [row.low], [row.high]]
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
        self.ax_ = ax = get_axes(ax)
        self.figure_ = ax.figure
        self.errorbars_: dict[str, ErrorbarContainer] = {}
        self.bars_: dict[str, BarContainer] = {}
        self.text_: list[Text] = []
        self.chance_: Line2D | None = None
        self.chance_text_: Text | None = None
        if len(self.dims) > 1:
            self._draw_lines(ax, kwargs)
        else:
            self._draw_bars(ax, kwargs)
        return self

    def _draw_lines(self, ax: Axes, options: dict[str, Any]) -> None:
        tables = self.errors, self.lows, self.highs
        bars, _, self.text_ = draw_lines(ax, self.dims, tables, self.methods, options)
        drawn = zip(self.methods, bars, strict=True)
        self.errorbars_ = {name: one for name, one in drawn if one is not None}
        title_absent(ax, [name for name in self.methods if name not in self.errorbars_])
        ax.set(xlabel="dimension", ylabel="error on hidden labels")
        if self.chance is not None and self.chance < ax.get_ylim()[1]:
            self.chance_, self.chance_text_ = draw_level(
                ax, self.chance, "by guessing", color=NOTE_COLOR
            )

    def _draw_bars(self, ax: Axes, options: dict[str, Any]) -> None:
        from matplotlib.ticker import PercentFormatter

        styles = line_styles(len(self.methods))
        for row, (name, style) in enumerate(zip(self.methods, styles, strict=True)):
            error = self.errors[row, 0]
            if np.isnan(error):
                self.text_.append(ax.text(0, row, " no result", va="center", color=NOTE_COLOR))
                continue
            self.bars_[name] = ax.barh(row, error, height=0.7, color=style.color, alpha=0.6)
            look = {"fmt": "none", "ecolor": style.text_color, "elinewidth": 2, **options}
            lengths = interval_lengths(self.errors[row], self.lows[row], self.highs[row])
            self.errorbars_[name] = ax.errorbar([error], [row], xerr=lengths, **look)
        # A name may contain a dollar sign.
        ax.set_yticks(range(len(self.methods)), self.methods, parse_math=False)
        ax.invert_yaxis()  # the first method on top
        ax.set(xlim=(0, None), xlabel="error on hidden labels")
        if self.dims:
            ax.set_title(f"{self.dims[0]} {'dimension' if self.dims[0] == 1 else 'dimensions'}")
        ax.spines[["top", "right"]].set_visible(False)
        ax.xaxis.set_major_formatter(PercentFormatter(1.0))
        if self.chance is not None and self.chance < ax.get_xlim()[1]:
            place, color = self.chance, NOTE_COLOR
            self.chance_ = ax.axvline(place, color=color, linestyle="--", linewidth=1, zorder=0)
            self.chance_text_ = write_above(ax, place, "by guessing", ha="center", color=color)
