"""A case by its number: what is drawn, whether the library stands it, and its smallest form."""

from __future__ import annotations

import linecache
import re
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelfold.exceptions import InputError, ModelFileError
from tools.fuzz import inputs
from tools.fuzz.inputs import draw
from tools.fuzz.subjects import (
    OF_DISTRIBUTIONS,
    OPTIONS,
    SUBJECTS,
    CannotBeMadeError,
    Case,
    numbers_in,
)

# The first cases take milliseconds: those are what `make test` runs.
N_QUICK = 2000
QUICK_ROWS, ROWS = 12, 200

# Words of NumPy, SciPy and Python that tell a user nothing of what was wrong with the input.
INTERNAL = re.compile(
    "|".join(
        (
            *("array must not contain infs", "[Ss]ingular matrix", "index out of range"),
            *("could not be broadcast", "is out of bounds", "zero-size array", "cannot reshape"),
            *("unsupported operand", "NoneType", "not subscriptable", "has no attribute", "ufunc"),
            *("not aligned", "truth value", "did not converge", "not supported between"),
            *("cannot unpack", "unexpected keyword", "must be real number", "unhashable"),
            *("has no len", "object is not", "positional argument", "input array", "mismatch in"),
            *("zip\\(\\)", "need at least one array", "setting an array element", "out of memory"),
            *("SVD", "ARPACK", "not positive definite", "too many indices", "iteration over a"),
            *("cannot convert float", "cannot be interpreted as", "buffer", "strides"),
        )
    )
)


# Documented: an infinite penalty leaves class means alone, an infinite width takes plain means, an
# infinite bound bounds nothing; and what a few rows do not determine of a dimension is NaN, with a
# warning.
DOCUMENTED = re.compile(
    r"\b(penalty_?|width|leave_one_out_error|bound|(class_)?(dimensions?|intervals?)_|lengths_|(class_)?entrop(y|ies)_)$"
)


@dataclass(frozen=True)
class Outcome:
    """How a case ended: `fault` is None if the library stood it."""

    answer: str
    fault: str | None = None
    detail: str = ""


def make(number: int, seed: int = 0, subject: str | None = None) -> Case:
    """Return the case of this number, of a subject drawn at random or of the one named."""
    rng = np.random.default_rng([seed, number])
    is_quick = number < N_QUICK
    names = [name for name, one in SUBJECTS.items() if one.is_quick or not is_quick]
    weights = np.array([SUBJECTS[name].weight for name in names])
    name = subject or str(rng.choice(names, p=weights / weights.sum()))
    X = inputs.draw_rows(rng, QUICK_ROWS if is_quick else int(draw(rng, [12, 40, ROWS])))
    labels = inputs.draw_labels(rng, len(X))
    parameters = inputs.draw_parameters(rng, list(SUBJECTS[name].parameters))
    if name.startswith("labelfold "):
        given = SUBJECTS[name].parameters
        parameters = {one: draw(rng, OPTIONS[one]) for one in given if rng.random() < 0.15}
    form, label_form = inputs.draw_form(rng), inputs.draw_label_form(rng)
    if name in OF_DISTRIBUTIONS and rng.random() < 0.7:
        X, labels = inputs.draw_distributions(rng, X)
        label_form = "array"
    return Case(
        name, X.tolist(), X.shape[1], form, labels, label_form, parameters, int(rng.integers(2**31))
    )


def run(case: Case) -> Outcome:
    """Run a case and judge how it ended."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            results = SUBJECTS[case.subject].run(case)
        except CannotBeMadeError:
            return Outcome("cannot be made")
        except Exception as error:
            return _judge_error(error)
    for one in caught:
        if issubclass(one.category, RuntimeWarning):
            place = f"{_short(one.filename)}:{one.lineno}"
            return Outcome("warning", f"RuntimeWarning: {one.message} at {place}")
    for name, value in numbers_in(results):
        if not np.all(np.isfinite(value)) and not DOCUMENTED.search(name):
            return Outcome("not finite", f"not finite: {name}")
    return Outcome("answered")


def _judge_error(error: Exception) -> Outcome:
    kind, text = type(error).__name__, str(error)
    stack = traceback.extract_tb(error.__traceback__)
    own = [one for one in stack if re.search("labelfold/(?!checks)|tools/fuzz", one.filename)]
    last = own[-1] if own else stack[-1]
    place = f"{_short(last.filename)}:{last.name}"
    detail = f"{kind}: {text[:400]}\n" + "".join(traceback.format_list(stack[-6:]))
    if isinstance(error, AssertionError):
        return Outcome("wrong", f"wrong: {re.sub(r'[0-9]+', '#', text[:80])}", detail)
    if not isinstance(error, (ValueError, TypeError)):
        return Outcome(kind, f"{kind} at {place}", detail)
    if INTERNAL.search(text) and not isinstance(error, ModelFileError):  # which quotes the reason
        return Outcome("internal words", f"internal words of {kind} at {place}", detail)
    # What scikit-learn says of cells that are not numbers is part of its contract.
    is_meant = _raises(stack[-1]) or any("sklearn/utils" in one.filename for one in stack)
    if not isinstance(error, InputError) and not is_meant:
        return Outcome("unmeant", f"{kind} that nobody raised at {place}", detail)
    return Outcome("refused")


def _raises(frame: traceback.FrameSummary) -> bool:
    line = linecache.getline(frame.filename, frame.lineno or 0)
    return "raise" in line and ("labelfold" in frame.filename or "sklearn" in frame.filename)


def _short(path: str) -> str:
    for mark in ("labelfold/", "tools/", "site-packages/"):
        if mark in path:
            return path.rpartition(mark)[2]
    return path


# Smaller cases with the same fault


def shrink(case: Case, fault: str, most_runs: int = 150) -> Case:
    """Return the smallest case found that has the same fault."""
    n_runs, is_smaller = 0, True
    while is_smaller:
        is_smaller = False
        for other in _smaller(case):
            n_runs += 1
            if n_runs > most_runs:
                return case
            if run(other).fault == fault:
                case, is_smaller = other, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for name in case.parameters:
        rest = {key: value for key, value in case.parameters.items() if key != name}
        yield replace(case, parameters=rest)
    if case.form != "array":
        yield replace(case, form="array")
    if case.label_form != "list":
        yield replace(case, label_form="list")
    n = len(case.rows)
    parts = [slice(0, n // 2), slice(n // 2, n)] + [slice(i, i + 1) for i in range(min(n, 12))]
    for part in parts if n else ():
        kept = [i for i in range(n) if not part.start <= i < part.stop] if n > 1 else []
        labels = case.labels
        if labels is not None and len(labels) == n:
            labels = [labels[i] for i in kept]
        yield replace(case, rows=[case.rows[i] for i in kept], labels=labels)
    for column in range(case.n_columns if case.n_columns > 1 else 0):
        rows = [row[:column] + row[column + 1 :] for row in case.rows]
        yield replace(case, rows=rows, n_columns=case.n_columns - 1)
    rounded = [[float(f"{value:.1g}") for value in row] for row in case.rows]
    if repr(rounded) != repr(case.rows):
        yield replace(case, rows=rounded)


def snippet(case: Case) -> str:
    """Return lines of Python that repeat a case."""
    return (
        "from numpy import *; from pandas import NA; from tools.fuzz.case import Case, run\n"
        f"print(run({_text(case)}))"
    )


def _text(value: Any) -> str:
    return repr(value).replace("<NA>", "NA")
