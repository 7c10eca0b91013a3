"""From claims and printed numbers to a verdict on a table or figure.

`RULE` is the rule, the same for every paper. Several readings of a claim count once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from reproductions.entry import Item, Judgment, judge_readings
from reproductions.summary import SummaryRow

Outcome = Literal["better", "matches", "matches in part", "differs"]  # from best to worst
Comparison = Literal["matches", "better", "worse", "other", "open"]
Word = TypeVar("Word")
COUNTED: dict[Comparison, str] = {
    "matches": "as printed",
    "better": "better",
    "worse": "worse",
    "other": "different",  # numbers of which neither more nor less is better
    "open": "by the reading",  # the readings do not agree
}

RULE = (
    "A table or figure **differs** if a claim of the paper does not hold, or if more than half of "
    "our numbers are worse than printed; it **matches in part** if a claim holds only in part; it "
    "is **better** if all claims hold and more than half of our numbers are better than printed; "
    "and **matches** otherwise. A number is better or worse if its whole 80 % interval is on that "
    "side of the printed one, whose own sampling error the papers do not give. Numbers of which "
    "neither more nor less is better can be different, which leaves the verdict to the claims. If "
    "a paper leaves something open, a claim or number was checked under several readings and "
    "counts once: a claim holds in part if it holds in some of them, and a number on which they "
    "disagree does not count. Our own claims do not count."
)


@dataclass(frozen=True)
class EntryOutcome:
    """How results compare with the paper: one word per claim, and one per printed number."""

    claims: tuple[Judgment, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def outcome(self) -> Outcome:
        """The word by the rule."""
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
        """Whether some numbers are worse than the paper's, or simply different."""
        return bool({"worse", "other", "open"} & set(self.comparisons))

    def describe_claims(self) -> str:
        """Say how many claims hold."""
        n_partly = self.claims.count("partly")
        text = f"{self.claims.count('holds')} of {len(self.claims)}" if self.claims else ""
        return f"{text}, {n_partly} in part" if n_partly else text

    def describe_numbers(self) -> str:
        """Say how many numbers match the printed ones, are better, worse or different."""
        counts = {name: self.comparisons.count(word) for word, name in COUNTED.items()}
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def judge_entry(figures: Mapping[str, Any], item: Item | None = None) -> EntryOutcome:
    """Compare an entry's figures (see `report`) with the paper, or its part in an item."""
    wanted = {}.items() if item is None else item.rows.items()
    rows = [row for row in figures["rows"] if row["verdict"] and wanted <= row["setting"].items()]
    claims = _by_name(
        (one["item"] + one["claim"], one["verdict"]) for one in claims_of(figures, item)
    )
    numbers = _by_name((row["number"], row["verdict"]) for row in rows)
    return EntryOutcome(
        tuple(judge_readings(words) for words in claims),
        tuple(words[0] if len(set(words)) == 1 else "open" for words in numbers),
    )


def claims_of(figures: Mapping[str, Any], item: Item | None = None) -> list[dict[str, Any]]:
    """Return the verdicts on the paper's own claims, all or those about an item."""
    return [
        one
        for one in figures["verdicts"]
        if not one["is_ours"] and (item is None or one["item"] in ("", item.name))
    ]


def number_of(row: SummaryRow) -> str:
    """Return the name of the printed number beside a row."""
    if row.printed is not None and row.printed.number:
        return row.printed.number
    return f"{sorted(row.setting.items())} {row.measure}"


def compare_with_printed(row: SummaryRow) -> Comparison | None:
    """Compare a row with the number that the paper printed for it; None if there is none."""
    if row.printed is None or row.printed.value is None:
        return None
    low, high = row.estimate.ends
    if low <= row.printed.value <= high:
        return "matches"
    if row.printed.goal == "equal":
        return "other"
    return "better" if (high < row.printed.value) == (row.printed.goal == "low") else "worse"


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of several entries together: one that differs decides."""
    return max(outcomes, key=get_args(Outcome).index)


def _by_name(named: Iterable[tuple[str, Word]]) -> Iterable[list[Word]]:
    groups: dict[str, list[Word]] = {}
    for name, word in named:
        groups.setdefault(name, []).append(word)
    return groups.values()
