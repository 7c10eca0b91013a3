"""The rule of AutoScaler, and what its methods do to columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import labelfold
from labelfold.exceptions import InputError
from labelfold.tables.scaling import AutoScaler, choose_scaling

rng = np.random.default_rng(0)
WORDS = rng.poisson(0.1, size=(60, 30))
UNITS = rng.normal(size=(200, 3)) * [1, 10, 1000]


@pytest.mark.parametrize(
    ("X", "method"),
    [
        (load_digits().data, "none"),
        (load_iris().data, "none"),
        (load_wine().data, "power"),
        (load_breast_cancer().data, "power"),
        (rng.normal(size=(50, 64)), "none"),
        (WORDS, "unit"),
        (WORDS * np.geomspace(1, 1000, 30).astype(int), "unit"),
        (WORDS * np.geomspace(0.1, 1000, 30), "power"),
        (sp.csr_array(WORDS * np.geomspace(0.1, 1000, 30)), "unit"),
        (-WORDS, "none"),
        (sp.csr_array(UNITS), "standard"),
        (np.ones((5, 2)), "none"),
        (sp.csr_array((5, 2)), "none"),
        (np.array([[-1e308, 0.0], [1e308, 1.0]]), "power"),
    ],
)
def test_the_rule(X, method):
    assert choose_scaling(X)[0] == method
    order = rng.permutation(X.shape[0])
    assert choose_scaling(X[order][:, ::-1])[0] == method


def test_one_wide_column_among_many_alike_is_enough():
    X = rng.normal(size=(100, 40))
    assert choose_scaling(X)[0] == "none"
    X[:, 7] *= 1e4
    assert choose_scaling(X)[0] == "power"


def test_power_does_not_depend_on_units():
    X = AutoScaler("power").fit_transform(UNITS)
    np.testing.assert_allclose(
        X, AutoScaler("power").fit_transform(UNITS / [7, 0.3, 1e6] + 5), rtol=1e-4
    )
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.02)
    np.testing.assert_allclose(X.std(axis=0), 1, atol=0.02)


def test_power_shortens_tails():
    tails = np.exp(2 * rng.normal(size=(500, 2))) * [1, 1e3]
    standard, power = (AutoScaler(method).fit_transform(tails) for method in ("standard", "power"))
    assert abs((standard**3).mean(axis=0)).min() > 3
    assert abs((power**3).mean(axis=0)).max() < 0.6


def test_an_outlier_leaves_the_other_rows_where_they_are():
    X = UNITS.copy()
    X[0, 1] = 1e9
    scaler = AutoScaler().fit(X)
    before, after = AutoScaler().fit_transform(UNITS), scaler.transform(X)
    assert np.corrcoef(after[1:, 1], before[1:, 1])[0, 1] > 0.95
    assert after[1:, 1].std() > 0.8
    assert abs(after).max() == 3
    # Whatever a new row holds, it stays within reach of the others.
    assert abs(scaler.transform([[1e200, -1e200, 0.0]])).max() == 3


def test_columns_with_equal_quartiles_are_scaled():
    X = np.column_stack([np.arange(100.0), 1e4 * (np.arange(100) > 90)])
    result = AutoScaler().fit_transform(X)
    assert result.std(axis=0).min() > 0.5
    assert abs(result).max() <= 3


def test_unit_orders_neighbors_as_cosines_do():
    X = AutoScaler().fit(WORDS).transform(WORDS[WORDS.any(axis=1)])
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)


def test_methods_that_are_asked_for():
    np.testing.assert_allclose(
        AutoScaler("standard").fit_transform(UNITS), StandardScaler().fit_transform(UNITS)
    )
    assert AutoScaler("none").fit_transform(UNITS) is UNITS
    ranks = AutoScaler("quantile").fit_transform(UNITS)
    np.testing.assert_array_equal(ranks.argsort(axis=0), UNITS.argsort(axis=0))
    sparse = AutoScaler("standard").fit_transform(sp.csr_array(UNITS))
    np.testing.assert_allclose(sparse.toarray(), UNITS / UNITS.std(axis=0))
    with pytest.raises(InputError, match="method='zscore' is unknown"):
        AutoScaler("zscore").fit(UNITS)


def test_many_rows_are_scaled_by_some_of_them():
    X = rng.lognormal(size=(20_000, 2)) * [1, 1e3]
    few, all_rows = AutoScaler().fit(X[:10_000]), AutoScaler().fit(X)
    assert abs(few.transform(X) - all_rows.transform(X)).mean() < 0.02
    np.testing.assert_array_equal(all_rows.transform(X), AutoScaler().fit_transform(X))


def test_numbers_out_of_range_are_refused():
    X = np.array([[-1.7e308, 0.0], [1.7e308, 1.0], [1.6e308, 3.0]])
    with pytest.raises(InputError, match=r"row 1, column 1: huge value -1.7e\+308"):
        AutoScaler().fit(X)
    with pytest.raises(InputError, match="NaN"):
        AutoScaler().fit([[np.nan, 1.0]])


@pytest.mark.parametrize("method", ["auto", "unit", "power", "standard", "quantile"])
def test_round_trip_through_a_model_file(method, tmp_path):
    model = AutoScaler(method).fit(UNITS)
    labelfold.save(model, tmp_path / "scaler.skops")
    again = labelfold.load(tmp_path / "scaler.skops")
    np.testing.assert_array_equal(again.transform(UNITS), model.transform(UNITS))


def test_it_is_an_estimator_of_scikit_learn():
    check_estimator(AutoScaler())
