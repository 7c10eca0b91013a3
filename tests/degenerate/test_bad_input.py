"""Bad and odd input gives a clear error or a right answer, never NaN.

Every declared estimator that gives rows coordinates or classes meets the same input, with each of
its examples; below stands what holds for some of them only.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from method_cases import cases, set_parameter, tiny_set
from sklearn.base import clone

from labelfold import (
    CCDR,
    IsometricSeparationMap,
    LaplacianClassifier,
    LaplacianEigenmaps,
    NeighborGraph,
)
from labelfold.exceptions import (
    DisconnectedGraphWarning,
    FewEigenvectorsWarning,
    FewNeighborsWarning,
    InfeasibleMapWarning,
    InputError,
    UnreachedPointsWarning,
)
from labelfold.methods import takes_partial_labels
from labelfold.solvers.certificates import EigenCertificate

every_case = pytest.mark.parametrize("method", cases(lambda one: one.embeds or one.classifies))

RNG = np.random.default_rng(0)
X = RNG.random((40, 3))
Y = np.arange(40) % 3


def replaced(value, where=(3, 1)):
    rows = X.copy()
    rows[where] = value
    return rows


def assert_finite(model, rows):
    """What a fit says of its rows, of these again and of new ones is finite."""
    if model.declaration.embeds and hasattr(model, "embedding_"):
        assert np.all(np.isfinite(model.embedding_))
    if model.declaration.classifies:
        np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    for new in (rows, rows * (1 + 1e-3)):
        if hasattr(model, "transform"):
            assert np.all(np.isfinite(model.transform(new)))
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1)


BAD_ROWS = pytest.mark.parametrize(
    ("rows", "message"),
    [
        (replaced(np.nan), "NaN"),
        (replaced(np.inf), "infinity"),
        (np.empty((0, 3)), "0 (sample|entries)"),
        (np.empty((5, 0)), r"0 feature"),
        (X[:1], "1 sample"),
        (X[0], "1D array"),
        (X.astype(complex), "Complex"),
        ([["a", "b"], ["c", "d"]] * 4, "could not convert"),
    ],
    ids=["nan", "infinity", "no row", "no feature", "one row", "1d", "complex", "text"],
)


@BAD_ROWS
@every_case
def test_bad_rows(method, rows, message):
    with pytest.raises(ValueError, match=message):
        clone(method).fit(rows, np.arange(np.shape(rows)[0]) % 2)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:30], "30"),
        (np.where(Y == 0, -1, 1), "recode as 0/1"),
        (Y + 0.5, "continuous"),
        (np.column_stack([Y, Y]), "1d array"),
    ],
    ids=["short", "ambiguous", "continuous", "2d"],
)
@pytest.mark.parametrize("method", [one for one in cases() if takes_partial_labels(one.values[0])])
def test_bad_labels(method, y, message):
    with pytest.raises(ValueError, match=message):
        clone(method).fit(X, y)


TWICE = np.vstack([X, X + 1000])
ODD = {  # rows, labels, and whether there must be an answer
    "equal": (np.ones((20, 4)), Y[:20], False),
    "zeros": (np.zeros((20, 4)), Y[:20], False),
    "equal, sparse": (sp.csr_array(np.ones((20, 4))), Y[:20], False),
    "beyond range": (X * 1e200, Y, False),
    "below range": (X * 1e-200, Y, False),
    "huge": (X * 1e150, Y, True),
    "tiny": (X * 1e-150, Y, True),
    "half duplicates": (np.vstack([X, np.tile(X[:1], (40, 1))]), np.append(Y, [-1] * 40), True),
    "many duplicates": (np.repeat(X[:6], 8, axis=0), np.repeat([0, 1, 0, 1, 1, 0], 8), True),
    "outlier": (np.vstack([X, [[1e9, 1e9, 1e9]]]), np.append(Y, -1), True),
    "two components": (TWICE, np.append(Y, np.full(40, -1)), True),
    "equal but for rounding": (np.vstack([X, X + 1e-15]), np.append(Y, Y), True),
    "two rows": (X[:2], np.array([0, 1]), False),
    "one feature": (X[:, :1], Y, False),
    "many features": (RNG.random((30, 300)), np.arange(30) % 2, True),
    "own classes": (X[:15], np.arange(15), False),
    "one class": (X, np.where(Y == 0, 5, -1), False),
    "no label": (X, np.full(40, -1), False),
}
MUST_WORK = [(rows, y) for rows, y, must_work in ODD.values() if must_work]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ODD)
@every_case
def test_odd_data(method, name):
    rows, y, must_work = ODD[name]
    try:
        model = clone(method).fit(rows, y)
    except InputError:
        if must_work:
            raise
    else:
        assert_finite(model, rows)
        if must_work and isinstance(getattr(model, "certificate_", None), EigenCertificate):
            assert model.certificate_.ok


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(12))
@every_case
def test_tiny_sets(method, seed):
    _, rows, y = tiny_set(seed)
    try:
        model = clone(method).fit(rows, y)
    except InputError:
        return
    assert_finite(model, rows)


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", None, True, 400])
@pytest.mark.parametrize(
    "method", [one for one in cases() if "n_components" in one.values[0].get_params()]
)
def test_bad_n_components(method, value):
    with pytest.raises(InputError, match="n_components="):
        clone(method).set_params(n_components=value).fit(X, Y)


# ---- graphs and their eigenvectors

EIGENMAPS = pytest.mark.parametrize(
    "method",
    [
        one
        for one in cases(lambda one: one.uses_graph and one.embeds)
        if "eigen_solver" in one.values[0].get_params()
    ],
)


def fit(method, rows, y=None, **more):
    y = np.arange(len(rows)) % 3 if y is None else y
    return clone(method).set_params(**{"n_neighbors": 5, **more}).fit(rows, y)


def assert_sound(model, rows):
    assert model.certificate_.ok
    assert_finite(model, rows)


@EIGENMAPS
def test_every_row_repeated_more_often_than_there_are_neighbors(method):
    rows = np.repeat(X[:6], 8, axis=0)
    with pytest.warns(DisconnectedGraphWarning, match="6 (separate components|components)"):
        model = fit(method, rows, y=np.full(48, -1))
    assert_sound(model, rows)


@EIGENMAPS
@pytest.mark.parametrize("distance", [1e3, 1e6, 1e12])
@pytest.mark.parametrize("n_outliers", [1, 2, 3])
def test_far_outliers(method, distance, n_outliers):
    rows = np.vstack([X, distance * (1 + RNG.random((n_outliers, 3)))])
    model = fit(method, rows)
    assert_sound(model, rows)


def test_far_outlier_lies_among_the_others():
    rows = np.vstack([X, [[1e6, 1e6, 1e6]]])
    model = LaplacianEigenmaps(2, n_neighbors=5, scale=0.1).fit(rows)
    assert np.abs(model.embedding_[-1]).max() <= 2 * np.abs(model.embedding_[:-1]).max()


@EIGENMAPS
def test_more_neighbors_than_rows(method):
    with pytest.warns(FewNeighborsWarning, match="n_neighbors=50 .* n_neighbors=39 is used"):
        model = fit(method, X, n_neighbors=50)
    assert model.n_neighbors == 50
    assert_sound(model, X)


@EIGENMAPS
def test_two_rows(method):
    with pytest.warns(FewNeighborsWarning):
        model = clone(method).set_params(n_components=1).fit(X[:2])
    assert_sound(model, X[:2])
    with pytest.raises(ValueError, match="n_components=2 needs more than 2 rows, got 2"):
        clone(method).set_params(n_components=2).fit(X[:2])


@EIGENMAPS
def test_as_many_components_as_can_be(method):
    model = fit(method, X, n_components=39)
    assert_sound(model, X)


@EIGENMAPS
def test_disconnected_graph_is_bridged_with_a_warning(method):
    rows = np.vstack([X, X + 1000])
    with pytest.warns(DisconnectedGraphWarning, match="2 (separate )?components"):
        model = fit(method, rows, y=np.full(80, -1))
    # LLE has no weights of edges, and its first coordinates separate components.
    assert len(model.graph_.bridges) == int("weights" in model.get_params())
    assert_sound(model, rows)


BAD_ARGUMENTS = [
    ("weights", "warm", "weights='warm'"),
    ("metric", "no such metric", "no such metric"),
    ("eigen_solver", "magic", "eigen_solver='magic'"),
    ("neighbor_search", "magic", "neighbor_search='magic'"),
    ("normalization", "sqrt", "normalization='sqrt'"),
    ("scale", -1, "scale=-1"),
    ("n_neighbors", 0, "n_neighbors=0"),
    ("radius", 0, "radius=0"),
    ("radius", 1e-9, "joins no two points"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "value", "message"), BAD_ARGUMENTS)
@pytest.mark.parametrize("method", cases(lambda one: one.uses_graph))
def test_bad_graph_arguments(method, name, value, message):
    method = set_parameter(method, name, value)
    if method is not None:
        with pytest.raises(InputError, match=message):
            method.fit(X, Y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_columns", [1, 4])
@every_case
def test_wrong_number_of_columns(method, n_columns):
    model = clone(method).fit(X, Y)
    asked = [name for name in ("transform", "predict", "predict_proba") if hasattr(model, name)]
    assert asked
    for name in asked:
        with pytest.raises(ValueError, match=f"X has {n_columns} features, but .* expecting 3"):
            getattr(model, name)(np.ones((2, n_columns)))


def test_a_tiny_new_row_is_no_error():
    model = CCDR(n_neighbors=5).fit(X, Y)
    together = model.transform(np.vstack([np.full((1, 3), 1e-200), X[:2]]))
    np.testing.assert_allclose(together[:1], model.transform(np.full((1, 3), 1e-200)))


@pytest.mark.parametrize("seed", range(100))
def test_tiny_sets_of_ccdr(seed):
    rng, rows, y = tiny_set(seed, all_equal=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        warnings.simplefilter("ignore", FewNeighborsWarning)
        model = CCDR(1, beta=10.0 ** rng.uniform(-3, 3), n_neighbors=int(rng.integers(1, 5)))
        assert_sound(model.fit(rows, y), rows)


def test_constant_feature_changes_nothing():
    wider = np.column_stack([X, np.full(40, 7.0)])
    a, b = fit(CCDR(), X).embedding_, fit(CCDR(), wider).embedding_
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_graph_of_isolated_points_is_bridged():
    rows = np.array([[0.0], [1.0], [10.0], [100.0]])
    graph = NeighborGraph.build(rows, radius=2.0)
    assert graph.statistics.n_connected_components == 3
    assert graph.bridged().statistics.n_connected_components == 1


CLASSIFIERS = [
    pytest.param({}, id="paper"),
    pytest.param({"normalization": "degree", "weights": "heat"}, id="degree"),
    pytest.param({"n_eigenvectors": "auto"}, id="number"),
    pytest.param({"n_eigenvectors": "auto", "penalty": "auto"}, id="penalty"),
    pytest.param({"n_eigenvectors": 12, "penalty": np.inf}, id="infinite"),
]
MAY_WARN = [FewEigenvectorsWarning, FewNeighborsWarning, UnreachedPointsWarning]


def classify(parameters, rows, y, **more):
    with warnings.catch_warnings():
        for kind in MAY_WARN:
            warnings.simplefilter("ignore", kind)
        model = LaplacianClassifier(**{"n_neighbors": 5, **parameters, **more}).fit(rows, y)
    assert_sound(model, rows)


@pytest.mark.parametrize("parameters", CLASSIFIERS)
def test_classifier_on_odd_data(parameters):
    for rows, y in MUST_WORK:
        classify(parameters, rows, y)
    classify(parameters, np.repeat(X[:6], 8, axis=0), np.where(np.arange(48) < 9, 0, -1))
    classify(parameters, X[:2], np.array([0, 1]))
    classify(parameters, X, np.where(np.arange(40) == 7, 5, -1))  # a single label
    classify(parameters, X, Y, n_neighbors=50)
    classify(parameters, X, Y, radius=0.2)  # with points that have no neighbor
    classify(parameters, X, np.arange(40))  # every point a class of its own


@pytest.mark.parametrize("seed", range(60))
def test_tiny_sets_of_the_classifier(seed):
    rng, rows, y = tiny_set(seed, all_equal=False)
    y[0] = 0
    parameters = CLASSIFIERS[seed % len(CLASSIFIERS)].values[0]
    classify(parameters, rows, y, n_neighbors=int(rng.integers(1, 5)))


SEPARATIONS = [
    pytest.param({"label_weight": None}, id="hard"),
    pytest.param({"label_weight": None, "objective": "variance"}, id="variance"),
    pytest.param({"label_weight": 1.0}, id="soft"),
    pytest.param({"label_weight": None, "normals": "anchors"}, id="anchors"),
]


def separate(parameters, rows, y, **more):
    """Fit with few steps: the map may err, as the certificate then says, but is never NaN."""
    given = {"max_iter": 60, "random_state": 0, **parameters, **more}
    with warnings.catch_warnings():
        for kind in (InfeasibleMapWarning, DisconnectedGraphWarning, FewNeighborsWarning):
            warnings.simplefilter("ignore", kind)
        model = IsometricSeparationMap(**given).fit(rows, y)
    assert np.all(np.isfinite(model.gram_factor_))
    assert np.all(np.isfinite(model.spectrum_))
    certificate = model.certificate_
    assert np.isfinite(certificate.errors.largest_squared)
    assert np.isfinite(certificate.least_error)
    assert np.isfinite(certificate.trivial_errors.rms_squared)
    assert np.isfinite(certificate.shortfall)
    assert len(str(certificate)) > 100
    if given.get("normals", "axes") == "axes" and given["label_weight"] is None:
        assert certificate.separation_error == 0
        assert certificate.errors.rms_squared >= certificate.least_error * (1 - 1e-9)
    assert_finite(model, rows)


@pytest.mark.parametrize("parameters", SEPARATIONS)
def test_separation_map_of_odd_data(parameters):
    for rows, y in MUST_WORK:
        separate(parameters, rows, y)
    separate(parameters, X[:2], np.array([0, 1]), n_components=1)
    separate(parameters, X, Y, n_neighbors=50)
    separate(parameters, X[:15], np.arange(15))  # every point a class of its own
    separate(parameters, X[:, :1], Y)


@pytest.mark.parametrize("seed", range(30))
def test_tiny_sets_of_separation_maps(seed):
    rng, rows, names = tiny_set(seed, all_equal=False)
    parameters = SEPARATIONS[seed % len(SEPARATIONS)].values[0]
    _, group = np.unique(rows, axis=0, return_inverse=True)
    group = np.arange(len(rows)) if parameters["label_weight"] is not None else group.ravel()
    names[:2] = 0, 1
    # Equal rows have equal labels, but for soft ones.
    separate(parameters, rows, names[group], n_components=1, n_neighbors=int(rng.integers(1, 5)))
