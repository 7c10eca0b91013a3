"""What a table is like before any method runs on it: features, equal rows, graph, dimension.

Each function examines one aspect of the data and returns plain values for `labelfold inspect`.
Long work is done on a sample of the rows.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.cli.reports import graph_facts
from labelfold.exceptions import InputError
from labelfold.graph import IntrinsicDimension, NeighborGraph
from labelfold.graph.components import find_components
from labelfold.graph.point_space import number_equal_rows
from labelfold.graph.statistics import EXTREME_FACTOR, EXTREME_SHARE
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, known_methods

if TYPE_CHECKING:
    from labelfold.tables import Table

SAMPLE = 10_000  # rows of the sample for the graph and the dimension
CLASS_SAMPLE = 2_000  # the same for the dimension of a class
LEAST_FOR_CLASS = 20  # labels needed to estimate the dimension of a class
SEED = 0
MOST_SIZES = 10


def draw_sample(n_rows: int) -> NDArray[np.intp]:
    """Return the rows that long work is done on: all of them if they are few."""
    if n_rows <= SAMPLE:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(SEED).choice(n_rows, SAMPLE, replace=False))


def examine_features(X: Any) -> dict[str, Any]:
    """Size of the matrix of features, and how much of it is zero."""
    is_sparse = sp.issparse(X)
    n_nonzero = X.count_nonzero() if is_sparse else np.count_nonzero(X)
    return {
        "n_features": int(X.shape[1]),
        "is_sparse": bool(is_sparse),
        "share_of_zeros": float(1 - n_nonzero / (X.shape[0] * X.shape[1])),
    }


def examine_duplicates(table: Table, X: Any, labels: PartialLabels) -> dict[str, Any]:
    """Equal rows, and those among them that have different labels."""
    is_sparse = sp.issparse(X)
    if is_sparse:
        X = X.copy()  # equal rows must be stored in the same way
        X.sum_duplicates()
        X.eliminate_zeros()
    groups = number_equal_rows(X)
    sizes = np.bincount(groups)
    rows = np.flatnonzero(labels.mask)
    pairs = np.unique(np.column_stack([groups[rows], labels.codes[rows]]), axis=0)
    mixed = np.flatnonzero(np.bincount(pairs[:, 0], minlength=len(sizes)) > 1)
    example = None
    if len(mixed):
        of_group = rows[groups[rows] == mixed[0]]
        other = of_group[labels.codes[of_group] != labels.codes[of_group[0]]][0]
        example = [
            {"row": row_name(table, int(row)), "label": str(labels.classes[labels.codes[row]])}
            for row in (of_group[0], other)
        ]
    return {
        "n_distinct": len(sizes),
        "n_rows_with_equals": int(sizes[sizes > 1].sum()),
        "largest_group": int(sizes.max()),
        "n_contradictions": len(mixed),
        "contradiction": example,
    }


def examine_graph(
    table: Table, X: Any, labels: PartialLabels, rows: NDArray[np.intp], n_neighbors: int
) -> dict[str, Any]:
    """Components, bridges, hubs and the scale of the neighbor graph of some rows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the report says the same
            graph = NeighborGraph.build(X[rows], n_neighbors=n_neighbors, random_state=SEED)
            bridged = graph.bridged()
    except InputError as error:
        return {"n_neighbors": n_neighbors, "problem": str(error)}
    figures, k = graph.statistics, graph.recipe.n_neighbors
    lengths = [float(bridged.distances[i, j]) for i, j in bridged.bridges.tolist()]
    with_class_nodes = find_components(graph.adjacency, labels.codes[rows])
    return {
        "n_neighbors": k,
        "problem": None,
        **graph_facts(graph),
        "n_bridges": len(lengths),
        "component_sizes": np.sort(np.bincount(graph.connected_components))[::-1][
            :MOST_SIZES
        ].tolist(),
        "n_connected_with_class_nodes": int(with_class_nodes.max() + 1),
        "longest_bridge": max(lengths, default=None),
        "median_edge": float(np.median(graph.distances.data)),
        "largest_occurrence": figures.largest_occurrence,
        "hub": row_name(table, int(rows[graph.occurrences.argmax()])),
        "occurrence_skewness": figures.occurrence_skewness,
        "share_of_antihubs": figures.share_of_antihubs,
        "has_extreme_hub": figures.largest_occurrence
        > max(EXTREME_SHARE * len(rows), EXTREME_FACTOR * k),
        "scale": float(graph.scale),
    }


def examine_dimension(X: Any, labels: PartialLabels, rows: NDArray[np.intp]) -> dict[str, Any]:
    """Intrinsic dimension of some rows, and of every class with enough labels."""
    rng = np.random.default_rng(SEED)
    classes: dict[str, Any] = {}
    for code, name in enumerate(labels.classes.tolist()):
        members = np.flatnonzero(labels.codes == code)
        if len(members) >= LEAST_FOR_CLASS:
            if len(members) > CLASS_SAMPLE:
                members = np.sort(rng.choice(members, CLASS_SAMPLE, replace=False))
            classes[str(name)] = _dimension(X[members])
    return {"all": _dimension(X[rows]), "classes": classes}


def examine_methods(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the purpose of every method, and why it cannot be used on these data."""
    return [
        {
            "method": name,
            "purpose": one.declaration.purpose,
            "labels": one.declaration.labels,
            "obstacle": _obstacle(one.declaration, report),
        }
        for name, one in known_methods().items()
    ]


def _obstacle(declaration: Declaration, report: dict[str, Any]) -> str | None:
    n_classes, problem = len(report["data"]["classes"]), report["graph"]["problem"]
    if declaration.labels == "needs" and n_classes < 2:
        return f"needs labels of two classes, got {n_classes or 'none'}: label some rows"
    if declaration.uses_graph and problem:
        return str(problem).rstrip(".")
    return None


def row_name(table: Table, row: int) -> str:
    """What identifies a row: its number from 1, and its name if it has one."""
    return f"{row + 1}" if table.ids is None else f"{row + 1} ({table.ids[row]})"


def _dimension(X: Any) -> dict[str, Any]:
    """Return the dimension and its interval, or None for both and the problem."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = IntrinsicDimension(random_state=SEED).fit(X)
    except InputError as error:
        return {"dimension": None, "interval": None, "problem": str(error)}
    if not np.isfinite(model.dimension_):
        problem = "distances to neighbors hardly shrink as rows are added"
        return {"dimension": None, "interval": None, "problem": problem}
    ends = [float(end) for end in model.interval_]
    interval = ends if np.isfinite(ends).all() else None
    return {"dimension": float(model.dimension_), "interval": interval, "problem": None}
