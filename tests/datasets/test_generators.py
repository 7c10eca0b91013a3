"""What all generators promise alike."""

import numpy as np
import pytest

from labelfold.datasets import (
    make_closed_curve,
    make_concentric_circles,
    make_intertwined_curves,
    make_swiss_roll,
)
from labelfold.exceptions import InputError

all_generators = pytest.mark.parametrize(
    "make",
    [make_swiss_roll, make_intertwined_curves, make_closed_curve, make_concentric_circles],
)


def assert_same(first, second):
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@all_generators
def test_seed_fixes_everything(make):
    assert_same(make(30, noise=0.1, random_state=7), make(30, noise=0.1, random_state=7))
    assert not np.array_equal(make(30, random_state=7)[0], make(30, random_state=8)[0])


@all_generators
def test_random_state_instance_is_used_and_moves_on(make):
    rng = np.random.RandomState(7)
    assert_same(make(30, random_state=rng), make(30, random_state=7))
    assert not np.array_equal(make(30, random_state=rng)[0], make(30, random_state=7)[0])


@all_generators
def test_shapes_types_and_the_global_random_state(make):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    X, y, coordinates = make(np.int64(40), random_state=0)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert X.shape == (40, 3 if make is make_swiss_roll else 2)
    assert coordinates.shape == (40, 1 if "curve" in make.__name__ else 2)
    assert y.shape == (40,)
    assert (X.dtype, y.dtype, coordinates.dtype) == (np.float64, np.int64, np.float64)
    assert set(y) == {0, 1}


@all_generators
def test_noise_moves_points_and_nothing_else(make):
    X, y, coordinates = make(3000, random_state=0)
    noisy, *others = make(3000, noise=0.1, random_state=0)
    assert_same(others, (y, coordinates))
    np.testing.assert_allclose((noisy - X).std(axis=0), 0.1, rtol=0.05)


@all_generators
@pytest.mark.parametrize("n_samples", [0, -3, 10.0, "10", True, None])
def test_number_of_samples_must_be_a_positive_integer(make, n_samples):
    with pytest.raises(InputError, match=f"n_samples={n_samples!r} must be an integer of at least"):
        make(n_samples)


@all_generators
@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf, "loud"])
def test_noise_must_be_a_standard_deviation(make, noise):
    with pytest.raises(InputError, match=f"noise={noise!r} must be a number"):
        make(10, noise=noise)
