"""Declaring a method is all it takes: a toy shows up wherever methods do, nothing else touched.

The toy is declared for the length of a test, and in a process of its own for the shared suites.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

import labelfold
from labelfold import methods
from labelfold.checks import check_integer, check_rows
from labelfold.datasets import make_swiss_roll
from labelfold.evaluate import compare
from labelfold.exceptions import InputError, ModelFileError
from labelfold.methods import Declaration, declare

TESTS = Path(__file__).parent
DECLARATION = Declaration(
    "toy",
    "principal axes of a small test",
    labels="ignores",
    produces="embedding",
    uses_graph=False,
    only_in_fit=("embedding_",),
    scales_with_data=True,
)


class ToyEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components."""

    def __init__(self, n_components: int = 1):
        self.n_components = n_components

    def fit(self, X, y=None):
        X = check_rows(self, X, reset=True)
        check_integer("n_components", self.n_components, least=1)
        X = X.toarray() if hasattr(X, "toarray") else X
        unit = np.abs(X).max()
        if unit == 0 or np.all(X[0] == X) or not 1e-170 < unit < 1e170:
            raise InputError("The rows of X are all equal, or out of range: rescale X.")
        if self.n_components > min(X.shape):
            raise InputError(f"n_components={self.n_components} is more than X has.")
        self.mean_ = X.mean(axis=0)
        _, _, axes = np.linalg.svd((X - self.mean_) / unit, full_matrices=False)
        axes = axes[: self.n_components]
        self.axes_ = (
            axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
        )
        self.embedding_ = (X - self.mean_) @ self.axes_.T
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X).embedding_.copy()

    def transform(self, X):
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        X = X.toarray() if hasattr(X, "toarray") else X
        return np.vstack([(row - self.mean_) @ self.axes_.T for row in X])

    @property
    def _n_features_out(self):
        return len(self.axes_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


@pytest.fixture
def toy(monkeypatch):
    """The toy, declared for the length of a test."""
    methods.all_estimators()  # all of labelfold's own before the registries are copied
    monkeypatch.setattr(methods, "_estimators", dict(methods._estimators))
    monkeypatch.setattr(methods, "_stored", dict(methods._stored))
    yield declare(DECLARATION)(ToyEmbedding)
    del ToyEmbedding.declaration


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(90, random_state=0)[:2]


def test_it_is_gone_afterwards():
    assert "toy" not in methods.all_methods()


def test_a_short_name_is_taken_once(toy):
    with pytest.raises(InputError, match=r"'toy' is taken by .*ToyEmbedding"):
        declare(DECLARATION)(type("Other", (), {}))
    assert declare(DECLARATION)(toy) is toy  # defined again, as in a notebook


@pytest.mark.parametrize(("labels", "produces"), [("ignore", "embedding"), ("uses", "map")])
def test_a_wrong_declaration_raises(labels, produces):
    with pytest.raises(InputError, match="is unknown: use one of"):
        Declaration("odd", "an odd one", labels=labels, produces=produces)


def test_in_the_help_of_the_command_line(toy):
    from typer.testing import CliRunner

    from labelfold.cli.app import app

    shown = CliRunner().invoke(app, ["embed", "--help"], env={"COLUMNS": "200"}).stdout
    assert "toy" in shown


def test_in_compare(toy, roll):
    summary = compare(*roll, cv=2, random_state=0).summary()
    assert [row.status for row in summary if row.method == "toy"] == ["ok"]


@pytest.mark.parametrize("compact", [False, True])
def test_in_model_files(toy, roll, tmp_path, compact):
    X, _ = roll
    model = toy(2).fit(X)
    labelfold.save(model, tmp_path / "toy.skops", compact=compact)
    again = labelfold.load(tmp_path / "toy.skops")
    np.testing.assert_array_equal(again.transform(X + 1), model.transform(X + 1))
    assert hasattr(again, "embedding_") != compact


def test_not_in_model_files_without_its_declaration(roll, tmp_path, monkeypatch):
    X, _ = roll
    with pytest.raises(TypeError, match=r"ToyEmbedding: .*labelfold\.methods\.declare"):
        labelfold.save(ToyEmbedding().fit(X), tmp_path / "toy.skops")
    with monkeypatch.context() as patch:
        patch.setattr(methods, "_stored", dict(methods._stored))
        methods.stored(ToyEmbedding)
        labelfold.save(ToyEmbedding().fit(X), tmp_path / "toy.skops")
    with pytest.raises(ModelFileError, match="import the module that declares it"):
        labelfold.load(tmp_path / "toy.skops")


def test_in_every_shared_suite():
    code = (
        "import sys, pytest\n"
        f"sys.path.insert(0, {str(TESTS)!r})\n"
        "import test_toy_method as toy\n"
        "toy.declare(toy.DECLARATION)(toy.ToyEmbedding)\n"
        "sys.exit(pytest.main(['-q', '-rN', '-p', 'no:cacheprovider', '-k', 'ToyEmbedding',\n"
        "    *(f'{toy.TESTS}/{suite}' for suite in ('contract', 'invariance', 'degenerate'))]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=TESTS.parent, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout[-3000:]
    assert int(result.stdout.split(" passed")[0].split()[-1]) > 80
