"""From claims and printed numbers to a word on a table or figure: matches, better or differs.

The rule is the same for every paper:

- *differs*: a claim of the paper does not hold, or more than half of the numbers found here are
  worse than printed;
- *matches in part*: one of its claims holds in part only;
- *better*: its claims hold, and more than half of the numbers found here are better than printed;
- *matches*: anything else.

A number is better or worse than the paper's if its interval lies wholly on that side. What was
tried in several readings of the paper counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from reproductions.entry import Judgement, Verdict, judge_readings
from reproductions.summary import Summary, SummaryRow

__all__ = [
    "Comparison",
    "EntryOutcome",
    "Outcome",
    "compare_with_printed",
    "judge_entry",
    "worst",
]

Outcome = Literal["better", "matches", "matches in part", "differs"]
Comparison = Literal["matches", "better", "worse", "other", "open"]
Word = TypeVar("Word")
COUNTED: dict[Comparison, str] = {
    "matches": "as printed",
    "better": "better",
    "worse": "worse",
    "other": "different",
    "open": "by the reading",
}

RULE = (
    "A table or figure **differs** if a claim of the paper does not hold, or if more than half of "
    "our numbers are worse than printed; it **matches in part** if a claim holds in part only; it "
    "comes out **better** if all claims hold and more than half of our numbers are better than "
    "printed; and **matches** otherwise. A number is better or worse if its 80 % interval lies "
    "wholly on that side of the printed one, whose own sampling error the papers do not tell. "
    "Numbers of which neither more nor less is better can be different, which leaves the word to "
    "the claims. Where a paper leaves something open, a claim or a number was tried in several "
    "readings and counts once: a claim holds in part if it holds in some of them, and a number on "
    "which they do not agree counts by none of them. Claims that are ours and not the paper's do "
    "not count."
)


@dataclass(frozen=True)
class EntryOutcome:
    """How results compare with the paper.

    Parameters
    ----------
    claims : tuple of {"holds", "partly", "does not hold"}
        The judgements of the paper's claims, one a claim.
    comparisons : tuple of {"matches", "better", "worse", "other", "open"}
        One for each printed number that was measured here; "other" where none is better, "open"
        where the readings do not agree.
    """

    claims: tuple[Judgement, ...]
    comparisons: tuple[Comparison, ...]

    @classmethod
    def of(
        cls,
        claims: Iterable[tuple[str, Judgement]],
        comparisons: Iterable[tuple[str, Comparison]],
    ) -> EntryOutcome:
        """Count what was tried in several readings once.

        Parameters
        ----------
        claims : iterable of (str, judgement)
            Every claim with its judgement, once a reading.
        comparisons : iterable of (str, comparison)
            The name of every number with its comparison, once a reading.
        """
        return cls(
            tuple(judge_readings(words) for words in _by_name(claims).values()),
            tuple(
                words[0] if len(set(words)) == 1 else "open"
                for words in _by_name(comparisons).values()
            ),
        )

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
    def is_empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not self.claims and not self.comparisons

    @property
    def has_numbers_off(self) -> bool:
        """Whether some numbers are worse than the paper's, or simply others."""
        return bool({"worse", "other", "open"} & set(self.comparisons))

    def describe_claims(self) -> str:
        """Say how many claims hold."""
        if not self.claims:
            return ""
        n_partly = self.claims.count("partly")
        text = f"{self.claims.count('holds')} of {len(self.claims)}"
        return f"{text}, {n_partly} in part" if n_partly else text

    def describe_numbers(self) -> str:
        """Say how many numbers match the printed ones, are better, worse or simply others."""
        counts = {name: self.comparisons.count(word) for word, name in COUNTED.items()}
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def judge_entry(summary: Summary, verdicts: Sequence[Verdict]) -> EntryOutcome:
    """Compare an entry's results with what the paper claims and prints."""
    return EntryOutcome.of(
        ((one.item + one.claim, one.verdict) for one in verdicts if not one.is_ours),
        (
            (number_of(row), word)
            for row in summary.rows
            if (word := compare_with_printed(row)) is not None
        ),
    )


def number_of(row: SummaryRow) -> str:
    """Return the name of the printed number beside a row."""
    if row.printed is not None and row.printed.number:
        return row.printed.number
    return f"{sorted(row.setting.items())} {row.measure}"


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


def _by_name(named: Iterable[tuple[str, Word]]) -> dict[str, list[Word]]:
    groups: dict[str, list[Word]] = {}
    for name, word in named:
        groups.setdefault(name, []).append(word)
    return groups
