"""What each method would do with a table: whether it can be used, why not, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labelfold.cli.costs import SUBSAMPLE_SIZE, SUBSAMPLES, Cost, DataSize, expected_cost

METHODS = (
    "ccdr",
    "eigenmaps",
    "lle",
    "mfa",
    "mvu",
    "mfnu",
    "ssde",
    "ism",
    "resampled",
    "pca",
    "lda",
    "isomap",
    "locally-linear",
)
NEED_NO_GRAPH = ("mfa", "pca", "lda")
NEED_CLASSES = ("mfa", "ism", "lda")
WITHOUT_LABELS = {
    "ccdr": "without labels it is eigenmaps",
    "lle": "without labels it is plain locally linear embedding",
    "ssde": "without labels it is mvu",
    "resampled": "without labels it is eigenmaps of subsamples",
}
MAKES_NO_USE_OF_LABELS = ("eigenmaps", "mvu", "mfnu", "pca", "isomap", "locally-linear")
DENSE_ONLY = ("lda", "locally-linear")


@dataclass(frozen=True)
class Prospect:
    """What a method would do.

    Parameters
    ----------
    method : str
        Its short name.

    is_usable : bool
        Whether a map of two dimensions can be made.

    notes : tuple of str
        Why not; or what to know before.

    cost : Cost or None
        A guess at time and memory; None where it cannot be used.
    """

    method: str
    is_usable: bool
    notes: tuple[str, ...]
    cost: Cost | None


def foresee(
    facts: Mapping[str, Mapping[str, Any]], size: DataSize, free_memory: int | None
) -> list[Prospect]:
    """Return a prospect for each method.

    Parameters
    ----------
    facts : mapping
        What `labelfold.cli.doctor` found: features, labels, duplicates and graph.

    size : DataSize
        Size of all data, where the facts may be those of a sample.

    free_memory : int or None
        Bytes that can be used, where known.
    """
    return [_foresee(method, facts, size, free_memory) for method in METHODS]


def _foresee(
    method: str, facts: Mapping[str, Mapping[str, Any]], size: DataSize, free_memory: int | None
) -> Prospect:
    obstacle = _obstacle(method, facts)
    if obstacle:
        return Prospect(method, False, (obstacle,), None)
    cost = expected_cost(method, size)
    notes = _notes(method, facts)
    if free_memory is not None and cost.n_bytes > free_memory:
        notes.append("needs more memory than is free: take fewer rows")
    return Prospect(method, True, tuple(notes), cost)


def _obstacle(method: str, facts: Mapping[str, Mapping[str, Any]]) -> str:
    """Say why a method cannot make a map of two dimensions; "" if it can."""
    features, labels, graph = facts["features"], facts["labels"], facts["graph"]
    n_classes = labels["n_classes"]
    if method not in NEED_NO_GRAPH and graph["problem"]:
        return str(graph["problem"]).rstrip(".")
    if method == "pca" and min(features["n_rows"], features["n_features"]) < 2:
        return "two dimensions need two rows and two features"
    if method in NEED_CLASSES and n_classes < 2:
        found = "one class" if n_classes else "none"
        return f"needs labels of two classes, and there is {found}: label some rows"
    if method in DENSE_ONLY and features["is_sparse"]:
        return "takes no sparse rows: reduce them first, as by pca"
    if method == "lda" and n_classes == 2:
        return "two classes leave one dimension: compare it with --dims 1"
    if method == "lda" and labels["n_labeled"] <= n_classes:
        return "needs more labels than classes: label more rows"
    if method == "ism" and facts["duplicates"]["n_contradictions"]:
        return "equal rows have different labels, and no map can part them: correct or hide one"
    return ""


def _notes(method: str, facts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    labels, graph = facts["labels"], facts["graph"]
    notes = []
    if labels["n_labeled"] == 0:
        notes += [WITHOUT_LABELS[method]] if method in WITHOUT_LABELS else []
    elif method in MAKES_NO_USE_OF_LABELS:
        notes.append("makes no use of labels")
    if method in ("mfa", "lda"):
        notes.append("linear; only labelled rows are learnt from")
    if method == "mfa" and labels["classes_with_one_label"]:
        notes.append("a class with one label has no neighbours of its own class")
    if method == "lda" and labels["n_classes"] > 2:
        notes.append(f"at most {labels['n_classes'] - 1} dimensions")
    if method == "resampled":
        if facts["features"]["n_rows"] <= SUBSAMPLE_SIZE:
            notes.append("of so few rows it makes the map of ccdr itself")
        else:
            notes.append(f"mean of {SUBSAMPLES} maps of {SUBSAMPLE_SIZE:,} rows each")
    notes += _notes_on_pieces(method, graph)
    return notes


def _notes_on_pieces(method: str, graph: Mapping[str, Any]) -> list[str]:
    """Tell of bridges, for methods whose graph is that of the report."""
    if graph["problem"]:
        return []
    if method in ("ccdr", "resampled") and graph["n_components_with_class_nodes"] > 1:
        n_bridges = graph["n_components_with_class_nodes"] - 1
    elif method == "eigenmaps" and graph["n_components"] > 1:
        n_bridges = graph["n_components"] - 1
    else:
        return []
    return [f"joins components by {n_bridges:,} bridge{'s' if n_bridges > 1 else ''}"]
