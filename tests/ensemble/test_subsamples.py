"""Every member has the shared rows, every class, and as many new rows as there are."""

import numpy as np
import pytest

from labelfold import hide_labels
from labelfold.ensemble.subsamples import draw_subsamples
from labelfold.labels import PartialLabels


def draw(y, n_subsamples, size, seed=0):
    labels = PartialLabels.from_optional_y(y, n_samples=1000)
    return draw_subsamples(labels, n_subsamples, size, np.random.RandomState(seed))


def test_few_labels_are_in_every_subsample():
    y = hide_labels(np.arange(1000) % 5, keep=range(30))
    shared, rows_of = draw(y, 4, 200)
    assert set(shared) == set(range(30))
    for rows in rows_of:
        np.testing.assert_array_equal(rows[:30], shared)
        assert len(np.unique(rows)) == 200
    assert len(np.unique(np.concatenate(rows_of))) == 30 + 4 * 170


def test_many_labels_take_half_of_a_subsample_in_the_classes_shares():
    y = np.repeat([0, 1, 2], [700, 290, 10])
    shared, _ = draw(y, 3, 100)
    assert len(shared) == 50
    counts = np.bincount(y[shared], minlength=3)
    assert counts[2] == 1
    assert counts[0] == pytest.approx(35, abs=1)


def test_every_class_is_shared_where_there_are_many():
    y = hide_labels(np.arange(1000) % 90, keep=range(0, 1000, 2))
    shared, _ = draw(y, 2, 100)
    assert len(np.unique(np.asarray(y)[shared])) == 45


def test_without_labels_a_tenth_is_shared():
    shared, rows_of = draw(None, 3, 200)
    assert len(shared) == 20
    assert all(len(np.unique(rows)) == 200 for rows in rows_of)


def test_four_subsamples_of_three_tenths_see_all_rows():
    shared, rows_of = draw(None, 9, 300)
    times = np.bincount(np.concatenate([rows[30:] for rows in rows_of]), minlength=1000)
    own = np.setdiff1d(np.arange(1000), shared)
    assert set(times[own]) <= {1, 2, 3, 4}
    seen = np.unique(np.concatenate(rows_of[:4]))
    assert len(seen) == 1000
    assert all(len(np.unique(rows)) == 300 for rows in rows_of)


def test_seeds():
    for a, b in zip(draw(None, 3, 200)[1], draw(None, 3, 200)[1], strict=True):
        np.testing.assert_array_equal(a, b)
    assert set(draw(None, 1, 200)[1][0]) != set(draw(None, 1, 200, seed=1)[1][0])
