"""Diffusion maps: a dense reference by hand, a circle sampled unevenly, a walk's distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone

from labelfold import CCDR, LaplacianEigenmaps
from labelfold.datasets import make_swiss_roll
from labelfold.extend.nystrom import extend_by_degree


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(300, random_state=0)[0]


def normalized_weights(graph, density):
    """W with w_ij / (q_i q_j)^density, dense."""
    W = graph.adjacency.toarray()
    q = W.sum(axis=1)
    return W / np.outer(q, q) ** density


def uneven_circle(n=900):
    """Points whose density varies by a factor of 9 around the circle."""
    uniform = 2 * np.pi * (np.arange(n) + 0.5) / n
    angles = uniform.copy()
    for _ in range(100):  # angle + 0.8 sin(angle) = uniform
        angles -= (angles + 0.8 * np.sin(angles) - uniform) / (1 + 0.8 * np.cos(angles))
    return np.column_stack([np.cos(angles), np.sin(angles)])


@pytest.mark.parametrize("density", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("time", [None, 0, 1, 2.5])
def test_agrees_with_the_symmetrized_markov_matrix(roll, density, time):
    model = LaplacianEigenmaps(4, density_exponent=density, diffusion_time=time).fit(roll)
    W = normalized_weights(model.graph_, density)
    d = W.sum(axis=1)
    values, vectors = eigh(W / np.sqrt(np.outer(d, d)))
    walk = values[::-1][1:5]
    np.testing.assert_allclose(1 - model.eigenvalues_, walk, atol=1e-10)
    expected = vectors[:, ::-1][:, 1:5] / np.sqrt(d)[:, None] * walk ** (time or 0)
    signs = np.sign(np.sum(expected * model.embedding_, axis=0))
    np.testing.assert_allclose(model.embedding_, expected * signs, atol=1e-8)


def test_defaults_are_eigenmaps_bit_for_bit(roll):
    plain = LaplacianEigenmaps(3).fit(roll)
    neither = LaplacianEigenmaps(3, density_exponent=0, diffusion_time=0).fit(roll)
    np.testing.assert_array_equal(plain.embedding_, neither.embedding_)
    np.testing.assert_array_equal(plain.transform(roll + 0.1), neither.transform(roll + 0.1))
    assert not {"density", "diffusion_time"} & CCDR().get_params().keys()


def test_density_is_taken_out_of_an_uneven_circle():
    X = uneven_circle()
    errors = {}
    for density in (0.0, 0.5, 1.0):
        model = LaplacianEigenmaps(2, radius=0.5, scale=0.05, density_exponent=density).fit(X)
        Y = model.embedding_ / np.sqrt(np.mean(model.embedding_**2) * 2)
        # The rotation and reflection that bring the map nearest to the circle itself.
        U, _, Vt = np.linalg.svd(Y.T @ X)
        errors[density] = np.sqrt(np.mean(np.sum((Y @ (U @ Vt) - X) ** 2, axis=1)))
    assert errors[1.0] < 0.015
    assert errors[0.0] > 0.5
    assert errors[1.0] < errors[0.5] < errors[0.0]


@pytest.mark.parametrize("density", [0.0, 1.0])
@pytest.mark.parametrize("time", [1, 2, 5])
def test_distances_are_those_of_the_random_walk(roll, density, time):
    X = roll[:60]
    model = LaplacianEigenmaps(
        59, n_neighbors=8, density_exponent=density, diffusion_time=time
    ).fit(X)
    W = normalized_weights(model.graph_, density)
    d = W.sum(axis=1)
    reached = np.linalg.matrix_power(W / d[:, None], time)
    expected = squareform(pdist(reached / np.sqrt(d)))
    np.testing.assert_allclose(squareform(pdist(model.embedding_)), expected, atol=1e-9)


@pytest.mark.parametrize("density", [0.3, 1.0])
@pytest.mark.parametrize("time", [None, 2])
def test_new_points_follow_the_same_equation(roll, density, time):
    model = LaplacianEigenmaps(4, density_exponent=density, diffusion_time=time).fit(roll)
    np.testing.assert_array_equal(model.transform(roll), model.embedding_)
    graph = model.graph_
    q = graph.adjacency.sum(axis=1)
    by_columns = graph.adjacency @ sp.diags_array(q**-density)  # a row's own degree cancels
    again = extend_by_degree(by_columns.tocsr(), model.embedding_, model.eigenvalues_)
    np.testing.assert_allclose(again, model.embedding_, atol=1e-9)

    new = roll[:7] + 0.2
    weights = graph.weigh(graph.distances_to(new), relative=False).toarray()
    degrees = weights.sum(axis=1)
    weights /= np.outer(degrees, q) ** density
    means = weights @ model.embedding_ / weights.sum(axis=1)[:, None]
    np.testing.assert_allclose(model.transform(new), means / (1 - model.eigenvalues_), rtol=1e-10)


def test_new_points_land_near_where_a_joint_fit_puts_them():
    X = uneven_circle()
    parameters = {"radius": 0.5, "scale": 0.05, "density_exponent": 1.0, "diffusion_time": 1}
    old = np.arange(len(X)) % 5 > 0
    model = LaplacianEigenmaps(2, **parameters).fit(X[old])
    Y = np.vstack([model.embedding_, model.transform(X[~old])])
    circle = np.vstack([X[old], X[~old]])
    radii = np.linalg.norm(Y, axis=1)
    assert radii.std() / radii.mean() < 0.01
    fit = np.linalg.lstsq(Y[: old.sum()], circle[: old.sum()], rcond=None)[0]
    assert np.abs(Y @ fit - circle)[old.sum() :].max() < 0.03


def test_equal_degrees_change_nothing_but_the_size():
    # All degrees of a cycle are alike: there is no density to take out.
    polygon = np.array([[np.cos(t), np.sin(t)] for t in 2 * np.pi * np.arange(40) / 40])
    plain = LaplacianEigenmaps(2, n_neighbors=2, weights="binary").fit(polygon)
    without = LaplacianEigenmaps(2, n_neighbors=2, weights="binary", density_exponent=1.0).fit(
        polygon
    )
    np.testing.assert_allclose(without.eigenvalues_, plain.eigenvalues_, atol=1e-12)
    radii = np.linalg.norm(without.embedding_, axis=1)
    np.testing.assert_allclose(radii, 2 * np.linalg.norm(plain.embedding_, axis=1), rtol=1e-9)


def test_order_units_and_solver_do_not_matter(roll):
    model = LaplacianEigenmaps(3, density_exponent=1.0, diffusion_time=2)
    Y = model.fit_transform(roll)
    order = np.random.default_rng(0).permutation(len(roll))
    np.testing.assert_allclose(clone(model).fit_transform(roll[order]), Y[order], atol=1e-8)
    np.testing.assert_allclose(clone(model).fit_transform(1000 * roll + 5), Y, atol=1e-8)
    by_arpack = clone(model).set_params(eigen_solver="arpack").fit(roll)
    np.testing.assert_allclose(by_arpack.embedding_, Y, atol=1e-8)
    np.testing.assert_allclose(
        LaplacianEigenmaps(5, density_exponent=1.0, diffusion_time=2)
        .fit(roll)
        .truncated(3)
        .embedding_,
        Y,
        atol=1e-10,
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"density_exponent": 1.5}, "density_exponent=1.5 must be a number"),
        ({"density_exponent": float("nan")}, "density_exponent=nan must be"),
        ({"density_exponent": "auto"}, "density_exponent='auto' must be"),
        ({"density_exponent": None}, "density_exponent=None must be"),
        ({"diffusion_time": -1}, "diffusion_time=-1 must be a number"),
        ({"diffusion_time": float("inf")}, "diffusion_time=inf must be"),
        ({"diffusion_time": "2"}, "diffusion_time='2' must be"),
        (
            {"density_exponent": 1.0, "normalization": "none"},
            "density_exponent=1.0 needs normalization='degree'",
        ),
        ({"diffusion_time": 0, "normalization": "none"}, "diffusion_time=0 needs normalization"),
    ],
)
def test_bad_parameters_are_refused(roll, parameters, message):
    with pytest.raises(ValueError, match=message):
        LaplacianEigenmaps(2, **parameters).fit(roll)


def test_part_of_a_step_needs_positive_eigenvalues(roll):
    model = LaplacianEigenmaps(59, n_neighbors=8, diffusion_time=0.5)
    with pytest.raises(ValueError, match="must be a whole number here") as refused:
        model.fit(roll[:60])
    most = int(str(refused.value).split("n_components to ")[1].rstrip("."))
    assert np.all(model.set_params(n_components=most).fit(roll[:60]).eigenvalues_ <= 1)
