import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

from labelfold import (
    LaplacianClassifier,
    NeighborGraph,
    PartialLabels,
    TransductiveSearchCV,
    hide_labels,
)
from labelfold.classify.laplacian_scores import LaplacianColumns
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import (
    FewEigenvectorsWarning,
    GraphMismatchError,
    UnreachedPointsWarning,
)

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def roll():
    X, y, _ = make_swiss_roll(400, n_classes=3, random_state=0)
    return X, y, hide_labels(y, keep=np.arange(0, 400, 5))


@pytest.fixture(scope="module")
def two_blobs():
    """Two components of 30 points each; rows 0 to 29 are the first."""
    X = RNG.random((60, 2))
    X[30:] += 100
    return X


def published(n_eigenvectors=0.2, **changes):
    return LaplacianClassifier.as_published(n_eigenvectors=n_eigenvectors, **changes)


def dense_laplacian(X, n_neighbors):
    W = kneighbors_graph(X, n_neighbors).toarray()
    W = np.maximum(W, W.T)
    return np.diag(W.sum(axis=0)) - W


def distances_of_rows(graph, rows):
    return sp.csr_array(graph.distances[rows])


def test_papers_formula(roll):
    X, _, y = roll
    p, labeled = 16, np.flatnonzero(y >= 0)
    E = eigh(dense_laplacian(X, 8))[1][:, :p]
    signs = np.where(y[labeled, None] == np.arange(3), 1.0, -1.0)
    a = np.linalg.inv(E[labeled].T @ E[labeled]) @ E[labeled].T @ signs
    confidence = E @ a
    model = published(tol=1e-8).fit(X, y)
    assert model.n_eigenvectors_ == p
    # Targets of 0 and 1 in place of -1 and 1: half of it, and half of the constant.
    np.testing.assert_allclose(model.decision_values_, (confidence + 1) / 2, atol=1e-8)
    expected = np.where(y >= 0, y, confidence.argmax(axis=1))
    np.testing.assert_array_equal(model.transduction_, expected)


def test_normalized_formula(roll):
    X, _, y = roll
    L = dense_laplacian(X, 8)
    labeled = np.flatnonzero(y >= 0)
    V = eigh(L, np.diag(np.diag(L)))[1][:, :16]
    scores = V @ np.linalg.lstsq(V[labeled], np.eye(3)[y[labeled]], rcond=None)[0]
    model = published(normalization="degree", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_values_, scores, atol=1e-8)
    np.testing.assert_allclose(model.decision_values_.sum(axis=1), 1)


def test_two_classes_are_the_sign_of_one_function(roll):
    X, y, _ = roll
    y = hide_labels(np.minimum(y, 1), keep=np.arange(0, 400, 8))
    labeled = np.flatnonzero(y >= 0)
    E = eigh(dense_laplacian(X, 8))[1][:, :10]
    f = E @ np.linalg.lstsq(E[labeled], np.where(y[labeled] == 1, 1.0, -1.0), rcond=None)[0]
    model = published(10, tol=1e-8).fit(X, y)
    others = y < 0
    np.testing.assert_array_equal(model.transduction_[others], (f >= 0)[others])
    np.testing.assert_allclose(np.diff(model.decision_values_, axis=1)[:, 0], f, atol=1e-8)


def test_path_in_closed_form():
    # Eigenvectors of a path are cos(pi j (i + 1/2) / n): with a label at either end and p = 2 the
    # score of the first class is (1 + e_1(i) / e_1(0)) / 2.
    n = 31
    y = np.full(n, None)
    y[0], y[-1] = "left", "right"
    model = published(2, radius=1.5).fit(np.arange(float(n))[:, None], y)
    e = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    np.testing.assert_allclose(model.decision_values_[:, 0], (1 + e / e[0]) / 2, atol=1e-10)
    np.testing.assert_allclose(model.eigenvalues_, [0, 2 - 2 * np.cos(np.pi / n)], atol=1e-12)
    assert model.transduction_.tolist()[:15] == ["left"] * 15
    assert model.transduction_.tolist()[16:] == ["right"] * 15
    # Halfway between points 4 and 5, whose 1.5 surroundings are 4, 5 and (3, 6): four neighbors.
    new = model.decision_function([[4.5]])[0]
    score = e[3:7].mean() / (1 - model.eigenvalues_[1] / 4) / e[0]
    np.testing.assert_allclose(new, -score, atol=1e-10)


def test_cycle_in_closed_form():
    # The first three eigenvectors of a cycle span 1, cos, sin; labels at every third of the circle
    # are fitted exactly by (1 + 2 cos(angle from the label)) / 3.
    n = 36
    angles = 2 * np.pi * np.arange(n) / n
    y = np.full(n, -1)
    y[[0, 12, 24]] = [0, 1, 2]
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    model = published(3, n_neighbors=2).fit(X, y)
    away = angles[:, None] - angles[[0, 12, 24]]
    np.testing.assert_allclose(model.decision_values_, (1 + 2 * np.cos(away)) / 3, atol=1e-10)


def test_given_labels_are_kept_and_distributions_name_the_winner(roll):
    X, _, y = roll
    y = y.copy()
    wrong = np.flatnonzero(y == 0)[0]
    y[wrong] = 2
    model = LaplacianClassifier(12).fit(X, y)
    assert model.transduction_[wrong] == 2
    np.testing.assert_array_equal(model.transduction_[y >= 0], y[y >= 0])
    winner = model.label_distributions_.argmax(axis=1)
    np.testing.assert_array_equal(winner, model.decision_values_.argmax(axis=1))
    np.testing.assert_array_equal(model.transduction_[y < 0], winner[y < 0])
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)


@pytest.mark.parametrize("normalization", ["none", "degree"])
@pytest.mark.parametrize("weights", ["binary", "heat"])
def test_extension_fed_with_rows_of_the_graph_reproduces_the_scores(roll, normalization, weights):
    X, _, y = roll
    model = LaplacianClassifier(12, normalization=normalization, weights=weights, tol=1e-10)
    model.fit(X, y)
    rows = np.arange(0, 400, 7)
    degrees = np.asarray(model.graph_.adjacency.sum(axis=1))[rows]
    unit = np.ones(len(rows)) if normalization == "degree" else degrees
    assert np.all(1 - model.eigenvalues_.max() / unit > 0.5)
    fed = distances_of_rows(model.graph_, rows)
    found = model._columns.combine_at_new(fed, model.coef_.T)
    np.testing.assert_allclose(found, model.decision_values_[rows], atol=1e-7)


@pytest.mark.parametrize("normalization", ["none", "degree"])
def test_new_rows_are_no_worse_for_many_eigenvectors(normalization):
    # Without a bound on the factor nine in ten of these would be wrong.
    X, y = load_digits(return_X_y=True)
    partial = hide_labels(y[:1200], keep=np.arange(1000))
    model = LaplacianClassifier(700, normalization=normalization, n_neighbors=5)
    assert model.fit(X[:1200], partial).score(X[1200:], y[1200:]) > 0.9
    assert model.certificate_.n_bounded > 100
    assert f"{model.certificate_.n_bounded} eigenvectors are bounded" in str(model.certificate_)


def test_number_of_bounded_eigenvectors_of_a_path():
    # d = 2, so those with 2 - 2 cos(pi j / 31) > 1: j > 31 / 3.
    X = np.arange(31.0)[:, None]
    y = np.arange(31) % 3
    model = LaplacianClassifier(31, radius=1.5).fit(X, y)
    assert model.certificate_.n_bounded == 20
    assert LaplacianClassifier(11, radius=1.5).fit(X, y).certificate_.n_bounded == 0


@pytest.mark.parametrize("power", [1, 2])
def test_more_eigenvectors_than_labels_take_the_smoothest_fit(roll, power):
    X, _, _ = roll
    labeled = np.array([0, 50, 200, 300, 399])
    y = np.full(400, -1)
    y[labeled] = [0, 1, 2, 1, 0]
    model = published(40, penalty_power=power, tol=1e-8).fit(X, y)
    # Of all scores in the span that fit the labels exactly, those with the least sum of squared
    # differences over edges: the bordered system of a minimization under linear constraints.
    L = dense_laplacian(X, 8)
    E = eigh(L)[1][:, :40]
    roughness = E.T @ np.linalg.matrix_power(L, power) @ E
    system = np.block([[roughness, E[labeled].T], [E[labeled], np.zeros((5, 5))]])
    right = np.vstack([np.zeros((40, 3)), np.eye(3)[y[labeled]]])
    np.testing.assert_allclose(
        model.decision_values_, E @ np.linalg.solve(system, right)[:40], atol=1e-6
    )
    np.testing.assert_allclose(model.decision_values_[labeled], np.eye(3)[y[labeled]], atol=1e-10)
    np.testing.assert_allclose(model.decision_values_.sum(axis=1), 1)
    assert model.column_rank_ == model.certificate_.column_rank == 5
    assert "40 columns of rank 5 on 5 labeled rows" in str(model.certificate_)


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.UnreachedPointsWarning")
def test_eigenvectors_of_a_component_without_labels_change_nothing(two_blobs):
    # They are zero on all labeled points.
    y = np.append(np.arange(30) % 3, [-1] * 30)
    alone = LaplacianClassifier(5).fit(two_blobs[:30], y[:30])
    wanted = np.count_nonzero(
        LaplacianClassifier().build_basis(two_blobs, 60).eigenvalues
        <= alone.eigenvalues_[-1] * (1 + 1e-9)
    )
    model = LaplacianClassifier(wanted + 1).fit(two_blobs, y)
    assert model.coef_.shape[1] > model.column_rank_ == 5
    np.testing.assert_allclose(model.decision_values_[:30], alone.decision_values_, atol=1e-9)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("penalty", [1e-3, 0.3, 1e3])
def test_penalty_is_on_the_differences_over_edges(roll, penalty, power):
    X, _, y = roll
    labeled = np.flatnonzero(y >= 0)
    L = dense_laplacian(X, 8)
    E = eigh(L)[1][:, :30]
    ridge = E[labeled].T @ E[labeled] + penalty * E.T @ np.linalg.matrix_power(L, power) @ E
    f = E @ np.linalg.solve(ridge, E[labeled].T @ np.eye(3)[y[labeled]])
    model = published(30, penalty=penalty, penalty_power=power, tol=1e-8).fit(X, y)
    difference = model.decision_values_ - model.decision_values_[labeled].mean(axis=0)
    expected = f - f[labeled].mean(axis=0)
    gain = np.sum(difference * expected) / np.sum(expected**2)
    assert gain > 0
    np.testing.assert_allclose(difference, gain * expected, atol=1e-6 * np.abs(difference).max())
    assert model.penalty_ == penalty


def test_infinite_penalty_points_as_poisson_learning_does(roll):
    # Its solution is u = L^+ sum over labeled j of (c_j - mean) delta_j, up to a constant.
    X, _, y = roll
    labeled = np.flatnonzero(y >= 0)
    C = np.eye(3)[y[labeled]]
    u = np.linalg.pinv(dense_laplacian(X, 8))[:, labeled] @ (C - C.mean(axis=0))
    model = published(400, penalty=np.inf, penalty_power=1).fit(X, y)
    difference = model.decision_values_ - model.decision_values_[labeled].mean(axis=0)
    expected = u - u[labeled].mean(axis=0)
    gain = np.sum(difference * expected) / np.sum(expected**2)
    np.testing.assert_allclose(difference, gain * expected, atol=1e-8)
    assert gain > 0
    assert len(set(model.transduction_)) == 3


def test_chosen_penalty_is_better_where_labels_are_few():
    X, y = load_digits(return_X_y=True)
    basis = published().build_basis(X, 100)
    chosen, paper = [], []
    for seed in range(5):
        keep = np.random.default_rng(seed).choice(len(X), 50, replace=False)
        partial, hidden = hide_labels(y, keep), np.setdiff1d(np.arange(len(X)), keep)
        for errors, model in (
            (chosen, published(penalty="auto")),
            (paper, published()),
        ):
            model.fit(X, partial, basis=basis)
            errors.append(np.mean(model.transduction_[hidden] != y[hidden]))
        assert model.penalty_ == 0
    assert np.mean(chosen) < 0.08 < 0.12 < np.mean(paper)


@pytest.fixture(scope="module", params=[8.0, 11.0])
def nearly_separate(request):
    """Four blobs, and five points so far off that heat weights hardly join them, one labeled."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4
    X = 0.6 * rng.normal(size=(400, 2)) + 2.2 * np.column_stack([y % 2, y // 2])
    far = [request.param, 0] + 0.1 * rng.normal(size=(5, 2))
    X, y = np.vstack([X, far]), np.append(y, np.zeros(5, dtype=int))
    keep = np.append(rng.choice(400, 50, replace=False), 400)
    return X, y, hide_labels(y, keep)


@pytest.mark.parametrize("power", [1, 2])
def test_nearly_separate_cluster_does_not_rule_the_choice(nearly_separate, power):
    X, y, partial = nearly_separate
    model = LaplacianClassifier(penalty="auto", penalty_power=power, weights="heat", scale=1.0)
    assert np.mean(model.fit(X, partial).transduction_ == y) > 0.85  # 0.34 if it does


@pytest.mark.parametrize("power", [1, 2, 10])
def test_roughness_has_no_influence_where_columns_are_independent(nearly_separate, power):
    X, _, partial = nearly_separate
    model = published(0.6, penalty_power=power, weights="heat", scale=1.0, tol=1e-8)
    model.fit(X, partial)
    rows = np.flatnonzero(PartialLabels.from_y(partial).mask)
    n_indicators = model.coef_.shape[1] - model.basis_.n_vectors
    columns = np.hstack([np.ones((len(rows), n_indicators)), model.basis_.vectors[rows]])
    C = np.eye(4)[partial[rows]]
    expected = columns @ np.linalg.lstsq(columns, C, rcond=None)[0]
    np.testing.assert_allclose(model.decision_values_[rows], expected, atol=1e-6)
    assert model.column_rank_ == columns.shape[1]


@pytest.mark.parametrize("penalty", [1e-300, 1e200, 1e300])
def test_penalty_of_any_size(roll, penalty):
    X, _, y = roll
    model = LaplacianClassifier(30, penalty=penalty).fit(X, y)
    assert np.all(np.isfinite(model.decision_values_))
    limit = LaplacianClassifier(30, penalty=np.inf if penalty > 1 else 0.0).fit(X, y)
    assert np.mean(model.transduction_ == limit.transduction_) > 0.97


def test_long_thin_data_converge_with_the_default_tolerance():
    # Eigenvalues of a millionth: residuals of 1e-4 would tell nothing, and float32 has too few
    # digits for the rest.
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 2000, 10_000), rng.uniform(size=10_000)])
    basis = LaplacianClassifier(n_neighbors=20).build_basis(X, 100)
    assert basis.certificate.ok
    assert basis.certificate.n_products < 50_000


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.UnreachedPointsWarning")
def test_columns_of_components_are_in_the_order_of_their_numbers():
    X = np.concatenate([np.arange(12.0) + 100 * part for part in (2, 0, 1)])[:, None]
    y = np.full(36, -1)
    y[[0, 1, 14, 30]] = [0, 0, 1, 2]
    model = LaplacianClassifier(1, n_neighbors=2).fit(X, y)
    components = model.graph_.connected_components
    for row, label in ((0, 0), (14, 1), (30, 2)):
        assert model.coef_[:, components[row]].argmax() == label
        others = np.delete(model.coef_[:, components[row]], label)
        np.testing.assert_allclose(others, 0, atol=1e-12)


def test_chosen_parameters_are_reported(roll):
    X, _, y = roll
    for n_eigenvectors in ("auto", 0.2):
        model = published(n_eigenvectors, penalty="auto").fit(X, y)
        assert model.n_eigenvectors_ == 100
    assert model.penalty_ > 0
    assert model.certificate_.criterion == "leave-one-out"
    assert "by leave-one-out error" in str(model.certificate_)
    model = published("auto").fit(X, y)
    assert 3 <= model.n_eigenvectors_ <= 40
    assert model.coef_.shape == (3, model.n_eigenvectors_)
    given = published(model.n_eigenvectors_).fit(X, y)
    np.testing.assert_allclose(model.decision_values_, given.decision_values_, atol=1e-9)
    assert given.certificate_.criterion == "given"
    one_each = hide_labels(np.arange(400) % 400, keep=[0, 100, 200])
    model = published("auto", penalty="auto").fit(X, one_each)
    assert model.certificate_.criterion == "usual"
    assert "no label can be left out" in str(model.certificate_)


def test_a_chosen_number_is_bounded_by_graph_and_basis(roll):
    X, _, y = roll
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small = published("auto", penalty=1.0).fit(X[:30], y[:30])
    assert small.n_eigenvectors_ == 30
    basis = published().build_basis(X, 12)
    assert published("auto", penalty=1.0).fit(X, y, basis=basis).n_eigenvectors_ == 12
    assert published("auto").fit(X, y, basis=basis).n_eigenvectors_ <= 12


@pytest.mark.parametrize("penalty", [1.0, "auto", np.inf])
def test_penalty_on_a_graph_of_several_components(two_blobs, penalty):
    y = np.full(60, -1)
    y[:12], y[30:42] = (two_blobs[:12, 0] > 0.5), 2 + (two_blobs[30:42, 1] > 100.5)
    model = LaplacianClassifier(20, penalty=penalty).fit(two_blobs, y)
    np.testing.assert_allclose(model.decision_values_.sum(axis=1), 1)
    assert set(model.transduction_[:30]) == {0, 1}
    assert set(model.transduction_[30:]) == {2, 3}
    alone = hide_labels(y, keep=np.append(np.arange(12), 30))  # one label in the second
    model = LaplacianClassifier(20, penalty=penalty).fit(two_blobs, alone)
    assert len(set(model.transduction_[30:])) == 1


def test_number_of_eigenvectors(roll):
    X, _, y = roll
    assert published(0.25).fit(X, y).n_eigenvectors_ == 20
    assert published(0.001).fit(X, y).n_eigenvectors_ == 1
    assert published(np.int64(7)).fit(X, y).n_eigenvectors_ == 7
    assert published(1.0).fit(X, y).coef_.shape == (3, 80)
    one = published(1).fit(X, y)
    np.testing.assert_allclose(one.decision_values_, np.tile(one._prior, (400, 1)))
    message = "n_eigenvectors=500 is more than the graph of 400 rows has: 400 are used"
    with pytest.warns(FewEigenvectorsWarning, match=message) as caught:
        model = published(500).fit(X, y)
    assert caught[0].filename == __file__
    assert model.n_eigenvectors_ == 400
    assert model.n_eigenvectors == 500


def test_labels_in_every_component(two_blobs):
    y = np.full(60, None)
    y[[0, 5, 9]] = "a", "a", "b"
    y[[30, 31]] = "b", "c"
    one = published(1).fit(two_blobs, y)
    # The indicators alone: the frequencies within each component.
    np.testing.assert_allclose(
        one.decision_values_[:30], np.tile([2 / 3, 1 / 3, 0], (30, 1)), atol=1e-14
    )
    np.testing.assert_allclose(
        one.decision_values_[30:], np.tile([0, 0.5, 0.5], (30, 1)), atol=1e-14
    )
    assert one.coef_.shape == (3, 2)
    assert len(one.unreached_) == 0
    model = published(4).fit(two_blobs, y)
    assert model.coef_.shape == (3, 5)
    assert model.n_eigenvectors_ == 4
    np.testing.assert_array_equal(model.eigenvalues_[:2], 0)
    assert np.all(np.diff(model.eigenvalues_[1:]) > 0)
    np.testing.assert_allclose(model.decision_values_.sum(axis=1), 1)
    assert np.all(model.transduction_[:30] != "c")
    assert np.all(model.transduction_[30:] != "a")


def test_a_component_is_a_problem_of_its_own(two_blobs):
    # With all eigenvectors of the first component in the span, the second has no influence on it.
    y = np.full(60, -1)
    y[:12], y[30:42] = np.arange(12) % 2, np.arange(12) % 3
    whole = published(59, penalty=0.0).fit(two_blobs, y)
    alone = published(30).fit(two_blobs[:30], y[:30])
    np.testing.assert_allclose(whole.decision_values_[:30, :2], alone.decision_values_, atol=1e-9)


def test_rows_without_a_label_in_their_component_get_the_class_prior(two_blobs):
    y = np.full(60, None)
    y[[0, 5, 9]] = "b", "a", "b"
    with pytest.warns(
        UnreachedPointsWarning, match="30 of 60 rows lie in a connected component"
    ) as caught:
        model = LaplacianClassifier(2).fit(two_blobs, y)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(model.unreached_, np.arange(30, 60))
    prior = [1 / 3, 2 / 3]
    np.testing.assert_allclose(model.label_distributions_[30:], np.tile(prior, (30, 1)))
    assert set(model.transduction_[30:]) == {"b"}
    new = two_blobs[[31, 40]] + 0.01
    np.testing.assert_allclose(model.predict_proba(new), [prior, prior])
    assert model.certificate_.n_unreached == 30
    assert "30 rows in components without a label" in str(model.certificate_)
    joined = model.graph_.bridged()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reached = LaplacianClassifier(2).fit(two_blobs, y, graph=joined)
    assert len(reached.unreached_) == 0


def test_a_new_row_follows_neighbors_with_a_label_in_their_component():
    X = np.concatenate([np.arange(10.0), 30 + np.arange(10.0)])[:, None]
    y = np.full(20, -1)
    y[[0, 9]] = 0, 1
    model = LaplacianClassifier(1, n_neighbors=3)
    with pytest.warns(UnreachedPointsWarning):
        model.fit(X, y)
    between = [[18.0], [25.0]]  # of whose neighbors some or all are out of reach
    np.testing.assert_allclose(model.predict_proba(between), [[0.5, 0.5], [0.5, 0.5]])
    found = model.graph_.index.query(np.array(between), 14)
    scores = model._columns.combine_at_new(found, model.coef_.T)
    np.testing.assert_allclose(scores, model.decision_values_[[0, 0]])


def test_precomputed_distances(roll):
    X, _, y = roll
    finder = KNeighborsTransformer(n_neighbors=8, mode="distance").fit(X)
    model = published(10).fit(X, y)
    other = published(10, metric="precomputed").fit(finder.transform(X), y)
    np.testing.assert_allclose(other.decision_values_, model.decision_values_, atol=1e-9)
    new = X[:20] + 0.1
    np.testing.assert_allclose(
        other.decision_function(finder.transform(new)), model.decision_function(new), atol=1e-9
    )


def test_blocks_of_new_rows(roll, monkeypatch):
    X, _, y = roll
    model = LaplacianClassifier(20).fit(X, y)
    new = np.vstack([X + 0.1, [[1e3, 0, 0]]])
    expected = model.decision_function(new)
    assert np.all(np.isfinite(expected))
    monkeypatch.setattr("labelfold.classify.laplacian_scores.BLOCK_ENTRIES", 100)
    np.testing.assert_allclose(model.decision_function(new), expected, rtol=1e-9)


def test_training_rows_get_their_own_scores(roll):
    X, _, y = roll
    X, y = np.vstack([X, X[:5]]), np.append(y, [-1] * 5)
    model = LaplacianClassifier(16).fit(X, y)
    expected = model.decision_values_.copy()
    expected[:5] = expected[400:] = (expected[:5] + expected[400:]) / 2
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)
    others = np.flatnonzero(y < 0)
    others = others[(others >= 5) & (others < 400)]
    np.testing.assert_array_equal(model.predict(X)[others], model.transduction_[others])


def test_a_single_class(roll):
    X, *_ = roll
    one = LaplacianClassifier().fit(X, np.where(np.arange(400) < 9, "only", None))
    assert set(one.transduction_) == set(one.predict(X + 0.1)) == {"only"}
    np.testing.assert_array_equal(one.predict_proba(X[:2] + 0.1), [[1.0], [1.0]])


@pytest.mark.parametrize("normalization", ["none", "degree"])
def test_a_basis_serves_every_draw_and_number(roll, normalization):
    X, truth, _ = roll
    model = published(normalization=normalization)
    graph = model.build_graph(X)
    basis = model.build_basis(X, 30, graph=graph)
    assert basis.n_vectors == 29
    assert not hasattr(model, "n_features_in_")
    for seed, p in enumerate([0.2, 7, 30]):
        keep = np.random.default_rng(seed).choice(400, 60, replace=False)
        y = hide_labels(truth, keep)
        model.set_params(n_eigenvectors=p)
        expected = clone(model).fit(X, y)
        for given in ({"basis": basis}, {"graph": graph, "basis": basis}, {"graph": graph}):
            found = clone(model).fit(X, y, **given)
            np.testing.assert_allclose(found.decision_values_, expected.decision_values_, atol=1e-9)
            assert found.graph_ is graph
            assert found.basis_.n_vectors == found.n_eigenvectors_ - 1


def test_a_basis_that_does_not_belong(roll):
    X, _, y = roll
    model = published()
    basis = model.build_basis(X, 20)
    with pytest.raises(GraphMismatchError, match="other rows"):
        model.fit(X[::-1], y, basis=basis)
    with pytest.raises(GraphMismatchError, match="n_neighbors=8 here and n_neighbors=5 there"):
        published(n_neighbors=5).fit(X, y, basis=basis)
    with pytest.raises(GraphMismatchError, match="normalization='none'"):
        published(normalization="degree").fit(X, y, basis=basis)
    other = NeighborGraph.build(X, n_neighbors=5, weights="binary")
    with pytest.raises(GraphMismatchError, match="another graph"):
        model.fit(X, y, basis=basis, graph=other)
    with pytest.raises(ValueError, match=r"n_eigenvectors=25 is more than the 20 of the basis"):
        published(25).fit(X, y, basis=basis)
    with pytest.raises(GraphMismatchError, match="other rows"):
        model.build_basis(X[::-1], 20, graph=basis.graph)
    restored = pickle.loads(pickle.dumps(basis))
    fitted = model.fit(X, y, basis=restored, graph=basis.graph)
    np.testing.assert_array_equal(
        fitted.decision_values_, clone(model).fit(X, y, basis=basis).decision_values_
    )


def test_a_basis_of_all_there_is(two_blobs):
    model = LaplacianClassifier(70)
    basis = model.build_basis(two_blobs, 70)
    assert basis.n_vectors == 58
    with pytest.warns(FewEigenvectorsWarning, match="60 rows has: 59 are used"):
        model.fit(two_blobs, np.arange(60) % 3, basis=basis)
    assert model.n_eigenvectors_ == 59
    assert model.coef_.shape == (3, 60)


BAD = {  # values, and what is said of them
    "n_eigenvectors": ([0, -3, 0.0, 1.5, np.nan, True, "many", None, [3]], "must be a fraction"),
    "penalty": ([-1, -0.5, np.nan, True, "large", None], "must be a number of at least 0"),
    "penalty_power": ([0, -1, 11, np.inf, np.nan, True, "auto", None], "must be a number"),
    "tol": ([0, -1e-3, 1, np.nan, "small", None], ""),
}


@pytest.mark.parametrize(("name", "value"), [(name, v) for name in BAD for v in BAD[name][0]])
def test_bad_parameters(roll, name, value):
    X, _, y = roll
    with pytest.raises(ValueError, match=f"^{name}=.*{BAD[name][1]}"):
        LaplacianClassifier(**{name: value}).fit(X, y)


@pytest.mark.parametrize("value", [0, 0.2, "auto", True, 2.0])
def test_a_basis_needs_a_whole_number(roll, value):
    with pytest.raises(ValueError, match="n_eigenvectors="):
        LaplacianClassifier().build_basis(roll[0], value)


def test_progress_is_shown_when_asked_for(roll, capsys):
    X, _, y = roll
    LaplacianClassifier().fit(X, y)
    assert capsys.readouterr().err == ""
    LaplacianClassifier(verbose=1).fit(X, y)
    assert "neighbors" in capsys.readouterr().err


def test_transductive_search_shares_graph_and_eigenvectors(roll, monkeypatch):
    X, _, y = roll
    grid = {"n_eigenvectors": [3, 0.2, 30], "n_neighbors": [6, 8]}
    solved = []
    compute = LaplacianClassifier._compute_basis
    monkeypatch.setattr(
        LaplacianClassifier,
        "_compute_basis",
        lambda self, graph, number, progress: (
            solved.append(number) or compute(self, graph, number, progress)
        ),
    )
    search = TransductiveSearchCV(published(), grid, cv=3, refit=False).fit(X, y)
    assert solved == [30, 30]
    assert (search.n_graphs_, search.n_fits_) == (2, 2)
    for number, params in enumerate(search.cv_results_["params"]):
        one = TransductiveSearchCV(published(**params), {}, cv=3, refit=False).fit(X, y)
        assert one.best_score_ == search.cv_results_["mean_test_score"][number]


def test_columns_have_length_one(two_blobs):
    labels = PartialLabels.from_y([0] * 40 + [None] * 20)
    for normalization in ("none", "degree"):
        model = LaplacianClassifier(normalization=normalization)
        basis = model.build_basis(two_blobs, 6)
        columns = LaplacianColumns.from_labels(basis, labels)
        values = columns.at(np.arange(60))
        mass = np.ones(60) if normalization == "none" else basis.graph.adjacency.sum(axis=1)
        np.testing.assert_allclose(values.T @ (mass[:, None] * values), np.eye(7), atol=1e-8)
