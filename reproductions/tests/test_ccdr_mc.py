"""The entries of CCDR-MC on a small stand-in for Landsat, and verdicts on made-up results."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from labelfold import CCDR, LeastSquaresClassifier, hide_labels
from reproductions import Measurement, Task, load_paper
from reproductions.ccdr_mc import landsat, out_of_sample, searches, sweeps, table_1
from reproductions.summary import TaskResult, summarise
from reproductions.tests.helpers import merged_claims

PAPER = load_paper("ccdr-mc")
N_TRAIN, N_TEST = 200, 80


@pytest.fixture
def data(monkeypatch):
    """Six blobs in 36 dimensions, with Landsat's class names."""
    rng = np.random.default_rng(0)
    y = np.array([1, 2, 3, 4, 5, 7])[rng.integers(6, size=N_TRAIN + N_TEST)]
    X = np.round(3 * rng.standard_normal((8, 36))[y] + 5 * rng.standard_normal((len(y), 36)) + 80)
    monkeypatch.setattr(landsat, "_load", lambda data_home: (X, y))
    monkeypatch.setattr(landsat, "N_TRAIN", N_TRAIN)
    landsat.graph_of.cache_clear()
    yield X, y
    landsat.graph_of.cache_clear()


def run(entry, **setting):
    return entry.run(Task(setting), None)


@pytest.mark.parametrize("entry", PAPER.entries, ids=lambda entry: entry.name)
@pytest.mark.parametrize("quick", [False, True])
def test_tasks_have_their_own_keys(entry, quick):
    keys = [task.key for task in entry.tasks(quick)]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= {task.key for task in entry.tasks(False)}
    assert entry.needs_data == (entry.name not in ("figure-1", "circles"))
    assert pickle.loads(pickle.dumps(entry.run)) is not None


def test_splits(data):
    _, y = data
    paper = landsat.landsat_of(Task({"split": "paper"}), None)
    np.testing.assert_array_equal(paper.train, np.arange(N_TRAIN))
    np.testing.assert_array_equal(paper.test, np.arange(N_TRAIN, len(y)))
    first, again, other = (
        landsat.landsat_of(Task({"split": "random"}, seed), None) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.test, again.test)
    assert not np.array_equal(first.test, other.test)
    np.testing.assert_array_equal(
        np.sort(np.concatenate([first.train, first.test])), np.arange(len(y))
    )
    assert paper.error(y[paper.test]) == 0


def test_sweep_is_what_the_estimators_give_one_by_one(data, monkeypatch):
    X, y = data
    points = tuple(sweeps.Point(dimension=m) for m in (3, 6))
    found = {
        (item.measure, *item.setting.values()): item.value
        for item in sweeps.run(Task({"split": "paper"}), None, varied="dimension", points=points)
    }
    train, test = slice(N_TRAIN), slice(N_TRAIN, None)
    model = CCDR(3, beta=0.5, n_neighbors=4)
    inside = model.fit(X, hide_labels(y, np.arange(N_TRAIN))).embedding_
    outside = model.fit(X[train], y[train])
    for mode, fitted, tested in (
        ("transductive", inside[train], inside[test]),
        ("out of sample", outside.embedding_, outside.transform(X[test])),
    ):
        for name, head in (("linear", LeastSquaresClassifier()), ("3-NN", KNeighborsClassifier(3))):
            error = np.mean(head.fit(fitted, y[train]).predict(tested) != y[test])
            assert found["error", 3, mode, name] == pytest.approx(error)
    assert ("error on training rows", 6, "transductive", "linear") in found
    assert len(found) == 2 * 5


@pytest.mark.parametrize("features", ["raw", "PCA", "CCDR", "LDA", "MFA"])
@pytest.mark.parametrize("choice", ["best case", "cross-validated"])
def test_cells_of_table_1(data, monkeypatch, features, choice):
    small = {
        "raw": {},
        "PCA": {"embedder__n_components": (2, 5)},
        "CCDR": {"embedder__n_neighbors": (4,), "embedder__beta": (0.5,)},
        "LDA": {"embedder__n_components": (2, 5)},
        "MFA": {"embedder__n_neighbors_between": (5, 10)},
    }
    monkeypatch.setattr(table_1, "N_STEPS", 20)
    for classifier in ("linear", "network"):
        monkeypatch.setitem(table_1.GRIDS, (features, classifier), small[features])
        measured = {
            item.measure: item.value
            for item in run(
                PAPER.entry("table-1"), features=features, classifier=classifier, choice=choice
            )
        }
        assert 0 <= measured["error"] <= 1
        assert ("error in cross-validation" in measured) == (choice == "cross-validated")
        assert ("chosen dimension" in measured) == (features in ("PCA", "LDA"))
        assert ("chosen neighbours between classes" in measured) == (features == "MFA")


def test_best_case_is_the_least_test_error(data, monkeypatch):
    X, y = data
    monkeypatch.setitem(table_1.GRIDS, ("raw", "k-NN"), {"head__n_neighbors": range(1, 6)})
    measured = run(PAPER.entry("table-1"), features="raw", classifier="k-NN", choice="best case")
    errors = [
        np.mean(
            KNeighborsClassifier(k).fit(X[:N_TRAIN], y[:N_TRAIN]).predict(X[N_TRAIN:])
            != y[N_TRAIN:]
        )
        for k in range(1, 6)
    ]
    assert measured[0].value == pytest.approx(min(errors))
    assert errors[int(measured[1].value) - 1] == pytest.approx(min(errors))


def test_test_labels_do_not_move_the_honest_choice(data, monkeypatch):
    X, y = data
    grid = {"embedder__beta": (0.1, 1.0), "embedder__n_neighbors": (4, 8)}
    chosen = []
    for labels in (y, np.append(y[:N_TRAIN], np.roll(y[N_TRAIN:], 1))):
        monkeypatch.setattr(landsat, "_load", lambda data_home, labels=labels: (X, labels))
        case = landsat.landsat_of(Task({}), None)
        measured = searches.error_of_choice(
            case,
            table_1.ManifoldClassifier(CCDR(5)),
            grid,
            choice="cross-validated",
            transductive=True,
            seed=0,
        )
        chosen.append([item.value for item in measured if item.measure != "error"])
    assert chosen[0] == chosen[1]


def test_energy_dimension():
    X = np.diag([100.0, 10.0, 5.0, 0.1])  # up to shares 0.9877, 0.9975, 0.999999, 1 of the sum
    assert table_1.energy_dimension(X) == 3
    assert table_1.energy_dimension(X[:, :1]) == 1


def test_out_of_sample(data, monkeypatch):
    monkeypatch.setattr(out_of_sample, "GRID", {"embedder__n_components": (3, 5)})
    for choice in ("best case", "cross-validated"):
        measured = run(PAPER.entry("out-of-sample"), head="linear", choice=choice)
        assert measured[0].measure == "error"


def results_of(name, values, *, split="paper", measure="error", **setting):
    """One result for each value of a parameter."""
    return [
        TaskResult(
            Task({"split": split}, None if split == "paper" else 0),
            (Measurement(error, {name: value, "mode": "transductive", **setting}, measure, 2000),),
            0.0,
        )
        for value, error in values.items()
    ]


def curves_of(name, linear, nearest, training=None, **setting):
    """Results of all three curves."""
    return (
        results_of(name, linear, head="linear", **setting)
        + results_of(name, nearest, head="3-NN", **setting)
        + results_of(name, nearest, head="3-NN", mode="out of sample", **setting)
        + results_of(
            name, training or linear, measure="error on training rows", head="linear", **setting
        )
    )


def verdicts(entry, results):
    return merged_claims(PAPER.entry(entry).judge(summarise(results)))


def test_verdicts_of_figure_2():
    linear = {0.01: 0.095, 0.05: 0.096, 0.1: 0.093, 0.5: 0.092, 1.0: 0.094, 10.0: 0.15}
    nearest = {0.01: 0.095, 0.05: 0.093, 0.1: 0.092, 0.5: 0.086, 1.0: 0.087, 10.0: 0.1}
    training = {0.01: 0.0, 0.05: 0.0, 0.1: 0.01, 0.5: 0.03, 1.0: 0.05, 10.0: 0.1}
    good = curves_of("beta", linear, nearest, training)
    assert set(verdicts("figure-2", good).values()) == {"holds"}
    worse = (
        {**linear, 0.01: 0.08, 10.0: 0.09},
        {**nearest, 0.01: 0.08},
        {**training, 0.05: 0.001},
    )
    bad = verdicts("figure-2", curves_of("beta", *worse))
    flat = "For a range of β the linear error is 9 to 9.5 %"
    assert {claim for claim, verdict in bad.items() if verdict == "does not hold"} == set(bad) - {
        flat
    }
    both = verdicts("figure-2", good + curves_of("beta", *worse, split="random"))
    assert set(both.values()) == {"holds", "partly"}
    assert [claim for claim, verdict in both.items() if verdict == "holds"] == [flat]


def test_verdicts_of_figures_3_and_4():
    linear = {3: 0.24, 5: 0.091, 6: 0.091, 12: 0.092, 20: 0.093}
    nearest = {3: 0.09, 5: 0.088, 6: 0.085, 12: 0.081, 20: 0.085}
    good = verdicts("figure-3", curves_of("dimension", linear, nearest))
    assert set(good.values()) == {"holds"}
    worse = {**linear, 20: 0.1}, {**nearest, 3: 0.11, 20: 0.08, 6: 0.09}
    assert set(verdicts("figure-3", curves_of("dimension", *worse)).values()) == {"does not hold"}

    found = verdicts("figure-4", curves_of("neighbors", {3: 0.09, 4: 0.095}, {3: 0.08, 4: 0.087}))
    assert list(found.values()) == ["holds", "does not hold"]


def test_gaps_and_verdicts_of_table_1():
    results = [
        TaskResult(
            Task({"features": features, "classifier": "k-NN", "choice": choice}, seed),
            (Measurement(error + gap, n_scored=2000),),
            0.0,
        )
        for features, error in (("raw", 0.1), ("PCA", 0.095), ("CCDR", 0.08))
        for choice, seed, gap in (
            ("best case", None, 0.0),
            ("cross-validated", 0, 0.01),
            ("cross-validated", 1, 0.02),
        )
    ]
    entry = PAPER.entry("table-1")
    summary = summarise(results, printed=entry.printed, derive=entry.derive)
    gap = summary.row("gap to the best case", features="CCDR")
    assert gap.estimate.mean == pytest.approx(0.015)
    found = entry.judge(summary)
    assert [item.verdict for item in found] == ["holds"] * 4
    assert "20 %, from 10.00 % to 8.00 %" in found[1].found
    assert entry.draw(summary) is not None
