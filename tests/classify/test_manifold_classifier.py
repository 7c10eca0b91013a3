import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import FeatureAgglomeration
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.manifold import TSNE, Isomap, SpectralEmbedding
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelfold import (
    CCDR,
    LaplacianEigenmaps,
    LeastSquaresClassifier,
    ManifoldClassifier,
    MarginalFisherAnalysis,
    NeighborGraph,
    SupervisedLLE,
    hide_labels,
)
from labelfold.exceptions import GraphMismatchError
from labelfold.methods import Declaration

pytestmark = pytest.mark.filterwarnings(
    "ignore::labelfold.exceptions.DisconnectedGraphWarning",
    "ignore::labelfold.exceptions.FewNeighborsWarning",
)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    keep = np.arange(0, 150, 5)
    return X, y, keep, hide_labels(y, keep)


def test_it_is_the_embedder_followed_by_the_head(iris):
    X, _, keep, y = iris
    model = ManifoldClassifier.as_published(embedder=CCDR(4, beta=0.3)).fit(X, y)
    embedding = CCDR(4, beta=0.3).fit(X, y).embedding_
    head = LeastSquaresClassifier().fit(embedding[keep], y[keep])
    unlabeled = y == -1
    np.testing.assert_array_equal(model.embedding_, embedding)
    np.testing.assert_array_equal(
        model.transduction_[unlabeled], head.predict(embedding)[unlabeled]
    )
    np.testing.assert_array_equal(model.label_distributions_, head.predict_proba(embedding))
    new = X[:7] + 0.01
    coordinates = model.embedder_.transform(new)
    np.testing.assert_array_equal(model.predict(new), head.predict(coordinates))
    np.testing.assert_array_equal(model.predict_proba(new), head.predict_proba(coordinates))


def test_ridge_is_fitted_where_rows_would_lie_without_their_label(iris):
    X, _, keep, y = iris
    model = ManifoldClassifier(CCDR(4, beta=0.3)).fit(X, y)
    embedder = CCDR(4, beta=0.3).fit(X, y)
    head = LeastSquaresClassifier(penalty="auto", roughness=embedder.eigenvalues_**2)
    head.fit(embedder.coordinates_without_label(keep), y[keep])
    np.testing.assert_array_equal(model.label_distributions_, head.predict_proba(model.embedding_))
    other = make_pipeline(StandardScaler(with_mean=False, with_std=False), CCDR(4, beta=0.3))
    other = ManifoldClassifier(other).fit(X, y)
    np.testing.assert_array_equal(other.label_distributions_, model.label_distributions_)
    plain = ManifoldClassifier(PCA(2)).fit(X, y)
    head = LeastSquaresClassifier(penalty="auto").fit(plain.embedding_[keep], y[keep])
    np.testing.assert_array_equal(plain.label_distributions_, head.predict_proba(plain.embedding_))


def test_given_labels_are_kept_and_the_head_may_disagree(iris):
    X, truth, _, _ = iris
    y = hide_labels(truth, np.arange(150) % 2 == 0)
    y[10] = 2  # an obvious mistake: the flower is a setosa among setosas
    model = ManifoldClassifier(LaplacianEigenmaps(3), head=KNeighborsClassifier(5)).fit(X, y)
    assert model.transduction_[10] == 2
    assert model.classes_[model.label_distributions_[10].argmax()] == 0


EMBEDDERS = [
    None,
    CCDR(3),
    LaplacianEigenmaps(3),
    MarginalFisherAnalysis(2),
    SupervisedLLE(3, alpha=0.05),
    PCA(2),
    Isomap(n_neighbors=10),
    FeatureAgglomeration(2),
    LinearDiscriminantAnalysis(n_components=2),
    SelectKBest(k=2),
    make_pipeline(StandardScaler(), CCDR(3)),
    make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
]


@pytest.mark.parametrize("embedder", EMBEDDERS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "head", ["ridge", "linear", "knn", LogisticRegression(), RidgeClassifier()], ids=str
)
def test_every_embedder_with_every_head(iris, embedder, head):
    X, truth, keep, y = iris
    model = ManifoldClassifier(embedder, head=head).fit(X, y)
    hidden = np.setdiff1d(np.arange(150), keep)
    assert np.mean(model.transduction_[hidden] == truth[hidden]) > 0.65
    assert model.score(X, truth) > 0.65
    assert hasattr(model, "predict_proba") == hasattr(model, "label_distributions_")
    assert hasattr(model, "predict_proba") != isinstance(head, RidgeClassifier)


def test_a_supervised_transformer_sees_labeled_rows_only(iris):
    # With -1 as a fourth class the discriminants would be others.
    X, truth, keep, y = iris
    model = ManifoldClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    reference = LinearDiscriminantAnalysis().fit(X[keep], truth[keep])
    np.testing.assert_allclose(model.embedding_, reference.transform(X))


def test_an_unsupervised_transformer_sees_no_labels(iris):
    class Spy(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.y_ = y
            return self

        def transform(self, X):
            return np.asarray(X)

    class PartialSpy(Spy):
        declaration = Declaration("", "a spy", labels="uses", produces="embedding")

    X, _, _, y = iris
    assert ManifoldClassifier(Spy()).fit(X, y).embedder_.y_ is None
    np.testing.assert_array_equal(ManifoldClassifier(PartialSpy()).fit(X, y).embedder_.y_, y)


def test_every_step_of_a_pipeline_gets_the_labels_it_understands(iris):
    X, truth, keep, y = iris
    pipeline = make_pipeline(SelectKBest(k=2), StandardScaler(), CCDR(3, n_neighbors=9))
    selected = SelectKBest(k=2).fit(X[keep], truth[keep]).transform(X)
    scaled = StandardScaler().fit_transform(selected)
    graph = NeighborGraph.build(scaled, n_neighbors=9)
    model = ManifoldClassifier(pipeline).fit(X, y, graph=graph)
    reference = CCDR(3, n_neighbors=9).fit(scaled, y, graph=graph)
    np.testing.assert_array_equal(model.embedding_, reference.embedding_)
    np.testing.assert_allclose(model.embedder_.transform(X), reference.transform(scaled))
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("embedder", [TSNE(perplexity=10), SpectralEmbedding()], ids=str)
def test_without_transform_there_is_no_predict(iris, embedder):
    X, truth, keep, y = iris
    model = ManifoldClassifier(embedder, head="knn")
    for fitted in (model, model.fit(X, y)):
        for name in ("predict", "predict_proba", "score"):
            assert not hasattr(fitted, name)
    hidden = np.setdiff1d(np.arange(150), keep)
    assert np.mean(model.transduction_[hidden] == truth[hidden]) > 0.8


def test_graph_is_handed_on(iris):
    X, _, _, y = iris
    graph = NeighborGraph.build(X, n_neighbors=9)
    model = ManifoldClassifier(CCDR(2, n_neighbors=9))
    shared = model.fit(X, y, graph=graph)
    assert shared.embedder_.graph_.index is graph.index
    np.testing.assert_array_equal(shared.embedding_, CCDR(2, n_neighbors=9).fit(X, y).embedding_)
    with pytest.raises(GraphMismatchError, match="n_neighbors=9 here"):
        ManifoldClassifier(CCDR(2, n_neighbors=8)).fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="graph was given, but PCA takes none"):
        ManifoldClassifier(PCA(2)).fit(X, y, graph=graph)


def test_fit_head_on_a_given_embedding(iris):
    X, _, _, y = iris
    embedder = CCDR(5).fit(X, y)
    fitted = ManifoldClassifier(CCDR(5), head="knn").fit(X, y)
    coordinates = embedder.embedding_
    for given in (coordinates, coordinates.tolist(), pd.DataFrame(coordinates)):
        made = ManifoldClassifier(head="knn").fit_head(embedder, given, y)
        np.testing.assert_array_equal(made.transduction_, fitted.transduction_)
        np.testing.assert_array_equal(made.predict(X + 0.01), fitted.predict(X + 0.01))


def test_scores_are_the_heads(iris):
    X, _, _, y = iris
    for head in ("linear", RidgeClassifier()):
        model = ManifoldClassifier(CCDR(3), head=head)
        assert hasattr(model, "decision_function")
        model.fit(X, y)
        coordinates = model.embedder_.transform(X)
        np.testing.assert_array_equal(
            model.decision_function(X), model.head_.decision_function(coordinates)
        )
    assert not hasattr(ManifoldClassifier(head="knn"), "decision_function")


def test_an_ensemble_as_embedder(iris):
    X, truth, _, y = iris
    model = ManifoldClassifier(RandomTreesEmbedding(10, random_state=0), head="knn").fit(X, y)
    assert model.score(X, truth) > 0.8


def test_frames_give_the_same_answer(iris):
    X, _, _, y = iris
    reference = ManifoldClassifier(CCDR(3)).fit(X, y)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    framed = ManifoldClassifier(CCDR(3).set_output(transform="pandas")).fit(frame, y)
    assert list(framed.feature_names_in_) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(framed.predict(frame + 0.01), reference.predict(X + 0.01))


def test_dimension_for_least_squares_grows_with_labels():
    rng = np.random.default_rng(0)
    X, truth = rng.standard_normal((400, 5)), np.arange(400) % 4
    for n_labeled, dimension in [(4, 5), (20, 5), (35, 7), (400, 8)]:
        y = hide_labels(truth, np.arange(n_labeled))
        assert ManifoldClassifier.as_published().fit(X, y).embedding_.shape[1] == dimension
        assert ManifoldClassifier().fit(X, y).embedding_.shape[1] == 12


def test_smallest_input():
    model = ManifoldClassifier().fit([[0.0], [1.0]], ["a", None])
    np.testing.assert_array_equal(model.transduction_, ["a", "a"])
    two = ManifoldClassifier(head="knn").fit([[0.0], [1.0], [9.0]], ["a", None, "b"])
    assert np.isfinite(two.embedding_).all()


def test_parameters_are_left_alone(iris):
    X, _, _, y = iris
    embedder, head = CCDR(3), KNeighborsClassifier()
    ManifoldClassifier(embedder, head=head).fit(X, y)
    assert not hasattr(embedder, "embedding_")
    assert not hasattr(head, "classes_")


@pytest.mark.parametrize(
    ("changes", "y", "message"),
    [
        ({}, np.zeros(149), "inconsistent numbers of samples"),
        ({"head": "svm"}, np.zeros(150), "head='svm' is not a classifier"),
        ({"embedder": LogisticRegression()}, np.zeros(150), "is not a transformer: give an"),
        ({"embedder": "pca"}, np.zeros(150), "embedder='pca' is not a transformer"),
    ],
)
def test_bad_input(iris, changes, y, message):
    with pytest.raises(ValueError, match=message):
        ManifoldClassifier().set_params(**changes).fit(iris[0], y)
