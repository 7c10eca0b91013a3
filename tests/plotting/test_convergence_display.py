from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from labelfold.classify import ManifoldClassifier
from labelfold.plotting.convergence_display import ConvergenceDisplay
from labelfold.semidefinite import MaximumVarianceUnfolding
from labelfold.spectral import LaplacianEigenmaps

STEPS = [30, 60, 90, 120]
ERROR = [5.0, 0.5, 0.02, 0.004]
OBJECTIVE = [90.0, 14.0, 11.0, 10.5]
SECONDS = [0.1, 0.3, 0.4, 0.9]


@pytest.fixture
def axes():
    return Figure().subplots(2, 1)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(40, 2)) * [5, 1]


@pytest.fixture(scope="module")
def fitted(rows):
    return MaximumVarianceUnfolding(random_state=0).fit(rows)


def words(display):
    return [text.get_text() for text in display.text_]


# What is drawn


def test_error_and_objective_against_steps(axes):
    display = ConvergenceDisplay(STEPS, ERROR, OBJECTIVE).plot(axes)
    for line, column in ((display.error_, ERROR), (display.objective_, OBJECTIVE)):
        np.testing.assert_array_equal(line.get_xdata(), STEPS)
        np.testing.assert_array_equal(line.get_ydata(), column)
    assert (display.ax_, display.objective_ax_) == tuple(axes)
    assert (axes[0].get_yscale(), axes[1].get_yscale()) == ("log", "linear")
    assert axes[0].get_ylabel() == "error of squared distances"
    assert axes[1].get_ylabel() == "objective"
    assert axes[1].get_xlabel() == "steps of the solver"
    assert display.error_.get_marker() != display.objective_.get_marker()
    assert (display.tol_, display.bound_, display.final_, display.ranks_) == (None, None, [], [])


def test_against_seconds(axes):
    display = ConvergenceDisplay(
        STEPS, ERROR, OBJECTIVE, seconds=SECONDS, final_error=0.001, rank=[2, 2, 3, 3]
    ).plot(axes, against="seconds")
    np.testing.assert_array_equal(display.error_.get_xdata(), SECONDS)
    np.testing.assert_array_equal(display.objective_.get_xdata(), SECONDS)
    assert display.final_[0].get_xdata()[0] == 0.9
    assert display.ranks_[0].get_xdata()[0] == pytest.approx(0.35)
    assert axes[1].get_xlabel() == "seconds"


def test_tolerance_bound_and_solution(axes):
    display = ConvergenceDisplay(
        STEPS, ERROR, OBJECTIVE, tol=0.01, bound=12.0, final_error=0.002, final_objective=10.0
    ).plot(axes)
    assert set(display.tol_.get_ydata()) == {0.01}
    assert set(display.bound_.get_ydata()) == {12.0}
    assert [(*mark.get_xdata(), *mark.get_ydata()) for mark in display.final_] == [
        (120, 0.002),
        (120, 10.0),
    ]
    assert "tolerance 0.01" in words(display)
    assert words(display).count("solution") == 2
    for far in (1e4, -1.0):
        assert ConvergenceDisplay(STEPS, ERROR, OBJECTIVE, bound=far).plot(axes).bound_ is None


def test_first_rounds_far_above_are_cut_off_and_counted(axes):
    display = ConvergenceDisplay(STEPS, ERROR, OBJECTIVE).plot(axes)
    assert axes[1].get_ylim() == (0, pytest.approx(1.5 * 10.5))
    assert words(display) == ["1 round above, up to 90"]
    two = ConvergenceDisplay(STEPS, ERROR, [90.0, 80.0, 11.0, 10.5]).plot(axes)
    assert words(two) == ["2 rounds above, up to 90"]


def test_nothing_is_cut_off_where_nothing_is_far_above(axes):
    display = ConvergenceDisplay(STEPS, ERROR, [9.0, 14.0, 10.0, 10.0]).plot(axes)
    assert words(display) == []
    assert axes[1].get_ylim()[1] > 14
    zero = ConvergenceDisplay(STEPS, ERROR, np.zeros(4), bound=0.0, final_objective=0.0)
    assert words(zero.plot(Figure().subplots(2, 1))) == ["solution"]
    to_zero = ConvergenceDisplay(STEPS, ERROR, [3.0, 2.0, 1.0, 0.0]).plot(Figure().subplots(2, 1))
    assert words(to_zero) == []
    assert to_zero.objective_ax_.get_ylim()[1] > 3


def test_lines_where_the_rank_changes(axes):
    steps = np.arange(1, 11) * 30
    rank = [3, 3, 3, 6, 6, 6, 6, 6, 4, 4]
    display = ConvergenceDisplay(steps, np.ones(10), np.ones(10), rank=rank).plot(axes)
    assert [line.get_xdata()[0] for line in display.ranks_] == [105, 255]
    assert words(display) == ["rank 3 → 6 → 4"]
    assert display.text_[0].get_position()[0] == 30
    many = ConvergenceDisplay(np.arange(1, 101), np.ones(100), np.ones(100)).plot(axes)
    assert many.error_.get_markersize() == 0


def test_a_single_round(axes):
    display = ConvergenceDisplay([30], [0.5], [2.0], rank=[2], tol=0.1, final_error=0.0).plot(axes)
    assert words(display)[-1] == "rank 2"
    display.figure_.draw_without_rendering()


def test_axes_in_any_form(axes):
    display = ConvergenceDisplay(STEPS, ERROR, OBJECTIVE).plot()
    assert display.figure_.axes == [display.ax_, display.objective_ax_]
    ax = Figure().subplots()
    alone = ConvergenceDisplay(STEPS, ERROR, OBJECTIVE, rank=[2, 2, 3, 3], bound=11).plot(ax)
    assert (alone.ax_, alone.objective_ax_, alone.objective_, alone.bound_) == (ax, *[None] * 3)
    assert ax.get_xlabel() == "steps of the solver"
    table = Figure().subplots(1, 2, squeeze=False)
    display = ConvergenceDisplay(STEPS, ERROR, OBJECTIVE).plot(table)
    assert [display.ax_, display.objective_ax_] == table.ravel().tolist()
    # Axes side by side have a label each.
    assert [ax.get_xlabel() for ax in table.flat] == ["steps of the solver"] * 2
    ConvergenceDisplay(STEPS, ERROR, OBJECTIVE).plot(axes)
    assert [ax.get_xlabel() for ax in axes] == ["", "steps of the solver"]


def test_style_can_be_changed_under_any_alias(axes):
    display = ConvergenceDisplay(STEPS, ERROR, OBJECTIVE).plot(axes, c="red", lw=4)
    assert to_rgba(display.error_.get_color()) == to_rgba("red")
    assert display.objective_.get_linewidth() == 4


# Ways in


def test_from_estimator(axes, fitted, rows):
    display = ConvergenceDisplay.from_estimator(fitted, ax=axes)
    np.testing.assert_array_equal(display.error_.get_ydata(), fitted.history_["error"])
    np.testing.assert_array_equal(display.objective_.get_ydata(), fitted.history_["objective"])
    np.testing.assert_array_equal(display.error_.get_xdata(), fitted.history_["n_iter"])
    certificate = fitted.certificate_
    assert display.tol == certificate.tol
    assert display.bound == certificate.bound
    assert display.final_[0].get_ydata()[0] == certificate.errors.decisive
    assert display.final_[1].get_ydata()[0] == certificate.objective
    model = ManifoldClassifier(MaximumVarianceUnfolding(random_state=0)).fit(rows, rows[:, 0] > 0)
    seconds = ConvergenceDisplay.from_estimator(model, against="seconds")
    np.testing.assert_array_equal(seconds.error_.get_xdata(), model.embedder_.history_["seconds"])
    display.figure_.draw_without_rendering()


# Errors say what is wrong and what to do


@pytest.mark.parametrize("model", [PCA(2), LaplacianEigenmaps(2)])
def test_estimators_without_a_history(model, rows):
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"{name} has no history.*shows MaximumVarianceUnfolding"):
        ConvergenceDisplay.from_estimator(model.fit(rows))


def test_the_conic_solver_has_no_history(rows):
    model = MaximumVarianceUnfolding(solver="conic").fit(rows[:20])
    with pytest.raises(ValueError, match=r"MaximumVarianceUnfolding has no .*solver='lowrank'"):
        ConvergenceDisplay.from_estimator(model)


def test_bad_arguments(axes):
    display = ConvergenceDisplay(STEPS, ERROR, OBJECTIVE)
    with pytest.raises(ValueError, match="against='rounds' is unknown: use one of"):
        display.plot(axes, against="rounds")
    with pytest.raises(ValueError, match="against='seconds' needs seconds"):
        display.plot(axes, against="seconds")
    with pytest.raises(ValueError, match="ax holds 3 axes"):
        display.plot([*axes, axes[0]])
    with pytest.raises(ValueError, match=r"error has shape \(2,\), not \(4,\): pass one"):
        ConvergenceDisplay(STEPS, ERROR[:2], OBJECTIVE)
    with pytest.raises(ValueError, match=r"n_iter has shape \(0,\)"):
        ConvergenceDisplay([], [], [])
