"""Rows to look at next: to label, to audit, or because their label looks wrong."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from labelfold.evidence import suggest_rows, suspect_labels
from labelfold.studio.labeling import AUDIT, GivenLabels

__all__ = ["find_suspects", "propose_rows"]

N_PROPOSED = 40
AUDIT_EVERY = 5  # one row in five is drawn at random


def propose_rows(model: Any, given: GivenLabels, *, is_fitted: bool) -> list[dict[str, Any]]:
    """Return rows to label next with the reason, the most useful first.

    `is_fitted` says whether the model was fitted to the labels; otherwise rows cover its graph.
    """
    is_closed = given.is_labeled | given.is_aside
    # Always in the same order, so an audit row that was skipped comes again.
    drawn = np.random.default_rng(0).permutation(len(is_closed))
    audit = drawn[~is_closed[drawn]][: N_PROPOSED // AUDIT_EVERY]
    chosen = suggest_rows(
        model if is_fitted else model.graph_,
        N_PROPOSED - N_PROPOSED // AUDIT_EVERY,
        labeled=np.flatnonzero(given.is_labeled),
        exclude=np.append(np.flatnonzero(given.is_aside), audit),
    )
    queue = [{"row": one.row, "reason": one.reason} for one in chosen]
    for number, row in enumerate(audit.tolist(), 1):
        queue.insert(AUDIT_EVERY * number - 1, {"row": row, "reason": AUDIT})
    return queue


def find_suspects(model: Any, given: GivenLabels) -> list[dict[str, Any]]:
    """Return given labels that look wrong, with the rows that speak for and against them."""
    name_of = given.name_of
    return [
        {**asdict(one), "given": name_of[one.given], "suggested": name_of[one.suggested]}
        for one in suspect_labels(model)
    ]
