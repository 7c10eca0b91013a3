"""What must not change a result: order, names, motion, scale, storage, batches, threads.

Every declared estimator that gives rows coordinates or classes runs through all of it, with each of
its examples. How closely fits must agree, and what becomes of scale, is part of its declaration.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from method_cases import cases, set_parameter
from sklearn.base import clone
from sklearn.neighbors import KNeighborsTransformer

from labelfold import (
    CCDR,
    FewLabelClassifier,
    IsometricSeparationMap,
    LaplacianEigenmaps,
    hide_labels,
)
from labelfold.datasets import make_swiss_roll

pytestmark = [
    pytest.mark.filterwarnings("ignore::labelfold.exceptions.DisconnectedGraphWarning"),
    pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewEigenvectorsWarning"),
    pytest.mark.filterwarnings("ignore::labelfold.exceptions.InfeasibleMapWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
every_case = pytest.mark.parametrize("method", cases(lambda one: one.embeds or one.classifies))


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_swiss_roll(150, n_classes=3, random_state=0)
    return X, hide_labels(y, keep=np.arange(0, 150, 3))


def fit(method, X, y):
    return clone(method).fit(X, y)


def results_of(model, X, *, order=slice(None), factor=1.0):
    """Return what a fit says of its rows, brought back from another order and scale."""
    found = {}
    if model.declaration.embeds:
        coordinates = model.embedding_ if hasattr(model, "embedding_") else model.transform(X)
        found["embedding"] = coordinates[order] / factor
    if model.declaration.classifies:
        found["classes"] = model.label_distributions_[order]
    return found


def answers(model, X):
    """Return what a model says of new rows."""
    names = [name for name in ("transform", "predict_proba") if hasattr(model, name)]
    assert names
    return [getattr(model, name)(X) for name in names]


def assert_same(found, expected, tolerance):
    """Compare results, embeddings up to the signs of their coordinates."""
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        size = np.abs(values).max()
        signs = 1.0
        if name == "embedding":
            signs = np.sign(np.sum(values / size * (found[name] / size), axis=0))
        np.testing.assert_allclose(found[name] * signs, values, rtol=0, atol=tolerance * size)


@every_case
def test_row_order_permutes_the_result(method, data):
    X, y = data
    order = np.random.default_rng(0).permutation(len(X))
    one, other = fit(method, X, y), fit(method, X[order], y[order])
    if method.declaration.reorders:
        tolerance = method.declaration.agreement
        assert_same(
            results_of(other, X[order], order=np.argsort(order)), results_of(one, X), tolerance
        )
    elif method.declaration.classifies:
        assert np.mean(one.transduction_[order] == other.transduction_) > 0.9


@every_case
def test_rotation_and_shift_leave_the_result_as_it_was(method, data):
    X, y = data
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    if not method.declaration.rotates:
        Q = np.eye(3)
    moved = X @ Q + [1, -2, 3]
    found, expected = results_of(fit(method, moved, y), moved), results_of(fit(method, X, y), X)
    assert_same(found, expected, method.declaration.agreement)


@pytest.mark.parametrize("factor", [2.0**-400, 1e5, 2.0**400])
@every_case
def test_scaling_by_a_constant_changes_nothing(method, data, factor):
    X, y = data
    grown = factor if method.declaration.scales_with_data else 1.0
    scaled = results_of(fit(method, X * factor, y), X * factor, factor=grown)
    assert_same(scaled, results_of(fit(method, X, y), X), method.declaration.agreement)


@every_case
def test_label_names_change_nothing(method, data):
    X, y = data
    names = ["b", "c", "a"]
    renamed = np.array([None if v == -1 else names[v] for v in y], dtype=object)
    one, other = fit(method, X, y), fit(method, X, renamed)
    if method.declaration.reorders:  # classes are sorted, and with them what stands for them
        found, expected = results_of(other, X), results_of(one, X)
        if "classes" in expected:
            found["classes"] = found["classes"][:, [1, 2, 0]]
        assert_same(found, expected, method.declaration.agreement)
    if method.declaration.classifies:
        assert other.classes_.tolist() == sorted(names)


@every_case
def test_a_duplicated_row_gets_its_twins_answer(method, data):
    X, y = data
    twins = np.flatnonzero(y == -1)[:10]
    rows, copies = np.vstack([X, X[twins]]), np.arange(len(X), len(X) + 10)
    model = fit(method, rows, np.append(y, y[twins]))
    for values in answers(model, rows):
        np.testing.assert_array_equal(values[copies], values[twins])
    for values in results_of(model, rows).values():
        assert np.abs(values[copies] - values[twins]).max() < 0.05 * np.ptp(values)
    if method.declaration.classifies:
        np.testing.assert_array_equal(model.transduction_[copies], model.transduction_[twins])


# Not for an isometric separation map, which is one map of all rows.
@pytest.mark.filterwarnings("ignore::labelfold.exceptions.UnreachedPointsWarning")
@pytest.mark.parametrize("distance", [1e3, 1e6])
@pytest.mark.parametrize("method", cases(lambda one: one.classifies and one.name != "ism"))
def test_a_far_away_component_leaves_the_others_labels_as_they_were(method, data, distance):
    X, y = data
    far = np.vstack([X, X[:20] + distance])
    alone, together = fit(method, X, y), fit(method, far, np.append(y, np.full(20, -1)))
    agreement = np.mean(together.transduction_[: len(X)] == alone.transduction_)
    # Of a given number of eigenvectors, the component takes some.
    assert agreement == 1 if isinstance(method, FewLabelClassifier) else agreement > 0.93


@every_case
def test_storage(method, data):
    X, y = data
    X = np.round(X, 1).astype(np.float32).astype(float)
    expected = results_of(fit(method, X, y), X)
    read_only = X.copy()
    read_only.flags.writeable = False
    for other in (X.astype(np.float32), np.asfortranarray(X), pd.DataFrame(X), read_only):
        found = results_of(fit(method, other, y), other)
        assert_same(found, expected, max(1e-10, method.declaration.agreement))
        assert all(values.dtype == np.float64 for values in found.values())
    for sparse in (sp.csr_array(X), sp.coo_matrix(X)):
        tolerance = max(1e-8, method.declaration.agreement)
        assert_same(results_of(fit(method, sparse, y), sparse), expected, tolerance)


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewNeighborsWarning")
@pytest.mark.parametrize("method", cases(lambda one: one.uses_graph))
def test_precomputed_distances(method, data):
    """Neighbor distances give the embedding that the rows give; all distances among few rows."""
    X, y = data[0][:60], data[1][:60]
    finder = KNeighborsTransformer(mode="distance", n_neighbors=59).fit(X)
    given = set_parameter(method, "metric", "precomputed")
    if given is None:
        pytest.skip("has no metric of its own")
    if "candidates" in given.get_params():  # distances give graphs, and no features
        method, given = (
            set_parameter(one, "candidates", ("mutual", "shared")) for one in (method, given)
        )
    other = given.fit(finder.transform(X), y)
    if method.declaration.reorders:  # descent begins at principal components of rows
        tolerance = max(1e-7, method.declaration.agreement)
        assert_same(results_of(other, None), results_of(fit(method, X, y), X), tolerance)
    new = finder.transform(X[:9] + 0.1)
    for values in answers(other, new):
        assert np.all(np.isfinite(values))
    with pytest.raises(ValueError, match=r"X has 59 features, but .* expecting 60"):
        answers(other, new[:, :-1])


@every_case
def test_sparse_new_rows_are_as_dense(method):
    X = sp.random_array((120, 30), density=0.3, random_state=0).toarray()
    new = X[:10] * 1.1
    a = fit(method, X, np.arange(120) % 3)
    b = fit(method, sp.csr_array(X), np.arange(120) % 3)
    for dense, sparse in zip(answers(a, new), answers(b, sp.csr_array(new)), strict=True):
        assert np.all(np.isfinite(sparse))
        if method.declaration.reorders:  # descent begins at other principal components
            tolerance = max(1e-8, method.declaration.agreement)
            assert_same({"embedding": sparse}, {"embedding": dense}, tolerance)


@every_case
def test_batch_equals_one_by_one(method, data):
    X, y = data
    new = np.vstack([np.round(X[:40] + 0.3, 1), X[:3]])
    model = fit(method, np.round(X, 1), y)
    alone = [answers(model, row[None]) for row in new]
    for number, together in enumerate(answers(model, new)):
        one_by_one = np.vstack([rows[number] for rows in alone])
        np.testing.assert_allclose(
            together, one_by_one, rtol=1e-10, atol=1e-12 * np.abs(together).max()
        )


@every_case
def test_fit_twice_threads_and_pickle(method, data):
    X, y = data
    one, again = fit(method, X, y), fit(method, X, y)
    for name, values in results_of(one, X).items():
        np.testing.assert_array_equal(results_of(again, X)[name], values)
    if "n_jobs" in method.get_params():
        for n_jobs in (1, 2):
            found = results_of(fit(clone(method).set_params(n_jobs=n_jobs), X, y), X)
            assert_same(found, results_of(one, X), max(1e-8, method.declaration.agreement))
    stored = pickle.loads(pickle.dumps(one))
    for before, after in zip(answers(one, X + 0.1), answers(stored, X + 0.1), strict=True):
        np.testing.assert_array_equal(before, after)


@every_case
def test_fit_neither_changes_nor_watches_parameters_and_data(method, data):
    X, y = data
    X_before, y_before = X.copy(), y.copy()
    model = clone(method)
    before = {name: repr(value) for name, value in model.get_params().items()}
    model.fit(X, y)
    assert {name: repr(value) for name, value in model.get_params().items()} == before
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)
    model = clone(method).fit(X_before, y_before)
    expected = answers(model, X + 0.1)
    X_before[:], y_before[:] = 0, 0  # writing into the rows later changes no answer
    for before, after in zip(expected, answers(model, X + 0.1), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("method", [LaplacianEigenmaps(3), CCDR(3, beta=0.5)], ids=repr)
@pytest.mark.parametrize("solver", ["dense", "arpack", "chebyshev"])
def test_number_of_threads_with_ties(method, data, solver):
    X, y = data
    X = np.round(np.hstack([X] * 6))  # 18 features, ties: the threaded search is tried
    first, second = (
        clone(method).set_params(n_jobs=n, eigen_solver=solver).fit(X, y) for n in (1, 2)
    )
    assert (first.graph_.adjacency != second.graph_.adjacency).nnz == 0
    np.testing.assert_allclose(first.embedding_, second.embedding_, atol=1e-8)


def test_a_separation_map_run_to_its_end(data):
    X, y = data
    method = IsometricSeparationMap(3, label_weight=None, random_state=0)
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    if not method.declaration.rotates:
        Q = np.eye(3)
    order = np.random.default_rng(0).permutation(len(X))
    expected = fit(method, X, y)
    moved, scaled = fit(method, X @ Q + [1, -2, 3], y), fit(method, X * 1e5, y)
    assert_same(results_of(moved, X), results_of(expected, X), 1e-8)
    assert_same(results_of(scaled, X, factor=1e5), results_of(expected, X), 1e-6)
    other = fit(method, X[order], y[order])
    assert np.mean(expected.transduction_[order] == other.transduction_) > 0.99
    # Soft labels take many more steps, in which rounding errors grow: the classes agree.
    soft = IsometricSeparationMap(3, random_state=0)
    expected, moved = fit(soft, X, y), fit(soft, X @ Q + [1, -2, 3], y)
    assert np.mean(expected.transduction_ == moved.transduction_) > 0.99


def test_integers(data):
    X, y = data
    X = np.round(X).astype(np.int16)
    np.testing.assert_array_equal(
        CCDR(2).fit(X, y).embedding_, CCDR(2).fit(X.astype(float), y).embedding_
    )


def test_pandas_output(data):
    X, y = data
    model = CCDR(2).set_output(transform="pandas").fit(pd.DataFrame(X, columns=list("abc")), y)
    out = model.transform(pd.DataFrame(X[:5] + 0.1, columns=list("abc")))
    assert list(out.columns) == ["ccdr0", "ccdr1"]
    assert list(model.get_feature_names_out()) == ["ccdr0", "ccdr1"]
