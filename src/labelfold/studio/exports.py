"""What a session can be taken away as: labels, model, map, and a program that repeats them.

The program reads the data file, and the journal up to the event that the export saw: it gives the
same labels at any later time.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from string import Template
from typing import IO, TYPE_CHECKING

from labelfold.tables.writing import write_table

if TYPE_CHECKING:
    from labelfold.studio.session import Session

__all__ = ["EXPORTS", "write_labels"]


def write_labels(session: Session, stream: IO[bytes], name: str) -> None:
    """Write ids, given and predicted labels, confidence, and where given labels come from."""
    cards = session.cards(range(session.n_rows))
    names = ("id", "label", "predicted", "confidence", "source")
    columns = {name: [card.get(name) for card in cards] for name in names}
    columns = {"given" if name == "label" else name: one for name, one in columns.items()}
    write_table(stream, columns, name=name)


def _write_table(session: Session, path: Path) -> None:
    with path.open("wb") as stream:
        write_labels(session, stream, path.name)


def _write_map(session: Session, path: Path) -> None:
    details = dict([("row", session.rows.ids), *session.rows.columns])
    session.display().write_html(path, hover=details, title=f"Map of {session.title}")


def _write_picture(session: Session, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6.5), dpi=150, layout="constrained")
    session.display().plot(ax=figure.subplots())
    figure.savefig(path)


def _write_script(session: Session, path: Path) -> None:
    task = session.task
    arguments = [f"{name}={value!r}" for name, value in task.reading.items() if value]
    values = {
        "title": session.title.replace("\\", "/").replace('"', "'"),
        "read": ", ".join(arguments),
        "journal": repr(str(session.journal.path.absolute())),
        "event": session.labeling.number,
        "kind": type(task.preparation).__name__,
        "preparation": repr(task.preparation),
    }
    script = resources.files("labelfold.studio").joinpath("page", "repeat.txt")
    text = Template(script.read_text(encoding="utf-8")).substitute(values)
    path.write_text(text, encoding="utf-8")


EXPORTS = {
    "labels.csv": _write_table,
    "labels.parquet": _write_table,
    "model.skops": lambda session, path: session.save_model(path),
    "map.html": _write_map,
    "map.png": _write_picture,
    "repeat.py": _write_script,
}
