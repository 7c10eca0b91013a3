"""The interface of a reproduction: a paper is a list of entries, one for each table or figure.

An entry lists its tasks, runs one task into measurements, knows what the paper printed, and turns
the summary of all measurements into a picture and into verdicts on the paper's claims. It contains
no file handling, no loops over seeds and no statistics: `runner`, `summary` and `report` do that
for every entry. An entry looks like this::

    def list_tasks(quick: bool) -> list[Task]:
        seeds = range(2 if quick else 20)
        return [Task({"n_train": n}, seed) for n in (300, 500) for seed in seeds]

    def run(task: Task, data_home: Path | None) -> list[Measurement]:
        ...  # draws from task.seed and task.setting only
        return [Measurement(wrong / 50, {"method": "CCDR"}, n_scored=50)]

    TABLE_1 = Entry(
        name="table-1",
        title="Errors with and without a map",
        procedure="What is run, and where it differs from the paper.",
        tasks=list_tasks,
        run=run,
        judge=judge,
        printed=(Printed(0.044, {"n_train": 300, "method": "CCDR"}),),
    )
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reproductions.summary import Summary, SummaryRow

Setting = Mapping[str, str | int | float]
Unit = Literal["share", "number", "choice"]
Goal = Literal["low", "high", "equal"]
Judgment = Literal["holds", "partly", "does not hold"]
NOT_IN_THE_PAPER = "not in the paper"
OF_THE_TEXT = "text"  # where a claim belongs that no table or figure shows
NO_NUMBERS: Setting = {"printed": "in a picture only"}  # which no row has


def judge_if(holds: bool, partly: bool = False) -> Judgment:
    """Return "holds", "partly" or "does not hold"."""
    return "holds" if holds else "partly" if partly else "does not hold"


def judge_all(facts: Sequence[bool]) -> Judgment:
    """Return "holds" if all facts are true, "partly" if some are."""
    return judge_if(all(facts), any(facts))


def judge_readings(words: Sequence[Judgment]) -> Judgment:
    """Return the judgment that all readings share, or "partly"."""
    return words[0] if len(set(words)) == 1 else "partly"


@dataclass(frozen=True)
class Task:
    """One task of an entry, small enough to lose when a run is interrupted.

    The setting is what is varied. Everything random in a task comes from its seed and setting, so
    no task depends on those before it.
    """

    setting: Setting
    seed: int | None = None  # None if nothing is random

    @property
    def key(self) -> str:
        """The task as canonical JSON, under which its result is kept."""
        return json.dumps({"setting": dict(self.setting), "seed": self.seed}, sort_keys=True)


@dataclass(frozen=True)
class Measurement:
    """One number that a task measured.

    Measurements of equal setting and measure are averaged over seeds. A share is shown in percent;
    a choice was chosen, not measured, and gets no interval.
    """

    value: float
    setting: Setting = field(default_factory=dict)  # besides that of the task, such as the method
    measure: str = "error"
    n_scored: int | None = None  # number of rows that an error rate was counted on
    unit: Unit = "share"
    # Instead of the task's seed, for tasks whose draws share expensive work.
    draw: int | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise InputError(f"{self.measure} of {dict(self.setting)} is {self.value}: not finite.")


RunTask = Callable[[Task, Path | None], list[Measurement]]


@dataclass(frozen=True)
class Printed:
    """What the paper printed for one row of the summary."""

    value: float | None  # None if the paper has it in a picture only
    setting: Setting  # the whole setting of the row, the task's and the measurement's together
    measure: str = "error"
    text: str = ""  # what to show instead of the number, such as "about 9.2 %"
    goal: Goal = "low"  # which numbers are better than the paper's; "equal": none
    number: str = ""  # a name for a number that is beside several rows and counts once


@dataclass(frozen=True)
class Verdict:
    """A claim of the paper, and whether it holds here.

    A claim in several readings counts once: it holds if it holds in all of them, and does not hold
    if it holds in none.
    """

    claim: str
    paper: str  # what the paper says for it; "not in the paper" for a claim of ours
    found: str  # what we measured, with figures
    verdict: Judgment
    reading: str = ""  # how it was read if the paper leaves something open
    item: str = ""  # the table or figure it is about, if an entry serves several
    why: str = ""  # why it does not hold in full, as far as known

    @property
    def statement(self) -> str:
        """The claim with its reading."""
        return f"{self.claim} ({self.reading})" if self.reading else self.claim

    @property
    def is_ours(self) -> bool:
        """Whether the claim is one that the paper does not make."""
        return self.paper.startswith(NOT_IN_THE_PAPER)


@dataclass(frozen=True)
class Entry:
    """One table or figure of a paper, and how to recompute it."""

    name: str  # on the command line and of the files, such as "table-1"
    title: str
    procedure: str  # Markdown: what is run, what differs from the paper and why
    # tasks(quick), in the order of the summary; a quick run is a part that ends within seconds.
    tasks: Callable[[bool], list[Task]]
    # run(task, data_home): a module-level function, so other processes can load it.
    run: RunTask
    judge: Callable[[Summary], list[Verdict]]  # settings are missing in the summary of a quick run
    # Raise it when a task computes something else: results of other editions are not reused.
    edition: int = 1
    printed: tuple[Printed, ...] = ()
    # Rows derived from others, such as the best case over a parameter; they come last.
    derive: Callable[[Summary], list[SummaryRow]] | None = None
    draw: Callable[[Summary, Path | None], Figure] | None = None  # draw(summary, data_home)
    needs_data: bool = False  # whether run reads files in data_home
    why: str = ""  # why numbers differ from the paper's, if they do and we know


@dataclass(frozen=True)
class Item:
    """A table or figure as the paper counts it, and the names of the entries that show it.

    `rows` is what the settings of its numbers have in common, if an entry has those of other items
    too; claims name their item themselves.
    """

    name: str
    about: str
    entries: tuple[str, ...]  # none if there is nothing to measure, as in a listing
    rows: Setting = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    """A paper, its entries, and every table and figure that it has, in its order."""

    name: str
    citation: str
    entries: tuple[Entry, ...]
    items: tuple[Item, ...] = ()

    def entry(self, name: str) -> Entry:
        """Return the entry of that name."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        known = ", ".join(entry.name for entry in self.entries)
        raise InputError(f"{self.name} has no entry {name!r}: choose from {known}.")
