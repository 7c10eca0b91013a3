"""What users ask of a map's picture beyond its defaults, and what they get wrong."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

import labelfold
from labelfold import CCDR, LaplacianClassifier, ManifoldClassifier, TransductiveSearchCV
from labelfold.plotting import EmbeddingDisplay, GraphDisplay
from labelfold.plotting.map_artists import GroupSizes
from labelfold.plotting.map_layout import LONGEST_NAME, boxes_of

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(90, 2))
CODES = np.arange(90) % 3


@pytest.fixture
def ax():
    return Figure(figsize=(5, 4), dpi=80).subplots()


def ink(ax):
    """Number of pixels within the axes that are not white."""
    ax.set_axis_off()
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    return int((np.asarray(canvas.buffer_rgba())[..., :3] < 250).any(axis=2).sum())


@pytest.mark.parametrize("marker", ["x", "+", "1"])
@pytest.mark.parametrize("group", ["unlabeled", "predicted", "new"])
def test_markers_made_of_lines_are_seen(ax, group, marker):
    predictions = CODES if group == "predicted" else None
    display = EmbeddingDisplay(
        POINTS, predictions=predictions, is_new=np.full(90, group == "new")
    ).plot(ax, **{f"{group}_kwargs": {"marker": marker}}, show_names=False)
    if display.legend_ is not None:
        display.legend_.remove()  # its ink does not count
    assert ink(ax) > 500


def test_sizes_fall_with_numbers():
    few = GroupSizes.of(500, 10, 10, has_others=True)
    many = GroupSizes.of(500, 10, 5_000, has_others=True)
    assert few.new > few.predicted > few.unlabeled
    assert few.labeled > few.predicted
    assert many.new < few.new / 2


def test_a_crowd_of_new_points_joins_the_image(ax):
    points = RNG.normal(size=(60_000, 2))
    display = EmbeddingDisplay(points, is_new=np.arange(60_000) >= 100).plot(ax)
    assert display.new_ is None
    assert display.legend_ is None
    assert display.density_counts_.sum() == 60_000


def test_an_image_leaves_axes_turned_over_as_they_are(ax):
    ax.invert_yaxis()
    display = EmbeddingDisplay(POINTS, predictions=CODES).plot(ax, density=True)
    bottom, top = display.ax_.get_ylim()
    assert bottom > top
    # Margins as around markers.
    assert bottom > POINTS[:, 1].max()
    assert ax.get_xlim()[0] < POINTS[:, 0].min()


def test_names_and_images_keep_apart_on_axes_of_equal_aspect(ax):
    ax.set_aspect("equal")
    flat = POINTS * [1.0, 0.1]
    display = EmbeddingDisplay(flat, labels=CODES, images=RNG.random((90, 8, 8))).plot(ax)
    ax.figure.canvas.draw()
    boxes = np.concatenate([boxes_of(display.thumbnails_), boxes_of(display.text_)])
    for index, box in enumerate(boxes):
        later = boxes[index + 1 :]
        assert not ((box[:2] < later[:, 2:]) & (box[2:] > later[:, :2])).all(axis=1).any()


def test_images_leave_class_centers_in_sight(ax):
    centers = POINTS[:3]
    display = EmbeddingDisplay(
        POINTS, labels=CODES, class_centers=centers, images=RNG.random((90, 8, 8))
    ).plot(ax)
    ax.figure.canvas.draw()
    for box in boxes_of(display.thumbnails_):
        places = ax.transData.transform(centers)
        assert not ((box[:2] < places) & (places < box[2:])).all(axis=1).any()


def test_long_names_are_shortened(ax):
    long = "a name that nobody would wish to read on a map of many points"
    display = EmbeddingDisplay(POINTS, labels=CODES, class_names=[long, "b", "c"]).plot(ax)
    assert len(display.text_[0].get_text()) == LONGEST_NAME
    assert display.class_names[0] == long


def test_names_by_class():
    names = {2: "cow", 0: "cat", 1: "dog"}
    assert EmbeddingDisplay(POINTS, labels=CODES, class_names=names).class_names == [
        "cat",
        "dog",
        "cow",
    ]
    with pytest.raises(ValueError, match=r"class_names has no entry for class .*2.*: name all"):
        EmbeddingDisplay(POINTS, labels=CODES, class_names={0: "cat", 1: "dog"})


@pytest.mark.parametrize(
    "colors", [np.arange(90.0), ["red", "blue", "black"] * 30, np.full((90, 4), 0.5)]
)
def test_colors_of_points_in_space_with_many_shapes(colors):
    space = np.column_stack([POINTS, POINTS[:, 0]])
    labels = np.arange(90) % 9
    display = EmbeddingDisplay(space, labels=labels, components=(0, 1, 2)).plot(c=colors)
    display.figure_.canvas.draw()
    drawn = np.concatenate([points.get_facecolor() for points in display.scatter_])
    flat = EmbeddingDisplay(space, labels=labels).plot(c=colors).scatter_
    flat.figure.canvas.draw()
    expected = flat.get_facecolor()
    key = np.lexsort(drawn.T)
    np.testing.assert_allclose(drawn[key], expected[np.lexsort(expected.T)], atol=1e-12)
    plt.close("all")


def test_a_picture_is_white_on_any_page():
    with plt.style.context("dark_background"):
        display = EmbeddingDisplay(POINTS, labels=CODES).plot()
        assert display.ax_.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    plt.close("all")


@pytest.mark.parametrize("channels", [3, 4])
def test_images_of_booleans_in_colors(ax, channels):
    images = np.zeros((90, 4, 4, channels), dtype=bool)
    images[..., -1] = True
    display = EmbeddingDisplay(POINTS, images=images).plot(ax, n_images=3)
    ax.figure.canvas.draw()
    assert display.images.max() == 1.0
    assert display.images.dtype == np.float64


def test_confidence_may_pass_one_by_rounding():
    display = EmbeddingDisplay(
        POINTS, predictions=CODES, confidence=np.full(90, 1.0000000000000002)
    )
    assert display.confidence.max() == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"components": 0}, "components=0 must be 'classes', or whole numbers"),
        ({"components": (0.7, 1.9)}, r"components=\(0.7, 1.9\) must be 'classes', or whole"),
    ],
)
def test_components_that_are_none(options, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingDisplay(POINTS, labels=CODES, **options)


def test_several_axes_are_refused():
    with pytest.raises(TypeError, match=r"ax is a ndarray: pass one Axes, such as axes\[0\]"):
        EmbeddingDisplay(POINTS).plot(Figure().subplots(1, 2))


def test_maps_within_other_estimators(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = ManifoldClassifier(CCDR(3)).fit(X, y)
    search = TransductiveSearchCV(ManifoldClassifier(CCDR(3)), {}).fit(X, y)
    labelfold.save(model, tmp_path / "model.skops", compact=True)
    compact = labelfold.load(tmp_path / "model.skops")
    for estimator in (search, compact):
        display = EmbeddingDisplay.from_estimator(estimator, y=y)
        np.testing.assert_allclose(display.embedding, model.embedding_, atol=1e-12)
    assert len(GraphDisplay.from_estimator(search, y=y).points_.embedding) == 150
    plt.close("all")


def test_estimators_without_a_map_are_told_of_the_way_out():
    X, y = load_iris(return_X_y=True)
    classifier = LaplacianClassifier(0.5).fit(X, y)
    for points in (None, X):
        with pytest.raises(ValueError, match=r"LaplacianClassifier has no map, .*from_predictions"):
            EmbeddingDisplay.from_estimator(classifier, points)
    with pytest.raises(ValueError, match=r"PCA keeps no embedding_ .* pass X"):
        EmbeddingDisplay.from_estimator(PCA(2).fit(X))


@pytest.mark.parametrize("color", ["red", (1.0, 0.0, 0.0, 1.0)])
def test_one_color_for_all_points_in_space(color):
    space = np.column_stack([POINTS, POINTS[:, 0]])
    display = EmbeddingDisplay(space, labels=np.arange(90) % 9, components=(0, 1, 2))
    display.plot(color=color)
    display.figure_.canvas.draw()
    for points in display.scatter_:
        np.testing.assert_array_equal(points.get_facecolor()[0], [1.0, 0.0, 0.0, 1.0])
    plt.close("all")
