"""Room on a map: names that stay apart, and images that cover nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.map_layout import choose_spread, find_moves, get_boxes
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles

PAGE = np.array([0.0, 0.0, 400.0, 300.0])
NOTHING = np.empty((0, 4))
N_POINTS = 400
EMBEDDING = np.random.default_rng(0).normal(size=(N_POINTS, 2))
IMAGES = np.random.default_rng(1).random((N_POINTS, 6, 8))


def overlaps(boxes):
    return [
        pair
        for pair in itertools.combinations(range(len(boxes)), 2)
        if (boxes[pair[0]][:2] < boxes[pair[1]][2:]).all()
        and (boxes[pair[1]][:2] < boxes[pair[0]][2:]).all()
    ]


# Names


def test_boxes_that_cover_nothing_or_have_no_room_stay():
    boxes = np.array([[0.0, 0.0, 10.0, 10.0], [10.0, 0.0, 20.0, 10.0], [-5.0, 20.0, 9.0, 30.0]])
    np.testing.assert_array_equal(find_moves(boxes, PAGE, NOTHING), 0.0)
    whole_page = np.array([[0.0, 0.0, 400.0, 300.0]] * 2)
    np.testing.assert_array_equal(find_moves(whole_page, PAGE, NOTHING), 0.0)
    assert find_moves(NOTHING, PAGE, NOTHING).shape == (0, 2)


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


def test_names_of_classes_in_one_place_can_all_be_read(ax):
    embedding = np.concatenate([np.full((9, 2), 50.0), [[0.0, 0.0], [100.0, 100.0]]])
    names = [f"class {i}" for i in range(11)]
    display = EmbeddingDisplay(embedding, labels=range(11), class_names=names).plot(ax)
    ax.figure.draw_without_rendering()
    assert not overlaps(get_boxes(display.text_))
    assert display.text_[0].get_position() == (0, 6)
    x, y = display.text_[1].get_position()  # the next place is below the point
    assert x == 0
    assert y < -6
    # A name points to its class even from afar.
    assert all(tuple(text.xy) == (50.0, 50.0) for text in display.text_[:9])
    ties = [text for text in ax.texts if text.get_text() == "" and text.arrow_patch is not None]
    assert 0 < len(ties) < 9


def test_names_apart_and_names_with_a_given_place_stay(ax):
    display = EmbeddingDisplay(np.eye(2), labels=["a", "b"]).plot(ax)
    assert [text.get_position() for text in display.text_] == [(0, 6), (0, 6)]
    assert len(ax.texts) == 2
    display = EmbeddingDisplay(np.zeros((2, 2)), labels=["a", "b"])
    display.plot(Figure().subplots(), text_kwargs={"xytext": (3, 4)})
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
    # The first center stands where the first class would be named, just above its point.
    centers = points + np.array([[0.0, 0.35], [0.0, 0.0], [0.0, 0.0]])
    display = EmbeddingDisplay(points, labels=[0, 1, 2], class_centers=centers).plot(ax)
    places = ax.transData.transform(centers)
    boxes = get_boxes(display.text_)
    for x, y in places:
        inside = (boxes[:, 0] < x) & (x < boxes[:, 2]) & (boxes[:, 1] < y) & (y < boxes[:, 3])
        assert not inside.any()
    hidden = EmbeddingDisplay(points, labels=[0, 1, 2], class_centers=centers).plot(
        Figure().subplots(), show_centers=False
    )
    assert hidden.text_[0].get_position() == (0, 6)
    assert display.text_[0].get_position() != (0, 6)


# Images


def test_boxes_do_not_overlap_and_no_more_would_fit():
    places = np.random.default_rng(2).random((500, 2))
    rows = choose_spread(places, 500, np.array([0.2, 0.1]), NOTHING)
    apart = np.abs(places[rows][:, np.newaxis] - places[rows]) >= (0.2, 0.1)
    assert (apart.any(axis=2) | np.eye(len(rows), dtype=bool)).all()
    apart = np.abs(places[:, np.newaxis] - places[rows]) >= (0.2, 0.1)
    assert set(np.flatnonzero(apart.any(axis=2).all(axis=1))) <= set(rows)


def test_each_choice_is_the_farthest_from_those_before():
    places = np.random.default_rng(3).random((200, 2))
    rows = choose_spread(places, 10, np.array([1e-6, 1e-6]), NOTHING)
    for step in range(1, 10):
        gaps = np.linalg.norm(places[:, np.newaxis] - places[rows[:step]], axis=2).min(axis=1)
        assert gaps[rows[step]] == gaps.max()


def test_equal_points_have_one_box():
    assert len(choose_spread(np.zeros((5, 2)), 5, np.ones(2), NOTHING)) == 1
    assert sorted(choose_spread(np.zeros((5, 2)), 5, np.zeros(2), NOTHING)) == [0, 1, 2, 3, 4]


def test_images_stand_at_their_points_framed_by_class(ax):
    labels = np.where(np.arange(N_POINTS) % 3 == 2, -1, np.arange(N_POINTS) % 3)
    display = EmbeddingDisplay(EMBEDDING, labels=labels, images=IMAGES).plot(ax)
    assert 10 < len(display.thumbnails_) <= 40
    colors = [*(style.color for style in class_styles(2)), UNLABELED_COLOR]
    for row, box in zip(display.thumbnail_rows_, display.thumbnails_, strict=True):
        assert box.xy == tuple(EMBEDDING[row])
        np.testing.assert_array_equal(box.offsetbox.get_data(), IMAGES[row])
        assert box.patch.get_edgecolor() == to_rgba(colors[labels[row]])


@pytest.mark.parametrize("aspect", ["auto", "equal"])
def test_images_cover_neither_each_other_nor_names_nor_centers(ax, aspect):
    ax.set_aspect(aspect)
    flat = EMBEDDING * [1.0, 0.2]
    display = EmbeddingDisplay(
        flat, labels=np.arange(N_POINTS) % 3, class_centers=flat[:3], images=IMAGES
    ).plot(ax)
    ax.figure.draw_without_rendering()
    boxes = get_boxes(display.thumbnails_)
    assert not overlaps(np.concatenate([boxes, get_boxes(display.text_)]))
    for place in ax.transData.transform(flat[:3]):
        assert not ((boxes[:, :2] < place) & (place < boxes[:, 2:])).all(axis=1).any()


def test_images_stay_inside_the_axes(ax):
    display = EmbeddingDisplay(EMBEDDING, images=IMAGES).plot(ax, image_kwargs={"zoom": 6.0})
    ax.figure.draw_without_rendering()
    frame = ax.get_window_extent()
    for box in display.thumbnails_:
        extent = box.get_window_extent()
        assert frame.x0 <= extent.x0
        assert extent.x1 <= frame.x1
        assert frame.y0 <= extent.y0
        assert extent.y1 <= frame.y1


@pytest.mark.parametrize("n_images", [0, 5])
def test_as_many_images_as_asked_for_and_always_the_same(ax, n_images):
    display = EmbeddingDisplay(EMBEDDING, images=IMAGES).plot(ax, n_images=n_images)
    assert len(display.thumbnails_) == len(display.thumbnail_rows_) == n_images
    again = EmbeddingDisplay(EMBEDDING, images=IMAGES).plot(Figure().subplots(), n_images=n_images)
    np.testing.assert_array_equal(display.thumbnail_rows_, again.thumbnail_rows_)


def test_gray_images_share_one_scale(ax):
    images = IMAGES * np.linspace(0.1, 1.0, N_POINTS)[:, np.newaxis, np.newaxis]
    display = EmbeddingDisplay(EMBEDDING, images=images).plot(ax)
    limits = {
        (box.offsetbox.image.norm.vmin, box.offsetbox.image.norm.vmax)
        for box in display.thumbnails_
    }
    assert limits == {(images.min(), images.max())}
    assert display.thumbnails_[0].offsetbox.image.get_cmap().name == "gray"


@pytest.mark.parametrize(
    "images",
    [
        np.random.default_rng(0).integers(0, 256, (N_POINTS, 4, 4, 3), np.uint8),
        np.random.default_rng(0).random((N_POINTS, 4, 4, 4)),
        np.random.default_rng(0).random((N_POINTS, 4, 4, 3)) < 0.5,
    ],
)
def test_images_in_colors(ax, images):
    display = EmbeddingDisplay(EMBEDDING, images=images).plot(ax)
    shown = display.thumbnails_[0].offsetbox.get_data()
    np.testing.assert_array_equal(shown, images[display.thumbnail_rows_[0]])
    ax.figure.draw_without_rendering()


def test_style_of_images_can_be_changed(ax):
    display = EmbeddingDisplay(EMBEDDING, images=IMAGES)
    usual = len(display.plot(ax, n_images=500).thumbnails_)
    display.plot(ax, n_images=500, image_kwargs={"cmap": "gray_r", "zoom": 8.0})
    assert display.thumbnails_[0].offsetbox.image.get_cmap().name == "gray_r"
    assert display.thumbnails_[0].offsetbox.get_zoom() == 8.0
    # Larger images leave room for fewer.
    assert 0 < len(display.thumbnails_) < usual


def test_images_need_a_map(ax):
    strip = EmbeddingDisplay(EMBEDDING, images=IMAGES, components=(0,))
    with pytest.raises(ValueError, match=r"images are drawn on maps of two columns.*names 1"):
        strip.plot(ax)
    assert strip.plot(ax, n_images=0).thumbnails_ == []
    space = EmbeddingDisplay(np.eye(3), images=IMAGES[:3], components=(0, 1, 2))
    with pytest.raises(ValueError, match="components names 3: name two, or pass n_images=0"):
        space.plot()


@pytest.mark.parametrize("n_images", [-1, 2.5, "all"])
def test_wrong_number_of_images(ax, n_images):
    with pytest.raises(ValueError, match=r"n_images=.* must be an integer of at least 0"):
        EmbeddingDisplay(EMBEDDING, images=IMAGES).plot(ax, n_images=n_images)
    with pytest.raises(ValueError, match="but the display has no images"):
        EmbeddingDisplay(EMBEDDING).plot(ax, n_images=n_images)
