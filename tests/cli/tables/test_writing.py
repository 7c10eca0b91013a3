from __future__ import annotations

import gzip
import io

import numpy as np
import pyarrow.parquet as pq
import pytest

from labelfold.cli.tables import TableError, output_format, read_table, write_table

COORDINATES = np.array([[0.1, -1 / 3], [1e-300, 2.0]])
COLUMNS = {"id": ["p", "q,r"], "x": COORDINATES, "label": [3, None], "confidence": [0.5, np.nan]}


def written(columns, name):
    stream = io.BytesIO()
    write_table(stream, columns, name=name)
    assert not stream.closed
    return stream.getvalue()


def test_csv():
    assert written(COLUMNS, "a.csv").decode() == (
        'id,x1,x2,label,confidence\np,0.1,-0.3333333333333333,3,0.5\n"q,r",1e-300,2.0,,\n'
    )


def test_tsv():
    assert written({"a": ["x\ty", "z"], "b": [1, 2]}, "a.tsv") == b'a\tb\n"x\ty"\t1\nz\t2\n'


def test_parquet():
    table = pq.read_table(io.BytesIO(written(COLUMNS, "a.parquet")))
    assert table.to_pydict() == {
        "id": ["p", "q,r"],
        "x1": [0.1, 1e-300],
        "x2": [-1 / 3, 2.0],
        "label": [3, None],
        "confidence": [0.5, None],
    }


def test_npz_keeps_matrices_and_needs_no_pickle():
    with np.load(io.BytesIO(written(COLUMNS, "a.npz")), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["x"], COORDINATES)
        assert arrays["id"].tolist() == ["p", "q,r"]
        assert arrays["label"].tolist() == [3, -1]
        np.testing.assert_array_equal(arrays["confidence"], [0.5, np.nan])


@pytest.mark.parametrize(
    ("labels", "stored"),
    [
        (["a", None], ["a", ""]),
        ([1, None], [1.0, np.nan]),
        ([None, None], [-1, -1]),
        ([2, 3], [2, 3]),
        ([True, False], [True, False]),
        ([1.0, None], [1.0, np.nan]),
    ],
)
def test_labels_in_npz(labels, stored):
    column = np.empty(2, dtype=object)
    column[:] = labels
    with np.load(io.BytesIO(written({"y": column}, "a.npz"))) as arrays:
        np.testing.assert_array_equal(arrays["y"], stored)


def test_npy_holds_the_one_matrix():
    np.testing.assert_array_equal(np.load(io.BytesIO(written(COLUMNS, "a.npy"))), COORDINATES)
    with pytest.raises(TableError, match="holds one matrix, and here are 0"):
        written({"a": [1]}, "a.npy")


@pytest.mark.parametrize("ending", ["csv", "tsv", "npz", "npy", "parquet"])
def test_gzip(ending):
    packed = written(COLUMNS, f"a.{ending}.gz")
    assert gzip.decompress(packed) == written(COLUMNS, f"a.{ending}")
    assert packed[4:8] == bytes(4)  # no time, so that the same table gives the same bytes


def test_many_rows(tmp_path):
    X = np.random.default_rng(0).standard_normal((25_000, 2))
    path = tmp_path / "a.csv"
    path.write_bytes(written({"x": X}, path))
    np.testing.assert_array_equal(read_table(path).X, X)


def test_float32_is_written_with_its_exact_value():
    assert written({"a": np.array([0.1], dtype=np.float32)}, "a.csv") == (
        b"a\n0.10000000149011612\n"
    )


def test_no_rows():
    assert written({"a": [], "b": []}, "a.csv") == b"a,b\n"


def test_format_for_a_stream_without_name():
    stream = io.BytesIO()
    write_table(stream, {"a": [1]}, format="tsv")
    assert stream.getvalue() == b"a\n1\n"


@pytest.mark.parametrize("name", ["map", "map.txt", "map.svm", "map.gz", "map.xlsx"])
def test_unknown_ending(name):
    with pytest.raises(TableError, match=r"the ending of an output is one of \.csv, \.tsv"):
        output_format(name)


def test_unequal_lengths_and_equal_names():
    with pytest.raises(TableError, match="one length"):
        written({"a": [1, 2], "b": [1]}, "a.csv")
    with pytest.raises(TableError, match="two output columns are named 'x1'"):
        written({"x": COORDINATES, "x1": [1, 2]}, "a.csv")
    with pytest.raises(TableError, match="cannot be written"):
        write_table(io.BytesIO(), {"a": [1]}, format="svmlight")
