"""What LAPCLASS reads off its Figs. 2 and 3, judged on the rows of a summary.

A claim whose rows are missing, as in a quick run, is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from reproductions.entry import Judgement, Verdict, judge_readings
from reproductions.lapclass.names import (
    BEST_K,
    CHOSEN_K,
    CHOSEN_PENALTY,
    GEODESIC,
    LAPLACIAN,
    NEAREST,
    PAPERS_RULE,
    SPREADING,
)
from reproductions.summary import Summary, SummaryRow, judge_below, paired_difference
from reproductions.tables import format_difference, format_estimate, format_value

__all__ = ["Rows", "count_sizes", "judge_figure_2", "judge_order", "rows_by_labels"]

ALL = 60_000
NEARLY, PARTLY_NEARLY = 1.25, 1.5  # times as many errors
CLOSE = 0.01
MUCH = 0.7  # "improvements sometimes exceeding 70 %"

Rows = dict[int, SummaryRow]  # by the number of labels


def judge_figure_2(summary: Summary) -> list[Verdict]:
    """Judge section 5.1, and the rules that the paper does not measure."""
    sizes = sorted(int(size) for size in summary.values_of("points"))
    laplacian = {
        size: rows_by_labels(summary, points=size, rule=LAPLACIAN, choice=PAPERS_RULE)
        for size in sizes
    }
    nearest = {
        size: rows_by_labels(summary, points=size, rule=NEAREST, choice=BEST_K) for size in sizes
    }
    verdicts = [
        *compare_sizes(laplacian, "consistently improves"),
        *_almost_all_labeled(laplacian, nearest),
    ]
    if ALL in sizes:
        honest = rows_by_labels(summary, points=ALL, rule=NEAREST, choice=CHOSEN_K)
        chosen = rows_by_labels(summary, points=ALL, rule=LAPLACIAN, choice=CHOSEN_PENALTY)
        rules = laplacian[ALL], nearest[ALL]
        verdicts = [
            _nearly_as_good(*rules, honest, chosen),
            _slightly_better(*rules, honest, chosen),
            _improvement(*rules),
            *verdicts,
            *_compare_rules(summary, laplacian[ALL], chosen),
        ]
    return verdicts


def rows_by_labels(summary: Summary, **setting: str | int) -> Rows:
    """Return the error rows of a setting by their number of labels, in ascending order."""
    rows = {int(row.setting["labels"]): row for row in summary.rows_with("error", **setting)}
    return dict(sorted(rows.items()))


def judge_order(
    claim: str, paper: str, less: Rows, more: Rows, *, reading: str = "", why: str = ""
) -> Iterator[Verdict]:
    """Judge whether the first errs less than the second for all numbers of labels they share."""
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


def compare_sizes(laplacian: dict[int, Rows], paper: str) -> Iterator[Verdict]:
    """Judge for every size and the next smaller one whether more unlabelled points help."""
    for large, small in pairwise(sorted(laplacian, reverse=True)):
        yield from judge_order(
            "More unlabelled points help",
            paper,
            laplacian[large],
            laplacian[small],
            reading=f"{large:,} rather than {small:,} points",
            why="With 20 labels the rule takes 4 eigenvectors for 10 classes, which does not get "
            "better with more points.",
        )


def count_sizes(laplacian: dict[int, Rows], claim: str, paper: str) -> Iterator[Verdict]:
    """Judge whether more unlabelled points help in most comparisons of neighbouring sizes."""
    texts, gaps = [], []
    for large, small in pairwise(sorted(laplacian, reverse=True)):
        shared = [labels for labels in laplacian[large] if labels in laplacian[small]]
        rows = [(laplacian[large][labels], laplacian[small][labels]) for labels in shared]
        some = [paired_difference(*pair) for pair in rows]
        differences = "; ".join(
            f"{labels:,} labels {format_difference(gap)}"
            for labels, gap in zip(shared, some, strict=True)
        )
        texts.append(f"{large:,} minus {small:,} points: {differences}")
        gaps += some
    if not gaps:
        return
    n_better = sum(gap.high is not None and gap.high < 0 for gap in gaps)
    n_worse = sum(gap.low is not None and gap.low > 0 for gap in gaps)
    verdict: Judgement = "does not hold"
    if 2 * n_better > len(gaps):
        verdict = "holds"
    elif n_better > n_worse:
        verdict = "partly"
    counts = f"in {n_better} of {len(gaps)} cases, and they harm in {n_worse}"
    yield Verdict(claim, paper, f"{counts}. {'. '.join(texts)}", verdict)


def _compare_rules(summary: Summary, laplacian: Rows, chosen: Rows) -> Iterator[Verdict]:
    """Judge the rules that the paper does not measure."""
    yield from judge_order(
        "The Laplacian classifier errs less than the geodesic rule",
        "not in the paper, which calls the latter potentially unstable",
        laplacian,
        rows_by_labels(summary, points=ALL, rule=GEODESIC),
    )
    rivals = {"the paper's rule": laplacian}
    for alpha in ("α = 0.2", "α = 0.99"):
        rows = rows_by_labels(summary, points=ALL, rule=SPREADING, choice=alpha)
        rivals[f"LabelSpreading, {alpha}"] = rows
    for name, rows in rivals.items():
        yield from judge_order(
            f"With a chosen penalty it errs less than {name}", "not in the paper", chosen, rows
        )


def _nearly_as_good(laplacian: Rows, nearest: Rows, honest: Rows, chosen: Rows) -> Verdict:
    ours, theirs = laplacian[100].estimate.mean, nearest[5_000].estimate.mean
    factor = ours / theirs
    verdict: Judgement = "does not hold"
    if factor <= NEARLY:
        verdict = "holds"
    elif factor <= PARTLY_NEARLY:
        verdict = "partly"
    return Verdict(
        claim="With 100 labels the classifier does nearly as well as k-NN with 5,000",
        paper="nearly as well",
        found=f"{format_estimate(laplacian[100].estimate)} against "
        f"{format_estimate(nearest[5_000].estimate)} for the best k and "
        f"{format_estimate(honest[5_000].estimate)} for a chosen k: {factor:.2f} times the errors "
        f"of the best k; k-NN does as well with about {_labels_needed(nearest, ours)} labels"
        + _with_penalty(chosen, 100),
        verdict=verdict,
        why="The paper has curves and no numbers; up to a quarter more errors count as nearly as "
        "well. With a chosen penalty the classifier errs less than k-NN with 5,000 labels.",
    )


def _slightly_better(laplacian: Rows, nearest: Rows, honest: Rows, chosen: Rows) -> Verdict:
    gaps = [paired_difference(laplacian[500], rows[20_000]) for rows in (nearest, honest)]
    return Verdict(
        claim="With 500 labels it does slightly better than k-NN with 20,000",
        paper="slightly better",
        found=f"{format_estimate(laplacian[500].estimate)}; minus k-NN with the best k "
        f"({format_value(nearest[20_000].estimate.mean, 'share')}) {format_difference(gaps[0])}, "
        f"with a chosen k ({format_value(honest[20_000].estimate.mean, 'share')}) "
        f"{format_difference(gaps[1])}; k-NN does as well with about "
        f"{_labels_needed(nearest, laplacian[500].estimate.mean)} labels"
        + _with_penalty(chosen, 500),
        verdict=judge_below(gaps[0]),
        why="The paper has curves and no numbers. The two are within half a point of each other "
        "here, and nearly level with a chosen penalty.",
    )


def _improvement(laplacian: Rows, nearest: Rows) -> Verdict:
    gains = {
        labels: 1 - row.estimate.mean / nearest[labels].estimate.mean
        for labels, row in laplacian.items()
        if labels in nearest
    }
    best = max(gains.values())
    verdict: Judgement = (
        "holds" if best > MUCH else "partly" if best > MUCH - 0.05 else "does not hold"
    )
    return Verdict(
        claim="The errors are up to 70 % fewer than those of best k-NN with as many labels",
        paper="improvements are significant, sometimes exceeding 70 %",
        found="; ".join(f"{labels:,} labels {100 * gain:.0f} %" for labels, gain in gains.items()),
        verdict=verdict,
    )


def _almost_all_labeled(laplacian: dict[int, Rows], nearest: dict[int, Rows]) -> Iterator[Verdict]:
    for size, rows in laplacian.items():
        for labels in rows:
            if labels > size // 2 and labels in nearest[size]:
                gap = paired_difference(rows[labels], nearest[size][labels])
                yield Verdict(
                    claim="With almost all labelled it is close to k-NN",
                    reading=f"{labels:,} of {size:,}",
                    paper="close to that of k-NN",
                    found=f"{format_estimate(rows[labels].estimate)}, best k-NN "
                    f"{format_estimate(nearest[size][labels].estimate)}, {format_difference(gap)}",
                    verdict="holds" if abs(gap.mean) <= CLOSE else "does not hold",
                )


def _with_penalty(chosen: Rows, labels: int) -> str:
    if labels not in chosen:
        return ""
    return f". With a chosen penalty it errs by {format_estimate(chosen[labels].estimate)}"


def _labels_needed(rows: Rows, error: float) -> str:
    """Say with how many labels a curve reaches an error, straight between points on log axes."""
    points = [(math.log(labels), math.log(row.estimate.mean)) for labels, row in rows.items()]
    goal = math.log(error)
    for (x1, y1), (x2, y2) in pairwise(points):
        if y1 >= goal >= y2:
            x = x1 if y1 == y2 else x1 + (x2 - x1) * (y1 - goal) / (y1 - y2)
            return f"{float(f'{math.exp(x):.2g}'):,.0f}"
    return f"fewer than {min(rows):,}" if goal > points[0][1] else f"more than {max(rows):,}"
