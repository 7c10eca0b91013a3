"""What `labelfold inspect` finds in data whose answers are known."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from command_line import refused, write_csv
from command_line import run as run_command
from sklearn.datasets import load_digits

from labelfold import IntrinsicDimension, NeighborGraph, PartialLabels
from labelfold.cli import inspection
from labelfold.methods import all_methods, known_methods
from labelfold.tables import Table


def run(*arguments, **options):
    return run_command("inspect", *arguments, **options)


def report_of(*arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


@pytest.fixture
def write(tmp_path):
    def write_rows(X, labels=None):
        names = [f"f{i}" for i in range(np.shape(X)[1])]
        more = {} if labels is None else {"kind": labels}
        return write_csv(tmp_path / "data.csv", X, names=names, **more)

    return write_rows


def obstacle(report, name):
    [found] = [one["obstacle"] for one in report["methods"] if one["method"] == name]
    return found


def two_clusters(n=40, gap=50.0):
    X = np.random.default_rng(0).uniform(size=(2 * n, 2))
    X[n:, 0] += gap
    return X


# Features and labels


def test_size_zeros_and_constants(write):
    X = np.column_stack([[0, 1, 0, 1], [3, 4, 5, 6], [0.5, 1, 2, 3], [2, 2, 2, 2]])
    report = report_of(write(X), "--scale", "none")
    assert (report["data"]["n_rows"], report["data"]["n_columns"]) == (4, 4)
    assert report["features"]["n_features"] == 3
    assert report["features"]["share_of_zeros"] == pytest.approx(2 / 12)


def test_sparse_rows_are_described_as_dense_ones(write, tmp_path):
    X = np.random.default_rng(0).integers(0, 3, (60, 5)) * [1.0, 0.5, 1, 2, 100]
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(X))
    dense = report_of(write(X), "--scale", "none")
    sparse = report_of(tmp_path / "x.npz", "--scale", "none")
    assert sparse["features"].pop("is_sparse") is True
    assert dense["features"].pop("is_sparse") is False
    assert sparse["features"]["share_of_zeros"] == dense["features"]["share_of_zeros"]
    assert sparse["duplicates"] == dense["duplicates"]


def test_label_counts(write):
    labels = ["a"] * 3 + ["b"] * 2 + ["c"] + [None] * 4
    X = np.random.default_rng(0).uniform(size=(10, 3))
    report = report_of(write(X, labels), "--labels", "kind")
    found = report["data"]
    assert found["has_labels"]
    assert (found["n_rows"], found["n_labeled"]) == (10, 6)
    counts = {one["label"]: one["n_labeled"] for one in found["classes"]}
    assert counts == {"a": 3, "b": 2, "c": 1}
    assert any("only one label (c)" in line for line in report["advice"])


def test_without_labels_it_says_how_to_name_them(write):
    report = report_of(write(two_clusters()))
    assert not report["data"]["has_labels"]
    assert any("--labels COLUMN" in line for line in report["advice"])


@pytest.mark.parametrize(("factor", "done"), [(1.0, "as they are"), (1e5, "brought to one scale")])
def test_columns_and_their_scales(write, factor, done):
    X = np.random.default_rng(0).uniform(size=(50, 4)) * [1, 1, 1, factor]
    report = report_of(write(X))["columns"]
    assert done in report["summary"]
    assert [one["name"] for one in report["columns"]] == ["f0", "f1", "f2", "f3"]


def test_problems_of_columns_are_advised_on(tmp_path):
    rng = np.random.default_rng(0)
    kinds = np.repeat(["u", "v"], 15)
    more = {
        "sparse": [1.5, 2.5, *[None] * 28],
        "mixed": ["oops", *rng.uniform(size=29)],
        "copy": np.where(kinds == "u", "yes", "no"),
        "kind": kinds,
    }
    path = write_csv(tmp_path / "data.csv", rng.uniform(size=(30, 2)), names=["a", "b"], **more)
    report = report_of(path, "--labels", "kind")
    copy, mixed, sparse = report["advice"]
    assert copy.startswith("copy: gives away the class of every labeled row.")
    assert mixed.startswith("mixed: some cells")
    assert sparse.startswith("sparse: most cells are missing")
    text = run(path, "--labels", "kind", "--columns").stdout
    assert sum(line.split()[:2] == ["mixed", "number"] for line in text.splitlines()) == 1


# Equal rows


def test_equal_rows_and_contradictions(write):
    X = np.random.default_rng(0).uniform(size=(30, 2))
    X[[7, 9]] = X[4]
    X[20] = X[21]
    labels = [None] * 30
    labels[4], labels[9], labels[20], labels[21] = "a", "b", "a", "a"
    report = report_of(write(X, labels), "--labels", "kind")
    found = report["duplicates"]
    assert found["n_distinct"] == 27
    assert found["n_rows_with_equals"] == 5
    assert found["largest_group"] == 3
    assert found["n_contradictions"] == 1
    assert found["contradiction"] == [{"row": "5", "label": "a"}, {"row": "10", "label": "b"}]
    assert any("row 5 is 'a' and row 10 is 'b'" in line for line in report["advice"])


def test_equal_sparse_rows_are_found_however_they_are_stored():
    # Row 0 is [1, 0], row 1 is [1, 0] with its zero stored, row 2 is [0.5 + 0.5, 0], row 3 [0, 1].
    values, columns = [1, 1, 0, 0.5, 0.5, 1], [0, 0, 1, 0, 0, 1]
    X = sp.csr_array((values, columns, [0, 1, 3, 5, 6]), shape=(4, 2))
    found = inspection.examine_duplicates(Table(X, None, None, "x.npz"), X, PartialLabels.none(4))
    assert (found["n_distinct"], found["n_rows_with_equals"]) == (2, 3)
    assert X.nnz == 6


# Graph


def test_two_far_clusters(write):
    X = two_clusters()
    report = report_of(write(X), "--neighbors", 6, "--scale", "none")
    found = report["graph"]
    assert (found["n_connected_components"], found["n_bridges"]) == (2, 1)
    assert found["component_sizes"] == [40, 40]
    distances = np.linalg.norm(X[:40, None] - X[None, 40:], axis=2)
    assert found["longest_bridge"] == pytest.approx(distances.min())
    assert any("has 2 connected components" in line for line in report["advice"])


def test_the_longest_of_two_bridges(write):
    X = np.concatenate([np.arange(10), 30 + np.arange(10), 100 + np.arange(10)])[:, None]
    found = report_of(write(X), "--neighbors", 2)["graph"]
    assert (found["n_connected_components"], found["n_bridges"]) == (3, 2)
    assert found["longest_bridge"] == 100 - 39


def test_labels_of_one_class_join_components(write):
    labels = ["a", *[None] * 78, "a"]
    report = report_of(write(two_clusters(), labels), "--labels", "kind")
    assert report["graph"]["n_connected_components"] == 2
    assert report["graph"]["n_connected_with_class_nodes"] == 1


def test_figures_are_those_of_the_library(write):
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    report = report_of(write(X, y), "--labels", "kind", "--neighbors", 8)
    graph = NeighborGraph.build(X, n_neighbors=8)
    found = report["graph"]
    assert found["scale"] == pytest.approx(graph.scale)
    assert found["n_edges"] == graph.statistics.n_edges
    assert found["largest_occurrence"] == graph.statistics.largest_occurrence
    assert found["hub"] == str(graph.occurrences.argmax() + 1)
    assert report["n_examined"] == 400
    whole = IntrinsicDimension(random_state=0).fit(X, y)
    assert report["dimension"]["all"]["dimension"] == pytest.approx(whole.dimension_)
    assert report["dimension"]["all"]["interval"] == pytest.approx(list(whole.interval_))
    for name, value in zip(whole.classes_, whole.class_dimensions_, strict=True):
        assert report["dimension"]["classes"][str(name)]["dimension"] == pytest.approx(value)


def test_a_hub_is_reported(write):
    # On the axes every row's nearest row is the origin.
    X = np.vstack([np.zeros((1, 400)), np.eye(400)])
    report = report_of(write(X), "--neighbors", 1)
    assert report["graph"]["largest_occurrence"] == 400
    assert report["graph"]["has_extreme_hub"]
    assert any(line.startswith("Row 1 is a hub") for line in report["advice"])


def test_row_names_are_used(tmp_path):
    X = np.random.default_rng(0).uniform(size=(30, 2))
    X[3] = X[8]
    more = {"name": [f"n{i}" for i in range(30)], "kind": ["ab"[i == 8] for i in range(30)]}
    path = write_csv(tmp_path / "data.csv", X, names=["u", "v"], **more)
    report = report_of(path, "--labels", "kind", "--id-column", "name")
    assert [one["row"] for one in report["duplicates"]["contradiction"]] == ["4 (n3)", "9 (n8)"]


# Dimension


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_known_dimension(write, dimension):
    rng = np.random.default_rng(0)
    sphere = rng.standard_normal((600, dimension + 1))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    X = sphere @ np.linalg.qr(rng.standard_normal((9, 9)))[0][: dimension + 1]
    found = report_of(write(X))["dimension"]["all"]
    assert found["dimension"] == pytest.approx(dimension, abs=0.3)
    low, high = found["interval"]
    assert low < found["dimension"] < high


def test_classes_with_few_labels_have_no_dimension(write):
    labels = [*["many"] * 30, *["few"] * 10, *[None] * 60]
    path = write(np.random.default_rng(0).uniform(size=(100, 2)), labels)
    assert set(report_of(path, "--labels", "kind")["dimension"]["classes"]) == {"many"}


# Degenerate data


@pytest.mark.parametrize("X", [np.ones((5, 3)), [[1.0, 2.0, 3.0]]])
def test_constant_columns_are_refused(write, X):
    refused(run(write(X)), "'f0' is constant")


def test_two_rows(write):
    report = report_of(write([[0.0, 1.0], [1.0, 0.0]], ["a", "b"]), "--labels", "kind")
    assert report["graph"]["n_neighbors"] == 1


# Methods


@pytest.mark.parametrize(
    "labels",
    [None, ["a"] * 15 + [None] * 15, ["a"] * 15 + ["b"] * 15],
)
def test_obstacles_are_those_of_the_fits(write, labels):
    X = np.random.default_rng(0).uniform(size=(30, 4))
    options = [] if labels is None else ["--labels", "kind"]
    report = report_of(write(X, labels), *options)
    assert [one["method"] for one in report["methods"]] == list(known_methods())
    for name, kind in all_methods().items():
        if not kind.declaration.embeds:
            continue  # a classifier may fit one class, but labelfold classify refuses it
        estimator = kind(**kind.declaration.examples[0])
        assert (obstacle(report, name) is None) == fits(estimator, X, labels), name


def fits(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator.fit(X, y)
        except (ValueError, TypeError):
            return False
    return True


# The sample


def test_many_rows_are_examined_by_a_sample(write, monkeypatch):
    monkeypatch.setattr(inspection, "SAMPLE", 100)
    path = write(np.random.default_rng(0).uniform(size=(300, 2)))
    report = report_of(path)
    assert (report["data"]["n_rows"], report["n_examined"]) == (300, 100)
    assert "those of 100 rows drawn at random" in run(path).stdout
    assert report == report_of(path)


# The command


def test_text_has_its_sections_and_fits_a_terminal(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).uniform(size=(100, 3)) * [1, 1, 1000]
    write(X, ["a", "b"] * 50)
    result = run("data.csv", "--labels", "kind")
    assert (result.exit_code, result.stderr) == (0, "")
    titles = [line for line in result.stdout.splitlines() if line and not line.startswith(" ")]
    assert titles == [
        "Data",
        "Equal rows",
        "Neighbor graph (--neighbors 12)",
        "Intrinsic dimension",
        "Methods that can be used",
        "What to do",
    ]
    assert max(map(len, result.stdout.splitlines())) <= 80
    for name in known_methods():
        assert name in result.stdout


def test_the_coordinates_of_maps_have_their_name_alone(write):
    """In the JSON of `embed` n_components is the number of coordinates."""
    assert "n_components" not in json.dumps(report_of(write(two_clusters())))
