"""`--plot map.html` of embed and classify: the page shows what the table has."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import read_csv, refused, run, write_csv
from page_data import read_page
from sklearn.datasets import load_iris

X, KIND = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "<b>versi</b>", "virginica"])
N_ROWS, N_NEW = 120, 30
ROWS = np.random.default_rng(0).permutation(len(X))


def write_flowers(path, rows, *, n_labeled=0, ids=False):
    points = [[*([f"flower {row}"] if ids else []), *X[row].tolist()] for row in rows]
    labels = [NAMES[KIND[row]] if number < n_labeled else "" for number, row in enumerate(rows)]
    names = [*(["name"] if ids else []), *"abcd"]
    return write_csv(path, points, names=names, **({"kind": labels} if n_labeled else {}))


@pytest.fixture(scope="module")
def flowers(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "flowers.csv"
    return write_flowers(path, ROWS[:N_ROWS], n_labeled=20, ids=True)


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    return write_flowers(tmp_path_factory.mktemp("new") / "new.csv", ROWS[N_ROWS:])


def read_details(path):
    """What the page knows of each row, in the order of the table."""
    data = read_page(path.read_bytes())
    names = {code: one["name"] for code, one in enumerate(data["classes"])}
    confidence = data.get("confidence")
    return [
        {
            "label": names.get(data["label"][i]),
            "predicted": names.get(data["prediction"][i]),
            "confidence": None if confidence is None else confidence[i] / 10_000,
            "is_new": bool(data["isNew"][i]),
            **{name: values[i] for name, values in data["details"].items()},
        }
        for i in range(len(data["label"]))
    ]


def test_a_page_of_embed_has_row_name_and_label(tmp_path, flowers):
    out, page = tmp_path / "map.csv", tmp_path / "map.html"
    options = ("--labels", "kind", "--id-column", "name", "-o", out, "--plot", page)
    result = run("embed", flowers, *options)
    assert result.exit_code == 0, result.stderr
    assert f"Picture: {page}" in result.stdout
    details, table = read_details(page), read_csv(out)
    assert [one["row"] for one in details] == [str(row) for row in range(1, N_ROWS + 1)]
    assert [one["id"] for one in details] == [row["id"] for row in table]
    assert [one["label"] or "" for one in details] == [row["label"] for row in table]
    assert {one["predicted"] for one in details} == {None}
    assert "<b>versi" not in page.read_text(encoding="utf-8")


def test_a_page_of_classify_has_predictions_and_new_rows(tmp_path, flowers, new):
    out, page = tmp_path / "labels.csv", tmp_path / "map.html"
    options = ("--labels", "kind", "--ignore", "name", "--folds", 0, "--scale", "standard")
    result = run("classify", flowers, *options, "--new", new, "-o", out, "--plot", page, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["files"]["picture"] == str(page)
    details, table = read_details(page), read_csv(out)
    assert [one["is_new"] for one in details] == [False] * N_ROWS + [True] * N_NEW
    assert [one["predicted"] for one in details] == [row["label"] for row in table]
    assert [one["label"] is not None for one in details] == [True] * 20 + [False] * 130
    assert [one["file"] for one in details] == [row["file"] for row in table]
    assert [one["row"] for one in details] == [row["row"] for row in table]
    confidence = [float(row["confidence"]) for row in table]
    np.testing.assert_allclose([one["confidence"] for one in details], confidence, atol=1e-4)


def run_with_new_rows(folder, data, new, *options):
    """Return the table and the details of a page of two files."""
    out, page = folder / "labels.csv", folder / "map.html"
    result = run(
        *("classify", data, "--new", new, "--folds", 0, "--dims", 2, "-o", out, "--plot", page),
        *options,
    )
    assert result.exit_code == 0, result.stderr
    return read_csv(out), read_details(page)


def test_classify_names_the_rows_of_both_files(tmp_path, flowers):
    new = write_flowers(tmp_path / "new.csv", ROWS[N_ROWS:], ids=True)
    options = ("--labels", "kind", "--id-column", "name")
    table, details = run_with_new_rows(tmp_path, flowers, new, *options)
    assert list(table[0]) == ["file", "id", "label", "confidence", "given"]
    names = [f"flower {row}" for row in ROWS]
    assert [row["id"] for row in table] == [one["id"] for one in details] == names


def test_names_that_only_one_file_has_are_kept(tmp_path, flowers, new):
    # A column without a title holds names, as pandas writes them.
    indexed = tmp_path / "indexed.csv"
    indexed.write_text(flowers.read_text().replace("name,", ",", 1))
    table, details = run_with_new_rows(tmp_path, indexed, new, "--labels", "kind")
    names = [f"flower {row}" for row in ROWS[:N_ROWS]]
    assert [row["id"] for row in table] == names + [""] * N_NEW
    assert [one["id"] for one in details] == names + [None] * N_NEW
    rows = [str(row) for n in (N_ROWS, N_NEW) for row in range(1, n + 1)]
    assert [row["row"] for row in table] == [one["row"] for one in details] == rows


def test_a_file_of_new_rows_without_the_names_asked_for_is_refused(tmp_path, flowers, new):
    options = ("--labels", "kind", "--id-column", "name", "-o", tmp_path / "labels.csv")
    refused(run("classify", flowers, *options, "--new", new), str(new), "'name'", "--id-column")
    assert list(tmp_path.iterdir()) == []


def test_new_rows_are_read_like_the_others(tmp_path):
    """Files without a header, in a format that their names do not say."""
    data = write_flowers(tmp_path / "flowers.txt", ROWS[:N_ROWS], n_labeled=20, ids=True)
    new = write_flowers(tmp_path / "new.txt", ROWS[N_ROWS:], ids=True)
    for path in (data, new):
        lines = path.read_text().splitlines(keepends=True)[1:]
        path.write_text("".join(lines).replace(",", "\t"))
    options = ("--labels", 6, "--id-column", 1, "--no-header", "--format", "tsv")
    table, details = run_with_new_rows(tmp_path, data, new, *options)
    names = [f"flower {row}" for row in ROWS]
    assert [row["id"] for row in table] == [one["id"] for one in details] == names


def test_new_rows_have_the_format_that_their_name_says(tmp_path, flowers, new):
    data, tabs = tmp_path / "flowers.txt", tmp_path / "new.tsv"
    data.write_text(flowers.read_text())
    tabs.write_text(new.read_text().replace(",", "\t"))
    options = ("--labels", "kind", "--ignore", "name", "--format", "csv")
    table, _ = run_with_new_rows(tmp_path, data, tabs, *options)
    assert len(table) == len(ROWS)


@pytest.mark.parametrize("name", ["map.html", "map.htm", "MAP.HTM"])
def test_a_page_has_the_name_of_the_data_in_its_title(tmp_path, flowers, name):
    page = tmp_path / name
    options = ("--method", "pca", "--features", "[a-d]", "-o", tmp_path / "map.csv")
    result = run("embed", flowers, *options, "--plot", page)
    assert result.exit_code == 0, result.stderr
    assert "<title>Map of flowers.csv</title>" in page.read_text(encoding="utf-8")


def test_without_an_embedding_ccdr_draws_the_map(tmp_path, flowers, new):
    out, page = tmp_path / "labels.csv", tmp_path / "map.html"
    options = ("--labels", "kind", "--ignore", "name", "--new", new, "-o", out, "--plot", page)
    result = run("classify", flowers, *options)
    assert result.exit_code == 0, result.stderr
    assert "Classifier: auto (FewLabelClassifier)." in result.stdout
    assert "<title>Map of flowers.csv</title>" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["embed", "classify"])
def test_too_many_rows_are_refused_before_the_work(tmp_path, monkeypatch, flowers, command):
    monkeypatch.setattr("labelfold.plotting.interactive_map.MAX_POINTS", N_ROWS - 1)
    options = ("--labels", "kind", "--ignore", "name", "-o", tmp_path / "map.csv")
    page = tmp_path / "map.html"
    refused(run(command, flowers, *options, "--plot", page), "holds at most 119 rows", ".png")
    assert list(tmp_path.iterdir()) == []


def test_a_comparison_has_no_page(tmp_path, flowers):
    result = run("compare", flowers, "--labels", "kind", "--plot", tmp_path / "errors.html")
    refused(result, "must end with one of .png, .pdf, .svg.")
