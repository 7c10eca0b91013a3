"""Dimensions of known manifolds, beside those of scikit-dimension's estimators."""

import warnings
from functools import cache

import numpy as np
import pytest

from labelfold import IntrinsicDimension
from labelfold.datasets import make_swiss_roll

N_POINTS, N_DRAWS = 1000, 2


def sphere(dimension, rng):
    points = rng.standard_normal((N_POINTS, dimension + 1))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def roll(dimension, rng):
    return make_swiss_roll(N_POINTS, random_state=int(rng.integers(1000)))[0]


def noise(dimension, rng):
    return rng.standard_normal((N_POINTS, dimension))


def cube(dimension, rng):
    return rng.uniform(size=(N_POINTS, dimension))


MANIFOLDS = [(sphere, 2), (sphere, 5), (sphere, 8), (cube, 3), (cube, 6), (roll, 2), (noise, 4)]


PEERS = ("MLE", "TwoNN", "MOM", "CorrInt")


def estimate(name, X):
    if name == "ours":
        return IntrinsicDimension(random_state=0).fit(X).dimension_
    from skdim import id as estimators

    return getattr(estimators, name)().fit(X).dimension_


@cache
def error(name, manifold, dimension):
    """Return the mean distance of estimates from the truth."""
    draws = [manifold(dimension, np.random.default_rng(seed)) for seed in range(N_DRAWS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.mean([abs(estimate(name, X) - dimension) for X in draws])


@pytest.mark.parametrize(("manifold", "dimension"), MANIFOLDS)
def test_within_one_of_the_truth_and_at_par_with_the_median_peer(manifold, dimension):
    found = error("ours", manifold, dimension)
    assert found < 1
    assert found <= np.median([error(name, manifold, dimension) for name in PEERS]) + 0.1


@pytest.mark.parametrize("name", PEERS)
def test_nearer_to_the_truth_than_each_peer_over_all_manifolds(name):
    mine, theirs = (np.mean([error(one, *case) for case in MANIFOLDS]) for one in ("ours", name))
    assert mine < theirs
