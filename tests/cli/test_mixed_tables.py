"""Tables as people have them, each classified in one try: no option but the column of labels."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from command_line import read_csv, run, write_csv
from sklearn.datasets import load_wine

from labelfold import LaplacianClassifier
from labelfold.labels import hide_labels
from labelfold.tables import TablePreparation

GRAPES = np.array(["Barolo", "Grignolino", "Barbera"])
KIND = GRAPES[load_wine().target]


def wine_table(seed, *, n_labels=12, missing=0.01):
    """178 wines: an id, a country, a date, 13 measurements with some cells empty, few labels."""
    rng = np.random.default_rng(seed)
    frame = load_wine(as_frame=True).data
    n = len(frame)
    frame = frame.mask(rng.random(frame.shape) < missing)
    days = pd.to_timedelta(rng.integers(0, 1000, n), unit="D")
    frame.insert(0, "id", [f"W{row:03d}" for row in range(n)])
    frame.insert(1, "country", rng.choice(["France", "Italy", "Spain", "Chile"], n))
    frame.insert(2, "date", pd.Timestamp("2020-01-01") + days)
    rows = np.empty(0, dtype=int)
    while set(KIND[rows]) != set(GRAPES):  # at random, but a class without a label cannot be found
        rows = rng.choice(n, n_labels, replace=False)
    return frame.assign(grape=np.where(np.isin(np.arange(n), rows), KIND, None))


def error_of(rows, truth, given):
    labels = np.array([row["label"] for row in rows])
    return np.mean((labels != truth)[pd.isna(np.asarray(given, dtype=object))])


def classify(path, labels, *options):
    out = path.parent / "out.csv"
    result = run("classify", path, "--labels", labels, "-o", out, *options)
    assert result.exit_code == 0, result.stderr
    return result.stdout, read_csv(out)


def two_blobs(n=120, n_columns=4, gap=3.0, seed=0):
    """Rows of two kinds that differ by a gap in every column, ten of each labeled."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    X = rng.standard_normal((n, n_columns)) + gap * kind[:, None]
    truth = np.where(kind == 1, "new", "old")
    return X, truth, np.where(np.arange(n) < 20, truth, None)


# The wine table


def test_wines_in_one_try(tmp_path):
    frame = wine_table(0)
    frame.to_csv(tmp_path / "wine.csv", index=False)
    text, rows = classify(tmp_path / "wine.csv", "grape")
    assert [row["id"] for row in rows] == frame["id"].tolist()
    assert error_of(rows, KIND, frame["grape"]) <= 0.08
    assert "Columns: 1 category, 1 date, 13 numbers" in text
    n_missing = int(frame.drop(columns="grape").isna().sum().sum())
    assert f"{n_missing} missing cells" in " ".join(text.split())


def test_wines_over_twenty_draws_of_labels():
    """The same classifier as of the command, without starting it twenty times."""
    errors = []
    for seed in range(20):
        frame = wine_table(seed)
        X = TablePreparation().fit_transform(frame.drop(columns=["id", "grape"]))
        y = hide_labels(KIND, frame["grape"].notna().to_numpy())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = LaplacianClassifier(penalty="auto", random_state=0).fit(X, y).transduction_
        errors.append(np.mean((found != KIND)[frame["grape"].isna()]))
    assert np.mean(errors) <= 0.08


@pytest.mark.parametrize("command", ["inspect", "embed", "compare"])
def test_the_other_commands_take_wines_too(tmp_path, command):
    path = tmp_path / "wine.csv"
    wine_table(0).to_csv(path, index=False)
    options = {
        "inspect": ["--columns"],
        "embed": ["--columns", "-o", tmp_path / "map.csv"],
        "compare": ["--methods", "pca", "--folds", 2],
    }
    result = run(command, path, "--labels", "grape", *options[command])
    assert result.exit_code == 0, result.stderr
    if command != "compare":
        lines = [line.split() for line in result.stdout.splitlines()]
        assert ["country", "category"] in [line[:2] for line in lines]
        assert ["date", "date"] in [line[:2] for line in lines]


def test_json_describes_every_column(tmp_path):
    path = tmp_path / "wine.csv"
    frame = wine_table(0)
    frame.to_csv(path, index=False)
    options = ["--labels", "grape", "--json"]
    outputs = [
        run("inspect", path, *options),
        run("embed", path, *options, "-o", tmp_path / "a.csv"),
        run("classify", path, *options, "-o", tmp_path / "b.csv"),
    ]
    for result in outputs:
        report = json.loads(result.stdout)["columns"]
        columns = {one["name"]: one for one in report["columns"]}
        assert list(columns) == frame.columns[1:-1].tolist()
        assert columns["alcohol"]["n_missing"] == int(frame["alcohol"].isna().sum())
        assert columns["country"]["taken_for"] == "category"


# Other tables, other files


def test_many_missing_cells(tmp_path):
    frame = wine_table(1, n_labels=30, missing=0.3)
    frame.loc[frame.index[::3], "country"] = None
    frame.to_csv(tmp_path / "wine.csv", index=False)
    _, rows = classify(tmp_path / "wine.csv", "grape")
    assert error_of(rows, KIND, frame["grape"]) < 0.25


def test_free_text(tmp_path):
    rng = np.random.default_rng(0)
    words = {
        "cook": ["flour", "oven", "butter", "knead", "crust", "sugar", "salt", "yeast", "bowl"],
        "sail": ["mast", "wind", "keel", "harbor", "rope", "tide", "deck", "anchor", "crew"],
    }
    common = ["the", "and", "then", "with", "some", "very", "well", "again", "small", "large"]
    truth = np.array(["cook", "sail"] * 100)
    texts = [" ".join(rng.choice([*words[one], *common], 25)) for one in truth]
    given = np.where(np.arange(200) < 12, truth, None)
    frame = pd.DataFrame({"text": texts, "pages": rng.integers(1, 90, 200), "topic": given})
    frame.to_csv(tmp_path / "texts.csv", index=False)
    text, rows = classify(tmp_path / "texts.csv", "topic")
    assert "1 text" in text
    assert error_of(rows, truth, given) < 0.05


def test_a_vector_column_of_512_numbers(tmp_path):
    _, truth, given = two_blobs()
    rng = np.random.default_rng(0)
    directions = dict(zip(("new", "old"), rng.standard_normal((2, 512)), strict=True))
    X = rng.standard_normal((len(truth), 512)) + 0.5 * np.array([directions[one] for one in truth])
    column = pa.FixedSizeListArray.from_arrays(pa.array(X.astype(np.float32).ravel()), 512)
    table = pa.table({"id": range(len(X)), "embedding": column, "kind": given.tolist()})
    pa.parquet.write_table(table, tmp_path / "v.parquet")
    text, rows = classify(tmp_path / "v.parquet", "kind")
    assert "Columns: 1 vector" in text
    assert error_of(rows, truth, given) < 0.05
    np.save(tmp_path / "v.npy", X.astype(np.float32))
    pd.DataFrame({"name": [f"n{i}" for i in range(len(X))], "kind": given}).to_csv(
        tmp_path / "v.csv", index=False
    )
    (tmp_path / "out.csv").unlink()
    _, beside = classify(tmp_path / "v.csv", "kind", "--vectors", tmp_path / "v.npy")
    assert [row["label"] for row in beside] == [row["label"] for row in rows]


@pytest.mark.parametrize("name", ["t.jsonl", "t.xlsx", "semicolons.csv", "bom.csv", "t.csv.zst"])
def test_formats_and_layouts(tmp_path, name):
    X, truth, given = two_blobs()
    frame = pd.DataFrame(X * [1, 10, 100, 1000], columns=list("abcd")).assign(
        place=np.where(truth == "new", "north", "south"), kind=given
    )
    frame.loc[3, "a"] = None
    path = tmp_path / name
    if name == "t.jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif name == "t.xlsx":
        frame.to_excel(path, index=False)
    elif name == "semicolons.csv":
        frame.to_csv(path, index=False, sep=";", decimal=",")
    elif name == "bom.csv":
        frame.to_csv(path, index=False, encoding="utf-8-sig")
    else:
        path.write_bytes(pa.compress(frame.to_csv(index=False).encode(), "zstd", asbytes=True))
    text, rows = classify(path, "kind")
    assert "4 numbers" in text
    assert error_of(rows, truth, given) < 0.05


def test_three_hundred_columns_of_which_forty_are_constant(tmp_path):
    X, truth, given = two_blobs(n_columns=300, gap=0.6)
    X[:, 100:140] = 7.0
    path = write_csv(tmp_path / "wide.csv", X, names=[f"c{i}" for i in range(300)], kind=given)
    text, rows = classify(path, "kind")
    assert "260 numbers" in text
    assert "left out c100 (constant)" in " ".join(text.split())
    assert error_of(rows, truth, given) < 0.05


def test_several_files_and_a_pattern(tmp_path):
    X, _, given = two_blobs()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=given)
    for number in range(3):
        part = frame[40 * number : 40 * (number + 1)]
        part.to_csv(tmp_path / f"part-{number}.csv", index=False)
    frame.to_csv(tmp_path / "whole.csv", index=False)
    _, expected = classify(tmp_path / "whole.csv", "kind")
    parts = [tmp_path / f"part-{number}.csv" for number in range(3)]
    for sources in (parts, [tmp_path / "part-*.csv"]):
        out = tmp_path / "joined.csv"
        result = run("classify", *sources, "--labels", "kind", "-o", out, "--force")
        assert result.exit_code == 0, result.stderr
        assert "and 2 more: 120 rows" in " ".join(result.stdout.split())
        assert read_csv(out) == expected


def test_a_copy_of_the_labels_is_reported(tmp_path):
    X, _, given = two_blobs()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=given)
    frame["class"] = frame["kind"].map({"new": 1, "old": 0})
    frame.to_csv(tmp_path / "t.csv", index=False)
    text, _ = classify(tmp_path / "t.csv", "kind")
    assert "class gives away the class of every labeled row" in " ".join(text.split())


# New rows


@pytest.fixture(scope="module")
def wine_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    frame = wine_table(0)
    frame.to_csv(folder / "wine.csv", index=False)
    options = ["--labels", "grape", "-o", folder / "out.csv", "--save", folder / "m.skops"]
    result = run("classify", folder / "wine.csv", *options)
    assert result.exit_code == 0, result.stderr
    return folder / "m.skops", frame.drop(columns="grape")


def test_a_new_file_of_other_order_values_and_gaps(tmp_path, wine_model):
    model, frame = wine_model
    new = frame[frame.columns[::-1]].assign(comment="not for the model")
    new.loc[new.index[::5], "country"] = "Georgia"
    new.loc[new.index[::7], ["hue", "date", "country"]] = None
    new.to_parquet(tmp_path / "new.parquet")
    result = run("transform", model, tmp_path / "new.parquet", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.stderr
    rows = read_csv(tmp_path / "out.csv")
    assert [row["id"] for row in rows] == frame["id"].tolist()
    assert np.mean(np.array([row["label"] for row in rows]) != KIND) < 0.1


def test_new_rows_beside_those_of_the_fit(tmp_path):
    frame = wine_table(0)
    frame[frame["grape"].notna() | (frame.index % 2 == 0)].to_csv(tmp_path / "a.csv", index=False)
    more = frame[frame.columns[::-1]][frame.index % 2 == 1].drop(columns="grape")
    more.to_csv(tmp_path / "b.csv", index=False)
    _, rows = classify(tmp_path / "a.csv", "grape", "--new", tmp_path / "b.csv")
    labels = [row["label"] for row in rows if row["file"] == str(tmp_path / "b.csv")]
    assert np.mean(np.array(labels) != KIND[more.index]) < 0.1


# Without the extra


def test_without_the_extra_the_command_says_how_to_install_it():
    for name in ("typer", "pandas", "pyarrow", "openpyxl"):
        script = (
            "import importlib.util, sys\n"
            "find = importlib.util.find_spec\n"
            f"importlib.util.find_spec = lambda n: None if n == {name!r} else find(n)\n"
            "from labelfold.cli import main\n"
            "main()\n"
        )
        found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert (found.returncode, found.stdout) == (2, "")
        assert found.stderr.splitlines()[1:] == ['pip install "labelfold[app]"']


def test_a_matrix_is_scaled_and_nothing_else(tmp_path):
    X, truth, given = two_blobs()
    X = np.column_stack([X * [1, 10, 100, 1000], np.full(len(X), 7.0)])
    codes = np.where(np.equal(given, None), -1, truth == "new").astype(int)
    np.savez(tmp_path / "x.npz", X=X[:100], y=codes[:100])
    np.save(tmp_path / "new.npy", X[100:])
    options = ["-o", tmp_path / "out.csv", "--save", tmp_path / "m.skops"]
    picture = ["--new", tmp_path / "new.npy", "--plot", tmp_path / "map.png"]
    result = run("classify", tmp_path / "x.npz", *options, *picture)
    assert result.exit_code == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert "Columns: 5 numbers: 5 features; numbers brought to one scale" in text
    rows = read_csv(tmp_path / "out.csv")
    assert (
        np.mean(
            [row["label"] == str(int(one == "new")) for row, one in zip(rows, truth, strict=True)]
        )
        > 0.95
    )
    result = run("transform", tmp_path / "m.skops", tmp_path / "new.npy", "-o", tmp_path / "b.csv")
    assert result.exit_code == 0, result.stderr
    assert [row["label"] for row in read_csv(tmp_path / "b.csv")] == [
        row["label"] for row in rows[100:]
    ]


def test_a_matrix_with_missing_numbers(tmp_path):
    X, truth, given = two_blobs()
    X[3, 1] = np.nan
    codes = np.where(np.equal(given, None), -1, truth == "new").astype(int)
    np.savez(tmp_path / "x.npz", X=X, y=codes)
    result = run("classify", tmp_path / "x.npz", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.stderr
    assert "1 missing cell" in " ".join(result.stdout.split())
