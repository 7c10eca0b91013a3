"""Names and settings that both figures of SSDE share."""

from __future__ import annotations

__all__ = [
    "BEST_CASE",
    "CROSS_VALIDATED",
    "DEFAULT_SPREAD",
    "K_NEAREST",
    "PLAIN_SLLE",
    "SDE",
    "SLLE",
    "SPREADS",
    "SSDE",
]

SSDE, SDE, SLLE = "SSDE", "SDE", "SLLE"
PLAIN_SLLE = "SLLE, plain basis"
BEST_CASE, CROSS_VALIDATED = "best case", "cross-validated"
DEFAULT_SPREAD = 10.0  # the library's
SPREADS = (1.0, 2.0, 5.0, DEFAULT_SPREAD, 20.0)
K_NEAREST = 3  # section 4.2
