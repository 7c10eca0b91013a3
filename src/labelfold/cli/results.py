"""What a command on a data file leaves behind: a table, and perhaps a map to look at and a model.

The table goes to a file or, named "-", to standard output; what the command has to say about its
work goes to the other of stdout and stderr.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer

from labelfold.cli.console import Console
from labelfold.cli.output import OutputFiles
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.plotting import EmbeddingDisplay

STANDARD_STREAM = "-"
PICTURES = ("png", "pdf", "svg")
PAGE = "html"  # a map that can be searched; ".htm" is taken for the same


class Results:
    """Outputs of a command, as a context manager around its work.

    Entering the block refuses names that cannot be written, so that a command fails before its
    work. Leaving it without an error puts all files in place, and only then writes a table for
    standard output.

    Parameters
    ----------
    table : str
        File of the table, or "-".

    inputs : tuple of str
        Files that the command reads, which it must not replace; a map is of the first.

    picture, model : Path, default=None
        The other files, if they are wanted: a map, as a picture or a page, and an estimator.

    overwrite : bool, default=False
        Whether files that exist may be replaced.

    as_json : bool, default=False
        Whether the report is JSON rather than text.
    """

    def __init__(
        self,
        table: str,
        *,
        inputs: tuple[str, ...],
        picture: Path | None = None,
        model: Path | None = None,
        overwrite: bool = False,
        as_json: bool = False,
    ) -> None:
        self.is_stdout = table == STANDARD_STREAM
        self.table, self.picture, self.model = Path(table), picture, model
        self._inputs = inputs
        self._as_json = as_json
        self._columns: Mapping[str, Any] | None = None
        self._files = OutputFiles(*self.paths, overwrite=overwrite)

    @property
    def paths(self) -> list[Path]:
        """The files that will be there."""
        table = None if self.is_stdout else self.table
        return [path for path in (table, self.picture, self.model) if path is not None]

    @property
    def _is_page(self) -> bool:
        return self.picture is not None and _ending(self.picture) == PAGE

    @property
    def _page_title(self) -> str | None:
        """What the page shows: the file of the points, the first of the inputs."""
        source = self._inputs[0]
        return None if source == STANDARD_STREAM else f"Map of {Path(source).name}"

    def __enter__(self) -> Self:
        self._check()
        self._files.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._files.__exit__(kind, error, trace)
        if error is None and self._columns is not None:
            from labelfold.cli.tables import write_table

            write_table(sys.stdout.buffer, self._columns, format="csv")
            sys.stdout.buffer.flush()

    def write_table(self, columns: Mapping[str, Any]) -> None:
        """Write the table; see `labelfold.cli.tables.write_table`."""
        from labelfold.cli.tables import write_table

        if self.is_stdout:
            self._columns = columns
            return
        with self._files.open(self.table) as stream:
            write_table(stream, columns, name=self.table)

    def check_map(self, n_rows: int) -> None:
        """Refuse a page of too many rows before the work that it takes to map them."""
        if self._is_page:
            from labelfold.plotting.interactive_map import MAX_POINTS

            if n_rows > MAX_POINTS:
                raise InputError(
                    f"{self.picture}: a page holds {MAX_POINTS:,} rows and there are {n_rows:,}: "
                    "write .png, or map a random part of the rows."
                )

    def write_map(self, display: EmbeddingDisplay, columns: Mapping[str, Any]) -> None:
        """Write a map as its ending says, if it is wanted; a page tells the columns of each row."""
        if self.picture is None:
            return
        with self._files.open(self.picture) as stream:
            if self._is_page:
                from labelfold.plotting.interactive_map import interactive_page

                page = interactive_page(display, hover=columns, title=self._page_title)
                stream.write(page)
                return
            # Not pyplot: a command has no window, and must not depend on the user's backend.
            from matplotlib.figure import Figure

            figure = Figure(figsize=(8.0, 6.5), dpi=150, layout="constrained")
            display.plot(ax=figure.subplots())
            figure.savefig(stream, format=_ending(self.picture))

    def write_model(self, estimator: Any, names: list[str] | None, *, compact: bool) -> None:
        """Write a fitted estimator and the names of its features, if it is wanted."""
        if self.model is None:
            return
        from labelfold import save

        with tempfile.TemporaryDirectory() as folder, self._files.open(self.model) as stream:
            path = Path(folder, "model.skops")
            save(estimator, path, compact=compact, feature_names=names)
            with path.open("rb") as saved:
                shutil.copyfileobj(saved, stream)

    def report(self, console: Console, facts: dict[str, Any], text: str) -> None:
        """Say what was done, after the block: facts for machines, or text for people."""
        if self._as_json:
            console.result(json.dumps(facts, indent=2, allow_nan=False))
        elif not self.is_stdout:
            console.result(text)
        elif not console.is_quiet:
            typer.echo(text, err=True)

    def _check(self) -> None:
        if self.is_stdout and self._as_json:
            raise InputError("-o - and --json both write to standard output: name a file with -o.")
        if not self.is_stdout:
            from labelfold.cli.tables import output_format

            if output_format(self.table) == "npy":
                raise InputError(
                    f"{self.table}: an NPY file holds a matrix alone, without rows and labels: "
                    "write .csv, .parquet or .npz."
                )
        if self.picture is not None and _ending(self.picture) not in (*PICTURES, PAGE):
            endings = ", ".join("." + known for known in (*PICTURES, PAGE))
            raise InputError(
                f"{self.picture}: the ending of a picture is one of {endings}: choose one."
            )
        if self._is_page and importlib.util.find_spec("bokeh") is None:
            raise InputError(
                f'{self.picture}: a page needs bokeh: pip install "labelfold[html]", or write '
                ".png, .pdf or .svg."
            )
        if len({os.path.realpath(path) for path in self.paths}) < len(self.paths):
            raise InputError("two outputs name the same file: give each its own name.")
        sources = {os.path.realpath(name) for name in self._inputs if name != STANDARD_STREAM}
        for path in self.paths:
            if os.path.realpath(path) in sources:
                raise InputError(f"{path} is read by this command: write to another file.")


def _ending(path: Path) -> str:
    ending = path.suffix[1:].lower()
    return PAGE if ending == "htm" else ending
