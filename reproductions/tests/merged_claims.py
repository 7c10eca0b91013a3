"""Claims in several readings as one judgement each, as reports count them."""

from __future__ import annotations

from reproductions.entry import judge_readings


def merged_claims(verdicts):
    """Return the judgement of every claim, in the order of the claims."""
    words = {}
    for verdict in verdicts:
        words.setdefault(verdict.claim, []).append(verdict.verdict)
    return {claim: judge_readings(found) for claim, found in words.items()}
