from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from labelfold.classify import ManifoldClassifier
from labelfold.exceptions import DisconnectedGraphWarning
from labelfold.graph import NeighborGraph
from labelfold.plotting.graph_display import LARGEST_OPACITY, LEAST_OPACITY, EdgeList, GraphDisplay
from labelfold.plotting.palette import class_styles
from labelfold.spectral import CCDR


def two_groups(n_columns=2):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, n_columns))
    points[15:] += 20.0
    return points, NeighborGraph.build(points, n_neighbors=4).bridged()


def edges_of(graph):
    """The edges of a graph, one by one."""
    dense = graph.adjacency.toarray()
    n_points = len(dense)
    return {(i, j) for i in range(n_points) for j in range(i + 1, n_points) if dense[i, j] > 0}


def drawn_pairs(lines, points):
    row_of = {tuple(point): row for row, point in enumerate(points)}
    return [tuple(row_of[tuple(end)] for end in segment) for segment in lines.get_segments()]


def texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_each_edge_is_drawn_once_and_bridges_are_marked(ax):
    points, graph = two_groups()
    display = GraphDisplay(points, graph).plot(ax)
    edges, bridges = drawn_pairs(display.edges_, points), drawn_pairs(display.bridges_, points)
    assert len(bridges) == len(graph.bridges) == 1
    assert len(edges) == len(set(edges))
    assert set(edges) | set(bridges) == edges_of(graph)
    assert not set(edges) & set(bridges)
    for one, other in bridges:
        assert one < 15 <= other
    assert texts(display) == ["1 bridge"]
    assert display.bridges_.get_linewidths()[0] > display.edges_.get_linewidths()[0]
    assert display.bridges_.get_linestyle()[0][1] is not None  # dashed
    assert display.edges_.get_linestyle()[0][1] is None
    assert display.bridges_.get_zorder() > display.edges_.get_zorder()
    np.testing.assert_allclose(display.bridges_.get_colors(), [to_rgba("black")])


def test_opacity_rises_with_the_weight(ax):
    points, graph = two_groups()
    display = GraphDisplay(points, graph).plot(ax)
    pairs = drawn_pairs(display.edges_, points)
    weights = np.array([graph.adjacency[i, j] for i, j in pairs])
    span = LARGEST_OPACITY - LEAST_OPACITY
    np.testing.assert_allclose(
        display.edges_.get_colors()[:, 3], LEAST_OPACITY + span * weights / weights.max()
    )


def test_points_are_drawn_on_top_by_class(ax):
    points, graph = two_groups()
    labels = [0, 1] + [-1] * 28
    display = GraphDisplay(points, graph, labels=labels, class_names=["no", "yes"]).plot(ax, s=9.0)
    np.testing.assert_array_equal(display.points_.scatter_.get_offsets(), points[:2])
    np.testing.assert_array_equal(display.points_.unlabeled_.get_offsets(), points[2:])
    np.testing.assert_allclose(
        display.points_.scatter_.get_facecolors(), [to_rgba(s.color) for s in class_styles(2)]
    )
    assert display.points_.scatter_.get_sizes() == [9.0]
    assert [text.get_text() for text in display.points_.text_] == ["no", "yes"]
    assert display.edges_.get_zorder() < display.points_.unlabeled_.get_zorder()
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_three_columns_are_drawn_in_space():
    points, graph = two_groups(3)
    ax = Figure().add_subplot(projection="3d")
    display = GraphDisplay(points, graph, components=(0, 1, 2)).plot(ax)
    ends = np.asarray(display.edges_._segments3d)
    expected = points[display._edges.pairs]
    np.testing.assert_array_equal(ends, expected)
    assert texts(display) == ["1 bridge"]
    ax.figure.draw_without_rendering()


# Many edges


def test_a_sample_of_edges_is_the_same_every_time_and_said(ax):
    points, graph = two_groups()
    display = GraphDisplay(points, graph)
    n_edges = len(edges_of(graph)) - 1
    first = drawn_pairs(display.plot(ax, max_edges=20).edges_, points)
    again = drawn_pairs(display.plot(ax, max_edges=20).edges_, points)
    assert first == again
    assert len(set(first)) == 20
    assert set(first) <= edges_of(graph)
    assert texts(display) == ["1 bridge", f"20 of {n_edges} edges"]
    assert len(display.bridges_.get_segments()) == 1


def test_a_sample_keeps_weights_with_their_edges():
    points, graph = two_groups()
    some = EdgeList.from_graph(graph, len(points)).sample(10)
    expected = [graph.adjacency[i, j] for i, j in some.pairs]
    np.testing.assert_array_equal(some.weights, expected)


def test_no_edges(ax):
    points, graph = two_groups()
    display = GraphDisplay(points, graph).plot(ax, max_edges=0)
    assert display.edges_ is None
    display = GraphDisplay(points, sp.csr_array((30, 30))).plot(ax)
    assert display.edges_ is None


def test_many_edges_are_a_bitmap_in_a_vector_file(ax):
    rng = np.random.default_rng(0)
    display = GraphDisplay(rng.normal(size=(220, 2)), sp.csr_array(rng.random((220, 220)))).plot(ax)
    assert len(display.edges_.get_segments()) == 220 * 219 / 2
    assert display.edges_.get_rasterized()
    points, graph = two_groups()
    assert not GraphDisplay(points, graph).plot(ax).edges_.get_rasterized()


# Ways in


def test_from_estimator(ax):
    X, _ = two_groups(3)
    y = ["a", "b"] * 2 + [None] * 26
    with pytest.warns(DisconnectedGraphWarning):
        model = ManifoldClassifier(CCDR(2, n_neighbors=4)).fit(X, y)
    ccdr = model.embedder_
    assert GraphDisplay.from_estimator(model).graph is ccdr.graph_
    display = GraphDisplay.from_estimator(ccdr, y=y, ax=ax, class_names=["A", "B"])
    np.testing.assert_array_equal(display.embedding, ccdr.embedding_)
    np.testing.assert_array_equal(display.points_.centers_.get_offsets(), ccdr.class_centers_)
    n_bridges = len(ccdr.graph_.bridges)
    assert len(display.edges_.get_segments()) == len(edges_of(ccdr.graph_)) - n_bridges
    assert [text.get_text() for text in display.points_.text_] == ["A", "B"]


def test_a_matrix_of_weights_counts_either_way(ax):
    matrix = sp.csr_matrix(np.array([[7.0, 1.0, 0.0], [3.0, 0.0, 0.0], [2.0, 0.0, 0.0]]))
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    edges = EdgeList.from_graph(matrix, 3)
    assert edges.pairs.tolist() == [[0, 1], [0, 2]]
    assert edges.weights.tolist() == [3.0, 2.0]
    display = GraphDisplay(points, matrix).plot(ax)
    assert (display.bridges_, display.legend_, ax.get_legend()) == (None, None, None)


def test_style_can_be_changed(ax):
    points, graph = two_groups()
    display = GraphDisplay(points, graph).plot(
        ax, edge_kwargs={"color": "red", "lw": 3.0}, bridge_kwargs={"colors": "blue"}
    )
    np.testing.assert_allclose(display.edges_.get_colors(), [to_rgba("red")])
    assert display.edges_.get_linewidths() == [3.0]
    np.testing.assert_allclose(display.bridges_.get_colors(), [to_rgba("blue")])


# Errors


def test_wrong_arguments():
    points, graph = two_groups()
    with pytest.raises(ValueError, match=r"graph has shape \(30, 30\) but the embedding has 29"):
        GraphDisplay(points[1:], graph)
    with pytest.raises(TypeError, match="graph is a ndarray: pass a NeighborGraph"):
        GraphDisplay(points, np.eye(30))
    with pytest.raises(ValueError, match="negative, NaN or infinite"):
        GraphDisplay(points, sp.csr_array(-np.eye(30)))
    with pytest.raises(ValueError, match=r"components=\(0,\) of 2 columns is a strip"):
        GraphDisplay(points, graph, components=(0,))
    with pytest.raises(ValueError, match=r"components=\(0,\) of 1 columns is a strip"):
        GraphDisplay(points[:, :1], graph)
    with pytest.raises(ValueError, match=r"max_edges=-1 must be an integer of at least 0"):
        GraphDisplay(points, graph).plot(max_edges=-1)


def test_estimators_without_a_graph_or_a_map():
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match="PCA keeps no embedding_"):
        GraphDisplay.from_estimator(PCA(2).fit(X))
    model = ManifoldClassifier(PCA(2)).fit(X, np.arange(30) % 2)
    with pytest.raises(ValueError, match="PCA keeps no embedding_"):
        GraphDisplay.from_estimator(model)


def test_a_graph_without_its_edges_says_so():
    points, graph = two_groups()
    with pytest.raises(AttributeError, match="compact"):
        GraphDisplay(points, graph.for_new_rows())
