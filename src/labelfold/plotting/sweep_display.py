"""Errors against a parameter as a picture, with intervals and the chosen value."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_choice
from labelfold.exceptions import InputError
from labelfold.intervals import LEVEL, student_interval
from labelfold.plotting.lines import (
    are_numbers,
    check_shape,
    draw_lines,
    format_value,
    get_axes,
    line_styles,
    title_absent,
    value_key,
    wrap_label,
    write_above,
)
from labelfold.plotting.palette import NOTE_COLOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Array = NDArray[np.float64]

OTHERS = ("auto", "each", "best")
MOST_LINES = 8  # that readers can tell apart at a glance


class SweepDisplay:
    """Picture of errors against the values of a parameter.

    Each setting of the other parameters has a line with its own color and marker, and its name at
    the end. Upright strokes are intervals, the star is the chosen candidate. Numbers are on a
    linear axis, or a logarithmic one if they are positive and span a factor of 100 or more. Other
    values stand side by side, without lines; so do numbers if one is not finite or most of them
    crowd around 0. Candidates without a result are named in the title.

    Use :meth:`from_estimator` for a search. All parameters are stored as attributes.

    Parameters
    ----------
    values : sequence of length n_values
        Values of the parameter, numbers or any others.

    errors : array-like of shape (n_values,) or (n_lines, n_values)
        Errors; NaN for no result.

    lows, highs : array-like of the same shape, default=None
        Ends of the intervals; NaN for no interval, None for none at all.

    param : str, default="parameter"
        Name of the parameter.

    names : sequence of str, default=None
        Names of the lines; None for a single line.

    chosen : tuple of (int, int), default=None
        Line and value to mark with a star, counted from 0.

    measure : str, default="error"
        Label of the axis of errors.

    tried : array-like of bool of the same shape as errors, default=None
        Which combinations of line and value were tried; only these are named if they have no
        result. None means all.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.

    figure_ : matplotlib Figure
        Figure that holds it.

    errorbars_ : list of matplotlib ErrorbarContainer or None
        Points and intervals of each line; None for a line without a result.

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
    >>> from labelfold.plotting import SweepDisplay
    >>> display = SweepDisplay([0.01, 1, 100], [0.3, 0.1, 0.2], param="beta").plot()
    >>> display.ax_.get_xscale(), display.ax_.get_xlabel()
    ('log', 'beta')
    """

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
        # Without an interval, its ends are the error itself.
        ends = [self.errors if end is None else np.atleast_2d(end) for end in (lows, highs)]
        low = check_shape("lows", ends[0], self.errors.shape, "error")
        high = check_shape("highs", ends[1], self.errors.shape, "error")
        self.lows = np.where(np.isnan(low), self.errors, low)
        self.highs = np.where(np.isnan(high), self.errors, high)
        self.param = param
        self.names = None if names is None else [str(name) for name in names]
        n_lines, n_values = self.errors.shape
        if n_lines != (1 if self.names is None else len(self.names)):
            raise InputError(
                f"names has {0 if self.names is None else len(self.names)} entries for {n_lines} "
                "lines: pass one for each."
            )
        self.chosen = None if chosen is None else (chosen[0], chosen[1])
        if chosen is not None and not (0 <= chosen[0] < n_lines and 0 <= chosen[1] < n_values):
            raise InputError(
                f"chosen={chosen!r} is out of range for {n_lines} lines of {n_values} values: pass "
                "the numbers of a line and of a value, counted from 0."
            )
        self.measure = measure
        self.tried = np.ones(self.errors.shape, dtype=bool)
        if tried is not None:
            tried = np.atleast_2d(tried)
            self.tried = check_shape("tried", tried, self.errors.shape, "error").astype(bool)

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
        """Draw the mean errors of the candidates of a fitted search.

        Parameters
        ----------
        search : fitted search
            :class:`labelfold.evaluate.TransductiveSearchCV`, or a grid or randomized search of
            scikit-learn. Errors are 1 minus the scores. Halving searches raise an error: they score
            candidates on different budgets, and such errors cannot be compared.

        param : str, default=None
            The parameter, as the search names it; may be None if only one varies. Candidates that
            do not set it are left out.

        others : {"auto", "each", "best"}, default="auto"
            How to draw other parameters that vary. "each" draws one line for each of their
            settings. "best" draws one line of the smallest error at each value over all their
            settings; the smallest of many errors is lower than what new data would show. "auto" is
            "each" for up to 8 lines, otherwise "best".

        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : SweepDisplay
            The display, drawn. Strokes are 80 % Student intervals for the mean over splits. Splits
            share training rows, so the intervals are a guide, not a test. A candidate that lacks a
            score in some split has no result.

        Examples
        --------
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
                f"{type(search).__name__} has no cv_results_: pass a fitted search, or errors to "
                "SweepDisplay(values, errors)."
            )
        return cls(**_read_search(search, param, others)).plot(ax=ax, **kwargs)

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
        self.ax_ = ax = get_axes(ax)
        self.figure_ = ax.figure
        tables = self.errors, self.lows, self.highs
        self.errorbars_, places, self.text_ = draw_lines(
            ax, self.values, tables, self.names, kwargs
        )
        self.chosen_: Line2D | None = None
        self.chosen_line_: Line2D | None = None
        if self.chosen is not None and not np.isnan(self.errors[self.chosen]):
            self._draw_star(ax, self.chosen, float(places[self.chosen]))
        title_absent(ax, self._name_absent())
        ax.set_ylabel(wrap_label(ax, self.measure), parse_math=False)
        ax.set_xlabel(self.param, parse_math=False)
        return self

    def _draw_star(self, ax: Axes, chosen: tuple[int, int], place: float) -> None:
        """Draw a star in the color of its line, and a dotted line to a word above the axes."""
        color = line_styles(len(self.errors))[chosen[0]].color
        style: dict[str, Any] = {"color": color, "markeredgecolor": "black", "zorder": 5}
        (self.chosen_,) = ax.plot(
            [place], [self.errors[chosen]], marker="*", linestyle="none", markersize=15, **style
        )
        style = {"color": NOTE_COLOR, "linestyle": ":", "linewidth": 1, "zorder": 0}
        self.chosen_line_ = ax.axvline(place, **style)
        self.text_.append(write_above(ax, place, "chosen", ha="center"))

    def _name_absent(self) -> list[str]:
        """Return names of the lines, values, or values of lines without a result."""
        absent: list[str] = []
        for line, row in enumerate(self.tried & np.isnan(self.errors)):
            if self.names is not None and row.all():
                absent.append(self.names[line])
                continue
            of_line = "" if self.names is None else f" ({self.names[line]})"
            absent += [f"{format_value(self.values[at])}{of_line}" for at in np.flatnonzero(row)]
        return absent


def _check_errors(errors: ArrayLike, n_values: int) -> Array:
    table = np.atleast_2d(np.asarray(errors, dtype=float))
    if table.ndim != 2 or table.shape[1] != n_values or not n_values:
        raise InputError(
            f"errors has shape {np.shape(errors)} for {n_values} values: pass one row per line and "
            "one column per value."
        )
    return table


def _read_search(search: Any, param: str | None, others: str) -> dict[str, Any]:
    """Return the arguments of a display from a fitted search.

    Its candidates become a table with one column per value of the parameter and one row per setting
    of all the others.
    """
    check_choice("others", others, OTHERS)
    if "n_resources" in search.cv_results_:
        raise InputError(
            f"{type(search).__name__} scores candidates on different budgets, and such errors "
            "cannot be compared: pass those of one budget to SweepDisplay(values, errors)."
        )
    candidates: list[dict[str, Any]] = list(search.cv_results_["params"])
    metric = _choose_metric(search)
    scores = _split_scores(search.cv_results_, metric)
    errors, lows, highs = _estimate_means(1 - scores)
    searched = sorted({name for one in candidates for name in one})
    varying = [
        name
        for name in searched
        if len({value_key(one[name]) if name in one else () for one in candidates}) > 1
    ]
    param = _check_param(param, searched, varying or searched)
    varying = [name for name in varying if name != param]
    values = {value_key(one[param]): one[param] for one in candidates if param in one}
    if are_numbers(list(values.values())):  # others stay in the order of appearance
        values = dict(sorted(values.items(), key=lambda item: np.nan_to_num(item[1], nan=np.inf)))
    table, names = _tabulate(candidates, param, list(values), varying)
    if varying and (others == "best" or (others == "auto" and len(table) > MOST_LINES)):
        table = np.array([[_find_best(column, errors) for column in table.T]])
        names = [f"best over {', '.join(_without_steps(varying))}"]
    chosen = np.argwhere(table == getattr(search, "best_index_", np.inf))
    n_splits = scores.shape[1]
    splits = (
        "one split" if n_splits == 1 else f"mean of {n_splits} splits with {LEVEL:.0%} intervals"
    )
    return {
        "values": list(values.values()),
        "errors": np.where(table >= 0, errors[table], np.nan),
        "lows": np.where(table >= 0, lows[table], np.nan),
        "highs": np.where(table >= 0, highs[table], np.nan),
        "param": param,
        "names": names if varying else None,
        "chosen": tuple(chosen[0].tolist()) if len(chosen) else None,
        "measure": f"{_name_error(search, metric)}, {splits}",
        "tried": table >= 0,
    }


def _choose_metric(search: Any) -> str:
    if "mean_test_score" in search.cv_results_:
        return "score"
    if isinstance(search.refit, str):
        return search.refit
    raise InputError(
        f"refit={search.refit!r} names none of the search's metrics: set refit to the one to draw."
    )


def _split_scores(results: Mapping[str, Any], metric: str) -> Array:
    """Return scores, with one row per candidate and one column per split."""
    columns: list[Array] = []
    while f"split{len(columns)}_test_{metric}" in results:
        columns.append(results[f"split{len(columns)}_test_{metric}"])
    return np.column_stack(columns).astype(float)


def _estimate_means(errors: Array) -> tuple[Array, Array, Array]:
    """Return means over splits and ends of their intervals; NaN if a split has no score."""
    means, n_splits = errors.mean(axis=1), errors.shape[1]
    if n_splits == 1:
        return means, means, means
    unknown = np.nan, np.nan
    ends = [unknown if np.isnan(row).any() else student_interval(row) for row in errors]
    lows, highs = np.array(ends).T
    known = errors[~np.isnan(errors)]
    is_share = bool(np.all((known >= 0) & (known <= 1)))
    lowest, highest = (0.0, 1.0) if is_share else (-np.inf, np.inf)
    return means, np.maximum(lows, lowest), np.minimum(highs, highest)


def _name_error(search: Any, metric: str) -> str:
    scoring = getattr(search, "scoring", None) if metric == "score" else metric
    if scoring == "accuracy" or (scoring is None and is_classifier(search.estimator)):
        return "error"
    return f"1 − {scoring if isinstance(scoring, str) else 'score'}"


def _check_param(param: str | None, searched: Sequence[str], varying: Sequence[str]) -> str:
    if param is not None:
        if param not in searched:
            raise InputError(f"param={param!r} was not searched: use one of {', '.join(searched)}.")
        return param
    if len(varying) != 1:
        raise InputError(
            f"The search varies {len(varying)} parameters: set param to one of them "
            f"({', '.join(varying) or 'none'})."
        )
    return varying[0]


def _tabulate(
    candidates: Sequence[Mapping[str, Any]], param: str, keys: list[Hashable], others: list[str]
) -> tuple[NDArray[np.intp], list[str]]:
    """Return the number of the candidate for each setting of the others and each value.

    The number is -1 for no candidate. Values are given by their keys. The names of the settings are
    returned too.
    """
    rows: dict[Hashable, list[int]] = {}
    names: dict[Hashable, str] = {}
    for number, candidate in enumerate(candidates):
        if param not in candidate:
            continue
        setting = tuple(value_key(candidate[name]) if name in candidate else () for name in others)
        names[setting] = ", ".join(
            f"{short}={format_value(candidate[name])}"
            for name, short in zip(others, _without_steps(others), strict=True)
            if name in candidate
        )
        row = rows.setdefault(setting, [-1] * len(keys))
        row[keys.index(value_key(candidate[param]))] = number
    return np.array(list(rows.values())), list(names.values())


def _find_best(numbers: NDArray[np.intp], errors: Array) -> int:
    """Return the candidate with the smallest error (NaN is largest); -1 if there is none."""
    tried = numbers[numbers >= 0].tolist()
    return min(tried, key=lambda number: np.nan_to_num(errors[number], nan=np.inf), default=-1)


def _without_steps(names: Sequence[str]) -> list[str]:
    """Return parameter names without their pipeline steps, if that keeps them distinct."""
    short = [name.rpartition("__")[2] for name in names]
    return short if len(set(short)) == len(short) else list(names)
