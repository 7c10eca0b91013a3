"""CCDR-MC past the paper's figures: maps of subsamples, and rows that join a map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ortho_group

from labelfold import CCDR, hide_labels
from reproductions import Measurement, Task
from reproductions.ccdr_mc import appendix_3, joint_extension, landsat
from reproductions.summary import TaskResult, summarise

pytestmark = pytest.mark.filterwarnings("ignore")
N_TRAIN, N_TEST = 300, 100


@pytest.fixture
def data(monkeypatch):
    """Six blobs with Landsat's class names."""
    rng = np.random.default_rng(0)
    y = np.array([1, 2, 3, 4, 5, 7])[rng.integers(6, size=N_TRAIN + N_TEST)]
    X = 3 * rng.standard_normal((8, 10))[y] + 4 * rng.standard_normal((len(y), 10))
    monkeypatch.setattr(landsat, "_load", lambda data_home: (X, y))
    monkeypatch.setattr(landsat, "N_TRAIN", N_TRAIN)
    landsat.graph_of.cache_clear()
    yield X, y
    landsat.graph_of.cache_clear()


def summary_of(results):
    return summarise([TaskResult(task, tuple(found), 0.0) for task, found in results])


def test_apart_does_not_see_motions():
    rng = np.random.default_rng(0)
    goal = rng.standard_normal((50, 3))
    moved = 2.5 * goal @ ortho_group.rvs(3, random_state=0) + 7
    assert appendix_3.apart(goal, moved) == pytest.approx(0, abs=1e-7)
    noise = rng.standard_normal((50, 3))
    noisy = goal + 0.1 * noise
    assert appendix_3.apart(goal, noisy) == pytest.approx(0.1, rel=0.3)
    assert appendix_3.apart(goal, noisy) == pytest.approx(appendix_3.apart(noisy, goal))


def test_subsamples_of_all_rows_are_not_apart(data):
    task = Task({"dimension": 5, "rows": N_TRAIN + N_TEST}, 0)
    found = appendix_3.run(task, None)
    distances = [m.value for m in found if m.measure == appendix_3.DISTANCE]
    np.testing.assert_allclose(distances, 0, atol=1e-6)
    assert {m.setting["subsamples"] for m in found} == {1, 2, 4, 8}
    assert not any(m.measure == appendix_3.SPREAD and m.setting["subsamples"] == 1 for m in found)


def test_verdicts_of_appendix_3():
    def results(distances):
        return [
            (
                Task({"dimension": 5, "rows": size}, 0),
                [
                    Measurement(
                        d / number**0.1, {"subsamples": number}, appendix_3.DISTANCE, unit="number"
                    )
                    for number in (1, 8)
                ],
            )
            for size, d in zip((200, 400), distances, strict=True)
        ]

    falling = appendix_3.judge(summary_of(results((0.8, 0.5))))
    rising = appendix_3.judge(summary_of(results((0.5, 0.8))))
    assert [v.verdict for v in falling] == ["holds", "holds"]
    assert [v.verdict for v in rising] == ["does not hold", "holds"]


def test_joint_rows_are_placed_as_transform_jointly_does(data):
    X, y = data
    task = Task({"split": "paper", "neighbors": 4, "beta": 0.5})
    found = {
        (m.setting["mode"], m.setting["head"]): m.value for m in joint_extension.run(task, None)
    }
    model = CCDR(14, n_neighbors=4, beta=0.5).fit(X[:N_TRAIN], y[:N_TRAIN])
    whole = CCDR(14, n_neighbors=4, beta=0.5).fit(X, hide_labels(y, keep=range(N_TRAIN)))
    maps = {
        "one by one": (model.embedding_, model.transform(X[N_TRAIN:])),
        "jointly, 2 steps": (model.embedding_, model.transform_jointly(X[N_TRAIN:])),
        "transductive": np.split(whole.embedding_, [N_TRAIN]),
    }
    for mode, (train, test) in maps.items():
        nearest = np.argsort(np.linalg.norm(test[:, None] - train[None], axis=2), axis=1)[:, :3]
        votes = y[:N_TRAIN][nearest]
        predicted = [min(np.unique(v), key=lambda c: (-np.sum(v == c), c)) for v in votes]
        assert found[mode, "3-NN"] == pytest.approx(np.mean(predicted != y[N_TRAIN:]))
    assert len(found) == 2 * (2 + len(joint_extension.STEPS))


@pytest.mark.parametrize(("error", "verdict"), [(0.092, "holds"), (0.094, "does not hold")])
def test_verdict_of_joint_rows(error, verdict):
    errors = {"transductive": 0.09, "one by one": 0.1, joint_extension.DEFAULT: error}
    found = [Measurement(e, {"mode": m, "head": "linear"}) for m, e in errors.items()]
    task = Task({"split": "paper", "neighbors": 4, "beta": 0.5})
    verdicts = joint_extension.judge(summary_of([(task, found)]))
    assert [v.verdict for v in verdicts] == [verdict]
