"""Facts about a data file and a fitted estimator, as plain values and as lines of text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelfold.cli.tables import Table

WIDTH = 100


def data_facts(table: Table) -> dict[str, Any]:
    """Size and labels of a table."""
    return {
        "file": table.origin,
        "n_rows": table.n_rows,
        "n_features": table.n_features,
        "n_labeled": table.n_labeled,
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
    """Size and pieces of a neighbor graph, and how its neighbors were found."""
    figures = graph.statistics
    return {
        "n_edges": figures.n_edges,
        "mean_neighborhood": figures.mean_neighborhood,
        "n_pieces": figures.n_pieces,
        "n_bridges": figures.n_bridges,
        "n_duplicates": figures.n_duplicates,
        "search": str(graph.search),
    }


def certificate_facts(certificate: Any) -> dict[str, Any] | None:
    """Verdict and text of a certificate, None where there is none."""
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


def describe_data(facts: Mapping[str, Any]) -> str:
    """The facts of `data_facts` as text."""
    text = f"{facts['file']}: {counted(facts['n_rows'], 'row')}, "
    text += counted(facts["n_features"], "feature")
    if not facts["classes"]:
        return f"{text}, no labels."
    counts = ", ".join(f"{one['label']} ({one['n_labeled']:,})" for one in facts["classes"])
    title = f"{counted(facts['n_labeled'], 'label')} of {counted(len(facts['classes']), 'class')}"
    return f"{text}.\n{wrapped(f'{title}: {counts}.')}"


def describe_solve(facts: Mapping[str, Any]) -> list[str]:
    """Graph and certificate of `estimator_facts` as lines, as far as there are any."""
    lines = []
    graph, certificate = facts["graph"], facts["certificate"]
    if graph is not None:
        pieces = "in one piece" if graph["n_pieces"] == 1 else f"in {graph['n_pieces']} pieces"
        if graph["n_bridges"]:
            pieces += f" by {counted(graph['n_bridges'], 'bridge')}"
        lines.append(
            f"Graph: {graph['n_edges']:,} edges, {graph['mean_neighborhood']:.1f} per row, "
            f"{pieces}; search: {graph['search']}."
        )
    if certificate is not None:
        lines.append(wrapped(f"Solve: {certificate['text']}"))
    return lines


def describe_scale(scale: str) -> str:
    """What --scale did, to end the line about a map."""
    return "" if scale == "none" else f", columns scaled ({scale})"


def describe_files(files: Mapping[str, str | None]) -> list[str]:
    """One line for each file that was written."""
    written = {title: path for title, path in files.items() if path not in (None, "-")}
    return [f"{title.capitalize()}: {path}" for title, path in written.items()]


def describe_end(facts: Mapping[str, Any]) -> list[str]:
    """Files, times and versions as lines."""
    seconds = facts["seconds"]
    of_fit = f", {seconds['fit']:.1f} s of it for the fit" if "fit" in seconds else ""
    return [
        *describe_files(facts["files"]),
        f"{seconds['total']:.1f} s in all{of_fit}.",
        ", ".join(f"{name} {version}" for name, version in facts["versions"].items()),
    ]


def row_column(table: Table) -> dict[str, Any]:
    """What the rows of a result are called by: names, or numbers from 1."""
    if table.row_ids is not None:
        return {"id": table.row_ids}
    return {"row": range(1, table.n_rows + 1)}


def counted(number: int, noun: str) -> str:
    """A number and what it counts, as in "1 row" or "1,797 rows"."""
    plural = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{plural if number != 1 else ''}"


def listed(names: list[str], n: int | None = None, most: int = 5) -> str:
    """The first names, and how many more there are of `n` in all."""
    rest = (len(names) if n is None else n) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def wrapped(text: str, first: str = "", later: str = "  ") -> str:
    """Text in lines that fit a terminal, with these indents."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plain(value: Any) -> Any:
    """A value that JSON can hold, as it is or as Python would write it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    return value if isinstance(value, str | int | None) else repr(value)
