"""What `labelfold classify` has to say, as plain values and as text."""

from __future__ import annotations

from collections import Counter
from typing import Any

from labelfold.cli.summary import (
    counted,
    describe_data,
    describe_end,
    describe_files,
    describe_solve,
    estimator_facts,
    wrapped,
)

LOW = 0.5  # a confidence below it is counted


def classifier_facts(fitted: Any) -> dict[str, Any]:
    """Facts about the map of a classifier, or about one without."""
    embedder = getattr(fitted, "embedder_", fitted)
    n_components = fitted.embedding_.shape[1] if hasattr(fitted, "embedding_") else None
    return {"n_components": n_components, **estimator_facts(embedder)}


def found_facts(columns: dict[str, Any]) -> dict[str, Any]:
    """Figures about the labels that were found."""
    import numpy as np

    found = ~np.asarray(columns["given"])
    confidence = np.asarray(columns["confidence"])[found]
    named = [label for label, is_found in zip(columns["label"], found, strict=True) if is_found]
    counts = Counter(named)
    return {
        "n_rows": len(named),
        "n_low_confidence": int(np.count_nonzero(confidence < LOW)),
        "mean_confidence": float(confidence.mean()) if len(named) else None,
        "classes": [{"label": label, "n_rows": counts[label]} for label in sorted(counts)],
    }


def describe(facts: dict[str, Any], estimate: str) -> str:
    """The facts as text for people."""
    found, new = facts["found"], facts["new"]
    scaled = "" if facts["scale"] == "none" else f", columns scaled ({facts['scale']})"
    n = facts["n_components"]
    kind = "no map" if n is None else f"{n} coordinate{'s' * (n > 1)}, {facts['head']} head"
    lines = [describe_data(facts["data"])]
    if new is not None:
        lines.append(f"{new['file']}: {counted(new['n_rows'], 'row')} more.")
    lines += [
        "",
        f"Classifier by {facts['method']} ({facts['estimator']}): {kind}{scaled}.",
        *describe_solve(facts),
        "",
        wrapped(estimate),
    ]
    if facts["permutations"] is not None:
        lines.append(wrapped(f"Labels shuffled: {facts['permutations']['text']}"))
    if found["n_rows"]:
        counts = ", ".join(f"{one['label']} ({one['n_rows']:,})" for one in found["classes"])
        lines += [
            wrapped(f"Labels found for {counted(found['n_rows'], 'row')}: {counts}."),
            f"Mean confidence {found['mean_confidence']:.2f}; below {LOW} for "
            f"{counted(found['n_low_confidence'], 'row')}.",
        ]
    else:
        lines.append("Every row has a label: nothing was left to find.")
    return "\n".join([*lines, "", *describe_files(facts["files"]), *describe_end(facts)])
