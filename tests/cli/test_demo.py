"""The demo end to end: figures are recomputed, and existing files are kept."""

from __future__ import annotations

import json
from contextlib import nullcontext

import numpy as np
import pytest
from command_line import DIGITS, PIXELS, PNG, refused, run
from matplotlib.collections import PathCollection
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifierCV
from sklearn.neighbors import KNeighborsClassifier

from labelfold.classify import FewLabelClassifier
from labelfold.cli.digits import draw_picture, run_experiment
from labelfold.labels import hide_labels
from labelfold.plotting.map_view import view_classes
from labelfold.spectral import CCDR, LaplacianEigenmaps


def run_demo(*arguments):
    return run("demo", *arguments)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A demo with a seed and a number of labels of its own, and the folder it wrote."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    return run_demo("--out", folder, "--seed", 5, "--labels", 73), folder


def test_demo_prints_its_summary_and_writes_two_files(finished):
    result, folder = finished
    assert result.exit_code == 0, result.stderr
    for word in (
        "FewLabelClassifier",
        "CCDR",
        "LaplacianEigenmaps",
        "PCA",
        "seed 5",
        "73 of them labeled",
    ):
        assert word in result.stdout
    assert str(folder / "demo.png") in result.stdout
    assert max(map(len, result.stdout.partition("Picture:")[0].splitlines())) <= 80
    assert sorted(path.name for path in folder.iterdir()) == ["demo.png", "summary.json"]
    assert (folder / "demo.png").read_bytes().startswith(PNG)


def test_errors_are_those_of_a_recomputation(finished):
    _, folder = finished
    figures = json.loads((folder / "summary.json").read_text())
    X, y = PIXELS, DIGITS
    labeled = np.zeros(len(y), dtype=bool)
    labeled[figures["labeled_rows"]] = True
    assert labeled.sum() == figures["n_labeled"] == 73
    assert (~labeled).sum() == figures["n_scored"]
    model = FewLabelClassifier().fit(X, hide_labels(y, labeled))
    n_wrong = np.count_nonzero(model.transduction_ != y)
    assert figures["classifier"]["n_wrong"] == n_wrong
    assert figures["classifier"]["error"] == n_wrong / figures["n_scored"]
    assert figures["classifier"]["candidates"] == str(model.candidates_)
    n_components = figures["n_components"]
    points = {
        "CCDR": CCDR(n_components).fit(X, hide_labels(y, labeled)).embedding_,
        "LaplacianEigenmaps": LaplacianEigenmaps(n_components).fit(X).embedding_,
        "PCA": PCA(n_components).fit_transform(X),
    }
    assert [row["method"] for row in figures["embeddings"]] == list(points)
    for row in figures["embeddings"]:
        check_errors(row, points[row["method"]], y, labeled)
    check_errors(figures["pixels"], X, y, labeled)


def check_errors(row, points, y, labeled):
    variance = points.var(axis=0).mean()
    heads = {
        "ridge": RidgeClassifierCV(variance * np.logspace(-4, 4, 17)),
        "nearest label": KNeighborsClassifier(1),
    }
    assert list(row["error"]) == list(heads)
    for name, head in heads.items():
        wrong = head.fit(points[labeled], y[labeled]).predict(points[~labeled]) != y[~labeled]
        assert row["n_wrong"][name] == wrong.sum()
        assert row["error"][name] == wrong.mean()


def test_certificates_are_reported(finished):
    result, folder = finished
    figures = json.loads((folder / "summary.json").read_text())
    rows = [figures["classifier"], *figures["embeddings"]]
    assert [row["certificate"] is None for row in rows] == [False, False, False, True]
    for row in rows[:3]:
        assert row["certificate"]["ok"]
        assert row["certificate"]["text"] in " ".join(result.stdout.split())


def test_demo_runs_again_over_its_own_files(finished):
    _, folder = finished
    before = json.loads((folder / "summary.json").read_text())
    result = run_demo("--out", folder, "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    after = json.loads((folder / "summary.json").read_text())
    assert (before["seed"], after["seed"]) == (5, 0)
    assert len(after["labeled_rows"]) == 50


@pytest.mark.parametrize("name", ["demo.png", "summary.json"])
def test_a_file_of_another_origin_is_not_replaced(tmp_path, name):
    (tmp_path / name).write_text("mine")
    refused(run_demo("--out", tmp_path), "pass --force to replace it")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_force_replaces_a_file_of_another_origin(tmp_path):
    (tmp_path / "summary.json").write_text("mine")
    assert run_demo("--out", tmp_path, "--force").exit_code == 0
    assert json.loads((tmp_path / "summary.json").read_text())["made_by"] == "labelfold demo"


@pytest.mark.parametrize(("n_labels", "problem"), [(19, "equal to 20"), (1797, "equal to 1730")])
def test_impossible_numbers_of_labels(tmp_path, n_labels, problem):
    refused(run_demo("--out", tmp_path / "new", "--labels", n_labels), problem)
    assert list(tmp_path.iterdir()) == []


# The picture


@pytest.fixture(scope="module")
def experiment():
    return run_experiment(50, 3, lambda title: nullcontext())


def test_each_panel_shows_every_point_and_its_errors(experiment):
    figure = draw_picture(experiment)
    assert len(figure.axes) == len(experiment.embeddings) == 3
    titles = ["FewLabelClassifier", *(panel.method for panel in experiment.embeddings[1:])]
    n_wrong = [experiment.n_wrong, *(one.n_wrong["ridge"] for one in experiment.embeddings[1:])]
    for k, ax in enumerate(figure.axes):
        layers = [layer for layer in ax.collections if isinstance(layer, PathCollection)]
        *points, crosses = (len(layer.get_offsets()) for layer in layers)
        assert sum(points) == len(experiment.y)
        assert crosses == n_wrong[k]
        error = n_wrong[k] / experiment.n_scored
        assert ax.get_title() == f"{titles[k]}: {100 * error:.1f} % error"
        names = [text.get_text() for text in ax.texts if text.get_text()]
        assert names == [str(digit) for digit in range(10)]


def test_the_plane_depends_on_given_labels_only(experiment):
    given = experiment.is_labeled
    first, *others = draw_picture(experiment).axes
    if experiment.layout is not None:
        drawn = np.asarray(first.collections[0].get_offsets())
        np.testing.assert_array_equal(drawn, experiment.layout[~given])
    for ax, panel in zip(others, experiment.embeddings[1:], strict=True):
        view = view_classes(panel.embedding, np.where(given, experiment.y, -1), 10)
        drawn = np.asarray(ax.collections[0].get_offsets())
        np.testing.assert_allclose(drawn, view.place(panel.embedding[~given]), atol=1e-10)
