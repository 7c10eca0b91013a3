"""The entries of ISM on separation: small rolls and toys, what is measured, made-up verdicts."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from labelfold import IsometricSeparationMap
from reproductions import Measurement, Task, load_paper
from reproductions.ism import (
    figure_1_separation,
    figure_1_separation_picture,
    figure_5,
    figures_2_to_4,
    figures_2_to_4_picture,
    separations,
    toys,
)
from reproductions.ism.maps import Roll
from reproductions.summary import TaskResult, summarise

PAPER = load_paper("ism")
SEPARATION, BANDS, RANDOM, CURVE, TOYS = (
    PAPER.entry(name)
    for name in ("figure-1-separation", "figure-2-bands", "figure-4-random", "figure-5", "toys")
)
SMALL = {"points": 120, "steps": 300}


def values_of(measurements, measure, **setting):
    return [
        item.value
        for item in measurements
        if item.measure == measure and setting.items() <= item.setting.items()
    ]


def value_of(measurements, measure, **setting):
    (value,) = values_of(measurements, measure, **setting)
    return value


def made_up(entry, measure_task, n_seeds=3):
    """Return the summary of an entry's quick tasks on three seeds, measured by a function."""
    settings = {task.key: task.setting for task in entry.tasks(True)}.values()
    results = [
        TaskResult(Task(setting, seed), tuple(measure_task(setting)), 0.0)
        for setting in settings
        for seed in range(n_seeds)
    ]
    return summarise({result.task.key: result for result in results}.values())


@pytest.mark.parametrize(
    ("entry", "n_full", "n_quick"),
    [(SEPARATION, 21, 7), (BANDS, 45, 15), (RANDOM, 45, 15), (CURVE, 10, 3), (TOYS, 30, 4)],
    ids=lambda value: getattr(value, "name", None),
)
def test_tasks_have_their_own_keys(entry, n_full, n_quick):
    for quick, count in ((False, n_full), (True, n_quick)):
        tasks = entry.tasks(quick)
        assert len({task.key for task in tasks}) == len(tasks) == count
        assert all(("steps" in task.setting) == quick for task in tasks if "map" in task.setting)
    assert pickle.loads(pickle.dumps(entry.run)) is entry.run
    assert not entry.needs_data


@pytest.mark.parametrize("entry", [SEPARATION, BANDS, RANDOM], ids=lambda entry: entry.name)
def test_printed_figures_stand_beside_settings_of_the_tasks(entry):
    tasks = [task.setting for task in entry.tasks(False)]
    for item in entry.printed:
        assert any(setting.items() <= item.setting.items() for setting in tasks)


# ---- what all maps share


def test_sides_are_written_beside_coordinates():
    roll = Roll.draw(Task({"points": 90}, 0))
    places = separations.append_sides(roll, 0.2, roll.X)
    np.testing.assert_array_equal(places[:, 1:], roll.X)
    np.testing.assert_array_equal(np.sign(places[:, 0]), np.where(roll.y == 1, 1, -1))
    np.testing.assert_allclose(np.abs(places[:, 0]), 0.2 * separations.edge_length(roll))


def test_the_trivial_map_is_measured_as_the_certificate_says():
    roll = Roll.draw(Task(SMALL, 0))
    model = separations.separate(roll, rank=4, margin=0.05, objective="none", seed=0, steps=30)
    measured = separations.measure_appended(roll, 0.05, roll.X, {})
    trivial = model.certificate_.trivial_errors
    assert value_of(measured, separations.SQUARED) == pytest.approx(100 * trivial.rms_squared)
    assert value_of(measured, separations.DISTANCES) == pytest.approx(100 * trivial.rms)


def test_a_map_of_axes_moved_onto_its_axis_satisfies_the_papers_signs():
    roll = Roll.draw(Task(SMALL, 0))
    model = separations.separate(roll, rank=3, margin=0.05, objective="none", seed=0, steps=300)
    R = model.gram_factor_.copy()
    anchor = R[:, 0].argmax()
    R[:, 1:] -= R[anchor, 1:]
    K_A = R @ R[anchor]
    np.testing.assert_array_equal(K_A > 0, roll.y == 1)
    assert K_A[anchor] > 0


# ---- Fig. 1


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.InfeasibleMapWarning")
def test_maps_of_one_rank_are_measured_as_their_certificates_say():
    task = Task({**SMALL, "map": "ISM", "rank": 3, "objective": "none"}, 0)
    measured = SEPARATION.run(task, None)
    roll = Roll.draw(task)
    model = IsometricSeparationMap(
        1, margin=0.05, objective="none", rank=3, tol=1e-4, max_iter=300, random_state=0
    )
    found = model.fit(roll.X, roll.y).certificate_
    setting = {"normals": "axes", "margin": 0.05}
    for measure, value in (
        ("separation error", found.separation_error),
        ("rms error of distances, in %", 100 * found.errors.rms),
        ("rms error of squared distances, in %", 100 * found.errors.rms_squared),
        ("largest error of squared distances, in %", 100 * found.errors.largest_squared),
        (separations.LEAST_ERROR, 100 * found.least_error),
    ):
        assert value_of(measured, measure, **setting) == value
    assert values_of(measured, "separation error", normals="axes") == [0, 0]
    # The margin of anchors is no length, so that nothing is known of what maps must cost.
    assert not values_of(measured, separations.LEAST_ERROR, normals="anchors")
    lengths = values_of(measured, figure_1_separation.ANCHOR_LENGTH, normals="anchors")
    assert len(lengths) == 2
    assert min(lengths) > 0.1
    assert len(values_of(measured, figure_1_separation.SHORTFALL)) == 2


def test_the_search_tells_the_ranks_it_tried(monkeypatch):
    monkeypatch.setattr(figure_1_separation, "TOLERANCE", 1e-2)
    measured = SEPARATION.run(Task({**SMALL, "map": figure_1_separation.SEARCH}, 0), None)
    rank = value_of(measured, "least rank")
    tried = {item.setting["rank"] for item in measured if "rank" in item.setting}
    assert {rank, 4} <= tried  # 4 is the trivial map's
    assert value_of(measured, separations.SQUARED, rank=rank) <= 1


def test_maps_with_sides_beside_them():
    task = Task({**SMALL, "map": separations.FLAT}, 0)
    measured = SEPARATION.run(task, None)
    assert [item.setting["rank"] for item in measured] == [3] * 8
    small, usual = (value_of(measured, separations.SQUARED, margin=m) for m in (0.001, 0.05))
    assert small < usual


def made_up_maps(
    *, plane=3.0, space=0.01, wrong=0.0, wrong_sign=0.0, least_rank=3, flat=0.2, trivial=0.1
):
    def measure(setting):
        name = setting["map"]
        if name == "ISM":
            error = space if setting["rank"] == 3 else plane
            for normals, margins in (("axes", (0.001, 0.05)), ("anchors", (0.0, 0.05))):
                for margin in margins:
                    own = {"normals": normals, "margin": margin}
                    yield from errors(error, own)
                    is_printed = normals == "anchors" and margin == 0
                    share = wrong_sign if is_printed else wrong
                    yield Measurement(share, own, separations.SEPARATION_ERROR)
                    if normals == "anchors":
                        yield Measurement(2.0, own, figure_1_separation.ANCHOR_LENGTH)
                        yield Measurement(0.0, own, figure_1_separation.SHORTFALL)
        elif name == figure_1_separation.SEARCH:
            if least_rank:
                yield Measurement(least_rank, {}, "least rank", unit="choice")
            for rank, error in ((2, plane), (3, space), (4, 0.005)):
                yield from errors(error, {"rank": rank})
        else:
            for margin in (0.001, 0.05):
                error = flat if name == separations.FLAT else trivial
                yield from errors(error, {"margin": margin})

    def errors(error, setting):
        for name in (separations.DISTANCES, separations.SQUARED):
            yield Measurement(error, setting, name, unit="number")

    return made_up(SEPARATION, measure)


@pytest.mark.parametrize(
    ("results", "changed"),
    [
        ({}, {}),
        ({"plane": 0.5}, {0: "does not hold"}),
        ({"space": 0.05}, {1: "partly"}),
        ({"space": 0.15}, {1: "does not hold", 5: "partly"}),
        ({"wrong": 0.001}, {2: "does not hold", 3: "partly"}),
        ({"wrong_sign": 0.5}, {3: "partly"}),
        ({"least_rank": 4}, {4: "does not hold"}),
        ({"least_rank": None}, {4: "does not hold"}),
        ({"flat": 0.005}, {5: "does not hold"}),
        ({"trivial": 0.005}, {5: "partly"}),
    ],
)
def test_verdicts_on_two_classes(results, changed):
    found = [item.verdict for item in SEPARATION.judge(made_up_maps(**results))]
    assert found == [changed.get(number, "holds") for number in range(6)]


def fake_map(roll, *, rank, margin, objective, seed, steps):
    n_normals = 1 if roll.y.max() == 1 else 3
    R = np.random.default_rng(0).normal(size=(len(roll.X), rank))
    values = R[:, 0] if n_normals == 1 else R[:, :n_normals]
    spectrum = 2.0 ** -np.arange(rank)
    return SimpleNamespace(gram_factor_=R, decision_values_=values, spectrum_=spectrum)


def test_the_picture_of_two_classes_has_the_papers_panels(monkeypatch):
    monkeypatch.setattr(figure_1_separation_picture, "separate", fake_map)
    figure = SEPARATION.draw(made_up_maps())
    assert sorted(ax.get_title()[0] for ax in figure.axes) == sorted("efghDDS")


# ---- Figs 2 to 4


def test_patterns_lie_on_the_same_roll():
    first, second = (
        figures_2_to_4.draw_roll(Task({"points": 90, "classes": classes}, 0))
        for classes in ("bands", "random")
    )
    np.testing.assert_array_equal(first.X, second.X)
    assert set(first.y) == set(second.y) == {0, 1, 2}
    assert np.mean(first.y != second.y) > 0.5


@pytest.mark.parametrize("entry", [BANDS, RANDOM], ids=lambda entry: entry.name)
def test_maps_of_three_classes(entry):
    classes = entry.name.split("-")[-1]
    setting = {**SMALL, "classes": classes, "margin": 0.01}
    own = {"map": "ISM", "rank": 12, "objective": "variance"}
    measured = entry.run(Task({**setting, **own}, 0), None)
    assert value_of(measured, "separation error") == 0
    shares = [value_of(measured, measure) for measure in figures_2_to_4.SHARES.values()]
    assert 0 < shares[0] < shares[1] < shares[2] <= 1
    trivial = entry.run(Task({**setting, "map": separations.TRIVIAL}, 0), None)
    assert {item.setting["rank"] for item in trivial} == {6}


def test_sides_beside_an_unsupervised_map(monkeypatch):
    monkeypatch.setattr(figures_2_to_4, "UNFOLDING_STEPS", 200)
    setting = {**SMALL, "classes": "bands", "map": figures_2_to_4.UNFOLDED, "margin": 0.3}
    one, two = (BANDS.run(Task({**setting, "rank": rank}, 0), None) for rank in (4, 5))
    assert value_of(two, separations.SQUARED) < value_of(one, separations.SQUARED)


def test_lines_part_classes_at_corners():
    roll = figures_2_to_4.draw_roll(Task({"points": 90, "classes": "random"}, 0))
    corners = np.array([[0, 0], [1, 0], [0, 1]])[roll.y] + 0.01 * roll.X[:, :2] / 21
    measured = figures_2_to_4.measure_lines(corners, roll)
    assert [item.value for item in measured] == [0, 1]


def made_up_classes(
    entry, *, wrong=0.0, error=0.01, variance=0.99, none=0.7, trivial=0.1, low=2.0, beside=9.0
):
    def measure(setting):
        name, rank = setting["map"], setting.get("rank")
        if name == figures_2_to_4.MVU:
            yield Measurement(0.6, {}, figures_2_to_4.LINE_ERROR)
            yield Measurement(0.0, {}, figures_2_to_4.SEPARABLE)
            return
        value = {separations.TRIVIAL: trivial, "ISM": error if rank == 12 else low}
        for measure in (separations.DISTANCES, separations.SQUARED):
            own = {"rank": 5} if name == separations.FLAT else {}
            yield Measurement(value.get(name, beside), own, measure, unit="number")
        if name == "ISM":
            yield Measurement(wrong, {}, separations.SEPARATION_ERROR)
            yield Measurement(1.0, {}, separations.LEAST_ERROR, unit="number")
            share = variance if setting["objective"] == "variance" else none
            for measure in figures_2_to_4.SHARES.values():
                yield Measurement(share, {}, measure)

    return made_up(entry, measure)


@pytest.mark.parametrize("entry", [BANDS, RANDOM], ids=lambda entry: entry.name)
@pytest.mark.parametrize(
    ("results", "changed"),
    [
        ({}, {}),
        # The flat roll with sides beside it is still farther from the distances.
        ({"wrong": 0.1}, {1: "does not hold", 5: "partly"}),
        ({"error": 0.5}, {2: "does not hold", 4: "does not hold"}),
        ({"variance": 0.8}, {3: "holds"}),
        ({"none": 0.95}, {3: "does not hold"}),
        ({"trivial": 0.001}, {4: "does not hold"}),
        ({"beside": 1.5}, {5: "does not hold"}),
    ],
)
def test_verdicts_on_three_classes(entry, results, changed):
    found = [item.verdict for item in entry.judge(made_up_classes(entry, **results))]
    usual = ["holds", "holds", "holds", "partly", "holds", "holds"]
    assert found == [changed.get(number, verdict) for number, verdict in enumerate(usual)]


def test_random_classes_may_err_as_much_as_the_paper():
    found = RANDOM.judge(made_up_classes(RANDOM, wrong=0.0016))
    assert found[1].verdict == "holds"
    assert "99.83 %" in found[1].paper


@pytest.mark.parametrize("entry", [BANDS, RANDOM], ids=lambda entry: entry.name)
def test_the_picture_of_three_classes(monkeypatch, entry):
    monkeypatch.setattr(figures_2_to_4_picture, "separate", fake_map)
    monkeypatch.setattr(
        figures_2_to_4_picture,
        "unfold",
        lambda X, *_: SimpleNamespace(embedding_=X[:, :2], spectrum_=np.ones(4)),
    )
    figure = entry.draw(made_up_classes(entry))
    assert len(figure.axes) == 5
    assert [line.get_label() for line in figure.axes[-1].get_lines()][-1] == "MVU"


# ---- Fig. 5


def test_the_curve_is_folded():
    measured = CURVE.run(Task({}, 0), None)
    assert value_of(measured, "separable by a straight line") == 0
    assert value_of(measured, "separation error", map="ISM") == 0
    assert value_of(measured, separations.SQUARED, map="ISM") < 0.4
    assert value_of(measured, "separation error", map=figure_5.SVM) < 0.05


def test_points_follow_the_curve():
    curve = figure_5.draw_curve(0)
    np.testing.assert_allclose(curve.X[:, 1], 2 * np.sin(curve.X[:, 0]), atol=1e-6)
    assert np.sum(np.diff(curve.y) != 0) == 3
    steps = np.linalg.norm(np.diff(curve.X, axis=0), axis=1)
    assert steps.max() < 5 * steps.min()


@pytest.mark.parametrize(
    ("results", "verdicts"),
    [
        ({}, ["holds", "holds"]),
        ({"error": 1.0}, ["partly", "holds"]),
        ({"wrong": 0.1}, ["does not hold", "holds"]),
        ({"separable": 1.0}, ["does not hold", "holds"]),
        ({"machine": 0.01}, ["holds", "partly"]),
        ({"machine": 0.3}, ["holds", "does not hold"]),
    ],
)
def test_verdicts_on_the_curve(results, verdicts):
    given = {"error": 0.1, "wrong": 0.0, "separable": 0.0, "machine": 0.0, **results}

    def measure(setting):
        yield Measurement(given["separable"], {"map": figure_5.DATA}, figure_5.SEPARABLE)
        for name, share in (("ISM", given["wrong"]), (figure_5.SVM, given["machine"])):
            yield Measurement(share, {"map": name}, separations.SEPARATION_ERROR)
        for name in (separations.DISTANCES, separations.SQUARED):
            yield Measurement(given["error"], {"map": "ISM"}, name, unit="number")

    found = CURVE.judge(made_up(CURVE, measure))
    assert [item.verdict for item in found] == verdicts


def test_the_picture_of_the_curve():
    figure = CURVE.draw(None)
    assert [ax.get_title()[:3] for ax in figure.axes] == ["A c", "ISM", "Gau"]


# ---- toys


def test_given_labels_do_not_count():
    toy = toys.Toy.draw(Task({"toy": toys.MOONS, "points": 40}, 0))
    assert toy.y[toy.labeled].tolist() == [0, 1]
    wrong = toy.y.copy()
    wrong[toy.labeled] = 1 - wrong[toy.labeled]
    assert toy.error(wrong) == 0
    assert toy.error(1 - toy.y) == 1


@pytest.mark.parametrize("name", [toys.MOONS, toys.ROLL])
def test_machines_of_two_labels_are_one_machine(name):
    toy = toys.Toy.draw(Task({"toy": name, "points": 200}, 0))
    errors = toys.try_machines(toy)
    assert len(set(errors.values())) == 1


def test_rules_of_one_draw():
    measured = TOYS.run(Task({"toy": toys.MOONS, "points": 100}, 0), None)
    rules = [item.setting["rule"] for item in measured]
    assert rules[:3] == [*toys.ISM_RULES, toys.PATHS]
    assert {item.n_scored for item in measured} == {98}
    assert value_of(measured, "error", rule=toys.PATHS) < 0.5


def made_up_toys(*, ism=0.05, paths=0.08):
    def measure(setting):
        for name in toys.ISM_RULES:
            yield Measurement(ism, {"rule": name})
        yield Measurement(paths, {"rule": toys.PATHS})
        for name in toys.BEST_CASES:
            yield Measurement(0.2, {"rule": name})

    return made_up(TOYS, measure)


@pytest.mark.parametrize(
    ("results", "verdicts"),
    [
        ({}, ["holds"] * 3),
        ({"ism": 0.1}, ["holds", "holds", "does not hold"]),
        ({"ism": 0.3}, ["does not hold"] * 3),
    ],
)
def test_verdicts_on_toys(results, verdicts):
    assert [item.verdict for item in TOYS.judge(made_up_toys(**results))] == verdicts


def test_the_picture_of_the_toys(monkeypatch):
    monkeypatch.setattr(toys, "separate", lambda toy, *_: SimpleNamespace(transduction_=1 - toy.y))
    figure = TOYS.draw(made_up_toys())
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[0].startswith("Half-moons")
    assert titles[2] == titles[5] == "ISM: error 100.0 %"
