from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifier
from sklearn.manifold import SpectralEmbedding

from labelfold.classify import LaplacianClassifier, ManifoldClassifier
from labelfold.labels import hide_labels
from labelfold.plotting import EmbeddingDisplay
from labelfold.semidefinite import IsometricSeparationMap
from labelfold.spectral import CCDR


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.array(["cat", "dog", "eel"])[np.arange(66) % 3]
    X = rng.normal(size=(66, 4)) + 3.0 * np.eye(3, 4)[np.arange(66) % 3]
    return X[:60], hide_labels(y[:60], keep=range(12)), X[60:]


@pytest.fixture(scope="module")
def model(data):
    X, y, _ = data
    return ManifoldClassifier(CCDR(2)).fit(X, y)


def test_predictions_are_left_out_unless_asked_for(ax, model, data):
    display = EmbeddingDisplay.from_estimator(model, y=data[1], ax=ax)
    assert display.predictions is None
    assert display.confidence is None
    assert len(display.unlabeled_.get_offsets()) == 48


def test_predictions_and_confidence_of_a_classifier(ax, model, data):
    display = EmbeddingDisplay.from_estimator(model, y=data[1], show_predictions=True, ax=ax)
    assert display.predictions.to_y().tolist() == model.transduction_.tolist()
    columns = np.searchsorted(model.classes_, model.transduction_)
    shares = model.label_distributions_[np.arange(60), columns]
    np.testing.assert_allclose(display.confidence, shares)
    opacities = display.predicted_.get_facecolors()[:, 3]
    np.testing.assert_allclose(opacities, 0.15 + 0.85 * shares[12:])
    assert len(display.scatter_.get_offsets()) == 12
    assert display.is_new is None


def test_predictions_for_given_points(ax, model, data):
    X = data[0][:20]
    display = EmbeddingDisplay.from_estimator(model, X, show_predictions=True, ax=ax)
    assert display.predictions.to_y().tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(display.confidence, model.predict_proba(X).max(axis=1))


def test_new_points_come_last_with_their_predictions(ax, model, data):
    _, y, X_new = data
    display = EmbeddingDisplay.from_estimator(model, y=y, X_new=X_new, show_predictions=True, ax=ax)
    assert display.is_new.tolist() == [False] * 60 + [True] * 6
    np.testing.assert_array_equal(display.embedding[:60], model.embedding_)
    np.testing.assert_array_equal(display.embedding[60:], model.embedder_.transform(X_new))
    assert display.labels.to_y().tolist() == [*y, *[None] * 6]
    assert display.predictions.to_y()[60:].tolist() == model.predict(X_new).tolist()
    np.testing.assert_allclose(display.confidence[60:], model.predict_proba(X_new).max(axis=1))
    np.testing.assert_array_equal(display.new_.get_offsets(), display.embedding[60:])


def test_new_points_of_an_embedder(ax, data):
    X, y, X_new = data
    ccdr = CCDR(2).fit(X, y)
    images = np.zeros((66, 2, 2))
    display = EmbeddingDisplay.from_estimator(ccdr, y=y, X_new=X_new, images=images, ax=ax)
    np.testing.assert_array_equal(display.new_.get_offsets(), ccdr.transform(X_new))
    assert display.predictions is None
    assert display.images.shape == (66, 2, 2)
    pca = PCA(2).fit(X)
    display = EmbeddingDisplay.from_estimator(pca, X, X_new=X_new, ax=ax)
    np.testing.assert_array_equal(display.new_.get_offsets(), pca.transform(X_new))
    assert display.labels is None


def test_a_head_without_distributions_gives_no_confidence(ax, data):
    X, y, X_new = data
    model = ManifoldClassifier(CCDR(2), head=RidgeClassifier()).fit(X, y)
    display = EmbeddingDisplay.from_estimator(model, X_new=X_new, show_predictions=True, ax=ax)
    assert display.confidence is None
    assert len(display.predictions) == 66


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.InfeasibleMapWarning")
def test_a_map_that_classifies_by_itself(ax):
    X = np.random.default_rng(0).normal(size=(26, 2))
    y = [0, 1] * 5 + [-1] * 10
    model = IsometricSeparationMap(2, n_neighbors=3, max_iter=5, random_state=0).fit(X[:20], y)
    display = EmbeddingDisplay.from_estimator(
        model, y=y, X_new=X[20:], show_predictions=True, ax=ax
    )
    answers = [*model.transduction_, *model.predict(X[20:])]
    assert display.predictions.to_y().tolist() == answers
    assert display.confidence.shape == (26,)


# Errors


def test_an_embedder_has_no_predictions(data):
    X, y, _ = data
    ccdr = CCDR(2).fit(X, y)
    with pytest.raises(ValueError, match=r"CCDR has no transduction_: use a classifier such as"):
        EmbeddingDisplay.from_estimator(ccdr, show_predictions=True)
    with pytest.raises(ValueError, match=r"show_predictions=True with X, but CCDR has no predict"):
        EmbeddingDisplay.from_estimator(ccdr, X, show_predictions=True)


def test_a_classifier_without_a_map(data):
    X, y, _ = data
    model = LaplacianClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"LaplacianClassifier has no map.*from_predictions"):
        EmbeddingDisplay.from_estimator(model, show_predictions=True)
    with pytest.raises(ValueError, match=r"LaplacianClassifier has no map.*from_predictions"):
        EmbeddingDisplay.from_estimator(model, X)


def test_a_map_that_takes_no_new_points(data):
    X, _, X_new = data
    eigenmap = SpectralEmbedding(2, random_state=0).fit(X)
    message = "X_new cannot be drawn, since SpectralEmbedding has no transform"
    with pytest.raises(ValueError, match=message):
        EmbeddingDisplay.from_estimator(eigenmap, X_new=X_new)


def test_labels_are_for_the_points_without_the_new_ones(model, data):
    with pytest.raises(ValueError, match="y has 66 entries but the embedding has 60 rows"):
        EmbeddingDisplay.from_estimator(model, y=["cat"] * 66, X_new=data[2])


def test_answers_without_classes(ax):
    class Fixed(BaseEstimator):
        """Has answers, and neither distributions nor a list of classes."""

        def fit(self, X, y=None):
            self.embedding_, self.transduction_ = np.asarray(X), np.asarray(y)
            return self

    model = Fixed().fit(np.eye(3), [2, 0, 2])
    display = EmbeddingDisplay.from_estimator(model, show_predictions=True, ax=ax)
    assert display.classes == [0, 2]
