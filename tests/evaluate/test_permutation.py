import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold

from labelfold import CCDR, LaplacianEigenmaps, ManifoldClassifier, hide_labels
from labelfold.datasets import make_swiss_roll
from labelfold.evaluate import (
    LabeledKFold,
    PermutedLabelBaseline,
    TransductiveSearchCV,
    knn_error,
    permuted_label_baseline,
)


def test_random_labels_have_no_signal_although_the_embedding_separates_them():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1500, 5)), rng.permutation(np.arange(1500) % 10)
    model = ManifoldClassifier(CCDR(9, beta=0.05, eigen_solver="arpack"))
    assert (model.fit(X, y).head_.predict(model.embedding_) == y).all()
    baseline = permuted_label_baseline(model, X, y, cv=3, random_state=0)
    assert baseline.embedding_error < 0.01
    assert baseline.chance == 0.9
    assert abs(baseline.hidden_error - baseline.chance) < 0.02
    assert abs(baseline.permuted_hidden_errors.mean() - baseline.chance) < 0.02
    assert not baseline.has_signal
    assert str(baseline).startswith("No signal: error on hidden labels 9")


@pytest.fixture(scope="module")
def roll():
    X, truth, _ = make_swiss_roll(300, random_state=0)
    return X, hide_labels(truth, np.arange(200))


def test_true_labels_have_signal(roll):
    X, y = roll
    baseline = permuted_label_baseline(ManifoldClassifier(CCDR(5)), X, y, random_state=0)
    assert baseline.has_signal
    assert baseline.p_value == pytest.approx(1 / 21)
    assert str(baseline).startswith("Signal")
    assert baseline.permuted_hidden_errors.mean() == pytest.approx(0.5, abs=0.05)


def test_errors_of_the_given_labels_are_those_of_the_other_tools(roll):
    X, y = roll
    model = ManifoldClassifier(CCDR(3, beta=0.2))
    cv = LabeledKFold(4)
    baseline = permuted_label_baseline(model, X, y, cv=cv, n_permutations=1)
    search = TransductiveSearchCV(model, {}, cv=cv, refit=False).fit(X, y)
    assert baseline.hidden_error == pytest.approx(1 - search.best_score_)  # folds of equal size
    assert baseline.embedding_error == knn_error(model.fit(X, y).embedding_, y)


def test_p_value_counts_shuffles_that_do_as_well():
    errors = np.array([0.5, 0.3, 0.2, 0.4])
    baseline = PermutedLabelBaseline(0.0, 0.3, np.zeros(4), errors, chance=0.5)
    assert baseline.p_value == pytest.approx(3 / 5)
    assert not baseline.has_signal


@pytest.mark.parametrize("embedder", [CCDR(3), LaplacianEigenmaps(4), PCA(2)], ids=str)
def test_any_embedder_coding_and_number_of_jobs(roll, embedder):
    X, y = roll
    text = np.where(y == -1, None, np.array(["n", "y"], dtype=object)[y])
    one, two = (
        permuted_label_baseline(
            ManifoldClassifier(embedder, head="knn"),
            X,
            labels,
            cv=LabeledKFold(3, shuffle=True, random_state=np.random.RandomState(0)),
            n_permutations=3,
            random_state=0,
            n_jobs=n_jobs,
        )
        for labels, n_jobs in ((y, 1), (text, 2))
    )
    assert one.hidden_error == two.hidden_error
    np.testing.assert_array_equal(one.permuted_hidden_errors, two.permuted_hidden_errors)
    np.testing.assert_array_equal(one.permuted_embedding_errors, two.permuted_embedding_errors)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": StratifiedKFold(3)}, "holds out rows without a label"),
        ({"n_permutations": 0}, "n_permutations=0 must be an integer of at least 1"),
    ],
)
def test_bad_options(roll, options, message):
    with pytest.raises(ValueError, match=message):
        permuted_label_baseline(ManifoldClassifier(), *roll, **options)
