"""Data sets of the benchmark: from a name to rows with all their classes, and draws of labels.

    data = load("digits")
    rows = draw_labels(data.y, n_labels=50, seed=0)

The environment variable LABELFOLD_DATA names the folder with the original files. Prepared arrays
are kept in ~/.cache/labelfold-benchmarks, or the folder that LABELFOLD_BENCHMARK_CACHE names.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.few_labels import recorded, synthetic

CACHE_VARIABLE = "LABELFOLD_BENCHMARK_CACHE"
VERSION = 2  # of the prepared arrays: raise it with any change to them

DEVELOPMENT: dict[str, Callable[[], recorded.Rows]] = {
    "digits": recorded.read_digits,
    "optdigits": recorded.read_optdigits,
    "pendigits": recorded.read_pendigits,
    "coil20": recorded.read_coil20,
    "landsat": recorded.read_landsat,
    "magic": recorded.read_magic,
    "alphadigits": recorded.read_alphadigits,
    "mnist10k": recorded.read_mnist10k,
    "news": recorded.read_news,
    "gauss3": synthetic.make_gauss3,
    "gauss2h": synthetic.make_gauss2h,
    "gauss4c": synthetic.make_gauss4c,
    "linear": synthetic.make_linear,
    "moons": synthetic.make_two_moons,
    "unb49": recorded.read_unb49,
    "unbgauss": synthetic.make_unbgauss,
}
OTHERS: dict[str, Callable[[], recorded.Rows]] = {
    "vectors": recorded.read_vectors,
    "blobs": synthetic.make_blobs,
    "mnist60k": recorded.read_mnist60k,
}
SIXTEEN = tuple(DEVELOPMENT)  # the sets that means and ranks are over
NAMES = (*SIXTEEN, *OTHERS)

N_CLASSES = {
    **dict.fromkeys(("digits", "optdigits", "pendigits", "mnist10k", "mnist60k"), 10),
    **dict.fromkeys(("coil20", "news", "vectors"), 20),
    **dict.fromkeys(("gauss2h", "gauss4c", "linear", "moons", "magic", "unb49", "unbgauss"), 2),
    **dict.fromkeys(("gauss3", "blobs"), 3),
    "landsat": 6,
    "alphadigits": 36,
}
PER_CLASS = (1, 2, 5, 10)
MOST = {
    **dict.fromkeys(("pendigits", "landsat", "magic", "mnist10k", "news", "vectors"), 500),
    **dict.fromkeys(("gauss3", "gauss2h", "gauss4c", "linear", "moons", "unb49", "unbgauss"), 100),
}
# Numbers of labels: 1, 2, 5 and 10 per class on average, and a larger one on some sets.
COUNTS = {
    name: tuple(n * N_CLASSES[name] for n in PER_CLASS) + ((MOST[name],) if name in MOST else ())
    for name in NAMES
}
COUNTS["mnist60k"] = (20, 50, 100, 500, 1000)


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows and the classes of all of them."""

    name: str
    X: NDArray[np.float64]  # (n_rows, n_features)
    y: NDArray[np.int64]  # 0 to n_classes - 1

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return N_CLASSES[self.name]

    @property
    def least_classes(self) -> int:
        """Return how many classes every draw has: all of the blobs, two of any other set."""
        return 3 if self.name == "blobs" else 2


def load(name: str) -> DataSet:
    """Return a data set, from the cache if it was prepared before."""
    if name not in NAMES:
        raise ValueError(f"{name!r} is not a data set: use one of {', '.join(NAMES)}.")
    path = cache_folder() / f"{name}-{VERSION}.npz"
    if not path.exists():
        X, y = (DEVELOPMENT | OTHERS)[name]()
        _write(path, X, y)
    with np.load(path, allow_pickle=False) as file:
        return DataSet(name, file["X"], file["y"])


def draw_labels(
    y: NDArray[np.int64], n_labels: int, seed: int, *, least_classes: int = 2
) -> NDArray[np.int64]:
    """Return the rows to label, ascending: random and not balanced.

    Drawn again until at least `least_classes` classes appear, since no method can start from one
    class. Draws of another seed or another number of labels are independent.
    """
    if n_labels < least_classes:
        raise ValueError(f"n_labels={n_labels} must be at least {least_classes}.")
    rng = np.random.default_rng([seed, n_labels])
    while True:
        rows = np.sort(rng.choice(len(y), n_labels, replace=False))
        if len(np.unique(y[rows])) >= least_classes:
            return rows


def cache_folder() -> Path:
    """Return the folder of prepared arrays."""
    return Path(os.environ.get(CACHE_VARIABLE) or "~/.cache/labelfold-benchmarks").expanduser()


def _write(path: Path, X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    """Write arrays under a temporary name first: other processes may read or write the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
        np.savez(file, X=X, y=y)
    Path(file.name).replace(path)
