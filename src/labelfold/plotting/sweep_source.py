"""What a search or several predictions say of a parameter: errors and intervals, a line a setting.

A search's candidates become a table, with a column a value of the parameter and a row a setting of
all the others. A halving search has a table for each budget, as errors at one budget say nothing of
those at another.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from labelfold.exceptions import InputError
from labelfold.intervals import LEVEL, student_interval, wilson_interval
from labelfold.labels import PartialLabels
from labelfold.plotting.value_axis import are_numbers, key_of, short_words

__all__ = ["read_predictions", "read_search"]

OTHERS = ("auto", "each", "best")
MOST_LINES = 8  # that can be told apart at a glance

Array = NDArray[np.float64]
Table = dict[tuple[str, str], list[int]]  # candidates by value, for each setting and budget


def read_search(search: Any, param: str | None, others: str) -> dict[str, Any]:
    """Return the parameters of a display from a fitted search.

    Parameters
    ----------
    search : fitted search
        With ``cv_results_`` as scikit-learn has it.
    param : str or None
        Name of the parameter; None where only one varies.
    others : {"auto", "each", "best"}
        What becomes of the other parameters that vary.
    """
    if others not in OTHERS:
        raise InputError(f"others={others!r} must be one of {', '.join(OTHERS)}.")
    budget, candidates = _candidates(search)
    metric = _metric(search)
    scores = _split_scores(search.cv_results_, metric)
    errors, lows, highs = _student(1 - scores)
    param = _check_param(param, candidates, budget)
    varying = [name for name in _varying(candidates) if name != param]
    values = _values_of(param, candidates)
    table = _table(candidates, param, values, varying, budget)
    over = [name for name in varying if name != budget]
    if over and (others == "best" or (others == "auto" and len(table) > MOST_LINES)):
        table = _best(table, errors, f"best over {', '.join(_short(over).values())}")
    rows = np.array(list(table.values()))
    best = getattr(search, "best_index_", None)
    place = np.argwhere(rows == (-2 if best is None else best))
    words = f"mean of {scores.shape[1]} splits" if scores.shape[1] > 1 else "one split"
    words += f" with {LEVEL:.0%} intervals" if scores.shape[1] > 1 else ""
    return {
        "values": values,
        "errors": _at(errors, rows),
        "lows": _at(lows, rows),
        "highs": _at(highs, rows),
        "param": param,
        "names": [", ".join(filter(None, parts)) for parts in table] if varying else None,
        "chosen": tuple(int(index) for index in place[0]) if len(place) else None,
        "measure": f"{_name_of_error(search, metric)}, {words}",
        "tried": rows >= 0,
    }


def read_predictions(
    values: Sequence[Any],
    y_true: ArrayLike,
    y_preds: Sequence[ArrayLike | None],
    labeled: ArrayLike | None,
    param: str,
) -> dict[str, Any]:
    """Return the parameters of a display from one prediction for each value."""
    if len(y_preds) != len(values):
        raise InputError(
            f"y_preds holds {len(y_preds)} predictions for {len(values)} values: pass one for "
            "each, None where there is none."
        )
    labels = PartialLabels.from_y(y_true)
    scored = labels.mask & ~_check_mask(labeled, len(labels))
    rows = np.flatnonzero(scored)
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
    return {
        "values": values,
        "errors": errors,
        "lows": lows,
        "highs": highs,
        "param": param,
        "measure": f"error on {len(rows)} rows with {LEVEL:.0%} intervals",
    }


def _is_text(classes: NDArray[Any]) -> bool:
    return all(isinstance(one, str) for one in classes.tolist())


def _check_mask(labeled: ArrayLike | None, n_rows: int) -> NDArray[np.bool_]:
    if labeled is None:
        return np.zeros(n_rows, dtype=bool)
    mask = np.asarray(labeled)
    if mask.shape != (n_rows,) or mask.dtype != bool:
        raise InputError(
            f"labeled of shape {mask.shape} and dtype {mask.dtype} must be {n_rows} booleans, True "
            "for rows whose label fit had."
        )
    return mask


# ---- scores


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
    """Return scores, a row a candidate and a column a split."""
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


# ---- candidates


def _candidates(search: Any) -> tuple[str | None, list[dict[str, Any]]]:
    """Return the name of a halving search's budget, and the candidates, which have it then."""
    candidates, results = list(search.cv_results_["params"]), search.cv_results_
    if "n_resources" not in results:
        return None, candidates
    budgets = zip(candidates, results["n_resources"], strict=True)
    return search.resource, [{**one, search.resource: int(size)} for one, size in budgets]


def _varying(candidates: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the parameters that not all candidates have the same of."""
    names = sorted({name for candidate in candidates for name in candidate})
    return [
        name
        for name in names
        if len({key_of(one[name]) if name in one else () for one in candidates}) > 1
    ]


def _check_param(
    param: str | None, candidates: Sequence[Mapping[str, Any]], budget: str | None
) -> str:
    names = sorted({name for candidate in candidates for name in candidate})
    if param is not None:
        if param not in names:
            raise InputError(f"param={param!r} was not searched: use one of {', '.join(names)}.")
        return param
    names = [name for name in names if name != budget]
    varying = [name for name in _varying(candidates) if name != budget] or names
    if len(varying) != 1:
        raise InputError(
            f"The search varies {len(varying)} parameters: name one by param, of "
            f"{', '.join(varying) or 'none'}."
        )
    return varying[0]


def _values_of(param: str, candidates: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the values of a parameter: numbers ascending, others in order of appearance."""
    by_key = {key_of(one[param]): one[param] for one in candidates if param in one}
    values = list(by_key.values())
    if are_numbers(values):
        return [values[place] for place in np.argsort(np.array(values, dtype=float))]
    return values


def _table(
    candidates: Sequence[Mapping[str, Any]],
    param: str,
    values: list[Any],
    others: list[str],
    budget: str | None,
) -> Table:
    """Return numbers of candidates by value, -1 where there is none, a row a setting and budget."""
    column = {key_of(value): place for place, value in enumerate(values)}
    words = {name: _words_of(name, short, candidates) for name, short in _short(others).items()}
    table: Table = {}
    for number, candidate in enumerate(candidates):
        if param in candidate:
            parts = {
                name: words[name][key_of(candidate[name])] for name in others if name in candidate
            }
            at_budget = parts.pop(budget, "") if budget is not None else ""
            row = table.setdefault((", ".join(parts.values()), at_budget), [-1] * len(values))
            row[column[key_of(candidate[param])]] = number
    return table


def _words_of(
    name: str, short: str, candidates: Sequence[Mapping[str, Any]]
) -> dict[Hashable, str]:
    """Return short words for every value of a parameter."""
    values = _values_of(name, candidates)
    words = zip(values, short_words(values), strict=True)
    return {key_of(value): f"{short}={word}" for value, word in words}


def _best(table: Table, errors: Array, words: str) -> Table:
    """Return for each value the candidate with the least error, a row a budget."""
    best: Table = {}
    for budget in dict.fromkeys(at_budget for _, at_budget in table):
        rows = [row for (_, at_budget), row in table.items() if at_budget == budget]
        best[words, budget] = [_least(numbers, errors) for numbers in zip(*rows, strict=True)]
    return best


def _least(numbers: Sequence[int], errors: Array) -> int:
    known = [number for number in numbers if number >= 0]
    scored = [number for number in known if not np.isnan(errors[number])]
    return min(scored or known, key=lambda number: errors[number], default=-1)


def _at(column: Array, rows: NDArray[np.intp]) -> Array:
    return np.where(rows >= 0, column[rows], np.nan)


def _short(names: Sequence[str]) -> dict[str, str]:
    """Return names without the steps they belong to, where that leaves them different."""
    short = [name.rpartition("__")[2] for name in names]
    return dict(zip(names, short if len(set(short)) == len(short) else names, strict=True))
