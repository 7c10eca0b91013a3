"""`labelfold transform`: a saved model on new rows."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli.console import Console
from labelfold.cli.methods import refusals_of
from labelfold.cli.options import ColumnOptions, Force, Json, Out, OutputOptions, command
from labelfold.cli.output import Results
from labelfold.cli.reports import counted, describe_end, row_column
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


@command
def transform(
    *,
    console: Console,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A file of --save, or of labelfold.save in Python.",
            show_default=False,
        ),
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW",
            help="New rows, in any format that 'labelfold embed' reads; - for standard input.",
            show_default=False,
        ),
    ],
    out: Out,
    spread: Annotated[
        bool,
        typer.Option(
            "--spread",
            help="For a map by --method resampled: how far the subsamples' maps are apart at a "
            "row, in a column of that name. Rows of large spread are placed badly.",
        ),
    ] = False,
    as_json: Json = False,
    reading: ColumnOptions,
    force: Force = False,
) -> None:
    """Put new rows on a saved map, or label them with a saved classifier.

    Every new row is treated by itself, and no label is asked for. The columns that the model was
    fitted on are found by their names, in whatever order, and others are ignored. A model without
    names takes the columns as they stand; for a file without names choose them with --features.
    Opening a model runs no code from it; a damaged one is refused.

    The result has one line per row: its name (id) or number (row, the first is 1); the coordinates
    (x1, x2, ...) of a model by 'labelfold embed'; the label and the confidence, which is the
    probability that the classifier gives to that label, of one by 'labelfold classify'.

    For example:

      labelfold transform model.skops more.csv -o more-map.csv

      cat more.csv | labelfold transform model.skops - -o -
    """
    wanted = OutputOptions(as_json=as_json, force=force)
    with Results(out, (str(model), new), wanted) as results:
        with console.step(f"opening {model}"):
            estimator, names = open_model(model, spread=spread)
        n_features = getattr(estimator, "n_features_in_", None)
        table = reading.read_new(console, new, names, n_features)
        begin = time.perf_counter()
        with console.step("new rows"), refusals_of(last_step(estimator)):
            answers = answer(estimator, table.X, spread=spread)
        seconds = time.perf_counter() - begin
        results.write_table({**row_column(table), **answers})
    facts = {
        "command": "transform",
        "model": {
            "file": str(model),
            "estimator": type(last_step(estimator)).__name__,
            "n_features": table.n_features,
            "feature_names": names,
        },
        "data": {"file": table.origin, "n_rows": table.n_rows},
        "n_components": answers["x"].shape[1] if "x" in answers else None,
        "columns": list(answers),
        **results.end_facts(new_rows=seconds),
    }
    results.report(console, facts, describe(facts))


def open_model(path: Path, *, spread: bool) -> tuple[Any, list[str] | None]:
    """Open a saved model that maps or labels new rows.

    Parameters
    ----------
    path : Path
        The file.
    spread : bool
        Whether it must tell a spread as well.

    Returns
    -------
    estimator, names : estimator, list of str or None
        It, and the names of the columns it was fitted on, if they are known.
    """
    from labelfold import ResampledEmbedding, load
    from labelfold.persistence.model_file import read_feature_names

    estimator = load(path)
    kind = type(last_step(estimator)).__name__
    if not hasattr(estimator, "transform") and not _is_classifier(estimator):
        raise InputError(
            f"{path} holds a {kind}, which neither maps nor labels new rows: give a model by "
            "'labelfold embed --save' or 'labelfold classify --save'."
        )
    if spread and not isinstance(last_step(estimator), ResampledEmbedding):
        raise InputError(
            f"{path} holds a {kind}, which has no --spread: make the map with --method resampled."
        )
    names = read_feature_names(path)
    if names is None and hasattr(estimator, "feature_names_in_"):
        names = estimator.feature_names_in_.tolist()
    return estimator, names


def answer(estimator: Any, X: Any, *, spread: bool = False) -> dict[str, Any]:
    """Return what a fitted model says of new rows.

    Parameters
    ----------
    estimator : estimator
        As `open_model` returns it.
    X : matrix
        The rows.
    spread : bool, default=False
        Whether to ask a `ResampledEmbedding` for its spread.

    Returns
    -------
    dict of str to ndarray
        "x" and "spread" of a map, "label" and "confidence" of a classifier.
    """
    import numpy as np

    columns: dict[str, Any] = {}
    with warnings.catch_warnings():
        # They were found by name, but an array does not carry them.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if spread:
            # A pipeline's transform does not hand the parameter on.
            before = X if last_step(estimator) is estimator else estimator[:-1].transform(X)
            x, distances = last_step(estimator).transform(before, return_spread=True)
            columns = {"x": x, "spread": distances}
        elif hasattr(estimator, "transform"):
            x = estimator.transform(X)  # scalers alone keep sparse rows sparse
            columns["x"] = np.asarray(x.toarray() if hasattr(x, "toarray") else x)
        if _is_classifier(estimator):
            columns["label"] = np.asarray(estimator.predict(X))
            if hasattr(estimator, "predict_proba"):
                distributions = estimator.predict_proba(X)
                columns["confidence"] = confidences(
                    distributions, estimator.classes_, columns["label"]
                )
    return columns


def confidences(
    distributions: NDArray[np.float64], classes: ArrayLike, named: ArrayLike
) -> NDArray[np.float64]:
    """Return the probability that each row's distribution gives to the class it was named.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.cli.transform import confidences
    >>> confidences(np.array([[0.75, 0.25], [0.5, 0.5]]), ["a", "b"], ["b", "a"])
    array([0.25, 0.5 ])
    """
    import numpy as np

    position = {value: k for k, value in enumerate(np.asarray(classes).tolist())}
    codes = [position[value] for value in np.asarray(named).tolist()]
    return np.asarray(distributions[np.arange(len(codes)), codes])


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, and anything else as it is."""
    from sklearn.pipeline import Pipeline

    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def describe(facts: dict[str, Any]) -> str:
    """The facts as text for people."""
    model, data, n = facts["model"], facts["data"], facts["n_components"]
    given = [] if n is None else [counted(n, "coordinate")]
    given += [title for title in facts["columns"] if title != "x"]
    lines = [
        f"{model['file']}: {model['estimator']} of {counted(model['n_features'], 'feature')}.",
        f"{data['file']}: {counted(data['n_rows'], 'row')}, each with {' and '.join(given)}.",
        *describe_end(facts),
    ]
    return "\n".join(lines)


def _is_classifier(estimator: Any) -> bool:
    return hasattr(estimator, "predict") and hasattr(estimator, "classes_")
