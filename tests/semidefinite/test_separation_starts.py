"""Starts of separation maps: shortest paths, ridge scores, and the choice between them."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import floyd_warshall
from sklearn.datasets import make_moons
from sklearn.linear_model import RidgeCV

from labelfold import NeighborGraph, hide_labels
from labelfold.datasets import make_swiss_roll
from labelfold.graph.adjacency import pairs_above
from labelfold.labels import PartialLabels
from labelfold.semidefinite import separation_starts
from labelfold.semidefinite.separation import Separation
from labelfold.semidefinite.separation_starts import choose_start, geodesic_start, ridge_start
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread


def problem_of(X, n_neighbors=5):
    graph = NeighborGraph.build(X, n_neighbors=n_neighbors).bridged()
    edges, lengths = pairs_above(graph.distances)
    return DistanceProblem(len(X), edges, lengths**2, Spread())


def separation_of(y):
    return Separation.from_labels(PartialLabels.from_y(y))


def distances(R):
    return np.linalg.norm(R[:, None] - R[None], axis=2)


def paths(problem):
    """All shortest paths, by another algorithm."""
    i, j = problem.edges.T
    graph = sp.csr_array((np.sqrt(problem.squares), (i, j)), shape=(problem.n_points,) * 2)
    return floyd_warshall(graph, directed=False)


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(80, n_classes=4, n_bands=4, random_state=0)


class TestGeodesic:
    @pytest.mark.parametrize("n_classes", [2, 3, 4])
    def test_values_are_half_the_difference_of_shortest_paths(self, roll, n_classes):
        X, y = roll[0], np.minimum(roll[1], n_classes - 1)
        problem, y = problem_of(X), hide_labels(y, np.arange(0, 80, 3))
        start = geodesic_start(problem, X, separation_of(y))
        D = paths(problem)
        to = [D[:, y == c].min(axis=1) for c in range(n_classes)]
        normals = [1] if n_classes == 2 else range(n_classes)
        assert start.shape == (80, len(normals) + 3)
        for axis, c in enumerate(normals):
            other = np.min([to[k] for k in range(n_classes) if k != c], axis=0)
            expected = separation_starts.SHARE * (other - to[c]) / 2
            assert start[:, axis] == pytest.approx(expected, abs=1e-9)
        assert np.array_equal(start[:, len(normals) :], X)

    @pytest.mark.parametrize("n_classes", [2, 4])
    def test_labeled_points_are_on_their_side(self, roll, n_classes):
        X, y = roll[0], roll[1] % n_classes
        separation = separation_of(y)
        start = geodesic_start(problem_of(X), X, separation)
        assert separation.wrong(start[:, : separation.n_normals]) == 0

    def test_points_on_top_of_each_other_are_at_no_distance(self):
        X = np.array([[0.0], [0.0], [1.0], [2.0], [2.0], [5.0]])
        edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
        problem = DistanceProblem(6, edges, (X[edges[:, 0], 0] - X[edges[:, 1], 0]) ** 2, Spread())
        separation = separation_of(["a", None, None, None, None, "b"])
        start = geodesic_start(problem, X, separation)
        expected = separation_starts.SHARE * (X[:, 0] - (5 - X[:, 0])) / 2
        assert start[:, 0] == pytest.approx(expected)


def blobs(n_classes, seed=0):
    """Rows of classes in turn around their centers; the first 40 of 60 have a label."""
    rng = np.random.default_rng(seed)
    centers = 2 * rng.standard_normal((n_classes, 5))
    classes = np.arange(60) % n_classes
    return rng.standard_normal((60, 5)) + centers[classes], hide_labels(classes, np.arange(40))


class TestRidge:
    @pytest.mark.parametrize("n_classes", [2, 3, 4])
    def test_axes_are_the_scores_at_full_length_and_distances_are_kept(self, n_classes):
        """No factor is larger: the steepest direction of the scores keeps its length."""
        rows, y = blobs(n_classes)
        start = ridge_start(rows, separation_of(y))
        assert distances(start) == pytest.approx(distances(rows), abs=1e-9)
        classes = [1] if n_classes == 2 else range(n_classes)
        targets = np.column_stack([np.where(y[:40] == c, 1.0, -1.0) for c in classes])
        size = np.sum((rows[:40] - rows[:40].mean(axis=0)) ** 2) / 5
        model = RidgeCV(alphas=np.logspace(-4, 2, 13) * size).fit(rows[:40], targets)
        scores = model.predict(rows).reshape(60, -1)
        ratio = 1 / np.linalg.norm(np.atleast_2d(model.coef_), 2)
        assert start[:, : len(classes)] == pytest.approx(ratio * scores, abs=1e-9)
        if n_classes == 2:  # one normal is a rotation
            assert start.shape == rows.shape

    def test_equal_labeled_rows_give_no_scores(self):
        rows, y = blobs(2)
        rows[:40] = rows[0]
        start = ridge_start(rows, separation_of(y))
        assert not start[:, 0].any()
        assert np.array_equal(start[:, 1:], rows)


class TestChoice:
    def choose(self, X, y):
        return choose_start(problem_of(X), X, separation_of(y))

    def cuts(self, X, y):
        """The shares of edges between points that ridge and geodesics tell apart."""
        problem, separation = problem_of(X), separation_of(y)
        i, j = problem.edges.T
        starts = ridge_start(X, separation), geodesic_start(problem, X, separation)
        return [np.mean((start[i, 0] > 0) != (start[j, 0] > 0)) for start in starts]

    def test_linear_labels(self):
        X = np.random.default_rng(0).standard_normal((300, 6))
        y = (X @ [1, -2, 1, 0.5, 0, 0] > 0).astype(int)
        assert self.choose(X, hide_labels(y, np.arange(80))) == "ridge"

    @pytest.mark.parametrize("n_labels", [20, 100])
    def test_labels_that_follow_the_shape(self, n_labels):
        X, y = make_moons(200, noise=0.05, random_state=0)
        assert self.choose(X, hide_labels(y, np.arange(n_labels))) == "geodesic"

    def test_one_label_a_class_of_moons(self):
        """None can be left out: geodesics cut fewer edges."""
        X, y = make_moons(200, noise=0.05, random_state=0)
        one_each = hide_labels(y, [np.argmax(y == 0), np.argmax(y == 1)])
        assert list(separation_starts._leave_out(PartialLabels.from_y(one_each))) == []
        assert self.choose(X, one_each) == "geodesic"

    def test_one_label_a_class_of_a_cloud(self):
        X = np.random.default_rng(0).standard_normal((300, 6))
        y = np.full(300, -1)
        y[np.argmin(X[:, 0])], y[np.argmax(X[:, 0])] = 0, 1
        by_ridge, by_geodesics = self.cuts(X, y)
        assert by_ridge < by_geodesics
        assert self.choose(X, y) == "ridge"

    def test_left_out_labels_count_where_there_are_many(self):
        """A straight line cuts fewer edges than the border of a checkerboard, and is wrong."""
        X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
        y = hide_labels((X[:, 0] * X[:, 1] > 0).astype(int), np.arange(150))
        by_ridge, by_geodesics = self.cuts(X, y)
        assert by_ridge < by_geodesics
        assert self.choose(X, y) == "geodesic"

    def test_costs_by_hand(self, monkeypatch):
        """Path of five points, labels at both ends and beside them; guesses as given."""
        y = ["a", "a", None, "b", "b"]
        edges = np.column_stack([np.arange(4), np.arange(1, 5)])
        problem, separation = DistanceProblem(5, edges, np.ones(4), Spread()), separation_of(y)

        def guess(whole, wrong):
            """Classes from all labels, and rows that are guessed wrong when left out."""

            def values(_, one):
                if len(one.rows) == 4:
                    return np.array(whole)[:, None]
                truth = np.array([-1.0, -1, 1, 1, 1])
                truth[wrong] *= -1
                return truth[:, None]

            return values

        def choose(ridge, geodesic):
            monkeypatch.setattr(separation_starts, "_ridge_values", guess(*ridge))
            monkeypatch.setattr(separation_starts, "_geodesic_values", guess(*geodesic))
            return choose_start(problem, np.zeros((5, 1)), separation)

        one_cut, three_cuts = [-1.0, -1, 1, 1, 1], [-1.0, 1, -1, 1, 1]
        assert choose((one_cut, [0]), (one_cut, [])) == "geodesic"
        assert choose((one_cut, []), (one_cut, [4])) == "ridge"
        assert choose((three_cuts, []), (one_cut, [])) == "geodesic"
        # 2 / 4 + 1 / 4 is less than 1 / 4 + 3 / 4, and 3 / 4 + 1 / 4 is more than 0 + 3 / 4.
        assert choose((three_cuts, [0]), (one_cut, [0, 4])) == "geodesic"
        assert choose((three_cuts, []), (one_cut, [0, 1, 3])) == "ridge"

    @pytest.mark.parametrize(("counts", "n_folds"), [((12, 7), 5), ((3, 20, 9), 3), ((2, 2), 2)])
    def test_every_label_is_left_out_once(self, counts, n_folds):
        classes = np.repeat(np.arange(len(counts)), counts)
        y = np.full(2 * len(classes), -1)
        y[::2] = np.random.default_rng(0).permutation(classes)
        folds = list(separation_starts._leave_out(PartialLabels.from_y(y)))
        assert len(folds) == n_folds
        assert (
            sorted(np.concatenate([rows for _, rows in folds])) == np.flatnonzero(y >= 0).tolist()
        )
        for rest, left_out in folds:
            assert np.all(rest.codes[left_out] == -1)
            kept = np.delete(np.arange(len(y)), left_out)
            assert np.array_equal(rest.codes[kept], y[kept])
            assert rest.n_classes == len(np.unique(rest.codes[rest.mask]))
            per_class = np.bincount(y[left_out], minlength=len(counts))
            assert np.all(per_class <= np.ceil(np.array(counts) / n_folds))
