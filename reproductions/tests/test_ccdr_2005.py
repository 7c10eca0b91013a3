"""The entries of CCDR-2005: draws, one small real run, and verdicts on made-up results."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from labelfold import CCDR, hide_labels
from labelfold.datasets import make_swiss_roll
from reproductions import Measurement, Task, load_paper
from reproductions.ccdr_2005 import figure_3, figures_1_and_2, roll, table_1
from reproductions.summary import TaskResult, summarize
from reproductions.tests.helpers import merged_claims, summary_of

PAPER = load_paper("ccdr-2005")


def test_one_task_of_table_1(monkeypatch):
    monkeypatch.setattr(table_1, "N_TESTED", 5)
    task = Task({"training_points": 100}, 3)
    measurements = table_1.run(task, None)
    measured = {tuple(item.setting.values()): item.value for item in measurements}
    assert len(measured) == 10
    seed, _ = roll.draw_seeds(task, 100)
    X, y, _ = make_swiss_roll(105, random_state=seed)
    raw = KNeighborsClassifier(3).fit(X[:100], y[:100])
    assert measured["6 bands, height 21", "3-NN"] == np.mean(raw.predict(X[100:]) != y[100:])
    wrong = 0
    for new in range(100, 105):
        rows = np.append(np.arange(100), new)
        Z = CCDR(2).fit_transform(X[rows], hide_labels(y[rows], np.arange(100)))
        wrong += KNeighborsClassifier(3).fit(Z[:100], y[:100]).predict(Z[100:])[0] != y[new]
    assert measured["6 bands, height 21", 2, "CCDR"] == wrong / 5
    assert table_1.run(task, None) == measurements


@pytest.mark.parametrize(
    ("module", "setting", "n_hidden"),
    [(table_1, {"training_points": 100}, 1), (figure_3, {"labels": 100}, 900)],
)
def test_maps_do_not_see_the_labels_that_are_scored(monkeypatch, module, setting, n_hidden):
    seen = []

    def spy(X, y, **options):
        seen.append(y)
        return roll.make_maps(X, y, **options)

    monkeypatch.setattr(module, "make_maps", spy)
    monkeypatch.setattr(table_1, "N_TESTED", 2)
    module.run(Task(setting, 0), None)
    assert {int(np.sum(y == -1)) for y in seen} == {n_hidden}


def test_a_printed_value_has_its_row():
    quick = PAPER.entry("bands")
    summary = summary_of(quick, quick.tasks(True)[::5])
    assert all(row.printed for row in summary.rows_with("error", bands=6))
    assert sum(row.printed is not None for row in summary.rows) == 3
    assert len(summary.rows_with("distance from the paper")) == 9


def test_draws_depend_on_seed_and_size_only():
    seeds = {
        (seed, size): roll.draw_seeds(Task({}, seed), size)[0] for seed in (0, 1) for size in (3, 4)
    }
    assert len(set(seeds.values())) == 4
    assert roll.draw_seeds(Task({"other": 1}, 1), 4)[0] == seeds[1, 4]


def test_figure_1_has_as_many_points_of_each_class():
    X, y, coordinates = figures_1_and_2.draw_roll(Task({}, 0))
    assert np.bincount(y).tolist() == [400, 400]
    assert X.shape == (800, 3)
    # Still uniform along the roll: six bands of about equal numbers.
    counts, _ = np.histogram(coordinates[:, 0], bins=6)
    assert counts.min() > 90


def test_separability_of_what_is_known():
    points = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    assert figures_1_and_2.is_separable(points, np.array([0, 1, 0, 1]))
    assert not figures_1_and_2.is_separable(points, np.array([0, 0, 1, 1]))


def results_of(name, setting, errors):
    """Three seeds with small differences around the errors of each method."""
    return [
        TaskResult(
            Task({name: setting}, seed),
            tuple(
                Measurement(value + 0.001 * seed, {"roll": roll, "method": method}, n_scored=50)
                for roll in ("wide", "narrow")
                for method, value in errors.items()
            ),
            0.0,
        )
        for seed in range(3)
    ]


@pytest.mark.parametrize(
    ("errors", "spread", "expected"),
    [
        ((0.04, 0.06, 0.05), 0.001, ["holds", "holds"]),
        ((0.04, 0.06, 0.05), 0.1, ["partly", "holds"]),
        ((0.06, 0.06, 0.05), 0.1, ["partly", "holds"]),
        ((0.05, 0.06, 0.04), 0.001, ["does not hold", "holds"]),
        ((0.04, 0.05, 0.06), 0.001, ["holds", "does not hold"]),
    ],
)
def test_verdicts_of_table_1(errors, spread, expected):
    ccdr, laplacian, raw = errors
    results = []
    for seed, sign in enumerate((-1, 0, 1)):
        measured = []
        for one in table_1.ROLLS:
            about = {"roll": str(one)}
            measured.append(Measurement(raw, {**about, "method": "3-NN"}))
            for m in (2, 3):
                about["coordinates"] = m
                measured.append(Measurement(ccdr + sign * spread, {**about, "method": "CCDR"}))
                measured.append(Measurement(laplacian, {**about, "method": "Laplacian"}))
        results.append(TaskResult(Task({"training_points": 300}, seed), tuple(measured), 0.0))
    summary = summarize(results, printed=table_1.TABLE_1.printed)
    assert all(row.printed for row in summary.rows)
    found = table_1.judge(summary)
    assert len(found) == 2 * 4
    assert list(merged_claims(found).values()) == expected
    assert found[0].paper == "4.4 % against 5.0 %"
    # Nine printed numbers, of which three sizes in four readings are one each.
    assert len({item.number for item in table_1.TABLE_1.printed}) == 9
    assert len(table_1.draw(summary).axes) == 4


def test_banded_roll():
    X, y, coordinates = make_swiss_roll(2000, n_bands=6, random_state=0)
    points, classes = roll.BandedRoll(6).draw(2000, 0)
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(classes, y)
    halves = roll.BandedRoll(4, has_half_ends=True, height=30.0)
    assert str(halves) == "4 bands with half-width ends, height 30"
    points, classes = halves.draw(2000, 0)
    assert np.ptp(points[:, 1]) == pytest.approx(30, abs=0.1)
    order = np.argsort(coordinates[:, 0])
    changes = np.flatnonzero(np.diff(classes[order]))
    cuts = coordinates[order][changes, 0] / coordinates[:, 0].max()
    np.testing.assert_allclose(cuts, [1 / 6, 3 / 6, 5 / 6], atol=0.005)


def test_verdicts_of_figure_3():
    neighbors = {"1-NN": 0.1, "2-NN": 0.2, "3-NN": 0.3}
    results = results_of("labels", 40, {"CCDR": 0.39, "Laplacian": 0.4, **neighbors})
    results += results_of("labels", 100, {"CCDR": 0.3, "Laplacian": 0.4, **neighbors})
    results += results_of("labels", 200, {"CCDR": 0.2, "Laplacian": 0.4, **neighbors})
    results += results_of("labels", 300, {"CCDR": 0.05, "Laplacian": 0.4, **neighbors})
    summary = summarize(results, derive=figure_3.derive)
    best = summary.row(labels=40, roll="wide", method="k-NN, best case")
    assert best.estimate == summary.row(labels=40, roll="wide", method="1-NN").estimate
    found = figure_3.judge(summary)
    assert [item.reading for item in found] == ["wide"] * 3 + ["narrow"] * 3
    assert list(merged_claims(found).values()) == ["holds", "holds", "partly"]
    assert figure_3.draw(summary).axes[0].get_xlabel() == "labeled points of 1,000"
