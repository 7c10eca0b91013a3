"""The files that a command writes: complete, at the end of its work, or not at all.

Each file is written under a temporary name in its own folder, synchronized to disk, and renamed
when all of them are complete. An error, Ctrl-C or a power cut before that leaves the old file, or
none.

A table named "-" goes to standard output, and the summary then goes to stderr.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from labelfold.cli.console import Console
from labelfold.cli.options import OutputOptions
from labelfold.cli.reports import versions
from labelfold.exceptions import InputError
from labelfold.whole_file import synchronize, temporary_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from labelfold.labels import PartialLabels
    from labelfold.plotting import EmbeddingDisplay

STANDARD_STREAM = "-"
PICTURES = ("png", "pdf", "svg")
PAGE = "html"  # a map that can be searched; ".htm" is the same


class OutputFiles:
    """The files a command writes, as a context manager around its work.

    Entering the block creates missing folders and raises an error for files that exist (unless
    `overwrite`), before the work starts. Leaving it without an error renames the files into place.
    Symbolic links are followed.
    """

    def __init__(self, *paths: Path, overwrite: bool = False) -> None:
        self._targets = {path: Path(os.path.realpath(path)) for path in paths}
        self._n_paths = len(paths)
        self._overwrite = overwrite
        self._temporaries: dict[Path, Path] = {}
        self._new_folders: list[Path] = []

    def __enter__(self) -> Self:
        if len(set(self._targets.values())) < self._n_paths:
            raise InputError("two outputs name the same file: give each its own name.")
        for path in self._targets:
            self._check_target(path)
        try:
            for path, target in self._targets.items():
                self._make_folder(target.parent)
                if not os.access(target.parent, os.W_OK):
                    raise PermissionError(f"{path.parent} cannot be written to: choose another.")
        except BaseException:
            self._discard()
            raise
        return self

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        """Return a stream whose bytes become the file at `path` when the outer block ends."""
        target = self._targets[path]
        temporary = temporary_name(target)
        self._temporaries[path] = temporary
        with open(temporary, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if error is None:
                self._rename_into_place()
        finally:
            self._discard()

    def _rename_into_place(self) -> None:
        kept: list[str] = []
        try:
            for path, temporary in list(self._temporaries.items()):
                self._check_target(path)
                target = self._targets[path]
                if target.exists():
                    shutil.copymode(target, temporary)
                os.replace(temporary, target)
                del self._temporaries[path]
                kept.append(str(path))
        except BaseException as error:
            if kept:
                error.add_note(f"Complete and kept: {', '.join(kept)}.")
            raise
        self._new_folders.clear()
        for folder in {target.parent for target in self._targets.values()}:
            synchronize(folder)

    def _check_target(self, path: Path) -> None:
        target = self._targets[path]
        if target.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name a file in it.")
        if target.exists() and not target.is_file():
            raise OSError(f"{path} is a device or a pipe, not a file: name a file.")
        if target.exists() and not self._overwrite:
            raise FileExistsError(f"{path} exists: pass --force to replace it, or another name.")

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        if os.path.lexists(folder):
            raise NotADirectoryError(f"{folder} is not a folder: choose another.")
        self._make_folder(folder.parent)
        folder.mkdir()
        self._new_folders.append(folder)

    def _discard(self) -> None:
        """Remove files that were not renamed, and the folders created for them."""
        for temporary in self._temporaries.values():
            temporary.unlink(missing_ok=True)
        self._temporaries.clear()
        for folder in reversed(self._new_folders):
            # A folder that is no longer empty stays.
            with contextlib.suppress(OSError):
                folder.rmdir()
        self._new_folders.clear()


class Results:
    """A table, and perhaps a picture and a model, as a context manager around a command's work.

    Entering the block raises an error for names that cannot be written, before the work starts.
    Leaving it without an error renames all files into place, and only then writes a table to
    standard output. `inputs` are the files that the command reads and must not replace; `pages`
    says whether the picture may be an HTML page.
    """

    def __init__(
        self,
        table: str | None,
        inputs: tuple[str, ...],
        wanted: OutputOptions,
        *,
        pages: bool = False,
    ) -> None:
        self.picture, self.model = wanted.plot, wanted.save
        if wanted.compact and self.model is None:
            raise InputError("--compact requires --save.")
        self.files = {
            "table": table,
            "picture": None if self.picture is None else str(self.picture),
            "model": None if self.model is None else str(self.model),
        }
        self._wanted = wanted
        self._table = None if table in (None, STANDARD_STREAM) else Path(str(table))
        self._inputs = inputs
        self._endings = (*PICTURES, PAGE) if pages else PICTURES
        self._columns: Mapping[str, Any] | None = None
        files = (self._table, self.picture, self.model)
        self._paths = [path for path in files if path is not None]
        self._output = OutputFiles(*self._paths, overwrite=wanted.force)
        self._is_stdout = table == STANDARD_STREAM
        self._is_page = self.picture is not None and _ending(self.picture) == PAGE
        self._start = time.perf_counter()

    def __enter__(self) -> Self:
        self._check()
        self._output.__enter__()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._output.__exit__(kind, error, trace)
        if error is None and self._columns is not None:
            from labelfold.tables.writing import write_table

            write_table(sys.stdout.buffer, self._columns)
            sys.stdout.buffer.flush()

    def write_table(self, columns: Mapping[str, Any]) -> None:
        """Write the table, if it is wanted."""
        from labelfold.tables.writing import write_table

        if self._is_stdout:
            self._columns = columns
        elif self._table is not None:
            with self._output.open(self._table) as stream:
                write_table(stream, columns, name=self._table)

    def check_map(self, n_rows: int) -> None:
        """Raise InputError for a page of too many rows, before they are embedded."""
        if self._is_page:
            from labelfold.plotting.interactive_map import MAX_POINTS

            if n_rows > MAX_POINTS:
                raise InputError(
                    f"{self.picture}: a page holds at most {MAX_POINTS:,} rows, got {n_rows:,}: "
                    "write .png, or draw a random sample of the rows."
                )

    def write_map(self, display: EmbeddingDisplay, columns: Mapping[str, Any]) -> None:
        """Write a map as a picture, or as a page that shows the columns of each row."""
        if not self._is_page:
            figure = new_figure(8.0, 6.5)
            display.plot(ax=figure.subplots())
            self.write_figure(figure)
        elif self.picture is not None:
            from labelfold.plotting.interactive_map import interactive_page

            source = self._inputs[0]
            title = None if source == STANDARD_STREAM else f"Map of {Path(source).name}"
            with self._output.open(self.picture) as stream:
                stream.write(interactive_page(display, hover=columns, title=title))

    def write_figure(self, figure: Figure) -> None:
        """Write the picture, if it is wanted."""
        if self.picture is not None:
            with self._output.open(self.picture) as stream:
                figure.savefig(stream, format=_ending(self.picture))

    def write_model(self, estimator: Any, names: list[str] | None) -> None:
        """Write a fitted estimator and the names of its columns, if it is wanted."""
        if self.model is None:
            return
        from labelfold import save

        with tempfile.TemporaryDirectory() as folder, self._output.open(self.model) as stream:
            path = Path(folder, "model.skops")
            save(estimator, path, compact=self._wanted.compact, feature_names=names)
            with path.open("rb") as saved:
                shutil.copyfileobj(saved, stream)

    def end_facts(self, **seconds: float) -> dict[str, Any]:
        """Return the end of every report: files, times of steps and in total, versions."""
        seconds["total"] = time.perf_counter() - self._start
        return {
            "files": self.files,
            "seconds": {name: round(value, 3) for name, value in seconds.items()},
            "versions": versions(),
        }

    def report(self, console: Console, facts: dict[str, Any], text: str) -> None:
        """Print what was done, after the block: facts for programs, or text for people."""
        if self._wanted.as_json:
            console.result(json.dumps(facts, indent=2, allow_nan=False))
        elif self._is_stdout:
            console.remark(text)
        else:
            console.result(text)

    def _check(self) -> None:
        if self._is_stdout and self._wanted.as_json:
            raise InputError("-o - and --json both write to standard output: name a file with -o.")
        if self._table is not None:
            from labelfold.tables.writing import output_format

            output_format(self._table)
        if self.picture is not None and _ending(self.picture) not in self._endings:
            endings = ", ".join("." + known for known in self._endings)
            raise InputError(f"{self.picture} must end with one of {endings}.")
        sources = {os.path.realpath(name) for name in self._inputs if name != STANDARD_STREAM}
        for path in self._paths:
            if os.path.realpath(path) in sources:
                raise InputError(f"{path} is read by this command: write to another file.")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, without pyplot: a command has no window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def map_display(
    coordinates: Any, labels: PartialLabels, embedder: Any, **answers: Any
) -> EmbeddingDisplay:
    """Return a map, ready to be drawn; `answers` are a classifier's predictions."""
    from labelfold.layout import GraphLayout
    from labelfold.plotting import EmbeddingDisplay
    from labelfold.plotting.map_inputs import LaidOut
    from labelfold.plotting.map_view import telling_components

    return EmbeddingDisplay(
        coordinates,
        labels=labels,
        is_layout=isinstance(embedder, GraphLayout | LaidOut),
        components=telling_components(coordinates.shape[1], labels),
        class_centers=getattr(embedder, "class_centers_", None),
        **{"classes": getattr(embedder, "classes_", None), **answers},
    )


def _ending(path: Path) -> str:
    ending = path.suffix[1:].lower()
    return PAGE if ending == "htm" else ending
