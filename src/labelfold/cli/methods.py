"""From the name of a method and its options to an estimator, and from a table to its features.

Methods declare themselves (`labelfold.methods`); they are loaded when a command's help or its work
needs them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from labelfold.cli.options import MethodOptions, check_option
from labelfold.exceptions import InputError
from labelfold.methods import Method, declaration_of, known_methods

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labelfold.tables import ColumnReport, Table

# Options for parameters that --set does not take.
OWN_OPTIONS = {"random_state": "--seed", "n_jobs": "--jobs", "verbose": "-v"}
# What --set reads a text as, in the order in which it is tried: a title, and a function that raises
# an error if it cannot be read.
READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "None": ("none", lambda text: {"none": None}[text.lower()]),
    "bool": ("true or false", lambda text: {"true": True, "false": False}[text.lower()]),
    "int": ("a whole number", int),
    "float": ("a number", float),
    "Mapping[Any, float]": (
        "classes with their sizes, such as a:0.7,b:0.3",
        lambda text: _read_sizes(text),
    ),
    "str": ("text", str),
    "Sequence[str]": (
        "names separated by commas",
        lambda text: tuple(part.strip() for part in text.split(",")),
    ),
}
LABELS = {
    "needs": "; needs labels",
    "uses": "; uses labels",
    "ignores": "",
    "complete": "; needs all labels",
}


def embedders() -> dict[str, Method]:
    """Return methods that embed rows, new rows too, with or without labels."""

    def is_wanted(method: Method) -> bool:
        takes_unlabeled = declaration_of(method.estimator) or method.declaration.labels == "ignores"
        extends = hasattr(method.estimator, "transform")
        return method.declaration.embeds and extends and bool(takes_unlabeled)

    return {name: one for name, one in known_methods().items() if is_wanted(one)}


def classifying() -> dict[str, Method]:
    """Return methods that label rows: embedders with a head, and other classifiers."""
    known = known_methods()
    others = [name for name, one in known.items() if one.declaration.produces == "classification"]
    return embedders() | {name: known[name] for name in others}


def compared() -> dict[str, Method]:
    """Return methods that embed rows in any number of coordinates, and other classifiers."""

    def is_wanted(method: Method) -> bool:
        if method.declaration.embeds:
            return "n_components" in method.parameters
        return method.declaration.classifies

    return {name: one for name, one in known_methods().items() if is_wanted(one)}


def listing(methods: Callable[[], Mapping[str, Method]]) -> type[TyperCommand]:
    """Return a command class whose help ends with the methods and their purposes."""

    class CommandWithMethods(TyperCommand):
        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            """Write the list."""
            with formatter.section("Methods"):
                formatter.write_dl([(name, _purpose(one)) for name, one in methods().items()])
            super().format_epilog(ctx, formatter)

    return CommandWithMethods


def _purpose(method: Method) -> str:
    origin = " (scikit-learn)" if method.estimator.__module__.startswith("sklearn.") else ""
    return method.declaration.purpose + LABELS[method.declaration.labels] + origin


def find_method(name: str, known: Mapping[str, Method]) -> Method:
    """Return the method of that name, or raise InputError."""
    check_option("--method", name, known)
    return known[name]


def check_needs(method: Method, table: Table) -> None:
    """Raise InputError for a table of one row, or without the labels that the method needs."""
    if table.n_rows < 2:
        raise InputError(f"{table.origin} has only one row: an embedding needs at least two.")
    if method.declaration.labels == "needs" and not table.class_counts:
        raise _no_labels(table, f"--method {method.declaration.name}")


def labels_of_classes(table: Table, what: str) -> NDArray[Any]:
    """Return the labels, or raise InputError if they have fewer than two classes."""
    if table.labels is None:
        raise _no_labels(table, what)
    counts = table.class_counts
    if len(counts) < 2:
        found = f"one class only, {next(iter(counts))!r}" if counts else "no label"
        raise InputError(
            f"{table.origin}: the labels hold {found}, and {what} needs two classes or more: "
            "name another column with --labels, or label some rows."
        )
    return table.labels


def _no_labels(table: Table, what: str) -> InputError:
    return InputError(
        f"{table.origin}: {what} needs labels: name their column with --labels, or a file with "
        "--labels-file."
    )


def make_estimator(method: Method, options: MethodOptions, *, verbose: bool = False) -> Any:
    """Return an unfitted estimator with the parameters that the options set.

    If it has a parameter `embedder`, options such as --dims are parameters of that one.
    """
    name, estimator = method.declaration.name, method.make()
    if hasattr(estimator, "embedder"):
        from labelfold import CCDR

        estimator.set_params(embedder=CCDR())
    types = _parameter_types(estimator)
    settable = [
        parameter
        for parameter in types
        if parameter.rpartition("__")[2] not in OWN_OPTIONS and parameter != "embedder"
    ]
    chosen: dict[str, Any] = {}
    for option, parameter, text in _settings(method, options):
        if parameter in OWN_OPTIONS:
            raise InputError(f"{option}: use {OWN_OPTIONS[parameter]} instead.")
        if parameter not in settable:
            raise InputError(
                f"{option}: --method {name} has no parameter {parameter}: choose from "
                f"{', '.join(settable)}, or name another --method."
            )
        if parameter in chosen:
            raise InputError(f"{option} sets {parameter} a second time: pass it once.")
        chosen[parameter] = read_value(text, types[parameter], option)
    common = {"random_state": options.seed, "n_jobs": options.jobs, "verbose": int(verbose)}
    chosen |= {key: value for key, value in common.items() if key in types}
    return estimator.set_params(**chosen)


@contextmanager
def scikit_learn_errors(estimator: Any) -> Iterator[None]:
    """Turn a ValueError of scikit-learn's estimator into an InputError.

    In an estimator of labelfold, a ValueError that is not an InputError is a fault.
    """
    if declaration_of(estimator) is None:
        from labelfold.checks import input_errors

        with input_errors():
            yield
    else:
        yield


def dimension_to_choose(method: Method, options: MethodOptions) -> str | None:
    """Return the parameter for the number of coordinates, None if an option sets it."""
    parameter = _own_parameter(method, "n_components")
    has_it = "embedder" in method.parameters or parameter in method.parameters
    is_set = parameter in [name for _, name, _ in _settings(method, options)]
    return parameter if has_it and not is_set else None


def _settings(method: Method, options: MethodOptions) -> Iterator[tuple[str, str, str]]:
    """Yield option, parameter and value of everything that sets a parameter."""
    for option, parameter, value in (
        ("--dims", "n_components", options.dims),
        ("--neighbors", "n_neighbors", options.neighbors),
        ("--beta", "beta", options.beta),
    ):
        if value is not None:
            yield option, _own_parameter(method, parameter), str(value)
    for setting in options.settings or ():
        name, _, text = (part.strip() for part in setting.partition("="))
        if not name or not text:
            raise InputError(f"--set {setting!r} must be NAME=VALUE, such as n_neighbors=20.")
        yield f"--set {name}", name, text


def _own_parameter(method: Method, parameter: str) -> str:
    return f"embedder__{parameter}" if "embedder" in method.parameters else parameter


def _parameter_types(estimator: Any) -> dict[str, str]:
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


def read_value(text: str, declared: str, option: str) -> Any:
    """Return a text as the first of the declared types that fits, or raise InputError.

    `option` begins the message.
    """
    parts = [part.strip() for part in declared.split("|")]
    kinds = list(READERS) if "Any" in parts else [kind for kind in READERS if kind in parts]
    for kind in kinds:
        with suppress(KeyError, ValueError):
            return READERS[kind][1](text)
    titles = " or ".join(READERS[kind][0] for kind in reversed(kinds))
    raise InputError(f"{option} {text!r} must be {titles}.")


def _read_sizes(text: str) -> dict[Any, float]:
    """Return the sizes of "name:size,name:size", with names read as labels of a file are."""
    import pyarrow as pa

    from labelfold.tables.table import read_labels

    names, _, sizes = zip(*(part.rpartition(":") for part in text.split(",")), strict=True)
    classes = read_labels(pa.array(names)).tolist()
    return dict(zip(classes, map(float, sizes), strict=True))


def prepare(table: Table, scale: str) -> tuple[Any, Any, ColumnReport]:
    """Return the features of a table as a matrix, the fitted preparation, and its report."""
    import numpy as np

    from labelfold.tables import TablePreparation

    given = table.features
    try:
        if hasattr(given, "tocsr") or (isinstance(given, np.ndarray) and not np.isnan(given.min())):
            return _scale_matrix(given, scale)
        preparation = TablePreparation(scale=scale)
        X = preparation.fit_transform(given, table.labels)
    except InputError as error:
        raise InputError(f"{table.origin}: {error}") from error
    return X, preparation, preparation.report_


def _scale_matrix(X: NDArray[Any], scale: str) -> tuple[Any, Any, ColumnReport]:
    """Scale numbers without missing values, which need no other preparation."""
    from labelfold.tables import AutoScaler, ColumnReport
    from labelfold.tables.columns import ColumnEntry
    from labelfold.tables.scaling import SCALED

    scaler = AutoScaler(scale)
    scaled = scaler.fit_transform(X)
    done = SCALED[scaler.method_]
    names = (f"column {number + 1}" for number in range(X.shape[1]))
    entries = tuple(ColumnEntry(name, "number", done, n_features=1) for name in names)
    if hasattr(X, "tocsr"):  # one entry: a sparse matrix may have very many columns
        entries = (ColumnEntry("matrix", "vector", done, n_features=X.shape[1]),)
    return scaled, scaler, ColumnReport(entries, f"{done} ({scaler.reason_})")
