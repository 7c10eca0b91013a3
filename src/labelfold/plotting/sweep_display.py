"""Errors against a parameter as a picture, with intervals and the value that was chosen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_choice
from labelfold.exceptions import InputError
from labelfold.intervals import LEVEL, student_interval, wilson_interval
from labelfold.labels import PartialLabels
from labelfold.plotting.lines import (
    are_numbers,
    check_shape,
    draw_lines,
    key_of,
    line_styles,
    name_lines,
    new_axes,
    start_at_zero,
    words_of,
    wrap_label,
    write_above,
)
from labelfold.plotting.map_inputs import check_mask
from labelfold.plotting.palette import NOTE_COLOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

Array = NDArray[np.float64]

OTHERS = ("auto", "each", "best")
MOST_LINES = 8  # that can be told apart at a glance
MOST_NAMED = 3  # that have no result


class SweepDisplay:
    """Picture of errors against the values of a parameter.

    Each setting of the other parameters has a line in its own color and marker, with its name at
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
        # Where there is no interval, its ends are the error itself.
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
        """Draw the mean errors that a fitted search found.

        Parameters
        ----------
        search : fitted search
            :class:`labelfold.evaluate.TransductiveSearchCV`, or a grid or randomized search of
            scikit-learn. Errors are 1 less the scores. Halving searches are refused: they score
            candidates on different budgets, and such errors cannot be compared.

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
        return cls(**_read_search(search, param, others)).plot(ax=ax, **kwargs)

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
        found = _read_predictions(values, y_true, y_preds, labeled)
        return cls(values, **found, param=param).plot(ax=ax, **kwargs)

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
        self.ax_ = ax = new_axes(ax)
        self.figure_ = ax.figure
        tables = self.errors, self.lows, self.highs
        self.errorbars_, places = draw_lines(ax, self.values, tables, kwargs)
        self._set_errors(ax)
        self.text_: list[Text] = []
        if self.names is not None:
            self.text_ = name_lines(ax, self.values, self.errors, self.names)
        self.chosen_: Line2D | None = None
        self.chosen_line_: Line2D | None = None
        if self.chosen is not None and not np.isnan(self.errors[self.chosen]):
            point = float(places[self.chosen]), float(self.errors[self.chosen])
            self._draw_star(ax, self.chosen[0], point)
        title = self._name_absent()
        if title:
            ax.set_title(title, color=NOTE_COLOR, fontsize="medium", parse_math=False)
        ax.set_ylabel(wrap_label(ax, self.measure), parse_math=False)
        ax.set_xlabel(self.param, parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
        return self

    def _set_errors(self, ax: Axes) -> None:
        """Let errors and intervals without negative ones start at 0; write shares in percent."""
        from matplotlib.ticker import PercentFormatter

        drawn = np.stack([self.errors, self.lows, self.highs])
        drawn = drawn[~np.isnan(drawn)]
        if np.all(drawn >= 0):
            start_at_zero(ax, self.errors)
            if np.all(drawn <= 1):
                ax.yaxis.set_major_formatter(PercentFormatter(1.0))

    def _draw_star(self, ax: Axes, line: int, point: tuple[float, float]) -> None:
        """Draw a star in the color of its line, and a dotted line to a word above the axes."""
        color = line_styles(line + 1)[line].color
        style: dict[str, Any] = {"color": color, "markeredgecolor": "black", "zorder": 5}
        (self.chosen_,) = ax.plot(*point, marker="*", linestyle="none", markersize=15, **style)
        self.chosen_line_ = ax.axvline(
            point[0], color=NOTE_COLOR, linestyle=":", linewidth=1, zorder=0
        )
        self.text_.append(write_above(ax, point[0], "chosen", ha="center"))

    def _name_absent(self) -> str:
        """Name what has no result: lines, or values, or values of lines; "" if all have one."""
        absent: list[str] = []
        for line, row in enumerate(self.tried & np.isnan(self.errors)):
            if self.names is not None and row.all():
                absent.append(self.names[line])
                continue
            of_line = "" if self.names is None else f" ({self.names[line]})"
            absent += [f"{words_of(self.values[at])}{of_line}" for at in np.flatnonzero(row)]
        more = f" and {len(absent) - MOST_NAMED} more" if len(absent) > MOST_NAMED else ""
        return f"No result: {'; '.join(absent[:MOST_NAMED])}{more}" if absent else ""


def _check_errors(errors: ArrayLike, n_values: int) -> Array:
    table = np.atleast_2d(np.asarray(errors, dtype=float))
    if table.ndim != 2 or table.shape[1] != n_values or not n_values:
        raise InputError(
            f"errors has shape {np.shape(errors)} for {n_values} values: pass one row per line and "
            "one column per value."
        )
    return table


# ---- predictions


def _read_predictions(
    values: Sequence[Any],
    y_true: ArrayLike,
    y_preds: Sequence[ArrayLike | None],
    labeled: ArrayLike | None,
) -> dict[str, Any]:
    """Return errors and intervals from one prediction for each value."""
    if len(y_preds) != len(values):
        raise InputError(
            f"y_preds holds {len(y_preds)} predictions for {len(values)} values: pass one for "
            "each, None where there is none."
        )
    labels = PartialLabels.from_y(y_true)
    known = check_mask(labeled, "labeled", len(labels))
    rows = np.flatnonzero(labels.mask if known is None else labels.mask & ~known)
    if not len(rows):
        raise InputError("y_true has no label that is to be scored: pass labels that fit had not.")
    truth = labels.at(rows)
    errors, lows, highs = np.full((3, len(values)), np.nan)
    for index, y_pred in enumerate(y_preds):
        if y_pred is None:
            continue
        answers = np.asarray(y_pred)
        if answers.shape != (len(labels),):
            raise InputError(
                f"y_preds[{index}] has shape {answers.shape} but y_true has {len(labels)} "
                "entries: pass a class for every row."
            )
        answers = answers[rows]
        if _is_text(answers) != _is_text(truth):
            raise InputError(
                f"y_preds[{index}] has classes such as {answers.tolist()[0]!r} and y_true such as "
                f"{truth.tolist()[0]!r}: pass text for both, or numbers for both."
            )
        errors[index] = float(np.mean(answers != truth))
        lows[index], highs[index] = wilson_interval(errors[index], len(rows))
    measure = f"error on {len(rows)} rows with {LEVEL:.0%} intervals"
    return {"errors": errors, "lows": lows, "highs": highs, "measure": measure}


def _is_text(classes: NDArray[Any]) -> bool:
    return all(isinstance(one, str) for one in classes.tolist())


# ---- searches


def _read_search(search: Any, param: str | None, others: str) -> dict[str, Any]:
    """Return the parameters of a display from a fitted search.

    Its candidates become a table, with a column for each value of the parameter and a row for each
    setting of all the others.
    """
    check_choice("others", others, OTHERS)
    if "n_resources" in search.cv_results_:
        raise InputError(
            f"{type(search).__name__} scores candidates on different budgets, and such errors "
            "cannot be compared: pass those of one budget to SweepDisplay(values, errors)."
        )
    candidates: list[dict[str, Any]] = list(search.cv_results_["params"])
    metric = _metric(search)
    scores = _split_scores(search.cv_results_, metric)
    errors, lows, highs = _student(1 - scores)
    searched = sorted({name for one in candidates for name in one})
    varying = [
        name
        for name in searched
        if len({key_of(one[name]) if name in one else () for one in candidates}) > 1
    ]
    param = _check_param(param, searched, varying or searched)
    varying = [name for name in varying if name != param]
    values = list({key_of(one[param]): one[param] for one in candidates if param in one}.values())
    if are_numbers(values):  # others stay in the order of appearance
        values = [values[place] for place in np.argsort(np.array(values, dtype=float))]
    table, names = _table(candidates, param, values, varying)
    if varying and (others == "best" or (others == "auto" and len(table) > MOST_LINES)):
        table = np.array([[_least(column, errors) for column in table.T]])
        names = [f"best over {', '.join(_without_steps(varying))}"]
    best = getattr(search, "best_index_", None)
    place = np.argwhere(table == (-2 if best is None else best))
    words = f"mean of {scores.shape[1]} splits with {LEVEL:.0%} intervals"
    return {
        "values": values,
        "errors": np.where(table >= 0, errors[table], np.nan),
        "lows": np.where(table >= 0, lows[table], np.nan),
        "highs": np.where(table >= 0, highs[table], np.nan),
        "param": param,
        "names": names if varying else None,
        "chosen": tuple(int(index) for index in place[0]) if len(place) else None,
        "measure": f"{_name_of_error(search, metric)}, "
        f"{words if scores.shape[1] > 1 else 'one split'}",
        "tried": table >= 0,
    }


def _metric(search: Any) -> str:
    if "mean_test_score" in search.cv_results_:
        return "score"
    if isinstance(search.refit, str):
        return search.refit
    raise InputError(
        f"The search has several metrics and refit={search.refit!r} names none of them: set refit "
        "to the one to draw."
    )


def _split_scores(results: Mapping[str, Any], metric: str) -> Array:
    """Return scores, with one row per candidate and one column per split."""
    columns: list[Array] = []
    while f"split{len(columns)}_test_{metric}" in results:
        columns.append(results[f"split{len(columns)}_test_{metric}"])
    return np.column_stack(columns).astype(float)


def _student(errors: Array) -> tuple[Array, Array, Array]:
    """Return means over splits and ends of intervals; NaN where a split has no score."""
    means, n_splits = errors.mean(axis=1), errors.shape[1]
    if n_splits == 1:
        return means, means, means
    lows, highs = np.array([student_interval(row) for row in errors]).T
    known = errors[~np.isnan(errors)]
    is_share = bool(np.all((known >= 0) & (known <= 1)))
    lowest, highest = (0.0, 1.0) if is_share else (-np.inf, np.inf)
    return means, np.maximum(lows, lowest), np.minimum(highs, highest)


def _name_of_error(search: Any, metric: str) -> str:
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
            f"The search varies {len(varying)} parameters: name one by param, of "
            f"{', '.join(varying) or 'none'}."
        )
    return varying[0]


def _table(
    candidates: Sequence[Mapping[str, Any]], param: str, values: list[Any], others: list[str]
) -> tuple[NDArray[np.intp], list[str]]:
    """Return numbers of candidates by setting of the others and value, and names of the settings.

    The number is -1 where there is no candidate.
    """
    column = {key_of(value): place for place, value in enumerate(values)}
    rows: dict[Hashable, list[int]] = {}
    names: dict[Hashable, str] = {}
    for number, candidate in enumerate(candidates):
        if param not in candidate:
            continue
        setting = tuple(key_of(candidate[name]) if name in candidate else () for name in others)
        names[setting] = ", ".join(
            f"{short}={words_of(candidate[name])}"
            for name, short in zip(others, _without_steps(others), strict=True)
            if name in candidate
        )
        row = rows.setdefault(setting, [-1] * len(values))
        row[column[key_of(candidate[param])]] = number
    return np.array(list(rows.values())), list(names.values())


def _least(numbers: NDArray[np.intp], errors: Array) -> int:
    """Return the candidate with the least error, or any where none has an error."""
    known = numbers[numbers >= 0].tolist()
    scored = [number for number in known if not np.isnan(errors[number])]
    return min(scored or known, key=lambda number: errors[number], default=-1)


def _without_steps(names: Sequence[str]) -> list[str]:
    """Return names without the steps they belong to, where that leaves them different."""
    short = [name.rpartition("__")[2] for name in names]
    return short if len(set(short)) == len(short) else list(names)
