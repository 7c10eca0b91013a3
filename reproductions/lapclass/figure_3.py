"""LAPCLASS Fig. 3: errors on 20 Newsgroups against the number of labeled articles."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from labelfold.exceptions import HubnessWarning
from labelfold.graph import NeighborGraph
from reproductions.curves import OKABE_ITO
from reproductions.data import load_newsgroups_vectorized
from reproductions.entry import (
    OF_THE_TEXT,
    Entry,
    Measurement,
    Printed,
    Setting,
    Task,
    Verdict,
    judge_if,
)
from reproductions.lapclass import rules
from reproductions.lapclass.error_curves import Rows, draw_panels, judge_order, rows_by_labels
from reproductions.lapclass.nearest import measure_nearest
from reproductions.lapclass.points import Points, n_draws
from reproductions.lapclass.rules import BEST_K, LAPLACIAN, NEAREST, PAPERS_RULE
from reproductions.summary import Summary, paired_difference
from reproductions.tables import format_difference

ALL = 19_927  # articles that the loader leaves
SIZES = (ALL, 2_000, 600)
EUCLIDEAN, COSINE = METRICS = ("euclidean", "cosine")
LABELS = (50, 100, 500, 1_000, 5_000, 10_000)
LIST_LENGTH = 1_000
N_PRINTED = 19_935
AS_PRINTED: Setting = {"metric": EUCLIDEAN, "points": ALL, "rule": LAPLACIAN}
VERY_FEW = (50, 100)
SMALL = 0.05  # difference of errors

N_ARTICLES = "articles that the data set has"
NEARLY_ALL = 0.001  # of the articles that may be more or fewer
HUB, SKEWNESS, ANTIHUBS = (
    "articles that have the hub among their 8 nearest",
    "skewness of the occurrences",
    "articles that are among nobody's 8 nearest",
)

PROCEDURE = """
20 Newsgroups without headers, as frequencies of 6,000 words that sum to 1 (see
`load_newsgroups_vectorized`); all articles, and random subsets of 2,000 and 600 of them, different
in every draw. Everything else as for Fig. 2: 8 neighbors, binary weights, unnormalized Laplacian,
as many eigenvectors as 20 % of the labeled points; 20 draws, 10 from 9,000 labels on, with the same
labeled articles in the small sets as in the large ones. The baseline, "best k", is the k from 1 to
10 with the least mean error: a best case; "k by leave-one-out" is chosen on the labeled articles.

Distances are Euclidean as in the paper, and cosine, which the paper does not try. Frequencies of a
short article are large and those of a long one small, so in Euclidean distance every article is
near the longest ones: hubs. The rows on occurrences show how bad that is. More articles "help" if
the 80 % interval of the difference, draw by draw, is below zero. "Differences are small" means 5
percentage points.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each distance, set of articles and rule; its draws share work."""
    return [
        Task({"metric": metric, "points": size, "rule": rule})
        for metric in METRICS
        for size in SIZES
        for rule in (LAPLACIAN, NEAREST)
        if size == SIZES[-1] or not quick
    ]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Measure the errors of one rule for all numbers of labels."""
    metric, size = str(task.setting["metric"]), int(task.setting["points"])
    numbers = tuple(number for number in LABELS if number < size)
    samples = newsgroups(data_home).samples(size, n_draws(min(numbers)))
    if task.setting["rule"] == NEAREST:
        return measure_nearest(samples, numbers, metric=metric, length=LIST_LENGTH, setting={})
    measurements = []
    n_left = newsgroups(data_home).X.shape[0]
    for sample in samples:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HubnessWarning)  # separate rows describe hubs
            graph = rules.make_model(metric=metric).build_graph(sample.X)
        measurements += _describe(graph, n_left, draw=min(sample.orders))
        measurements += rules.measure_laplacian(sample, graph, numbers, setting={})
    return measurements


@lru_cache(maxsize=1)
def newsgroups(data_home: Path | None) -> Points:
    """Return all articles, their groups as numbers."""
    X, groups, _, _ = load_newsgroups_vectorized(data_home=data_home)
    return Points(X, np.unique(groups, return_inverse=True)[1], shared=max(SIZES[1:]), group=1)


def judge(summary: Summary) -> list[Verdict]:
    """Judge section 5.2 for both distances."""
    verdicts = _judge_articles(summary)
    sizes = sorted((int(size) for size in summary.values_of("points")), reverse=True)
    by_metric = {}
    for metric in METRICS:
        curve = partial(rows_by_labels, summary, metric=metric)
        laplacian = {n: curve(points=n, rule=LAPLACIAN, choice=PAPERS_RULE) for n in sizes}
        by_metric[metric] = laplacian[sizes[0]]
        verdicts += _count_sizes(laplacian, metric)
        verdicts += _judge_few(laplacian, metric)
        verdicts += judge_order(
            f"The Laplacian classifier has a smaller error than best k-NN ({metric})",
            _source("picture only", metric),
            laplacian[sizes[0]],
            curve(points=sizes[0], rule=NEAREST, choice=BEST_K),
        )
    verdicts += judge_order(
        "The Laplacian classifier has a smaller error with cosine than with Euclidean distances",
        "not in the paper",
        by_metric[COSINE],
        by_metric[EUCLIDEAN],
    )
    return verdicts


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the paper's curves for both distances."""
    blue, _, green, _, sky, vermillion, _, _ = OKABE_ITO
    sizes = sorted((int(size) for size in summary.values_of("points")), reverse=True)
    panels = {}
    for metric in METRICS:
        paper: Setting = {"metric": metric, "rule": LAPLACIAN, "choice": PAPERS_RULE}
        best: Setting = {"metric": metric, "points": sizes[0], "rule": NEAREST, "choice": BEST_K}
        hub = summary.row(HUB, metric=metric, points=sizes[0]).estimate.mean
        panels[f"{metric.capitalize()} distance; its hub is near to {hub:,.0f} articles"] = [
            *(
                ({**paper, "points": size}, f"{size:,} articles", color)
                for size, color in zip(sizes, (blue, green, sky), strict=False)
            ),
            (best, "best k-NN", vermillion),
        ]
    return draw_panels(summary, panels)


def _describe(graph: NeighborGraph, n_left: int, *, draw: int) -> list[Measurement]:
    """Return how many articles there are, and how unevenly they are among the nearest of others."""
    statistics = graph.statistics
    return [
        Measurement(n_left, measure=N_ARTICLES, unit="choice", draw=draw),
        Measurement(statistics.largest_occurrence, measure=HUB, unit="number", draw=draw),
        Measurement(statistics.occurrence_skewness, measure=SKEWNESS, unit="number", draw=draw),
        Measurement(statistics.share_of_antihubs, measure=ANTIHUBS, draw=draw),
    ]


WHY = "The paper's list of 500 words is not printed, so a few articles more or fewer are left."


def _judge_articles(summary: Summary) -> list[Verdict]:
    rows = summary.rows_with(N_ARTICLES, points=ALL)
    if not rows:
        return []
    n = round(rows[0].estimate.mean)
    return [
        Verdict(
            claim=f"{N_PRINTED:,} articles are left",
            paper=f"{N_PRINTED:,}",
            found=f"{n:,}; the paper's list of 500 words is not printed",
            verdict=judge_if(n == N_PRINTED, abs(n - N_PRINTED) <= NEARLY_ALL * N_PRINTED),
            item=OF_THE_TEXT,
            why=WHY,
        )
    ]


def _judge_few(laplacian: dict[int, Rows], metric: str) -> list[Verdict]:
    """Judge whether errors on different numbers of articles are similar with very few labels."""
    if len(laplacian) == 1:
        return []
    spreads = {}
    for labels in VERY_FEW:
        errors = [rows[labels].estimate.mean for rows in laplacian.values() if labels in rows]
        spreads[labels] = max(errors) - min(errors)
    return [
        Verdict(
            claim=f"With very few labels the differences between the sizes are small ({metric})",
            paper=_source("small", metric),
            found="; ".join(
                f"{labels} labels: {100 * spread:.2f} points between the largest and the least"
                for labels, spread in spreads.items()
            ),
            verdict=judge_if(max(spreads.values()) <= SMALL, min(spreads.values()) <= SMALL),
        )
    ]


def _source(text: str, metric: str) -> str:
    """Say what the paper has, which is Euclidean distances only."""
    return text if metric == EUCLIDEAN else f"not in the paper; Euclidean: {text}"


def _count_sizes(laplacian: dict[int, Rows], metric: str) -> Iterator[Verdict]:
    """Judge whether more unlabeled points help in most comparisons of neighboring sizes."""
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
    counts = f"in {n_better} of {len(gaps)} cases, and they harm in {n_worse}"
    yield Verdict(
        claim=f"More unlabeled articles help in most cases ({metric})",
        paper=_source("in most cases", metric),
        found=f"{counts}. {'. '.join(texts)}",
        verdict=judge_if(2 * n_better > len(gaps), n_better > n_worse),
    )


FIGURE_3 = Entry(
    name="figure-3",
    title="Errors on 20 Newsgroups against the number of labeled articles",
    procedure=PROCEDURE,
    edition=2,
    tasks=list_tasks,
    run=run,
    judge=judge,
    printed=(Printed(N_PRINTED, AS_PRINTED, N_ARTICLES, goal="equal"),),
    draw=draw,
    needs_data=True,
    why=WHY,
)
