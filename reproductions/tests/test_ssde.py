"""The entries of SSDE on small stand-ins for its data, and verdicts on made-up results."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from labelfold import SupervisedSemidefiniteEmbedding
from reproductions import Measurement, Task, load_paper
from reproductions.ssde import figure_1, figure_2, maps
from reproductions.summary import TaskResult, summarize
from reproductions.tests.helpers import value_of

PAPER = load_paper("ssde")
FIGURE_1, FIGURE_2 = PAPER.entry("figure-1"), PAPER.entry("figure-2")


# Figure 1


def roll_task(classes, name, seed=0, **parameters):
    return Task({"classes": classes, "points": 120, "map": name, **parameters}, seed)


def test_new_points_are_of_the_same_roll_and_no_label_of_theirs_is_used():
    roll = figure_1.Roll.draw(roll_task("bands", "data"))
    assert (len(roll.X), len(roll.X_new)) == (120, 60)
    assert set(roll.y) == set(roll.y_new) == {0, 1, 2, 3}
    band = np.floor(4 * roll.coordinates[:, 0] / roll.coordinates[:, 0].max())
    assert np.mean(band == roll.y) > 0.95
    other = figure_1.Roll.draw(roll_task("random", "data"))
    np.testing.assert_array_equal(roll.X, other.X)
    assert np.mean(other.y == roll.y) < 0.5


def test_what_is_measured_of_a_map():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 30)
    inside = rng.uniform(size=(120, 2))
    centers = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])
    apart, collapsed = centers[y] + inside, centers[y] + 1e-12 * inside
    for places in (apart, collapsed):
        assert figure_1.groups_apart(places, y) == 1
    assert figure_1.groups_apart(inside, y) == 0
    mixed = centers[np.minimum(y, 2)] + inside
    assert figure_1.groups_apart(mixed, y) == 0.5  # all but classes 2 and 3
    total = np.sum((apart - apart.mean(axis=0)) ** 2)
    within = sum(np.sum((apart[y == v] - apart[y == v].mean(axis=0)) ** 2) for v in range(4))
    assert figure_1.within_share(apart, y) == pytest.approx(within / total)
    assert figure_1.within_share(collapsed, y) == 0
    assert figure_1.class_correlation(3 * apart, inside, y) == pytest.approx(1)
    assert figure_1.class_correlation(collapsed, inside, y) == 0


def test_left_out_points_have_no_part_in_their_class():
    task = roll_task("random", "data")
    roll = figure_1.Roll.draw(task)
    rows = np.arange(len(roll.y))
    right = [
        KNeighborsClassifier(3).fit(roll.X[rows != row], roll.y[rows != row]).predict(roll.X[[row]])
        == roll.y[row]
        for row in rows
    ]
    assert value_of(FIGURE_1.run(task, None), figure_1.LEFT_OUT) == np.mean(right)


def test_a_class_that_hangs_folded_by_its_medoid_is_found():
    line = np.linspace(-1, 1, 41)
    y, coordinates = np.repeat([0, 1], 41), np.tile(np.column_stack([line, line * 0]), (2, 1))
    sides = np.where(y == 0, -1.0, 1.0)
    model = SimpleNamespace(medoids_=np.array([20, 61]))
    roll = SimpleNamespace(y=y, coordinates=coordinates)
    model.gram_factor_ = (sides * (5 + np.abs(coordinates[:, 0])))[:, None]
    assert figure_1.outward_correlation(model, roll) == pytest.approx(1)
    model.gram_factor_ = (sides * 5 + coordinates[:, 0])[:, None]
    assert figure_1.outward_correlation(model, roll) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("classes", ["bands", "random"])
def test_supervised_lle_collapses_and_ssde_does_not(classes):
    slle = FIGURE_1.run(roll_task(classes, "SLLE", alpha=1.0), None)
    ssde = FIGURE_1.run(roll_task(classes, "SSDE", spread=10.0), None)
    data = FIGURE_1.run(roll_task(classes, "data"), None)
    assert value_of(slle, figure_1.WITHIN) == value_of(slle, figure_1.CORRELATION) == 0
    assert value_of(ssde, figure_1.WITHIN) > 1e-4
    assert value_of(slle, figure_1.GROUPS) == value_of(ssde, figure_1.GROUPS) == 1
    assert value_of(data, figure_1.GROUPS) < 1
    assert (value_of(ssde, figure_1.NEW) > 0.6) == (classes == "bands")


def made_up_rolls(
    *, separated=1.0, groups=1.0, correlation=0.95, new=0.97, mixed=(True,) * 5, mixing=0.6
):
    """Results of three draws; those of SSDE as given, SLLE mixed at some alphas."""
    results = []
    for task in (Task(task.setting, seed) for task in FIGURE_1.tasks(True) for seed in range(3)):
        values = {
            figure_1.LEFT_OUT: separated,
            figure_1.GROUPS: groups,
            figure_1.WITHIN: 0.1,
            figure_1.CORRELATION: correlation,
            figure_1.NEW: new,
            figure_1.OUTWARD: 0.9,
        }
        if task.setting["map"] == "SLLE":
            is_mixed = mixed[figure_1.VARIED["SLLE"][1].index(task.setting["alpha"])]
            values |= {figure_1.GROUPS: 0.5 if is_mixed else 1, figure_1.WITHIN: 0.1 * is_mixed}
            values[figure_1.LEFT_OUT] = mixing if is_mixed else 1
        measured = [Measurement(value, {}, measure) for measure, value in values.items()]
        results.append(TaskResult(task, tuple(measured), 0.0))
    return summarize(results)


@pytest.mark.parametrize(
    ("results", "verdicts"),
    [
        ({}, ["holds"] * 4),
        ({"mixed": (True, True, True, False, False)}, ["partly", "holds", "holds", "holds"]),
        ({"mixing": 0.97}, ["partly", "holds", "holds", "holds"]),
        ({"mixed": (False,) * 5}, ["does not hold", "holds", "holds", "holds"]),
        ({"separated": 0.98}, ["holds", "does not hold", "holds", "holds"]),
        ({"groups": 0.75}, ["holds", "does not hold", "holds", "holds"]),
        ({"correlation": 0.6}, ["holds", "holds", "partly", "holds"]),
        ({"correlation": 0.1}, ["holds", "holds", "does not hold", "holds"]),
        ({"new": 0.6}, ["holds", "holds", "holds", "partly"]),
        ({"new": 0.25}, ["holds", "holds", "holds", "does not hold"]),
    ],
)
def test_verdicts_on_rolls(results, verdicts):
    found = FIGURE_1.judge(made_up_rolls(**results))
    assert [item.verdict for item in found] == 2 * verdicts
    assert ("every class a single point" in found[0].found) == (not all(results.get("mixed", [1])))


def test_the_picture_of_rolls(monkeypatch):
    asked = []

    def fit(roll, name, parameter, seed):
        asked.append((name, parameter, len(roll.X)))
        places = np.eye(4)[roll.y][:, :2] if parameter == 1 and name == "SLLE" else roll.X[:, :2]
        return SimpleNamespace(embedding_=places)

    monkeypatch.setattr(figure_1, "map_roll", fit)
    figure = FIGURE_1.draw(made_up_rolls())
    assert {size for *_, size in asked} == {figure_1.N_POINTS_QUICK}
    titles = [ax.get_title() for part in figure.subfigs for ax in part.axes]
    assert len(titles) == 18
    assert "SLLE, alpha 1\nevery class is one point" in titles
    assert [title.split("\n")[0] for title in titles[4:9]] == [
        f"spread {value:g}" for value in maps.SPREADS
    ]


# Figure 2


@pytest.fixture
def data(monkeypatch):
    """Noisy copies of random patterns of 320 pixels in the place of the alphadigits."""
    rng = np.random.default_rng(0)
    names = np.array(["0", "1", "2", "3", "O"], dtype=object)
    patterns = rng.uniform(size=(5, 320)) < 0.4
    patterns[4] = patterns[0]
    y = np.repeat(names, 16)
    X = (np.repeat(patterns, 16, axis=0) ^ (rng.uniform(size=(80, 320)) < 0.25)).astype(float)
    X[64:] = X[:16]  # as among the alphadigits
    monkeypatch.setattr(maps, "load_alphadigits", lambda *, data_home: (X, y))
    maps.load_images.cache_clear()
    monkeypatch.setattr(figure_2, "DIMENSIONS", (2, 3))
    monkeypatch.setattr(figure_2, "CHOSEN_AT", 3)
    monkeypatch.setattr(figure_2, "N_FOLDS", 2)
    monkeypatch.setitem(figure_2.VARIED, "SSDE", ("spread", (1.0, 10.0)))
    yield X, y
    maps.load_images.cache_clear()


def test_a_split_is_its_seed_and_scores_only_new_images(data):
    one, same, other = (maps.Split.draw(None, 36, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.X_new, same.X_new)
    assert not np.array_equal(one.X_new, other.X_new)
    assert (len(one.y), len(one.y_new)) == (64, 16)
    assert {task.seed for task in FIGURE_2.tasks(False)} == set(range(10))  # section 4.2
    assert one.score(one.y_new) == 1
    assert set(maps.Split.draw(None, 3, 0).y) == {"0", "1", "2"}


def test_zero_and_o_count_as_one_only_if_asked():
    X = np.zeros((4, 1))
    split = maps.Split(X, X[:, 0], X, np.array(["0", "O", "1", "O"], dtype=object))
    predicted = np.array(["O", "O", "0", "1"], dtype=object)
    assert (split.score(predicted), split.score(predicted, merged=True)) == (0.25, 0.5)


@pytest.mark.parametrize("task", FIGURE_2.tasks(True), ids=lambda task: task.key)
def test_every_quick_task_runs(task, data):
    measurements = FIGURE_2.run(task, None)
    scores = [item for item in measurements if item.measure in (maps.PRECISION, maps.MERGED)]
    assert all(item.n_scored == 16 and 0 <= item.value <= 1 for item in scores)
    if "choice" not in task.setting:
        assert scores


def test_a_map_is_scored_by_its_first_coordinates(data):
    found = FIGURE_2.run(Task({"characters": 36, "method": "SSDE", "spread": 10.0}, 0), None)
    split = maps.Split.draw(None, 36, 0)
    model = SupervisedSemidefiniteEmbedding(3, random_state=0).fit(split.X, split.y)
    head = KNeighborsClassifier(3).fit(model.embedding_[:, :2], split.y)
    expected = head.score(model.transform(split.X_new)[:, :2], split.y_new)
    assert value_of(found, maps.PRECISION, dimension=2) == expected
    assert value_of(found, maps.MERGED, dimension=2) >= expected
    error = value_of(found, figure_2.DISTANCE_ERROR)
    assert 0 < error < 0.1
    assert error <= 100 * model.certificate_.errors.rms_squared + 1e-9


def test_the_control_is_regression_on_labels(data):
    split = maps.Split.draw(None, 36, 0)
    predicted = figure_2.predict_from_labels(split)
    assert all(split.score(names, merged=True) > 0.8 for names in predicted)


def test_scored_labels_choose_nothing(data):
    split = maps.Split.draw(None, 36, 0)
    hidden = maps.Split(split.X, split.y, split.X_new, np.full(16, "?", dtype=object))
    one, other = (figure_2.search(item, "SLLE", 0) for item in (split, hidden))
    assert one == other
    scores = {
        m.setting["alpha"]: m.value for m in one if m.measure == "precision in cross-validation"
    }
    assert one[0].value == max(scores, key=scores.get)


def made_up_images(ssde, *, slle=0.5, chosen=0.3, control=0.6, error=0.05, data_seeds=3):
    """Results of three splits; SSDE's as a function of the dimension, others as given."""
    results = []
    for task in (Task(t.setting, seed) for t in FIGURE_2.tasks(True) for seed in range(data_seeds)):
        setting, noise = task.setting, 0.001 * task.seed
        method = setting["method"]
        measured = []
        if setting.get("choice"):
            value = chosen if method == "SLLE" else 1.0
            name, _ = figure_2.VARIED[method]
            measured = [Measurement(value, {}, f"chosen {name}", unit="choice")]
        elif method in ("raw pixels", "one-hot control"):
            rules = [{"rule": "3-NN"}, {"rule": "argmax"}] if "control" in method else [{}]
            measured = [
                Measurement(control - noise, rule, measure, n_scored=280)
                for rule in rules
                for measure in (maps.PRECISION, maps.MERGED)
            ]
        else:
            for dimension in figure_2.DIMENSIONS:
                value = 0.4
                if method == "SSDE":
                    value = ssde(dimension) - 0.01 * (setting["spread"] != 10)
                elif method == "SLLE":
                    value = slle - abs(setting["alpha"] - 0.5)
                measured += [
                    Measurement(value + noise, {"dimension": dimension}, measure, n_scored=280)
                    for measure in (maps.PRECISION, maps.MERGED)
                ]
        if method == "SSDE":
            measured += [
                Measurement(error, {}, figure_2.DISTANCE_ERROR, unit="number"),
                Measurement(0.01, {}, figure_2.GAP, unit="number"),
            ]
        results.append(TaskResult(task, tuple(measured), 0.0))
    return summarize(results, derive=FIGURE_2.derive)


def test_choices_are_put_together_split_by_split():
    summary = made_up_images(lambda dimension: 0.7)
    best = summary.row(maps.PRECISION, method="SLLE", choice="best case", dimension=10)
    assert best.estimate.mean == pytest.approx(0.501)
    assert "alpha" not in best.setting
    chosen = summary.row(maps.PRECISION, method="SLLE", choice="cross-validated", dimension=10)
    assert chosen.values == pytest.approx({0: 0.3, 1: 0.301, 2: 0.302})
    assert not summary.rows_with(maps.PRECISION, method="SDE", choice="cross-validated")
    assert summary.rows_with(maps.MERGED, method="SLLE", choice="cross-validated")


BARS = "SSDE has a precision of at least 70 % in 10 dimensions and 73 % in 30"
CONTROL = "SSDE is above the same regression on one-hot labels"
BEST_SLLE = "SSDE is above SLLE, at every dimension up to 30 (best case of alpha)"
CHOSEN_SLLE = "SSDE is above SLLE, at every dimension up to 30 (alpha cross-validated)"
RAW = "SSDE is above 3-NN on the raw pixels, in 10 dimensions and in 30"
KEPT = "Distances to neighbors of the same class are kept"


@pytest.mark.parametrize(
    ("results", "verdicts"),
    [
        ({"ssde": lambda d: 0.75}, {BARS: "holds", CONTROL: "holds", RAW: "holds"}),
        ({"ssde": lambda d: 0.71}, {BARS: "partly"}),
        ({"ssde": lambda d: 0.6}, {BARS: "does not hold", CONTROL: "does not hold"}),
        ({"ssde": lambda d: 0.7, "control": 0.8}, {CONTROL: "does not hold", RAW: "does not hold"}),
        (
            {"ssde": lambda d: 0.9 if d >= 30 else 0.7, "control": 0.8},
            {CONTROL: "partly", RAW: "partly"},
        ),
        (
            {"ssde": lambda d: 0.75 if d > 2 else 0.45},
            {BEST_SLLE: "partly", CHOSEN_SLLE: "holds"},
        ),
        ({"ssde": lambda d: 0.75, "slle": 0.9}, {BEST_SLLE: "does not hold", CHOSEN_SLLE: "holds"}),
        ({"ssde": lambda d: 0.7, "error": 0.3}, {KEPT: "partly"}),
        ({"ssde": lambda d: 0.7, "error": 3.0}, {KEPT: "does not hold"}),
    ],
)
def test_verdicts_on_images(results, verdicts):
    found = {item.statement: item for item in FIGURE_2.judge(made_up_images(**results))}
    assert {claim: found[claim].verdict for claim in verdicts} == verdicts
    assert all("not printed" in found[claim].paper for claim in (BEST_SLLE, CHOSEN_SLLE))
    assert found[BARS].is_ours


def test_thumbnails_do_not_overlap():
    places = np.random.default_rng(0).standard_normal((600, 2)) * [3, 1]
    chosen, corners = figure_2.place_thumbnails(places)
    assert len(chosen) == len(corners) <= figure_2.MOST
    height, width = (figure_2.ZOOM * side for side in figure_2.SHAPE)
    for row, corner in enumerate(corners):
        apart = np.abs(np.delete(corners, row, axis=0) - corner)
        assert np.all((apart[:, 0] >= height) | (apart[:, 1] >= width))
    assert corners.min() >= 0
    assert (corners.max(axis=0) <= figure_2.CANVAS - np.array([height, width])).all()


@pytest.mark.parametrize("data_home", [Path("data"), None])
def test_the_picture_has_images_where_they_can_be_had(data_home, data):
    figure = FIGURE_2.draw(made_up_images(lambda dimension: 0.7), data_home)
    assert len(figure.axes) == 1 + (data_home is not None)
    curves = {line.get_label() for line in figure.axes[0].get_lines()}
    assert {"SSDE, spread 10", "SLLE, alpha cross-validated", "PCA", "SDE, best case"} <= curves
    texts = {text.get_text().strip() for text in figure.axes[0].texts}
    assert {"one-hot control", "raw pixels, 3-NN"} <= texts


def test_the_plain_basis_is_rebuilt_as_well():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 5)) + 4 * y[:, None]
    settings = {"n_neighbors": 6, "alpha": 1.0}
    plain, _ = maps.fit_map(maps.PLAIN_SLLE, X, y, 2, 0, **settings)
    assert plain.embedding_.shape == (60, 2)
    np.testing.assert_allclose(plain.transform(X), plain.embedding_, atol=1e-12)
    errors = plain.embedding_ - plain.weights_ @ plain.embedding_
    np.testing.assert_allclose(errors, 0, atol=1e-6)  # three connected classes
