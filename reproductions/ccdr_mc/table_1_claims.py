"""What CCDR-MC concludes from its Table I, and what we add: CCDR beside LDA and MFA.

The paper's conclusions are judged on the features it has, raw, PCA and CCDR. It has no figures for
LDA and marginal Fisher analysis, so what is said of them is nobody's claim but ours.
"""

from __future__ import annotations

from reproductions.ccdr_mc.names import (
    CCDR_MAP,
    CLASSIFIERS,
    NEAREST,
    OF_THE_PAPER,
    PRINTED,
    RAW,
    REVIEWED,
)
from reproductions.ccdr_mc.searches import BEST_CASE, CROSS_VALIDATED
from reproductions.entry import Judgement, Verdict, judge_all
from reproductions.summary import Summary
from reproductions.tables import format_value

__all__ = ["judge_table_1"]


def judge_table_1(summary: Summary) -> list[Verdict]:
    """Judge what the paper concludes from its table, then our own comparisons."""
    verdicts = []
    for choice in (BEST_CASE, CROSS_VALIDATED):
        for classifier in CLASSIFIERS:
            verdicts += _judge_benefit(summary, classifier, choice)
        verdicts += _judge_tenth(summary, choice)
    for choice in (BEST_CASE, CROSS_VALIDATED):
        for classifier in CLASSIFIERS:
            verdicts += _judge_rivals(summary, classifier, choice)
    return verdicts


def _judge_benefit(summary: Summary, classifier: str, choice: str) -> list[Verdict]:
    errors = _errors(summary, OF_THE_PAPER, classifier, choice)
    if len(errors) < len(OF_THE_PAPER):
        return []
    place = CLASSIFIERS.index(classifier)
    others = min(error for name, error in errors.items() if name != CCDR_MAP)
    return [
        Verdict(
            claim=f"CCDR makes the {classifier} classifier err less ({choice})",
            paper=_source(
                ", ".join(f"{name} {100 * PRINTED[name][place]:g} %" for name in OF_THE_PAPER),
                choice,
            ),
            found=_list(errors),
            verdict="holds" if errors[CCDR_MAP] < others else "does not hold",
        )
    ]


def _judge_tenth(summary: Summary, choice: str) -> list[Verdict]:
    errors = _errors(summary, (RAW, CCDR_MAP), NEAREST, choice)
    if len(errors) < 2:
        return []
    raw, ccdr = errors[RAW], errors[CCDR_MAP]
    gain = 1 - ccdr / raw
    verdict: Judgement = "holds" if gain >= 0.1 else "partly" if gain > 0 else "does not hold"
    return [
        Verdict(
            claim=f"CCDR lowers the error of k-NN by a tenth ({choice})",
            paper=_source("10 %", choice),
            found=f"{100 * gain:.0f} %, from {_percent(raw)} to {_percent(ccdr)}",
            verdict=verdict,
        )
    ]


def _judge_rivals(summary: Summary, classifier: str, choice: str) -> list[Verdict]:
    """Compare CCDR with the maps that the paper reviews and does not measure."""
    errors = _errors(summary, (*REVIEWED, CCDR_MAP), classifier, choice)
    if len(errors) < len(REVIEWED) + 1:
        return []
    ccdr, others = errors[CCDR_MAP], f"on {', '.join(REVIEWED)}"
    return [
        Verdict(
            claim=f"Ours: the {classifier} classifier errs less on CCDR than {others} ({choice})",
            paper="not in the paper",
            found=_list(errors),
            verdict=judge_all([ccdr < errors[name] for name in REVIEWED]),
        )
    ]


def _source(printed: str, choice: str) -> str:
    """Say what the paper has, which is best cases only."""
    return printed if choice == BEST_CASE else f"not in the paper; best case {printed}"


def _errors(
    summary: Summary, features: tuple[str, ...], classifier: str, choice: str
) -> dict[str, float]:
    """Return the errors of the features that were run."""
    errors = {}
    for name in features:
        for row in summary.rows_with(features=name, classifier=classifier, choice=choice):
            errors[name] = row.estimate.mean
    return errors


def _list(errors: dict[str, float]) -> str:
    return ", ".join(f"{name} {_percent(error)}" for name, error in errors.items())


def _percent(error: float) -> str:
    return format_value(error, "share")
