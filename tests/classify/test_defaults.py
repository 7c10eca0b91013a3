"""Classifiers without options, where labels are few, and the papers' settings by as_published."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

from labelfold import LaplacianClassifier, ManifoldClassifier, hide_labels

pytestmark = pytest.mark.filterwarnings("ignore::labelfold.exceptions.DisconnectedGraphWarning")

WITHOUT_OPTIONS = pytest.mark.parametrize("model", [LaplacianClassifier(), ManifoldClassifier()])


def error(model, X, y, keep):
    """Share of wrong labels among the rows that are not kept."""
    fitted = model.fit(X, hide_labels(y, keep))
    return np.mean(np.delete(fitted.transduction_ != y, keep))


@WITHOUT_OPTIONS
def test_separate_blobs_need_one_label_each(model):
    for seed in range(20):
        X, y = make_blobs(300, centers=[[0, 0], [10, 0], [0, 10]], random_state=seed)
        rng = np.random.default_rng(seed)
        keep = [rng.choice(np.flatnonzero(y == k)) for k in range(3)]
        assert error(model, X, y, keep) == 0, seed


@WITHOUT_OPTIONS
def test_a_class_with_one_of_fifty_labels_is_found(model):
    X, y = load_digits(return_X_y=True)
    eights, others = np.flatnonzero(y == 8), np.flatnonzero(y != 8)
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        keep = np.append(rng.choice(others, 49, replace=False), rng.choice(eights))
        shares.append(np.mean(model.fit(X, hide_labels(y, keep)).transduction_[eights] == 8))
    # In one draw no other 8 follows the label.
    assert np.median(shares) > 0.6
    assert np.sum(np.array(shares) > 0.3) >= 5


@WITHOUT_OPTIONS
def test_unbalanced_classes(model):
    X, y = load_digits(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == 4), np.flatnonzero(y == 9)[:20]])  # 9 to 1
    X, y = X[rows], y[rows]
    own, published = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        keep = np.append(rng.choice(np.flatnonzero(y == 4), 9, replace=False), len(y) - 1 - seed)
        own.append(error(model, X, y, keep))
        published.append(error(type(model).as_published(), X, y, keep))
    assert np.mean(own) < 0.03
    assert np.mean(own) <= np.mean(published)


def test_published_settings_of_the_laplacian_classifier():
    assert LaplacianClassifier.as_published().get_params() == {
        "n_eigenvectors": 0.2,
        "penalty": 0.0,
        "penalty_power": 2.0,
        "n_neighbors": 8,
        "radius": None,
        "metric": "euclidean",
        "weights": "binary",
        "scale": "auto",
        "normalization": "none",
        "neighbor_search": "auto",
        "eigen_solver": "auto",
        "tol": 1e-4,
        "random_state": None,
        "n_jobs": None,
        "verbose": 0,
    }
    changed = LaplacianClassifier.as_published(penalty="auto", n_eigenvectors=7)
    assert (changed.penalty, changed.n_eigenvectors, changed.weights) == ("auto", 7, "binary")


def test_published_settings_of_the_manifold_classifier():
    model = ManifoldClassifier.as_published()
    assert model.get_params() == {"embedder": None, "head": "linear"}
    embedder = model._embedder_or_default()
    assert (embedder.beta, embedder.n_neighbors, embedder.weights) == (1.0, 12, "heat")
