from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.palette import class_styles


@pytest.fixture
def space():
    return Figure().add_subplot(projection="3d")


def places(collection):
    return np.column_stack(collection._offsets3d)


def points(n_points=6, n_components=3):
    return np.random.default_rng(0).normal(size=(n_points, n_components))


def test_three_columns_are_drawn_in_space(space):
    embedding = points(n_components=4)
    labels = [0, 1, -1, -1, -1, -1]
    display = EmbeddingDisplay(
        embedding,
        labels=labels,
        predictions=[0, 1, 1, -1, 0, 1],
        is_new=np.arange(6) == 5,
        class_centers=embedding[:2],
        components=(3, 0, 1),
    ).plot(space)
    chosen = embedding[:, [3, 0, 1]]
    np.testing.assert_array_equal(places(display.scatter_), chosen[:2])
    np.testing.assert_array_equal(places(display.predicted_), chosen[[2, 4]])
    np.testing.assert_array_equal(places(display.unlabeled_), chosen[[3]])
    np.testing.assert_array_equal(places(display.new_), chosen[[5]])
    np.testing.assert_array_equal(places(display.centers_), chosen[:2])
    names = (space.get_xlabel(), space.get_ylabel(), space.get_zlabel())
    assert names == ("coordinate 4", "coordinate 1", "coordinate 2")


def test_names_stand_at_points_of_their_class_in_space(space):
    embedding = points()
    display = EmbeddingDisplay(embedding, labels=[0, 0, 0, 1, 1, 1], components=(0, 1, 2))
    display.plot(space)
    assert [text.get_text() for text in display.text_] == ["0", "1"]
    for code, text in enumerate(display.text_):
        own = embedding[3 * code : 3 * code + 3]
        assert (own == text.get_position_3d()).all(axis=1).any()


def test_depth_changes_no_color_once_drawn(space):
    embedding = points(40)
    labels = np.arange(40) % 3
    display = EmbeddingDisplay(embedding, labels=labels, components=(0, 1, 2)).plot(space)
    space.figure.draw_without_rendering()
    drawn = {tuple(color) for color in display.scatter_.get_facecolors()}
    assert drawn == {to_rgba(style.color) for style in class_styles(3)}


def test_confidence_is_opacity_in_space_too(space):
    confidence = np.linspace(0, 1, 6)
    display = EmbeddingDisplay(
        points(), predictions=[0] * 6, confidence=confidence, components=(0, 1, 2)
    ).plot(space)
    space.figure.draw_without_rendering()
    opacities = np.sort(display.predicted_.get_facecolors()[:, 3])
    np.testing.assert_allclose(opacities, 0.15 + 0.85 * confidence)


def test_layers_keep_their_order_in_space(space):
    EmbeddingDisplay(points(), components=(0, 1, 2)).plot(space)
    assert not space.computed_zorder


def test_more_than_eight_classes_have_a_collection_a_shape_in_space(space):
    embedding = points(20)
    display = EmbeddingDisplay(embedding, labels=range(20), components=(0, 1, 2)).plot(
        space, s=np.arange(20.0) + 1
    )
    space.figure.draw_without_rendering()
    looks = set()
    for scatter in display.scatter_:
        (path,) = scatter.get_paths()
        rows = [int(np.flatnonzero((embedding == p).all(axis=1))[0]) for p in places(scatter)]
        sizes = np.sort(scatter.get_sizes())
        np.testing.assert_array_equal(sizes, np.sort(rows) + 1.0)
        looks |= {(tuple(color), path.vertices.tobytes()) for color in scatter.get_facecolors()}
    assert sum(len(places(scatter)) for scatter in display.scatter_) == 20
    assert len(looks) == 20


def test_a_new_figure_has_the_axes_that_are_needed():
    flat = EmbeddingDisplay(points()).plot()
    space = EmbeddingDisplay(points(), components=(0, 1, 2)).plot()
    assert (flat.ax_.name, space.ax_.name) == ("rectilinear", "3d")
    plt.close(flat.figure_)
    plt.close(space.figure_)


def test_axes_that_do_not_suit_are_refused(space):
    flat = Figure().subplots()
    with pytest.raises(ValueError, match="names 3 columns, but ax has 2 dimensions"):
        EmbeddingDisplay(points(), components=(0, 1, 2)).plot(flat)
    for components in [(0, 1), (0,)]:
        with pytest.raises(ValueError, match=r"names \d columns, but ax has 3 dimensions"):
            EmbeddingDisplay(points(), components=components).plot(space)
