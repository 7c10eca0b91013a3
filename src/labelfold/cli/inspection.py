"""What a table of points is like, before any method is run on it: features, labels, graph.

Every function looks at one side of the data and returns plain values, which `labelfold inspect`
prints or hands to machines. Long work is done on a sample of the rows.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import min_max_axis

from labelfold.exceptions import InputError
from labelfold.graph import IntrinsicDimension, NeighborGraph
from labelfold.graph.components import find_components
from labelfold.graph.point_space import number_equal_rows
from labelfold.graph.statistics import EXTREME_FACTOR, EXTREME_SHARE
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, known_methods

if TYPE_CHECKING:
    from labelfold.cli.tables import Table

SAMPLE = 10_000  # rows beyond which the graph and the dimension are those of a sample
CLASS_SAMPLE = 2_000  # the same for the dimension of a class
LEAST_FOR_CLASS = 20  # distinct rows for the dimension of a class to have an interval
SEED = 0
MOST_NAMED = 10


def draw_sample(table: Table) -> NDArray[np.intp]:
    """Return the rows that long work is done on: all of them where they are few."""
    if table.n_rows <= SAMPLE:
        return np.arange(table.n_rows)
    rng = np.random.default_rng(SEED)
    return np.sort(rng.choice(table.n_rows, SAMPLE, replace=False))


def examine_features(table: Table) -> dict[str, Any]:
    """What the columns hold, which of them are constant, and how their ranges differ."""
    low, high = _ranges(table.X)
    width = high / 2 - low / 2  # half of it, as the difference of two huge values may overflow
    varies = width > 0
    facts: dict[str, Any] = {
        "n_rows": table.n_rows,
        "n_features": table.n_features,
        "is_sparse": bool(sp.issparse(table.X)),
        "share_of_zeros": _share_of_zeros(table.X),
        "n_constant": int(np.count_nonzero(~varies)),
        "constant": [feature_name(table, j) for j in np.flatnonzero(~varies)[:MOST_NAMED].tolist()],
        "widest": None,
        "narrowest": None,
        "range_ratio": None,
    }
    if varies.any():
        order = np.flatnonzero(varies)[np.argsort(width[varies], kind="stable")]
        # The lower quarter, and not the least: pictures have pixels that hardly ever differ.
        typical = width[order[(len(order) - 1) // 4]]
        facts |= {
            "widest": _feature_range(table, int(order[-1]), low, high),
            "narrowest": _feature_range(table, int(order[0]), low, high),
            "range_ratio": float(width[order[-1]] / typical),
        }
    return facts


def examine_labels(table: Table) -> dict[str, Any]:
    """How many rows have a label, of which classes."""
    counts = table.class_counts
    return {
        "has_labels": table.labels is not None,
        "n_labeled": table.n_labeled,
        "n_unlabeled": table.n_rows - table.n_labeled,
        "n_classes": len(counts),
        "class_counts": {str(name): count for name, count in counts.items()},
        "classes_with_one_label": [str(name) for name, count in counts.items() if count == 1],
    }


def examine_duplicates(table: Table, labels: PartialLabels) -> dict[str, Any]:
    """Equal rows, and those among them that have different labels."""
    groups = number_equal_rows(_canonical(table.X))
    sizes = np.bincount(groups)
    rows = np.flatnonzero(labels.mask)
    pairs = np.unique(np.column_stack([groups[rows], labels.codes[rows]]), axis=0)
    torn = np.flatnonzero(np.bincount(pairs[:, 0], minlength=len(sizes)) > 1)
    example = None
    if len(torn):
        of_group = rows[groups[rows] == torn[0]]
        other = of_group[labels.codes[of_group] != labels.codes[of_group[0]]][0]
        example = [
            {"row": row_name(table, int(row)), "label": str(labels.classes[labels.codes[row]])}
            for row in (of_group[0], other)
        ]
    return {
        "n_distinct": len(sizes),
        "n_rows_with_equals": int(sizes[sizes > 1].sum()),
        "largest_group": int(sizes.max()),
        "n_contradictions": len(torn),
        "contradiction": example,
    }


def examine_graph(
    table: Table, labels: PartialLabels, rows: NDArray[np.intp], n_neighbors: int
) -> dict[str, Any]:
    """Components, bridges, hubs and the scale of the neighbour graph of some rows."""
    facts: dict[str, Any] = {"n_points": len(rows), "n_neighbors": n_neighbors, "problem": None}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # all of it is told below
            graph = NeighborGraph.build(table.X[rows], n_neighbors=n_neighbors, random_state=SEED)
            joined = graph.connected()
    except InputError as error:
        return facts | {"problem": str(error)}
    figures, k = graph.statistics, graph.recipe.n_neighbors
    hub = int(graph.occurrences.argmax())
    sizes = np.sort(np.bincount(graph.pieces))[::-1]
    lengths = [float(joined.distances[i, j]) for i, j in joined.bridges.tolist()]
    median = float(np.median(graph.distances.data))
    return facts | {
        "n_neighbors": k,
        "search": graph.search.backend,
        "n_edges": figures.n_edges,
        "n_connected_components": figures.n_pieces,
        "component_sizes": sizes[:MOST_NAMED].tolist(),
        "n_connected_with_class_nodes": int(
            find_components(graph.weights, labels.codes[rows]).max() + 1
        ),
        "n_bridges": len(joined.bridges),
        "longest_bridge": max(lengths, default=None),
        "median_edge": median,
        "largest_occurrence": figures.largest_occurrence,
        "hub": row_name(table, int(rows[hub])),
        "occurrence_skewness": figures.occurrence_skewness,
        "share_of_antihubs": figures.share_of_antihubs,
        "has_extreme_hub": figures.largest_occurrence
        > max(EXTREME_SHARE * len(rows), EXTREME_FACTOR * k),
        "scale": float(graph.scale),
    }


def examine_dimension(
    table: Table, labels: PartialLabels, rows: NDArray[np.intp]
) -> dict[str, Any]:
    """Intrinsic dimension of some rows, and of every class that has labels enough."""
    rng = np.random.default_rng(SEED)
    classes: dict[str, Any] = {}
    for code, name in enumerate(labels.classes.tolist()):
        members = np.flatnonzero(labels.codes == code)
        if len(members) >= LEAST_FOR_CLASS:
            if len(members) > CLASS_SAMPLE:
                members = np.sort(rng.choice(members, CLASS_SAMPLE, replace=False))
            classes[str(name)] = _dimension(table.X[members])
    return {"n_points": len(rows), "all": _dimension(table.X[rows]), "classes": classes}


def examine_methods(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return for every known method what it is for, and why it cannot be used, if that is known."""
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
    n_classes, problem = report["labels"]["n_classes"], report["graph"]["problem"]
    if declaration.labels == "needs" and n_classes < 2:
        found = "one class" if n_classes else "none"
        return f"needs labels of two classes, and there is {found}: label some rows"
    if declaration.uses_graph and problem:
        return str(problem).rstrip(".")
    return None


def feature_name(table: Table, column: int) -> str:
    """What a feature is called: its name, or its number from 1."""
    return f"feature {column + 1}" if table.feature_names is None else table.feature_names[column]


def row_name(table: Table, row: int) -> str:
    """What a row is called: its number from 1, and its name where it has one."""
    return f"{row + 1}" if table.row_ids is None else f"{row + 1} ({table.row_ids[row]})"


def _dimension(X: Any) -> dict[str, Any]:
    """Return the dimension and its interval, None where there is none, and why."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = IntrinsicDimension(random_state=SEED).fit(X)
    except InputError as error:
        return {"dimension": None, "interval": None, "problem": str(error)}
    if not np.isfinite(model.dimension_):
        problem = "distances to neighbours hardly shrink as points are added"
        return {"dimension": None, "interval": None, "problem": problem}
    ends = [float(end) if np.isfinite(end) else None for end in model.interval_]
    interval = None if None in ends else ends
    return {"dimension": float(model.dimension_), "interval": interval, "problem": None}


def _ranges(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if sp.issparse(X):
        low, high = min_max_axis(X, axis=0)
    else:
        low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray(low), np.asarray(high)


def _canonical(X: Any) -> Any:
    """Return rows that are stored in the same way where they are equal."""
    is_sparse = sp.issparse(X)
    if not is_sparse:
        return X
    rows = X.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def _share_of_zeros(X: Any) -> float:
    n_rows, n_features = X.shape
    is_sparse = sp.issparse(X)
    n_stored = X.count_nonzero() if is_sparse else np.count_nonzero(X)
    return float(1 - n_stored / (n_rows * n_features))


def _feature_range(
    table: Table, column: int, low: NDArray[np.float64], high: NDArray[np.float64]
) -> dict[str, Any]:
    name = feature_name(table, column)
    return {"feature": name, "low": float(low[column]), "high": float(high[column])}
