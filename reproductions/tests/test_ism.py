"""The figures and toys of ISM: small rolls, what is measured of them, and made-up verdicts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from labelfold import IsometricSeparationMap, MaximumVarianceUnfolding
from labelfold.datasets import make_swiss_roll
from reproductions import Measurement, Task, load_paper
from reproductions.ism import (
    figure_1_separation,
    figure_1_unfolding,
    figure_5,
    figures_2_to_4,
    rolls,
    toys,
)
from reproductions.summary import TaskResult, summarize
from reproductions.tests.helpers import value_of, values_of

PAPER = load_paper("ism")
UNFOLDING, SEPARATION, BANDS, RANDOM, CURVE, *_, TOYS = PAPER.entries
SMALL = {"points": 120, "steps": 300}


def name_of(value):
    return getattr(value, "name", None)


def made_up(entry, measure_task):
    """Return the summary of an entry's quick tasks on three seeds, measured by a function."""
    settings = [dict(items) for items in {tuple(t.setting.items()): 0 for t in entry.tasks(True)}]
    return summarize(
        TaskResult(Task(setting, seed), tuple(measure_task(setting)), 0.0)
        for setting in settings
        for seed in range(3)
    )


def rms_errors(value, **setting):
    return [Measurement(value, setting, name, unit="number") for name in rolls.RMS_ERRORS]


# ---- rolls


def test_rolls_of_a_seed_have_the_same_points():
    settings = {}, {"map": "PCA"}, {"classes": "bands"}, {"classes": "random"}
    first, *others = (rolls.Roll.draw(Task({"points": 90, **own}, 0)) for own in settings)
    for other in others:
        np.testing.assert_array_equal(first.X, other.X)
    assert [sorted(set(roll.y)) for roll in others] == [[0, 1], [0, 1, 2], [0, 1, 2]]
    assert np.mean(others[1].y != others[2].y) > 0.5
    assert not np.array_equal(first.X, rolls.Roll.draw(Task({"points": 90}, 1)).X)


def test_neighbor_pairs_are_counted_once():
    X, _, _ = make_swiss_roll(60, random_state=0)
    first, second, distances = rolls.neighbor_distances(X)
    nearest = np.argsort(cdist(X, X), axis=1)[:, 1:6]
    pairs = {tuple(sorted((i, int(j)))) for i in range(60) for j in nearest[i]}
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == pairs
    assert len(first) == len(pairs)
    np.testing.assert_allclose(distances, cdist(X, X)[first, second])


def test_turning_finds_the_flat_roll_and_does_not_scale():
    coordinates = np.random.default_rng(0).uniform(size=(200, 2)) * [9, 2]
    angle = 0.7
    turn = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
    turned = rolls.turn_onto(coordinates @ turn + [3, -5], coordinates)
    np.testing.assert_allclose(turned, coordinates)
    assert rolls.correlate(turned, coordinates) == pytest.approx((1, 1))
    narrow = coordinates * [1, 0.5]
    turned = rolls.turn_onto(narrow, coordinates)
    np.testing.assert_allclose(cdist(turned, turned), cdist(narrow, narrow), atol=1e-9)


def test_the_trivial_map_is_measured_as_the_certificate_says():
    task = Task({"points": 120, "steps": 30}, 0)
    roll = rolls.Roll.draw(task)
    places = rolls.append_sides(roll, 0.2, roll.X)
    np.testing.assert_array_equal(places[:, 1:], roll.X)
    np.testing.assert_array_equal(np.sign(places[:, 0]), np.where(roll.y == 1, 1, -1))
    np.testing.assert_allclose(np.abs(places[:, 0]), 0.2 * rolls.edge_length(roll))
    model = rolls.separate(roll, task, rank=4, margin=0.05, objective="none")
    trivial = model.certificate_.trivial_errors
    measured = rolls.measure_appended(roll, 0.05, roll.X, {})
    assert value_of(measured, rolls.SQUARED) == pytest.approx(100 * trivial.rms_squared)
    assert value_of(measured, rolls.DISTANCES) == pytest.approx(100 * trivial.rms)


def test_a_map_of_axes_moved_onto_its_axis_satisfies_the_papers_signs():
    task = Task(SMALL, 0)
    roll = rolls.Roll.draw(task)
    R = rolls.separate(roll, task, rank=3, margin=0.05, objective="none").gram_factor_.copy()
    anchor = R[:, 0].argmax()
    R[:, 1:] -= R[anchor, 1:]
    K_A = R @ R[anchor]
    np.testing.assert_array_equal(K_A > 0, roll.y == 1)
    assert K_A[anchor] > 0


def test_lines_part_classes_at_corners():
    roll = rolls.Roll.draw(Task({"points": 90, "classes": "random"}, 0))
    corners = np.array([[0, 0], [1, 0], [0, 1]])[roll.y] + 0.01 * roll.X[:, :2] / 21
    assert [item.value for item in rolls.measure_lines(corners, roll.y)] == [0, 1]


# ---- measured as the certificates say


def test_an_unfolding_is_measured_as_its_certificate_says():
    task = Task({"points": 120, "map": "MVU", "kept": "neighbors"}, 0)
    measured = UNFOLDING.run(task, None)
    X, _, _ = make_swiss_roll(120, random_state=0)
    model = MaximumVarianceUnfolding(n_neighbors=5, rank=4, tol=1e-4, random_state=0).fit(X)
    found = model.certificate_
    assert value_of(measured, "objective") == found.objective
    assert value_of(measured, "gap to the dual bound") == found.gap
    for name, measure in rolls.ERRORS.items():
        error = 100 * getattr(found.errors, name)
        assert value_of(measured, measure, dimensions=4) == error
        assert value_of(measured, measure, dimensions=2) > error
    share = model.spectrum_[:2].sum() / model.spectrum_.sum()
    assert value_of(measured, "share of the first two eigenvalues") == share
    assert value_of(measured, "separable by a straight line") == 0


@pytest.mark.parametrize(("name", "n_measures"), [("Isomap", 8), ("PCA", 9)])
def test_plain_maps_are_measured_in_the_plane(name, n_measures):
    measured = UNFOLDING.run(Task({"points": 120, "map": name}, 0), None)
    assert len({item.measure for item in measured}) == n_measures  # PCA has a spectrum
    assert {item.setting.get("dimensions", 2) for item in measured} == {2}


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.InfeasibleMapWarning")
def test_maps_of_one_rank_are_measured_as_their_certificates_say():
    task = Task({**SMALL, "map": "ISM", "rank": 3, "objective": "none"}, 0)
    measured = SEPARATION.run(task, None)
    roll = rolls.Roll.draw(task)
    model = IsometricSeparationMap.as_published(
        n_components=1,
        margin=0.05,
        objective="none",
        rank=3,
        tol=1e-4,
        max_iter=300,
        random_state=0,
    )
    found = model.fit(roll.X, roll.y).certificate_
    setting = {"normals": "axes", "margin": 0.05}
    assert value_of(measured, "separation error", **setting) == found.separation_error
    assert value_of(measured, rolls.LEAST_ERROR, **setting) == 100 * found.least_error
    for name, measure in rolls.ERRORS.items():
        assert value_of(measured, measure, **setting) == 100 * getattr(found.errors, name)
    assert values_of(measured, "separation error", normals="axes") == [0, 0]
    # The margin of anchors is not a length, so nothing is known of what maps must cost.
    assert not values_of(measured, rolls.LEAST_ERROR, normals="anchors")
    lengths = values_of(measured, figure_1_separation.ANCHOR_LENGTH, normals="anchors")
    assert len(lengths) == len(values_of(measured, figure_1_separation.SHORTFALL)) == 2
    assert min(lengths) > 0.1


def test_the_search_reports_the_ranks_it_tried(monkeypatch):
    monkeypatch.setattr(rolls, "TOLERANCE", 1e-2)
    measured = SEPARATION.run(Task({**SMALL, "map": figure_1_separation.SEARCH}, 0), None)
    rank = value_of(measured, "least rank")
    tried = {item.setting["rank"] for item in measured if "rank" in item.setting}
    assert {rank, 4} <= tried  # 4 is the trivial map's
    assert value_of(measured, rolls.SQUARED, rank=rank) <= 1


def test_maps_with_sides_beside_them(monkeypatch):
    measured = SEPARATION.run(Task({**SMALL, "map": rolls.FLAT}, 0), None)
    assert [item.setting["rank"] for item in measured] == [3] * 8
    small, usual = (value_of(measured, rolls.SQUARED, margin=m) for m in (0.001, 0.05))
    assert small < usual
    monkeypatch.setattr(figures_2_to_4, "UNFOLDING_STEPS", 200)
    setting = {**SMALL, "classes": "bands", "map": figures_2_to_4.UNFOLDED, "margin": 0.3}
    one, two = (BANDS.run(Task({**setting, "rank": rank}, 0), None) for rank in (4, 5))
    assert value_of(two, rolls.SQUARED) < value_of(one, rolls.SQUARED)


@pytest.mark.parametrize("entry", [BANDS, RANDOM], ids=name_of)
def test_maps_of_three_classes(entry):
    setting = {**SMALL, "classes": entry.name.split("-")[-1], "margin": 0.01}
    own = {"map": "ISM", "rank": 12, "objective": "variance"}
    measured = entry.run(Task({**setting, **own}, 0), None)
    assert value_of(measured, "separation error") == 0
    shares = [value_of(measured, measure) for measure in figures_2_to_4.SHARES.values()]
    assert 0 < shares[0] < shares[1] < shares[2] <= 1
    trivial = entry.run(Task({**setting, "map": rolls.TRIVIAL}, 0), None)
    assert {item.setting["rank"] for item in trivial} == {6}


def test_the_curve_is_folded():
    X, y = figure_5.draw_curve(0)
    np.testing.assert_allclose(X[:, 1], 2 * np.sin(X[:, 0]), atol=1e-6)
    assert np.sum(np.diff(y) != 0) == 3
    steps = np.linalg.norm(np.diff(X, axis=0), axis=1)
    assert steps.max() < 5 * steps.min()
    measured = CURVE.run(Task({}, 0), None)
    assert value_of(measured, "separable by a straight line") == 0
    assert value_of(measured, "separation error", map="ISM") == 0
    assert value_of(measured, rolls.SQUARED, map="ISM") < 0.4
    assert value_of(measured, "separation error", map=figure_5.SVM) < 0.05


def test_rules_of_one_draw_do_not_count_given_labels():
    task = Task({"toy": toys.MOONS, "points": 100}, 0)
    toy = toys.Toy.draw(task)
    assert toy.y[toy.labeled].tolist() == [0, 1]
    wrong = toy.y.copy()
    wrong[toy.labeled] = 1 - wrong[toy.labeled]
    assert (toy.error(wrong), toy.error(1 - toy.y)) == (0, 1)
    measured = TOYS.run(task, None)
    rules = [item.setting["rule"] for item in measured]
    assert rules[:3] == [*toys.ISM_RULES, toys.PATHS]
    assert {item.n_scored for item in measured} == {98}
    assert value_of(measured, "error", rule=toys.PATHS) < 0.5


@pytest.mark.parametrize("name", [toys.MOONS, toys.ROLL])
def test_machines_of_two_labels_are_one_machine(name):
    toy = toys.Toy.draw(Task({"toy": name, "points": 200}, 0))
    assert len(set(toys.try_machines(toy).values())) == 1


# ---- verdicts on made-up results


def made_up_unfolding(*, height=0.999, share=0.999, in_plane=0.1, whole=0.01, separable=0.0):
    def measure(setting):
        is_unfolded = "kept" in setting
        values = {
            figure_1_unfolding.WITH_LENGTH: 0.9991,
            figure_1_unfolding.WITH_HEIGHT: height if is_unfolded else 0.9,
            figure_1_unfolding.TWO_EIGENVALUES: share if is_unfolded else 0.7,
            rolls.LINE_ERROR: 0.38,
            rolls.SEPARABLE: separable,
        }
        yield from (Measurement(value, {}, measure) for measure, value in values.items())
        yield from rms_errors(whole, dimensions=4) + rms_errors(in_plane, dimensions=2)

    return made_up(UNFOLDING, measure)


def made_up_separation(
    *, plane=3.0, space=0.01, wrong=0.0, wrong_sign=0.0, least_rank=3, flat=0.2, trivial=0.1
):
    def measure(setting):
        name = setting["map"]
        if name == "ISM":
            error = space if setting["rank"] == 3 else plane
            for normals, margins in (("axes", (0.001, 0.05)), ("anchors", (0.0, 0.05))):
                for margin in margins:
                    own = {"normals": normals, "margin": margin}
                    yield from rms_errors(error, **own)
                    yield Measurement(wrong if margin else wrong_sign, own, rolls.SEPARATION_ERROR)
                    if normals == "anchors":
                        yield Measurement(2.0, own, figure_1_separation.ANCHOR_LENGTH)
                        yield Measurement(0.0, own, figure_1_separation.SHORTFALL)
        elif name == figure_1_separation.SEARCH:
            if least_rank:
                yield Measurement(least_rank, {}, "least rank", unit="choice")
            for rank, error in ((2, plane), (3, space), (4, 0.005)):
                yield from rms_errors(error, rank=rank)
        else:
            for margin in (0.001, 0.05):
                yield from rms_errors(flat if name == rolls.FLAT else trivial, margin=margin)

    return made_up(SEPARATION, measure)


def made_up_classes(
    entry, *, wrong=0.0, error=0.01, variance=0.99, none=0.7, trivial=0.1, low=2.0, beside=9.0
):
    def measure(setting):
        name, rank = setting["map"], setting.get("rank")
        if name == figures_2_to_4.MVU:
            yield Measurement(0.6, {}, rolls.LINE_ERROR)
            yield Measurement(0.0, {}, rolls.SEPARABLE)
            return
        value = {rolls.TRIVIAL: trivial, "ISM": error if rank == 12 else low}
        yield from rms_errors(
            value.get(name, beside), **({"rank": 5} if name == rolls.FLAT else {})
        )
        if name == "ISM":
            yield Measurement(wrong, {}, rolls.SEPARATION_ERROR)
            yield Measurement(1.0, {}, rolls.LEAST_ERROR, unit="number")
            share = variance if setting["objective"] == "variance" else none
            yield from (Measurement(share, {}, name) for name in figures_2_to_4.SHARES.values())

    return made_up(entry, measure)


def made_up_curve(*, error=0.1, wrong=0.0, separable=0.0, machine=0.0):
    def measure(setting):
        yield Measurement(separable, {"map": figure_5.DATA}, rolls.SEPARABLE)
        for name, share in (("ISM", wrong), (figure_5.SVM, machine)):
            yield Measurement(share, {"map": name}, rolls.SEPARATION_ERROR)
        yield from rms_errors(error, map="ISM")

    return made_up(CURVE, measure)


def made_up_toys(*, ism=0.05, paths=0.08):
    errors = {**dict.fromkeys(toys.ISM_RULES, ism), toys.PATHS: paths}
    errors |= dict.fromkeys(toys.BEST_CASES, 0.2)
    return made_up(TOYS, lambda _: [Measurement(e, {"rule": name}) for name, e in errors.items()])


NO, PARTLY = "does not hold", "partly"


@pytest.mark.parametrize(
    ("make", "results", "changed"),
    [
        (made_up_unfolding, {}, {}),
        (made_up_unfolding, {"height": 0.96}, {0: PARTLY, 1: PARTLY}),
        (made_up_unfolding, {"height": 0.9}, {0: NO, 1: NO}),
        (made_up_unfolding, {"in_plane": 13.0}, {2: PARTLY}),
        (made_up_unfolding, {"in_plane": 13.0, "whole": 1.0}, {2: NO}),
        (made_up_unfolding, {"share": 0.6}, {0: NO, 1: NO, 3: NO}),
        (made_up_unfolding, {"separable": 1.0}, {4: NO}),
        (made_up_separation, {}, {}),
        (made_up_separation, {"plane": 0.5}, {0: NO}),
        (made_up_separation, {"space": 0.05}, {1: PARTLY}),
        (made_up_separation, {"space": 0.15}, {1: NO, 5: PARTLY}),
        (made_up_separation, {"wrong": 0.001}, {2: NO, 3: PARTLY}),
        (made_up_separation, {"wrong_sign": 0.5}, {3: PARTLY}),
        (made_up_separation, {"least_rank": 4}, {4: NO}),
        (made_up_separation, {"least_rank": None}, {4: NO}),
        (made_up_separation, {"flat": 0.005}, {5: NO}),
        (made_up_separation, {"trivial": 0.005}, {5: PARTLY}),
        (made_up_curve, {}, {}),
        (made_up_curve, {"error": 1.0}, {0: PARTLY}),
        (made_up_curve, {"wrong": 0.1}, {0: NO}),
        (made_up_curve, {"separable": 1.0}, {0: NO}),
        (made_up_curve, {"machine": 0.01}, {1: PARTLY}),
        (made_up_curve, {"machine": 0.3}, {1: NO}),
        (made_up_toys, {}, {}),
        (made_up_toys, {"ism": 0.1}, {2: NO}),
        (made_up_toys, {"ism": 0.3}, {0: NO, 1: NO, 2: NO}),
    ],
)
def test_verdicts(make, results, changed):
    made = (made_up_unfolding, made_up_separation, made_up_curve, made_up_toys)
    entry = (UNFOLDING, SEPARATION, CURVE, TOYS)[made.index(make)]
    found = [item.verdict for item in entry.judge(make(**results))]
    assert found == [changed.get(number, "holds") for number in range(len(found))]
    assert len(found) > max(changed, default=0)


@pytest.mark.parametrize("entry", [BANDS, RANDOM], ids=name_of)
@pytest.mark.parametrize(
    ("results", "changed"),
    [
        ({}, {}),
        # The flat roll with sides beside it is still farther from the distances.
        ({"wrong": 0.1}, {1: NO, 5: PARTLY}),
        ({"error": 0.5}, {2: NO, 4: NO}),
        ({"variance": 0.8}, {3: "holds"}),
        ({"none": 0.95}, {3: NO}),
        ({"trivial": 0.001}, {4: NO}),
        ({"beside": 1.5}, {5: NO}),
    ],
)
def test_verdicts_on_three_classes(entry, results, changed):
    found = [item.verdict for item in entry.judge(made_up_classes(entry, **results))]
    usual = ["holds", "holds", "holds", PARTLY, "holds", "holds"]
    assert found == [changed.get(number, verdict) for number, verdict in enumerate(usual)]


def test_random_classes_may_err_as_much_as_the_paper():
    found = RANDOM.judge(made_up_classes(RANDOM, wrong=0.0016))[1]
    assert (found.verdict, "99.83 %" in found.paper) == ("holds", True)


# ---- pictures


@pytest.fixture
def quick_maps(monkeypatch):
    """Maps that cost nothing, in the place of unfoldings and separation maps."""

    def unfold(X, *_):
        return SimpleNamespace(embedding_=X[:, :2], spectrum_=np.array([3.0, 2.0, 1.0, 0.5]))

    def separate(roll, task, *, rank, **_):
        R = np.random.default_rng(0).normal(size=(len(roll.X), rank))
        values = R[:, 0] if roll.y.max() == 1 else R[:, :3]
        spectrum = 2.0 ** -np.arange(rank)
        return SimpleNamespace(gram_factor_=R, decision_values_=values, spectrum_=spectrum)

    monkeypatch.setattr(rolls, "unfold", unfold)
    monkeypatch.setattr(rolls, "separate", separate)
    monkeypatch.setattr(toys, "separate", lambda toy, *_: SimpleNamespace(transduction_=1 - toy.y))


def test_pictures_have_the_papers_panels(quick_maps):
    figure = UNFOLDING.draw(made_up_unfolding())
    assert [ax.get_title()[0] for ax in figure.axes] == list("abSccddMM")
    assert all(ax.get_aspect() == 1 for ax in figure.axes[3:])
    figure = SEPARATION.draw(made_up_separation())
    assert sorted(ax.get_title()[0] for ax in figure.axes) == sorted("efghDDS")
    for entry in (BANDS, RANDOM):
        figure = entry.draw(made_up_classes(entry))
        assert len(figure.axes) == 5
        assert figure.axes[-1].get_lines()[-1].get_label() == "MVU"
    figure = CURVE.draw(None)
    assert [ax.get_title()[:3] for ax in figure.axes] == ["A c", "ISM", "Gau"]
    titles = [ax.get_title() for ax in TOYS.draw(made_up_toys()).axes]
    assert titles[0].startswith("Half-moons")
    assert titles[2] == titles[5] == "ISM: error 100.0 %"
