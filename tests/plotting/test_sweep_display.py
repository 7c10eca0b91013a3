from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, ParameterGrid
from sklearn.tree import DecisionTreeClassifier

from labelfold.classify import LaplacianClassifier
from labelfold.evaluate import TransductiveSearchCV
from labelfold.intervals import student_interval
from labelfold.plotting.palette import OKABE_ITO
from labelfold.plotting.sweep_display import SweepDisplay


class Search(BaseEstimator):
    """A fitted search of a classifier with given candidates and scores."""

    estimator = DecisionTreeClassifier()
    refit = True

    def __init__(self, scoring=None):
        self.scoring = scoring

    def fit(self, candidates, scores, metric="score", best=0):
        scores = np.asarray(scores, dtype=float)
        self.cv_results_ = {"params": candidates, f"mean_test_{metric}": scores.mean(axis=1)}
        for split, column in enumerate(scores.T):
            self.cv_results_[f"split{split}_test_{metric}"] = column
        self.best_index_ = best
        return self


def grid(**values):
    return list(ParameterGrid(values))


def line_of(bars):
    return np.asarray(bars.lines[0].get_xdata()), np.asarray(bars.lines[0].get_ydata())


def ends_of(bars):
    return np.array([segment[:, 1] for segment in bars.lines[2][0].get_segments()])


def words(display):
    return [text.get_text() for text in display.text_]


# What is drawn


def test_errors_and_intervals(ax):
    display = SweepDisplay([1, 2, 4], [0.3, 0.1, 0.2], [0.2, 0.0, 0.1], [0.4, 0.3, 0.25]).plot(ax)
    (bars,) = display.errorbars_
    places, errors = line_of(bars)
    np.testing.assert_array_equal(places, [1, 2, 4])
    np.testing.assert_array_equal(errors, [0.3, 0.1, 0.2])
    np.testing.assert_allclose(ends_of(bars), [[0.2, 0.4], [0.0, 0.3], [0.1, 0.25]])
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("linear", "parameter", "error")
    assert ax.get_ylim()[0] == 0
    assert ax.yaxis.get_major_formatter()(0.1, 0).endswith("%")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "4"]
    assert (display.chosen_, display.text_, ax.get_title()) == (None, [], "")


def test_other_values_stand_side_by_side_without_lines(ax):
    values = ["auto", 1.0, np.inf]
    display = SweepDisplay(values, [0.3, 0.1, 0.2], chosen=(0, 2)).plot(ax)
    places, errors = line_of(display.errorbars_[0])
    np.testing.assert_array_equal(places, [0, 1, 2])
    np.testing.assert_array_equal(errors, [0.3, 0.1, 0.2])
    assert display.errorbars_[0].lines[0].get_linestyle() == "None"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["auto", "1", "inf"]
    np.testing.assert_array_equal(display.chosen_.get_xydata(), [[2, 0.2]])


def test_several_lines_have_names_colors_and_markers(ax):
    errors = [[0.3, 0.1], [0.2, 0.4], [np.nan, np.nan]]
    display = SweepDisplay([1, 2], errors, names=["a", "b", "c"]).plot(ax)
    lines = [bars.lines[0] for bars in display.errorbars_[:2]]
    assert [line.get_color() for line in lines] == list(OKABE_ITO[:2])
    assert len({line.get_marker() for line in lines}) == 2
    assert words(display) == ["a", "b"]
    assert [text.xy[1] for text in display.text_] == [pytest.approx(0.1), pytest.approx(0.4)]
    assert display.errorbars_[2] is None
    assert ax.get_title() == "No result: c"


def test_what_has_no_result_is_left_out_and_named(ax):
    display = SweepDisplay([1, 2, 3], [0.3, np.nan, 0.2], [0.1] * 3, [0.5] * 3).plot(ax)
    assert ax.get_title() == "No result: 2"
    np.testing.assert_array_equal(line_of(display.errorbars_[0])[1], [0.3, np.nan, 0.2])
    SweepDisplay([1, 2], [[0.1, np.nan], [0.1, 0.2]], names=["a", "b"]).plot(ax)
    assert ax.get_title() == "No result: 2 (a)"
    SweepDisplay(range(6), [0.1, *[np.nan] * 5]).plot(ax)
    assert ax.get_title() == "No result: 1; 2; 3 and 2 more"
    SweepDisplay(range(3), [0.1, np.nan, np.nan], tried=[True, True, False]).plot(ax)
    assert ax.get_title() == "No result: 1"


def test_the_chosen_one_has_a_star(ax):
    display = SweepDisplay([1, 2], [[0.3, 0.1], [0.2, 0.4]], names=["a", "b"], chosen=(1, 0))
    display.plot(ax)
    (place,), (height,) = display.chosen_.get_xdata(), display.chosen_.get_ydata()
    assert height == 0.2
    assert place == line_of(display.errorbars_[1])[0][0]
    assert display.chosen_.get_color() == OKABE_ITO[1]
    assert display.chosen_line_.get_xdata()[0] == place
    assert words(display) == ["a", "b", "chosen"]
    assert display.text_[-1].get_position()[0] == place


def test_errors_above_one_are_not_shares(ax):
    SweepDisplay([1, 2], [1.3, 0.9]).plot(ax)
    assert not ax.yaxis.get_major_formatter()(0.5, 0).endswith("%")
    below = SweepDisplay([1, 2], [-0.3, 0.9], names=["$"]).plot(Figure().subplots())
    assert below.ax_.get_ylim()[0] < -0.3
    below.figure_.draw_without_rendering()


def test_axes_and_style():
    display = SweepDisplay([1, 2], [0.3, 0.1]).plot(c="red", ms=9)
    assert display.ax_.figure is display.figure_
    line = display.errorbars_[0].lines[0]
    assert to_rgba(line.get_color()) == to_rgba("red")
    assert line.get_markersize() == 9


# From a search


def test_means_and_intervals_of_a_search(ax):
    scores = np.array([[0.9, 0.8, 1.0], [0.5, 0.7, 0.6], [1.0, 1.0, 1.0]])
    search = Search().fit(grid(k=[1, 2, 3]), scores, best=2)
    display = SweepDisplay.from_estimator(search, ax=ax)
    np.testing.assert_allclose(display.errors, [[0.1, 0.4, 0.0]], atol=1e-15)
    for place, row in enumerate(1 - scores):
        low, high = student_interval(row)
        assert display.lows[0, place] == pytest.approx(max(low, 0), abs=1e-12)
        assert display.highs[0, place] == pytest.approx(high, abs=1e-12)
    assert display.lows.min() == 0  # the first interval reaches below
    assert display.chosen == (0, 2)
    assert (display.param, display.names) == ("k", None)
    assert ax.get_ylabel() == "error, mean of 3 splits with 80% intervals"


def test_each_setting_of_the_others_has_a_line(ax):
    candidates = grid(model__a=[3, 1], model__b=["x", "y"], c=[0])
    assert len(candidates) == 4
    scores = [[0.9, 0.7], [0.8, 0.8], [0.4, 0.2], [0.1, 0.1]]
    search = Search().fit(candidates, scores, best=1)
    display = SweepDisplay.from_estimator(search, param="model__a", ax=ax)
    assert display.values == [1, 3]
    assert display.names == ["b=x", "b=y"]
    np.testing.assert_allclose(display.errors, [[0.7, 0.2], [0.9, 0.2]])
    assert display.chosen == (1, 1)
    other = SweepDisplay.from_estimator(search, param="model__b", ax=Figure().subplots())
    assert (other.values, other.names) == (["x", "y"], ["a=3", "a=1"])
    np.testing.assert_allclose(other.errors, [[0.2, 0.2], [0.7, 0.9]])


def test_the_best_over_the_others(ax):
    candidates = grid(a=[1, 2], b=["x", "y", "z"])
    scores = [[0.9, 0.7], [0.8, 0.9], [np.nan, 0.9], [0.4, 0.2], [0.1, 0.1], [np.nan, 0.9]]
    search = Search().fit(candidates, scores, best=1)
    display = SweepDisplay.from_estimator(search, param="a", others="best", ax=ax)
    np.testing.assert_allclose(display.errors, [[0.15, 0.7]])
    assert display.names == ["best over b"]
    assert display.chosen == (0, 0)


@pytest.mark.parametrize(("n_settings", "n_lines"), [(8, 8), (9, 1)])
def test_many_settings_become_the_best_by_default(ax, n_settings, n_lines):
    candidates = grid(a=[1, 2], b=list(range(n_settings)))
    scores = np.random.default_rng(0).uniform(size=(len(candidates), 3))
    search = Search().fit(candidates, scores)
    display = SweepDisplay.from_estimator(search, param="a", ax=ax)
    assert len(display.errors) == n_lines
    assert len(SweepDisplay.from_estimator(search, param="a", others="each").errors) == n_settings


def test_failed_fits_are_named(ax):
    scores = [[0.9, 0.8], [np.nan, 0.7], [np.nan, np.nan]]
    display = SweepDisplay.from_estimator(Search().fit(grid(k=[1, 2, 3]), scores), ax=ax)
    np.testing.assert_allclose(display.errors, [[0.15, np.nan, np.nan]])
    assert ax.get_title() == "No result: 2; 3"


def test_candidates_without_the_parameter_are_left_out(ax):
    candidates = [{"a": 1, "b": 5}, {"a": 2, "b": 5}, {"b": 7}, {"a": 2, "b": 7}]
    search = Search().fit(candidates, [[0.9], [0.8], [0.7], [0.6]], best=2)
    display = SweepDisplay.from_estimator(search, param="a", ax=ax)
    np.testing.assert_allclose(display.errors, [[0.1, 0.2], [np.nan, 0.4]])
    assert display.names == ["b=5", "b=7"]
    assert display.chosen is None
    assert ax.get_title() == ""  # what was not tried has not failed


def test_settings_with_the_same_words_keep_their_lines(ax):
    candidates = grid(a=[1, 2], gamma=[0.1, 0.1 + 1e-12])
    display = SweepDisplay.from_estimator(
        Search().fit(candidates, [[0.9], [0.8], [0.7], [0.6]]), param="a", ax=ax
    )
    assert display.names == ["gamma=0.1", "gamma=0.1"]
    np.testing.assert_allclose(display.errors, [[0.1, 0.3], [0.2, 0.4]])


def test_halving_searches_raise():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 3)) + y[:, None]
    tree = DecisionTreeClassifier(random_state=0)
    search = HalvingGridSearchCV(tree, {"max_depth": [1, 2]}, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="HalvingGridSearchCV scores candidates on different"):
        SweepDisplay.from_estimator(search)


def test_values_that_are_not_finite(ax):
    candidates = grid(C=[np.inf, 1.0, np.nan, 0.1], k=[1, 2])
    search = Search().fit(candidates, np.linspace(0, 0.7, 8)[:, None], best=1)
    display = SweepDisplay.from_estimator(search, param="C", ax=ax)
    np.testing.assert_array_equal(display.values, [0.1, 1.0, np.inf, np.nan])
    np.testing.assert_allclose(display.errors[0], [0.4, 0.8, 1.0, 0.6])
    assert display.chosen == (1, 2)


def test_values_that_are_estimators_or_arrays(ax):
    candidates = grid(head=[PCA(2), PCA(3)], w=[np.zeros(2)])
    display = SweepDisplay.from_estimator(Search().fit(candidates, [[0.9], [0.8]]), ax=ax)
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["PCA(n_components=2)", "PCA(n_components=3)"]
    assert display.param == "head"


@pytest.mark.parametrize(
    ("scoring", "name"),
    [("accuracy", "error"), (None, "error"), ("f1_macro", "1 − f1_macro"), (max, "1 − score")],
)
def test_the_axis_names_the_score(ax, scoring, name):
    search = Search(scoring).fit(grid(k=[1, 2]), [[0.9], [0.8]])
    display = SweepDisplay.from_estimator(search, ax=ax)
    assert ax.get_ylabel() == f"{name}, one split"
    # One split has no interval.
    np.testing.assert_array_equal(display.lows, display.errors)
    np.testing.assert_array_equal(display.highs, display.errors)


def test_of_several_metrics_the_one_to_refit_by(ax):
    search = Search({"f1": "f1", "acc": "accuracy"}).fit(grid(k=[1, 2]), [[0.9], [0.8]], "f1")
    search.refit = "f1"
    SweepDisplay.from_estimator(search, ax=ax)
    assert ax.get_ylabel() == "1 − f1, one split"
    search.refit = False
    with pytest.raises(ValueError, match="refit=False names none of the search's metrics"):
        SweepDisplay.from_estimator(search)


def test_searches_of_the_library_and_of_scikit_learn(ax):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 2)) + 1.5 * y[:, None]
    for search in (
        TransductiveSearchCV(LaplacianClassifier(), {"n_neighbors": [3, 6]}, cv=4),
        GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, cv=4),
    ):
        display = SweepDisplay.from_estimator(search.fit(X, y), ax=ax)
        np.testing.assert_allclose(display.errors[0], 1 - search.cv_results_["mean_test_score"])
        (best,) = search.best_params_.values()
        assert display.values[display.chosen[1]] == best
        assert ax.get_ylabel() == "error, mean of 4 splits with 80% intervals"


# Errors say what is wrong and what to do


def test_not_a_search():
    with pytest.raises(ValueError, match="PCA has no cv_results_: pass a fitted search"):
        SweepDisplay.from_estimator(PCA(1).fit(np.eye(3)))
    with pytest.raises(TypeError):
        SweepDisplay.from_estimator(SimpleNamespace(cv_results_={}))


def test_parameters_that_are_not_clear():
    search = Search().fit(grid(a=[1, 2], b=[1, 2]), np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"varies 2 parameters: set param to one of them \(a, b\)"):
        SweepDisplay.from_estimator(search)
    with pytest.raises(ValueError, match="param='c' was not searched: use one of a, b"):
        SweepDisplay.from_estimator(search, param="c")
    with pytest.raises(ValueError, match="others='all' is unknown: use one of"):
        SweepDisplay.from_estimator(search, param="a", others="all")
    with pytest.raises(ValueError, match="varies 0 parameters"):
        SweepDisplay.from_estimator(Search().fit([{}], [[0.5]]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"errors": [0.1]}, r"errors has shape \(1,\) for 2 values"),
        ({"errors": np.zeros((2, 2, 2))}, "errors has shape"),
        ({"errors": np.zeros((2, 2))}, "names has 0 entries for 2 lines: pass one for each"),
        ({"names": ["a", "b"]}, "names has 2 entries for 1 lines"),
        ({"lows": np.zeros((2, 2))}, r"lows has shape \(2, 2\), not \(1, 2\): pass"),
        ({"values": [], "errors": []}, "for 0 values"),
        ({"chosen": (0, 7)}, r"chosen=\(0, 7\) is out of range for 1 lines of 2 values: pass"),
        ({"chosen": (-1, 0)}, r"chosen=\(-1, 0\) is out of range"),
        ({"tried": [True]}, r"tried has shape \(1, 1\), not \(1, 2\)"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(ValueError, match=message):
        SweepDisplay(**({"values": [1, 2], "errors": [0.1, 0.2]} | given))
