"""What must not change a map: order, names, motion, scale, storage, batches, threads."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from labelfold import CCDR, IsometricSeparationMap, LaplacianEigenmaps, SupervisedLLE, hide_labels
from labelfold.datasets import make_swiss_roll

METHODS = [
    pytest.param(LaplacianEigenmaps(3), id="LaplacianEigenmaps"),
    pytest.param(LaplacianEigenmaps(3, normalization="none"), id="unnormalized"),
    pytest.param(CCDR(3, beta=0.5), id="CCDR"),
]
LOCALLY_LINEAR = pytest.param(SupervisedLLE(3, alpha=0.05), id="SupervisedLLE")
# Found by descent, and no eigenvectors: the same to the last bits where its steps are the same.
BY_DESCENT = pytest.param(
    IsometricSeparationMap(3, objective="none", random_state=0), id="IsometricSeparationMap"
)


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_swiss_roll(300, n_classes=3, random_state=0)
    return X, hide_labels(y, keep=np.arange(0, 300, 4))


def same_up_to_sign(a, b, atol=1e-8):
    signs = np.sign(np.sum(a * b, axis=0))
    np.testing.assert_allclose(a, b * signs, atol=atol)


@pytest.mark.parametrize("method", [*METHODS, LOCALLY_LINEAR])
def test_order_of_rows(method, data):
    X, y = data
    order = np.random.default_rng(0).permutation(len(X))
    same_up_to_sign(
        clone(method).fit(X, y).embedding_[order], clone(method).fit(X[order], y[order]).embedding_
    )


@pytest.mark.parametrize("method", [*METHODS, LOCALLY_LINEAR, BY_DESCENT])
def test_rigid_motion(method, data):
    X, y = data
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    same_up_to_sign(
        clone(method).fit(X, y).embedding_, clone(method).fit(X @ Q + [1, -2, 3], y).embedding_
    )


@pytest.mark.parametrize("factor", [2.0**-400, 1e-3, 1e5, 2.0**400])
@pytest.mark.parametrize("method", [*METHODS, LOCALLY_LINEAR])
def test_scale(method, data, factor):
    X, y = data
    same_up_to_sign(clone(method).fit(X, y).embedding_, clone(method).fit(X * factor, y).embedding_)


@pytest.mark.parametrize("names", [["b", "c", "a"], [10, 5, 7]])
def test_names_of_labels(data, names):
    X, y = data
    renamed = np.array([None if v == -1 else names[v] for v in y], dtype=object)
    a, b = CCDR(3).fit(X, y), CCDR(3).fit(X, renamed)
    same_up_to_sign(a.embedding_, b.embedding_)
    assert b.classes_.tolist() == sorted(names)
    order = [names.index(name) for name in b.classes_.tolist()]
    same_up_to_sign(a.class_centers_[order], b.class_centers_)


@pytest.mark.parametrize("method", [*METHODS, LOCALLY_LINEAR, BY_DESCENT])
def test_storage(method, data):
    X, y = data
    X = np.round(X, 1).astype(np.float32).astype(float)
    expected = clone(method).fit(X, y).embedding_
    read_only = X.copy()
    read_only.flags.writeable = False
    for other in (
        X.astype(np.float32),
        np.asfortranarray(X),
        pd.DataFrame(X),
        read_only,
        X.tolist(),
    ):
        model = clone(method).fit(other, y)
        np.testing.assert_allclose(model.embedding_, expected, atol=1e-10)
        assert model.embedding_.dtype == np.float64
    same_up_to_sign(clone(method).fit(sp.csr_array(X), y).embedding_, expected)
    same_up_to_sign(clone(method).fit(sp.coo_matrix(X), y).embedding_, expected)


@pytest.mark.parametrize("method", [*METHODS, LOCALLY_LINEAR])
def test_sparse_rows_transform_as_dense(method):
    X = sp.random_array((120, 30), density=0.3, random_state=0).toarray()
    new = X[:10] * 1.1
    a = clone(method).fit(X, np.arange(120) % 3)
    b = clone(method).fit(sp.csr_array(X), np.arange(120) % 3)
    same_up_to_sign(a.transform(new), b.transform(sp.csr_array(new)))


@pytest.mark.parametrize("factor", [2.0**-400, 1e-3, 1e5, 2.0**400])
def test_separation_maps_scale_with_the_data(data, factor):
    X, y = data
    method = BY_DESCENT.values[0]
    one, other = clone(method).fit(X, y), clone(method).fit(X * factor, y)
    np.testing.assert_allclose(other.embedding_ / factor, one.embedding_, atol=1e-6)
    np.testing.assert_allclose(other.label_distributions_, one.label_distributions_, atol=1e-6)


def test_threads_do_not_change_a_separation_map(data):
    X, y = data
    first, second = (clone(BY_DESCENT.values[0]).set_params(n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_allclose(first.embedding_, second.embedding_, atol=1e-8)


def test_order_of_rows_of_a_separation_map(data):
    X, y = data
    order = np.random.default_rng(0).permutation(len(X))
    one, other = (
        clone(BY_DESCENT.values[0]).fit(X[rows], y[rows]) for rows in (np.arange(300), order)
    )
    assert np.mean(one.transduction_[order] == other.transduction_) > 0.99


def test_integers(data):
    X, y = data
    X = np.round(X).astype(np.int16)
    np.testing.assert_array_equal(
        CCDR(2).fit(X, y).embedding_, CCDR(2).fit(X.astype(float), y).embedding_
    )


@pytest.mark.parametrize("method", [*METHODS, BY_DESCENT])
def test_batch_equals_one_by_one(method, data):
    X, y = data
    new = np.vstack([np.round(X[:40] + 0.3, 1), X[:3]])
    model = clone(method).fit(np.round(X, 1), y)
    together = model.transform(new)
    alone = np.vstack([model.transform(row[None]) for row in new])
    np.testing.assert_allclose(together, alone, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("solver", ["dense", "arpack", "chebyshev"])
def test_number_of_threads(method, data, solver):
    X, y = data
    X = np.round(np.hstack([X] * 6))  # 18 features, ties: the threaded search is tried
    first, second = (
        clone(method).set_params(n_jobs=n, eigen_solver=solver).fit(X, y) for n in (1, 2)
    )
    assert (first.graph_.weights != second.graph_.weights).nnz == 0
    np.testing.assert_allclose(first.embedding_, second.embedding_, atol=1e-8)


@pytest.mark.parametrize("method", [*METHODS, LOCALLY_LINEAR, BY_DESCENT])
def test_fit_twice_and_pickle(method, data):
    X, y = data
    a, b = clone(method).fit(X, y), clone(method).fit(X, y)
    np.testing.assert_array_equal(a.embedding_, b.embedding_)
    c = pickle.loads(pickle.dumps(a))
    np.testing.assert_array_equal(a.transform(X + 0.1), c.transform(X + 0.1))


@pytest.mark.parametrize("method", [*METHODS, LOCALLY_LINEAR, BY_DESCENT])
def test_fit_changes_neither_parameters_nor_data(method, data):
    X, y = data
    X_before, y_before = X.copy(), y.copy()
    model = clone(method)
    before = model.get_params()
    model.fit(X, y)
    assert model.get_params() == before
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


def test_pandas_output(data):
    X, y = data
    model = CCDR(2).set_output(transform="pandas").fit(pd.DataFrame(X, columns=list("abc")), y)
    out = model.transform(pd.DataFrame(X[:5] + 0.1, columns=list("abc")))
    assert list(out.columns) == ["ccdr0", "ccdr1"]
    assert list(model.get_feature_names_out()) == ["ccdr0", "ccdr1"]
