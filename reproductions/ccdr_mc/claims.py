"""What CCDR-MC reads off its Figs. 2 to 4, judged on the rows of a summary.

Claims are about maps that the test rows are part of. Each is put to the data set's own split, which
is the paper's, and to the means over random splits: two readings of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from reproductions.ccdr_mc.dimensions import ONE_MORE
from reproductions.ccdr_mc.names import OUT_OF_SAMPLE, TRANSDUCTIVE
from reproductions.entry import Verdict, judge_all
from reproductions.summary import Summary, SummaryRow, mean_over_seeds
from reproductions.tables import format_value

__all__ = ["TRAINING", "judge_figure_2", "judge_figure_3", "judge_figure_4"]

# Errors that differ by no more count as equal; one binomial standard error is 0.0065.
SAME = 0.005
OTHER_SPLITS = (
    "Errors differ little along the curve, and on other splits of the same rows the least one is "
    "elsewhere than on the paper's one split."
)
TRAINING = "error on training rows"
SPLITS = {"paper": "the paper's split", "random": "random splits"}


@dataclass(frozen=True)
class Curve:
    """Errors against the parameter that a figure varies, in ascending order of it."""

    points: dict[float, float]

    @classmethod
    def of(cls, rows: list[SummaryRow], parameter: str) -> Curve:
        """Read the curve from rows of a summary."""
        return cls({float(row.setting[parameter]): row.estimate.mean for row in rows})

    def between(self, low: float, high: float) -> Curve:
        """Return the part from ``low`` to ``high``, both included."""
        return Curve({x: error for x, error in self.points.items() if low <= x <= high})

    @property
    def best(self) -> float:
        """Where the error is least."""
        return min(self.points, key=lambda x: self.points[x])

    @property
    def least(self) -> float:
        """The least error."""
        return min(self.points.values())

    @property
    def largest(self) -> float:
        """The largest error."""
        return max(self.points.values())

    def __str__(self) -> str:
        return f"{_percent(self.least)} to {_percent(self.largest)}"


@dataclass(frozen=True)
class Curves:
    """The three curves of one kind of split."""

    linear: Curve
    nearest: Curve
    on_training: Curve
    nearest_placed: Curve  # test rows placed in a map of the others


Test = Callable[[Curves], tuple[bool, str]]  # whether a claim holds, and the figures


def judge_figure_2(summary: Summary) -> list[Verdict]:
    """Judge section V.C: what beta does."""

    def is_constant(curves: Curves) -> tuple[bool, str]:
        small = curves.linear.between(0, 0.09)
        return small.largest - small.least <= SAME, f"{small} below 0.1"

    def fits_perfectly(curves: Curves) -> tuple[bool, str]:
        worst = curves.on_training.between(0, 0.09).largest
        return worst == 0, f"error on training rows at most {_percent(worst)}"

    def is_flat(curves: Curves) -> tuple[bool, str]:
        is_inside = [0.09 <= error <= 0.095 for error in curves.linear.points.values()]
        inside = [b for b, is_so in zip(curves.linear.points, is_inside, strict=True) if is_so]
        text = ", ".join(f"{beta:g}" for beta in inside) or "none"
        longest = max(sum(stretch) for _, stretch in groupby(is_inside))  # a range has no gaps
        return longest >= 3, f"so at β = {text}"

    def grows(curves: Curves) -> tuple[bool, str]:
        last = max(curves.linear.points)
        at_half, at_last = curves.linear.points[0.5], curves.linear.points[last]
        text = f"{_percent(at_half)} at β = 0.5, {_percent(at_last)} at {last:g}"
        return at_last > at_half + SAME, text

    def is_best_near_half(curves: Curves) -> tuple[bool, str]:
        return 0.25 <= curves.nearest.best <= 1, _best(curves.nearest, "β = ")

    def suffers(curves: Curves) -> tuple[bool, str]:
        first = min(curves.nearest.points)
        at_first, at_half = curves.nearest.points[first], curves.nearest.points[0.5]
        text = f"{_percent(at_first)} at β = {first:g}, {_percent(at_half)} at 0.5"
        return at_first > at_half + SAME, text

    def suffers_when_placed(curves: Curves) -> tuple[bool, str]:
        return suffers(replace(curves, nearest=curves.nearest_placed))

    put = _Claims(summary, "beta")
    return [
        *put("Below β = 0.1 the linear error is constant", "constant", is_constant),
        *put("There the linear head fits the training rows perfectly", "perfect", fits_perfectly),
        *put(
            "For a range of β the linear error is 9 to 9.5 %",
            "a large range",
            is_flat,
            why="The curve has its least error below 9 % and rises steeply for a larger β, so that "
            "it passes through that range quickly.",
        ),
        *put("A large β raises the linear error", "increases with β", grows),
        *put("k-NN is best near β = 0.5", "8.6 % at β ≈ 0.5", is_best_near_half, why=OTHER_SPLITS),
        *put(
            "A small β raises the k-NN error",
            "increases as β decreases",
            suffers,
            reading="test rows part of the map",
            why="Where test rows are part of the map the k-NN error hardly depends on β. Placed in "
            "a map of the others, as the paper's eq. 19 does, they suffer as it says.",
        ),
        *put(
            "A small β raises the k-NN error",
            "increases as β decreases",
            suffers_when_placed,
            reading="test rows placed in the map",
        ),
    ]


def judge_figure_3(summary: Summary) -> list[Verdict]:
    """Judge section V.D: what the dimension does."""

    def three_suffice(curves: Curves) -> tuple[bool, str]:
        error = curves.nearest.points[3]
        return error < 0.1, _percent(error)

    def is_constant(curve: Curve) -> tuple[bool, str]:
        beyond = curve.between(6, 100)
        return beyond.largest - beyond.least <= SAME, f"{beyond} from 6 on"

    def is_best_at_13(curves: Curves) -> tuple[bool, str]:
        return 12 <= curves.nearest.best <= 14, _best(curves.nearest, "")

    def brings_no_gain(curves: Curves) -> tuple[bool, str]:
        up_to, beyond = curves.nearest.between(1, 14), curves.nearest.between(15, 100)
        text = f"up to 14 {_best(up_to, '')}; beyond {_best(beyond, '')}"
        return beyond.least >= up_to.least, text

    put = _Claims(summary, "dimension")
    verdicts = [
        *put("Three dimensions bring the k-NN error below 10 %", "below 10 %", three_suffice),
        *put(
            "Beyond five dimensions the linear error is constant",
            "fairly constant",
            lambda curves: is_constant(curves.linear),
        ),
        *put(
            "Beyond five dimensions the k-NN error is constant",
            "fairly constant",
            lambda curves: is_constant(curves.nearest),
            why="It moves by more than the half point that counts as constant here, with no trend.",
        ),
        *put(
            "The k-NN error is least at 12 to 14 dimensions",
            "12 to 14",
            is_best_at_13,
            why=OTHER_SPLITS,
        ),
        *put("More than 14 dimensions bring no gain", "13 by the entropic graph", brings_no_gain),
    ]
    return verdicts + _judge_estimate(summary)


def judge_figure_4(summary: Summary) -> list[Verdict]:
    """Judge section V.E: what the number of neighbours does."""

    def linear_is_best_at_3(curves: Curves) -> tuple[bool, str]:
        return curves.linear.best == 3, _best(curves.linear, "")

    def nearest_is_best_at_4(curves: Curves) -> tuple[bool, str]:
        return curves.nearest.best == 4, _best(curves.nearest, "")

    put = _Claims(summary, "neighbors")
    return [
        *put(
            "The linear error is least at 3 neighbours",
            "9.2 % at 3",
            linear_is_best_at_3,
            why=OTHER_SPLITS,
        ),
        *put(
            "The k-NN error is least at 4 neighbours",
            "8.6 % at 4",
            nearest_is_best_at_4,
            why=OTHER_SPLITS,
        ),
    ]


def _judge_estimate(summary: Summary) -> list[Verdict]:
    """Judge the dimension that the estimate gives, each split having its own."""
    found, texts = [], []
    for row in summary.rows_with(ONE_MORE):
        split = str(row.setting["split"])
        rows = summary.rows_with(split=split, mode="transductive", head="3-NN")
        at_estimate = mean_over_seeds(
            [_nearest_row(rows, estimate).values[seed] for seed, estimate in row.values.items()]
        )
        curve = Curve.of(rows, "dimension")
        found.append(at_estimate.mean <= curve.least + SAME)
        estimates = " or ".join(f"{value:g}" for value in sorted(set(row.values.values())))
        # A flat curve makes the claim easy, which a reader should see.
        n_close = sum(error <= curve.least + SAME for error in curve.points.values())
        texts.append(
            f"{split} split: {_percent(at_estimate.mean)} at {estimates}, least "
            f"{_best(curve, '')}, and {n_close} of {len(curve.points)} dimensions are as close"
        )
    if not found:
        return []
    return [
        Verdict(
            claim="At the largest class dimension and one more the k-NN error is within half a "
            "point of the least",
            paper="not in the paper: least at 12 to 14, estimate 13, taken 14",
            found="; ".join(texts),
            verdict=judge_all(found),
        )
    ]


def _nearest_row(rows: list[SummaryRow], dimension: float) -> SummaryRow:
    return min(rows, key=lambda row: abs(float(row.setting["dimension"]) - dimension))


class _Claims:
    """Puts claims to the curves of every kind of split."""

    def __init__(self, summary: Summary, parameter: str) -> None:
        self._curves = {
            str(split): _read_curves(summary, str(split), parameter)
            for split in summary.values_of("split")
        }

    def __call__(
        self, claim: str, paper: str, test: Test, *, reading: str = "", why: str = ""
    ) -> Iterator[Verdict]:
        for split, curves in self._curves.items():
            is_so, found = test(curves)
            yield Verdict(
                claim,
                paper,
                found,
                judge_all([is_so]),
                reading="; ".join(filter(None, (SPLITS[split], reading))),
                why=why,
            )


def _read_curves(summary: Summary, split: str, parameter: str) -> Curves:
    def read(head: str, measure: str = "error", mode: str = TRANSDUCTIVE) -> Curve:
        rows = summary.rows_with(measure, split=split, mode=mode, head=head)
        return Curve.of(rows, parameter)

    return Curves(
        read("linear"), read("3-NN"), read("linear", TRAINING), read("3-NN", mode=OUT_OF_SAMPLE)
    )


def _best(curve: Curve, prefix: str) -> str:
    return f"{_percent(curve.least)} at {prefix}{curve.best:g}"


def _percent(error: float) -> str:
    return format_value(error, "share")
