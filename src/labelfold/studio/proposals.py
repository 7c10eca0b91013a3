"""Rows to look at next: to label, to audit, or because their label looks wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np

from labelfold.evidence import suggest_rows, suspect_labels
from labelfold.studio.labeling import AUDIT, FROM_QUEUE, GivenLabels

__all__ = ["find_suspects", "propose_rows"]

N_PROPOSED = 40
AUDIT_EVERY = 10  # one answer in so many is about a row that was drawn at random


def propose_rows(model: Any, given: GivenLabels, *, is_fitted: bool) -> list[dict[str, Any]]:
    """Return rows to label next with the reason, the most useful first.

    `is_fitted` says whether the model was fitted to the labels; otherwise rows cover its graph.
    An audit row comes as soon as earlier answers demand it: the queue may be a new one after
    every answer, so a place further down would never be reached.
    """
    is_closed = given.is_labeled | given.is_aside
    # Always in the same order, so an audit row that was skipped comes again.
    drawn = np.random.default_rng(0).permutation(len(is_closed))
    audit = drawn[~is_closed[drawn]][: N_PROPOSED // AUDIT_EVERY + 1].tolist()
    chosen = suggest_rows(
        model if is_fitted else model.graph_,
        N_PROPOSED,
        labeled=np.flatnonzero(given.is_labeled),
        exclude=np.append(np.flatnonzero(given.is_aside), audit),
    )
    suggested = [{"row": one.row, "reason": one.reason} for one in chosen]
    audited = [{"row": row, "reason": AUDIT} for row in audit]
    counts = Counter(source for source in given.sources if source in FROM_QUEUE)
    n_audits, n_answers, queue = counts[AUDIT], counts.total(), list[dict[str, Any]]()
    while len(queue) < N_PROPOSED and (suggested or audited):
        n_answers += 1
        is_audit = bool(audited) and (not suggested or (n_audits + 1) * AUDIT_EVERY <= n_answers)
        n_audits += is_audit
        queue.append((audited if is_audit else suggested).pop(0))
    return queue


def find_suspects(model: Any, given: GivenLabels) -> list[dict[str, Any]]:
    """Return given labels that look wrong, with the rows that speak for and against them."""
    name_of = given.name_of
    return [
        {**asdict(one), "given": name_of[one.given], "suggested": name_of[one.suggested]}
        for one in suspect_labels(model)
    ]
