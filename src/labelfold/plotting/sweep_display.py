"""Errors against a parameter as a picture, with intervals and the value that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.exceptions import InputError
from labelfold.plotting.lines import NOTE_COLOR, draw_errors, line_styles, name_ends, reach_of
from labelfold.plotting.palette import ClassStyle
from labelfold.plotting.sweep_artists import draw_star, name_absent
from labelfold.plotting.sweep_source import read_predictions, read_search
from labelfold.plotting.value_axis import (
    SIDE_BY_SIDE,
    place_values,
    scale_of,
    start_at_zero,
    wrap_label,
)

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
    on a number axis, on a logarithmic one where they are positive and span a factor of 100 or more.
    Other values stand side by side, without lines, and so do numbers of which one is not finite, or
    most are crowded about 0. What was tried and has no result is named, and not drawn.

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

    tried : array-like of bool of the same shape as errors, default=None
        What could have a result, and is named where it has none; None is for all.

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
        tried: ArrayLike | None = None,
    ) -> None:
        self.values = list(values)
        self.errors = _check_errors(errors, len(self.values))
        self.lows = self._or_errors(lows, "lows")
        self.highs = self._or_errors(highs, "highs")
        self.param = param
        self.names = None if names is None else [str(name) for name in names]
        if self.names is None and len(self.errors) > 1:
            raise InputError(f"errors has {len(self.errors)} lines: pass names, one for each.")
        if self.names is not None and len(self.names) != len(self.errors):
            raise InputError(
                f"names has {len(self.names)} entries for {len(self.errors)} lines: pass one for "
                "each."
            )
        self.chosen = _check_chosen(chosen, self.errors.shape)
        self.measure = measure
        self.tried = np.ones(self.errors.shape, dtype=bool)
        if tried is not None:
            self.tried = self._check_shape(np.asarray(tried, dtype=bool), "tried")

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
            are 1 less the scores. Those of a halving search are comparable at equal budgets only:
            each budget has lines of its own, named by it.

        param : str, default=None
            The parameter, as the search names it. None where only one varies. Candidates that do
            not set it are left out.

        others : {"auto", "each", "best"}, default="auto"
            What becomes of other parameters that vary. "each" draws a line for each of their
            settings. "best" draws one line, for each value with the setting of the others that has
            the least error; the least of many is lower than what new data would show. "auto" is
            "each" for up to 8 lines, and else "best".

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
            raise InputError(
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
        """Whether the values stand on a number axis."""
        return scale_of(self.values) != SIDE_BY_SIDE

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
        self._set_errors(ax)
        self.text_ = self._write_names(ax, styles)
        self.chosen_, self.chosen_line_ = None, None
        if self.chosen is not None and not np.isnan(self.errors[self.chosen]):
            point = float(places[self.chosen]), float(self.errors[self.chosen])
            color = styles[self.chosen[0]].color
            self.chosen_, self.chosen_line_, words = draw_star(ax, point, color, "chosen")
            self.text_.append(words)
        title = name_absent(self.values, self.tried & np.isnan(self.errors), self.names)
        if title:
            ax.set_title(title, color=NOTE_COLOR, fontsize="medium", parse_math=False)
        ax.set_ylabel(wrap_label(ax, self.measure), parse_math=False)
        ax.set_xlabel(self.param, parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
        return self

    def _set_errors(self, ax: Axes) -> None:
        """Let errors and intervals without negative ones start at 0; write shares in per cent."""
        from matplotlib.ticker import PercentFormatter

        drawn = np.stack([self.errors, self.lows, self.highs])
        drawn = drawn[~np.isnan(drawn)]
        if np.all(drawn >= 0):
            start_at_zero(ax, self.errors)
            if np.all(drawn <= 1):
                ax.yaxis.set_major_formatter(PercentFormatter(1.0))

    def _draw_line(
        self, ax: Axes, row: int, places: Array, style: ClassStyle, options: dict[str, Any]
    ) -> ErrorbarContainer | None:
        errors = self.errors[row]
        if np.isnan(errors).all():
            return None
        reach = reach_of(errors, self.lows[row], self.highs[row])
        return draw_errors(ax, places, errors, reach, style, options, joined=self.is_numeric)

    def _write_names(self, ax: Axes, styles: list[ClassStyle]) -> list[Text]:
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
        table = self._check_shape(np.asarray(ends, dtype=float), name)
        return np.where(np.isnan(table), self.errors, table)

    def _check_shape(self, table: NDArray[Any], name: str) -> NDArray[Any]:
        table = np.atleast_2d(table)
        if table.shape != self.errors.shape:
            raise InputError(
                f"{name} has shape {table.shape} but errors has {self.errors.shape}: pass one for "
                "each error."
            )
        return table


def _check_errors(errors: ArrayLike, n_values: int) -> Array:
    table = np.atleast_2d(np.asarray(errors, dtype=float))
    if table.ndim != 2 or table.shape[1] != n_values or not n_values:
        raise InputError(
            f"errors has shape {np.shape(errors)} for {n_values} values: give a column a value, "
            "and a row a line."
        )
    return table


def _check_chosen(chosen: tuple[int, int] | None, shape: tuple[int, ...]) -> tuple[int, int] | None:
    if chosen is None:
        return None
    line, value = chosen
    if not (0 <= line < shape[0] and 0 <= value < shape[1]):
        raise InputError(
            f"chosen={chosen!r} is out of range for {shape[0]} lines of {shape[1]} values: pass "
            "the numbers of a line and of a value, counted from 0."
        )
    return line, value
