"""The word on a table or figure follows from claims and numbers by one rule."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from reproductions.entry import Printed, Verdict
from reproductions.outcome import compare_with_printed, judge_entry, number_of, worst
from reproductions.summary import Estimate, SummaryRow


def row(printed, *, low=0.10, high=0.12, goal="low", size=10, number=""):
    estimate = Estimate(0.11, low, high, 3, "Student t")
    about = {"size": size}
    beside = Printed(printed, about, goal=goal, number=number)
    return SummaryRow(about, "error", "share", {0: 0.11}, 100, estimate, beside)


def claim(verdict, paper="text", name="c", reading=""):
    return Verdict(name, paper, "f", verdict, reading=reading)


def judge(rows=(), claims=()):
    figures = [
        {"setting": one.setting, "number": number_of(one), "verdict": compare_with_printed(one)}
        for one in rows
    ]
    verdicts = [{**asdict(one), "is_ours": one.is_ours} for one in claims]
    return judge_entry({"rows": figures, "verdicts": verdicts})


@pytest.mark.parametrize(
    ("printed", "goal", "expected"),
    [
        (0.11, "low", "matches"),
        (0.10, "low", "matches"),
        (0.12, "high", "matches"),
        (0.13, "low", "better"),
        (0.09, "low", "worse"),
        (0.13, "high", "worse"),
        (0.09, "high", "better"),
        (0.09, "equal", "other"),
        (0.13, "equal", "other"),
        (0.11, "equal", "matches"),
        (None, "low", None),
    ],
)
def test_a_number_is_off_where_its_interval_excludes_the_printed_one(printed, goal, expected):
    assert compare_with_printed(row(printed, goal=goal)) == expected


def test_without_an_interval_the_number_itself_is_compared():
    assert compare_with_printed(row(0.12, low=None, high=None)) == "better"
    assert compare_with_printed(row(0.11, low=None, high=None)) == "matches"
    assert compare_with_printed(replace(row(0.1), printed=None)) is None


@pytest.mark.parametrize(
    ("printed", "verdicts", "expected"),
    [
        ([], [], "matches"),
        ([], ["holds"], "matches"),
        ([], ["holds", "partly"], "matches in part"),
        ([], ["partly", "does not hold"], "differs"),
        ([0.13], ["holds"], "better"),
        ([0.13], ["partly"], "matches in part"),
        ([0.09], ["partly"], "differs"),
        ([0.13, 0.11], [], "matches"),
        ([0.13, 0.13, 0.11], [], "better"),
        ([0.09, 0.11], [], "matches"),
        ([0.09, 0.09, 0.11], ["holds"], "differs"),
        ([None], ["holds"], "matches"),
    ],
)
def test_the_rule(printed, verdicts, expected):
    rows = [row(value, size=n) for n, value in enumerate(printed)]
    outcome = judge(rows, [claim(word, name=str(n)) for n, word in enumerate(verdicts)])
    assert outcome.outcome == expected
    assert len(outcome.claims) == len(verdicts)
    assert outcome.is_empty == (not printed and not verdicts)


def test_claims_of_ours_and_numbers_that_can_only_differ_do_not_decide():
    claims = [claim("holds"), claim("does not hold", "not in the paper")]
    outcome = judge([row(0.09, goal="equal"), row(0.13, goal="equal")], claims)
    assert (outcome.outcome, outcome.describe_claims()) == ("matches", "1 of 1")


def test_it_says_how_many_numbers_and_claims_are_where():
    rows = [row(value, size=n) for n, value in enumerate((0.11, 0.13, 0.13, 0.09))]
    words = ("holds", "partly", "does not hold")
    outcome = judge([*rows, row(0.09, goal="equal")], [claim(word, name=word) for word in words])
    assert outcome.describe_numbers() == "1 as printed, 2 better, 1 worse, 1 different"
    assert outcome.describe_claims() == "1 of 3, 1 in part"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["holds", "holds"], "holds"),
        (["holds", "does not hold"], "partly"),
        (["partly", "does not hold"], "partly"),
        (["does not hold", "does not hold"], "does not hold"),
    ],
)
def test_a_claim_in_several_readings_counts_once(words, expected):
    claims = [claim(word, reading=str(n)) for n, word in enumerate(words)]
    assert claims[1].statement == "c (1)"
    assert judge(claims=claims).claims == (expected,)


def test_a_number_in_several_readings_counts_once_and_only_where_they_agree():
    agreed = [row(0.13, size=n, number="a") for n in range(2)]
    not_agreed = [row(value, size=n, number="b") for n, value in enumerate((0.13, 0.11))]
    outcome = judge([*agreed, *not_agreed])
    assert outcome.comparisons == ("better", "open")
    assert outcome.describe_numbers() == "1 better, 1 by the reading"
    assert outcome.has_numbers_off


def test_one_entry_that_differs_decides_for_several():
    assert worst(["better", "matches"]) == "matches"
    assert worst(["better", "matches in part", "matches"]) == "matches in part"
    assert worst(["better", "differs", "matches in part"]) == "differs"
