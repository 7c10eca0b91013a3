"""Comparison of embedders: scores by hand, labels out of sight, what cannot be done is reported."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import MDS, TSNE, LocallyLinearEmbedding, SpectralEmbedding
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from labelfold import (
    CCDR,
    FewLabelClassifier,
    LabeledKFold,
    LaplacianClassifier,
    LaplacianEigenmaps,
    ManifoldClassifier,
    hide_labels,
)
from labelfold.evaluate import Comparison, FitRecord, compare, student_interval, wilson_interval
from labelfold.methods import Declaration
from labelfold.plotting.comparison_display import ComparisonDisplay


@pytest.fixture(scope="module")
def blobs():
    """Three overlapping classes in six dimensions, a third of the rows labeled."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, size=120)
    X = rng.normal(size=(120, 6))
    X[:, :3] += 1.5 * np.eye(3)[truth]
    return X, truth, hide_labels(truth, keep=range(40))


class Stub(TransformerMixin, BaseEstimator):
    """The first columns of X; remembers what it was shown."""

    declaration = Declaration("", "a stub", labels="uses", produces="embedding")

    def __init__(self, n_components=2, seen=None):
        self.n_components = n_components
        self.seen = seen

    def __sklearn_clone__(self):
        return type(self)(self.n_components, self.seen)  # the list is shared

    def fit(self, X, y=None):
        if self.seen is not None:
            self.seen.append((X, y))
        return self

    def transform(self, X):
        return np.asarray(X)[:, : self.n_components]


class Stumbling(Stub):
    """Fails for some labels."""

    def fit(self, X, y=None):
        if y[0] == -1:
            raise RuntimeError("row 0 is needed\nsecond line")
        return self


class Narrow(Stub):
    """Gives one coordinate, whatever was asked."""

    def transform(self, X):
        return np.asarray(X)[:, :1]


def errors(comparison):
    return [record.error for record in comparison.records]


def test_one_record_for_every_method_dimension_and_split(blobs):
    X, _, y = blobs
    result = compare(X, y, {"b": PCA(), "a": CCDR()}, dims=(3, 1), cv=2, random_state=0)
    keys = [(r.method, r.dimension, r.split) for r in result.records]
    assert keys == [(m, d, s) for m in ("b", "a") for d in (3, 1) for s in (0, 1)]
    assert [(r.method, r.dimension) for r in result.summary()] == list(
        dict.fromkeys(k[:2] for k in keys)
    )
    assert {r.status for r in result.records} == {"ok"}
    assert sum(r.n_scored for r in result.records[:2]) == 40
    assert all(r.seconds > 0 for r in result.records)
    assert (result.protocol, result.head) == ("transductive", "knn")
    assert result.chance == 1 - np.bincount(y[:40]).max() / 40


@pytest.mark.parametrize("head", ["knn", "linear", LogisticRegression()])
def test_transductive_scores_by_hand(blobs, head):
    X, _, y = blobs
    folds = LabeledKFold(4)
    methods = {"CCDR": CCDR(), "PCA": PCA(), "eigenmaps": LaplacianEigenmaps()}
    result = compare(X, y, methods, head=head, dims=[3], cv=folds)
    expected = []
    for method in (CCDR(3), PCA(3), LaplacianEigenmaps(3)):
        for _, test in folds.split(X, y):
            hidden = hide_labels(y, np.setdiff1d(np.arange(40), test))
            model = ManifoldClassifier(method, head=head).fit(X, hidden)
            expected.append(np.mean(model.transduction_[test] != y[test]))
    np.testing.assert_allclose(errors(result), expected)


def test_inductive_scores_are_those_of_cross_validation(blobs):
    X, _, y = blobs
    folds = LabeledKFold(4)
    methods = {"CCDR": CCDR(), "PCA": PCA(), "LDA": LinearDiscriminantAnalysis()}
    result = compare(X, y, methods, protocol="inductive", cv=folds)
    expected = [
        cross_val_score(ManifoldClassifier(method, head="knn"), X, y, cv=folds)
        for method in (CCDR(2), PCA(2), LinearDiscriminantAnalysis(n_components=2))
    ]
    np.testing.assert_allclose(errors(result), 1 - np.ravel(expected))


@pytest.mark.parametrize("protocol", ["transductive", "inductive"])
def test_classifiers_without_an_embedding_are_scored_once_per_split(blobs, protocol):
    X, _, y = blobs
    folds = LabeledKFold(4)
    methods = {"auto": "auto", "laplacian": LaplacianClassifier(), "PCA": PCA()}
    result = compare(X, y, methods, dims=(1, 2), protocol=protocol, cv=folds)
    keys = [("auto", None), ("laplacian", None), ("PCA", 1), ("PCA", 2)]
    assert [(row.method, row.dimension) for row in result.summary()] == keys
    expected = []
    for model in (FewLabelClassifier(), LaplacianClassifier()):
        for train, test in folds.split(X, y):
            hidden = hide_labels(y, np.setdiff1d(np.arange(40), test))
            if protocol == "inductive":
                predicted = model.fit(X[train], hidden[train]).predict(X[test])
            else:
                predicted = model.fit(X, hidden).transduction_[test]
            expected.append(np.mean(predicted != y[test]))
    np.testing.assert_allclose(errors(result)[:8], expected)
    assert [line.split()[:2] for line in str(result).splitlines()[2:4]] == [
        ["auto", "-"],
        ["laplacian", "-"],
    ]


def test_classifiers_without_an_embedding_are_level_lines_and_bars(blobs):
    X, _, y = blobs
    result = compare(X, y, ["auto", "pca"], dims=(1, 2), cv=2, random_state=0)
    display = ComparisonDisplay.from_comparison(result, ax=Figure().subplots())
    assert display.dims == [1, 2]
    assert display.errors[0].tolist() == [result.summary()[0].error] * 2
    alone = compare(X, y, ["auto"], cv=2, random_state=0)
    bars = ComparisonDisplay.from_comparison(alone, ax=Figure().subplots())
    assert (bars.dims, bars.errors.shape, bars.ax_.get_title()) == ([], (1, 1), "")


@pytest.mark.parametrize("protocol", ["transductive", "inductive"])
def test_held_out_labels_are_out_of_sight(blobs, protocol):
    X, _, y = blobs
    seen = []
    folds = LabeledKFold(4)
    result = compare(X, y, {"stub": Stub(seen=seen)}, protocol=protocol, cv=folds)
    assert {r.status for r in result.records} == {"ok"}
    for (rows, shown), (train, test) in zip(seen, folds.split(X, y), strict=True):
        expected = hide_labels(y, np.setdiff1d(np.arange(40), test))
        if protocol == "inductive":
            np.testing.assert_array_equal(rows, X[train])
            expected = expected[train]
        else:
            np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(shown, expected)


def test_labels_reach_only_methods_that_take_them(blobs):
    X, _, y = blobs
    shown = []

    class Blind(Stub):
        declaration = None

        def fit(self, X, y=None):
            shown.append(y)
            return self

    class Complete(Blind):
        def fit(self, X, y):
            shown.append(y)
            assert len(X) == len(y) == 20
            return self

        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.target_tags.required = True
            return tags

    result = compare(X, y, {"blind": Blind(), "complete": Complete()}, cv=2)
    assert {r.status for r in result.records} == {"ok"}
    assert shown[:2] == [None, None]
    assert all(set(np.unique(y)) == {0, 1, 2} for y in shown[2:])


@pytest.mark.parametrize("protocol", ["transductive", "inductive"])
def test_any_form_of_rows_and_labels_gives_the_same(blobs, protocol):
    X, _, y = blobs
    methods = {"CCDR": CCDR(), "LDA": LinearDiscriminantAnalysis()}
    names, numbers = (np.array([*v, None], dtype=object)[y] for v in ("abc", (5, 7, 9)))
    one = errors(compare(X, y, methods, cv=2, protocol=protocol, random_state=0))
    for labels in (np.where(y < 0, np.nan, y), names, pd.Series(numbers).astype("Int64")):
        assert errors(compare(X, labels, methods, cv=2, protocol=protocol, random_state=0)) == one
    del methods["LDA"]  # takes no sparse rows
    for rows in (sp.csr_array(X), pd.DataFrame(X, columns=list("abcdef"))):
        found = errors(compare(rows, y, methods, cv=2, protocol=protocol, random_state=0))
        assert found == one[:2]


def test_two_classes_of_which_a_fold_holds_all_of_one(blobs):
    X, truth, _ = blobs
    y = hide_labels(np.minimum(truth, 1), keep=range(20))
    zeros = np.flatnonzero(y == 0)
    rest = np.setdiff1d(np.arange(20), zeros)
    for protocol in ("transductive", "inductive"):
        result = compare(X, y, {"CCDR": CCDR()}, cv=[(rest, zeros)], protocol=protocol)
        assert [(r.status, r.error) for r in result.records] == [("ok", 1.0)]


def test_kernel_matrices_are_split_in_both_directions(blobs):
    X, _, y = blobs
    options = {"cv": 3, "protocol": "inductive", "random_state": 0}
    given = compare(linear_kernel(X), y, {"k": KernelPCA(kernel="precomputed")}, **options)
    computed = compare(X, y, {"k": KernelPCA(kernel="linear")}, **options)
    assert {r.status for r in given.records} == {"ok"}
    assert errors(given) == errors(computed)


def test_pipelines_take_the_dimension_in_their_last_step(blobs):
    X, _, y = blobs
    pipeline = make_pipeline(StandardScaler(), PCA())
    result = compare(X, y, {"pipeline": pipeline}, dims=(1, 4), cv=2, random_state=0)
    scaled = compare(
        StandardScaler().fit_transform(X), y, {"PCA": PCA()}, dims=(1, 4), cv=2, random_state=0
    )
    assert errors(result) == errors(scaled)


def test_what_cannot_be_done_is_reported(blobs):
    X, _, y = blobs
    methods = {
        "LDA": LinearDiscriminantAnalysis(),
        "Hessian": LocallyLinearEmbedding(method="hessian", n_neighbors=6, eigen_solver="dense"),
        "scaler": StandardScaler(),
        "narrow": Narrow(),
        "PCA": PCA(),
    }
    result = compare(X, y, methods, dims=(2, 3, 7), cv=2, random_state=0)
    found = {(row.method, row.dimension): row for row in result.summary()}
    assert found["LDA", 2].status == found["Hessian", 2].status == found["PCA", 3].status == "ok"
    assert found["LDA", 3].status == "failed"
    assert found["LDA", 3].reason.startswith("ValueError: n_components cannot be larger than")
    assert found["Hessian", 3].reason.startswith("ValueError: for method='hessian'")
    assert found["PCA", 7].status == "failed"
    assert found["scaler", 2].status == "unsuitable"
    assert "StandardScaler has no n_components" in found["scaler", 2].reason
    assert found["narrow", 2].reason == "Narrow gave 1 coordinates and not 2."
    for row in result.summary():
        if row.status != "ok":
            assert row.n_splits == 0
            assert np.isnan([row.error, row.low, row.high, row.seconds]).all()


def test_embedders_without_transform(blobs):
    X, _, y = blobs
    methods = {
        "MDS": MDS(n_init=1, max_iter=20),
        "spectral": SpectralEmbedding(),
        "t-SNE": TSNE(perplexity=10, max_iter=250, init="random"),
    }
    options = {"cv": 2, "random_state": 0}
    everywhere = compare(X, y, methods, **options)
    assert {row.status for row in everywhere.summary()} == {"ok"}
    nowhere = compare(X, y, methods, protocol="inductive", **options)
    assert {row.status for row in nowhere.summary()} == {"unsuitable"}
    assert "TSNE has no transform for new rows" in nowhere.summary()[2].reason


def test_a_method_that_fails_on_some_splits(blobs):
    X, _, y = blobs
    result = compare(X, y, {"it": Stumbling()}, cv=LabeledKFold(4))
    [row] = result.summary()
    assert (row.status, row.n_splits) == ("partly", 3)
    assert row.reason == "RuntimeError: row 0 is needed"
    known = [r.error for r in result.records if r.status == "ok"]
    assert row.error == pytest.approx(np.mean(known))
    assert "3 splits only: RuntimeError: row 0 is needed" in str(result)


def test_intervals_are_students_over_splits_and_wilsons_of_one(blobs):
    X, _, y = blobs
    result = compare(X, y, {"PCA": PCA()}, cv=LabeledKFold(4))
    [row] = result.summary()
    found = errors(result)
    np.testing.assert_allclose([row.low, row.high], student_interval(found))
    assert row.error == pytest.approx(np.mean(found))
    once = compare(X, y, {"PCA": PCA()}, cv=list(LabeledKFold(4).split(X, y))[:1])
    [row], n_scored = once.summary(), once.records[0].n_scored
    np.testing.assert_allclose([row.low, row.high], wilson_interval(row.error, n_scored))


def test_intervals_stay_within_0_and_1():
    records = [FitRecord("a", 2, s, "ok", e, 10, 1.0, np.nan) for s, e in enumerate([0.0, 0.9])]
    [row] = Comparison(tuple(records), "transductive", "knn", 0.5).summary()
    assert (row.low, row.high) == (0.0, 1.0)


def test_random_state_fixes_folds_methods_and_head(blobs):
    X, _, y = blobs
    tsne = TSNE(perplexity=10, max_iter=250, init="random")
    head = LogisticRegression(solver="saga", max_iter=3)
    methods = {"t-SNE": tsne, "pipeline": make_pipeline(GaussianRandomProjection())}
    options = {"head": head, "cv": 2}
    first, second = (compare(X, y, methods, random_state=3, **options) for _ in range(2))
    assert errors(first) == errors(second)
    in_processes = compare(X, y, methods, random_state=3, n_jobs=2, **options)
    assert errors(first) == errors(in_processes)
    assert errors(first) != errors(compare(X, y, methods, random_state=4, **options))
    assert tsne.random_state is head.random_state is None
    assert not hasattr(tsne, "embedding_")


def test_default_methods(blobs):
    X, _, y = blobs
    result = compare(X, y, cv=2, random_state=0)
    assert {row.status for row in result.summary()} == {"ok"}
    names = [row.method for row in result.summary()]
    declared = ["ccdr", "eigenmaps", "mfa", "lle", "auto", "laplacian"]
    assert names == [*declared, "pca", "lda", "isomap", "locally-linear"]


def test_table_and_frame(blobs, monkeypatch):
    X, _, y = blobs
    methods = {"PCA": PCA(), "LDA": LinearDiscriminantAnalysis()}
    result = compare(X, y, methods, dims=(2, 3), cv=2, random_state=0)
    heading, columns, *lines = str(result).splitlines()
    assert "transductive, head knn" in heading
    assert f"by guessing {result.chance:.1%}" in heading
    assert columns.split() == ["method", "dim", "error", "interval", "seconds"]
    assert [line.split()[:2] for line in lines] == [
        ["PCA", "2"],
        ["PCA", "3"],
        ["LDA", "2"],
        ["LDA", "3"],
    ]
    assert lines[0].split()[2] == f"{result.summary()[0].error:.1%}"
    assert lines[3].startswith("LDA       3  failed: ValueError: n_components")
    assert len(repr(result)) < 200

    frame = result.to_frame()
    assert frame.shape == (8, 8)
    assert frame["error"].tolist()[:6] == errors(result)[:6]
    assert frame.groupby(["method", "dimension"])["error"].mean()["PCA", 2] == pytest.approx(
        result.summary()[0].error
    )
    assert pd.DataFrame(result.summary())["method"].tolist() == ["PCA", "PCA", "LDA", "LDA"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"labelfold\[app\]"):
        result.to_frame()


def test_lines_and_intervals_in_the_picture(blobs):
    X, _, y = blobs
    result = compare(X, y, {"PCA": PCA(), "CCDR": CCDR()}, dims=(5, 2), cv=2, random_state=0)
    bars = result.plot(Figure().subplots()).errorbars_["CCDR"]
    rows = [r for d in (2, 5) for r in result.summary() if (r.method, r.dimension) == ("CCDR", d)]
    np.testing.assert_allclose(bars.lines[0].get_ydata(), [row.error for row in rows])
    ends = [segment[:, 1] for segment in bars.lines[2][0].get_segments()]
    np.testing.assert_allclose(ends, [[row.low, row.high] for row in rows])


def test_the_picture_needs_an_interval_for_every_error():
    with pytest.raises(ValueError, match=r"lows has shape \(2,\), not \(1, 2\)"):
        ComparisonDisplay(["a"], [1, 2], [[0, 0]], [0, 0], [[0, 0]])


def test_progress_on_stderr(blobs, capsys):
    X, _, y = blobs
    compare(X, y, {"PCA": PCA()}, cv=2, verbose=1)
    output = capsys.readouterr()
    assert output.out == ""
    assert "fits" in output.err


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"methods": [PCA()]}, TypeError, r"The name PCA\(\) of a method must be text"),
        ({"methods": {}}, TypeError, "must be a list of short names"),
        ({"methods": "pca"}, TypeError, "must be a list of short names"),
        ({"methods": ["pca", "umap"]}, ValueError, "Method 'umap' is unknown"),
        ({"methods": {1: PCA()}}, TypeError, "The name 1 of a method must be text"),
        ({"methods": {"PCA": PCA}}, TypeError, "Method 'PCA' is not an embedder"),
        ({"methods": {"x": LogisticRegression()}}, TypeError, "Method 'x' is not an embedder"),
        ({"dims": 2}, ValueError, "dims=2 must be positive integers"),
        ({"dims": ()}, ValueError, "must be positive integers"),
        ({"dims": (0, 2)}, ValueError, "must be positive integers"),
        ({"dims": (2.5,)}, ValueError, "must be positive integers"),
        ({"dims": "23"}, ValueError, "must be positive integers"),
        ({"protocol": "both"}, ValueError, "protocol='both' is unknown"),
        ({"head": "tree"}, ValueError, "head='tree' is not a classifier"),
        ({"cv": 50}, ValueError, "n_splits=50 is more than"),
        ({"cv": []}, ValueError, "nothing to score"),
        ({"cv": [([0, 1], np.empty(0, dtype=int))]}, ValueError, "nothing to score"),
        ({"cv": [([0, 1], [100])]}, ValueError, "rows without a label"),
        ({"y": [-1] * 120}, ValueError, "at least one is needed"),
        ({"y": [0, 1]}, ValueError, "inconsistent numbers of samples"),
    ],
)
def test_bad_arguments(blobs, arguments, kind, message):
    X, _, y = blobs
    given = {"y": y, "methods": {"PCA": PCA()}, **arguments}
    with pytest.raises(kind, match=message):
        compare(X, **given)


def test_methods_by_short_name(blobs):
    X, _, y = blobs
    options = {"cv": 2, "random_state": 0}
    found = compare(X, y, ["ccdr", "pca"], **options)
    named = compare(X, y, {"ccdr": CCDR(), "mine": "pca"}, **options)
    assert [row.method for row in found.summary()] == ["ccdr", "pca"]
    assert [row.method for row in named.summary()] == ["ccdr", "mine"]
    assert errors(found) == errors(named)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_interrupt_stops_the_comparison(blobs, n_jobs):
    X, _, y = blobs

    class Interrupted(Stub):
        def fit(self, X, y=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(X, y, {"it": Interrupted(), "PCA": PCA()}, cv=2, n_jobs=n_jobs)
