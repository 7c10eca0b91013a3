from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from labelfold.plotting.value_axis import (
    key_of,
    place_values,
    scale_of,
    short_words,
    start_at_zero,
    wrap_label,
)


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def written(ax):
    """Tick labels that are not empty, after drawing."""
    ax.figure.draw_without_rendering()
    return [label for label in ax.get_xticklabels() if label.get_text()]


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1, 2, 3], "linear"),
        ([0.1, 1, 10], "log"),
        ([0.07, 7], "log"),  # where 100 times the first is more than the last, by rounding
        ([1, 99], "linear"),
        ([0, 0.1, 1, 10], "side by side"),
        ([0, 1, 2, 3], "linear"),
        (range(0, 501, 5), "linear"),
        ([0], "linear"),
        ([0, 0], "linear"),
        ([1, np.inf], "side by side"),
        ([1, np.nan], "side by side"),
        ([True, False], "side by side"),
        (["a", 1], "side by side"),
        ([Fraction(1, 3), np.float32(2), np.int8(3)], "linear"),
    ],
)
def test_scales(values, scale):
    assert scale_of(values) == scale


def test_keys_of_equal_values_are_equal():
    assert key_of(1) == key_of(np.float32(1.0))
    assert key_of(np.nan) == key_of(float("nan"))
    assert key_of(np.inf) == key_of(float("inf"))
    assert len({key_of(1), key_of("1"), key_of(np.nan), key_of(True)}) == 4


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.46415888336127775, 2, 1e-5], ["0.4642", "2", "1e-05"]),
        ([1000001, 1000002, 1000003], ["1000001", "1000002", "1000003"]),
        ([0.123456, 0.123457], ["0.123456", "0.123457"]),
        ([123456, 100], ["123456", "100"]),
        ([1, 1.0], ["1", "1"]),
        ([0.1, np.inf, np.nan, None, True], ["0.1", "inf", "nan", "None", "True"]),
        (["a\n b", "a" * 30], ["a b", "a" * 23 + "…"]),
        ([Fraction(1, 3)], ["0.3333"]),
    ],
)
def test_values_are_written_short_and_differently(values, words):
    assert short_words(values) == words


def test_long_texts_are_cut_where_they_are_alike():
    values = [PCA(size, svd_solver="randomized", whiten=True) for size in (1, 2)]
    assert short_words(values) == ["PCA(n_components=1, svd…", "PCA(n_components=2, svd…"]
    values = [make_pipeline(StandardScaler(), SVC(C=C)) for C in (2, 3)]
    words = short_words(values)
    assert len(set(words)) == 2
    assert max(len(word) for word in words) <= 24


@pytest.mark.parametrize(
    "values",
    [
        [f"strategy_{number}" for number in range(12)],
        [PCA(size, svd_solver="randomized", whiten=True) for size in range(1, 13)],
        np.logspace(-4, 1, 13),
    ],
)
def test_a_dozen_names_do_not_overlap_and_are_all_there(ax, values):
    places = place_values(ax, values, 1)
    ax.plot(places[0], np.ones(len(values)))
    labels = written(ax)
    assert len(labels) == len(values)
    assert {label.get_rotation() for label in labels} == {45}
    # Parallels: their distance across is that of their ends along the axis times sin 45°.
    along = ax.transData.transform(np.c_[places[0], np.ones(len(values))])[:, 0]
    line = labels[0].get_fontsize() * ax.figure.dpi / 72
    assert np.diff(along).min() * np.sqrt(0.5) > line


def test_few_names_stay_upright(ax):
    place_values(ax, ["uniform", "distance"], 1)
    assert [label.get_rotation() for label in written(ax)] == [0, 0]


def test_numbers_near_to_each_other_have_a_tick_and_no_name(ax):
    place_values(ax, [1, 2, 5, 10, 20, 50], 1)
    ax.set_xlim(0, 51)
    assert [label.get_text() for label in written(ax)] == ["1", "5", "10", "20", "50"]
    assert len(ax.get_xticks()) == 6


def test_many_numbers_have_round_ticks(ax):
    place_values(ax, np.linspace(0.1, 0.9, 50), 1)
    ax.set_xlim(0.1, 0.9)
    assert len(written(ax)) < 12


@pytest.mark.parametrize("size", [(6.4, 4.8), (3, 2)])
def test_errors_on_zero_have_room_below(size):
    ax = Figure(figsize=size).subplots()
    ax.set_ylim(0, 0.5)
    start_at_zero(ax, np.array([0.0, np.nan]))
    above = ax.transData.transform((0, 0))[1] - ax.get_window_extent().y0
    assert above * 72 / ax.figure.dpi == pytest.approx(8)
    start_at_zero(ax, np.array([0.2, np.nan]))
    assert ax.get_ylim() == (0, 0.5)
    start_at_zero(ax, np.array([np.nan]))
    assert ax.get_ylim() == (0, 0.5)


def test_labels_are_as_long_as_their_axis():
    words = "error, mean of 5 splits with 80% intervals"
    assert wrap_label(Figure().subplots(), words) == words
    assert wrap_label(Figure(figsize=(3, 2)).subplots(), words).count("\n") > 1
