"""Mixed columns as features: what each kind becomes, and what new tables may look like."""

import datetime
import decimal
import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import labelfold
from labelfold import LaplacianClassifier
from labelfold.exceptions import InputError
from labelfold.tables.columns import count_gaps, read_cells, recognize
from labelfold.tables.frames import as_table, get_column
from labelfold.tables.preparation import (
    TablePreparation,
    _fit_block,
    find_label_copies,
    make_preparation,
)
from labelfold.tables.scaling import AutoScaler

rng = np.random.default_rng(0)
N = 60
WORDS = np.array(["red", "green", "blue", "sweet", "sour", "dry", "long", "short", "heavy"])


def mixed(n=N, seed=0):
    """A table with a column of every kind, and missing cells in each."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": draw.lognormal(size=n) * 1000,
            "share": draw.random(n),
            "good": draw.choice([True, False, None], n),
            "kind": draw.choice(["a", "b", None], n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 900, n), unit="D"),
            "note": [" ".join(draw.choice(WORDS, 6)) for _ in range(n)],
            "vector": list(draw.normal(size=(n, 8))),
            "row_id": np.arange(n) + 7,
            "unit": "kg",
        }
    )
    for number, name in enumerate(["size", "day", "note", "vector"]):
        frame[name] = frame[name].astype(object)
        frame.loc[number, name] = None
    return frame


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("x", [1.0, 2.0, None], "number"),
        ("x", ["1", "2.5", "1e3"] * 9, "number"),
        ("x", ["1", "2", "3", "4", "5", "6", "7", "8", "9", "ten"], "number"),
        ("x", ["1", "2", "3", "four", "five"], "category"),
        ("x", ["1", "2", "?", "n/a", "-", "NULL"], "number"),
        ("zip", ["01234", "81234", "81235"], "category"),
        ("x", [True, False, None], "yes/no"),
        ("x", ["2024-01-31", "2024-02-28"], "date"),
        ("x", ["31.01.2024", "01.02.2024", None], "date"),
        ("x", ["12 Mar 2024 10:30", "13 Mar 2024 11:00"], "date"),
        ("x", pd.to_datetime(["2024-01-31", "2024-02-28"]).tz_localize("CET"), "date"),
        ("x", pd.to_timedelta([1, 2, 4], unit="h"), "number"),
        ("x", np.array([1, 2, 4], dtype=np.float16), "number"),
        ("x", [decimal.Decimal("1.5"), decimal.Decimal("2.5")], "number"),
        ("x", [datetime.time(8), datetime.time(9)], "number"),
        ("x", ["a", "b", "a"], "category"),
        ("x", pd.Categorical(["1", "2", "1"]), "category"),
        ("x", [f"street {one % 50}" for one in range(100)], "many categories"),
        ("x", [" ".join(rng.choice(WORDS, 5)) for _ in range(30)], "text"),
        ("x", ["the same four words", "or these four words"] * 20, "category"),
        ("x", range(1, 31), "id"),
        ("x", rng.permutation(30), "id"),
        ("x", rng.permutation(30) * 2, "number"),
        ("year", range(1990, 2020), "number"),
        ("wine_id", rng.permutation(30) * 2, "id"),
        ("wineId", rng.permutation(30) * 2, "id"),
        ("x", [f"img_{one}.png" for one in range(30)], "id"),
        ("x", list(WORDS), "category"),
        ("name_key", list(WORDS), "id"),
        ("x", [5, 5, 5], "constant"),
        ("x", ["a", "a", "a"], "constant"),
        ("x", ["a", "a", None], "category"),
        ("x", [None, None], "empty"),
        ("x", ["", " "], "empty"),
        ("x", [["a"], ["b", "c"]], "unknown"),
        ("x", [[1.0, 2.0], [3.0, 4.0]], "vector"),
        ("x", [[1.0, 2.0], [1.0, 2.0], None], "constant"),
    ],
)
def test_what_columns_are_taken_for(name, cells, kind):
    column = get_column(as_table(pd.DataFrame({name: cells})), name)
    assert recognize(name, column)[0] == kind


@pytest.mark.parametrize(
    ("cells", "day"),
    [
        (["03/04/2024", "05/06/2024"], 4),  # the month first where nothing speaks against it
        (["03/04/2024", "25/06/2024"], 3),
        (["2024-03-04T10:00:00", "2024-03-05T11:00:00"], 4),
    ],
)
def test_dates_in_text(cells, day):
    column = get_column(as_table(pd.DataFrame({"x": cells})), "x")
    kind, date_format = recognize("x", column)
    days = read_cells(column, kind, date_format)[:, 0]
    assert pd.Timestamp(days[0], unit="D").day == day


def test_a_column_is_read_as_what_it_was_in_fit():
    text = get_column(as_table(pd.DataFrame({"x": ["1", "many", "", "N/A", "inf"]})), "x")
    cells = read_cells(text, "number")
    np.testing.assert_array_equal(cells[:, 0], [1, np.nan, np.nan, np.nan, np.nan])
    assert count_gaps(text, cells) == (2, 2)
    numbers = pa.array([1.0, 2.0, None])
    assert read_cells(numbers, "category").ravel().tolist() == ["1", "2", ""]
    assert np.isnan(read_cells(numbers, "date")[:, 0]).all()
    day = read_cells(pa.array(["2024-01-02"]), "date")[0, 0]
    assert day == np.datetime64("2024-01-02").astype(int)
    infinite = pa.array([1.0, np.inf, None])
    assert count_gaps(infinite, read_cells(infinite, "number")) == (1, 1)


def test_features_of_every_kind():
    frame = mixed()
    model = TablePreparation()
    features = pd.DataFrame(model.fit_transform(frame), columns=model.get_feature_names_out())
    assert np.isfinite(features.to_numpy()).all()
    assert not any(name.startswith(("row_id", "unit")) for name in features)
    np.testing.assert_array_equal(features["size_missing"], frame["size"].isna())
    for name in ("kind", "good"):
        values = sorted(str(one).lower() for one in frame[name].dropna().unique())
        hot = features[[f"{name}_{one}" for one in values]]
        np.testing.assert_array_equal(hot.sum(axis=1), frame[name].notna())
    filled = frame["size"].astype(float).fillna(frame["size"].median())
    numbers = np.column_stack([filled, frame["share"]])
    np.testing.assert_allclose(
        features[["size", "share"]], AutoScaler("power").fit_transform(numbers)
    )
    vectors = np.array([one for one in frame["vector"] if one is not None])
    ratio = np.delete(features.filter(regex=r"^vector_\d").to_numpy(), 3, axis=0) / vectors
    np.testing.assert_allclose(ratio, ratio[0, 0])


def test_every_column_counts_the_same_and_text_as_much_as_all():
    frame = mixed(400)
    model = TablePreparation().fit(frame)
    features = pd.DataFrame(model.transform(frame), columns=model.get_feature_names_out())
    variance = features.var(ddof=0)
    assert variance.filter(regex="^day").sum() == pytest.approx(1)
    assert 0.3 < variance.filter(regex="^(kind|good)").sum() / 2 < 0.7
    plain = variance.filter(regex="^(size|share|day|kind|good)").sum()
    for name in ("note", "vector"):
        assert variance.filter(regex=rf"^{name}_\d").sum() == pytest.approx(plain)


def test_numbers_alone_are_what_the_scaler_makes_of_them():
    for X in (load_digits().data[:, 10:20], load_wine().data):
        np.testing.assert_allclose(
            TablePreparation().fit_transform(X), AutoScaler().fit_transform(X)
        )
    X = load_wine().data
    np.testing.assert_allclose(TablePreparation(scale="none").fit_transform(X), X)


def test_numbers_of_one_unit_keep_their_proportions_beside_others():
    X = load_digits().data[:100, 10:14]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=["x", "y"] * 50)
    features = TablePreparation().fit_transform(frame)[:, :4]
    ratio = features[X > 0] / X[X > 0]
    np.testing.assert_allclose(ratio, ratio[0])
    assert features.var(axis=0).mean() == pytest.approx(1)


def test_vectors_of_one_unit_stay_as_they_are():
    """Rows of length 1 would mix a class around zero with all others."""
    vectors = rng.normal(size=(20, 4)).astype(np.float32)
    features = TablePreparation().fit_transform(pl.DataFrame({"v": vectors}))
    assert features.dtype == np.float32
    np.testing.assert_array_equal(features, vectors)
    asked = TablePreparation(scale="unit").fit_transform(pl.DataFrame({"v": vectors}))
    np.testing.assert_allclose(np.linalg.norm(asked, axis=1), 1, rtol=1e-6)


def test_texts_of_several_columns_are_one_text():
    notes = mixed(100)[["note"]].fillna("")
    halves = notes["note"].str.split(n=3).apply(lambda words: [*words, "", "", "", ""][:4])
    first = halves.apply(lambda words: " ".join(words[:3]))
    frame = pd.DataFrame({"first": first + " and so on", "second": halves.str[3] + " as we said"})
    whole = pd.DataFrame({"note": frame["first"] + " " + frame["second"]})
    model = TablePreparation()
    np.testing.assert_array_equal(
        model.fit_transform(frame), TablePreparation().fit_transform(whole)
    )
    assert model.get_feature_names_out()[0] == "first+second_0"
    n_features = [entry.n_features for entry in model.report_.entries]
    assert sum(n_features) == len(model.get_feature_names_out())


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        (["red green", "green blue"] * 150, "3 words"),  # all of them common
        (["? !", "! ..", "- ?"] * 100, "letter groups"),
        (["one", ""], "letter groups"),
    ],
)
def test_text_of_few_words(cells, what):
    cells = np.array(cells, dtype=object)[:, None]
    block = _fit_block("text", {"x": cells}, ["x"], "auto")
    assert what in block.done
    features = block.encode({"x": cells})
    assert np.isfinite(features).all()
    assert features.shape[1] == len(block.features) > 0


def test_every_library_gives_the_same_features():
    frame = mixed()
    expected = TablePreparation().fit_transform(frame)
    table = as_table(frame)
    for other in (table, pl.from_arrow(table)):
        np.testing.assert_array_equal(TablePreparation().fit_transform(other), expected)


def test_each_row_is_treated_by_itself():
    frame = mixed()
    model = TablePreparation()
    features = model.fit_transform(frame)
    np.testing.assert_array_equal(model.transform(frame), features)
    for row in range(5):
        np.testing.assert_array_equal(model.transform(frame.iloc[[row]]), features[[row]])
    np.testing.assert_array_equal(clone(model).fit_transform(frame), features)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(frame), features)


@pytest.mark.parametrize(
    "y", [np.arange(N) % 3, np.arange(N) % 2 * 2 - 1, np.linspace(0, 1, N), np.zeros((N, 2))]
)
def test_labels_change_nothing_but_the_report(y):
    frame = mixed()
    np.testing.assert_array_equal(
        TablePreparation().fit_transform(frame, y), TablePreparation().fit_transform(frame)
    )


@pytest.mark.parametrize("compact", [False, True])
def test_a_model_of_a_mixed_table_labels_a_new_one(compact, tmp_path):
    frame = mixed(120)
    y = np.where(np.arange(120) < 40, (frame["share"] > 0.5).astype(int), -1)
    model = make_pipeline(make_preparation(frame), LaplacianClassifier(penalty="auto"))
    model.fit(frame, y)
    labelfold.save(model, tmp_path / "model.skops", compact=compact)
    new = mixed(30, seed=1)
    new.loc[4, "kind"] = "never seen"
    new.loc[5] = None
    new["share"] = [None, "unclear", *new["share"][2:]]
    new = new[list(new)[::-1]].drop(columns=["unit", "row_id"]).assign(more=1)
    script = (
        "import pickle, sys, labelfold\n"
        "model = labelfold.load(sys.argv[1])\n"
        "new = pickle.load(open(sys.argv[2], 'rb'))\n"
        "print(*model.predict(new))"
    )
    (tmp_path / "new.pickle").write_bytes(pickle.dumps(new))
    paths = [str(tmp_path / "model.skops"), str(tmp_path / "new.pickle")]
    done = subprocess.run(
        [sys.executable, "-c", script, *paths], stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout.split() == [str(label) for label in model.predict(new)]
    with pytest.raises(InputError, match="lacks columns 'kind', 'note'; it has"):
        labelfold.load(paths[0]).predict(new.drop(columns=["note", "kind"]))


def test_a_new_category_has_no_feature_and_a_missing_number_is_the_median():
    frame = pd.DataFrame({"kind": ["a", "b"] * 20, "x": np.arange(40.0) ** 2})
    model = TablePreparation().fit(frame)
    new = model.transform(pd.DataFrame({"kind": ["c", None], "x": [None, 1e30]}))
    names = model.get_feature_names_out().tolist()
    assert new[:, [names.index("kind_a"), names.index("kind_b")]].tolist() == [[0, 0], [0, 0]]
    middle = model.transform(pd.DataFrame({"kind": ["a"], "x": [frame["x"].median()]}))
    assert new[0, names.index("x")] == middle[0, names.index("x")]


def test_columns_that_change_what_they_hold_are_refused():
    model = TablePreparation().fit(mixed()[["vector", "share"]])
    short = pd.DataFrame({"vector": [[1.0, 2.0]], "share": [0.5]})
    with pytest.raises(InputError, match="2 features, but SimpleImputer is expecting 8"):
        model.transform(short)
    with pytest.raises(InputError, match="'vector' holds double, and was a vector in fit"):
        model.transform(pd.DataFrame({"vector": [1.0], "share": [0.5]}))
    with pytest.raises(InputError, match="3 features, but TablePreparation is expecting 2"):
        model.transform(np.zeros((1, 3)))
    with pytest.raises(InputError, match="lacks columns 'c', 'd'; it has 'a', 'b'"):
        TablePreparation(["a", "c", "d"]).fit(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
    with pytest.raises(InputError, match="no column to use: 'a' is constant, 'b' is empty"):
        TablePreparation().fit(pd.DataFrame({"a": [1, 1], "b": [None, None]}))
    with pytest.raises(InputError, match="labels='c' is not a column: choose from a, b"):
        make_preparation(pd.DataFrame({"a": [1], "b": [2]}), labels="c")


def test_many_constant_columns():
    frame = pd.DataFrame(rng.normal(size=(50, 300)))
    frame.iloc[:, ::7] = 1.0
    model = TablePreparation().fit(frame)
    assert model.transform(frame).shape == (50, 300 - 43)
    assert "left out 0 (constant), 7 (constant), 14 (constant), 21 (constant) and 39 more" in str(
        model.report_
    )


def test_report():
    frame = mixed().assign(class_name=["x", "y", "z"] * 20, odd=["1"] * 59 + ["one"])
    frame["odd"] = [str(one) for one in range(100, 159)] + ["one"]
    y = np.where(np.arange(N) < 12, np.arange(N) % 3, -1)
    report = TablePreparation().fit(frame, y).report_
    text = str(report)
    assert text.startswith("3 numbers, 1 yes/no, 2 categories, 1 date, 1 text, 1 vector: ")
    for part in (
        "numbers brought to one scale (ranges of columns differ up to ",
        "left out row_id (id), unit (constant)",
        "1 unreadable cell;",
        "class_name gives away the class of every labeled row",
    ):
        assert part in text
    rows = {row["name"]: row for row in json.loads(json.dumps(report.to_dict()))["columns"]}
    assert list(rows) == list(frame)
    assert [rows[name]["n_missing"] for name in ("size", "day", "note", "vector")] == [1] * 4
    assert rows["odd"]["n_unreadable"] == 1
    assert rows["class_name"]["copies_labels"]
    assert sum(row["n_features"] for row in rows.values()) == len(
        TablePreparation().fit(frame).get_feature_names_out()
    )
    assert report.to_frame()["taken_for"].tolist() == [row["taken_for"] for row in rows.values()]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["a", "b", "c"] * 4, True),
        ([1, 2, 3] * 4, True),
        (["a", "b", "b"] * 4, False),
        (["a", "b", "c"] * 3 + ["c", "b", "a"], False),
        (list(range(12)), False),
        (["a", "b", "c"] * 3 + ["a", "b", None], False),
    ],
)
def test_copies_of_the_labels(cells, found):
    column = get_column(as_table(pd.DataFrame({"x": cells + [None] * 5})), "x")
    columns = {"x": read_cells(column, recognize("x", column)[0])}
    y = [0, 1, 2] * 4 + [-1] * 5
    assert find_label_copies(columns, y) == (["x"] if found else [])
    assert find_label_copies(columns, [0, 1, 2, 0, 1, 2] + [-1] * 11) == []  # may be chance


def test_output_as_a_frame():
    frame = mixed()
    model = make_preparation(frame, labels="good").set_output(transform="pandas")
    features = model.fit_transform(frame)
    assert list(features) == list(model.get_feature_names_out())
    assert features.index.equals(frame.index)
    assert not any(name.startswith("good") for name in features)


def test_it_is_an_estimator_of_scikit_learn():
    check_estimator(TablePreparation())


def test_matrices_are_scaled_without_the_packages_for_tables():
    script = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name.partition('.')[0] in ('pandas', 'polars', 'pyarrow', 'skrub'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import numpy as np, labelfold.tables.preparation, labelfold.persistence\n"
        "from labelfold.tables.scaling import AutoScaler\n"
        "print(AutoScaler().fit_transform(np.eye(3) * [1, 9, 99]).shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout.strip() == "(3, 3)"
