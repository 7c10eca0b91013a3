"""What every unfolding has: how its solve went, and graphs that are shared."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from labelfold import (
    FurthestNeighborUnfolding,
    IsometricSeparationMap,
    MaximumVarianceUnfolding,
    NeighborGraph,
    SupervisedSemidefiniteEmbedding,
)
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import GraphMismatchError

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


def test_conic_solver_has_none_even_after_a_fit_that_had_one(roll):
    X, _ = roll
    model = MaximumVarianceUnfolding(random_state=0).fit(X[:40])
    assert model.history_ is not None
    model.set_params(solver="conic").fit(X[:40])
    assert model.history_ is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=by_class)
def test_a_graph_with_other_weights_serves_and_one_with_other_neighbors_does_not(roll, model):
    X, y = roll
    short = clone(model).set_params(max_iter=100, n_neighbors=5)
    graph = NeighborGraph.build(X, n_neighbors=5, weights="binary", scale=3.0)
    shared = clone(short).fit(X, y, graph=graph).embedding_
    np.testing.assert_array_equal(shared, clone(short).fit(X, y).embedding_)
    with pytest.raises(GraphMismatchError, match="n_neighbors"):
        clone(model).set_params(n_neighbors=6).fit(X, y, graph=graph)
    with pytest.raises(GraphMismatchError, match="radius"):
        clone(model).fit(X, y, graph=NeighborGraph.build(X, radius=6.0))
