"""Rows to look at next: to label, to audit, or because their label looks wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np

from labelfold.evidence import suggest_rows, suspect_labels
from labelfold.studio.labeling import AUDIT, FROM_QUEUE, GivenLabels

__all__ = ["find_suspects", "mix", "propose_rows"]

N_PROPOSED = 40
EVERY = 10  # one answer in so many is about an audit row, and one about a suspect label


def propose_rows(model: Any, given: GivenLabels, *, is_fitted: bool) -> list[dict[str, Any]]:
    """Return rows to label next with the reason, the most useful first.

    `is_fitted` says whether the model was fitted to the labels; otherwise rows cover its graph.
    """
    is_closed = given.is_labeled | given.is_aside
    # Always in the same order, so an audit row that was skipped comes again.
    drawn = np.random.default_rng(0).permutation(len(is_closed))
    audit = drawn[~is_closed[drawn]][: N_PROPOSED // EVERY + 1].tolist()
    chosen = suggest_rows(
        model if is_fitted else model.graph_,
        N_PROPOSED,
        labeled=np.flatnonzero(given.is_labeled),
        exclude=np.append(np.flatnonzero(given.is_aside), audit),
    )
    counts = Counter(source for source in given.sources if source in FROM_QUEUE)
    return mix(
        [{"row": one.row, "reason": one.reason} for one in chosen],
        [{"row": row, "reason": AUDIT} for row in audit],
        n_answers=counts.total(),
        n_special=counts[AUDIT],
    )[:N_PROPOSED]


def mix(
    usual: list[dict[str, Any]], special: list[dict[str, Any]], *, n_answers: int, n_special: int
) -> list[dict[str, Any]]:
    """Return a queue in which one answer in ten is special, those before it counted.

    A queue may be a new one after every answer: a fixed place far down would never be reached.
    """
    mixed, usual, special = [], list(usual), list(special)
    while usual or special:
        n_answers += 1
        is_due = (n_special + 1) * EVERY <= n_answers or not usual
        n_special += is_due
        mixed.append((special if is_due and special else usual).pop(0))
    return mixed


def find_suspects(model: Any, given: GivenLabels) -> list[dict[str, Any]]:
    """Return given labels that look wrong, with the rows that speak for and against them."""
    name_of = given.name_of
    return [
        {**asdict(one), "given": name_of[one.given], "suggested": name_of[one.suggested]}
        for one in suspect_labels(model)
    ]
