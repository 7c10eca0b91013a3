"""Rows to look at next: to label, to audit, or because their label looks wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelfold.studio.labeling import AUDIT, GivenLabels

__all__ = ["find_suspects", "propose_rows"]

N_PROPOSED = 40
AUDIT_EVERY = 5  # one row in five is drawn at random


def propose_rows(model: Any, given: GivenLabels, *, is_fitted: bool) -> list[dict[str, Any]]:
    """Return rows to label next with the reason, the most useful first.

    Parameters
    ----------
    model : FewLabelClassifier
        With a graph of all rows.
    is_fitted : bool
        Whether it was fitted to the labels, which takes two classes.
    given : GivenLabels
        Labels, and rows not to propose.
    """
    is_labeled = given.is_labeled
    excluded = is_labeled | given.is_aside
    free = np.flatnonzero(~excluded)
    rng = np.random.default_rng(int(is_labeled.sum()))
    audit = rng.permutation(free)[: N_PROPOSED // AUDIT_EVERY].tolist()
    adjacency = model.graph_.adjacency
    doubt = np.ones(len(excluded))
    if is_fitted:
        doubt = 1 - model.label_distributions_.max(axis=1)
    left = np.where(excluded, 0.0, doubt)
    left[is_labeled] = 0
    chosen: list[dict[str, Any]] = []
    gain = adjacency @ left + left
    gain[excluded] = -1
    for row in np.argsort(-gain, kind="stable").tolist():
        near = adjacency[[row]].indices
        if len(chosen) >= N_PROPOSED or gain[row] < 0:
            break
        if any(one["row"] in near for one in chosen) or row in audit:
            continue
        chosen.append({"row": row, "reason": "uncertain" if is_fitted else "uncovered"})
    queue = []
    while chosen or audit:
        queue += chosen[: AUDIT_EVERY - 1]
        chosen = chosen[AUDIT_EVERY - 1 :]
        queue += [{"row": row, "reason": AUDIT} for row in audit[:1]]
        audit = audit[1:]
    return queue


def find_suspects(model: Any, given: GivenLabels) -> list[dict[str, Any]]:
    """Return labeled rows whose label looks wrong, the most suspicious first."""
    return []
