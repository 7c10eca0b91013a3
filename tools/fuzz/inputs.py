"""Rows, labels and parameters at the edge of what is allowed, and beyond it.

Rows and labels are plain lists of numbers and labels together with the name of a form: what holds
them when they are given to the library. So every input can be printed, read back and made smaller.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

Rng = np.random.Generator
Array = NDArray[Any]


def draw(rng: Rng, choices: Any) -> Any:
    """Return one of the choices; unlike ``rng.choice``, as it is."""
    listed = list(choices)
    return listed[rng.integers(len(listed))]


# Rows


def draw_rows(rng: Rng, most: int) -> Array:
    """Return at most `most` rows of numbers of a kind drawn at random."""
    n = int(rng.integers(most + 1)) if rng.random() < 0.9 else int(rng.integers(4))
    d = int(draw(rng, [1, 2, 3, 3, 4, 4, 7, 20]))
    X = rng.standard_normal((n, d))
    for _ in range(int(draw(rng, [0, 1, 1, 1, 2]))):
        with np.errstate(all="ignore"):
            X = draw(rng, KINDS)(rng, X)
    if rng.random() < 0.02:
        return X[:, :0]
    return X


def _rounded(rng: Rng, X: Array) -> Array:
    return np.round(X, int(rng.integers(3)))


def _repeated(rng: Rng, X: Array) -> Array:
    kept = max(1, int(rng.integers(1, 6)))
    return X[rng.integers(min(kept, len(X)), size=len(X))] if len(X) else X


def _constant(rng: Rng, X: Array) -> Array:
    X[:, rng.integers(X.shape[1])] = draw(rng, [0.0, 7.0, -1e300, 5e-324])
    return X


def _collinear(rng: Rng, X: Array) -> Array:
    return np.outer(X[:, 0], rng.standard_normal(X.shape[1]))


def _scaled(rng: Rng, X: Array) -> Array:
    return X * 10.0 ** draw(rng, [-300, -200, -160, -150, -100, -20, 20, 100, 150, 160, 200, 300])


def _scaled_apart(rng: Rng, X: Array) -> Array:
    return X * 10.0 ** rng.integers(-300, 301, size=X.shape[1])


def _shifted(rng: Rng, X: Array) -> Array:
    return X + draw(rng, [1e8, 1e15, 1e16, -1e100, 1e152, 1e300])


def _denormal(rng: Rng, X: Array) -> Array:
    return X * 5e-324 * 2.0 ** rng.integers(0, 40)


def _with_odd_entry(rng: Rng, X: Array) -> Array:
    if X.size:
        where = rng.integers(len(X)), rng.integers(X.shape[1])
        X[where] = draw(rng, [np.nan, np.inf, -np.inf, 1e200, 1.7e308, 1e153, 1e9, -0.0, 5e-324])
    return X


def _equal(rng: Rng, X: Array) -> Array:
    X[:] = draw(rng, [0.0, 1.0, -1e300, 5e-324, 1e154])
    return X


def _in_components(rng: Rng, X: Array) -> Array:
    X[: len(X) // 2] += draw(rng, [1e3, 1e9, 1e150])
    return X


def _sparse(rng: Rng, X: Array) -> Array:
    return np.where(rng.random(X.shape) < 0.7, 0.0, X)


def _nearly_equal(rng: Rng, X: Array) -> Array:
    return 1 + X * 1e-16


def _plain(rng: Rng, X: Array) -> Array:
    return X


KINDS: tuple[Callable[[Rng, Array], Array], ...] = (
    *(_plain, _plain, _plain, _rounded, _repeated, _constant, _collinear, _scaled, _scaled_apart),
    *(_shifted, _denormal, _with_odd_entry, _equal, _in_components, _sparse, _nearly_equal),
)


# What rows are held in


def _with_dtype(name: str) -> Callable[[Array], Any]:
    def convert(X: Array) -> Any:
        with np.errstate(all="ignore"):
            return X.astype(name)

    return convert


def _strided(X: Array) -> Any:
    return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]


def _read_only(X: Array) -> Any:
    X = X.copy()
    X.flags.writeable = False
    return X


def _objects(X: Array) -> Any:
    return X.astype(object)


def _objects_with_none(X: Array) -> Any:
    cells = X.astype(object)
    cells[:1, :1] = None
    return cells


def _structured(X: Array) -> Any:
    cells = np.zeros(len(X), dtype=[("a", "f8"), ("b", "U3")])
    cells["a"] = X[:, 0] if X.shape[1] else 0
    return cells


def _masked(X: Array) -> Any:
    return np.ma.masked_array(X, mask=X > 1)


def _odd_index(X: Array) -> Any:
    return pd.DataFrame(X, index=np.arange(len(X)) // 2 - 5).rename(columns=str)


def _multi_index(X: Array) -> Any:
    columns = pd.MultiIndex.from_tuples([("a", i) for i in range(X.shape[1])])
    return pd.DataFrame(X, columns=columns)


def _equal_names(X: Array) -> Any:
    return pd.DataFrame(X, columns=["a"] * X.shape[1])


def _nullable(X: Array) -> Any:
    frame = pd.DataFrame(X).rename(columns=str).astype("Float64")
    if X.size:
        frame.iloc[0, 0] = pd.NA
    return frame


def _mixed_frame(X: Array) -> Any:
    frame = pd.DataFrame(X).rename(columns=str)
    frame["kind"] = pd.Categorical(["u", "v"] * (len(X) // 2) + ["u"] * (len(X) % 2))
    frame["day"] = pd.date_range("2020-01-01", periods=len(X))
    return frame


def _polars(X: Array) -> Any:
    return pl.DataFrame({f"c{i}": column for i, column in enumerate(X.T)})


def _polars_with_null(X: Array) -> Any:
    return pl.DataFrame({f"c{i}": [None, *column[1:].tolist()] for i, column in enumerate(X.T)})


def _explicit_zeros(X: Array) -> Any:
    rows, columns = np.indices(X.shape)
    return sp.csr_array((X.ravel(), (rows.ravel(), columns.ravel())), shape=X.shape)


def _unsorted(X: Array) -> Any:
    n, d = X.shape
    indices = np.tile(np.arange(d)[::-1], n)
    return sp.csr_array((X[:, ::-1].ravel(), indices, np.arange(n + 1) * d), shape=X.shape)


def _duplicate_entries(X: Array) -> Any:
    n, d = X.shape
    halves = np.repeat(X, 2, axis=1).ravel() / 2
    return sp.csr_array(
        (halves, np.repeat(np.tile(np.arange(d), n), 2), np.arange(n + 1) * 2 * d), X.shape
    )


def _wide_indices(X: Array) -> Any:
    found = sp.csr_matrix(X)
    found.indices = found.indices.astype(np.int64)
    found.indptr = found.indptr.astype(np.int64)
    return found


def _square(X: Array) -> Any:
    """Distances, as for metric="precomputed"."""
    with np.errstate(all="ignore"):
        return np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))


FORMS: dict[str, Callable[[Array], Any]] = {
    "array": np.array,
    "fortran": np.asfortranarray,
    "strided": _strided,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": _read_only,
    "big-endian": _with_dtype(">f8"),
    **{
        name: _with_dtype(name)
        for name in ("f4", "f2", "i1", "i8", "u8", "u1", "bool", "longdouble", "complex", "U", "S")
    },
    "datetime": lambda X: np.nan_to_num(X, posinf=0, neginf=0).clip(-9, 9).astype("M8[D]"),
    "objects": _objects,
    "objects with None": _objects_with_none,
    "structured": _structured,
    "masked": _masked,
    "matrix": np.matrix,
    "list": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
    "ragged": lambda X: [*X.tolist(), [1.0]],
    "column": lambda X: X[:, 0] if X.shape[1] else X.ravel(),
    "cube": lambda X: X[None],
    "number": lambda X: 3.0,
    "None": lambda X: None,
    "text": lambda X: "rows",
    "generator": lambda X: iter(X.tolist()),
    "dictionary": lambda X: {"a": X.tolist()},
    "odd index": _odd_index,
    "multi-index": _multi_index,
    "equal names": _equal_names,
    "nullable": _nullable,
    "mixed frame": _mixed_frame,
    "series": lambda X: pd.Series(X.tolist(), dtype=object),
    "polars": _polars,
    "polars with null": _polars_with_null,
    "polars lazy": lambda X: _polars(X).lazy(),
    "explicit zeros": _explicit_zeros,
    "unsorted": _unsorted,
    "duplicate entries": _duplicate_entries,
    "wide indices": _wide_indices,
    "sparse f4": lambda X: sp.csr_array(_with_dtype("f4")(X)),
    "sparse complex": lambda X: sp.csr_array(X.astype(complex)),
    **{
        f"{kind} {ending}": getattr(sp, f"{kind}_{ending}")
        for kind in ("csr", "csc", "coo", "dok", "lil", "bsr", "dia")
        for ending in ("array", "matrix")
    },
    "distances": _square,
}


def draw_form(rng: Rng) -> str:
    """Return the name of a form; mostly an array."""
    return "array" if rng.random() < 0.7 else str(draw(rng, FORMS))


# Labels


def draw_labels(rng: Rng, n: int) -> list[Any] | None:
    """Return labels of about `n` rows, of a kind drawn at random."""
    if rng.random() < 0.03:
        return None
    if rng.random() < 0.04:
        n = max(0, n + int(draw(rng, [-1, 1, 5])))
    names = draw(rng, NAMES if rng.random() < 0.3 else NAMES[:7])
    used = names[: int(rng.integers(1, len(names) + 1)) if rng.random() < 0.3 else len(names)]
    unlabeled = draw(rng, [-1, None, np.nan, pd.NA])
    share = draw(rng, [0.0, 0.0, 0.3, 0.7, 0.95, 1.0])
    labels: list[Any] = [unlabeled if rng.random() < share else draw(rng, used) for _ in range(n)]
    kind = rng.random()
    if kind < 0.03:
        labels = list(range(n))
    elif kind < 0.06 and n:
        odd = [np.inf, "", "-1", 0.5, (1, 2), [1], True, b"a", 2**70, "x" * 300, "a\0b", 1j, -2]
        labels[int(rng.integers(n))] = draw(rng, odd)
    return labels


DAY = datetime.datetime(2020, 1, 1)
NAMES: tuple[tuple[Any, ...], ...] = (
    *(
        (0, 1, 2),
        (0, 1, 2),
        (0, 1),
        (5, 7, 2**40),
        ("a", "b", "c"),
        ("a", "b", "c"),
        ("é", "b\n", ""),
    ),
    *((0.0, 1.0, 2.0), (0.5, 1.5), (1, -1), (True, False), (0, "a", 2.0), (b"a", b"b")),
    *(("1", "2"), (DAY, DAY.replace(year=2021)), tuple(range(40)), (1e300, 1.0), ((1, 2), (3, 4))),
)


def _object_array(y: list[Any]) -> Any:
    array = np.empty(len(y), dtype=object)
    array[:] = y
    return array


def _guessed(y: list[Any]) -> Any:
    return np.array(y)


LABEL_FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "array": _guessed,
    "objects": _object_array,
    "column": lambda y: _object_array(y)[:, None],
    "two columns": lambda y: np.column_stack([_object_array(y)] * 2),
    "tuple": tuple,
    "set": lambda y: set(map(str, y)),
    "generator": iter,
    "text": lambda y: "labels",
    "series": lambda y: pd.Series(y, index=np.arange(len(y)) // 2 - 5, dtype=object),
    "categories": lambda y: pd.Categorical(y),
    "nullable": lambda y: pd.Series(y, dtype=object).convert_dtypes(),
    "frame": lambda y: pd.DataFrame({"y": _object_array(y)}),
    "polars": lambda y: pl.Series(y, strict=False),
    "masked": lambda y: np.ma.masked_array(_guessed(y), mask=[i % 3 == 0 for i in range(len(y))]),
    "sparse": lambda y: sp.csr_array(np.array(y, dtype=float)[None]),
}


def draw_label_form(rng: Rng) -> str:
    """Return the name of a form of labels; mostly an array of objects."""
    return "objects" if rng.random() < 0.75 else str(draw(rng, LABEL_FORMS))


def draw_distributions(rng: Rng, X: Array) -> tuple[Array, list[Any]]:
    """Return probabilities as large as X, and numbers of classes, -1 among them at times."""
    with np.errstate(all="ignore"):
        P = np.nan_to_num(np.abs(X), posinf=1.0) + 1e-12
        P = P / P.max(initial=1.0)
        P /= P.sum(axis=1, keepdims=True)
    least = int(draw(rng, [0, 0, -1]))
    return P, rng.integers(least, max(1, X.shape[1]), size=len(X)).tolist()


# Parameters

ODD: tuple[Any, ...] = (
    *(None, -1, 0, 1.5, "2", "magic", True, np.nan, np.inf, -np.inf, 10**6, 2**70, [], {}, [1, 2]),
    *(np.int64(2), np.array([1, 2]), np.array(3), 1e-300, 1e300, b"auto", 1j, np.True_),
)
INTEGERS = (1, 2, 3, 5, 12, 40)
FRACTIONS = (0.0, 0.1, 0.5, 1.0, 3.0, 1e-12, 1e12, 1e-300, 1e300, 5e-324)
METRICS = ("euclidean", "cosine", "manhattan", "precomputed", "chebyshev", "minkowski", "jaccard")
CHOICES: dict[str, tuple[Any, ...]] = {
    "n_components": (*INTEGERS, "auto"),
    "eigen_solver": ("auto", "dense", "arpack", "chebyshev"),
    "metric": METRICS,
    "neighbor_search": ("auto", "exact", "approximate"),
    "radius": (None, 0.1, 1.0, 3.0, 1e150, 1e-150, 1e300, 5e-324),
    "scale": ("auto", *FRACTIONS),
    "weights": ("heat", "binary", "self-tuning", "shared"),
    "normalization": ("degree", "none"),
    "density_exponent": (0.0, 0.5, 1.0, 3.0),
    "diffusion_time": (None, 0, 1, 2, 0.5, 100, 1e6),
    "kernel": (None, "linear", "rbf", "poly", "sigmoid", "cosine", "laplacian"),
    "degree": (1, 2, 3, 10, 300),
    "label_weight": (None, *FRACTIONS),
    "normals": ("axes", "anchors"),
    "objective": ("none", "variance"),
    "init": ("auto", "spectral", "pca", "random"),
    "rank": ("auto", *INTEGERS),
    "solver": ("lowrank", "convex"),
    "max_iter": (0, 1, 5, 40),
    "n_resamples": (1, 2, 10),
    "n_sizes": (2, 3, 5),
    "n_subsamples": (1, 2, 3),
    "subsample_size": (3, 10, 15, 30),
    "candidates": (None, ("mutual",), ("linear", "gaussian"), ("shared", "graph-10"), (), "linear"),
    "class_sizes": (None, "equal", {"a": 0.5, "b": 0.5}, {0: 0.9, 1: 0.1}, [0.5, 0.5], {}),
    "n_eigenvectors": ("auto", 0.2, 0.0, 1.0, *INTEGERS),
    "penalty": ("auto", np.inf, *FRACTIONS),
    "fit_intercept": (True, False),
    "roughness": (None,),
    "head": ("ridge", "linear", "knn"),
    "calibrate": (True, False),
    "local_angles": (True, False),
    "n_neighbors": (*INTEGERS, "scaled"),
    "local_size": (None, *INTEGERS),
    "exaggeration": ("auto", 1.0, 4.0, 12.0),
    "n_jobs": (None, 1, 2),
    "verbose": (0,),
    "random_state": (0, 1, None),
    "refit": (True, False),
    "cv": (2, 3, None),
    "n": (0, 1, 3, 20),
    "exclude": (None, [], [0], [0, 1], [True, False], [10**9], ["a"], np.array([], dtype=int)),
    "audit": (None, [True], [True] * 12, [0, 1], "audit"),
    "least_score": (0.0, 0.5, 1.0, 2.0),
    "coverage": (0.5, 0.9, 0.0, 1.0),
    "counts": ([3, 4], np.array([0, 9, 2]), [-1, 2]),
    "share": (0.0, 0.5, 1.0, 1.5),
    "sample": ("labels", "audit", "chosen"),
    "method": ("auto", "none", "standard", "quantile"),
    "labels": (None, "c0", "0", "kind"),
    "one_sided": (None, 0.0, 0.5, 1.0),
    "n_rows": (None, *INTEGERS),
    "n_splits": INTEGERS,
    "shuffle": (True, False),
    "scoring": (None, "accuracy", "f1_macro", "neg_log_loss"),
}
WHOLE = ("n_", "max_size", "chunk_size", "local_size", "subsample_size")  # names of whole numbers


def draw_value(rng: Rng, name: str) -> Any:
    """Return a value of a parameter, one in eight of no kind that it may have."""
    if rng.random() < 0.125:
        # More work than asked for in earnest is not a fault.
        works = name in ("max_iter", "n_resamples", "n_sizes", "n_subsamples", "degree", "verbose")
        return draw(rng, ODD if not works else [None, -1, 1.5, "2", True, np.nan, [], 2j])
    is_whole = name.startswith(WHOLE)
    return draw(rng, CHOICES.get(name, INTEGERS if is_whole else FRACTIONS))


def draw_parameters(rng: Rng, names: list[str], share: float = 0.15) -> dict[str, Any]:
    """Return values of some parameters; none at all in a third of the cases."""
    if rng.random() < 1 / 3:
        return {}
    return {name: draw_value(rng, name) for name in names if rng.random() < share}
