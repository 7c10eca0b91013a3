"""CCDR: the papers' equations, their limits in beta, partial labels, new rows."""

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles

from labelfold import (
    CCDR,
    LaplacianEigenmaps,
    ManifoldClassifier,
    TransductiveSearchCV,
    hide_labels,
)
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import DisconnectedGraphWarning
from labelfold.extend.nystrom import extend_by_degree
from labelfold.labels import PartialLabels

BETAS = [1e-3, 0.1, 0.5, 1.0, 3.0, 100.0]


@pytest.fixture(scope="module")
def roll():
    X, y, _ = make_swiss_roll(400, n_classes=3, random_state=0)
    return X, hide_labels(y, keep=np.arange(0, 400, 3))


def augmented(model, y, beta):
    """G of CCDR-MC section IV as printed, in numpy."""
    C = np.array([[v == k for v in y] for k in model.classes_], dtype=float)
    W = model.graph_.adjacency.toarray()
    return np.block([[np.zeros((len(C), len(C))), C], [C.T, beta * W]])


@pytest.mark.parametrize("beta", BETAS)
def test_solves_the_printed_problem(roll, beta):
    X, y = roll
    model = CCDR(3, beta=beta).fit(X, y)
    G = augmented(model, y, beta)
    D = np.diag(G.sum(axis=1))
    values, vectors = eigh(D - G, D)
    np.testing.assert_allclose(model.eigenvalues_, values[1:4], atol=1e-10)
    Z = np.vstack([model.class_centers_, model.embedding_])
    assert np.max(subspace_angles(Z, vectors[:, 1:4])) < 1e-6
    # Z D Z^T = I, in the paper's scale for beta <= 1 and that of G / beta above.
    np.testing.assert_allclose(Z.T @ D @ Z / max(beta, 1), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(Z.T @ D.sum(axis=1) / max(beta, 1), 0, atol=1e-9)


@pytest.mark.parametrize("beta", BETAS)
def test_objective_is_equation_12_and_centers_are_those_of_equation_18(roll, beta):
    X, y = roll
    model = CCDR(3, beta=beta).fit(X, y)
    labels = PartialLabels.from_y(y)
    Y, Z, W = model.embedding_, model.class_centers_, model.graph_.adjacency.tocoo()
    to_centers = np.sum((Z[labels.codes[labels.mask]] - Y[labels.mask]) ** 2)
    to_neighbors = beta / 2 * np.sum(W.data[:, None] * (Y[W.row] - Y[W.col]) ** 2)
    objective = (to_centers + to_neighbors) / max(beta, 1)
    np.testing.assert_allclose(objective, model.eigenvalues_.sum(), rtol=1e-9)
    means = np.array([Y[labels.codes == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(Z * (1 - model.eigenvalues_), means, atol=1e-9)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("n_neighbors", [2, 12])  # with 2 the graph needs bridges
def test_equation_19_reproduces_the_graphs_own_rows(roll, beta, n_neighbors):
    X, y = roll
    model = CCDR(3, beta=beta, n_neighbors=n_neighbors)
    if n_neighbors == 2:
        with pytest.warns(DisconnectedGraphWarning):
            model.fit(X, y)
        assert len(model.graph_.bridges)
    else:
        model.fit(X, y)
    codes = PartialLabels.from_y(y).codes
    again = extend_by_degree(
        beta * model.graph_.adjacency,
        model.embedding_,
        model.eigenvalues_,
        anchors=model.class_centers_[codes],
        anchor_weights=(codes >= 0).astype(float),
    )
    bound = model.certificate_.max_residual / np.abs(1 - model.eigenvalues_)
    assert np.all(np.abs(again - model.embedding_) <= 1e4 * bound + 1e-9)


def test_transform_is_equation_19_by_hand(roll):
    X, y = roll
    model = CCDR(2, beta=0.3, n_neighbors=5).fit(X, y)
    new = X[:1] + 0.01
    distances = np.linalg.norm(X - new, axis=1)
    near = np.argsort(distances)[:5]
    w = np.exp(-(distances[near] ** 2) / model.graph_.scale)
    geometry = 0.3 * w @ model.embedding_[near]
    expected = geometry / (0.3 * w.sum()) / (1 - model.eigenvalues_)
    np.testing.assert_allclose(model.transform(new)[0], expected, rtol=1e-9)
    labeled = (model.class_centers_[2] + geometry) / (1 + 0.3 * w.sum()) / (1 - model.eigenvalues_)
    np.testing.assert_allclose(model.transform_labeled(new, [2])[0], labeled, rtol=1e-9)


@pytest.mark.parametrize("beta", [0.2, 5.0])
def test_transform_labeled_mixes_labeled_and_unlabeled_rows(roll, beta):
    X, y = roll
    model = CCDR(2, beta=beta).fit(X, y)
    new = X[:4] + 0.01
    placed = model.transform_labeled(new, [0, None, 2, None])
    np.testing.assert_allclose(placed[[1, 3]], model.transform(new)[[1, 3]])
    for row, label in ((0, 0), (2, 2)):
        alone = model.transform_labeled(new[[row]], [label])
        np.testing.assert_allclose(placed[[row]], alone)
        center = model.class_centers_[label]
        free = model.transform(new[[row]])
        assert np.linalg.norm(alone - center) < np.linalg.norm(free - center)


def test_transform_labeled_refuses_new_classes(roll):
    X, y = roll
    model = CCDR(2).fit(X, y)
    with pytest.raises(ValueError, match=r"not seen: \[9\]"):
        model.transform_labeled(X[:2], [9, 0])
    with pytest.raises(ValueError, match="3 entries but X has 2 rows"):
        model.transform_labeled(X[:2], [0, 0, 0])


@pytest.mark.parametrize("y", [None, np.full(400, -1), np.full(400, None)])
@pytest.mark.parametrize("beta", [0.01, 1.0, 50.0])
def test_without_labels_it_is_laplacian_eigenmaps(roll, y, beta):
    model = CCDR(3, beta=beta).fit(roll[0], y)
    expected = LaplacianEigenmaps(3).fit(roll[0])
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-12)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_)
    assert model.class_centers_.shape == (0, 3)
    assert len(model.classes_) == 0


def test_tends_to_laplacian_eigenmaps_as_beta_grows(roll):
    X, y = roll
    limit = LaplacianEigenmaps(3).fit(X).embedding_
    gaps = [
        np.abs(np.abs(CCDR(3, beta=b).fit(X, y).embedding_) - np.abs(limit)).max()
        for b in (1e2, 1e4, 1e6, 1e12)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-8


def test_points_collapse_into_centers_as_beta_vanishes():
    X, y, _ = make_swiss_roll(200, n_classes=3, random_state=0)
    spreads = []
    for beta in (1.0, 1e-2, 1e-4, 1e-8):
        model = CCDR(2, beta=beta).fit(X, y)
        around = model.embedding_ - model.class_centers_[y]
        spreads.append(np.abs(around).max() / np.abs(model.class_centers_).max())
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[-1] < 1e-5


@pytest.mark.parametrize("beta", [1e-90, 1e-12, 1e12, 1e90])
def test_extreme_beta_is_finite_and_certified(roll, beta):
    X, y = roll
    model = CCDR(2, beta=beta).fit(X, y)
    assert model.certificate_.ok
    for array in (model.embedding_, model.class_centers_, model.transform(X[:5] + 0.1)):
        assert np.all(np.isfinite(array))


def test_small_beta_flags_coordinates_past_the_classes():
    X, y, _ = make_swiss_roll(200, n_classes=3, random_state=0)
    model = CCDR(5, beta=1e-4).fit(X, y)
    assert set(model.certificate_.fragile) >= {2, 3, 4}
    assert not {0, 1} & set(model.certificate_.fragile)


@pytest.mark.parametrize("beta", [0, -1.0, np.inf, np.nan, "much", None])
def test_bad_beta(roll, beta):
    with pytest.raises(ValueError, match="beta="):
        CCDR(beta=beta).fit(*roll)


def test_labels_separate_what_geometry_mixes():
    X, y, _ = make_swiss_roll(600, n_bands=6, random_state=1)
    keep = np.arange(300)
    free = CCDR(2, beta=0.1).fit(X, hide_labels(y, keep))

    def separation(Y):
        means = [Y[y == k].mean(axis=0) for k in (0, 1)]
        within = np.mean([Y[y == k].var(axis=0).sum() for k in (0, 1)])
        return np.sum((means[0] - means[1]) ** 2) / within

    unlabeled = np.arange(300, 600)
    Y = free.embedding_
    blind = LaplacianEigenmaps(2).fit(X).embedding_
    y = y[unlabeled]
    assert separation(Y[unlabeled]) > 5 * separation(blind[unlabeled])


def test_one_class_and_single_members_work():
    X = np.random.default_rng(0).random((50, 2))
    one = CCDR(2, n_neighbors=6).fit(X, [0] * 5 + [None] * 45)
    assert one.class_centers_.shape == (1, 2)
    each = CCDR(2, n_neighbors=6).fit(X, [0, 1, 2] + [-1] * 47)
    assert each.class_centers_.shape == (3, 2)
    assert one.certificate_.ok
    assert each.certificate_.ok


def test_components_joined_by_a_class_node_need_no_bridge():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((40, 2)), rng.random((40, 2)) + 50])
    y = np.full(80, -1)
    y[[0, 40]] = 3
    y[[1, 41]] = 4
    model = CCDR(2, n_neighbors=6).fit(X, y)
    assert len(model.graph_.bridges) == 0
    y[[1, 40, 41]] = -1
    with pytest.warns(DisconnectedGraphWarning, match="2 separate components"):
        CCDR(2, n_neighbors=6).fit(X, y)


@pytest.mark.parametrize("solver", ["dense", "arpack"])
@pytest.mark.parametrize("method", [CCDR, LaplacianEigenmaps])
def test_truncated_is_the_fit_with_fewer_components(method, solver):
    X, y, _ = make_swiss_roll(400, random_state=0)
    y = hide_labels(y, np.arange(100))
    wide = method(6, eigen_solver=solver).fit(X, y)
    narrow, fresh = wide.truncated(3), method(3, eigen_solver=solver).fit(X, y)
    assert narrow.get_params() == fresh.get_params()
    assert wide.embedding_.shape == (400, 6)
    np.testing.assert_allclose(narrow.embedding_, fresh.embedding_, atol=1e-7)
    np.testing.assert_allclose(narrow.eigenvalues_, fresh.eigenvalues_, atol=1e-10)
    np.testing.assert_allclose(narrow.transform(X + 0.1), fresh.transform(X + 0.1), atol=1e-6)
    assert len(narrow.certificate_.residuals) == len(fresh.certificate_.residuals)
    assert narrow.certificate_.fragile == fresh.certificate_.fragile
    if method is CCDR:
        np.testing.assert_allclose(narrow.class_centers_, fresh.class_centers_, atol=1e-7)
    for wrong in (0, 2.0, True):
        with pytest.raises(ValueError, match="must be an integer of at least 1"):
            wide.truncated(wrong)
    with pytest.raises(ValueError, match="n_components=7 must be at most 6"):
        wide.truncated(7)


def test_build_graph_is_the_graph_of_fit():
    X, y, _ = make_swiss_roll(200, random_state=0)
    model = CCDR(2, n_neighbors=7, weights="binary")
    graph = model.build_graph(X)
    fresh = CCDR(2, n_neighbors=7, weights="binary").fit(X, y)
    assert (graph.adjacency != fresh.graph_.adjacency).nnz == 0
    np.testing.assert_array_equal(model.fit(X, y, graph=graph).embedding_, fresh.embedding_)


@pytest.fixture(scope="module")
def sphere_and_plane():
    """A class on a sphere of dimension 3 and one in a plane, apart from each other."""
    rng = np.random.default_rng(0)
    sphere = rng.standard_normal((500, 4))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    plane = np.column_stack([rng.uniform(size=(500, 2)), np.zeros((500, 2))]) + 3
    return np.vstack([sphere, plane]), np.repeat(["sphere", "plane"], 500)


def test_automatic_dimension_is_the_largest_of_a_class_plus_one(sphere_and_plane):
    X, y = sphere_and_plane
    model = CCDR("auto").fit(X, y)
    assert model.n_components == "auto"
    assert model.n_components_ == 4
    assert model.embedding_.shape == (1000, 4)
    assert model.get_feature_names_out().tolist() == [f"ccdr{i}" for i in range(4)]
    np.testing.assert_allclose(model.embedding_, CCDR(4).fit(X, y).embedding_, atol=1e-8)
    assert CCDR("auto").fit(X, np.where(y == "plane", y, None)).n_components_ == 3
    assert model.truncated(2).n_components_ == 2


def test_automatic_dimension_of_few_labels_is_that_of_all_points():
    X, y, _ = make_swiss_roll(600, random_state=0)
    few = hide_labels(y, keep=range(6))
    assert CCDR("auto").fit(X, few).n_components_ == 3
    assert CCDR("auto").fit(X).n_components_ == 3


def test_automatic_dimension_in_a_search(sphere_and_plane):
    X, y = sphere_and_plane
    some = hide_labels(y, keep=np.arange(0, 1000, 2))
    search = TransductiveSearchCV(
        ManifoldClassifier(CCDR()), {"embedder__n_components": ["auto", 1, 2]}, cv=2
    ).fit(X, some)
    assert search.cv_results_["mean_test_score"].shape == (3,)


def test_automatic_dimension_that_cannot_be_told():
    with pytest.raises(ValueError, match="n_components='auto' can't be estimated, give a number"):
        CCDR("auto", n_neighbors=2).fit(np.random.default_rng(0).standard_normal((6, 2)))
    with pytest.raises(ValueError, match="n_components='most' must be an integer"):
        CCDR("most").fit(np.random.default_rng(0).standard_normal((60, 2)))


@pytest.mark.parametrize("beta", [0.1, 3.0])
def test_coordinates_without_label_and_the_class_center_make_the_embedding(beta):
    X, y, _ = make_swiss_roll(200, random_state=0)
    model = CCDR(3, beta=beta).fit(X, hide_labels(y, keep=range(50)))
    free = model.coordinates_without_label(np.arange(200))
    np.testing.assert_allclose(free[50:], model.embedding_[50:], rtol=1e-6, atol=1e-9)
    own = beta * model.graph_.adjacency.sum(axis=1)[:50, None]
    centers = model.class_centers_[y[:50]] / (1 - model.eigenvalues_)
    mean = (own * free[:50] + centers) / (own + 1)  # CCDR-MC eq. 17
    np.testing.assert_allclose(mean, model.embedding_[:50], rtol=1e-6, atol=1e-9)
    moved = np.linalg.norm(free[:50] - model.embedding_[:50], axis=1)
    assert moved.min() > 0
