"""The MAGIC tables of ISM, on rows made up in the place of MAGIC."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from reproductions import Measurement, Task, load_paper
from reproductions.ism import magic, magic_tables
from reproductions.summary import TaskResult, summarize

PAPER = load_paper("ism")
FEW, MANY = PAPER.entry("tables-1-and-2"), PAPER.entry("tables-3-and-4")
CLAIM_LINEAR = "ISM is always better than the linear machine ({} labels)"


@pytest.fixture
def data(monkeypatch):
    """Rows of two overlapping classes with features of different scales, in the place of MAGIC."""
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=300) < 0.6, "g", "h").astype(object)
    X = rng.standard_normal((300, 10)) + 1.5 * (y == "g")[:, None] * (np.arange(10) < 3)
    X = np.exp(X) * np.arange(1, 11)
    monkeypatch.setattr(magic, "_load", lambda data_home: (X, y))
    few = replace(magic_tables.FEW, n_scored=150, n_steps=60, choices={"n_neighbors": [5, 8]})
    monkeypatch.setattr(magic_tables, "FEW", few)
    monkeypatch.setattr(magic_tables, "N_QUICK", (120, 80))


def test_a_draw_is_its_seed_and_scores_leave_labeled_rows_out(data):
    one, same, other = (magic.Magic.draw(50, 150, seed, None) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.X, same.X)
    assert not np.array_equal(one.X, other.X)
    assert one.n_scored == 150
    assert [value is None for value in one.partial] == [False] * 50 + [True] * 150
    wrong = np.where(one.y == "g", "h", "g")
    assert one.score(np.append(wrong[:50], one.y[50:])) == 1
    assert one.score(one.y[50:]) == 1
    assert one.score(np.append(one.y[:50], wrong[50:])) == 0


def test_features(data):
    draw = magic.Magic.draw(50, 150, 0, None)
    np.testing.assert_array_equal(draw.features(magic.RAW), draw.X)
    np.testing.assert_allclose(draw.features(magic.STANDARDIZED).std(axis=0), 1)
    quantiles = draw.features(magic.QUANTILE)
    assert (quantiles.min(), quantiles.max()) == (0, 1)
    np.testing.assert_array_equal(np.argsort(quantiles[:, 0]), np.argsort(draw.X[:, 0]))


def test_quantiles_of_many_rows_are_those_of_all():
    X = np.random.default_rng(0).permutation(12_000)[:, None].astype(float)
    quantiles = magic.Magic(X, np.zeros(12_000), 10).features(magic.QUANTILE)
    np.testing.assert_allclose(quantiles, X / 11_999, rtol=0, atol=1e-12)


@pytest.mark.parametrize("entry", [FEW, MANY])
def test_every_quick_task_runs_and_is_judged(entry, data):
    results = [TaskResult(task, tuple(entry.run(task, None)), 0.0) for task in entry.tasks(True)]
    for result in results:
        for item in result.measurements:
            if item.measure == magic.SCORE:
                assert 0.4 < item.value <= 1
                assert item.n_scored in (150, 80)
    assert entry.judge(summarize(results))


@pytest.mark.parametrize(("entry", "n_cells", "best"), [(FEW, 11, 0.7368), (MANY, 14, 0.81)])
def test_printed_scores_stand_beside_rows_of_their_own(entry, n_cells, best):
    settings = [item.setting for item in entry.printed]
    assert len({tuple(sorted(setting.items())) for setting in settings}) == len(settings)
    cells = [item for item in entry.printed if item.setting["part"] == "grid"]
    hard = [task.setting for task in entry.tasks(False) if task.setting.get("labels") == magic.HARD]
    assert all(setting in settings for setting in hard)
    assert len(cells) == n_cells
    assert max(item.value for item in cells) == best
    kernels = (magic_tables.FEW if entry is FEW else magic_tables.MANY).kernels
    machines = [setting for setting in settings if setting["part"] == "machines"]
    assert all(setting["parameter"] in kernels[setting["kernel"]] for setting in machines)


def test_machines_have_the_named_kernels(data):
    draw = magic.Magic.draw(50, 150, 0, None)
    X = draw.features(magic.STANDARDIZED)
    (found,) = magic.try_machines(draw, magic.STANDARDIZED, [("Gaussian", 0.5)], [0.1, 10.0])
    scores = [
        SVC(C=C, gamma=0.5).fit(X[:50], draw.y[:50]).score(X[50:], draw.y[50:]) for C in (0.1, 10)
    ]
    assert found.value == pytest.approx(max(scores))
    size = np.mean(np.sum(X**2, axis=1))
    machine = magic.make_machine(X, "polynomial", 3, 1.0).fit(X[:50], draw.y[:50])
    K = (X @ X[:50].T / size + 1) ** 3
    same = SVC(kernel="precomputed").fit(K[:50], draw.y[:50])
    np.testing.assert_allclose(machine.decision_function(X[50:]), same.decision_function(K[50:]))


@pytest.mark.parametrize("part", ["chosen", "machine chosen", "kernel"])
def test_scored_labels_choose_nothing(part, data, monkeypatch):
    task = Task({"part": part, "features": magic.QUANTILE}, 0)
    scores = []
    for _ in range(2):
        scores.append([m.value for m in FEW.run(task, None) if m.measure == magic.SCORE])
        draw = magic.Magic.draw(50, 150, magic_tables.FEW.first_seed, None)
        flipped = np.where(draw.y == "g", "h", "g")[50:]
        turned = replace(draw, y=np.append(draw.y[:50], flipped).astype(object))
        monkeypatch.setattr(magic.Magic, "draw", lambda *_, turned=turned: turned)
    np.testing.assert_allclose(np.add(*scores), 1)


def verdicts_on(entry, hard, soft, machine, *, linear=None):
    """Judge made-up scores of the cells, functions of neighbors and dimension, and of machines."""
    results = []
    kernels = (magic_tables.FEW if entry is FEW else magic_tables.MANY).kernels
    for task in entry.tasks(False):
        setting, scores = task.setting, []
        if setting["part"] == "grid":
            score = hard if setting["labels"] == magic.HARD else soft
            scores = [(score(setting["neighbors"], setting["dimension"]), {})]
        elif setting["part"] == "machines":
            scores = [
                (
                    machine if linear is None or kernel != "linear" else linear,
                    {"kernel": kernel, "parameter": parameter, "choice": magic.BEST_CASE},
                )
                for kernel, parameters in kernels.items()
                for parameter in parameters
            ]
        measured = tuple(Measurement(value, own, magic.SCORE) for value, own in scores)
        results.append(TaskResult(task, measured, 0.0))
    return {item.claim: item.verdict for item in entry.judge(summarize(results))}


@pytest.mark.parametrize("entry", [FEW, MANY])
def test_verdicts(entry):
    verdicts = verdicts_on(
        entry, lambda k, r: 0.7 + k / 1e3 + r / 1e4, lambda k, r: 0.8 + r / 1e5, 0.75
    )
    # The map is below the machine, as in Table 3 but not in Table 1.
    word, expected = ("more", "does not hold") if entry is FEW else ("less", "holds")
    claim = f"The best map scores {word} than the best machine, raw features"
    assert verdicts[claim] == expected
    assert verdicts["The best soft map scores more than the best machine, any features"] == "holds"
    assert verdicts["The score grows with the neighbors k (hard labels)"] == "holds"
    assert verdicts[CLAIM_LINEAR.format("hard")] == "does not hold"
    assert verdicts[CLAIM_LINEAR.format("soft")] == "holds"
    verdicts = verdicts_on(
        entry, lambda k, r: 0.9 - k / 1e3 - r / 1e3, lambda k, r: 0.6 + r / 1e5, 0.75
    )
    assert verdicts["The score grows with the dimension (hard labels)"] == "does not hold"
    assert verdicts[CLAIM_LINEAR.format("hard")] == "holds"


def test_a_linear_machine_that_failed_to_train_is_not_what_maps_must_beat():
    def score(neighbors, dimension):
        return 0.7 + neighbors / 1e5

    verdicts = verdicts_on(FEW, score, score, 0.75, linear=0.4)
    assert verdicts[CLAIM_LINEAR.format("hard")] == "does not hold"
