"""Checks of arguments and rows; messages say what was wrong, what was given and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_array, check_random_state
from sklearn.utils.validation import validate_data

from labelfold.exceptions import InputError
from labelfold.memory import require_memory

__all__ = [
    "check_choice",
    "check_graph_rows",
    "check_integer",
    "check_mask",
    "check_real",
    "check_rows",
    "check_single",
    "input_errors",
    "row_blocks",
    "seed_from",
]

# Dense rows that a graph takes as they are: each value is exact in float64.
ROW_TYPES = (np.float64, np.float32, np.float16, np.int8)
# Converted, compared or searched together, so that temporary memory is bounded: 32 MB in float64.
ENTRIES_AT_ONCE = 2**22
# Parameters of estimators that a name may stand for.
NAMED = (
    "metric",
    "n_components",
    "rank",
    "solver",
    "kernel",
    "penalty",
    "n_eigenvectors",
    "n_jobs",
)
# faiss goes through rows in steps of so many, and rounds differently in others.
FAISS_STEP = 4096


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise InputError unless ``value`` is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name}={value!r} is unknown: use one of {tuple(choices)}.")


def check_integer(name: str, value: Any, *, least: int, hint: str = "") -> None:
    """Raise InputError unless ``value`` is an integer of at least ``least``.

    ``hint`` ends the message: another value that is allowed, or what the argument is for.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name}={value!r} must be an integer of at least {least}{hint}.")


def check_mask(name: str, value: Any, n_rows: int) -> NDArray[np.bool_]:
    """Return one True or False per row."""
    mask = np.asarray(value)
    if mask.shape != (n_rows,) or mask.dtype != bool:
        raise InputError(
            f"{name} must have one True or False for each of the {n_rows} rows: it has shape "
            f"{mask.shape} and values of type {mask.dtype}."
        )
    return mask


def check_single(name: str, value: Any) -> None:
    """Raise InputError for an array, whose comparison with a name would be an array, too."""
    if isinstance(value, np.ndarray) and value.ndim:
        raise InputError(f"{name}={value!r} must be a single value, not an array.")


def check_real(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float = math.inf,
    below: float = math.inf,
    hint: str = "",
) -> None:
    """Raise InputError unless ``value`` is a finite number within the bounds."""
    wanted = ["finite"]
    if above is not None:
        wanted.append(f"greater than {above:g}")
    if at_least is not None:
        wanted.append(f"at least {at_least:g}")
    if at_most < math.inf:
        wanted.append(f"at most {at_most:g}")
    if below < math.inf:
        wanted.append(f"less than {below:g}")
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not (
        math.isfinite(number)
        and (above is None or number > above)
        and (at_least is None or number >= at_least)
        and number <= at_most
        and number < below
    ):
        raise InputError(f"{name}={value!r} must be a number, {' and '.join(wanted)}{hint}.")


def check_rows(estimator: Any, X: Any, *, reset: bool, keep_type: bool = False) -> Any:
    """Return rows as float64, dense or CSR; ``reset`` for those of fit, at least two.

    With ``keep_type`` dense rows of :data:`ROW_TYPES` stay what they are, without a copy.
    """
    for name in NAMED:
        check_single(name, getattr(estimator, name, None))
    _require_room(X, keep_type)
    with input_errors():
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=_types(X, keep_type),
            ensure_all_finite=not keep_type,
            ensure_min_samples=2 if reset else 1,
        )
        if keep_type:
            _check_finite(X, type(estimator).__name__)
    return X


def check_graph_rows(X: Any, *, keep_type: bool) -> Any:
    """Return at least two rows, as :func:`check_rows` does for those of an estimator."""
    with input_errors():
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=_types(X, keep_type),
            ensure_all_finite=False,
            ensure_min_samples=2,
        )
        _check_finite(X, None)
    return X


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of rows that have about :data:`ENTRIES_AT_ONCE` entries; never a short rest."""
    size = FAISS_STEP * -(-ENTRIES_AT_ONCE // max(1, n_columns) // FAISS_STEP)
    start = 0
    while n_rows - start >= 1.1 * size:
        yield slice(start, start + size)
        start += size
    yield slice(start, n_rows)


def seed_from(random_state: Any) -> int:
    """Return a seed for chance that serves speed only: a fixed one for None, the same as for 0.

    An integer gives one seed, a RandomState another at every call.
    """
    with input_errors():
        generator = check_random_state(0 if random_state is None else random_state)
    return int(generator.randint(2**31 - 1))


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn a ValueError of scikit-learn's validation into an InputError with the same message."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        message = str(error)
        if message.startswith("setting an array element"):
            message = (
                "Rows of unequal length, or cells that are not numbers: give a table of numbers "
                "with the same columns in every row."
            )
        raise InputError(message) from error


def _types(X: Any, keep_type: bool) -> Any:
    return list(ROW_TYPES) if keep_type and not sp.issparse(X) else np.float64


def _require_room(X: Any, keep_type: bool) -> None:
    """Raise NotEnoughMemoryError if there is no room for a copy in float64."""
    kept = ROW_TYPES if keep_type else (np.float64,)
    if isinstance(X, np.ndarray) and X.dtype not in kept:
        require_memory(8.0 * X.size)


def _check_finite(X: Any, estimator_name: str | None) -> None:
    """Do what scikit-learn does, a block of rows at a time."""
    parts = [X] if sp.issparse(X) else (X[block] for block in row_blocks(*X.shape))
    for part in parts:
        assert_all_finite(part, estimator_name=estimator_name, input_name="X")
