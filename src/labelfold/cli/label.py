"""`labelfold label`: a local page to look at all rows, label some, and watch it learn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli.console import Console
from labelfold.cli.options import DataOptions, Force, Labels, Scale, command
from labelfold.cli.output import STANDARD_STREAM, OutputFiles
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.studio.shown_rows import ShownRows
    from labelfold.tables import Table

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_SHOWN = 6  # columns, if none is named


@command
def label(
    *,
    console: Console,
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="A data file, as for 'labelfold classify'."),
    ],
    labels: Labels = None,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="COLUMN", help="Show rows as text, from this column."),
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(
            "--image",
            metavar="COLUMN",
            help="Show rows as images: a column of paths or of bytes (PNG, JPEG, GIF, BMP, WebP).",
        ),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option("--show", metavar="COLUMN", help="Columns to show beside. May be repeated."),
    ] = None,
    image_folder: Annotated[
        Path | None,
        typer.Option(
            "--image-folder",
            metavar="FOLDER",
            help="Where paths of images start, and what they cannot leave; by default the folder "
            "of DATA.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File of all labels, given and predicted, written at the end: .csv, .tsv, "
            ".parquet or .npz.",
        ),
    ] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Print all that was done, as JSON lines, and end.")
    ] = False,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the page, or only print its address."),
    ] = True,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen at.")
    ] = LOOPBACK[0],
    port: Annotated[
        int,
        typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0 takes a free one."),
    ] = 0,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Go on although DATA has changed; labels stay with rows of the same name.",
        ),
    ] = False,
    scale: Scale = "auto",
    force: Force = False,
    reading: DataOptions,
) -> None:
    """Look at all rows on a map, label some of them, and watch it learn.

    A page in your browser shows the map, the rows you select, and rows that are worth a label.
    After each label the others are predicted again. Labels are stored in DATA.labels.sqlite as
    soon as the page says so; DATA itself is never changed. Start the command again to go on.

    The page is served by this machine for this machine, to whoever has the address with its token.
    Ctrl-C ends it.

    For example:

      labelfold label reviews.csv --text review

      labelfold label birds.parquet --image photo --labels species -o labels.csv
    """
    if data == STANDARD_STREAM:
        raise InputError("labels are stored beside DATA, so it must be a file, not standard input.")
    if text is not None and image is not None:
        raise InputError("--text and --image contradict each other: pass one of them.")
    from labelfold.studio.journal import Journal, journal_path, read_events

    if log:
        for event in read_events(journal_path(data)):
            console.result(event.to_json())
        return
    with console.step("loading"):
        from labelfold.cli.methods import prepare
        from labelfold.studio.labeling import check_data, labels_in
        from labelfold.studio.learner import Task
        from labelfold.studio.server import Server
        from labelfold.studio.session import Session
        from labelfold.tables.writing import output_format
    if out is not None:
        output_format(out)
    shown = [*([text] if text else []), *(show or [])]
    if image is not None:
        reading = replace(reading, ignore=[*(reading.ignore or ()), image])
    table = reading.read_labeled(console, [data], labels)
    rows = _read_rows(console, reading, data, table, shown, image, image_folder)
    with Journal(journal_path(data)) as journal:
        note = check_data(journal, reading.files(data), rows.ids, accept=accept_changes)
        for line in (*table.notes, note):
            if line:
                console.remark(line)
        with console.step("preparing features"):
            X, preparation, _ = prepare(table, scale)
        arguments = {**reading.arguments(), "path": data, "labels": labels}
        cache = Path(f"{data}.labels.cache")
        task = Task(X, preparation, table.feature_names, cache, arguments)
        with OutputFiles(*([out] if out else []), overwrite=force) as output:
            session = Session(rows, labels_in(table), journal, task, Path(data).name)
            server = Server(session, host, port)
            if host not in LOOPBACK:
                console.remark(
                    f"labelfold: warning: {host} can be reached from other machines, without "
                    "encryption: whoever learns the address below can read and label the data."
                )
            _serve(console, server, opens=browser)
            if out is not None:
                from labelfold.studio.exports import write_labels

                with output.open(out) as stream:
                    write_labels(session, stream, out.name)
    console.result(f"{session.describe()} They are in {journal.path}.")


def _serve(console: Console, server: Any, *, opens: bool) -> None:
    console.result(f"Labeling page: {server.url}")
    console.remark("Ctrl-C ends it.")
    if opens:
        import webbrowser

        webbrowser.open(server.url)
    server.run()


def _read_rows(
    console: Console,
    reading: DataOptions,
    data: str,
    table: Table,
    shown: list[str],
    image: str | None,
    image_folder: Path | None,
) -> ShownRows:
    """Return what is shown of the rows, from columns that need not be features."""
    import pyarrow as pa

    from labelfold.plotting.interactive_map import check_hover
    from labelfold.studio.shown_rows import Images, ShownRows, row_ids
    from labelfold.tables.frames import is_vector

    ids = row_ids(table.ids, table.n_rows)
    images, columns = None, {}
    if image is not None:
        cells = _read_columns(console, reading, data, [image]).column(0)
        if not (pa.types.is_binary(cells.type) or pa.types.is_string(cells.type)):
            raise InputError(f"--image {image}: {cells.type} is neither a path nor bytes.")
        images = Images(cells.to_pylist(), image_folder or Path(data).parent)
    if shown:
        found = _read_columns(console, reading, data, shown)
        columns = {name: found.column(name).to_pylist() for name in found.column_names}
    elif image is None and table.feature_names is not None:
        for name in table.feature_names:
            if len(columns) < MOST_SHOWN and not is_vector(table.features.column(name).type):
                columns[name] = table.features.column(name).to_pylist()
    form = "image" if images is not None else "text" if len(columns) == 1 and shown else "table"
    return ShownRows(ids, check_hover(columns, len(ids)), images, form)


def _read_columns(console: Console, reading: DataOptions, data: str, names: list[str]) -> Any:
    from labelfold.tables import as_table

    options = replace(reading, features=names, ignore=None, vectors=None, labels_file=None)
    return as_table(options.read(console, [data]).features)
