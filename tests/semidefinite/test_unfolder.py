"""How a solve went, as every unfolding keeps it."""

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
