from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles

EMBEDDING = np.random.default_rng(0).normal(size=(6, 2))
LABELS = ["a", None, None, None, "b", None]
PREDICTIONS = ["a", "b", "a", "c", "a", None]
CONFIDENCE = np.array([0.5, 1.0, 0.0, 0.5, 0.5, 0.5])


@pytest.fixture
def ax():
    return Figure().subplots()


def rgb(classes):
    colors = {
        name: to_rgba(style.color) for name, style in zip("abc", class_styles(3), strict=True)
    }
    return [colors[name][:3] for name in classes]


# Predictions


def test_each_point_is_in_one_layer(ax):
    display = EmbeddingDisplay(EMBEDDING, labels=LABELS, predictions=PREDICTIONS).plot(ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), EMBEDDING[[0, 4]])
    np.testing.assert_array_equal(display.predicted_.get_offsets(), EMBEDDING[[1, 2, 3]])
    np.testing.assert_array_equal(display.unlabeled_.get_offsets(), EMBEDDING[[5]])
    assert display.new_ is None
    assert display.legend_ is None


def test_a_label_counts_before_a_prediction(ax):
    display = EmbeddingDisplay(EMBEDDING, labels=LABELS, predictions=PREDICTIONS).plot(ax)
    np.testing.assert_allclose(display.scatter_.get_facecolors()[:, :3], rgb("ab"))
    np.testing.assert_allclose(display.predicted_.get_facecolors()[:, :3], rgb("bac"))


def test_opacity_rises_with_confidence_and_nothing_disappears(ax):
    display = EmbeddingDisplay(
        EMBEDDING, labels=LABELS, predictions=PREDICTIONS, confidence=CONFIDENCE
    ).plot(ax)
    opacities = display.predicted_.get_facecolors()[:, 3]
    np.testing.assert_allclose(opacities, [1.0, 0.15, 0.575])
    # A label is certain, whatever the classifier thinks of it.
    np.testing.assert_allclose(display.scatter_.get_facecolors()[:, 3], 1.0)


def test_predictions_without_confidence_are_opaque(ax):
    display = EmbeddingDisplay(EMBEDDING, predictions=["a"] * 6).plot(ax)
    np.testing.assert_allclose(display.predicted_.get_facecolors(), [to_rgba("#0072B2")] * 6)


def test_labeled_points_stand_out_among_predicted_ones(ax):
    display = EmbeddingDisplay(EMBEDDING, labels=LABELS, predictions=PREDICTIONS).plot(ax)
    assert display.predicted_.get_linewidths() == [0]
    assert display.scatter_.get_linewidths() > [0]
    assert display.scatter_.get_sizes() > display.predicted_.get_sizes()
    assert display.scatter_.get_path_effects()
    layers = [display.unlabeled_, display.predicted_, display.scatter_]
    orders = [layer.get_zorder() for layer in layers]
    assert orders == sorted(orders)


def test_labeled_points_are_as_ever_without_predictions(ax):
    display = EmbeddingDisplay(EMBEDDING, labels=LABELS).plot(ax)
    assert display.scatter_.get_sizes() == [36.0]
    assert not display.scatter_.get_path_effects()
    assert display.predicted_ is None


def test_names_of_predicted_classes_stand_at_their_points(ax):
    display = EmbeddingDisplay(EMBEDDING, labels=LABELS, predictions=PREDICTIONS).plot(ax)
    assert [text.get_text() for text in display.text_] == ["a", "b", "c"]
    assert tuple(display.text_[2].xy) == tuple(EMBEDDING[3])


def test_predictions_in_a_strip_stand_in_the_row_of_their_class(ax):
    display = EmbeddingDisplay(EMBEDDING[:, :1], labels=LABELS, predictions=PREDICTIONS).plot(ax)
    np.testing.assert_array_equal(np.round(display.predicted_.get_offsets()[:, 1]), [1, 0, 2])
    np.testing.assert_array_equal(np.round(display.unlabeled_.get_offsets()[:, 1]), [3])


def test_more_than_eight_predicted_classes_differ_by_shape(ax):
    display = EmbeddingDisplay(np.eye(20)[:, :2], predictions=range(20)).plot(ax)
    looks = {
        (tuple(color), path.vertices.tobytes())
        for color, path in zip(
            display.predicted_.get_facecolors(), display.predicted_.get_paths(), strict=True
        )
    }
    assert len(looks) == 20


def test_style_of_predicted_points_can_be_changed(ax):
    display = EmbeddingDisplay(EMBEDDING, predictions=["a"] * 6).plot(
        ax, predicted_kwargs={"s": 3.0, "marker": "x", "color": "red"}
    )
    assert display.predicted_.get_sizes() == [3.0]
    np.testing.assert_allclose(display.predicted_.get_edgecolors(), [to_rgba("red")])


def test_from_predictions_is_the_constructor_drawn(ax):
    display = EmbeddingDisplay.from_predictions(
        EMBEDDING,
        PREDICTIONS,
        labels=LABELS,
        confidence=CONFIDENCE,
        is_new=np.arange(6) == 1,
        class_centers=np.eye(3)[:, :2],
        classes=["c", "b", "a"],
        class_names=["C", "B", "A"],
        components=(1, 0),
        ax=ax,
        show_names=False,
    )
    assert display.ax_ is ax
    assert display.text_ == []
    assert display.class_names == ["C", "B", "A"]
    np.testing.assert_array_equal(display.new_.get_offsets(), EMBEDDING[[1]][:, ::-1])
    np.testing.assert_allclose(display.predicted_.get_facecolors()[:, 3], [0.15, 0.575])
    np.testing.assert_array_equal(display.centers_.get_offsets(), np.eye(3)[:, [1, 0]])


# New points


def test_new_points_are_drawn_once_on_top_with_a_ring(ax):
    is_new = np.array([True, True, False, False, False, True])
    display = EmbeddingDisplay(
        EMBEDDING, labels=LABELS, predictions=PREDICTIONS, confidence=CONFIDENCE, is_new=is_new
    ).plot(ax)
    np.testing.assert_array_equal(display.new_.get_offsets(), EMBEDDING[is_new])
    np.testing.assert_array_equal(display.scatter_.get_offsets(), EMBEDDING[[4]])
    np.testing.assert_array_equal(display.predicted_.get_offsets(), EMBEDDING[[2, 3]])
    assert display.unlabeled_ is None
    colors = [*rgb("ab"), to_rgba(UNLABELED_COLOR)[:3]]
    np.testing.assert_allclose(display.new_.get_facecolors()[:, :3], colors)
    np.testing.assert_allclose(display.new_.get_edgecolors(), [to_rgba("black")])
    assert display.new_.get_linewidths() >= [1.0]
    assert display.new_.get_zorder() > display.scatter_.get_zorder()


def test_new_points_without_a_prediction_are_opaque(ax):
    display = EmbeddingDisplay(
        EMBEDDING, labels=LABELS, predictions=PREDICTIONS, confidence=CONFIDENCE, is_new=[True] * 6
    ).plot(ax)
    # Rows 0 and 4 have a label; row 5 has neither label nor prediction.
    np.testing.assert_allclose(
        display.new_.get_facecolors()[:, 3], [1.0, 1.0, 0.15, 0.575, 1.0, 1.0]
    )


def test_a_legend_says_what_the_ring_is(ax):
    display = EmbeddingDisplay(EMBEDDING, is_new=np.arange(6) == 2).plot(ax)
    assert [text.get_text() for text in display.legend_.get_texts()] == ["new"]
    assert ax.get_legend() is display.legend_


def test_no_legend_where_no_point_is_new(ax):
    display = EmbeddingDisplay(EMBEDDING, is_new=[False] * 6).plot(ax)
    assert display.legend_ is None
    assert display.new_ is None


def test_style_of_new_points_can_be_changed(ax):
    display = EmbeddingDisplay(EMBEDDING, is_new=[True] * 6).plot(
        ax, new_kwargs={"ec": "red", "s": 7.0}
    )
    np.testing.assert_allclose(display.new_.get_edgecolors(), [to_rgba("red")])
    assert display.new_.get_sizes() == [7.0]
