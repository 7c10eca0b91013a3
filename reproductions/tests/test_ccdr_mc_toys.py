"""The two toys of CCDR-MC: long classes (Fig. 1) and concentric circles (section I)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from reproductions import Measurement, Task
from reproductions.ccdr_mc import toys
from reproductions.ccdr_mc.toys import CIRCLES, FIGURE_1
from reproductions.summary import TaskResult, summarize
from reproductions.tests.helpers import summary_of


def verdicts(entry, results):
    return [item.verdict for item in entry.judge(summarize(results))]


def test_angles_between_lines():
    along, up = np.array([1.0, 0.0]), np.array([0.0, 2.0])
    assert toys.angle_between(along, up) == pytest.approx(90)
    assert toys.angle_between(along, -along) == 0
    assert toys.angle_between(up, np.array([1.0, -np.sqrt(3)])) == pytest.approx(30)


def test_points_of_figure_1_have_their_closed_form():
    drawn = toys.LongClasses.of(Task({"length": 3.0}, 5))
    across = drawn.X_new @ toys.E_2
    for value, mean in ((0, -1.0), (1, 1.0)):
        assert across[drawn.y_new == value].mean() == pytest.approx(mean, abs=0.06)
        assert across[drawn.y_new == value].std() == pytest.approx(0.35, rel=0.15)
    assert (drawn.X_new @ toys.E_1).std() == pytest.approx(3, rel=0.1)
    errors = [
        toys.LongClasses.of(Task({"length": 3.0}, seed)).error_along(toys.E_2) for seed in range(10)
    ]
    assert np.mean(errors) == pytest.approx(norm.cdf(-1 / 0.35), abs=0.001)
    assert drawn.error_along(toys.E_1) == pytest.approx(0.5, abs=0.06)


def test_directions_of_figure_1_see_no_new_point():
    drawn = toys.LongClasses.of(Task({"length": 3.0}, 0))
    directions = toys.find_directions(drawn)
    other = replace(drawn, X_new=drawn.X_new + 5, y_new=1 - drawn.y_new)
    for name, direction in toys.find_directions(other).items():
        np.testing.assert_array_equal(direction, directions[name])
        assert np.linalg.norm(direction) == pytest.approx(1)
    centered = drawn.X - drawn.X.mean(axis=0)
    assert toys.angle_between(np.linalg.svd(centered)[2][0], directions["PCA"]) < 1e-5
    # Fisher: the inverse of the covariance within classes, times the difference of means.
    means = np.array([drawn.X[drawn.y == value].mean(axis=0) for value in (0, 1)])
    within = drawn.X - means[drawn.y]
    fisher = np.linalg.solve(within.T @ within, means[1] - means[0])
    assert toys.angle_between(fisher, directions["LDA"]) < 1e-5


def test_quick_run_of_figure_1_and_its_picture():
    summary = summary_of(FIGURE_1, FIGURE_1.tasks(True))
    assert [item.verdict for item in FIGURE_1.judge(summary)] == ["holds"] * 4
    assert len(FIGURE_1.draw(summary).axes) == 4


# The last two: a small angle alone is not enough, and neither is a small error.
@pytest.mark.parametrize(("angle", "error"), [(50.0, 0.1), (1.0, 0.1), (9.0, 0.01)])
def test_verdicts_of_figure_1_can_fail(angle, error):
    measured = [
        measurement
        for name in toys.METHODS
        for measurement in (
            Measurement(error, {"method": name}),
            Measurement(angle, {"method": name}, toys.ANGLE),
        )
    ]
    measured.append(Measurement(0.01, {"method": "e_2"}))
    results = [TaskResult(Task({"length": x}, 0), tuple(measured), 0.0) for x in (3.0, 0.5)]
    assert set(verdicts(FIGURE_1, results)) == {"does not hold"}


@pytest.mark.parametrize(("n_labels", "n_scored"), [(20, 380), (400, 1000)])
def test_circles_score_unlabeled_points_only(n_labels, n_scored):
    drawn = toys.Circles.draw(Task({"noise": 0.15, "labels": n_labels}, 3))
    assert np.bincount(drawn.y[drawn.labeled]).tolist() == [n_labels // 2] * 2
    assert np.bincount(drawn.y_new).tolist() == [500, 500]
    model = drawn.fit("CCDR", 2)
    error, count = drawn.score(model)
    assert count == n_scored
    # Were labels of the scored points turned round, all that was right would be wrong.
    y = np.where(drawn.labeled, drawn.y, 1 - drawn.y)
    turned = replace(drawn, y=y, y_new=1 - drawn.y_new)
    assert turned.score(turned.fit("CCDR", 2)) == (pytest.approx(1 - error), n_scored)


def test_few_and_all_labels_are_given_to_the_same_circles():
    few, every = (toys.Circles.draw(Task({"noise": 0.2, "labels": n}, 1)) for n in (20, 400))
    np.testing.assert_array_equal(few.X, every.X)
    other = toys.Circles.draw(Task({"noise": 0.2, "labels": 20}, 2))
    assert not np.array_equal(few.X, other.X)
    angles, new_angles = (np.arctan2(*points[:400].T) for points in (few.X, few.X_new))
    assert np.mean(np.abs(angles - new_angles) < 0.3) < 0.2  # a tenth by chance, most of equal ones


def test_one_task_of_circles():
    task = Task({"noise": 0.15, "labels": 400}, 0)
    errors = {
        (item.setting["map"], item.setting["dimension"]): item.value
        for item in toys.run_circles(task, None)
    }
    assert len(errors) == 11
    assert ("LDA", 2) not in errors
    linear = [error for (name, _), error in errors.items() if name in toys.LINEAR_MAPS]
    assert min(linear) > 0.4
    assert errors["CCDR", 2] < 0.01
    assert errors["kernel MFA", 2] < 0.02


def circles_of(errors):
    """Made-up errors by map, alike in one and two dimensions."""
    measured = tuple(
        Measurement(error, {"map": name, "dimension": dimension})
        for name, error in errors.items()
        for dimension in (1, 2)
    )
    return [TaskResult(Task(task.setting, 0), measured, 0.0) for task in CIRCLES.tasks(True)]


def test_verdicts_of_circles():
    errors = dict.fromkeys(toys.LINEAR_MAPS, 0.48) | dict.fromkeys(toys.OTHER_MAPS, 0.01)
    good, bad = circles_of(errors), circles_of({name: 0.5 - e for name, e in errors.items()})
    assert verdicts(CIRCLES, good) == ["holds"] * 6
    assert verdicts(CIRCLES, bad) == ["does not hold"] * 6
    assert verdicts(CIRCLES, good[:1] + bad[1:]) == ["partly"] * 6
    assert "1.0 % on average" in CIRCLES.draw(summarize(good)).axes[1].get_title()
