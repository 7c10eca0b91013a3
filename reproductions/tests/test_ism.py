"""The entry of ISM: maps of a small roll, what is measured of them, and made-up verdicts."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from labelfold import MaximumVarianceUnfolding
from labelfold.datasets import make_swiss_roll
from reproductions import Measurement, Task, load_paper
from reproductions.ism import figure_1, figure_1_picture, maps
from reproductions.summary import TaskResult, summarise

PAPER = load_paper("ism")
ENTRY = PAPER.entry("figure-1-unfolding")


def small_task(name, kept=None, seed=0):
    return Task({"points": 120, "map": name} | ({"kept": kept} if kept else {}), seed)


def value_of(measurements, measure, **setting):
    (value,) = [
        item.value
        for item in measurements
        if item.measure == measure and setting.items() <= item.setting.items()
    ]
    return value


@pytest.mark.parametrize("quick", [False, True])
def test_tasks_have_their_own_keys(quick):
    tasks = ENTRY.tasks(quick)
    assert len({task.key for task in tasks}) == len(tasks) == (6 if quick else 30)
    assert {task.setting["points"] for task in tasks} == {400 if quick else 1500}
    assert pickle.loads(pickle.dumps(ENTRY.run)) is ENTRY.run
    assert not ENTRY.needs_data


def test_maps_of_a_seed_are_of_the_same_roll():
    first, second = (maps.Roll.draw(small_task(name)) for name in ("MVU", "PCA"))
    np.testing.assert_array_equal(first.X, second.X)
    assert not np.array_equal(first.X, maps.Roll.draw(small_task("MVU", seed=1)).X)
    assert set(first.y) == {0, 1}


def test_one_unfolding_is_measured_as_its_certificate_says():
    measurements = ENTRY.run(small_task("MVU", "neighbours"), None)
    X, _, _ = make_swiss_roll(120, random_state=0)
    model = MaximumVarianceUnfolding(n_neighbors=5, rank=4, tol=1e-4, random_state=0).fit(X)
    found, errors = model.certificate_, model.certificate_.errors
    assert value_of(measurements, "objective") == found.objective
    assert value_of(measurements, "gap to the dual bound") == found.gap
    for measure, error in (
        ("rms error of distances, in %", errors.rms),
        ("largest error of distances, in %", errors.largest),
        ("rms error of squared distances, in %", errors.rms_squared),
        ("largest error of squared distances, in %", errors.largest_squared),
    ):
        assert value_of(measurements, measure, dimensions=4) == 100 * error
        assert value_of(measurements, measure, dimensions=2) > 100 * error
    share = model.spectrum_[:2].sum() / model.spectrum_.sum()
    assert value_of(measurements, "share of the first two eigenvalues") == share
    assert value_of(measurements, "separable by a straight line") == 0


def test_neighbor_pairs_are_counted_once():
    X, _, _ = make_swiss_roll(60, random_state=0)
    first, second, distances = maps.neighbor_distances(X)
    nearest = np.argsort(cdist(X, X), axis=1)[:, 1:6]
    pairs = {tuple(sorted((i, int(j)))) for i in range(60) for j in nearest[i]}
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == pairs
    assert len(first) == len(pairs)
    np.testing.assert_allclose(distances, cdist(X, X)[first, second])


def test_the_flat_roll_is_a_perfect_map():
    rng = np.random.default_rng(0)
    coordinates = rng.uniform(size=(200, 2)) * [9, 2]
    angle = 0.7
    turn = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
    turned = maps.turn_onto(coordinates @ turn + [3, -5], coordinates)
    np.testing.assert_allclose(turned, coordinates)
    assert maps.correlate(turned, coordinates) == pytest.approx((1, 1))


def test_turning_does_not_scale():
    coordinates = np.random.default_rng(0).uniform(size=(200, 2)) * [9, 2]
    narrow = coordinates * [1, 0.5]
    turned = maps.turn_onto(narrow, coordinates)
    np.testing.assert_allclose(cdist(turned, turned), cdist(narrow, narrow), atol=1e-9)


@pytest.mark.parametrize("name", ["Isomap", "PCA"])
def test_plain_maps_have_no_gram_matrix(name):
    measurements = ENTRY.run(small_task(name), None)
    measures = {item.measure for item in measurements}
    assert not measures & {"objective", "gap to the dual bound"}
    assert ("share of the first two eigenvalues" in measures) == (name == "PCA")
    assert {item.setting.get("dimensions", 2) for item in measurements} == {2}


def made_up(*, height=0.999, share=0.999, in_plane=0.1, whole=0.01, separable=0.0):
    """Results of all maps on three seeds, those of the unfoldings as given."""
    results = []
    for task in (Task(task.setting, seed) for task in ENTRY.tasks(True) for seed in range(3)):
        is_unfolded = "kept" in task.setting
        values = {
            figure_1.WITH_LENGTH: 0.9991,
            figure_1.WITH_HEIGHT: height if is_unfolded else 0.9,
            figure_1.TWO_EIGENVALUES: share if is_unfolded else 0.7,
            figure_1.LINE_ERROR: 0.38,
            figure_1.SEPARABLE: separable,
        }
        measured = [Measurement(value, {}, measure) for measure, value in values.items()]
        for dimensions, error in ((4, whole), (2, in_plane)):
            measured += [
                Measurement(error, {"dimensions": dimensions}, measure, unit="number")
                for measure in figure_1.ERRORS.values()
            ]
        results.append(TaskResult(task, tuple(measured), 0.0))
    return summarise(results)


@pytest.mark.parametrize(
    ("results", "verdicts"),
    [
        ({}, ["holds"] * 5),
        ({"height": 0.96}, ["partly", "partly", "holds", "holds", "holds"]),
        ({"height": 0.9}, ["does not hold", "does not hold", "holds", "holds", "holds"]),
        ({"in_plane": 13.0}, ["holds", "holds", "partly", "holds", "holds"]),
        ({"in_plane": 13.0, "whole": 1.0}, ["holds", "holds", "does not hold", "holds", "holds"]),
        ({"share": 0.6}, ["does not hold", "does not hold", "holds", "does not hold", "holds"]),
        ({"separable": 1.0}, ["holds", "holds", "holds", "holds", "does not hold"]),
    ],
)
def test_verdicts(results, verdicts):
    found = ENTRY.judge(made_up(**results))
    assert [item.verdict for item in found] == verdicts
    assert "Isomap: correlation 0.9991 with arc length, 0.9000 with height" in found[0].found


def test_the_picture_has_the_papers_panels(monkeypatch):
    asked = []

    def project(X, name, kept, seed):
        asked.append((name, kept, len(X)))
        return SimpleNamespace(embedding_=X[:, :2], spectrum_=np.array([3.0, 2.0, 1.0, 0.5]))

    monkeypatch.setattr(figure_1_picture, "unfold", project)
    figure = ENTRY.draw(made_up())
    # As many points as the run had.
    assert asked == [(name, kept, 400) for kept in maps.KEPT for name in maps.UNFOLDINGS]
    assert [ax.get_title()[0] for ax in figure.axes] == list("abSccddMM")
    assert all(ax.get_aspect() == 1 for ax in figure.axes[3:])
