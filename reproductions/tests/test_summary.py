"""Intervals against closed forms, grouping, and what the order of results must not change."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import stats

from reproductions.entry import Measurement, Printed, Task
from reproductions.summary import (
    Estimate,
    SummaryRow,
    TaskResult,
    mean_over_seeds,
    paired_difference,
    summarize,
    wilson_interval,
)


def result(setting, seed, *measurements):
    return TaskResult(Task(setting, seed), measurements, 0.0)


def error(value, method, **more):
    return Measurement(value, {"method": method}, **more)


def test_student_interval_of_two_runs_is_cauchys():
    # With one degree of freedom the 90 % point is tan(0.4 pi), and s / sqrt(2) is half the gap.
    estimate = mean_over_seeds([0.1, 0.3])
    half = math.tan(0.4 * math.pi) * 0.1
    assert estimate.method == "Student t"
    assert (estimate.low, estimate.high) == pytest.approx((0.2 - half, 0.2 + half))


def test_student_interval_covers_in_80_percent_of_the_cases():
    rng = np.random.default_rng(0)
    estimates = [mean_over_seeds(draw) for draw in rng.standard_normal((4000, 6)).tolist()]
    covered = np.mean([estimate.low <= 0 <= estimate.high for estimate in estimates])
    assert abs(covered - 0.8) < 0.02


@pytest.mark.parametrize(("share", "n"), [(0.0, 50), (0.1, 50), (0.5, 7), (1.0, 10)])
def test_wilson_ends_are_z_standard_deviations_away(share, n):
    z = stats.norm.ppf(0.9)
    for end in wilson_interval(share, n):
        assert (share - end) ** 2 == pytest.approx(z**2 * end * (1 - end) / n, abs=1e-12)


def test_one_run_of_an_error_rate_gets_wilsons_interval():
    (row,) = summarize([result({}, None, Measurement(0.1, n_scored=50))]).rows
    assert row.estimate == Estimate(0.1, *wilson_interval(0.1, 50), 1, "Wilson")


@pytest.mark.parametrize("measurement", [Measurement(0.1), Measurement(3.0, unit="number")])
def test_one_run_of_anything_else_has_no_interval(measurement):
    (row,) = summarize([result({}, None, measurement)]).rows
    assert (row.estimate.low, row.estimate.method) == (None, "none")


def test_measurements_are_grouped_by_setting_and_measure():
    results = [
        result({"n": n}, seed, error(n / 10 + seed / 100, "a"), error(0.5, "a", measure="other"))
        for n in (1, 2)
        for seed in range(3)
    ]
    summary = summarize(results)
    assert [(row.setting["n"], row.measure) for row in summary.rows] == [
        (1, "error"),
        (1, "other"),
        (2, "error"),
        (2, "other"),
    ]
    assert summary.row(n=2).estimate.mean == pytest.approx(0.21)
    assert summary.row(n=2).values == pytest.approx({0: 0.2, 1: 0.21, 2: 0.22})


def test_the_order_of_seeds_changes_no_bit():
    rng = random.Random(0)
    results = [result({}, seed, error(rng.random(), "a")) for seed in range(30)]
    before = summarize(results)
    rng.shuffle(results)
    assert summarize(results) == before


def test_a_printed_value_stands_beside_the_row_of_equal_setting():
    printed = [Printed(0.05, {"method": "a", "n": 1}), Printed(0.06, {"n": 1})]
    rows = summarize([result({"n": 1}, 0, error(0.1, "a"), error(0.1, "b"))], printed=printed).rows
    assert [row.printed for row in rows] == [printed[0], None]


def test_derived_rows_come_last_and_have_printed_values_too():
    def best(summary):
        estimate = min((row.estimate for row in summary.rows), key=lambda item: item.mean)
        return [SummaryRow({"method": "best"}, "error", "share", {}, None, estimate)]

    printed = Printed(0.1, {"method": "best"})
    results = [result({}, 0, error(0.3, "a"), error(0.2, "b"))]
    rows = summarize(results, printed=[printed], derive=best).rows
    assert [row.setting["method"] for row in rows] == ["a", "b", "best"]
    assert (rows[-1].estimate.mean, rows[-1].printed) == (0.2, printed)


def test_paired_difference_takes_common_seeds_only():
    results = [result({}, seed, error(0.1 * seed, "a")) for seed in range(4)]
    results += [result({"x": 0}, seed, error(0.1, "b")) for seed in range(1, 4)]
    first, second = summarize(results).rows
    difference = paired_difference(first, second)
    assert difference == mean_over_seeds([0.1 * seed - 0.1 for seed in (1, 2, 3)])


@pytest.mark.parametrize(
    ("setting", "message"), [({}, "measured twice"), ({"method": "a"}, r"repeats \['method'\]")]
)
def test_measurements_that_cannot_be_told_apart_are_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        summarize([result(setting, 0, error(0.1, "a"), error(0.2, "a"))])


def test_an_ambiguous_row_is_an_error():
    summary = summarize([result({}, 0, error(0.1, "a"), error(0.2, "b"))])
    with pytest.raises(LookupError, match="2 rows"):
        summary.row()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_measurement_is_finite(value):
    with pytest.raises(ValueError, match="not finite"):
        Measurement(value)


def test_draws_of_one_task_count_as_seeds():
    values = [error(0.1, "a", draw=0), error(0.3, "a", draw=1)]
    apart = [result({}, seed, error(value, "a")) for seed, value in enumerate((0.1, 0.3))]
    assert summarize([result({}, None, *values)]) == summarize(apart)
