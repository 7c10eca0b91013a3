"""From the name of a method and its options to an estimator, and what scales its columns.

Methods are those that declare themselves (`labelfold.methods`); they are loaded when a command's
help or its work needs them.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from labelfold.cli.options import MethodOptions
from labelfold.exceptions import InputError
from labelfold.methods import Method, declaration_of, known_methods

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labelfold.cli.tables import Table

# Options for parameters that --set does not take.
OWN_OPTIONS = {"random_state": "--seed", "n_jobs": "--jobs", "verbose": "-v"}
SCALES = ("none", "standard", "quantile")
MOST_QUANTILES = 1000
KINDS = ("None", "bool", "int", "float", "str")  # in the order in which a text is tried
TITLES = {
    "None": "none",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "text",
}
LABELS = {
    "needs": "; needs labels",
    "uses": "; uses labels",
    "ignores": "",
    "complete": "; needs all labels",
}


def embedders() -> dict[str, Method]:
    """Return methods that map rows, new ones too, whatever labels there are."""
    return {
        name: one
        for name, one in known_methods().items()
        if one.declaration.embeds
        and hasattr(one.estimator, "transform")
        and (declaration_of(one.estimator) or one.declaration.labels == "ignores")
    }


def classifying() -> dict[str, Method]:
    """Return methods that label rows: the embedders with a head, and classifiers without a map."""
    classifiers = {
        name: one
        for name, one in known_methods().items()
        if one.declaration.classifies and not one.declaration.embeds
    }
    return {**embedders(), **classifiers}


def compared() -> dict[str, Method]:
    """Return methods that map rows to any number of coordinates."""
    return {
        name: one
        for name, one in known_methods().items()
        if one.declaration.embeds and "n_components" in one.parameters
    }


def listing(methods: Callable[[], Mapping[str, Method]]) -> type[TyperCommand]:
    """Return a kind of command whose help ends with the methods, as they declare themselves."""

    class CommandWithMethods(TyperCommand):
        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            """Write the names and purposes."""
            with formatter.section("Methods"):
                formatter.write_dl([(name, _purpose(one)) for name, one in methods().items()])
            super().format_epilog(ctx, formatter)

    return CommandWithMethods


def _purpose(method: Method) -> str:
    origin = " (scikit-learn)" if method.estimator.__module__.startswith("sklearn.") else ""
    return method.declaration.purpose + LABELS[method.declaration.labels] + origin


def check_option(option: str, value: str, choices: Iterable[str]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        raise InputError(f"{option} {value} is unknown: choose from {', '.join(choices)}.")


def find_method(name: str, known: Mapping[str, Method]) -> Method:
    """Return the method of that name; an unknown one is refused."""
    check_option("--method", name, known)
    return known[name]


def check_needs(method: Method, table: Table) -> None:
    """Refuse a table of one row, or without labels where the method is nothing without them."""
    if table.n_rows < 2:
        raise InputError(f"{table.origin} has one row: a map needs more of them, add some.")
    if method.declaration.labels == "needs" and not table.n_labeled:
        raise InputError(
            f"{table.origin}: --method {method.declaration.name} needs labels: name their column "
            "with --labels, or a file with --labels-file."
        )


def labels_of_classes(table: Table, what: str) -> NDArray[Any]:
    """Return the labels; those that leave nothing to choose between are refused."""
    if table.labels is None:
        raise InputError(
            f"{table.origin}: {what} needs labels: name their column with --labels, or a file "
            "with --labels-file."
        )
    counts = table.class_counts
    if len(counts) < 2:
        found = f"one class only, {next(iter(counts))!r}" if counts else "no label"
        raise InputError(
            f"{table.origin}: the labels hold {found}, and {what} needs two classes or more: "
            "name another column with --labels, or label some rows."
        )
    return table.labels


def make_estimator(method: Method, options: MethodOptions, *, verbose: bool = False) -> Any:
    """Return an unfitted estimator with the parameters that the options name.

    Options of an estimator that maps by another one (a parameter `embedder`) are for that one.

    Raises
    ------
    InputError
        If the estimator has no such parameter, or the value is of another type.
    """
    name = method.declaration.name
    estimator = method.make()
    if hasattr(estimator, "embedder"):
        from labelfold import CCDR

        estimator.set_params(embedder=CCDR())
    types = _parameter_types(estimator)
    settable = {
        parameter: declared
        for parameter, declared in types.items()
        if parameter.rpartition("__")[2] not in OWN_OPTIONS and parameter != "embedder"
    }
    given = {
        _own_parameter(method, parameter): (option, value)
        for parameter, option, value in (
            ("n_components", "--dims", options.dims),
            ("n_neighbors", "--neighbors", options.neighbors),
            ("beta", "--beta", options.beta),
        )
        if value is not None
    }
    chosen: dict[str, Any] = {}
    for parameter, (option, value) in given.items():
        if parameter not in types:
            raise InputError(
                f"{option} has no meaning for --method {name}, whose parameters are "
                f"{', '.join(settable)}: leave it out, or use --set."
            )
        chosen[parameter] = read_value(str(value), types[parameter], f"--method {name}: {option}")
    for parameter, value in parse_settings(options.settings or (), settable, name).items():
        if parameter in chosen:
            option = given[parameter][0]
            raise InputError(f"--set {parameter} and {option} say the same: pass one of them.")
        chosen[parameter] = value
    common = {"random_state": options.seed, "n_jobs": options.jobs, "verbose": int(verbose)}
    chosen |= {key: value for key, value in common.items() if key in types}
    return estimator.set_params(**chosen)


@contextmanager
def refusals_of(estimator: Any) -> Iterator[None]:
    """Report what an estimator of scikit-learn refuses as bad input.

    It says so by a ValueError, which from an estimator of labelfold would be a fault.
    """
    if declaration_of(estimator) is None:
        from labelfold.checks import input_errors

        with input_errors():
            yield
    else:
        yield


def dimension_to_choose(method: Method, options: MethodOptions) -> str | None:
    """Return the parameter that holds the number of coordinates, None if an option sets it."""
    parameter = _own_parameter(method, "n_components")
    named = [setting.partition("=")[0].strip() for setting in options.settings or ()]
    has_none = "embedder" not in method.parameters and parameter not in method.parameters
    return None if options.dims is not None or parameter in named or has_none else parameter


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


def parse_settings(
    settings: Sequence[str], types: Mapping[str, str], method: str
) -> dict[str, Any]:
    """Read all NAME=VALUE of --set by the types of a method's parameters.

    A type is an annotation such as "int | str", or "Any" where there is none.

    Examples
    --------
    >>> from labelfold.cli.methods import parse_settings
    >>> types = {"alpha": "float", "radius": "float | None", "weights": "Any"}
    >>> parse_settings(["alpha=1", "radius=none", "weights=heat"], types, "lle")
    {'alpha': 1.0, 'radius': None, 'weights': 'heat'}
    """
    values: dict[str, Any] = {}
    for setting in settings:
        name, sign, text = (part.strip() for part in setting.partition("="))
        if not sign or not name or not text:
            raise InputError(
                f"--set {setting!r} must be NAME=VALUE, such as {next(iter(types))}=2."
            )
        if name in OWN_OPTIONS:
            raise InputError(f"--set {name}: use {OWN_OPTIONS[name]} instead.")
        if name not in types:
            raise InputError(
                f"--set {name}: --method {method} has no such parameter: choose from "
                f"{', '.join(types)}."
            )
        if name in values:
            raise InputError(f"--set {name} is given twice: pass it once.")
        values[name] = read_value(text, types[name], f"--set {name}")
    return values


def read_value(text: str, declared: str, option: str) -> Any:
    """Return the value that a text has as one of the declared types, the first that fits.

    `option` is what the message begins with if it fits none.
    """
    parts = [part.strip() for part in declared.split("|")]
    kinds = KINDS if "Any" in parts else [kind for kind in KINDS if kind in parts]
    for kind in kinds:
        found, value = _read_as(kind, text)
        if found:
            return value
    titles = " or ".join(TITLES[kind] for kind in reversed(kinds))
    raise InputError(f"{option} {text!r} must be {titles}.")


def _read_as(kind: str, text: str) -> tuple[bool, Any]:
    """Return whether a text can be read as that type, and its value."""
    word = text.lower()
    if kind == "None":
        return word == "none", None
    if kind == "bool":
        return word in ("true", "false"), word == "true"
    if kind == "str":
        return True, text
    try:
        number = int(text) if kind == "int" else float(text)
    except ValueError:
        return False, None
    return not math.isnan(number), number


def scale_columns(name: str, X: Any, seed: int) -> tuple[Any, Any]:
    """Return the rows as --scale asks for them, and the fitted scaler or None."""
    import scipy.sparse as sp
    from sklearn.preprocessing import QuantileTransformer, StandardScaler

    if name == "none":
        return X, None
    scaler = QuantileTransformer(
        n_quantiles=min(MOST_QUANTILES, X.shape[0]),
        output_distribution="normal",
        random_state=seed,
    )
    if name == "standard":
        # A sparse matrix without its zeros would be dense.
        scaler = StandardScaler(with_mean=not sp.issparse(X))
    return scaler.fit_transform(X), scaler


def with_scaler(scaler: Any | None, estimator: Any) -> Any:
    """Return a fitted estimator behind the fitted scaler, as one model."""
    if scaler is None:
        return estimator
    from sklearn.pipeline import make_pipeline

    return make_pipeline(scaler, estimator)
