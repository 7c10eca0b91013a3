from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.figure import Figure

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.map_layout import boxes_of, find_moves

PAGE = np.array([0.0, 0.0, 400.0, 300.0])
NOTHING = np.empty((0, 4))


def overlaps(boxes):
    return [
        pair
        for pair in itertools.combinations(range(len(boxes)), 2)
        if (boxes[pair[0]][:2] < boxes[pair[1]][2:]).all()
        and (boxes[pair[1]][:2] < boxes[pair[0]][2:]).all()
    ]


def test_boxes_that_cover_nothing_stay():
    boxes = np.array([[0.0, 0.0, 10.0, 10.0], [10.0, 0.0, 20.0, 10.0], [-5.0, 20.0, 9.0, 30.0]])
    np.testing.assert_array_equal(find_moves(boxes, PAGE, NOTHING), 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_moved_boxes_cover_nothing_and_stay_on_the_page(seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(150, 200, size=(12, 2))
    boxes = np.column_stack([low, low + rng.uniform(8, 40, size=(12, 2))])
    moves = find_moves(boxes, PAGE, NOTHING)
    moved = boxes + np.tile(moves, 2)
    assert overlaps(boxes)
    assert not overlaps(moved)
    assert (moved[:, :2] >= 0).all()
    assert (moved[:, 2:] <= PAGE[2:]).all()
    np.testing.assert_array_equal(moves[0], 0.0)


def test_a_box_without_room_stays():
    boxes = np.array([[0.0, 0.0, 400.0, 300.0]] * 2)
    np.testing.assert_array_equal(find_moves(boxes, PAGE, NOTHING), 0.0)


def test_no_boxes():
    assert find_moves(np.empty((0, 4)), PAGE, NOTHING).shape == (0, 2)


def test_boxes_leave_taken_places_free():
    boxes = np.array([[100.0, 100.0, 120.0, 110.0], [300.0, 100.0, 320.0, 110.0]])
    taken = np.array([[105.0, 102.0, 115.0, 112.0]])
    moves = find_moves(boxes, PAGE, taken)
    assert np.any(moves[0])
    np.testing.assert_array_equal(moves[1], 0.0)
    assert not overlaps(np.concatenate([taken, boxes + np.tile(moves, 2)]))


@pytest.fixture
def ax():
    return Figure().subplots()


def test_names_of_classes_in_one_place_can_all_be_read(ax):
    embedding = np.concatenate([np.full((9, 2), 50.0), [[0.0, 0.0], [100.0, 100.0]]])
    names = [f"class {i}" for i in range(11)]
    display = EmbeddingDisplay(embedding, labels=range(11), class_names=names).plot(ax)
    ax.figure.draw_without_rendering()
    assert not overlaps(boxes_of(display.text_))
    assert display.text_[0].get_position() == (0, 6)
    x, y = display.text_[1].get_position()  # the next place is below the point
    assert x == 0
    assert y < -6
    # A name points to its class even from afar.
    assert all(tuple(text.xy) == (50.0, 50.0) for text in display.text_[:9])
    ties = [text for text in ax.texts if text.get_text() == "" and text.arrow_patch is not None]
    assert 0 < len(ties) < 9


def test_names_apart_stay_just_above_their_points(ax):
    display = EmbeddingDisplay(np.eye(2), labels=["a", "b"]).plot(ax)
    assert [text.get_position() for text in display.text_] == [(0, 6), (0, 6)]
    assert len(ax.texts) == 2


def test_a_given_place_is_kept(ax):
    display = EmbeddingDisplay(np.zeros((2, 2)), labels=["a", "b"]).plot(
        ax, text_kwargs={"xytext": (3, 4)}
    )
    assert [text.get_position() for text in display.text_] == [(3, 4), (3, 4)]


def test_names_out_of_sight_stay():
    ax = Figure().add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set(xlim=(10.0, 0.0), ylim=(0.0, 10.0))
    embedding = [[5.0, 5.0], [5.0, 5.0], [90.0, 90.0], [90.0, 90.0]]
    display = EmbeddingDisplay(embedding, labels=["a", "b", "c", "d"]).plot(ax)
    moved = [text.get_position() != (0, 6) for text in display.text_]
    assert moved == [False, True, False, False]


def test_names_do_not_cover_class_centers(ax):
    points = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 9.0]])
    # The first centre stands where the first class would be named, just above its point.
    centers = points + np.array([[0.0, 0.35], [0.0, 0.0], [0.0, 0.0]])
    display = EmbeddingDisplay(points, labels=[0, 1, 2], class_centers=centers).plot(ax)
    places = ax.transData.transform(centers)
    boxes = boxes_of(display.text_)
    for x, y in places:
        inside = (boxes[:, 0] < x) & (x < boxes[:, 2]) & (boxes[:, 1] < y) & (y < boxes[:, 3])
        assert not inside.any()
    hidden = EmbeddingDisplay(points, labels=[0, 1, 2], class_centers=centers).plot(
        Figure().subplots(), show_centers=False
    )
    assert hidden.text_[0].get_position() == (0, 6)
    assert display.text_[0].get_position() != (0, 6)
