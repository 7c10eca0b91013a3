from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.map_layout import choose_spread
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles

N_POINTS = 400
NOTHING = np.empty((0, 4))
EMBEDDING = np.random.default_rng(0).normal(size=(N_POINTS, 2))
IMAGES = np.random.default_rng(1).random((N_POINTS, 6, 8))


@pytest.fixture
def ax():
    return Figure().subplots()


def overlap(one, other):
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


# The choice


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


def test_taken_places_stay_free():
    places = np.column_stack([np.linspace(0, 10, 101), np.zeros(101)])
    rows = choose_spread(places, 101, np.ones(2), np.array([[4.0, -1.0, 6.0, 1.0]]))
    away = np.abs(places[rows, 0] - 5.0)
    assert (away >= 1.5).all()
    assert len(rows) > 5


def test_equal_points_have_one_box():
    assert len(choose_spread(np.zeros((5, 2)), 5, np.ones(2), NOTHING)) == 1
    assert sorted(choose_spread(np.zeros((5, 2)), 5, np.zeros(2), NOTHING)) == [0, 1, 2, 3, 4]


# The picture


def test_images_stand_at_their_points_framed_by_class(ax):
    labels = np.where(np.arange(N_POINTS) % 3 == 2, -1, np.arange(N_POINTS) % 3)
    display = EmbeddingDisplay(EMBEDDING, labels=labels, images=IMAGES).plot(ax)
    assert 10 < len(display.thumbnails_) <= 40
    colors = [*(style.color for style in class_styles(2)), UNLABELED_COLOR]
    for row, box in zip(display.thumbnail_rows_, display.thumbnails_, strict=True):
        assert box.xy == tuple(EMBEDDING[row])
        np.testing.assert_array_equal(box.offsetbox.get_data(), IMAGES[row])
        assert box.patch.get_edgecolor() == to_rgba(colors[labels[row]])


def test_images_cover_neither_each_other_nor_names(ax):
    display = EmbeddingDisplay(EMBEDDING, labels=np.arange(N_POINTS) % 3, images=IMAGES).plot(ax)
    ax.figure.draw_without_rendering()
    boxes = [box.get_window_extent() for box in display.thumbnails_]
    assert not any(overlap(*pair) for pair in itertools.combinations(boxes, 2))
    names = [text.get_window_extent() for text in display.text_]
    assert not any(overlap(box, name) for box in boxes for name in names)


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


def test_the_same_images_every_time():
    chosen = [
        EmbeddingDisplay(EMBEDDING, images=IMAGES).plot(Figure().subplots()).thumbnail_rows_
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*chosen)


@pytest.mark.parametrize("n_images", [0, 1, 5])
def test_as_many_images_as_asked_for(ax, n_images):
    display = EmbeddingDisplay(EMBEDDING, images=IMAGES).plot(ax, n_images=n_images)
    assert len(display.thumbnails_) == len(display.thumbnail_rows_) == n_images


def test_grey_images_share_one_scale(ax):
    images = IMAGES * np.linspace(0.1, 1.0, N_POINTS)[:, np.newaxis, np.newaxis]
    display = EmbeddingDisplay(EMBEDDING, images=images).plot(ax)
    limits = {
        (box.offsetbox.image.norm.vmin, box.offsetbox.image.norm.vmax)
        for box in display.thumbnails_
    }
    assert limits == {(images.min(), images.max())}
    assert display.thumbnails_[0].offsetbox.image.get_cmap().name == "gray"


@pytest.mark.parametrize("n_channels", [3, 4])
def test_images_in_colors(ax, n_channels):
    images = np.random.default_rng(0).integers(0, 256, (N_POINTS, 4, 4, n_channels), np.uint8)
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


def test_a_number_of_images_without_images(ax):
    with pytest.raises(ValueError, match="n_images=5, but the display has no images"):
        EmbeddingDisplay(EMBEDDING).plot(ax, n_images=5)
