"""The interface of a reproduction: a paper is a list of entries, one for each table or figure.

An entry lists its tasks, runs one task into measurements, knows what the paper printed, and turns
the summary of all measurements into a picture and into verdicts on the paper's claims. Whoever
writes one writes no files, no loops over seeds and no statistics: `runner`, `summary` and `report`
do that for every entry. An entry looks like this::

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
        edition=1,
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

__all__ = [
    "NO_NUMBERS",
    "OF_THE_TEXT",
    "Entry",
    "Goal",
    "Item",
    "Judgement",
    "Measurement",
    "Paper",
    "Printed",
    "RunTask",
    "Setting",
    "Task",
    "Unit",
    "Verdict",
    "judge_all",
    "judge_readings",
]

Setting = Mapping[str, str | int | float]
Unit = Literal["share", "number", "choice"]
Goal = Literal["low", "high", "equal"]
Judgement = Literal["holds", "partly", "does not hold"]
NOT_IN_THE_PAPER = "not in the paper"
OF_THE_TEXT = "text"  # where a claim belongs that no table or figure shows
NO_NUMBERS: Setting = {"printed": "in a picture only"}  # which no row has


def judge_all(facts: Sequence[bool]) -> Judgement:
    """Return "holds" if all facts are true, "partly" if some are."""
    return "holds" if all(facts) else "partly" if any(facts) else "does not hold"


def judge_readings(words: Sequence[Judgement]) -> Judgement:
    """Return the judgement that all readings share, or "partly"."""
    return words[0] if len(set(words)) == 1 else "partly"


@dataclass(frozen=True)
class Task:
    """One piece of work of an entry, small enough to lose when a run is interrupted.

    Parameters
    ----------
    setting : mapping of str to str, int or float
        What is varied, such as ``{"n_train": 300}``.
    seed : int or None, default=None
        Seed of the draw; None where nothing is random. Everything random in a task comes from its
        seed and setting, so that no task depends on which others ran before it.
    """

    setting: Setting
    seed: int | None = None

    def __post_init__(self) -> None:
        _check_setting(self.setting)

    @property
    def key(self) -> str:
        """The task as canonical JSON, under which its result is kept."""
        return json.dumps({"setting": dict(self.setting), "seed": self.seed}, sort_keys=True)


@dataclass(frozen=True)
class Measurement:
    """One number that a task found.

    Parameters
    ----------
    value : float
        The number; an error rate is a share between 0 and 1.
    setting : mapping of str to str, int or float, default={}
        What it belongs to beyond the task's setting, such as ``{"method": "CCDR"}``; names of the
        task's setting are not repeated.
    measure : str, default="error"
        What is measured. Measurements of equal setting and measure are averaged over seeds.
    n_scored : int or None, default=None
        Number of points that an error rate was counted on.
    unit : {"share", "number", "choice"}, default="share"
        A share is shown in per cent. A choice is a number that was chosen, not measured, and gets
        no interval.
    draw : int or None, default=None
        Number of the draw, for tasks that make several because they share costly work; it takes
        the place of the task's seed.
    """

    value: float
    setting: Setting = field(default_factory=dict)
    measure: str = "error"
    n_scored: int | None = None
    unit: Unit = "share"
    draw: int | None = None

    def __post_init__(self) -> None:
        _check_setting(self.setting)
        if not math.isfinite(self.value):
            raise InputError(
                f"{self.measure} of {dict(self.setting)} is {self.value}: a measurement must be a "
                "finite number."
            )


RunTask = Callable[[Task, Path | None], list[Measurement]]


@dataclass(frozen=True)
class Printed:
    """What the paper printed for one row of the summary.

    Parameters
    ----------
    value : float or None
        The number; None where the paper has it in a picture only.
    setting : mapping of str to str, int or float
        The whole setting of the row, the task's and the measurement's together.
    measure : str, default="error"
        The row's measure.
    text : str, default=""
        What to show instead of the number, such as "about 9.2 %".
    goal : {"low", "high", "equal"}, default="low"
        Which numbers would be better than the paper's: lower ones, as of errors, higher ones, as of
        scores, or none.
    number : str, default=""
        A name for the number, where it stands beside several rows, for readings of what the paper
        leaves open: it counts once. By default it stands beside one row.
    """

    value: float | None
    setting: Setting
    measure: str = "error"
    text: str = ""
    goal: Goal = "low"
    number: str = ""


@dataclass(frozen=True)
class Verdict:
    """A claim of the paper, and whether it holds here.

    Parameters
    ----------
    claim : str
        The claim, in one phrase.
    paper : str
        What the paper says or prints for it; "not in the paper" for a claim of ours.
    found : str
        What was found here, with figures.
    verdict : {"holds", "partly", "does not hold"}
        The judgement.
    reading : str, default=""
        How it was read where the paper leaves something open. A claim in several readings counts
        once: it holds if it holds in all of them, and does not if it does in none.
    item : str, default=""
        The table or figure that it is about, where an entry serves several, or `OF_THE_TEXT`.
    why : str, default=""
        Why it does not hold in full, if it does not, as far as known.
    """

    claim: str
    paper: str
    found: str
    verdict: Judgement
    reading: str = ""
    item: str = ""
    why: str = ""

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
    """One table or figure of a paper, and how to make it again.

    Parameters
    ----------
    name : str
        Name on the command line and of the files, such as "table-1".
    title : str
        One line.
    procedure : str
        Markdown: what is run, what differs from the paper and why.
    edition : int
        Raised by whoever changes what a task computes: results of another edition are not reused.
    tasks : callable
        ``tasks(quick)`` lists the tasks, in the order in which the summary shows their settings. A
        quick run is a part of the full one that ends within seconds.
    run : callable
        ``run(task, data_home)`` returns the measurements of a task, of as many methods and heads as
        share its work. A function of a module, so that other processes can load it.
    judge : callable
        ``judge(summary)`` returns the verdicts. A quick run may lack settings.
    printed : tuple of Printed, default=()
        What the paper printed.
    derive : callable or None, default=None
        ``derive(summary)`` returns further rows made of others, such as the best case over a
        parameter; they stand behind the others.
    draw : callable or None, default=None
        ``draw(summary, data_home)`` returns a matplotlib Figure; it imports matplotlib itself.
    needs_data : bool, default=False
        Whether `run` reads files in `data_home`.
    why : str, default=""
        One or two sentences on why numbers differ from the paper's where they do, as far as known.
    """

    name: str
    title: str
    procedure: str
    edition: int
    tasks: Callable[[bool], list[Task]]
    run: RunTask
    judge: Callable[[Summary], list[Verdict]]
    printed: tuple[Printed, ...] = ()
    derive: Callable[[Summary], list[SummaryRow]] | None = None
    draw: Callable[[Summary, Path | None], Figure] | None = None
    needs_data: bool = False
    why: str = ""


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper, and which entries make it again.

    Parameters
    ----------
    name : str
        As the paper counts it, such as "Table 1".
    about : str
        What it shows, in a phrase.
    entries : tuple of str
        Names of the entries; none for what has nothing to measure, such as a listing.
    rows : mapping of str to str, int or float, default={}
        What the settings of its numbers have in common, where an entry has those of other items
        too. Claims name their item themselves.
    """

    name: str
    about: str
    entries: tuple[str, ...]
    rows: Setting = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    """A paper and its entries.

    Parameters
    ----------
    name : str
        Name on the command line, such as "ccdr-2005".
    citation : str
        Authors, title, place and year.
    entries : tuple of Entry
        What is made again, in the paper's order.
    items : tuple of Item, default=()
        Every table and figure that the paper has, in its order.
    """

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
        raise InputError(f"{self.name} has no entry {name!r}: known are {known}.")


def _check_setting(setting: Setting) -> None:
    for name, value in setting.items():
        if not isinstance(value, str | int | float):
            raise TypeError(
                f"setting {name!r} is a {type(value).__name__}: give a str, int or float, which "
                "JSON can keep."
            )
