from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from labelfold.classify import ManifoldClassifier
from labelfold.labels import PartialLabels
from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles
from labelfold.spectral import CCDR

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return Figure().subplots()


def clusters(n_classes, per_class=6, n_components=2, seed=0):
    """Points around well separated centres, and their classes."""
    rng = np.random.default_rng(seed)
    centers = 10.0 * np.column_stack([np.arange(n_classes)] * n_components)
    y = np.repeat(np.arange(n_classes), per_class)
    return centers[y] + rng.normal(size=(len(y), n_components)), y, centers


class StandIn(BaseEstimator):
    """Has the surface of an estimator of the library, and no numerics."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return 2.0 * np.asarray(X)


def fitted(embedding, class_centers=None, classes=None):
    estimator = StandIn()
    estimator.embedding_ = embedding
    if class_centers is not None:
        estimator.class_centers_ = class_centers
        estimator.classes_ = classes
    return estimator


# What is drawn


def test_offsets_are_the_embedding(ax):
    embedding, y, _ = clusters(3)
    y[::2] = -1
    display = EmbeddingDisplay(embedding, labels=y).plot(ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), embedding[y >= 0])
    np.testing.assert_array_equal(display.unlabeled_.get_offsets(), embedding[y < 0])


def test_colors_follow_classes(ax):
    embedding, y, _ = clusters(3)
    display = EmbeddingDisplay(embedding, labels=y).plot(ax)
    styles = class_styles(3)
    expected = [to_rgba(styles[code].color) for code in y]
    np.testing.assert_allclose(display.scatter_.get_facecolors(), expected)


def test_unlabeled_points_are_grey_and_underneath(ax):
    embedding, y, _ = clusters(2)
    y[0] = -1
    display = EmbeddingDisplay(embedding, labels=y).plot(ax)
    np.testing.assert_allclose(display.unlabeled_.get_facecolors(), [to_rgba(UNLABELED_COLOR)])
    assert display.unlabeled_.get_zorder() < display.scatter_.get_zorder()


def test_names_stand_at_a_labeled_point_of_their_class(ax):
    embedding, y, _ = clusters(4)
    display = EmbeddingDisplay(embedding, labels=y).plot(ax)
    assert [text.get_text() for text in display.text_] == ["0", "1", "2", "3"]
    for code, text in enumerate(display.text_):
        assert any(np.array_equal(text.xy, point) for point in embedding[y == code])
        assert text.get_path_effects()


def test_name_stays_in_the_larger_part_of_a_class_with_an_outlier(ax):
    embedding = np.array([[0.0, 0.0], [0.1, 0.1], [0.2, 0.0], [1e6, 1e6], [5.0, 5.0]])
    display = EmbeddingDisplay(embedding, labels=[0, 0, 0, 0, 1]).plot(ax)
    assert display.text_[0].xy[0] <= 0.2


def test_name_of_a_class_in_two_parts_is_at_one_of_its_points(ax):
    embedding = np.array([[-1.0, 0.0], [-1.0, 0.1], [1.0, 0.0], [1.0, 0.1], [0.0, 0.0]])
    display = EmbeddingDisplay(embedding, labels=[0, 0, 0, 0, 1]).plot(ax)
    assert abs(display.text_[0].xy[0]) == 1.0


def test_centers_are_stars_in_class_colors(ax):
    embedding, y, centers = clusters(3)
    display = EmbeddingDisplay(embedding, labels=y, class_centers=centers).plot(ax)
    np.testing.assert_array_equal(display.centers_.get_offsets(), centers)
    np.testing.assert_allclose(
        display.centers_.get_facecolors(), [to_rgba(style.color) for style in class_styles(3)]
    )
    assert display.centers_.get_zorder() > display.scatter_.get_zorder()
    star = display.centers_.get_paths()[0]
    assert len(star.vertices) > len(mpl.markers.MarkerStyle("s").get_path().vertices)


def test_layers_can_be_left_out(ax):
    embedding, y, centers = clusters(3)
    display = EmbeddingDisplay(embedding, labels=y, class_centers=centers)
    display.plot(ax, show_names=False, show_centers=False)
    assert display.text_ == []
    assert display.centers_ is None
    assert display.unlabeled_ is None


def test_more_than_eight_classes_differ_by_shape(ax):
    embedding, y, _ = clusters(20, per_class=2)
    display = EmbeddingDisplay(embedding, labels=y).plot(ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), embedding)
    paths = display.scatter_.get_paths()
    colors = display.scatter_.get_facecolors()
    looks = {
        (tuple(color), path.vertices.tobytes()) for color, path in zip(colors, paths, strict=True)
    }
    assert len(looks) == 20
    display.figure_.draw_without_rendering()


def test_without_labels_all_points_are_unlabeled(ax):
    embedding, _, _ = clusters(2)
    display = EmbeddingDisplay(embedding).plot(ax)
    assert display.scatter_ is None
    assert display.text_ == []
    assert len(display.unlabeled_.get_offsets()) == len(embedding)


def test_centers_without_labels_carry_the_names(ax):
    embedding, _, centers = clusters(2)
    display = EmbeddingDisplay(embedding, class_centers=centers, classes=["cat", "dog"]).plot(ax)
    assert [(text.get_text(), *text.xy) for text in display.text_] == [
        ("cat", *centers[0]),
        ("dog", *centers[1]),
    ]


def test_axes_are_named_and_components_chosen(ax):
    embedding, y, _ = clusters(2, n_components=4)
    display = EmbeddingDisplay(embedding, labels=y, components=(3, 1)).plot(ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), embedding[:, [3, 1]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("coordinate 4", "coordinate 2")
    assert ax.get_aspect() == "auto"


def test_a_new_figure_is_made_where_none_is_given():
    embedding, y, _ = clusters(2)
    display = EmbeddingDisplay(embedding, labels=y).plot()
    assert display.ax_.figure is display.figure_


def test_given_axes_are_used(ax):
    embedding, y, _ = clusters(2)
    display = EmbeddingDisplay(embedding, labels=y)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_class_names_are_no_formulas(ax):
    embedding, y, _ = clusters(2)
    display = EmbeddingDisplay(embedding, labels=y, class_names=["$5_$", "a$"]).plot(ax)
    assert not any(text.get_parse_math() for text in display.text_)
    display.figure_.draw_without_rendering()


def test_style_can_be_changed_under_any_alias(ax):
    embedding, y, centers = clusters(2)
    y[0] = -1
    display = EmbeddingDisplay(embedding, labels=y, class_centers=centers).plot(
        ax,
        s=3.0,
        color="red",
        lw=2.0,
        unlabeled_kwargs={"fc": "blue"},
        center_kwargs={"marker": "P", "c": "green"},
        text_kwargs={"size": 20, "ha": "left"},
    )
    np.testing.assert_allclose(display.scatter_.get_facecolors(), [to_rgba("red")])
    assert display.scatter_.get_sizes() == [3.0]
    assert display.scatter_.get_linewidths() == [2.0]
    np.testing.assert_allclose(display.unlabeled_.get_facecolors(), [to_rgba("blue")])
    assert display.text_[0].get_fontsize() == 20
    assert display.text_[0].get_horizontalalignment() == "left"


# One coordinate


def test_one_column_is_a_strip_with_a_row_a_class(ax):
    embedding, y, centers = clusters(3, n_components=1)
    y[0] = -1
    display = EmbeddingDisplay(embedding, labels=y, class_centers=centers).plot(ax)
    offsets = np.asarray(display.scatter_.get_offsets())
    np.testing.assert_array_equal(offsets[:, 0], embedding[1:, 0])
    np.testing.assert_array_equal(np.round(offsets[:, 1]), y[1:])
    np.testing.assert_array_equal(np.round(display.unlabeled_.get_offsets()[:, 1]), [3])
    np.testing.assert_array_equal(display.centers_.get_offsets()[:, 1], [0, 1, 2])
    assert [text.get_text() for text in display.text_] == ["0", "1", "2"]
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "unlabeled"


def test_one_of_several_columns_can_be_a_strip(ax):
    embedding, y, _ = clusters(2, n_components=3)
    display = EmbeddingDisplay(embedding, labels=y, components=(2,)).plot(ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets()[:, 0], embedding[:, 2])
    assert ax.get_xlabel() == "coordinate 3"


def test_a_strip_without_labels(ax):
    display = EmbeddingDisplay([[1.0], [2.0]]).plot(ax)
    assert len(display.unlabeled_.get_offsets()) == 2


# Labels of every kind

KINDS = {
    "integers": ([0, 1, -1, 1], ["0", "1"]),
    "text": (["a", "b", None, "b"], ["a", "b"]),
    "floats with NaN": ([0.0, 1.0, np.nan, 1.0], ["0", "1"]),
    "objects": (np.array(["a", "b", -1, "b"], dtype=object), ["a", "b"]),
    "pandas categorical": (pd.Series(["a", "b", None, "b"], dtype="category"), ["a", "b"]),
    "pandas nullable": (pd.Series([0, 1, pd.NA, 1], dtype="Int64"), ["0", "1"]),
    "partial labels": (PartialLabels.from_y([0, 1, -1, 1]), ["0", "1"]),
    "booleans": ([True, False, True, True], ["False", "True"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_every_kind(kind, ax):
    labels, names = KINDS[kind]
    embedding = np.arange(8.0).reshape(4, 2)
    display = EmbeddingDisplay(embedding, labels=labels).plot(ax)
    assert [text.get_text() for text in display.text_] == names


def test_no_label_at_all_is_fine(ax):
    display = EmbeddingDisplay(np.eye(3), labels=[-1, -1, -1]).plot(ax)
    assert display.scatter_ is None
    assert len(display.unlabeled_.get_offsets()) == 3


# Ways in


def test_from_estimator_takes_embedding_centers_and_classes(ax):
    embedding, y, centers = clusters(3)
    names = np.array(["cat", "dog", "eel"])
    estimator = fitted(embedding, centers, names)
    display = EmbeddingDisplay.from_estimator(estimator, y=names[y], ax=ax, s=5)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), embedding)
    np.testing.assert_array_equal(display.centers_.get_offsets(), centers)
    assert [text.get_text() for text in display.text_] == ["cat", "dog", "eel"]
    assert display.scatter_.get_sizes() == [5]


def test_from_estimator_without_labels_shows_the_centers(ax):
    embedding, _, centers = clusters(3)
    display = EmbeddingDisplay.from_estimator(fitted(embedding, centers, range(3)), ax=ax)
    assert [text.get_text() for text in display.text_] == ["0", "1", "2"]


def test_from_estimator_with_no_class_at_all(ax):
    embedding, _, _ = clusters(2)
    estimator = fitted(embedding, np.empty((0, 2)), np.empty(0))
    assert EmbeddingDisplay.from_estimator(estimator, ax=ax).centers_ is None


def test_from_estimator_with_new_points(ax):
    display = EmbeddingDisplay.from_estimator(fitted(np.eye(2)), np.eye(2), [0, 1], ax=ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), 2 * np.eye(2))


def test_from_estimator_with_ccdr(ax):
    X, y, _ = clusters(3, per_class=10, n_components=4)
    y[::2] = -1
    ccdr = CCDR(n_components=3).fit(X, y)
    display = EmbeddingDisplay.from_estimator(ccdr, y=y, ax=ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), ccdr.embedding_[y >= 0, :2])
    np.testing.assert_array_equal(display.centers_.get_offsets(), ccdr.class_centers_[:, :2])
    same = EmbeddingDisplay.from_estimator(ccdr, X, y)
    np.testing.assert_allclose(same.scatter_.get_offsets(), display.scatter_.get_offsets())


def test_from_estimator_with_a_classifier_draws_its_map(ax):
    X = np.random.default_rng(0).standard_normal((30, 3))
    y = np.arange(30) % 2
    model = ManifoldClassifier(CCDR(2)).fit(X, y)
    display = EmbeddingDisplay.from_estimator(model, y=y, ax=ax)
    np.testing.assert_array_equal(display.embedding, model.embedding_)
    np.testing.assert_array_equal(display.class_centers, model.embedder_.class_centers_)
    again = EmbeddingDisplay.from_estimator(model, X, y, ax=ax)
    np.testing.assert_allclose(again.embedding, model.embedding_)


def test_from_estimator_with_any_transformer(ax):
    X = np.random.default_rng(0).normal(size=(10, 4))
    pca = PCA(3).fit(X)
    display = EmbeddingDisplay.from_estimator(pca, X, ax=ax, components=(1, 2))
    np.testing.assert_array_equal(display.unlabeled_.get_offsets(), pca.transform(X)[:, 1:])


def test_embedding_may_be_a_data_frame(ax):
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    display = EmbeddingDisplay(frame, labels=["x", "y"], class_names=["ex", "why"]).plot(ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), frame.to_numpy())
    assert [text.get_text() for text in display.text_] == ["ex", "why"]


def test_colors_do_not_depend_on_which_labels_are_drawn(ax):
    embedding, _, centers = clusters(3)
    estimator = fitted(embedding, centers, np.array(["a", "b", "c"]))
    y = [None] * len(embedding)
    y[0] = "c"
    display = EmbeddingDisplay.from_estimator(estimator, y=y, ax=ax)
    np.testing.assert_allclose(
        display.scatter_.get_facecolors(), [to_rgba(class_styles(3)[2].color)]
    )


def test_labels_may_hold_a_class_the_estimator_never_saw(ax):
    embedding, _, centers = clusters(2)
    y = ["z", "a", "b"] + [None] * (len(embedding) - 3)
    estimator = fitted(embedding, centers, np.array(["b", "c"]))
    display = EmbeddingDisplay.from_estimator(estimator, y=y, ax=ax)
    assert [text.get_text() for text in display.text_] == ["b", "c", "a", "z"]


# Errors say what is wrong and what to do


def test_not_fitted():
    with pytest.raises(NotFittedError):
        EmbeddingDisplay.from_estimator(StandIn())


def test_no_embedding_and_no_points():
    pca = PCA(2).fit(np.eye(4))
    with pytest.raises(ValueError, match=r"PCA keeps no embedding_.*pass X"):
        EmbeddingDisplay.from_estimator(pca)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": [0, 1]}, "labels has 2 entries but the embedding has 3 rows"),
        ({"components": (0, 2)}, r"components=\(0, 2\) is out of range.*from 0 to 1"),
        ({"components": (-1, 0)}, "out of range"),
        ({"components": (0, 1, 1)}, r"components=\(0, 1, 1\) names a column twice"),
        ({"components": (0, 1, 2)}, r"components=\(0, 1, 2\) is out of range"),
        ({"components": (0, 1, 2, 3)}, "names 4 columns: name two for a map, three for a map in"),
        ({"components": ()}, "names 0 columns"),
        ({"class_centers": np.eye(3)}, "class_centers has 3 columns but the embedding has 2"),
        (
            {"class_centers": np.eye(2), "labels": [0, 1, 2]},
            "class_centers has 2 rows but labels hold 3 classes: pass classes",
        ),
        (
            {"class_centers": np.eye(2), "classes": ["a"]},
            "class_centers has 2 rows but classes has 1 entries",
        ),
        ({"labels": [0, 1, 1], "class_names": ["a"]}, "class_names has 1 entries for 2 classes"),
        ({"labels": [0.5, 1.2, 3.3]}, "continuous"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingDisplay(np.arange(6.0).reshape(3, 2), **given)


@pytest.mark.parametrize("embedding", [[[np.nan, 0.0]], [[np.inf, 0.0]], np.empty((0, 2)), [1.0]])
def test_bad_embedding(embedding):
    with pytest.raises(ValueError, match=r"embedding|Expected 2D|0 sample"):
        EmbeddingDisplay(embedding)


def test_a_namespace_is_no_estimator():
    with pytest.raises(TypeError):
        EmbeddingDisplay.from_estimator(SimpleNamespace(embedding_=np.eye(2)))
