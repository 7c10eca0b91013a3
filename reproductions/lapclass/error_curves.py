"""Errors against the number of labeled points, as in Figs. 2 and 3: rows, order and picture.

A claim whose rows are missing, as in a quick run, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from matplotlib.figure import Figure

from reproductions.curves import draw_curve, name_curves, new_figure
from reproductions.entry import Setting, Verdict, judge_readings
from reproductions.summary import Summary, SummaryRow, judge_below, paired_difference
from reproductions.tables import format_difference, format_value

Rows = dict[int, SummaryRow]  # by the number of labels
Style = tuple[Setting, str, str]  # a curve: the setting of its rows, its name and its color

LEAST = 0.1  # percent; a curve that ends without an error has no logarithm
ERRORS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100)
NUMBERS = (20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)


def rows_by_labels(summary: Summary, **setting: str | int | float) -> Rows:
    """Return the error rows of a setting by their number of labels, in ascending order."""
    rows = {int(row.setting["labels"]): row for row in summary.rows_with("error", **setting)}
    return dict(sorted(rows.items()))


def judge_order(
    claim: str, paper: str, less: Rows, more: Rows, *, reading: str = "", why: str = ""
) -> Iterator[Verdict]:
    """Judge whether the first has smaller errors than the second at all shared label counts."""
    shared = [labels for labels in less if labels in more]
    if not shared:
        return
    gaps = {labels: paired_difference(less[labels], more[labels]) for labels in shared}
    texts = [
        f"{labels:,} labels {format_value(less[labels].estimate.mean, 'share')} against "
        f"{format_value(more[labels].estimate.mean, 'share')}, {format_difference(gap)}"
        for labels, gap in gaps.items()
    ]
    verdict = judge_readings([judge_below(gap) for gap in gaps.values()])
    yield Verdict(claim, paper, "; ".join(texts), verdict, reading=reading, why=why)


def draw_panels(summary: Summary, panels: Mapping[str, Sequence[Style]]) -> Figure:
    """Draw panels by their titles, on logarithmic scales; curves without rows are left out."""
    figure = new_figure(len(panels), width=7.6, height=5.6)
    errors = []
    for ax, (title, styles) in zip(figure.axes, panels.items(), strict=True):
        ax.set(xlabel="labeled points", ylabel="error on unlabeled points, %")
        ax.set(xscale="log", yscale="log")
        ax.minorticks_off()
        ax.set_title(title, fontsize=12)
        for setting, name, color in styles:
            rows = list(rows_by_labels(summary, **setting).values())
            if rows:
                draw_curve(ax, rows, "labels", name=name, color=color)
            errors += [max(100 * row.estimate.mean, LEAST) for row in rows]
    low, high = min(errors) / 1.1, max(errors) * 1.1
    for ax in figure.axes:
        ax.set_ylim(low, high)
        shown = [error for error in ERRORS if low <= error <= high]
        ax.set_yticks(shown, [str(error) for error in shown])
        left, right = ax.get_xlim()
        shown = [number for number in NUMBERS if left <= number <= right]
        ax.set_xticks(shown, [f"{number:,}" for number in shown])
        name_curves(ax)
    return figure
