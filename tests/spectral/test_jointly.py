"""New rows that join the map: near to a fit of all rows, and to the fitted map."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import kneighbors_graph

from labelfold import CCDR, LaplacianEigenmaps, NeighborGraph, hide_labels
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import DisconnectedGraphWarning
from labelfold.graph.adjacency import SparseAdjacency
from labelfold.solvers.eigen import refined_eigenpairs

MAPS = [
    CCDR(4, beta=0.5, scale=5.0),
    CCDR(3, beta=20.0, weights="binary"),
    LaplacianEigenmaps(3, scale=5.0),
    LaplacianEigenmaps(3, normalization="none", weights="binary"),
    LaplacianEigenmaps(3, density_exponent=1.0, scale=5.0),
    LaplacianEigenmaps(3, diffusion_time=2, scale=5.0),
]


@pytest.fixture(scope="module")
def roll():
    X, y, _ = make_swiss_roll(700, n_classes=3, random_state=0)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order[:500]], hide_labels(y[order[:500]], keep=range(0, 500, 3)), X[order[500:]]


def fit_all(model, X, y, new):
    labels = np.concatenate([np.asarray(y, dtype=object), np.full(len(new), None)])
    return type(model)(**model.get_params()).fit(np.vstack([X, new]), labels)


@pytest.mark.parametrize("model", MAPS)
def test_many_steps_tend_to_the_fit_of_all_rows(roll, model):
    X, y, new = roll
    model.fit(X, y)
    whole = fit_all(model, X, y, new)
    angles = []
    for n_steps in (1, 20, 1500):
        joined = model.with_rows(new, n_steps=n_steps)
        angles.append(np.max(subspace_angles(joined.embedding_, whole.embedding_)))
    assert angles[2] < angles[1] < angles[0]
    assert angles[2] < 1e-3
    np.testing.assert_allclose(joined.eigenvalues_, whole.eigenvalues_, rtol=1e-4)
    scale = np.abs(whole.embedding_).max(axis=0)
    assert np.max(np.abs(joined.embedding_ - whole.embedding_) / scale) < 0.01
    assert joined.certificate_.max_residual < 1e-3


def test_rotated_back_onto_the_fitted_map(roll):
    X, y, new = roll
    model = CCDR(4, beta=0.5).fit(X, y)
    together = model.transform_jointly(new)
    apart = model.transform(new)
    spread = np.linalg.norm(model.embedding_ - model.embedding_.mean(axis=0))
    assert np.linalg.norm(together - apart) < 0.1 * spread * np.sqrt(len(new) / len(X))
    # The joint map turned and scaled as a whole: distances in it have one ratio.
    joint = model.with_rows(new).embedding_[len(X) :]
    ratios = np.linalg.norm(np.diff(together, axis=0), axis=1) / np.linalg.norm(
        np.diff(joint, axis=0), axis=1
    )
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)
    assert ratios[0] == pytest.approx(np.sqrt(700 / 500), rel=0.05)


def test_the_fitted_model_stays_as_it_was(roll):
    X, y, new = roll
    model = CCDR(3).fit(X, y)
    before = {name: np.array(getattr(model, name)) for name in ("embedding_", "eigenvalues_")}
    graph, certificate = model.graph_, model.certificate_
    first = model.transform_jointly(new)
    np.testing.assert_array_equal(model.transform_jointly(new), first)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(model, name), value)
    assert model.graph_ is graph
    assert model.certificate_ is certificate


def test_joined_map_is_a_fitted_estimator(roll):
    X, y, new = roll
    joined = CCDR(3, beta=0.5).fit(X, y).with_rows(new)
    assert joined.embedding_.shape == (700, 3)
    assert joined.graph_.n_points == 700
    np.testing.assert_array_equal(joined.transform(new[:5]), joined.embedding_[500:505])
    assert joined.transform(new[:5] + 0.01).shape == (5, 3)
    assert joined.transform_labeled(new[:2] + 0.01, [0, 1]).shape == (2, 3)
    assert joined.truncated(2).embedding_.shape == (700, 2)
    again = joined.with_rows(new[:10] + 0.02)
    assert again.embedding_.shape == (710, 3)
    assert again.certificate_.ok


def test_eigenvalues_come_down_with_every_step(roll):
    """Ritz values of a larger subspace of products lie above those of a smaller one."""
    X, y, new = roll
    model = CCDR(4, beta=0.5).fit(X, y)
    sums = [model.with_rows(new, n_steps=s).eigenvalues_.sum() for s in (1, 3, 6, 10)]
    assert all(a > b for a, b in pairwise(sums))


def test_order_of_new_rows_does_not_matter(roll):
    X, y, new = roll
    model = CCDR(3, beta=0.5).fit(X, y)
    order = np.random.default_rng(1).permutation(len(new))
    together = model.transform_jointly(new)
    np.testing.assert_allclose(model.transform_jointly(new[order]), together[order], atol=1e-8)


def test_new_rows_far_from_all_others_are_bridged(roll):
    X, *_ = roll
    model = LaplacianEigenmaps(2).fit(X)
    far = np.random.default_rng(2).standard_normal((30, 3)) + 500
    with pytest.warns(DisconnectedGraphWarning, match="2 separate components"):
        placed = model.transform_jointly(far)
    assert np.all(np.isfinite(placed))


def test_one_new_row(roll):
    X, y, new = roll
    model = CCDR(2, beta=0.5).fit(X, y)
    placed = model.transform_jointly(new[:1], n_steps=50)
    alone = model.transform(new[:1])
    spread = np.linalg.norm(np.ptp(model.embedding_, axis=0))
    assert np.linalg.norm(placed - alone) < 0.02 * spread


def test_bad_arguments(roll):
    X, y, new = roll
    with pytest.raises(NotFittedError):
        CCDR().transform_jointly(new)
    model = CCDR(2).fit(X, y)
    for n_steps in (0, 2.5, "many", None):
        with pytest.raises(ValueError, match=r"n_steps=.*integer of at least 1"):
            model.with_rows(new, n_steps=n_steps)
    with pytest.raises(ValueError, match="features"):
        model.transform_jointly(new[:, :2])
    given = kneighbors_graph(X, 15, mode="distance")
    model = CCDR(2, metric="precomputed").fit(given, y)
    with pytest.raises(ValueError, match=r"precomputed.*fit all rows together"):
        model.transform_jointly(given[:3])


@pytest.mark.parametrize("normalization", ["degree", "none"])
def test_refinement_leaves_exact_vectors_alone(roll, normalization):
    X, *_ = roll
    graph = NeighborGraph.build(X).bridged()
    exact = LaplacianEigenmaps(4, normalization=normalization).fit(X, graph=graph)
    pairs = refined_eigenpairs(
        SparseAdjacency(graph.adjacency),
        exact.embedding_,
        exact.eigenvalues_,
        normalization=normalization,
        n_steps=3,
    )
    np.testing.assert_allclose(pairs.values, exact.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(pairs.vectors, exact.embedding_, atol=1e-6)
    assert pairs.certificate.max_residual < 1e-7
    assert pairs.certificate.n_products == 4 * (3 + 1)
