"""The entries of CCDR-2005: draws, one small real run, and verdicts on made-up results."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from labelfold.datasets import make_swiss_roll
from labelfold.reproduce import Measurement, Task, load_paper
from labelfold.reproduce.ccdr_2005 import figure_3, figures_1_and_2, roll, table_1
from labelfold.reproduce.summary import TaskResult, summarise

PAPER = load_paper("ccdr-2005")


@pytest.mark.parametrize("entry", PAPER.entries, ids=lambda entry: entry.name)
@pytest.mark.parametrize("quick", [False, True])
def test_tasks_have_their_own_keys(entry, quick):
    keys = [task.key for task in entry.tasks(quick)]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= {task.key for task in entry.tasks(False)}


@pytest.mark.parametrize("entry", PAPER.entries, ids=lambda entry: entry.name)
def test_what_runs_elsewhere_can_be_sent_there(entry):
    assert pickle.loads(pickle.dumps(entry.run)) is entry.run
    assert not entry.needs_data


def test_one_task_of_table_1(monkeypatch):
    monkeypatch.setattr(table_1, "N_TESTED", 5)
    task = Task({"training_points": 100}, 3)
    measurements = table_1.run(task, None)
    measured = {item.setting["method"]: item.value for item in measurements}
    assert list(measured) == ["CCDR", "Laplacian", "3-NN"]
    assert all(0 <= value <= 0.6 and (5 * value).is_integer() for value in measured.values())
    seed, _ = roll.draw_seeds(task, 100)
    X, y, _ = make_swiss_roll(105, random_state=seed)
    raw = KNeighborsClassifier(3).fit(X[:100], y[:100])
    assert measured["3-NN"] == np.mean(raw.predict(X[100:]) != y[100:])
    assert table_1.run(task, None) == measurements


def test_a_printed_value_has_its_row():
    quick = PAPER.entry("bands")
    results = [
        TaskResult(task, tuple(quick.run(task, None)), 0.0) for task in quick.tasks(True)[::5]
    ]
    summary = summarise(results, printed=quick.printed, derive=quick.derive)
    assert all(row.printed for row in summary.rows_with("error"))
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
                Measurement(value + 0.001 * seed, {"method": method}, n_scored=50)
                for method, value in errors.items()
            ),
            0.0,
        )
        for seed in range(3)
    ]


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ((0.04, 0.06, 0.05), "holds"),
        ((0.05, 0.06, 0.04), "partly"),
        ((0.06, 0.04, 0.05), "does not hold"),
    ],
)
def test_verdicts_of_table_1(errors, verdict):
    errors = dict(zip(("CCDR", "Laplacian", "3-NN"), errors, strict=True))
    summary = summarise(results_of("training_points", 300, errors))
    (found,) = table_1.judge(summary)
    assert found.verdict == verdict
    assert "CCDR 4.4 %" in found.paper


def test_verdicts_of_figure_3():
    neighbors = {"1-NN": 0.1, "2-NN": 0.2, "3-NN": 0.3}
    results = results_of("labels", 40, {"CCDR": 0.39, "Laplacian": 0.4, **neighbors})
    results += results_of("labels", 100, {"CCDR": 0.3, "Laplacian": 0.4, **neighbors})
    results += results_of("labels", 200, {"CCDR": 0.2, "Laplacian": 0.4, **neighbors})
    results += results_of("labels", 300, {"CCDR": 0.05, "Laplacian": 0.4, **neighbors})
    summary = summarise(results, derive=figure_3.derive)
    best = summary.row(labels=40, method="k-NN, best case")
    assert best.estimate == summary.row(labels=40, method="1-NN").estimate
    assert [found.verdict for found in figure_3.judge(summary)] == ["holds", "holds", "partly"]
    assert figure_3.draw(summary).axes[0].get_xlabel() == "labelled points of 1,000"
