"""`labelfold transform`: a saved model on new rows."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli import reports
from labelfold.cli.console import Console
from labelfold.cli.methods import scikit_learn_errors
from labelfold.cli.options import ColumnOptions, Force, Json, Out, OutputOptions, command
from labelfold.cli.output import Results
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from labelfold.tables import Table


@command
def transform(
    *,
    console: Console,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A model that --save wrote, or labelfold.save in Python.",
            show_default=False,
        ),
    ],
    new: Annotated[
        list[str],
        typer.Argument(
            metavar="NEW",
            help="New rows, in any format that 'labelfold embed' reads; - is standard input.",
            show_default=False,
        ),
    ],
    out: Out,
    std: Annotated[
        bool,
        typer.Option(
            "--std",
            help="For --method resampled: add a column that says how much the embeddings of the "
            "subsamples differ at each row. Coordinates with a large std are uncertain.",
        ),
    ] = False,
    as_json: Json = False,
    reading: ColumnOptions,
    force: Force = False,
) -> None:
    """Embed or label new rows with a saved model.

    Each new row is computed by itself, without a label. The columns that the model was fitted on
    are found by name, in any order; others are ignored. A model without names takes the columns in
    their order; in a file without names, choose them with --features. Opening a model runs no code
    from it; a damaged file is refused.

    The result has one line per row: its name (id) or number (row, starting at 1); the coordinates
    (x1, x2, ...) from a model of 'labelfold embed'; the label and the confidence, which is the
    probability of that label, from a model of 'labelfold classify'.

    For example:

      labelfold transform model.skops more.csv -o more-xy.csv

      cat more.csv | labelfold transform model.skops - -o -
    """
    wanted = OutputOptions(as_json=as_json, force=force)
    with Results(out, (str(model), *new), wanted) as results:
        with console.step(f"opening {model}"):
            estimator, names = open_model(model, std=std)
        n_features = getattr(estimator, "n_features_in_", None)
        table = reading.read_new(console, new, names, n_features)
        begin = time.perf_counter()
        with console.step("new rows"), scikit_learn_errors(last_step(estimator)):
            answers = answer(estimator, table, std=std)
        seconds = time.perf_counter() - begin
        results.write_table({**reports.row_column(table), **answers})
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


def open_model(path: Path, *, std: bool) -> tuple[Any, list[str] | None]:
    """Return a saved model for new rows, and the names of its columns, if they are known."""
    from labelfold import ResampledEmbedding, load
    from labelfold.persistence.model_file import read_feature_names

    estimator = load(path)
    kind = type(last_step(estimator)).__name__
    if not hasattr(estimator, "transform") and not _is_classifier(estimator):
        raise InputError(
            f"{path} holds a {kind}, which neither embeds nor labels new rows: use a model that "
            "'labelfold embed --save' or 'labelfold classify --save' wrote."
        )
    if std and not isinstance(last_step(estimator), ResampledEmbedding):
        raise InputError(
            f"{path} holds a {kind}, which has no --std: fit it with --method resampled."
        )
    names = read_feature_names(path)
    if names is None and hasattr(estimator, "feature_names_in_"):
        names = estimator.feature_names_in_.tolist()
    return estimator, names


def answer(
    estimator: Any, table: Table, *, std: bool = False, coverage: float | None = None
) -> dict[str, Any]:
    """Return "x" and "std" from an embedder, "label" and "confidence" from a classifier.

    With a coverage also "set", if the classifier has sets of labels.
    """
    import numpy as np

    X = features_for(estimator, table)
    columns: dict[str, Any] = {}
    with warnings.catch_warnings():
        # Columns were found by name, but an array has no names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if std:
            # A pipeline's transform does not pass the parameter on.
            before = X if last_step(estimator) is estimator else estimator[:-1].transform(X)
            x, distances = last_step(estimator).transform(before, return_std=True)
            columns = {"x": x, "std": distances}
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
            if coverage is not None and hasattr(last_step(estimator), "predict_sets"):
                # A pipeline passes only the methods of scikit-learn on.
                before = X if last_step(estimator) is estimator else estimator[:-1].transform(X)
                sets = last_step(estimator).predict_sets(before, coverage)
                columns["set"] = name_sets(sets, estimator.classes_)
    return columns


def name_sets(sets: NDArray[np.bool_], classes: ArrayLike) -> list[str]:
    """Return the classes of each set as text, such as "cat|dog"."""
    import numpy as np

    names = [str(one) for one in np.asarray(classes).tolist()]
    return ["|".join(names[k] for k in np.flatnonzero(row)) for row in sets]


def confidences(
    distributions: NDArray[np.float64], classes: ArrayLike, predicted: ArrayLike
) -> NDArray[np.float64]:
    """Return the probability that each row's distribution gives to its predicted class."""
    import numpy as np

    position = {value: k for k, value in enumerate(np.asarray(classes).tolist())}
    codes = [position[value] for value in np.asarray(predicted).tolist()]
    return np.asarray(distributions[np.arange(len(codes)), codes])


def features_for(estimator: Any, table: Table) -> Any:
    """Return the rows as a table, or as a matrix if the model was fitted on one."""
    if _takes_tables(estimator) or table.feature_names is None:
        return table.features
    import numpy as np
    import pyarrow as pa

    from labelfold.tables.frames import get_column, is_vector, to_array

    parts = []
    for name in table.feature_names:
        column = get_column(table.features, name)
        if is_vector(column.type):
            column = to_array(column)
        else:
            kind = column.type
            if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or kind == pa.bool_()):
                raise InputError(
                    f"{table.origin}: column {name!r} holds {kind}, but the model needs numbers: "
                    "fit it on the table with 'labelfold embed' or 'labelfold classify'."
                )
            column = column.cast(pa.float64()).to_numpy(zero_copy_only=False).reshape(-1, 1)
        for row in np.flatnonzero(np.isnan(column).any(axis=1))[:1].tolist():
            raise InputError(
                f"{table.origin}: row {row + 1}, column {name!r}: a missing value, but the model "
                "needs numbers: fill it in, or leave out the row."
            )
        parts.append(column)
    return np.hstack(parts)


def _takes_tables(estimator: Any) -> bool:
    from sklearn.pipeline import Pipeline

    from labelfold.tables import TablePreparation

    return isinstance(estimator, Pipeline) and isinstance(estimator[0], TablePreparation)


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, and anything else as it is."""
    from sklearn.pipeline import Pipeline

    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def describe(facts: dict[str, Any]) -> str:
    """The facts as text for people."""
    model, data, n = facts["model"], facts["data"], facts["n_components"]
    given = [] if n is None else [reports.counted(n, "coordinate")]
    given += [title for title in facts["columns"] if title != "x"]
    columns = reports.counted(model["n_features"], "column")
    rows = reports.counted(data["n_rows"], "row")
    return reports.paragraphs(
        [
            f"{model['file']}: {model['estimator']} of {columns}.",
            f"{data['file']}: {rows}, each with {' and '.join(given)}.",
        ],
        reports.describe_files(facts["files"]),
        reports.describe_end(facts),
    )


def _is_classifier(estimator: Any) -> bool:
    return hasattr(estimator, "predict") and hasattr(estimator, "classes_")
