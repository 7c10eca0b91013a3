"""Gram matrices against closed forms, and multipliers against weak duality."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.sparse import csc_matrix
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from labelfold.datasets import make_swiss_roll
from labelfold.graph import NeighborGraph
from labelfold.solvers import conic
from labelfold.solvers.conic import LARGEST, LARGEST_EDGES, solve_conic
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread, edge_laplacian
from labelfold.solvers.lowrank.sides import HalfSpaces

VARIANCE = Spread(variance=1.0)
TRIANGLE = [(0, 1), (0, 2), (1, 2)]


def problem_of(edges, squares, n=None, spread=VARIANCE, caps=None):
    edges = np.array(edges, dtype=np.intp).reshape(-1, 2)
    return DistanceProblem(
        n_points=int(edges.max()) + 1 if n is None else n,
        edges=edges,
        squares=np.array(squares, dtype=float),
        spread=spread,
        is_cap=None if caps is None else np.array(caps, dtype=bool),
    )


def clique(X, spread=VARIANCE):
    edges = np.column_stack(np.triu_indices(len(X), 1))
    return problem_of(edges, cdist(X, X, "sqeuclidean")[tuple(edges.T)], len(X), spread)


def roll(n=30, spread="variance", k=4):
    X, *_ = make_swiss_roll(n, height=10, random_state=0)
    upper = np.triu(NeighborGraph.build(X, n_neighbors=k).bridged().distances.toarray())
    edges = np.argwhere(upper)
    if spread == "variance":
        return problem_of(edges, upper[upper > 0] ** 2, n)
    furthest = np.column_stack([np.arange(n), cdist(X, X).argmax(axis=1)])
    spread = Spread(pairs=furthest, weights=np.ones(n))
    return problem_of(edges, upper[upper > 0] ** 2, n, spread)


def centered(X):
    X = X - X.mean(axis=0)
    return X @ X.T


def slack_matrix(problem, solution):
    """V^T (L(y) - C) V, V orthogonal to 1 and to the dependencies."""
    n = problem.n_points
    V = null_space(np.vstack([np.ones(n), solution.dependencies]))
    L = edge_laplacian(n, problem.edges, solution.multipliers).toarray()
    return V.T @ (L - problem.spread.matrix(n)) @ V, V


@pytest.fixture(autouse=True)
def no_stalling():
    """Every solve converges, unless a test says otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        yield


def test_a_path_becomes_straight():
    lengths = np.array([1.0, 2.0, 0.5, 3.0])
    places = np.append(0, np.cumsum(lengths))[:, None]
    problem = problem_of([(0, 1), (1, 2), (2, 3), (3, 4)], lengths**2)
    solution = solve_conic(problem)
    np.testing.assert_allclose(solution.gram, centered(places), atol=1e-4)
    assert solution.value == pytest.approx(5 * places.var(), rel=1e-6)
    assert solution.status == "optimal"


def test_a_four_cycle_is_a_rhombus():
    # Squared diagonals of a quadrilateral add up to at most its squared sides.
    problem = problem_of([(0, 1), (1, 2), (2, 3), (0, 3)], np.ones(4))
    solution = solve_conic(problem)
    assert solution.value == pytest.approx(8 / 4, rel=1e-6)
    np.testing.assert_allclose(solution.multipliers, 0.5, rtol=1e-5)
    diagonals = cdist(solution.factor, solution.factor, "sqeuclidean")[[0, 1], [2, 3]]
    assert diagonals.sum() == pytest.approx(4, rel=1e-6)


@pytest.mark.parametrize(("n", "n_features"), [(3, 2), (6, 3), (12, 2), (20, 3)])
def test_a_clique_is_rigid(n, n_features):
    X = np.random.default_rng(n).standard_normal((n, n_features)) * 5
    solution = solve_conic(clique(X))
    np.testing.assert_allclose(solution.gram, centered(X), atol=1e-5)
    assert solution.factor.shape == (n, n_features)
    assert solution.dependencies.shape == (n - 1 - n_features, n)
    np.testing.assert_allclose(solution.dependencies @ X, 0, atol=1e-6)


FURTHEST = Spread(pairs=np.array([(0, 2), (1, 0), (2, 0)]), weights=np.ones(3))
STAR, PARALLEL = [(0, 1), (0, 2), (0, 3)], [(0, 1), (1, 0), (1, 2), (0, 1)]


@pytest.mark.parametrize(
    ("problem", "value"),
    [
        (problem_of([(0, 1), (1, 2)], [1.0, 4.0], spread=FURTHEST), 2 * 9 + 1),
        (problem_of([(0, 1)], [4.0], spread=Spread(2.0, masses=np.array([1.0, 3.0]))), 6),
        # The ends go as far from the center as they may, and apart.
        (problem_of(STAR, [1, 1, 1], caps=[1, 1, 1]), (3 + 3 * 3) / 4),
        (problem_of(PARALLEL, [1, 1, 1, 5], caps=[0, 0, 0, 1]), 2),
    ],
    ids=["furthest pairs of a path", "masses", "caps alone", "parallel edges"],
)
def test_values_by_hand(problem, value):
    solution = solve_conic(problem)
    assert solution.value == pytest.approx(value, rel=1e-6)
    assert solution.bound == pytest.approx(value, rel=1e-6)
    assert solution.multipliers @ problem.squares == pytest.approx(value, rel=1e-6)
    assert np.all(solution.multipliers[problem.caps] >= 0)


@pytest.mark.parametrize("spread", ["variance", "furthest"])
def test_the_certificate_of_a_roll(spread):
    problem = roll(spread=spread)
    solution = solve_conic(problem)
    y, d = solution.multipliers, problem.squares
    assert solution.value == pytest.approx(y @ d, rel=1e-6)
    assert solution.bound == pytest.approx(y @ d, rel=1e-6)
    assert abs(solution.gap) < 1e-6
    assert solution.value == pytest.approx(problem.spread.value(solution.factor))
    assert np.abs(problem.violations(solution.factor)).max() < 1e-6 * d.mean()
    S, V = slack_matrix(problem, solution)
    assert np.linalg.eigvalsh(S)[0] > -1e-8 * np.abs(y).max()
    # Complementary slackness: <S, K> is what value and bound differ by.
    assert abs(np.sum(S * (V.T @ solution.gram @ V))) < 1e-5 * solution.value
    np.testing.assert_allclose(solution.gram.sum(axis=0), 0, atol=1e-8 * d.mean())
    assert np.linalg.eigvalsh(solution.gram)[0] > -1e-10 * np.trace(solution.gram)


@pytest.mark.parametrize(("n", "k"), [(30, 4), (30, 6), (100, 10)])
def test_a_map_that_keeps_the_distances_is_below_the_bound(n, k):
    X, *_ = make_swiss_roll(n, height=10, random_state=0)
    problem = roll(n, k=k)
    assert np.abs(problem.violations(X)).max() < 1e-10
    solution = solve_conic(problem)
    assert VARIANCE.value(X) < solution.bound * (1 + 1e-9)
    if k == 10:  # rigid, so that X is the only map
        assert VARIANCE.value(X) == pytest.approx(solution.bound, rel=1e-6)


def test_the_factor_is_in_principal_coordinates():
    R = solve_conic(roll()).factor
    lengths = np.sum(R**2, axis=0)
    np.testing.assert_allclose(R.T @ R, np.diag(lengths), atol=1e-9 * lengths[0])
    assert np.all(np.diff(lengths) <= 0)
    assert np.all(R[np.abs(R).argmax(axis=0), np.arange(R.shape[1])] > 0)


@pytest.mark.parametrize(("cap", "value", "binds"), [(1.0, 1.0, True), (100.0, 2.0, False)])
def test_a_cap_on_the_ends_of_a_path(cap, value, binds):
    # Straight, the ends are at 2; a cap of 1 makes the triangle equilateral.
    problem = problem_of([(0, 1), (1, 2), (0, 2)], [1, 1, cap], caps=[0, 0, 1])
    solution = solve_conic(problem)
    y = solution.multipliers[2]
    assert solution.value == pytest.approx(value, rel=1e-6)
    assert solution.bound == pytest.approx(value, rel=1e-6)
    assert y == pytest.approx(1 / 3, rel=1e-4) if binds else 0 <= y < 1e-6
    slack = cap - problem.lengths(solution.factor)[2]
    assert slack == pytest.approx(0, abs=1e-6) if binds else slack == pytest.approx(96, rel=1e-4)


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_a_roll_with_caps(share):
    problem = roll(20)
    caps = np.random.default_rng(1).random(len(problem.edges)) < share
    capped = problem_of(problem.edges, problem.squares, 20, caps=caps)
    solution = solve_conic(capped)
    y, slacks = solution.multipliers, problem.squares - problem.lengths(solution.factor)
    assert solution.value > solve_conic(problem).value
    assert np.all(y[caps] >= 0)
    assert np.all(slacks[caps] > -1e-6 * problem.squares.mean())
    assert abs(y[caps] @ slacks[caps]) < 1e-6 * solution.value
    assert np.linalg.eigvalsh(slack_matrix(capped, solution)[0])[0] > -1e-8


def test_clarabel_finds_the_same():
    import clarabel

    problem, _ = roll(16).scaled()
    n, m = problem.n_points - 1, len(problem.edges)
    C = problem.spread.matrix(n + 1)[1:, 1:]  # the first point is the origin
    rows, columns = np.tril_indices(n)
    twice = np.where(rows == columns, 1, np.sqrt(2))
    ends = np.eye(n + 1)[problem.edges[:, 0]] - np.eye(n + 1)[problem.edges[:, 1]]
    A = np.array([np.outer(f, f)[rows, columns] * twice for f in ends[:, 1:]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    found = clarabel.DefaultSolver(
        csc_matrix((len(rows), len(rows))),
        -C[rows, columns] * twice,
        csc_matrix(np.vstack([A, -np.eye(len(rows))])),
        np.append(problem.squares, np.zeros(len(rows))),
        [clarabel.ZeroConeT(m), clarabel.PSDTriangleConeT(n)],
        settings,
    ).solve()
    solution = solve_conic(problem)
    assert solution.value == pytest.approx(-found.obj_val, rel=1e-4)
    K = np.zeros((n + 1, n + 1))
    K[rows + 1, columns + 1] = K[columns + 1, rows + 1] = np.array(found.x) / twice
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    np.testing.assert_allclose(solution.gram, K, atol=1e-3 * np.trace(K))


def test_the_order_of_points_and_edges_does_not_matter():
    problem = roll(20)
    rng = np.random.default_rng(0)
    order, edge_order = rng.permutation(20), rng.permutation(len(problem.edges))
    edges = order[problem.edges][edge_order][:, ::-1]
    shuffled = solve_conic(problem_of(edges, problem.squares[edge_order], 20))
    solution = solve_conic(problem)
    assert shuffled.value == pytest.approx(solution.value, rel=1e-6)
    scale = np.trace(solution.gram)
    np.testing.assert_allclose(
        shuffled.gram[np.ix_(order, order)], solution.gram, atol=1e-4 * scale
    )


@pytest.mark.parametrize("unit", [1e-4, 1e5])
def test_units_do_not_matter(unit):
    problem = roll(20)
    solution = solve_conic(problem)
    other = solve_conic(problem_of(problem.edges, unit**2 * problem.squares, 20))
    assert other.value == pytest.approx(unit**2 * solution.value, rel=1e-6)
    assert other.bound == pytest.approx(unit**2 * solution.bound, rel=1e-6)
    assert other.multipliers @ problem.squares == pytest.approx(solution.bound, rel=1e-6)
    scale = np.trace(solution.gram)
    np.testing.assert_allclose(other.gram / unit**2, solution.gram, atol=1e-4 * scale)


def test_points_at_distance_zero_are_one():
    edges = [(0, 1), (1, 2), (0, 2), (2, 3)]
    solution = solve_conic(problem_of(edges, [0, 1, 1, 4], caps=[0, 0, 0, 1]))
    np.testing.assert_allclose(solution.factor[0], solution.factor[1], atol=1e-7)
    places = np.array([[0.0], [0], [1], [3]])
    assert solution.value == pytest.approx(4 * places.var(), rel=1e-6)
    S, _ = slack_matrix(problem_of(edges, [0, 1, 1, 4]), solution)
    assert np.linalg.eigvalsh(S)[0] > -1e-8
    for caps in [[0], [1]]:
        assert solve_conic(problem_of([(0, 1)], [0.0], caps=caps)).factor.shape == (2, 0)


ONE = np.array([0])
HALVES = HalfSpaces(ONE, ONE, np.ones(1), 1.0)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (problem_of([(0, 1)], [1], spread=Spread()), 'nothing to maximize: use solver="lowrank"'),
        (problem_of([(0, 1), (2, 3)], [1, 1]), "2 connected components"),
        (replace(problem_of([(0, 1)], [1]), sides=HALVES), "can't hold sides of R"),
        (
            problem_of([], [], n=LARGEST + 1),
            f'up to {LARGEST} points, got {LARGEST + 1}: use solver="lowrank"',
        ),
        (clique(np.eye(80)), f"up to {LARGEST_EDGES} edges and caps, got 3160"),
    ],
    ids=["no spread", "connected_components", "sides", "points", "edges"],
)
def test_what_it_cannot_solve_raises(problem, message):
    with pytest.raises(ValueError, match=message):
        solve_conic(problem)


WHEEL = [(0, i) for i in range(1, 6)] + [(i, i % 5 + 1) for i in range(1, 6)]


@pytest.mark.parametrize(
    ("edges", "squares", "message"),
    [
        (TRIANGLE, [1, 9, 1], r"edge \(0, 2\) is longer than a path .* 0.667 of its length"),
        ([(0, 1), (1, 0)], [1, 4], r"edge \(1, 0\) is longer"),
        # Three corners at distance 2 from each other, and a fourth point at 1.1 from all.
        (
            [*TRIANGLE, (0, 3), (1, 3), (2, 3)],
            [4, 4, 4, 1.21, 1.21, 1.21],
            r"points \[0, 1, 2, 3\] contradict",
        ),
        # Five spokes can be at two fifths of a turn to the next at most.
        (WHEEL, [1] * 5 + [3.9] * 5, "they contradict each other"),
        (WHEEL, [1] * 5 + [3.7] * 5, "they contradict each other"),
        (WHEEL, [1] * 5 + [4 * np.sin(0.4 * np.pi) ** 2 + 1e-3] * 5, "they contradict each other"),
    ],
)
def test_lengths_that_contradict_each_other(edges, squares, message):
    with pytest.raises(ValueError, match=message):
        solve_conic(problem_of(edges, squares))


def test_lengths_at_the_limit():
    problem = problem_of(WHEEL, [1] * 5 + [4 * np.sin(0.4 * np.pi) ** 2 - 1e-3] * 5)
    solution = solve_conic(problem)
    assert solution.value == pytest.approx(5, rel=1e-6)
    assert solution.status == "optimal"


def test_a_solve_that_stops_short_says_so(monkeypatch):
    monkeypatch.setattr(conic, "N_STEPS", 12)
    with pytest.warns(ConvergenceWarning, match=r"stalled after 11 steps: gap .*asked 1e-07"):
        solution = solve_conic(roll(20))
    assert solution.status == "stalled"
    assert solution.gap > 1e-7


def test_a_bound_holds_at_any_step(monkeypatch):
    problem = roll(20)
    value = solve_conic(problem).value
    for n_steps in range(1, 12):
        monkeypatch.setattr(conic, "N_STEPS", n_steps)
        with pytest.warns(ConvergenceWarning):
            assert solve_conic(problem).bound > value * (1 - 1e-6)


def test_multipliers_that_do_not_fit_still_give_a_bound(monkeypatch):
    # With y = 0 it is the largest trace alone, which a straight path has.
    monkeypatch.setattr(
        conic, "_interior_point", lambda problem, V, *_: (np.eye(V.shape[1]), np.zeros(2), 0)
    )
    with pytest.warns(ConvergenceWarning):
        solution = solve_conic(problem_of([(0, 1), (1, 2)], [1, 1]))
    assert solution.bound == pytest.approx(2)


def test_a_violated_edge_is_not_optimal_at_any_gap(monkeypatch):
    # A rectangle has the value of the square, as its multipliers are all equal.
    a, b = np.sqrt([1.1, 0.9])
    R = np.array([(0, 0), (a, 0), (a, b), (0, b)])
    monkeypatch.setattr(
        conic, "_interior_point", lambda problem, V, *_: (V.T @ R @ R.T @ V, np.full(4, 0.5), 0)
    )
    with pytest.warns(ConvergenceWarning, match=r"edges violated by up to 1.0e-01"):
        solution = solve_conic(problem_of([(0, 1), (1, 2), (2, 3), (0, 3)], np.ones(4)))
    assert abs(solution.gap) < 1e-12
    assert solution.status == "stalled"


def test_steps_are_reported_and_nothing_is_printed(capfd):
    notes = []
    solution = solve_conic(
        roll(12), progress=lambda stage, done, total=None, note="": notes.append((done, note))
    )
    assert [done for done, _ in notes] == list(range(solution.n_iter + 1))
    assert "gap" in notes[-1][1]
    assert capfd.readouterr() == ("", "")
