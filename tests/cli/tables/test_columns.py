from __future__ import annotations

import numpy as np
import pytest

NAMED = "id,p0,p1,p2,other,y\n7,1,2,3,4,0\n8,5,6,7,8,1\n"
BARE = "1,2,3,0\n5,6,7,1\n"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ["id", "p0", "p1", "p2", "other", "y"]),
        ({"labels": "y"}, ["id", "p0", "p1", "p2", "other"]),
        ({"labels": -1, "id_column": 1}, ["p0", "p1", "p2", "other"]),
        ({"labels": "6", "ignore": ["id", "p1"]}, ["p0", "p2", "other"]),
        ({"features": ["p*"]}, ["p0", "p1", "p2"]),
        ({"features": ["p*"], "ignore": ["p1"]}, ["p0", "p2"]),
        ({"features": ["2-4"]}, ["p0", "p1", "p2"]),
        ({"features": ["p2", "p0"]}, ["p2", "p0"]),
        ({"features": ["p2", "p*"]}, ["p2", "p0", "p1"]),
        ({"ignore": ["p?", 1, "-1"]}, ["other"]),
    ],
)
def test_named_columns(read, options, names):
    table = read(NAMED, **options)
    assert table.feature_names == names
    full = read(NAMED)
    order = [full.feature_names.index(name) for name in names]
    np.testing.assert_array_equal(table.X, full.X[:, order])


def test_row_names_stay_as_written(read):
    table = read("id,a\n007,1\n08,2\n", id_column="id")
    assert table.row_ids == ["007", "08"]


def test_columns_by_number_without_header(read):
    table = read(BARE, labels=4, features=[3, "1"])
    np.testing.assert_array_equal(table.X, [[3, 1], [7, 5]])
    assert table.labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"labels": "Y"}, "--labels 'Y': there is no such column: did you mean 'y'?"),
        ({"labels": "othr"}, "did you mean 'other'?"),
        ({"labels": "zzz"}, "choose from 'id', 'p0', 'p1', 'p2', 'other', 'y'."),
        ({"ignore": ["q*"]}, "--ignore 'q*': there is no such column"),
        ({"labels": 7}, "--labels 7: there are 6 columns, numbered from 1"),
        ({"labels": 0}, "--labels 0: there are 6 columns"),
        ({"labels": -7}, "there are 6 columns"),
        ({"features": ["4-2"]}, "--features '4-2'"),
        ({"labels": "p*"}, "--labels 'p*' names 3 columns"),
        ({"labels": "y", "id_column": "y"}, "--labels and --id-column name the same column"),
        ({"labels": "y", "features": ["p0", "y"]}, "is named by --features and by --labels"),
        ({"ignore": ["*"]}, "no column is left as a feature"),
        ({"features": []}, "no column is left as a feature"),
    ],
)
def test_what_cannot_be_found(refusal, options, expected):
    assert expected in refusal(NAMED, **options)


def test_name_without_header(refusal):
    assert "the columns have no names: give a number from 1 to 4" in refusal(BARE, labels="kind")


def test_numbers_are_names_where_names_are_numbers(read, refusal):
    text = "0,1,2,y\n5,6,7,1\n8,9,1,0\n"
    assert read(text, labels="y", ignore=["0"]).feature_names == ["1", "2"]
    assert "there is no such column" in refusal(text, labels="y", ignore=["3"])
    assert "there is no such column" in refusal(text, labels="y", ignore=["-1"])


def test_name_with_pattern_letters_is_a_name_first(read):
    assert read("a*,ab\n1,2\n3,4\n", ignore=["a*"]).feature_names == ["ab"]
