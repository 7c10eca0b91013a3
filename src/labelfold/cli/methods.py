"""From the name of a method and its options to an estimator of the library.

Names and sentences for the help stand here; estimators are loaded when one is made.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from labelfold.cli.settings import parse_settings, read_value
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.cli.tables import Table

# Names, and where their estimators are.
EMBEDDERS = {
    "ccdr": "labelfold.CCDR",
    "eigenmaps": "labelfold.LaplacianEigenmaps",
    "lle": "labelfold.SupervisedLLE",
    "mfa": "labelfold.MarginalFisherAnalysis",
    "mvu": "labelfold.MaximumVarianceUnfolding",
    "mfnu": "labelfold.FurthestNeighborUnfolding",
    "ssde": "labelfold.SupervisedSemidefiniteEmbedding",
    "ism": "labelfold.IsometricSeparationMap",
    "resampled": "labelfold.ResampledEmbedding",
    "pca": "sklearn.decomposition.PCA",
}
CLASSIFIERS = {"laplacian": "labelfold.LaplacianClassifier"}
NEED_LABELS = ("mfa", "ism", "laplacian")
# Options for parameters that --set does not take.
OWN_OPTIONS = {"random_state": "--seed", "n_jobs": "--jobs", "verbose": "-v"}


def make_method(
    name: str,
    *,
    dims: str | None = None,
    neighbors: int | None = None,
    beta: float | None = None,
    settings: Sequence[str] = (),
    seed: int = 0,
    jobs: int | None = None,
    verbose: bool = False,
) -> Any:
    """Return an unfitted estimator.

    Parameters
    ----------
    name : str
        One of `EMBEDDERS` or `CLASSIFIERS`.

    dims, neighbors, beta : str, int, float, default=None
        Parameters with an option of their own; None leaves the estimator's default. Of `resampled`
        they are those of the map of each subsample.

    settings : sequence of str, default=()
        Other parameters, as NAME=VALUE.

    seed, jobs, verbose : int, int, bool
        What goes to `random_state`, `n_jobs` and `verbose`, where the estimator has them.

    Raises
    ------
    ValueError
        If the estimator has no such parameter, or the value is of another type.
    """
    estimator = _unset(name)
    types = parameter_types(estimator)
    parts = _prefix(name)
    options: dict[str, tuple[str, Any]] = {
        dimension_parameter(name): ("--dims", dims),
        f"{parts}n_neighbors": ("--neighbors", neighbors),
        f"{parts}beta": ("--beta", beta),
    }
    chosen: dict[str, Any] = {}
    for parameter, (option, value) in options.items():
        if value is None:
            continue
        if parameter not in types:
            raise InputError(
                f"{option} has no meaning for --method {name}, whose parameters are "
                f"{', '.join(settable(types))}: leave it out, or use --set."
            )
        chosen[parameter] = read_value(str(value), types[parameter], f"--method {name}: {option}")
    for parameter, value in parse_settings(settings, settable(types), name, OWN_OPTIONS).items():
        if parameter in chosen:
            option = options[parameter][0]
            raise InputError(f"--set {parameter} and {option} say the same: pass one of them.")
        chosen[parameter] = value
    common = {"random_state": seed, "n_jobs": jobs, "verbose": int(verbose)}
    chosen |= {key: value for key, value in common.items() if key in types}
    return estimator.set_params(**chosen)


def dimension_parameter(name: str) -> str:
    """Return the parameter that holds the number of coordinates."""
    return f"{_prefix(name)}n_components"


def check_name(name: str, known: Sequence[str]) -> None:
    """Refuse a method that is unknown."""
    if name not in known:
        raise InputError(f"--method {name} is unknown: choose from {', '.join(known)}.")


def check_needs(name: str, table: Table) -> None:
    """Refuse a table of one row, or without labels where the method is nothing without them."""
    if table.n_rows < 2:
        raise InputError(f"{table.origin} has one row: a map needs more of them, add some.")
    if name in NEED_LABELS and not table.n_labeled:
        raise InputError(
            f"{table.origin}: --method {name} needs labels: name their column with --labels, or a "
            "file with --labels-file."
        )


def parameter_types(estimator: Any) -> dict[str, str]:
    """Return the names of an estimator's parameters and the types they are declared with."""
    types = {}
    for name in estimator.get_params():
        *owners, own_name = name.split("__")
        owner = estimator
        for part in owners:
            owner = getattr(owner, part)
        declared = inspect.signature(type(owner).__init__).parameters[own_name].annotation
        types[name] = declared if isinstance(declared, str) else "Any"
    return types


def settable(types: dict[str, str]) -> dict[str, str]:
    """Return the parameters that --set takes."""
    return {
        name: declared
        for name, declared in types.items()
        if name.rpartition("__")[2] not in OWN_OPTIONS and name != "embedder"
    }


def _prefix(name: str) -> str:
    """Return what stands before parameters that have an option of their own."""
    return "embedder__" if name == "resampled" else ""


def _unset(name: str) -> Any:
    module, _, title = ({**EMBEDDERS, **CLASSIFIERS})[name].rpartition(".")
    kind = getattr(import_module(module), title)
    if name == "resampled":
        from labelfold import CCDR

        return kind(CCDR())
    if name == "pca":
        return kind(n_components=2)
    return kind()
