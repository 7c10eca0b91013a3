"""What ISM concludes from its MAGIC tables, and what ours say to that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import spearmanr

from reproductions.entry import OF_THE_TEXT, Judgement, Setting, Verdict
from reproductions.ism.magic import (
    BEST_CASE,
    DISTANCE_ERROR,
    HARD,
    QUANTILE,
    RAW,
    SOFT,
    STANDARDISED,
    WRONG_SIDE,
    best_case,
    rows_of,
)
from reproductions.summary import Summary, SummaryRow
from reproductions.tables import format_estimate

__all__ = [
    "judge_dimension",
    "judge_kernels",
    "judge_linear",
    "judge_machines",
    "judge_neighbors",
    "judge_training",
    "judge_unfolding",
]

CLEAR, SLIGHT = 0.5, 0.2  # of a rank correlation
SOURCES = {HARD: "text, section 5", SOFT: "not in the paper, whose labels are hard"}


def judge_machines(summary: Summary, of_map: float, of_machine: float, why: str) -> list[Verdict]:
    """Judge maps against support vector machines, as the paper's tables do and honestly.

    Parameters
    ----------
    summary : Summary
        The results.
    of_map, of_machine : float
        The best scores that the paper prints.
    why : str
        Why the paper's order does not come out, if it does not.
    """
    verdicts = []
    grid = best_case(rows_of(summary, part="grid", labels=HARD))
    machine = best_case(rows_of(summary, part="machines", choice=BEST_CASE, features=RAW))
    if grid is not None and machine is not None:
        is_above = of_map > of_machine
        claim = f"The best map scores {'more' if is_above else 'less'} than the best machine"
        paper = f"{100 * of_map:.2f} % against {100 * of_machine:.2f} %, both best cases"
        verdict = _compare(f"{claim}, raw features", paper, grid, machine, is_above=is_above)
        verdicts.append(replace(verdict, why=why))
    soft = best_case(rows_of(summary, part="grid", labels=SOFT))
    machine = best_case(rows_of(summary, part="machines", choice=BEST_CASE))
    if soft is not None and machine is not None:
        claim = "The best soft map scores more than the best machine, any features"
        verdicts.append(_compare(claim, "not in the paper", soft, machine))
    chosen = best_case(rows_of(summary, part="chosen"))
    for features in (STANDARDISED, QUANTILE):
        rows = rows_of(summary, part="machine chosen", features=features, kernel="Gaussian")
        if chosen is not None and rows:
            claim = (
                f"Cross-validated, a map scores more than a Gaussian machine on {features} features"
            )
            verdicts.append(_compare(claim, "not in the paper", chosen, rows[0]))
    return verdicts


def judge_kernels(summary: Summary, item: str) -> list[Verdict]:
    """Judge whether Gaussian machines are the best, on the paper's features and on any."""
    verdicts = []
    readings: tuple[tuple[str, Setting, str], ...] = (
        (
            "raw features",
            {"features": RAW},
            "The scales of the raw columns differ by orders of magnitude, so that to a Gaussian of "
            "the paper's widths no two rows are near, and it answers the larger class for nearly "
            "all. The paper says nothing of scaling.",
        ),
        (
            "any features",
            {},
            "With columns brought to one scale, all kinds of machines score about as much with "
            "50 labels.",
        ),
    )
    for reading, features, why in readings:
        rows = rows_of(summary, part="machines", choice=BEST_CASE, **features)
        gaussian = best_case([row for row in rows if row.setting["kernel"] == "Gaussian"])
        other = best_case([row for row in rows if row.setting["kernel"] != "Gaussian"])
        if gaussian is None or other is None:
            continue
        is_best = gaussian.estimate.mean > other.estimate.mean
        verdicts.append(
            Verdict(
                claim="Of the machines, Gaussian ones score most",
                paper="text, section 5",
                found=f"{format_estimate(gaussian.estimate)} ({_describe(gaussian)}), others "
                f"{format_estimate(other.estimate)} ({_describe(other)})",
                verdict="holds" if is_best else "does not hold",
                reading=reading,
                item=item,
                why=why,
            )
        )
    return verdicts


def judge_training(summary: Summary) -> list[Verdict]:
    """Judge whether no labelled point is on the wrong side."""
    rows = summary.rows_with(WRONG_SIDE, part="grid", labels=HARD)
    if not rows:
        return []
    worst = max(max(row.values.values()) for row in rows)
    return [
        Verdict(
            claim="Labelled points all lie on their sides",
            paper="always zero training error, section 3",
            found=f"at most {100 * worst:.2g} % on the wrong side, over {len(rows)} cells",
            verdict="holds" if worst == 0 else "does not hold",
            item=OF_THE_TEXT,
        )
    ]


def judge_linear(summary: Summary, why: str) -> list[Verdict]:
    """Judge whether every map is better than the linear machine.

    The polynomial of degree 1 is linear too, and trains on raw features, where the linear kernel
    exhausts its steps.
    """
    verdicts = []
    for labels, features in ((HARD, RAW), (SOFT, QUANTILE)):
        cells = rows_of(summary, part="grid", labels=labels)
        machines = rows_of(summary, part="machines", features=features, choice=BEST_CASE)
        linear = best_case([row for row in machines if _is_linear(row)])
        if not cells or linear is None:
            continue
        better = float(np.mean([row.estimate.mean > linear.estimate.mean for row in cells]))
        verdict: Judgement = (
            "holds" if better == 1 else "partly" if better > 0.5 else "does not hold"
        )
        verdicts.append(
            Verdict(
                claim=f"ISM is always better than the linear machine ({labels} labels)",
                paper=SOURCES[labels],
                found=f"{100 * better:.0f} % of {len(cells)} cells are above the linear machine's "
                f"best case, {format_estimate(linear.estimate)} ({_describe(linear)})",
                verdict=verdict,
                why=why,
            )
        )
    return verdicts


def judge_dimension(summary: Summary) -> list[Verdict]:
    """Judge whether scores grow with the dimension."""
    return _judge_growth(summary, "dimension", "The score grows with the dimension")


def judge_neighbors(summary: Summary) -> list[Verdict]:
    """Judge whether scores grow with the neighbours."""
    return _judge_growth(summary, "neighbors", "The score grows with the neighbours k")


def judge_unfolding(summary: Summary) -> list[Verdict]:
    """Judge whether unfolding in 5 dimensions keeps distances."""
    rows = summary.rows_with(DISTANCE_ERROR, part="unfolded")
    if not rows:
        return []
    error = rows[0].estimate.mean
    return [
        Verdict(
            claim="MVU reduces MAGIC to 5 dimensions",
            paper="text, section 5, of the whole data set",
            found=f"rank 5, 5 neighbours: squared distances kept to {error:.2g} %",
            verdict="holds" if error <= 1 else "partly" if error <= 5 else "does not hold",
            item=OF_THE_TEXT,
        )
    ]


def _judge_growth(summary: Summary, name: str, claim: str) -> list[Verdict]:
    verdicts = []
    for labels in (HARD, SOFT):
        cells = rows_of(summary, part="grid", labels=labels)
        if len({row.setting[name] for row in cells}) < 3:
            continue
        scores = [row.estimate.mean for row in cells]
        values = [float(row.setting[name]) for row in cells]
        printed = [
            row.printed.value
            for row in cells
            if row.printed is not None and row.printed.value is not None
        ]
        found = float(spearmanr(values, scores).statistic)
        of_paper = ""
        if len(printed) == len(cells):
            of_paper = f" (in the paper's table {spearmanr(values, printed).statistic:.2f})"
        verdict: Judgement = "partly" if found >= SLIGHT else "does not hold"
        verdicts.append(
            Verdict(
                claim=f"{claim} ({labels} labels)",
                paper=SOURCES[labels],
                found=f"rank correlation {found:.2f} over {len(cells)} cells{of_paper}; scores "
                f"from {100 * min(scores):.1f} to {100 * max(scores):.1f} %",
                verdict="holds" if found >= CLEAR else verdict,
                why="In the paper's own table scores do not clearly follow it either.",
            )
        )
    return verdicts


def _is_linear(row: SummaryRow) -> bool:
    kernel, degree = row.setting["kernel"], row.setting["parameter"]
    return kernel == "linear" or (kernel == "polynomial" and degree == 1)


def _compare(
    claim: str, paper: str, first: SummaryRow, second: SummaryRow, *, is_above: bool = True
) -> Verdict:
    agrees = (first.estimate.mean > second.estimate.mean) == is_above
    return Verdict(
        claim=claim,
        paper=paper,
        found=f"map {format_estimate(first.estimate)} ({_describe(first)}), machine "
        f"{format_estimate(second.estimate)} ({_describe(second)})",
        verdict="holds" if agrees else "does not hold",
    )


def _describe(row: SummaryRow) -> str:
    hidden = ("part", "labels", "choice")
    return ", ".join(f"{name} {value}" for name, value in row.setting.items() if name not in hidden)
