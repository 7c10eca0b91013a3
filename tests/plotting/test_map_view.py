import numpy as np
import pytest
from sklearn.datasets import load_iris

from labelfold import CCDR, NeighborGraph
from labelfold.plotting import EmbeddingDisplay, GraphDisplay
from labelfold.plotting.map_view import PENALTIES, polygon, view_classes

RNG = np.random.default_rng(0)
N_CLASSES, PER_CLASS = 5, 12
CODES = np.repeat(np.arange(N_CLASSES), PER_CLASS)
# Blobs in four dimensions: no two coordinates show all five.
MIDDLES = RNG.normal(size=(N_CLASSES, 4))
POINTS = MIDDLES[CODES] + 0.05 * RNG.normal(size=(len(CODES), 4))
LABELS = np.where(np.arange(len(CODES)) % 4 == 0, CODES, -1)


def places(points=POINTS, codes=LABELS, n_classes=N_CLASSES):
    return view_classes(points, codes, n_classes).place(points)


def test_corners_are_regular_and_sum_to_zero():
    corners = polygon(7)
    np.testing.assert_allclose(np.linalg.norm(corners, axis=1), 1.0)
    np.testing.assert_allclose(corners.sum(axis=0), 0.0, atol=1e-12)
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, 2 * np.sin(np.pi / 7))


def test_classes_that_lie_apart_come_to_their_corners():
    one_hot = np.eye(N_CLASSES)[CODES] + 1e-4 * RNG.normal(size=(len(CODES), N_CLASSES))
    np.testing.assert_allclose(places(one_hot, CODES), polygon(N_CLASSES)[CODES], atol=5e-3)


def test_the_plane_solves_its_normal_equations():
    # Classes of unequal size, each of which counts the same.
    codes = np.where((CODES == 0) & (np.arange(len(CODES)) > 2), -1, CODES)
    known = codes >= 0
    view = view_classes(POINTS, codes, N_CLASSES)
    weights = 1 / np.bincount(codes[known])[codes[known]]
    weights *= known.sum() / weights.sum()
    residual = polygon(N_CLASSES)[codes[known]] - view.place(POINTS[known])
    np.testing.assert_allclose(weights @ residual, 0.0, atol=1e-10)
    gradient = POINTS[known].T @ (weights[:, None] * residual)
    # The gradient of the errors is the penalty times the directions, for one of the penalties.
    penalties = gradient / view.directions
    np.testing.assert_allclose(penalties, penalties.mean(), rtol=1e-6)
    unit = POINTS.var(axis=0).mean()
    assert np.isclose(penalties.mean() / unit, PENALTIES).any()


def test_the_penalty_predicts_left_out_points_best():
    known = LABELS >= 0
    corners = polygon(N_CLASSES)[LABELS[known]]

    def left_out_error(penalty):
        errors = []
        for row in range(known.sum()):
            others = np.arange(known.sum()) != row
            X, Y = POINTS[known][others], corners[others]
            A = np.column_stack([X, np.ones(len(X))])
            ridge = np.diag([penalty] * X.shape[1] + [0.0])
            coefficients = np.linalg.solve(A.T @ A + ridge, A.T @ Y)
            errors.append(corners[row] - np.append(POINTS[known][row], 1.0) @ coefficients)
        return np.square(errors).sum()

    view = view_classes(POINTS, LABELS, N_CLASSES)
    residual = corners - view.place(POINTS[known])
    chosen = (POINTS[known].T @ residual / view.directions).mean()
    errors = [left_out_error(penalty) for penalty in PENALTIES * POINTS.var(axis=0).mean()]
    best = PENALTIES[np.argmin(errors)] * POINTS.var(axis=0).mean()
    assert chosen == pytest.approx(best, rel=1e-6)


def test_turning_shifting_and_scaling_the_map_changes_nothing():
    rotation, _ = np.linalg.qr(RNG.normal(size=(4, 4)))
    expected = places()
    np.testing.assert_allclose(places(POINTS @ rotation), expected, atol=1e-9)
    np.testing.assert_allclose(places(POINTS + 3.0), expected, atol=1e-9)
    for factor in (1e-150, 1e-3, 1e150):
        np.testing.assert_allclose(places(factor * POINTS), expected, atol=1e-9)


def test_order_of_rows_changes_nothing():
    order = RNG.permutation(len(CODES))
    np.testing.assert_allclose(places(POINTS[order], LABELS[order]), places()[order], atol=1e-10)


def test_a_map_that_is_one_point_has_a_plane():
    assert np.isfinite(places(np.ones((len(CODES), 4)))).all()


def test_a_display_draws_points_centers_and_new_points_in_the_plane():
    display = EmbeddingDisplay(
        POINTS,
        labels=LABELS,
        is_new=np.arange(len(CODES)) % 12 == 11,
        class_centers=MIDDLES,
        components="classes",
    ).plot()
    drawn = display.view.place(POINTS)
    np.testing.assert_allclose(drawn, places())
    for artist, rows in (
        (display.scatter_, LABELS >= 0),
        (display.new_, display.is_new),
        (display.unlabeled_, (LABELS < 0) & ~display.is_new),
    ):
        np.testing.assert_allclose(artist.get_offsets(), drawn[rows])
    np.testing.assert_allclose(display.centers_.get_offsets(), display.view.place(MIDDLES))
    ends = np.array([segment[1] for segment in display.spokes_.get_segments()])
    np.testing.assert_allclose(ends / np.linalg.norm(ends, axis=1)[:, None], polygon(N_CLASSES))
    assert len(display.ax_.get_xticks()) == 0
    assert "plane" in display.ax_.get_xlabel()
    # Spokes reach as far as the points do, and do not widen the picture.
    reach = np.abs(drawn).max()
    assert np.abs(display.ax_.get_xlim()).max() < 1.2 * reach


def test_predictions_define_the_plane_if_no_point_has_a_label():
    without = EmbeddingDisplay.from_predictions(POINTS, CODES, components="classes")
    np.testing.assert_allclose(without.view.directions, view_classes(POINTS, CODES, 5).directions)
    with_labels = EmbeddingDisplay.from_predictions(
        POINTS, CODES, labels=LABELS, components="classes"
    )
    np.testing.assert_allclose(
        with_labels.view.directions, view_classes(POINTS, LABELS, 5).directions
    )


def test_an_estimator_in_the_plane_of_its_classes():
    X, y = load_iris(return_X_y=True)
    ccdr = CCDR(3).fit(X, y)
    display = EmbeddingDisplay.from_estimator(ccdr, y=y, X_new=X[:2] + 0.01, components="classes")
    assert display.components == "classes"
    assert len(display.new_.get_offsets()) == 2
    assert len(display.spokes_.get_segments()) == 3


def test_a_graph_in_the_plane_of_the_classes():
    graph = NeighborGraph.build(POINTS, n_neighbors=3)
    display = GraphDisplay(POINTS, graph, labels=LABELS, components="classes").plot()
    drawn = display.points_.view.place(POINTS)
    ends = np.concatenate(display.edges_.get_segments())
    distances = np.linalg.norm(ends[:, None] - drawn[None], axis=2)
    np.testing.assert_allclose(distances.min(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("embedding", "labels", "message"),
    [
        (POINTS, None, "needs labels of at least 3 classes .* got 0 and 4: draw coordinates"),
        (POINTS, np.where(CODES < 2, CODES, -1), "got 2 and 4"),
        (POINTS[:, :1], CODES, "got 5 and 1"),
    ],
)
def test_what_has_no_plane(embedding, labels, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingDisplay(embedding, labels=labels, components="classes")
