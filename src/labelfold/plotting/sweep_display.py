"""Errors against a parameter as a picture, with intervals and the value that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.plotting.lines import (
    NOTE_COLOR,
    LineStyle,
    fade_intervals,
    line_styles,
    name_ends,
)
from labelfold.plotting.sweep_artists import (
    are_numbers,
    draw_star,
    name_absent,
    place_values,
    set_errors,
)
from labelfold.plotting.sweep_source import read_predictions, read_search

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

__all__ = ["SweepDisplay"]

Array = NDArray[np.float64]


class SweepDisplay:
    """Picture of errors against the values of a parameter.

    Each setting of the other parameters has a line in its own colour and marker, with its name at
    the end. Upright strokes are intervals, a star is the candidate that was chosen. Numbers stand
    on a number axis, on a logarithmic one where they are positive and span more than a factor of
    100; other values side by side, without lines. What has no result is named, and not drawn.

    It is recommended to use :meth:`from_estimator` for a search, and :meth:`from_predictions` for
    predictions. All parameters are stored as attributes.

    Parameters
    ----------
    values : sequence of length n_values
        Values of the parameter, numbers or others.

    errors : array-like of shape (n_values,) or (n_lines, n_values)
        Errors; NaN where there is none.

    lows, highs : array-like of the same shape, default=None
        Ends of the intervals; NaN, or None for all, where there is none.

    param : str, default="parameter"
        Name of the parameter.

    names : sequence of str, default=None
        Names of the lines; None for a single one.

    chosen : tuple of (int, int), default=None
        Line and value, counted from 0, to be marked.

    measure : str, default="error"
        What the errors are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.

    figure_ : matplotlib Figure
        Figure that holds it.

    errorbars_ : list of matplotlib ErrorbarContainer or None
        Points and intervals of each line; None for one without a result.

    chosen_, chosen_line_ : matplotlib Line2D or None
        The star, and the dotted line from it to its name.

    text_ : list of matplotlib Text
        Names of the lines, and of the star.

    See Also
    --------
    labelfold.evaluate.TransductiveSearchCV : A search over the parameters of a classifier.
    ComparisonDisplay : Errors of several methods.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from labelfold.plotting import SweepDisplay
    >>> display = SweepDisplay([0.01, 1, 100], [0.3, 0.1, 0.2], param="beta").plot()
    >>> display.ax_.get_xscale(), display.ax_.get_xlabel()
    ('log', 'beta')
    """

    ax_: Axes
    figure_: Figure | SubFigure
    errorbars_: list[ErrorbarContainer | None]
    chosen_: Line2D | None
    chosen_line_: Line2D | None
    text_: list[Text]

    def __init__(
        self,
        values: Sequence[Any] | NDArray[Any],
        errors: ArrayLike,
        lows: ArrayLike | None = None,
        highs: ArrayLike | None = None,
        *,
        param: str = "parameter",
        names: Sequence[str] | None = None,
        chosen: tuple[int, int] | None = None,
        measure: str = "error",
    ) -> None:
        self.values = list(values)
        self.errors = _check_table(errors, "errors", len(self.values))
        self.lows = self._or_errors(lows, "lows")
        self.highs = self._or_errors(highs, "highs")
        self.param = param
        self.names = None if names is None else [str(name) for name in names]
        if self.names is None and len(self.errors) > 1:
            raise ValueError(f"errors has {len(self.errors)} lines: pass names, one for each.")
        if self.names is not None and len(self.names) != len(self.errors):
            raise ValueError(
                f"names has {len(self.names)} entries for {len(self.errors)} lines: pass one for "
                "each."
            )
        self.chosen = chosen
        self.measure = measure

    @classmethod
    def from_estimator(
        cls,
        search: Any,
        *,
        param: str | None = None,
        others: str = "auto",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the mean errors that a fitted search found.

        Parameters
        ----------
        search : fitted search
            :class:`labelfold.evaluate.TransductiveSearchCV`, or any search of scikit-learn. Errors
            are 1 less the scores.

        param : str, default=None
            The parameter, as the search names it. None where only one varies. Candidates that do
            not set it are left out.

        others : {"auto", "each", "best"}, default="auto"
            What becomes of other parameters that vary. "each" draws a line for each of their
            settings. "best" draws one line, for each value with the setting of the others that has
            the least error; the least of many is lower than what new data would show. "auto" is
            "each" for up to 8 settings, and else "best".

        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : SweepDisplay
            The display, drawn. Intervals are Student's, at 80 %, for the mean over splits. Splits
            share training rows, so they are a guide and not a test. A candidate without a score in
            any one split has no result.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from labelfold import CCDR, ManifoldClassifier, TransductiveSearchCV, hide_labels
        >>> from labelfold.datasets import make_swiss_roll
        >>> from labelfold.plotting import SweepDisplay
        >>> X, y, _ = make_swiss_roll(300, random_state=0)
        >>> grid = {"embedder__n_neighbors": [4, 8, 16]}
        >>> search = TransductiveSearchCV(ManifoldClassifier(CCDR()), grid)
        >>> search = search.fit(X, hide_labels(y, keep=range(100)))
        >>> display = SweepDisplay.from_estimator(search)
        >>> display.values[display.chosen[1]] == search.best_params_["embedder__n_neighbors"]
        True
        """
        check_is_fitted(search)
        if not hasattr(search, "cv_results_"):
            raise ValueError(
                f"{type(search).__name__} has no cv_results_: pass a fitted search, or use "
                "from_predictions."
            )
        return cls(**read_search(search, param, others)).plot(ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        values: Sequence[Any],
        y_true: ArrayLike,
        y_preds: Sequence[ArrayLike | None],
        *,
        labeled: ArrayLike | None = None,
        param: str = "parameter",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the errors of several predictions of the same rows.

        Parameters
        ----------
        values : sequence of length n_values
            Value of the parameter for each prediction.

        y_true : array-like of shape (n_samples,)
            True labels; rows with -1, None or NaN are not scored.

        y_preds : sequence of array-like of shape (n_samples,)
            Predicted classes; None where there are none, as a fit failed.

        labeled : array-like of bool of shape (n_samples,), default=None
            Rows whose labels were known to the fits, which are not scored. None is for none.

        param : str, default="parameter"
            Name of the parameter.

        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : SweepDisplay
            The display, drawn. Intervals are Wilson's, at 80 %, for the rows that are scored; as
            these are the same for all values, differences are surer than the intervals look.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from labelfold.plotting import SweepDisplay
        >>> y_true = ["a", "b", None, "b"]
        >>> y_preds = [["a", "a", "a", "a"], ["a", "b", "a", "a"]]
        >>> display = SweepDisplay.from_predictions([1, 2], y_true, y_preds)
        >>> display.errors.round(2)
        array([[0.67, 0.33]])
        """
        found = read_predictions(values, y_true, y_preds, labeled, param)
        return cls(**found).plot(ax=ax, **kwargs)

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers."""
        return are_numbers(self.values)

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
        display : SweepDisplay
            The display itself, with `ax_`, `figure_` and the drawn artists.
        """
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        styles = line_styles(len(self.errors))
        places = place_values(ax, self.values, len(self.errors))
        self.errorbars_ = [
            self._draw_line(ax, row, places[row], style, kwargs) for row, style in enumerate(styles)
        ]
        set_errors(ax, np.stack([self.errors, self.lows, self.highs]))
        self.text_ = self._write_names(ax, styles)
        self.chosen_, self.chosen_line_ = None, None
        if self.chosen is not None and not np.isnan(self.errors[self.chosen]):
            point = float(places[self.chosen]), float(self.errors[self.chosen])
            color = styles[self.chosen[0]].color
            self.chosen_, self.chosen_line_, words = draw_star(ax, point, color, "chosen")
            self.text_.append(words)
        title = name_absent(self.values, self.errors, self.names)
        if title:
            above = 20 if self.chosen_ is not None else None  # whose word stands there
            ax.set_title(title, color=NOTE_COLOR, fontsize="medium", pad=above, parse_math=False)
        ax.set_ylabel(self.measure, parse_math=False)
        ax.set_xlabel(self.param, parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
        return self

    def _draw_line(
        self, ax: Axes, row: int, places: Array, style: LineStyle, options: dict[str, Any]
    ) -> ErrorbarContainer | None:
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        errors = self.errors[row]
        if np.isnan(errors).all():
            return None
        order = np.argsort(places, kind="stable")
        around = np.nan_to_num([errors - self.lows[row], self.highs[row] - errors])
        given = {
            "color": style.color,
            "marker": style.marker,
            "markeredgecolor": style.text_color,
            "linestyle": "-" if self.is_numeric else "none",
            "elinewidth": 3,
            **normalize_kwargs(options, Line2D),
        }
        bars = ax.errorbar(
            places[order], errors[order], yerr=np.maximum(around, 0.0)[:, order], **given
        )
        fade_intervals(bars)
        return bars

    def _write_names(self, ax: Axes, styles: list[LineStyle]) -> list[Text]:
        if self.names is None:
            return []
        ends, names, drawn = [], [], []
        # The line's last point: values may come in any order.
        order = np.argsort(self.values) if self.is_numeric else np.arange(len(self.values))
        for errors, name, style in zip(self.errors[:, order], self.names, styles, strict=True):
            known = errors[~np.isnan(errors)]
            if len(known):
                ends.append(float(known[-1]))
                names.append(name)
                drawn.append(style)
        return name_ends(ax, ends, names, drawn)

    def _or_errors(self, ends: ArrayLike | None, name: str) -> Array:
        """Return ends of intervals, the errors themselves where there are none."""
        if ends is None:
            return self.errors
        table = _check_table(ends, name, len(self.values))
        if table.shape != self.errors.shape:
            raise ValueError(
                f"{name} has shape {table.shape} but errors has {self.errors.shape}: pass one for "
                "each error."
            )
        return np.where(np.isnan(table), self.errors, table)


def _check_table(values: ArrayLike, name: str, n_values: int) -> Array:
    table = np.atleast_2d(np.asarray(values, dtype=float))
    if table.ndim != 2 or table.shape[1] != n_values or not n_values:
        raise ValueError(
            f"{name} has shape {np.shape(values)} for {n_values} values: give a column a value, "
            "and a row a line."
        )
    return table
