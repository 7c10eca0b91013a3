"""What a display of a map draws: points by what is known of them, names, centers, in any form."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.map_artists import marker_areas
from labelfold.plotting.map_layout import LONGEST_NAME
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(90, 2))
CODES = np.arange(90) % 3
EMBEDDING = np.random.default_rng(0).normal(size=(6, 2))
LABELS = ["a", None, None, None, "b", None]
PREDICTIONS = ["a", "b", "a", "c", "a", None]
CONFIDENCE = np.array([0.5, 1.0, 0.0, 0.5, 0.5, 0.5])


def clusters(n_classes, per_class=6, n_components=2, seed=0):
    """Points around well separated centers, and their classes."""
    rng = np.random.default_rng(seed)
    centers = 10.0 * np.column_stack([np.arange(n_classes)] * n_components)
    y = np.repeat(np.arange(n_classes), per_class)
    return centers[y] + rng.normal(size=(len(y), n_components)), y, centers


def rgb(classes):
    colors = {
        name: to_rgba(style.color) for name, style in zip("abc", class_styles(3), strict=True)
    }
    return [colors[name][:3] for name in classes]


def names(display):
    return [text.get_text() for text in display.text_]


def looks(scatter):
    """Pairs of color and shape that differ."""
    pairs = zip(scatter.get_facecolors(), scatter.get_paths(), strict=True)
    return {(tuple(color), path.vertices.tobytes()) for color, path in pairs}


# Points


def test_labeled_points_have_the_color_of_their_class_and_others_are_gray_underneath(ax):
    embedding, y, _ = clusters(3)
    y[::2] = -1
    display = EmbeddingDisplay(embedding, labels=y).plot(ax)
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), embedding[y >= 0])
    np.testing.assert_array_equal(display.unlabeled_.get_offsets(), embedding[y < 0])
    expected = [to_rgba(class_styles(3)[code].color) for code in y[y >= 0]]
    np.testing.assert_allclose(display.scatter_.get_facecolors(), expected)
    np.testing.assert_allclose(display.unlabeled_.get_facecolors(), [to_rgba(UNLABELED_COLOR)])
    assert display.unlabeled_.get_zorder() < display.scatter_.get_zorder()
    assert display.scatter_.get_sizes() == [36.0]
    assert not display.scatter_.get_path_effects()
    assert display.predicted_ is None
    bare = EmbeddingDisplay(POINTS).plot(Figure().subplots())
    assert (bare.scatter_, bare.text_) == (None, [])
    assert len(bare.unlabeled_.get_offsets()) == 90


def test_a_label_counts_before_a_prediction(ax):
    display = EmbeddingDisplay(
        EMBEDDING, labels=LABELS, predictions=PREDICTIONS, confidence=CONFIDENCE
    ).plot(ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), EMBEDDING[[0, 4]])
    np.testing.assert_array_equal(display.predicted_.get_offsets(), EMBEDDING[[1, 2, 3]])
    np.testing.assert_array_equal(display.unlabeled_.get_offsets(), EMBEDDING[[5]])
    assert (display.new_, display.legend_) == (None, None)
    np.testing.assert_allclose(display.scatter_.get_facecolors()[:, :3], rgb("ab"))
    np.testing.assert_allclose(display.predicted_.get_facecolors()[:, :3], rgb("bac"))
    assert tuple(display.text_[2].xy) == tuple(EMBEDDING[3])
    # Opacity rises with confidence, nothing disappears, and labels are certain.
    np.testing.assert_allclose(display.predicted_.get_facecolors()[:, 3], [1.0, 0.15, 0.575])
    np.testing.assert_allclose(display.scatter_.get_facecolors()[:, 3], 1.0)
    # Labeled points stand out.
    assert display.predicted_.get_linewidths() == [0]
    assert display.scatter_.get_linewidths() > [0]
    assert display.scatter_.get_sizes() > display.predicted_.get_sizes()
    assert display.scatter_.get_path_effects()
    layers = [display.unlabeled_, display.predicted_, display.scatter_]
    orders = [layer.get_zorder() for layer in layers]
    assert orders == sorted(orders)


def test_new_points_are_drawn_once_on_top_with_a_ring(ax):
    is_new = np.array([True, False, True, False, False, True])
    display = EmbeddingDisplay(
        EMBEDDING, labels=LABELS, predictions=PREDICTIONS, confidence=CONFIDENCE, is_new=is_new
    ).plot(ax)
    np.testing.assert_array_equal(display.new_.get_offsets(), EMBEDDING[is_new])
    np.testing.assert_array_equal(display.scatter_.get_offsets(), EMBEDDING[[4]])
    np.testing.assert_array_equal(display.predicted_.get_offsets(), EMBEDDING[[1, 3]])
    assert display.unlabeled_ is None
    colors = [*rgb("aa"), to_rgba(UNLABELED_COLOR)[:3]]
    np.testing.assert_allclose(display.new_.get_facecolors()[:, :3], colors)
    # The first has a label, the last has neither label nor prediction.
    np.testing.assert_allclose(display.new_.get_facecolors()[:, 3], [1.0, 0.15, 1.0])
    np.testing.assert_allclose(display.new_.get_edgecolors(), [to_rgba("black")])
    assert display.new_.get_linewidths() >= [1.0]
    assert display.new_.get_zorder() > display.scatter_.get_zorder()
    assert [text.get_text() for text in display.legend_.get_texts()] == ["new"]
    assert ax.get_legend() is display.legend_


def test_sizes_fall_with_numbers():
    few = marker_areas(500, 10, 10, has_others=True)
    many = marker_areas(500, 10, 5_000, has_others=True)
    assert few["new"] > few["predicted"] > few["unlabeled"]
    assert few["labeled"] > few["predicted"]
    assert many["new"] < few["new"] / 2


def test_a_crowd_of_new_points_joins_the_image(ax):
    points = RNG.normal(size=(60_000, 2))
    display = EmbeddingDisplay(points, is_new=np.arange(60_000) >= 100).plot(ax)
    assert display.new_ is None
    assert display.legend_ is None
    assert display.density_counts_.sum() == 60_000


def test_more_than_eight_classes_differ_by_shape(ax):
    embedding, y, _ = clusters(20, per_class=2)
    display = EmbeddingDisplay(embedding, labels=y).plot(ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), embedding)
    assert len(looks(display.scatter_)) == 20
    display.figure_.draw_without_rendering()
    predicted = EmbeddingDisplay(embedding, predictions=y).plot(Figure().subplots()).predicted_
    assert len(looks(predicted)) == 20


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
    assert (display.ax_, display.text_) == (ax, [])
    assert display.class_names == ["C", "B", "A"]
    np.testing.assert_array_equal(display.new_.get_offsets(), EMBEDDING[[1]][:, ::-1])
    np.testing.assert_allclose(display.predicted_.get_facecolors()[:, 3], [0.15, 0.575])
    np.testing.assert_array_equal(display.centers_.get_offsets(), np.eye(3)[:, [1, 0]])


# Names and centers


def test_names_stand_at_a_labeled_point_of_their_class(ax):
    embedding, y, _ = clusters(4)
    display = EmbeddingDisplay(embedding, labels=y).plot(ax)
    assert names(display) == ["0", "1", "2", "3"]
    for code, text in enumerate(display.text_):
        assert any(np.array_equal(text.xy, point) for point in embedding[y == code])
        assert text.get_path_effects()


@pytest.mark.parametrize(
    ("embedding", "places"),
    [
        # An outlier does not move the name.
        ([[0.0, 0.0], [0.1, 0.1], [0.2, 0.0], [1e6, 1e6], [5.0, 5.0]], (0.0, 0.1, 0.2)),
        # A class in two parts has its name in one of them, not between.
        ([[-1.0, 0.0], [-1.0, 0.1], [1.0, 0.0], [1.0, 0.1], [0.0, 0.0]], (-1.0, 1.0)),
    ],
)
def test_names_stand_amid_their_class(ax, embedding, places):
    display = EmbeddingDisplay(embedding, labels=[0, 0, 0, 0, 1]).plot(ax)
    assert display.text_[0].xy[0] in places


def test_centers_are_stars_in_class_colors(ax):
    embedding, y, centers = clusters(3)
    display = EmbeddingDisplay(embedding, labels=y, class_centers=centers).plot(ax)
    np.testing.assert_array_equal(display.centers_.get_offsets(), centers)
    np.testing.assert_allclose(
        display.centers_.get_facecolors(), [to_rgba(style.color) for style in class_styles(3)]
    )
    assert display.centers_.get_zorder() > display.scatter_.get_zorder()
    star = display.centers_.get_paths()[0]
    assert len(star.vertices) > len(MarkerStyle("s").get_path().vertices)
    display.plot(Figure().subplots(), show_names=False, show_centers=False)
    assert (display.text_, display.centers_, display.unlabeled_) == ([], None, None)


def test_centers_without_labels_carry_the_names(ax):
    embedding, _, centers = clusters(2)
    display = EmbeddingDisplay(embedding, class_centers=centers, classes=["cat", "dog"]).plot(ax)
    assert [(text.get_text(), *text.xy) for text in display.text_] == [
        ("cat", *centers[0]),
        ("dog", *centers[1]),
    ]


def test_colors_do_not_depend_on_which_labels_are_drawn(ax):
    y = ["c"] + [None] * 5
    display = EmbeddingDisplay(EMBEDDING, labels=y, classes=["a", "b", "c"]).plot(ax)
    np.testing.assert_allclose(display.scatter_.get_facecolors()[:, :3], rgb("c"))


def test_class_names_are_shortened_and_not_formulas(ax):
    long = "a name that nobody would wish to read on a map of many points"
    display = EmbeddingDisplay(POINTS, labels=CODES, class_names=[long, "$5_$", "a$"]).plot(ax)
    assert not any(text.get_parse_math() for text in display.text_)
    assert len(display.text_[0].get_text()) == LONGEST_NAME
    assert display.class_names[0] == long
    display.figure_.draw_without_rendering()


# Axes


def test_axes_are_named_and_components_chosen(ax):
    embedding, y, _ = clusters(2, n_components=4)
    display = EmbeddingDisplay(embedding, labels=y, components=(3, 1)).plot(ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), embedding[:, [3, 1]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("coordinate 4", "coordinate 2")
    assert display.spokes_ is None
    assert ax.get_aspect() == "auto"


def test_one_column_is_a_strip_with_one_row_per_class(ax):
    embedding, y, centers = clusters(3, n_components=1)
    y[0] = -1
    display = EmbeddingDisplay(embedding, labels=y, class_centers=centers).plot(ax)
    offsets = np.asarray(display.scatter_.get_offsets())
    np.testing.assert_array_equal(offsets[:, 0], embedding[1:, 0])
    np.testing.assert_array_equal(np.round(offsets[:, 1]), y[1:])
    np.testing.assert_array_equal(np.round(display.unlabeled_.get_offsets()[:, 1]), [3])
    np.testing.assert_array_equal(display.centers_.get_offsets()[:, 1], [0, 1, 2])
    assert names(display) == ["0", "1", "2"]
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "unlabeled"


def test_strips_of_some_columns_and_of_predictions(ax):
    display = EmbeddingDisplay(POINTS, labels=CODES, components=(1,)).plot(ax)
    np.testing.assert_array_equal(display.scatter_.get_offsets()[:, 0], POINTS[:, 1])
    assert ax.get_xlabel() == "coordinate 2"
    strip = EmbeddingDisplay(EMBEDDING[:, :1], labels=LABELS, predictions=PREDICTIONS)
    strip.plot(Figure().subplots())
    np.testing.assert_array_equal(np.round(strip.predicted_.get_offsets()[:, 1]), [1, 0, 2])
    np.testing.assert_array_equal(np.round(strip.unlabeled_.get_offsets()[:, 1]), [3])
    bare = EmbeddingDisplay([[1.0], [2.0]]).plot(Figure().subplots())
    assert len(bare.unlabeled_.get_offsets()) == 2


def test_a_new_figure_has_the_axes_that_are_needed():
    flat = EmbeddingDisplay(points_in_space()).plot()
    space = EmbeddingDisplay(points_in_space(), components=(0, 1, 2)).plot()
    assert (flat.ax_.name, space.ax_.name) == ("rectilinear", "3d")
    assert flat.ax_.figure is flat.figure_


def test_axes_of_other_dimensions_raise(ax, space):
    with pytest.raises(ValueError, match="names 3 columns, but ax has 2 dimensions"):
        EmbeddingDisplay(points_in_space(), components=(0, 1, 2)).plot(ax)
    for components in [(0, 1), (0,)]:
        with pytest.raises(ValueError, match=r"names \d columns, but ax has 3 dimensions"):
            EmbeddingDisplay(points_in_space(), components=components).plot(space)
    with pytest.raises(TypeError, match=r"ax is a ndarray: pass one Axes, such as axes\[0\]"):
        EmbeddingDisplay(POINTS).plot(Figure().subplots(1, 2))


def test_a_picture_is_white_on_any_page():
    with plt.style.context("dark_background"):
        display = EmbeddingDisplay(POINTS, labels=CODES).plot()
        assert display.ax_.get_facecolor() == (1.0, 1.0, 1.0, 1.0)


# Space


def places(collection):
    return np.column_stack(collection._offsets3d)


def points_in_space(n_points=6, n_components=3):
    return np.random.default_rng(0).normal(size=(n_points, n_components))


def test_three_columns_are_drawn_in_space(space):
    embedding = points_in_space(n_components=4)
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
    embedding = points_in_space()
    display = EmbeddingDisplay(embedding, labels=[0, 0, 0, 1, 1, 1], components=(0, 1, 2))
    display.plot(space)
    assert names(display) == ["0", "1"]
    for code, text in enumerate(display.text_):
        own = embedding[3 * code : 3 * code + 3]
        assert (own == text.get_position_3d()).all(axis=1).any()


def test_depth_changes_no_color_once_drawn(space):
    labels = np.append(np.arange(34) % 3, [-1] * 6)
    confidence = np.append(np.ones(34), np.linspace(0, 1, 6))
    display = EmbeddingDisplay(
        points_in_space(40),
        labels=labels,
        predictions=[0] * 40,
        confidence=confidence,
        components=(0, 1, 2),
    ).plot(space)
    assert not space.computed_zorder  # layers keep their order
    space.figure.draw_without_rendering()
    drawn = {tuple(color) for color in display.scatter_.get_facecolors()}
    assert drawn == {to_rgba(style.color) for style in class_styles(3)}
    opacities = np.sort(display.predicted_.get_facecolors()[:, 3])
    np.testing.assert_allclose(opacities, 0.15 + 0.85 * confidence[34:])


def test_more_than_eight_classes_have_one_collection_per_shape_in_space(space):
    embedding = points_in_space(20)
    display = EmbeddingDisplay(embedding, labels=range(20), components=(0, 1, 2))
    display.plot(space)
    space.figure.draw_without_rendering()
    found = set()
    for scatter in display.scatter_:
        (path,) = scatter.get_paths()
        found |= {(tuple(color), path.vertices.tobytes()) for color in scatter.get_facecolors()}
    drawn = np.concatenate([places(scatter) for scatter in display.scatter_])
    np.testing.assert_array_equal(np.sort(drawn, axis=0), np.sort(embedding, axis=0))
    assert len(found) == 20


@pytest.mark.parametrize(
    "given",
    [
        {"c": np.arange(90.0), "s": np.arange(90) + 1.0},
        {"c": ["red", "blue", "black"] * 30},
        {"color": np.full((90, 4), 0.5)},
    ],
)
def test_values_for_each_point_in_space_with_many_shapes(given):
    space = np.column_stack([POINTS, POINTS[:, 0]])
    labels = np.arange(90) % 9
    display = EmbeddingDisplay(space, labels=labels, components=(0, 1, 2)).plot(**given)
    flat = EmbeddingDisplay(space, labels=labels).plot(**given)
    drawn, expected = [], []
    for one, colors in ((display, drawn), (flat, expected)):
        one.figure_.canvas.draw()
        colors.extend(map(tuple, one.scatter_.get_facecolor()))
    np.testing.assert_allclose(sorted(drawn), sorted(expected), atol=1e-12)
    np.testing.assert_array_equal(
        np.sort(display.scatter_.get_sizes()), np.sort(flat.scatter_.get_sizes())
    )


@pytest.mark.parametrize("color", ["red", (1.0, 0.0, 0.0, 1.0)])
def test_one_color_for_all_points_in_space(color):
    space = np.column_stack([POINTS, POINTS[:, 0]])
    display = EmbeddingDisplay(space, labels=np.arange(90) % 11, components=(0, 1, 2))
    display.plot(color=color)
    display.figure_.canvas.draw()
    for points in display.scatter_:
        np.testing.assert_array_equal(points.get_facecolor()[0], [1.0, 0.0, 0.0, 1.0])


# Style


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


def test_style_of_predicted_and_new_points(ax):
    is_new = np.arange(6) == 5
    display = EmbeddingDisplay(EMBEDDING, predictions=["a"] * 6, is_new=is_new).plot(
        ax,
        predicted_kwargs={"s": 3.0, "marker": "x", "color": "red"},
        new_kwargs={"ec": "red", "s": 7.0},
    )
    assert (display.predicted_.get_sizes(), display.new_.get_sizes()) == ([3.0], [7.0])
    for points in (display.predicted_, display.new_):
        np.testing.assert_allclose(points.get_edgecolors(), [to_rgba("red")])


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
