"""What a session can be taken away as: labels, model, map, and a program that repeats them.

The program reads the data file, and the journal up to the event that the export saw: it gives the
same labels at any later time.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import IO, TYPE_CHECKING, Any

from labelfold.tables.writing import write_table

if TYPE_CHECKING:
    from labelfold.studio.session import Session

__all__ = ["EXPORTS", "write", "write_labels"]

SCRIPT = Template('''\
"""Repeats the fit and the exports of the labeling page of $title, without the page."""

import pandas as pd
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline

from labelfold import FewLabelClassifier, GraphLayout, save
from labelfold.plotting import EmbeddingDisplay
from labelfold.studio import labels_at, predict_rows, row_ids
from labelfold.tables import $preparation, read

table = read($read)
given = labels_at($journal, table, until=$event)
preparation = $preparation(scale=$scale)
X = preparation.fit_transform(table.features)

model = FewLabelClassifier(random_state=0).fit(X, given.y, audit=given.audit)
print(model.error_estimate_, model.calibration_.promise)
save(make_pipeline(preparation, model), "model.skops", feature_names=table.feature_names)

codes, confidence = predict_rows(model)
predicted, ids = model.classes_[codes], row_ids(table.ids, table.n_rows)
labels = pd.DataFrame(
    {
        "id": ids,
        "given": given.texts,
        "predicted": predicted,
        "confidence": confidence.round(4),
        "source": given.sources,
    }
)
labels.to_csv("labels.csv", index=False)
labels.to_parquet("labels.parquet", index=False)

layout = GraphLayout.of_classifier(model)
display = EmbeddingDisplay(
    layout.embedding_, labels=given.y, predictions=predicted, confidence=confidence
)
display.write_html("map.html", hover={"row": ids}, title="Map of $title")
figure = Figure(figsize=(8, 6.5), dpi=150, layout="constrained")
display.plot(ax=figure.subplots())
figure.savefig("map.png")
''')


def write(session: Session, path: Path) -> None:
    """Write the export that a file is named after."""
    EXPORTS[path.name](session, path)


def write_labels(session: Session, stream: IO[bytes], name: str) -> None:
    """Write ids, given and predicted labels, confidence, and where given labels come from."""
    given, cards = session.given(), session.cards(range(session.n_rows))
    columns: dict[str, list[Any]] = {
        "id": session.rows.ids,
        "given": given.texts,
        "predicted": [card.get("predicted") for card in cards],
        "confidence": [card.get("confidence") for card in cards],
        "source": given.sources,
    }
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
    reading: Mapping[str, Any] = session.task.reading
    preparation = session.task.preparation
    text = SCRIPT.substitute(
        title=session.title.replace("\\", "/").replace('"', "'"),
        read=", ".join(
            [repr(reading["path"]), *(f"{key}={value!r}" for key, value in reading.items()
            if key != "path" and value)]
        ),
        journal=repr(str(session.journal.path)),
        event=session.labeling.number,
        preparation=type(preparation).__name__,
        scale=repr(preparation.scale),
    )  # fmt: skip
    path.write_text(text, encoding="utf-8")


EXPORTS = {
    "labels.csv": _write_table,
    "labels.parquet": _write_table,
    "model.skops": lambda session, path: session.save_model(path),
    "map.html": _write_map,
    "map.png": _write_picture,
    "repeat.py": _write_script,
}
