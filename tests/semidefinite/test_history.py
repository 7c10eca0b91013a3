from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import labelfold
from labelfold import (
    FurthestNeighborUnfolding,
    IsometricSeparationMap,
    MaximumVarianceUnfolding,
    SupervisedSemidefiniteEmbedding,
)
from labelfold.datasets import make_swiss_roll
from labelfold.semidefinite.history import columns_of
from labelfold.solvers.lowrank import solve_lowrank
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread

COLUMNS = ["n_iter", "seconds", "rank", "objective", "error"]
MODELS = [
    MaximumVarianceUnfolding(random_state=0),
    FurthestNeighborUnfolding(random_state=0),
    SupervisedSemidefiniteEmbedding(random_state=0),
    IsometricSeparationMap(random_state=0),
]


@pytest.fixture(scope="module")
def roll():
    X, y, _ = make_swiss_roll(80, n_classes=2, n_bands=2, height=10, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def fitted(roll):
    """Models by class, each fitted once to rows far from unit size."""
    models = {}

    def fit(model):
        if type(model) not in models:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                models[type(model)] = clone(model).fit(50 * roll[0], roll[1])
        return models[type(model)]

    return fit


def by_class(model):
    return type(model).__name__


@pytest.mark.parametrize("model", MODELS, ids=by_class)
def test_history_of_every_estimator(fitted, model):
    model = fitted(model)
    history, certificate = model.history_, model.certificate_
    assert list(history) == COLUMNS
    assert {column.shape for column in history.values()} == {history["n_iter"].shape}
    assert all(np.isfinite(column).all() for column in history.values())
    assert history["n_iter"][-1] == model.n_iter_
    assert np.all(np.diff(history["n_iter"]) > 0)
    assert np.all(np.diff(history["seconds"]) >= 0)
    assert history["rank"].min() >= 2
    # In units of the data: the last round is the map but for what restoration mends.
    assert history["objective"][-1] == pytest.approx(certificate.objective, rel=0.02)
    assert history["error"][-1] == pytest.approx(certificate.errors.decisive, abs=0.01)


@pytest.mark.parametrize("model", MODELS, ids=by_class)
def test_history_goes_through_pickle_and_model_files(fitted, model, tmp_path):
    model = fitted(model)
    labelfold.save(model, tmp_path / "model.skops")
    for again in (pickle.loads(pickle.dumps(model)), labelfold.load(tmp_path / "model.skops")):
        assert list(again.history_) == COLUMNS
        for name in COLUMNS:
            np.testing.assert_array_equal(again.history_[name], model.history_[name])


def test_conic_solver_has_none_even_after_a_fit_that_had_one(roll):
    X, _ = roll
    model = MaximumVarianceUnfolding(random_state=0).fit(X[:40])
    assert model.history_ is not None
    model.set_params(solver="conic").fit(X[:40])
    assert model.history_ is None


def test_all_but_seconds_is_reproducible(roll):
    X, _ = roll
    one, other = (MaximumVarianceUnfolding(random_state=0).fit(X).history_ for _ in range(2))
    for name in COLUMNS:
        if name != "seconds":
            np.testing.assert_array_equal(one[name], other[name])


def test_columns_are_those_of_the_rounds():
    # A chain with one edge of length 0: two points are one for the solver.
    squares = np.array([16.0, 0.0, 36.0, 36.0])
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
    problem = DistanceProblem(5, edges, squares, Spread(variance=1.0))
    solution = solve_lowrank(problem, np.arange(10.0).reshape(5, 2), rank=2)
    columns = columns_of(solution.history, problem)
    np.testing.assert_array_equal(columns["rank"], [one.rank for one in solution.history])
    np.testing.assert_array_equal(columns["error"], [one.error for one in solution.history])
    assert columns["n_iter"][-1] == solution.n_iter
    # Unfolded it lies straight: 0, 4, 4, 10, 16.
    straight = np.var([0.0, 4.0, 4.0, 10.0, 16.0]) * 5
    assert columns["objective"][-1] == pytest.approx(straight, rel=1e-3)
