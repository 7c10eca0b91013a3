"""Facts about a data file and a fitted estimator, as plain values and as lines of text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelfold.tables import Table

WIDTH = 80
LONGEST_NAME = 40
MOST_CLASSES = 20
FIXED = "\u00a0"  # a space at which `wrapped` breaks no line
TITLES = {  # of the table of columns
    "name": "column",
    "taken_for": "taken for",
    "n_missing": "missing",
    "n_unreadable": "unreadable",
    "n_features": "features",
    "done": "done",
}


def data_facts(table: Table) -> dict[str, Any]:
    """Size and labels of a table."""
    return {
        "file": table.origin,
        "n_rows": table.n_rows,
        "n_columns": table.n_features,
        "notes": list(table.notes),
        "has_labels": table.labels is not None,
        "n_labeled": sum(table.class_counts.values()),
        "classes": [
            {"label": label, "n_labeled": count} for label, count in table.class_counts.items()
        ],
    }


def estimator_facts(estimator: Any) -> dict[str, Any]:
    """Parameters, graph and certificate of a fitted embedder or classifier."""
    graph = getattr(estimator, "graph_", None)
    return {
        "estimator": type(estimator).__name__,
        "parameters": {
            name: _plain(value)
            for name, value in sorted(estimator.get_params().items())
            if not hasattr(value, "get_params")
        },
        "graph": None if graph is None else graph_facts(graph),
        "certificate": certificate_facts(getattr(estimator, "certificate_", None)),
    }


def graph_facts(graph: Any) -> dict[str, Any]:
    """Size and components of a neighbor graph, and how its neighbors were found."""
    figures = graph.statistics
    return {
        "n_edges": figures.n_edges,
        "mean_neighborhood": figures.mean_neighborhood,
        "n_connected_components": figures.n_connected_components,
        "n_bridges": figures.n_bridges,
        "n_duplicates": figures.n_duplicates,
        "search": str(graph.search),
    }


def certificate_facts(certificate: Any) -> dict[str, Any] | None:
    """Verdict and text of a certificate, None if there is none."""
    if certificate is None:
        return None
    return {"ok": bool(certificate.ok), "text": str(certificate)}


def versions() -> dict[str, str]:
    """Releases of the libraries that results depend on."""
    import numpy as np
    import scipy
    import sklearn

    from labelfold import __version__

    return {
        "labelfold": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def describe_data(facts: Mapping[str, Any]) -> list[str]:
    """The facts of `data_facts` as lines."""
    rows, columns = counted(facts["n_rows"], "row"), counted(facts["n_columns"], "column")
    lines = [f"{facts['file']}: {rows}, {columns}.", *facts["notes"]]
    if not facts["has_labels"]:
        return [*lines, "Labels: none."]
    n_labeled, classes = facts["n_labeled"], facts["classes"]
    n_unlabeled = facts["n_rows"] - n_labeled
    text = f"Labels: {counted(n_labeled, 'row')} labeled, {n_unlabeled:,} unlabeled"
    if classes:
        counts = class_counts({one["label"]: one["n_labeled"] for one in classes})
        text += f"; {counted(len(classes), 'class')}: {counts}"
    return [*lines, f"{text}."]


def describe_input(facts: Mapping[str, Any], *, show_columns: bool = False) -> list[str]:
    """What was read and how columns were prepared, with a table of the columns if asked for."""
    lines = [*describe_data(facts["data"]), f"Columns: {facts['columns']['summary']}"]
    return [*lines, *describe_columns(facts["columns"])] if show_columns else lines


def describe_columns(facts: Mapping[str, Any]) -> list[str]:
    """What every column was taken for and what was done to it, as a table."""
    columns = facts["columns"]
    keys = [
        key
        for key in TITLES
        if key not in ("n_missing", "n_unreadable") or any(column[key] for column in columns)
    ]
    rows = [[TITLES[key] for key in keys]]
    rows += [[_cell(column[key]) for key in keys] for column in columns]
    for row in rows:
        row[0] = row[0] if len(row[0]) <= LONGEST_NAME else row[0][: LONGEST_NAME - 3] + "..."
    widths = [max(len(row[k]) for row in rows) for k in range(len(keys) - 1)]
    lines = []
    for *cells, last in rows:
        start = "  ".join(
            cell.rjust(width) if key.startswith("n_") else cell.ljust(width)
            for key, cell, width in zip(keys, cells, widths, strict=False)
        )
        indent = " " * (len(start) + 4)
        lines.append(wrapped(last, first=f"  {start}  ", later=indent))
    return lines


def describe_solve(facts: Mapping[str, Any]) -> list[str]:
    """Graph and certificate of `estimator_facts` as lines, if there are any."""
    lines = []
    graph, certificate = facts["graph"], facts["certificate"]
    if graph is not None:
        n = graph["n_connected_components"]
        components = "connected" if n == 1 else f"in {n} components"
        if graph["n_bridges"]:
            components += f" by {counted(graph['n_bridges'], 'bridge')}"
        lines.append(
            f"Graph: {graph['n_edges']:,} edges, {graph['mean_neighborhood']:.1f} per row, "
            f"{components}; search: {graph['search']}."
        )
    if certificate is not None:
        lines.append(f"Solve: {certificate['text']}")
    return lines


def describe_files(files: Mapping[str, str | None]) -> str:
    """One line for each file that was written, however long."""
    written = {title: path for title, path in files.items() if path not in (None, "-")}
    return "\n".join(f"{title.capitalize()}: {path}" for title, path in written.items())


def describe_end(facts: Mapping[str, Any]) -> list[str]:
    """Time and versions as lines."""
    seconds = facts["seconds"]
    fit = f", fit {seconds['fit']:.1f} s" if "fit" in seconds else ""
    releases = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return [f"Time: {seconds['total']:.1f} s{fit}.", releases]


def paragraphs(*parts: str | Iterable[str]) -> str:
    """Join text as it is, and lines wrapped to the width, with an empty line between parts."""
    texts = [
        part if isinstance(part, str) else "\n".join(wrapped(line) for line in part)
        for part in parts
    ]
    return "\n\n".join(text for text in texts if text)


def row_column(table: Table) -> dict[str, Any]:
    """What identifies the rows of a result: names, or numbers from 1."""
    if table.ids is not None:
        return {"id": table.ids}
    return {"row": range(1, table.n_rows + 1)}


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and what it counts, as in "1 row" or "1,797 rows"."""
    plural = many or one + ("es" if one.endswith("s") else "s")
    return f"{number:,} {one if number == 1 else plural}"


def class_counts(counts: Mapping[Any, int]) -> str:
    """The first classes with their numbers of rows, and how many more classes there are."""
    return listed([f"{label}{FIXED}({count:,})" for label, count in counts.items()], MOST_CLASSES)


def listed(names: list[str], most: int = 5) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def wrapped(text: str, first: str = "", later: str = "  ") -> str:
    """Text in lines that fit a terminal, with these indents; a table's line stays as it is."""
    if "\n" in text or text.startswith("  "):
        return text
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    ).replace(FIXED, " ")


def _plain(value: Any) -> Any:
    """A value that JSON can hold, as it is or as Python would write it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    return value if isinstance(value, str | int | None) else repr(value)


def _cell(value: Any) -> str:
    """A cell of a printed table, empty for zero."""
    return "" if value == 0 else f"{value:,}" if isinstance(value, int) else str(value)
