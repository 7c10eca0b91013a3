"""Parameters are what ``get_params`` says, and a fitted model no longer depends on them."""

import inspect

import numpy as np
import pytest
from method_cases import cases, estimators
from sklearn.base import clone

from labelfold import CCDR, ManifoldClassifier, hide_labels
from labelfold.datasets import make_swiss_roll

pytestmark = pytest.mark.filterwarnings("ignore")
# Read when rows are transformed, where they decide time and output on stderr, not results.
READ_LATER = {"n_jobs": 2, "verbose": 0, "chunk_size": 7}
# Any other estimator: scikit-learn asks what a search or a pipeline holds for its methods.
NESTED = {"embedder": CCDR(1), "estimator": ManifoldClassifier()}


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_swiss_roll(150, n_classes=3, random_state=0)
    return X, hide_labels(y, keep=np.arange(0, 150, 3)), X[:9] + 0.1


def answers(model, X):
    """Return what a fitted model says of rows."""
    names = ("transform", "transform_jointly", "predict", "predict_proba", "decision_function")
    found = {name: getattr(model, name)(X) for name in names if hasattr(model, name)}
    if hasattr(model, "transform_labeled"):
        found["transform_labeled"] = model.transform_labeled(X, model.classes_[[0] * len(X)])
    return found


def assert_equal(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)


@pytest.mark.parametrize("estimator", estimators(), ids=lambda one: type(one).__name__)
def test_get_params_are_the_constructors_arguments_and_all_there_is(estimator):
    arguments = set(inspect.signature(type(estimator)).parameters)
    assert set(estimator.get_params(deep=False)) == arguments == set(vars(estimator))
    on_class = {
        name
        for name, value in inspect.getmembers(type(estimator))
        if not name.startswith("_") and not callable(value) and not isinstance(value, property)
    }
    assert on_class == {"declaration"}


@pytest.mark.parametrize("method", cases(lambda one: one.embeds or one.classifies))
def test_parameters_set_after_fit_change_nothing(method, data):
    X, y, new = data
    model = clone(method).fit(X, y)
    expected = answers(model, new)
    assert expected
    for name in model.get_params(deep=False):
        value = getattr(model, name)
        model.set_params(**{name: (READ_LATER | NESTED).get(name, "another value")})
        assert_equal(answers(model, new), expected)
        model.set_params(**{name: value})


@pytest.mark.parametrize("method", cases(lambda one: one.uses_graph))
def test_a_graph_built_before_saves_the_search_and_changes_nothing(method, data):
    X, y, new = data
    if not hasattr(method, "build_graph"):
        pytest.skip("its embedder takes no graph")
    graph = method.build_graph(X)
    assert_equal(
        answers(clone(method).fit(X, y, graph=graph), new), answers(clone(method).fit(X, y), new)
    )


@pytest.mark.parametrize("method", cases(lambda one: one.embeds or one.classifies))
def test_reading_attributes_adds_none(method, data):
    X, y, _ = data
    model = clone(method).fit(X, y)
    before = set(vars(model))
    for name in dir(model):
        if not name.startswith("__"):
            getattr(model, name, None)
    assert set(vars(model)) == before


@pytest.mark.parametrize("method", cases(lambda one: one.embeds or one.classifies))
def test_two_fits_without_a_seed_agree(method, data):
    X, y, new = data
    one = clone(method)
    settings = {name: None for name in one.get_params() if name.endswith("random_state")}
    settings |= {
        name: "approximate" for name in one.get_params() if name.endswith("neighbor_search")
    }
    one.set_params(**settings)
    other = clone(one)
    np.random.seed(0)  # noqa: NPY002  the global generator, which must have no part in it
    first = answers(one.fit(X, y), new)
    np.random.seed(1)  # noqa: NPY002
    assert_equal(answers(other.fit(X, y), new), first)
