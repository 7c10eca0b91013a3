"""Rows for a model that is fitted: the columns it knows, by name where it knows names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labelfold.cli.console import Console
from labelfold.cli.data_options import read_data
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.cli.tables import Table


def read_new_rows(
    console: Console,
    source: str,
    names: list[str] | None,
    n_features: int | None,
    *,
    features: list[str] | None = None,
    ignore: list[str] | None = None,
    id_column: str | None = None,
    header: bool | None = None,
    format: str | None = None,
    max_bytes: int | None = None,
) -> Table:
    """Read a file of new rows.

    Parameters
    ----------
    console : Console
        Shows the step.

    source : str
        The file, or "-".

    names : list of str or None
        Columns that the model was fitted on, which are taken in this order; others are ignored.
        None takes all columns, or those that `features` and `ignore` leave.

    n_features : int or None
        Number of columns that there must be.

    features, ignore, id_column, header, format, max_bytes
        As for `read_data`. Columns that a person names by `features` or `ignore` count more than
        names.

    Raises
    ------
    ValueError
        If a column is missing, or there are more or fewer.
    """
    by_name = names is not None and not features and not ignore
    try:
        table = read_data(
            console,
            source,
            features=names if by_name else features,
            ignore=ignore,
            id_column=id_column,
            header=header,
            format=format,
            max_bytes=max_bytes,
            n_features=n_features,
        )
    except ValueError as error:
        if by_name and "--features" in str(error):  # an option that nobody gave
            error.add_note("New rows need the columns that the model was fitted on.")
        raise
    if by_name and table.feature_names != names:
        # A name such as "3" is also a number, of whatever column stands there.
        missing = next(name for name in names or () if name not in (table.feature_names or ()))
        raise InputError(
            f"{table.origin} has no column {missing!r}, which the model was fitted on: add it, or "
            "name the columns to take with --features."
        )
    return table
