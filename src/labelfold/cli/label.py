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
EVERYWHERE = ("0.0.0.0", "::")
MOST_SHOWN = 6  # columns, if none is named
DATA = typer.Argument(metavar="DATA", help="A data file, as for 'labelfold classify'.")
TEXT = typer.Option("--text", metavar="COLUMN", help="Show rows as text, from this column.")
IMAGE = typer.Option(
    "--image",
    metavar="COLUMN",
    help="Show rows as images: a column of paths or of bytes (PNG, JPEG, GIF, BMP, WebP).",
)
IMAGE_FOLDER = typer.Option(
    "--image-folder",
    metavar="FOLDER",
    help="Where paths of images start, and what they cannot leave. The default is that of DATA.",
)
SHOW = typer.Option("--show", metavar="COLUMN", help="Column to show as well. May be repeated.")
OUT = typer.Option(
    "--out",
    "-o",
    metavar="FILE",
    help="Write all labels, given and predicted, at the end: .csv, .tsv, .parquet or .npz.",
)
LOG = typer.Option("--log", help="Print all that was done, as JSON lines, and end.")
BROWSER = typer.Option("--browser/--no-browser", help="Open the page, or only print its address.")
HOST = typer.Option("--host", metavar="ADDRESS", help="Address to listen at.")
ACCEPT = typer.Option(
    "--accept-changes",
    help="Go on although DATA has changed; labels stay with rows of the same name.",
)


@command
def label(
    *,
    console: Console,
    data: Annotated[str, DATA],
    labels: Labels = None,
    text: Annotated[str | None, TEXT] = None,
    image: Annotated[str | None, IMAGE] = None,
    image_folder: Annotated[Path | None, IMAGE_FOLDER] = None,
    show: Annotated[list[str] | None, SHOW] = None,
    out: Annotated[Path | None, OUT] = None,
    log: Annotated[bool, LOG] = False,
    browser: Annotated[bool, BROWSER] = True,
    host: Annotated[str, HOST] = LOOPBACK[0],
    accept_changes: Annotated[bool, ACCEPT] = False,
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
    if host in EVERYWHERE:
        raise InputError(
            f"--host {host} does not name one address, and requests under other names are refused: "
            "pass the address of this machine that others use, such as 192.168.1.5."
        )
    if text is not None and image is not None:
        raise InputError("--text and --image contradict each other: pass one of them.")
    from labelfold.studio.journal import Journal, journal_path, read_events

    if log:
        for event in read_events(journal_path(data)):
            console.result(event.to_json())
        return
    with console.step("loading"):
        from labelfold.cli.methods import prepare
        from labelfold.studio.exports import write_labels
        from labelfold.studio.labeling import check_data, labels_in
        from labelfold.studio.learner import Task
        from labelfold.studio.server import Server
        from labelfold.studio.session import Session
        from labelfold.tables.writing import output_format
    outputs = [] if out is None else [out]
    for path in outputs:
        output_format(path)
    if image is not None:
        reading = replace(reading, ignore=[*(reading.ignore or ()), image])
    table = reading.read_labeled(console, [data], labels)
    shown = [*([] if text is None else [text]), *(show or [])]
    rows = _read_rows(console, reading, data, table, shown, image)
    if rows.images is not None and image_folder is not None:
        rows = replace(rows, images=replace(rows.images, folder=image_folder))
    with (
        OutputFiles(*outputs, overwrite=force) as output,
        Journal(journal_path(data)) as journal,
    ):
        note = check_data(journal, reading.files(data), rows.ids, accept=accept_changes)
        for line in filter(None, (*table.notes, note)):
            console.remark(line)
        X, preparation, _ = prepare(table, scale)
        arguments = {"path": data, "labels": labels, **reading.arguments()}
        cache = Path(f"{data}.labels.cache")
        task = Task(X, preparation, table.feature_names, cache, arguments)
        session = Session(rows, labels_in(table), journal, task, Path(data).name)
        _serve(console, Server(session, host), host, opens=browser)
        for path in outputs:
            with output.open(path) as stream:
                write_labels(session, stream, path.name)
    console.result(f"{session.describe()} Labels are in {journal.path}.")


def _serve(console: Console, server: Any, host: str, *, opens: bool) -> None:
    if host not in LOOPBACK:
        console.remark(
            f"labelfold: warning: {host} can be reached from other machines, without encryption: "
            "whoever learns the address below can read and label the data."
        )
    console.result(f"Labeling page: {server.url}")
    console.remark("Ctrl-C ends it.")
    if opens:
        import webbrowser

        webbrowser.open(server.url)
    server.run()


def _read_rows(
    console: Console, reading: DataOptions, data: str, table: Table, shown: list[str], image: Any
) -> ShownRows:
    """Return what is shown of the rows, from columns that need not be features."""
    import pyarrow as pa

    from labelfold.plotting.interactive_map import check_hover
    from labelfold.studio.shown_rows import Images, ShownRows, row_ids
    from labelfold.tables import as_table
    from labelfold.tables.frames import is_vector

    def read(names: list[str]) -> Any:
        options = replace(reading, features=names, ignore=None, vectors=None)
        return as_table(options.read(console, [data]).features)

    ids, images, columns = row_ids(table.ids, table.n_rows), None, {}
    if image is not None:
        cells = read([image]).column(0)
        if not (pa.types.is_binary(cells.type) or pa.types.is_string(cells.type)):
            raise InputError(f"--image {image}: {cells.type} is neither a path nor bytes.")
        images = Images(cells.to_pylist(), Path(data).parent)
    if shown:
        columns = {name: column.to_pylist() for name, column in _items(read(shown))}
    elif image is None and table.feature_names is not None:
        plain = [one for one in _items(table.features) if not is_vector(one[1].type)]
        columns = {name: column.to_pylist() for name, column in plain[:MOST_SHOWN]}
    form = "image" if images is not None else "text" if len(shown) == 1 else "table"
    return ShownRows(ids, check_hover(columns, len(ids)), images, form)


def _items(table: Any) -> list[tuple[str, Any]]:
    return [(name, table.column(name)) for name in table.column_names]
