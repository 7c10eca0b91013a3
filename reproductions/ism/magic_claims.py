"""What ISM concludes from its MAGIC tables, checked on ours, and their picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from reproductions.curves import OKABE_ITO, new_figure
from reproductions.entry import OF_THE_TEXT, Setting, Verdict, judge_if
from reproductions.ism import magic
from reproductions.ism.magic import BEST_CASE, HARD, MAPS, QUANTILE, RAW, SOFT, STANDARDIZED
from reproductions.summary import Summary, SummaryRow
from reproductions.tables import format_estimate

CLEAR, SLIGHT = 0.5, 0.2  # of a rank correlation
SOURCES = {HARD: "text, section 5", SOFT: "not in the paper, whose labels are hard"}
KERNELS = ("linear", "Gaussian", "polynomial")
COLORS = {RAW: OKABE_ITO[0], STANDARDIZED: OKABE_ITO[2], QUANTILE: OKABE_ITO[5]}


def judge(
    summary: Summary, *, items: tuple[str, str], printed: tuple[float, float], why: str
) -> list[Verdict]:
    """Judge what the paper concludes from a table of maps and one of machines, as far as run.

    `printed` has the best scores of both, and `why` says why their order is not reproduced.
    """
    of_maps = [
        *_judge_machines(summary, *printed, why),
        *_judge_linear(summary, why),
        *_judge_growth(summary, "dimension", "The score grows with the dimension"),
        *_judge_growth(summary, "neighbors", "The score grows with the neighbors k"),
    ]
    return [
        *(replace(verdict, item=items[0]) for verdict in of_maps),
        *(replace(verdict, item=items[1]) for verdict in _judge_kernels(summary)),
        *(replace(verdict, item=OF_THE_TEXT) for verdict in _judge_text(summary)),
    ]


def _judge_machines(summary: Summary, of_map: float, of_machine: float, why: str) -> list[Verdict]:
    """Judge maps against support vector machines, as in the paper's tables and cross-validated."""
    is_above = of_map > of_machine
    word = "more" if is_above else "less"
    verdict = _compare(
        f"The best map scores {word} than the best machine, raw features",
        _best(summary, part="grid", labels=HARD),
        _best(summary, part="machines", choice=BEST_CASE, features=RAW),
        is_above=is_above,
    )
    paper = f"{100 * of_map:.2f} % against {100 * of_machine:.2f} %, both best cases"
    verdicts = [replace(one, paper=paper, why=why) for one in verdict]
    verdicts += _compare(
        "The best soft map scores more than the best machine, any features",
        _best(summary, part="grid", labels=SOFT),
        _best(summary, part="machines", choice=BEST_CASE),
    )
    for features in (STANDARDIZED, QUANTILE):
        claim = "Cross-validated, a map scores more than a Gaussian machine on"
        verdicts += _compare(
            f"{claim} {features} features",
            _best(summary, part="chosen"),
            _best(summary, part="machine chosen", features=features, kernel="Gaussian"),
        )
    return verdicts


def _compare(
    claim: str, first: SummaryRow | None, second: SummaryRow | None, *, is_above: bool = True
) -> list[Verdict]:
    """Judge whether a map scores more than a machine, or less, if both were run."""
    if first is None or second is None:
        return []
    agrees = (first.estimate.mean > second.estimate.mean) == is_above
    found = f"map {_describe(first)}, machine {_describe(second)}"
    return [Verdict(claim, "not in the paper", found, judge_if(agrees))]


def _judge_kernels(summary: Summary) -> Iterator[Verdict]:
    """Judge whether Gaussian machines are the best, on the paper's features and on any."""
    readings: tuple[tuple[str, Setting, str], ...] = (
        (
            "raw features",
            {"features": RAW},
            "The scales of the raw columns differ by orders of magnitude, so to a Gaussian of "
            "the paper's widths no two rows are near, and it predicts the larger class for "
            "nearly all. The paper does not mention scaling.",
        ),
        (
            "any features",
            {},
            "With columns on one scale, all kinds of machines score about the same with 50 labels.",
        ),
    )
    for reading, features, why in readings:
        gaussian, *others = (
            _best(summary, part="machines", choice=BEST_CASE, kernel=kernel, **features)
            for kernel in ("Gaussian", "linear", "polynomial")
        )
        other = _highest([row for row in others if row is not None])
        if gaussian is None or other is None:
            continue
        is_best = gaussian.estimate.mean > other.estimate.mean
        yield Verdict(
            claim="Of the machines, Gaussian ones score most",
            paper="text, section 5",
            found=f"{_describe(gaussian)}, others {_describe(other)}",
            verdict=judge_if(is_best),
            reading=reading,
            why=why,
        )


def _judge_linear(summary: Summary, why: str) -> Iterator[Verdict]:
    """Judge whether every map is better than the linear machine, by either of its kernels."""
    for labels, features in MAPS.items():
        cells = _scores(summary, part="grid", labels=labels)
        common: Setting = {"part": "machines", "features": features, "choice": BEST_CASE}
        # A polynomial of degree 1 trains where the linear kernel exhausts its steps.
        linear = _highest(
            _scores(summary, kernel="linear", **common)
            + _scores(summary, kernel="polynomial", parameter=1.0, **common)
        )
        if not cells or linear is None:
            continue
        better = float(np.mean([row.estimate.mean > linear.estimate.mean for row in cells]))
        yield Verdict(
            claim=f"ISM is always better than the linear machine ({labels} labels)",
            paper=SOURCES[labels],
            found=f"{100 * better:.0f} % of {len(cells)} cells are above the linear machine's "
            f"best case, {_describe(linear)}",
            verdict=judge_if(better == 1, better > 0.5),
            why=why,
        )


def _judge_growth(summary: Summary, name: str, claim: str) -> Iterator[Verdict]:
    for labels in MAPS:
        cells = _scores(summary, part="grid", labels=labels)
        if len({row.setting[name] for row in cells}) < 3:
            continue
        scores = [row.estimate.mean for row in cells]
        values = [float(row.setting[name]) for row in cells]
        found = float(spearmanr(values, scores).statistic)
        printed = [row.printed.value for row in cells if row.printed and row.printed.value]
        of_paper = ""
        if len(printed) == len(cells):
            of_paper = f" (in the paper's table {spearmanr(values, printed).statistic:.2f})"
        yield Verdict(
            claim=f"{claim} ({labels} labels)",
            paper=SOURCES[labels],
            found=f"rank correlation {found:.2f} over {len(cells)} cells{of_paper}; scores "
            f"from {100 * min(scores):.1f} to {100 * max(scores):.1f} %",
            verdict=judge_if(found >= CLEAR, partly=found >= SLIGHT),
            why="In the paper's own table scores do not clearly follow it either.",
        )


def _judge_text(summary: Summary) -> Iterator[Verdict]:
    """Judge what the text says about training, one neighbor, unfolding and K as a kernel."""
    if sides := summary.rows_with(magic.WRONG_SIDE, part="grid", labels=HARD):
        worst = max(max(row.values.values()) for row in sides)
        yield Verdict(
            claim="Labeled points all lie on their sides",
            paper="always zero training error, section 3",
            found=f"at most {100 * worst:.2g} % on the wrong side, over {len(sides)} cells",
            verdict=judge_if(worst == 0),
        )
    for row in summary.rows_with(magic.DISTANCE_ERROR, part="one neighbor"):
        error = max(row.values.values())
        worst = max(summary.row(magic.WRONG_SIDE, part="one neighbor").values.values())
        yield Verdict(
            claim="With one neighbor a map that separates always exists",
            paper="text, section 3",
            found=f"all 1,000 labeled: {100 * worst:.2g} % on the wrong side, squared distances "
            f"kept to {error:.2g} % in the worst draw",
            verdict=judge_if(worst == 0 and error <= 0.1),
        )
    for row in summary.rows_with(magic.DISTANCE_ERROR, part="unfolded"):
        error = row.estimate.mean
        yield Verdict(
            claim="MVU reduces MAGIC to 5 dimensions",
            paper="text, section 5, of the whole data set",
            found=f"rank 5, 5 neighbors: squared distances kept to {error:.2g} %",
            verdict=judge_if(error <= 1, error <= 5),
        )
    if rows := _scores(summary, part="kernel"):
        scores = {row.setting["method"]: row.estimate for row in rows}
        machine, side = scores["K as kernel"], scores["side of the map"]
        listed = {"K as kernel": machine, "side of the map": side, "ridge": scores["ridge"]}
        is_close = bool(np.isclose(machine.mean, side.mean, atol=0.02))
        yield Verdict(
            claim="The learned K serves as the kernel of a support vector machine",
            paper="abstract",
            found="; ".join(f"{name} {format_estimate(score)}" for name, score in listed.items()),
            verdict=judge_if(machine.mean >= side.mean or is_close),
        )


def _scores(summary: Summary, **setting: str | int | float) -> list[SummaryRow]:
    return summary.rows_with(magic.SCORE, **setting)


def _best(summary: Summary, **setting: str | int | float) -> SummaryRow | None:
    """Return the row of the highest mean score: the paper's reading of a table."""
    return _highest(_scores(summary, **setting))


def _highest(rows: Sequence[SummaryRow]) -> SummaryRow | None:
    return max(rows, key=lambda row: row.estimate.mean, default=None)


def _describe(row: SummaryRow) -> str:
    hidden = ("part", "labels", "choice")
    facts = [f"{name} {value}" for name, value in row.setting.items() if name not in hidden]
    return f"{format_estimate(row.estimate)} ({', '.join(facts)})"


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw maps on the left and machines on the right, on one scale; the paper as diamonds."""
    figure = new_figure(2, width=7.0)
    maps, machines = figure.axes
    machines.sharey(maps)
    _draw_maps(maps, summary)
    _draw_machines(machines, summary)
    maps.set_ylabel("score on unlabeled rows, %")
    for ax in figure.axes:
        ax.legend(frameon=False, loc="lower right", fontsize=9)
    return figure


def _draw_maps(ax: Axes, summary: Summary) -> None:
    names: list[str] = []
    for labels, features in MAPS.items():
        rows = _scores(summary, part="grid", labels=labels)
        names = [f"{row.setting['neighbors']}, {row.setting['dimension']}" for row in rows]
        for place, row in enumerate(rows):
            title = f"{labels} labels, {features} features" if place == 0 else ""
            _draw_row(ax, place, row, COLORS[features], title)
    for row in _scores(summary, part="chosen"):
        _draw_row(ax, len(names), row, COLORS[QUANTILE], "", marker="s")
        names.append("chosen")
    ax.set_xticks(range(len(names)), names, rotation=60, ha="right")
    ax.set_xlabel("neighbors, dimension; chosen by cross-validation")
    ax.set_title("Separation maps; diamonds: the paper", fontsize=11)


def _draw_machines(ax: Axes, summary: Summary) -> None:
    for shift, (features, color) in enumerate(COLORS.items()):
        for place, kernel in enumerate(KERNELS):
            at = place + 0.25 * (shift - 1)
            own = {"features": features, "kernel": kernel}
            best = _best(summary, part="machines", choice=BEST_CASE, **own)
            if best is not None:
                _draw_row(ax, at, best, color, f"{features}, best case" if place == 0 else "")
            for row in _scores(summary, part="machine chosen", **own):
                title = f"{features}, cross-validated" if kernel == "Gaussian" else ""
                _draw_row(ax, at + 0.08, row, color, title, marker="s")
    ax.set_xticks(range(len(KERNELS)), KERNELS)
    ax.set_xlabel("kernel, best parameter")
    ax.set_title("Support vector machines", fontsize=11)


def _draw_row(
    ax: Axes, place: float, row: SummaryRow, color: str, title: str, marker: str = "o"
) -> None:
    ends = [100 * end for end in row.estimate.ends]
    ax.plot([place, place], ends, color=color, linewidth=4, alpha=0.3)
    ax.plot(place, 100 * row.estimate.mean, marker, color=color, label=title or None)
    if row.printed is not None and row.printed.value is not None:
        ax.plot(place, 100 * row.printed.value, "kD", fillstyle="none")
