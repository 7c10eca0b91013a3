"""What to do about data: from the findings of `labelfold inspect` to sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VERY_DIFFERENT = 30  # times as wide: distances then follow the wide features alone
MANY_ANTIHUBS = 0.25
FEW_PER_CLASS = 5


def advise(report: Mapping[str, Any]) -> list[str]:
    """Return sentences, the weightiest first; none where nothing is amiss."""
    return [
        *_on_labels(report["labels"]),
        *_on_duplicates(report["duplicates"]),
        *_on_features(report["features"]),
        *_on_graph(report["graph"]),
    ]


def _on_labels(labels: Mapping[str, Any]) -> list[str]:
    if not labels["has_labels"]:
        return ["No labels are named: pass --labels COLUMN if a column holds some."]
    if labels["n_classes"] < 2:
        found = "one class" if labels["n_classes"] else "no row"
        return [f"Labels name {found}: classify and compare need two classes or more."]
    advice = []
    single = labels["classes_with_one_label"]
    if single:
        advice.append(
            f"{_counted(len(single), 'class has', 'classes have')} one label only "
            f"({_listed(single)}): errors there cannot be measured, label more rows."
        )
    few = [
        name
        for name, count in labels["class_counts"].items()
        if 1 < count < FEW_PER_CLASS and name not in single
    ]
    if few:
        advice.append(
            f"{_counted(len(few), 'class has', 'classes have')} fewer than {FEW_PER_CLASS} labels "
            f"({_listed(few)}): measured errors will have wide intervals."
        )
    return advice


def _on_duplicates(duplicates: Mapping[str, Any]) -> list[str]:
    if not duplicates["n_contradictions"]:
        return []
    one, other = duplicates["contradiction"]
    n = duplicates["n_contradictions"]
    more = f", and {n - 1:,} more groups of equal rows differ likewise" if n > 1 else ""
    return [
        f"Equal rows have different labels: row {one['row']} is {one['label']!r} and row "
        f"{other['row']} is {other['label']!r}{more}. Correct them, or leave the cells empty."
    ]


def _on_features(features: Mapping[str, Any]) -> list[str]:
    advice = []
    ratio = features["range_ratio"]
    if ratio is not None and ratio > VERY_DIFFERENT:
        advice.append(
            f"Features have very different scales: {features['widest']['feature']!r} ranges "
            f"{ratio:,.0f} times as wide as a quarter of the others, which distances hardly see. "
            "Unless their units are the same, standardise them: --scale standard does so in embed, "
            "classify and compare."
        )
    if features["n_constant"]:
        n = features["n_constant"]
        advice.append(
            f"{_counted(n, 'feature is', 'features are')} constant "
            f"({_listed(features['constant'], n)}): harmless, and can be left out with --ignore."
        )
    return advice


def _on_graph(graph: Mapping[str, Any]) -> list[str]:
    if graph["problem"]:
        return [f"There is no neighbour graph: {graph['problem']}"]
    advice = []
    if graph["n_components"] > 1:
        sizes = " + ".join(f"{size:,}" for size in graph["component_sizes"][:5])
        more = " + ..." if graph["n_components"] > 5 else ""
        advice.append(
            f"The graph falls into {graph['n_components']:,} components ({sizes}{more} rows): maps "
            f"join them by {_counted(graph['n_bridges'], 'bridge', 'bridges')}. Try --neighbors "
            f"{2 * graph['n_neighbors']}, and see whether the far rows belong to the data."
        )
    if graph["has_extreme_hub"]:
        advice.append(
            f"Row {graph['hub']} is a hub: it is among the nearest of "
            f"{graph['largest_occurrence']:,} rows, and joins what has little in common. Rows of "
            "unit length (cosine distances), or fewer features, may do without."
        )
    elif graph["share_of_antihubs"] > MANY_ANTIHUBS:
        advice.append(
            f"{graph['share_of_antihubs']:.0%} of the rows are among nobody's nearest, as in very "
            "many dimensions: fewer features, or PCA first, may help."
        )
    return advice


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _listed(names: list[str], n: int | None = None, most: int = 5) -> str:
    rest = (len(names) if n is None else n) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")
