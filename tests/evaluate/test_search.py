from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading

import labelfold.graph.neighbor_graph as neighbor_graph
from labelfold import CCDR, LaplacianEigenmaps, ManifoldClassifier, hide_labels
from labelfold.datasets import make_swiss_roll
from labelfold.evaluate import LabeledKFold, TransductiveSearchCV, draw_labeled
from labelfold.labels import PartialLabels


@pytest.fixture(scope="module")
def roll():
    X, truth, _ = make_swiss_roll(400, random_state=0)
    return X, truth, hide_labels(truth, draw_labeled(truth, 120, random_state=0))


GRID = {
    "embedder__beta": [0.1, 1.0, 10.0],
    "embedder__n_components": [1, 3, 6],
    "head": ["linear", "knn", KNeighborsClassifier(5)],
}


def transductive_scores(model, X, y, n_splits):
    """What the search should compute, by its definition."""
    scores = []
    for _, test in LabeledKFold(n_splits).split(X, y):
        hidden = y.copy()
        hidden[test] = -1
        scores.append(np.mean(model.fit(X, hidden).transduction_[test] == y[test]))
    return scores


def test_scores_are_those_of_separate_fits(roll):
    X, _, y = roll
    search = TransductiveSearchCV(ManifoldClassifier(CCDR()), GRID, cv=3, refit=False).fit(X, y)
    results = search.cv_results_
    for number, parameters in enumerate(results["params"]):
        model = ManifoldClassifier(CCDR()).set_params(**parameters)
        found = [results[f"split{fold}_test_score"][number] for fold in range(3)]
        np.testing.assert_allclose(found, transductive_scores(model, X, y, 3))
    assert search.best_score_ == results["mean_test_score"].max()
    assert results["params"][search.best_index_] == search.best_params_
    assert results["param_head"][0] == "linear"


def test_folds_that_share_an_embedding_are_scored_each_on_its_own_rows(roll):
    X, _, y = roll
    model = ManifoldClassifier(LaplacianEigenmaps(5), head="knn")
    search = TransductiveSearchCV(model, {}, cv=3, refit=False).fit(X, y)
    assert search.n_fits_ == 1
    found = [search.cv_results_[f"split{fold}_test_score"][0] for fold in range(3)]
    np.testing.assert_allclose(found, transductive_scores(model, X, y, 3))


def test_graph_and_embeddings_are_shared(roll, monkeypatch):
    X, _, y = roll
    n_searches = 0
    make_index = neighbor_graph.make_index

    def counting(*arguments, **options):
        nonlocal n_searches
        n_searches += 1
        return make_index(*arguments, **options)

    monkeypatch.setattr(neighbor_graph, "make_index", counting)
    search = TransductiveSearchCV(ManifoldClassifier(CCDR()), GRID, cv=3).fit(X, y)
    assert (n_searches, search.n_graphs_) == (1, 1)
    assert search.n_fits_ == 9  # 3 folds of 3 betas; dimensions and heads share

    two_graphs = {"embedder__n_neighbors": [8, 12], "head": ["linear", "knn"]}
    plain = TransductiveSearchCV(ManifoldClassifier(LaplacianEigenmaps(4)), two_graphs, cv=3)
    plain.fit(X, y)
    assert (plain.n_graphs_, plain.n_fits_) == (
        2,
        2,
    )  # folds share what sees no labels
    assert n_searches == 3


@pytest.mark.parametrize("metric", ["euclidean", "a function"])
def test_choice_does_not_depend_on_n_jobs(roll, metric):
    X, _, y = roll
    if metric != "euclidean":
        X, y = X[:150], y[:150]
        metric = lambda a, b: np.abs(a - b).max()  # noqa: E731 - cannot be pickled
    model = ManifoldClassifier(CCDR(n_neighbors=9, metric=metric))
    grid = {"embedder__beta": [0.1, 1.0, 10.0], "embedder__n_components": [2, 5]}
    searches = [TransductiveSearchCV(model, grid, cv=3, n_jobs=n).fit(X, y) for n in (1, 2)]
    assert searches[0].best_params_ == searches[1].best_params_
    np.testing.assert_array_equal(*(s.cv_results_["mean_test_score"] for s in searches))
    np.testing.assert_array_equal(*(s.transduction_ for s in searches))


def test_held_out_labels_are_out_of_sight(roll):
    # A cheat that reads y where it can would be perfect if any fold leaked.
    X, truth, y = roll

    class Parrot(LogisticRegression):
        def fit(self, X, y):
            labels = PartialLabels.from_y(y)
            self.classes_ = labels.classes
            self.transduction_ = np.where(labels.mask, labels.codes, 0)
            return self

    search = TransductiveSearchCV(Parrot(), {}, refit=False).fit(X, y)
    assert search.best_score_ == pytest.approx(np.mean(truth[y != -1] == 0))


def test_refit_uses_all_labels_and_forwards(roll):
    X, _, y = roll
    search = TransductiveSearchCV(ManifoldClassifier(CCDR()), GRID, cv=3).fit(X, y)
    alone = ManifoldClassifier(CCDR()).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.transduction_, alone.transduction_)
    np.testing.assert_array_equal(search.label_distributions_, alone.label_distributions_)
    np.testing.assert_array_equal(search.predict(X + 0.1), alone.predict(X + 0.1))
    np.testing.assert_array_equal(search.predict_proba(X + 0.1), alone.predict_proba(X + 0.1))
    assert search.score(X, y) == alone.score(X, y)
    assert search.n_features_in_ == 3
    without = TransductiveSearchCV(ManifoldClassifier(CCDR()), {}, cv=3, refit=False).fit(X, y)
    assert not hasattr(without, "predict")
    assert without.cv_results_["params"] == [{}]


def test_scorers_of_scikit_learn(roll):
    X, _, y = roll
    model = ManifoldClassifier(CCDR(5))
    [(_, test), *_] = LabeledKFold(3).split(X, y)
    hidden = y.copy()
    hidden[test] = -1
    fitted = model.fit(X, hidden)
    answers, distributions = fitted.transduction_[test], fitted.label_distributions_[test]
    for scoring, expected in [
        ("balanced_accuracy", balanced_accuracy_score(y[test], answers)),
        ("neg_log_loss", -log_loss(y[test], distributions, labels=[0, 1])),
    ]:
        search = TransductiveSearchCV(model, {}, cv=3, scoring=scoring).fit(X, y)
        assert search.cv_results_["split0_test_score"][0] == pytest.approx(expected)
        assert np.isfinite(search.score(X, y))


def test_other_estimators_and_embedders(roll):
    X, _, y = roll
    spreading = TransductiveSearchCV(LabelSpreading("knn"), {"n_neighbors": [3, 7]}, cv=3)
    assert spreading.fit(X, y).best_score_ > 0.8
    assert spreading.n_graphs_ == 0
    pca = TransductiveSearchCV(ManifoldClassifier(PCA(), head="knn"), {}, cv=3).fit(X, y)
    np.testing.assert_allclose(
        pca.best_score_,
        np.mean(transductive_scores(ManifoldClassifier(PCA(), head="knn"), X, y, 3)),
    )
    mixed = {"embedder": [CCDR(3), PCA(2), None], "head": ["linear", "knn"]}
    assert TransductiveSearchCV(ManifoldClassifier(), mixed, cv=3).fit(X, y).n_fits_ == 9


def test_ties_go_to_the_first():
    X, y = load_digits(return_X_y=True)
    grid = {"embedder__random_state": [4, 1, 2]}
    search = TransductiveSearchCV(ManifoldClassifier(CCDR(9)), grid, cv=2, refit=False)
    assert search.fit(X[:200], y[:200]).best_index_ == 0


def test_a_candidate_without_a_score_ranks_last(roll):
    X, _, y = roll

    def accuracy_unless_wide(answers, rows, truth):
        wide = answers.model.embedding_.shape[1] == 5
        return np.nan if wide else np.mean(answers.predict(rows) == truth)

    grid = {"embedder__n_components": [5, 2, 6]}
    search = TransductiveSearchCV(
        ManifoldClassifier(CCDR()), grid, cv=3, scoring=accuracy_unless_wide, refit=False
    )
    with pytest.warns(UserWarning, match="1 of 3 candidates have no score"):
        search.fit(X, y)
    assert search.cv_results_["rank_test_score"][0] == 3
    assert np.isfinite(search.best_score_)
    search.set_params(param_grid={"embedder__n_components": [5]})
    with pytest.raises(ValueError, match="No candidate has a score"):
        search.fit(X, y)


def decay(distances, scales, power):
    return np.exp(-((distances / np.sqrt(scales)) ** power))


def test_callable_objects_as_parameters(roll):
    X, _, y = roll
    model = ManifoldClassifier(CCDR(3, weights=partial(decay, power=1.5)))
    search = TransductiveSearchCV(model, {"embedder__beta": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.n_graphs_ == 1
    both = {"embedder__weights": [partial(decay, power=p) for p in (1.0, 2.0)]}
    assert TransductiveSearchCV(model, both, cv=3, refit=False).fit(X, y).n_graphs_ == 2


def test_splits_as_a_list_or_none(roll):
    X, _, y = roll
    model = ManifoldClassifier(CCDR(3))
    folds = list(LabeledKFold(5).split(X, y))
    scores = [
        TransductiveSearchCV(model, {}, cv=cv, refit=False).fit(X, y).best_score_
        for cv in (folds, None, 5)
    ]
    assert scores[0] == scores[1] == scores[2]


def test_a_fold_that_leaves_one_class_to_label_spreading(roll):
    X, _, _ = roll
    y = np.full(len(X), -1)
    y[:6] = [0, 1, 1, 1, 1, 1]
    search = TransductiveSearchCV(LabelSpreading("knn"), {}, cv=2, refit=False)
    with pytest.warns(UserWarning, match="least populated class"):
        assert np.isfinite(search.fit(X, y).best_score_)


def test_a_second_fit_leaves_nothing_of_the_first(roll):
    X, _, y = roll
    search = TransductiveSearchCV(ManifoldClassifier(CCDR(3)), {}, cv=3).fit(X, y)
    search.set_params(refit=False).fit(X[:300], y[:300])
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "transduction_")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cv": StratifiedKFold(3)}, "holds out rows without a label in fold 0"),
        ({"estimator": LogisticRegression()}, "LogisticRegression has no transduction_ after fit"),
        ({"scoring": ["accuracy"]}, r"scoring=\['accuracy'\] must be one scorer"),
        ({"param_grid": {"embedder__n_components": [2, 900]}}, "=900 needs more than 900 rows"),
        ({"param_grid": {"embedder__n_components": [2, "3"]}}, "n_components='3' must be an int"),
        ({"param_grid": {"embedder__n_components": [2, 0]}}, "n_components=0 must be an integer"),
        ({"param_grid": {"embedder__n_components": [2, 2.0]}}, "n_components=2.0 must be an int"),
    ],
)
def test_bad_arguments(roll, arguments, message):
    X, _, y = roll
    given = {"estimator": ManifoldClassifier(CCDR()), "param_grid": {}, "cv": 3, **arguments}
    with pytest.raises(ValueError, match=message):
        TransductiveSearchCV(**given).fit(X, y)


def test_rows_and_labels_must_agree(roll):
    X, _, y = roll
    search = TransductiveSearchCV(ManifoldClassifier(CCDR(3)), {}, cv=3)
    for refuse in (search.fit, search.fit(X, y).score):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            refuse(X, y[:-1])
