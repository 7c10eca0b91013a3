"""What CCDR-MC reads off its Figs. 2 to 4, judged on the rows of a summary.

Claims are about maps that the test rows are part of, on the data set's own split; the mean over
random splits stands beside.
"""

from __future__ import annotations

from labelfold.reproduce.entry import Judgement, Verdict
from labelfold.reproduce.summary import Summary, SummaryRow
from labelfold.reproduce.tables import format_value

__all__ = ["judge_figure_2", "judge_figure_3", "judge_figure_4"]

SAME = (
    0.005  # errors that differ by no more count as constant: one binomial standard error is 0.0065
)
TRAINING = "error on training rows"


def judge_figure_2(summary: Summary) -> list[Verdict]:
    """Judge section V.C: what beta does."""
    linear, nearest = _curve(summary, "linear"), _curve(summary, "3-NN")
    small = [row for row in linear if _x(row, "beta") < 0.1]
    on_training = [row for row in _curve(summary, "linear", TRAINING) if _x(row, "beta") < 0.1]
    best = _lowest(nearest)
    middle = [_x(row, "beta") for row in linear if 0.09 <= row.estimate.mean <= 0.095]
    return [
        Verdict(
            claim="Below β = 0.1 the linear error is constant",
            paper="constant",
            found=f"{_range(small)} from β = {_x(small[0], 'beta')} to {_x(small[-1], 'beta')}",
            verdict=_yes_or_no(_spread(small) <= SAME),
        ),
        Verdict(
            claim="There the linear head fits the training rows perfectly",
            paper="perfect",
            found=f"error on training rows at most {_percent(_highest(on_training))}",
            verdict=_yes_or_no(_highest(on_training).estimate.mean == 0),
        ),
        Verdict(
            claim="The linear error lies between 9 and 9.5 % for a large range of β",
            paper="9 to 9.5 %",
            found=f"so at β = {', '.join(f'{beta:g}' for beta in middle) or 'none'}; "
            f"{_range(linear)} over all",
            verdict="holds" if len(middle) >= 3 else "partly" if middle else "does not hold",
        ),
        Verdict(
            claim="A large β raises the linear error",
            paper="increases with β",
            found=f"{_percent(_at(linear, 'beta', 0.5))} at β = 0.5, {_percent(linear[-1])} at "
            f"β = {_x(linear[-1], 'beta'):g}",
            verdict=_yes_or_no(
                linear[-1].estimate.mean > _at(linear, "beta", 0.5).estimate.mean + SAME
            ),
        ),
        Verdict(
            claim="k-NN is best near β = 0.5",
            paper="8.6 % at β ≈ 0.5",
            found=_best_text(summary, best, "beta", "β"),
            verdict=_yes_or_no(0.25 <= _x(best, "beta") <= 1),
        ),
        Verdict(
            claim="A small β raises the k-NN error",
            paper="increases as β decreases",
            found=f"{_percent(nearest[0])} at β = {_x(nearest[0], 'beta'):g}, at most "
            f"{_percent(_highest([row for row in nearest if _x(row, 'beta') < 0.25]))} below 0.25",
            verdict=_yes_or_no(nearest[0].estimate.mean > best.estimate.mean + SAME),
        ),
    ]


def judge_figure_3(summary: Summary) -> list[Verdict]:
    """Judge section V.D: what the dimension does."""
    linear, nearest = _curve(summary, "linear"), _curve(summary, "3-NN")
    three = _at(nearest, "dimension", 3)
    best = _lowest(nearest)
    up_to_14 = _lowest([row for row in nearest if _x(row, "dimension") <= 14])
    beyond = _lowest([row for row in nearest if _x(row, "dimension") > 14])
    from_five = [row for row in linear if _x(row, "dimension") > 5]
    return [
        Verdict(
            claim="Three dimensions bring the k-NN error below 10 %",
            paper="below 10 %",
            found=_with_random(summary, three, "dimension"),
            verdict=_yes_or_no(three.estimate.mean < 0.1),
        ),
        Verdict(
            claim="Beyond five dimensions the linear error is constant",
            paper="fairly constant",
            found=f"{_range(from_five)} from six dimensions on",
            verdict=_yes_or_no(_spread(from_five) <= SAME),
        ),
        Verdict(
            claim="The k-NN error is least at 12 to 14 dimensions",
            paper="12 to 14",
            found=_best_text(summary, best, "dimension", "dimension"),
            verdict=_yes_or_no(12 <= _x(best, "dimension") <= 14),
        ),
        Verdict(
            claim="More than 14 dimensions bring no gain",
            paper="13 by the entropic graph",
            found=f"{_percent(up_to_14)} at {_x(up_to_14, 'dimension'):g}; beyond 14 at best "
            f"{_percent(beyond)}, at {_x(beyond, 'dimension'):g}",
            verdict=_yes_or_no(beyond.estimate.mean >= up_to_14.estimate.mean),
        ),
    ]


def judge_figure_4(summary: Summary) -> list[Verdict]:
    """Judge section V.E: what the number of neighbours does."""
    return [
        _judge_minimum(summary, "linear", 3, 0.092),
        _judge_minimum(summary, "3-NN", 4, 0.086),
    ]


def _judge_minimum(summary: Summary, head: str, neighbors: int, error: float) -> Verdict:
    best = _lowest(_curve(summary, head))
    at_place = _x(best, "neighbors") == neighbors
    is_as_low = best.estimate.mean <= error + SAME
    judgement: Judgement = "partly" if at_place or is_as_low else "does not hold"
    return Verdict(
        claim=f"The {'k-NN' if head == '3-NN' else head} error is least at {neighbors} neighbours",
        paper=f"{format_value(error, 'share')} at {neighbors}",
        found=_best_text(summary, best, "neighbors", "neighbours"),
        verdict="holds" if at_place and is_as_low else judgement,
    )


def _curve(summary: Summary, head: str, measure: str = "error") -> list[SummaryRow]:
    return summary.rows_with(measure, split="paper", mode="transductive", head=head)


def _x(row: SummaryRow, name: str) -> float:
    return float(row.setting[name])


def _at(rows: list[SummaryRow], name: str, value: float) -> SummaryRow:
    return next(row for row in rows if row.setting[name] == value)


def _lowest(rows: list[SummaryRow]) -> SummaryRow:
    return min(rows, key=lambda row: row.estimate.mean)


def _highest(rows: list[SummaryRow]) -> SummaryRow:
    return max(rows, key=lambda row: row.estimate.mean)


def _spread(rows: list[SummaryRow]) -> float:
    return _highest(rows).estimate.mean - _lowest(rows).estimate.mean


def _percent(row: SummaryRow) -> str:
    return format_value(row.estimate.mean, "share")


def _range(rows: list[SummaryRow]) -> str:
    return f"{_percent(_lowest(rows))} to {_percent(_highest(rows))}"


def _best_text(summary: Summary, best: SummaryRow, name: str, label: str) -> str:
    text = f"{_percent(best)} at {label} = {_x(best, name):g}"
    others = summary.rows_with(split="random", mode="transductive", head=best.setting["head"])
    if not others:
        return text
    other = _lowest(others)
    return f"{text}; over random splits {_percent(other)} at {_x(other, name):g}"


def _with_random(summary: Summary, row: SummaryRow, name: str) -> str:
    setting = {**row.setting, "split": "random"}
    others = summary.rows_with(row.measure, **setting)
    beside = f"; over random splits {_percent(others[0])}" if others else ""
    return _percent(row) + beside


def _yes_or_no(is_so: bool) -> Judgement:
    return "holds" if is_so else "does not hold"
