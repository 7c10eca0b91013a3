from __future__ import annotations

import contextlib
import datetime
import decimal
import io
import os
import pickle
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labelfold.cli.tables import TableError, read_table


def pack(table, **options):
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def test_numbers_labels_and_row_names(read):
    table = pa.table(
        {
            "a": pa.array([1, 2, 3], pa.int8()),
            "b": pa.array([0.1, 0.2, 0.3], pa.float64()),
            "c": pa.array([1.5, 2.5, 3.5], pa.float32()),
            "d": [True, False, True],
            "e": pa.array([decimal.Decimal("1.25")] * 3),
            "y": pa.array(["x", None, "z"]).dictionary_encode(),
            "id": [7, 8, 9],
        }
    )
    found = read(pack(table), "x.parquet", labels="y", id_column="id")
    np.testing.assert_array_equal(
        found.X, [[1, 0.1, 1.5, 1, 1.25], [2, 0.2, 2.5, 0, 1.25], [3, 0.3, 3.5, 1, 1.25]]
    )
    assert found.feature_names == ["a", "b", "c", "d", "e"]
    assert found.labels.tolist() == ["x", None, "z"]
    assert found.row_ids == [7, 8, 9]


def test_order_of_features_is_the_one_asked_for(read):
    content = pack(pa.table({"a": [1.0], "b": [2.0], "c.d": [3.0]}))
    assert read(content, "x.parquet", features=["c.d", "a"]).X.tolist() == [[3, 1]]


def test_many_row_groups(read):
    X = np.random.default_rng(0).standard_normal((5000, 3))
    content = pack(pa.table({f"c{i}": X[:, i] for i in range(3)}), row_group_size=700)
    np.testing.assert_array_equal(read(content, "x.parquet").X, X)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([3, -1, 4], [3, None, 4]),
        ([3, None, 4], [3, None, 4]),
        ([True, None, False], [True, None, False]),
        (["1", "2", "NA"], ["1", "2", None]),
        ([1.0, float("nan"), 2.0], [1.0, None, 2.0]),
    ],
)
def test_labels_keep_their_kind(read, values, labels):
    found = read(pack(pa.table({"a": [1, 2, 3], "y": values})), "x.parquet", labels="y").labels
    assert found.tolist() == labels
    assert [type(x) for x in found] == [type(x) for x in labels]


def test_index_of_pandas_holds_row_names(read):
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=["p", "q"])
    stream = io.BytesIO()
    frame.to_parquet(stream)
    found = read(stream.getvalue(), "x.parquet")
    assert found.row_ids == ["p", "q"]
    assert found.feature_names == ["a", "b"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["x", "y"], "column 'b' holds string, not numbers: leave it out with --ignore b"),
        ([[1, 2], [3]], "spread it over columns"),
        ([{"k": 1}, {"k": 2}], "spread it over columns"),
        ([datetime.date(2024, 1, 1)] * 2, "turn dates and times into numbers"),
        ([b"x", b"y"], "not numbers"),
        ([1.0, None], "row 2, column 'b': a missing value"),
        ([None, None], "row 1, column 'b': the first of 2 missing values"),
        ([1, None], "row 2, column 'b': a missing value"),
        ([True, None], "row 2, column 'b': a missing value"),
        ([1.0, float("inf")], "row 2, column 'b': infinite"),
        ([1.0, 1e200], "row 2, column 'b': huge value 1e+200"),
    ],
)
def test_refused_columns(refusal, values, expected):
    assert expected in refusal(pack(pa.table({"a": [1, 2], "b": values})), "x.parquet")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, -1], "column 'b' holds just -1 and 1"),
        ([[1], [2]], "name a column of single values"),
        ([0.5, 1.0], "holds 0.5 (row 1)"),
        ([datetime.date(2024, 1, 1)] * 2, "values of type date"),
    ],
)
def test_refused_labels(refusal, values, expected):
    content = pack(pa.table({"a": [1, 2], "b": values}))
    assert expected in refusal(content, "x.parquet", labels="b")


def test_refused_tables(refusal):
    assert "has no rows" in refusal(pack(pa.table({"a": pa.array([], pa.int64())})), "x.parquet")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert "columns 1, 2 are all named 'a'" in refusal(pack(twice), "x.parquet")
    assert "did you mean 'kind'" in refusal(
        pack(pa.table({"a": [1], "kind": ["x"]})), "x.parquet", labels="knd"
    )


def test_limit_on_unpacked_size(refusal):
    content = pack(pa.table({"a": np.zeros(10**6)}), use_dictionary=False, compression="gzip")
    assert len(content) < 10**5
    assert "unpacks to 8 MB, beyond the limit" in refusal(content, "x.parquet", max_bytes=10**6)


def test_memory_is_asked_for_by_number_of_rows(refusal, monkeypatch):
    from labelfold.cli.tables import memory

    # A column of one value takes no room in the file.
    content = pack(pa.table({"a": np.zeros(10**6)}))
    assert len(content) < 10**5
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    assert "1,000,000 rows and 1 columns need 8 MB" in refusal(content, "x.parquet")


def test_labels_in_a_file_of_their_own(write):
    data = write("1,2\n3,4\n")
    labels = write(pack(pa.table({"y": ["a", None]})), "y.parquet")
    assert read_table(data, labels_file=labels).labels.tolist() == ["a", None]
    labels = write(pack(pa.table({"y": ["a", None], "z": [1, 2]})), "z.parquet")
    with pytest.raises(TableError, match="has 2 columns: a file of labels has one"):
        read_table(data, labels_file=labels)


def test_without_pyarrow(write, monkeypatch):
    path = write(pack(pa.table({"a": [1]})), "x.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TableError, match=r'pip install "labelfold\[io\]"'):
        read_table(path)


class Trap(pa.ExtensionType):
    """A type that releases of pyarrow before 14.0.1 read by unpickling what it stored."""

    def __init__(self, folder):
        self._folder = folder
        super().__init__(pa.int64(), "arrow.py_extension_type")

    def __arrow_ext_serialize__(self):
        return pickle.dumps(self)

    def __reduce__(self):
        return os.mkdir, (str(self._folder),)


def test_no_type_of_a_file_is_unpickled(write, tmp_path):
    folder = tmp_path / "made by the file"
    column = pa.ExtensionArray.from_storage(Trap(folder), pa.array([1, 2]))
    path = write(pack(pa.table({"a": column, "b": [3, 4]})), "x.parquet")
    with contextlib.suppress(TableError):
        read_table(path)
    assert not folder.exists()
