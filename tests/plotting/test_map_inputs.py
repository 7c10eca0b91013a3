"""What a display of a map takes: arguments in every form, and what a fitted estimator has."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifier
from sklearn.manifold import SpectralEmbedding

import labelfold
from labelfold import GraphLayout, TransductiveSearchCV
from labelfold.classify import FewLabelClassifier, LaplacianClassifier, ManifoldClassifier
from labelfold.labels import PartialLabels, hide_labels
from labelfold.plotting import EmbeddingDisplay, GraphDisplay
from labelfold.semidefinite import IsometricSeparationMap
from labelfold.spectral import CCDR

EMBEDDING = np.arange(6.0).reshape(3, 2)


def test_everything_is_stored_in_one_form():
    display = EmbeddingDisplay(
        EMBEDDING.tolist(),
        labels=["b", None, None],
        predictions=["b", "a", "c"],
        confidence=[1.0000000000000002, 0, 0.5],  # by rounding
        is_new=[False, False, True],
        images=np.zeros((3, 2, 2), dtype=np.uint8).tolist(),
        components=(1, 0),
    )
    np.testing.assert_array_equal(display.embedding, EMBEDDING)
    assert display.labels.to_y().tolist() == ["b", None, None]
    assert display.predictions.to_y().tolist() == ["b", "a", "c"]
    assert display.confidence.tolist() == [1.0, 0.0, 0.5]
    assert display.is_new.tolist() == [False, False, True]
    assert display.images.shape == (3, 2, 2)
    assert display.classes == display.class_names == ["a", "b", "c"]
    assert display.components == [1, 0]


KINDS = {
    "integers": ([0, 1, -1], ["0", "1"]),
    "text": (["a", "b", None], ["a", "b"]),
    "floats with NaN": ([0.0, 1.0, np.nan], ["0", "1"]),
    "objects": (np.array(["a", "b", -1], dtype=object), ["a", "b"]),
    "pandas categorical": (pd.Series(["a", "b", None], dtype="category"), ["a", "b"]),
    "pandas nullable": (pd.Series([0, 1, pd.NA], dtype="Int64"), ["0", "1"]),
    "partial labels": (PartialLabels.from_y([0, 1, -1]), ["0", "1"]),
    "booleans": ([True, False, True], ["False", "True"]),
    "none at all": ([-1, -1, -1], []),
}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_and_predictions_of_every_kind(kind):
    labels, names = KINDS[kind]
    assert EmbeddingDisplay(EMBEDDING, labels=labels).class_names == names
    assert EmbeddingDisplay(EMBEDDING, predictions=labels).class_names == names


def test_the_order_of_classes():
    display = EmbeddingDisplay(EMBEDDING, labels=[5, -1, -1], predictions=[5, 2, 9])
    assert display.class_names == ["2", "5", "9"]
    # Labels with NaN among them are floats, and the same classes.
    display = EmbeddingDisplay(EMBEDDING, labels=[1.0, np.nan, 2.0], predictions=[1, 2, 2])
    assert display.class_names == ["1", "2"]
    # Given classes lead, and labels may hold others.
    for name in ("labels", "predictions"):
        display = EmbeddingDisplay(EMBEDDING, classes=["b", "c"], **{name: ["z", "a", "b"]})
        assert display.classes == ["b", "c", "a", "z"]
    assert EmbeddingDisplay(EMBEDDING, class_centers=np.eye(2)).classes == [0, 1]
    assert EmbeddingDisplay(EMBEDDING, class_centers=np.empty((0, 2))).class_centers is None


def test_names_of_classes():
    frame = pd.DataFrame(EMBEDDING)
    by_class = {2: "cow", 0: "cat", 1: "dog"}
    for names in (by_class, ["cat", "dog", "cow"]):
        display = EmbeddingDisplay(frame, labels=[0, 1, 2], class_names=names)
        assert display.class_names == ["cat", "dog", "cow"]


SURE = {"predictions": [0, 1, 1]}
COLORS = (3, 2, 2, 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": [0, 1]}, "labels has 2 entries but the embedding has 3 rows"),
        ({"labels": [0.5, 1.2, 3.3]}, "continuous"),
        ({"predictions": [0, 1]}, "predictions has 2 entries but the embedding has 3 rows"),
        ({"predictions": [0.5, 1.2, 3.3]}, "predictions: Unknown label type: continuous"),
        (
            {"labels": [0, 1, -1], "predictions": ["0", "1", "1"]},
            "labels have classes such as .*0.* but predictions such as '0'",
        ),
        ({"components": (0, 2)}, r"components=\(0, 2\) must be 'classes', or one .* from 0 to 1:"),
        ({"components": (-1, 0)}, r"components=\(-1, 0\) must"),
        ({"components": (0, 1, 1)}, "one to three different columns"),
        ({"components": ()}, r"components=\(\) must"),
        ({"components": 0}, "components=0 must"),
        ({"components": (0.7, 1.9)}, r"components=\(0.7, 1.9\) must"),
        ({"components": "class"}, "components='class' must"),
        ({"class_centers": np.eye(3)}, "class_centers has 3 columns but the embedding has 2"),
        (
            {"class_centers": np.eye(2), "labels": [0, 1, 2]},
            "class_centers has 2 rows but labels have 3 classes: pass classes",
        ),
        (
            {"class_centers": np.eye(2), "classes": ["a"]},
            "class_centers has 2 rows but classes has 1 entries",
        ),
        ({"labels": [0, 1, 1], "class_names": ["a"]}, "class_names has 1 entries for 2 classes"),
        ({"labels": [0, 1, 1], "class_names": {0: "a"}}, "class_names has no entry for class .*1"),
        ({"confidence": [1.0, 1.0, 1.0]}, "confidence is given without predictions"),
        ({**SURE, "confidence": [1.0, 1.0]}, r"confidence has shape \(2,\), not \(3,\)"),
        ({**SURE, "confidence": [0.0, 1.1, 1.0]}, r"confidence\[1\]=1.1 is not between 0 and 1"),
        ({**SURE, "confidence": [0.0, 1.0, -0.1]}, r"confidence\[2\]=-0.1 is not between"),
        ({**SURE, "confidence": [np.nan, 1.0, 1.0]}, r"confidence\[0\]=nan is not between"),
        ({"is_new": [True, False]}, r"is_new has dtype bool and shape \(2,\) for 3 points"),
        ({"is_new": [0, 1, 2]}, "is_new has dtype int64"),
        ({"images": np.zeros((2, 4, 4))}, r"images has shape \(2, 4, 4\) for 3 points"),
        ({"images": np.zeros((3, 16))}, r"images has shape \(3, 16\) for 3 points"),
        ({"images": np.zeros((3, 4, 4, 2))}, "with 3 or 4 channels"),
        ({"images": np.zeros((3, 0, 4))}, r"images has shape \(3, 0, 4\)"),
        ({"images": np.full((3, 2, 2), np.nan)}, "images contains NaN"),
        ({"images": np.full((3, 2, 2), "a")}, "bytes/strings"),
        ({"images": np.full(COLORS, 2.0)}, r"go from 2.0 to 2.0: rescale to 0 to 1 for floats"),
        ({"images": np.full(COLORS, 256)}, "rescale to 0 to 1 for floats, to 0 to 255"),
        ({"images": np.full(COLORS, -1)}, "go from -1 to -1"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(labelfold.exceptions.InputError, match=message):
        EmbeddingDisplay(EMBEDDING, **given)


@pytest.mark.parametrize("embedding", [[[np.nan, 0.0]], [[np.inf, 0.0]], np.empty((0, 2)), [1.0]])
def test_bad_embedding(embedding):
    with pytest.raises(labelfold.exceptions.InputError, match=r"embedding|Expected 2D|0 sample"):
        EmbeddingDisplay(embedding)


# A fitted estimator


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


def test_map_centers_and_classes_of_an_embedder(ax, data):
    X, y, X_new = data
    ccdr = CCDR(3).fit(X, y)
    images = np.zeros((66, 2, 2))
    display = EmbeddingDisplay.from_estimator(ccdr, y=y, X_new=X_new, images=images, ax=ax, s=5)
    np.testing.assert_array_equal(display.scatter_.get_offsets(), ccdr.embedding_[:12, :2])
    np.testing.assert_array_equal(display.centers_.get_offsets(), ccdr.class_centers_[:, :2])
    np.testing.assert_array_equal(display.new_.get_offsets(), ccdr.transform(X_new)[:, :2])
    assert display.classes == ["cat", "dog", "eel"]
    assert display.scatter_.get_sizes() == [5]
    assert display.predictions is None
    assert display.images.shape == (66, 2, 2)
    given = EmbeddingDisplay.from_estimator(ccdr, X, y)
    np.testing.assert_allclose(given.embedding, ccdr.embedding_)
    # Without labels, the centers carry the names.
    bare = EmbeddingDisplay.from_estimator(ccdr)
    assert [text.get_text() for text in bare.text_] == ["cat", "dog", "eel"]


def test_any_transformer(ax, data):
    X, _, X_new = data
    pca = PCA(3).fit(X)
    display = EmbeddingDisplay.from_estimator(pca, X, X_new=X_new, ax=ax, components=(1, 2))
    np.testing.assert_array_equal(display.unlabeled_.get_offsets(), pca.transform(X)[:, 1:])
    np.testing.assert_array_equal(display.new_.get_offsets(), pca.transform(X_new)[:, 1:])
    assert display.labels is None


def test_predictions_and_confidence_of_a_classifier(ax, model, data):
    bare = EmbeddingDisplay.from_estimator(model, y=data[1])
    assert (bare.predictions, bare.confidence) == (None, None)
    assert len(bare.unlabeled_.get_offsets()) == 48
    display = EmbeddingDisplay.from_estimator(
        model, y=data[1], show_predictions=True, components=(0, 1), ax=ax
    )
    np.testing.assert_array_equal(display.embedding, model.embedding_)
    np.testing.assert_array_equal(display.class_centers, model.embedder_.class_centers_)
    assert display.predictions.to_y().tolist() == model.transduction_.tolist()
    columns = np.searchsorted(model.classes_, model.transduction_)
    shares = model.label_distributions_[np.arange(60), columns]
    np.testing.assert_allclose(display.confidence, shares)
    opacities = display.predicted_.get_facecolors()[:, 3]
    np.testing.assert_allclose(opacities, 0.15 + 0.85 * shares[12:])
    assert len(display.scatter_.get_offsets()) == 12
    assert display.is_new is None


def test_confidence_is_the_share_of_the_predicted_class():
    class Fixed(BaseEstimator):
        """Has answers, distributions with errors of rounding, and a label against them."""

        def fit(self, X, y):
            self.embedding_, self.transduction_ = np.asarray(X), np.asarray(y)
            return self

    model = Fixed().fit(np.eye(3), [2, 0, 2])
    display = EmbeddingDisplay.from_estimator(model, show_predictions=True)
    assert display.classes == [0, 2]
    assert display.confidence is None
    model.classes_ = np.array([0, 2])
    model.label_distributions_ = np.array([[0.75, 0.25], [1 + 1e-12, -1e-12], [1.0, -1e-12]])
    display = EmbeddingDisplay.from_estimator(model, show_predictions=True)
    assert display.confidence.tolist() == [0.25, 1.0, 0.0]


def test_predictions_for_given_points(model, data):
    X = data[0][:20]
    display = EmbeddingDisplay.from_estimator(model, X, show_predictions=True)
    assert display.predictions.to_y().tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(display.confidence, model.predict_proba(X).max(axis=1))


def test_new_points_come_last_with_their_predictions(model, data):
    _, y, X_new = data
    display = EmbeddingDisplay.from_estimator(
        model, y=y, X_new=X_new, show_predictions=True, components=(0, 1)
    )
    assert display.is_new.tolist() == [False] * 60 + [True] * 6
    np.testing.assert_array_equal(display.embedding[:60], model.embedding_)
    np.testing.assert_array_equal(display.embedding[60:], model.embedder_.transform(X_new))
    assert display.labels.to_y().tolist() == [*y, *[None] * 6]
    assert display.predictions.to_y()[60:].tolist() == model.predict(X_new).tolist()
    np.testing.assert_allclose(display.confidence[60:], model.predict_proba(X_new).max(axis=1))
    with pytest.raises(ValueError, match="y has 66 entries but the embedding has 60 rows"):
        EmbeddingDisplay.from_estimator(model, y=["cat"] * 66, X_new=X_new)


def test_a_head_without_distributions_gives_no_confidence(data):
    X, y, X_new = data
    model = ManifoldClassifier(CCDR(2), head=RidgeClassifier()).fit(X, y)
    display = EmbeddingDisplay.from_estimator(model, X_new=X_new, show_predictions=True)
    assert display.confidence is None
    assert len(display.predictions) == 66


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.InfeasibleMapWarning")
def test_a_map_that_classifies_by_itself():
    X = np.random.default_rng(0).normal(size=(26, 2))
    y = [0, 1] * 5 + [-1] * 10
    model = IsometricSeparationMap(2, n_neighbors=3, max_iter=5, random_state=0).fit(X[:20], y)
    display = EmbeddingDisplay.from_estimator(model, y=y, X_new=X[20:], show_predictions=True)
    answers = [*model.transduction_, *model.predict(X[20:])]
    assert display.predictions.to_y().tolist() == answers
    assert display.confidence.shape == (26,)


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.DisconnectedGraphWarning")
def test_maps_within_other_estimators(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = ManifoldClassifier(CCDR(3)).fit(X, y)
    search = TransductiveSearchCV(ManifoldClassifier(CCDR(3)), {}).fit(X, y)
    labelfold.save(model, tmp_path / "model.skops", compact=True)
    compact = labelfold.load(tmp_path / "model.skops")
    for estimator in (search, compact):
        display = EmbeddingDisplay.from_estimator(estimator, y=y, components=(0, 1))
        np.testing.assert_allclose(display.embedding, model.embedding_, atol=1e-12)
    assert len(GraphDisplay.from_estimator(search, y=y).points_.embedding) == 150


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.DisconnectedGraphWarning")
@pytest.mark.parametrize(
    "classifier", [FewLabelClassifier(), LaplacianClassifier(), ManifoldClassifier(CCDR(3))]
)
def test_a_classifier_is_drawn_as_a_layout(data, classifier):
    pytest.importorskip("openTSNE")
    X, y, X_new = data
    model = classifier.fit(X, y)
    display = EmbeddingDisplay.from_estimator(model, y=y, X_new=X_new, show_predictions=True)
    expected = GraphLayout.of_classifier(model)
    np.testing.assert_array_equal(display.embedding[:60], expected.embedding_)
    assert display.is_layout
    assert not display.ax_.axison
    # Rows of the fit lie where they lay; new rows among their neighbors.
    again = EmbeddingDisplay.from_estimator(model, X, y)
    np.testing.assert_array_equal(again.embedding, expected.embedding_)
    low, high = expected.embedding_.min(axis=0), expected.embedding_.max(axis=0)
    assert ((display.embedding >= low) & (display.embedding <= high)).all()


def test_without_opentsne_a_classifier_is_drawn_in_the_plane_of_its_classes(monkeypatch):
    monkeypatch.setattr("labelfold.plotting.map_inputs.is_available", lambda: False)
    X, y = load_iris(return_X_y=True)
    model = ManifoldClassifier(CCDR(4)).fit(X, y)
    with pytest.warns(UserWarning, match="openTSNE.*is not installed"):
        display = EmbeddingDisplay.from_estimator(model, y=y)
    assert display.view.corners is not None


def test_estimators_that_cannot_be_drawn(data):
    X, y, X_new = data
    draw = EmbeddingDisplay.from_estimator
    with pytest.raises(TypeError):
        draw(SimpleNamespace(embedding_=X))
    with pytest.raises(ValueError, match=r"PCA keeps no embedding_.*pass X"):
        draw(PCA(2).fit(X))
    classifier = LaplacianClassifier().fit(X, y)
    for points in (None, X):
        with pytest.raises(ValueError, match=r"LaplacianClassifier has neither.*from_predictions"):
            draw(classifier, points, show_predictions=True, components=(0, 1))
    eigenmap = SpectralEmbedding(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X_new cannot be drawn, since SpectralEmbedding has no"):
        draw(eigenmap, X_new=X_new)
    ccdr = CCDR(2).fit(X, y)
    with pytest.raises(ValueError, match=r"CCDR has no transduction_: use a classifier such as"):
        draw(ccdr, show_predictions=True)
    with pytest.raises(ValueError, match=r"CCDR has no predict: use a classifier such as"):
        draw(ccdr, X, show_predictions=True)
