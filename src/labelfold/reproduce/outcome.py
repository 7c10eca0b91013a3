"""From claims and printed numbers to a word on a table or figure: matches, better or differs.

The rule is the same for every paper:

- *differs*: a claim of the paper does not hold, or more than half of the numbers found here are
  worse than printed;
- *matches in part*: one of its claims holds in part only;
- *better*: its claims hold, and more than half of the numbers found here are better than printed;
- *matches*: anything else.

A number is better or worse than the paper's if its interval lies wholly on that side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from labelfold.reproduce.entry import Judgement, Verdict
from labelfold.reproduce.summary import Summary, SummaryRow

__all__ = ["Comparison", "EntryOutcome", "Outcome", "compare_with_printed", "judge_entry", "worst"]

Outcome = Literal["better", "matches", "matches in part", "differs"]
Comparison = Literal["matches", "better", "worse", "other"]

RULE = (
    "A table or figure **differs** if a claim of the paper does not hold, or if more than half of "
    "our numbers are worse than printed; it **matches in part** if a claim holds in part only; it "
    "comes out **better** if all claims hold and more than half of our numbers are better than "
    "printed; and **matches** otherwise. A "
    "number is better or worse if its 80 % interval lies wholly on that side of the printed one. "
    "Claims that are ours and not the paper's do not count."
)


@dataclass(frozen=True)
class EntryOutcome:
    """How results compare with the paper.

    Parameters
    ----------
    claims : tuple of {"holds", "partly", "does not hold"}
        The judgements of the paper's claims.
    comparisons : tuple of {"matches", "better", "worse", "other"}
        One for each printed number that was measured here; "other" where none is better.
    """

    claims: tuple[Judgement, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def outcome(self) -> Outcome:
        """The word."""
        half = len(self.comparisons) / 2
        if "does not hold" in self.claims or self.comparisons.count("worse") > half:
            return "differs"
        if "partly" in self.claims:
            return "matches in part"
        return "better" if self.comparisons.count("better") > half else "matches"

    @property
    def needs_reason(self) -> bool:
        """Whether the paper's claims or numbers did not all come out."""
        return self.outcome in ("matches in part", "differs")

    def describe_claims(self) -> str:
        """Say how many claims hold."""
        return f"{self.claims.count('holds')} of {len(self.claims)}" if self.claims else ""

    def describe_numbers(self) -> str:
        """Say how many numbers match the printed ones, are better, worse or simply others."""
        names: dict[Comparison, str] = {"matches": "as printed", "better": "better"}
        names |= {"worse": "worse", "other": "different"}
        counts = {name: self.comparisons.count(word) for word, name in names.items()}
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def judge_entry(summary: Summary, verdicts: Sequence[Verdict]) -> EntryOutcome:
    """Compare an entry's results with what the paper claims and prints."""
    compared = (compare_with_printed(row) for row in summary.rows)
    return EntryOutcome(
        claims=tuple(verdict.verdict for verdict in verdicts if not verdict.is_ours),
        comparisons=tuple(word for word in compared if word is not None),
    )


def compare_with_printed(row: SummaryRow) -> Comparison | None:
    """Compare a row with the number that the paper printed for it; None where there is none."""
    if row.printed is None or row.printed.value is None:
        return None
    printed, estimate = row.printed.value, row.estimate
    low = estimate.mean if estimate.low is None else estimate.low
    high = estimate.mean if estimate.high is None else estimate.high
    if low <= printed <= high:
        return "matches"
    if row.printed.goal == "equal":
        return "other"
    is_low = high < printed
    return "better" if is_low == (row.printed.goal == "low") else "worse"


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of several entries together: one that differs decides."""
    return max(outcomes, key=get_args(Outcome).index)
