"""Tables of several libraries as a pyarrow Table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from labelfold.exceptions import InputError
from labelfold.tables import frames
from labelfold.tables.frames import as_table, get_column, to_array

CELLS = {"size": [1.5, None, 3.0], "kind": ["a", None, "b"], "good": [True, False, None]}
VECTORS = [[1.0, 2.0], None, [5.0, 6.0]]
HALVES = [None if one is None else [np.float16(number) for number in one] for one in VECTORS]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_library_gives_the_same_columns(make):
    assert as_table(make(CELLS)).to_pydict() == CELLS


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"v": VECTORS}),
        pd.DataFrame({"v": [np.nan if v is None else np.array(v) for v in VECTORS]}),
        pl.DataFrame({"v": VECTORS}),
        pl.DataFrame({"v": VECTORS}, schema={"v": pl.Array(pl.Float32, 2)}),
        pa.table({"v": pa.array(VECTORS, type=pa.list_(pa.float64()))}),
        pa.table({"v": pa.array(HALVES, type=pa.list_(pa.float16(), 2))}),
        pa.table({"v": pa.chunked_array([VECTORS[:1], VECTORS[1:]], type=pa.list_(pa.int64()))}),
    ],
)
def test_lists_of_numbers_are_vectors(frame):
    vectors = to_array(get_column(as_table(frame), "v"))
    np.testing.assert_array_equal(vectors, [[1, 2], [np.nan, np.nan], [5, 6]])


def test_float32_vectors_are_not_copied():
    array = np.arange(6, dtype=np.float32)
    column = pa.FixedSizeListArray.from_arrays(pa.array(array), 3)
    vectors = to_array(get_column(as_table(pa.table({"v": column})), "v"))
    assert vectors.dtype == np.float32
    assert np.shares_memory(vectors, array)


def test_matrices_have_numbered_columns():
    table = as_table(np.array([[1.0, np.nan], [3.0, 4.0]]))
    assert table.to_pydict() == {"x0": [1.0, 3.0], "x1": [None, 4.0]}


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        ([1, "many", None, 2.5], ["1", "many", None, "2.5"]),
        ([True, 1, pd.NA, 2.5], ["True", "1", None, "2.5"]),
    ],
)
def test_cells_of_mixed_types_become_strings(cells, texts):
    frame = pd.DataFrame({"x": np.array(cells, dtype=object)})
    assert as_table(frame)["x"].to_pylist() == texts


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "2 columns are all named 'a'"),
        (
            pl.DataFrame({"v": [[1.0], [1.0, 2.0]]}),
            "row 2, column 'v': a vector of 2 numbers after",
        ),
        (np.zeros(3), "Expected 2D array"),
        (sp.eye_array(3), "sparse matrix"),
    ],
)
def test_refusals(X, message):
    with pytest.raises(InputError, match=message):
        as_table(X)


def test_an_array_does_not_need_pyarrow_to_be_refused_politely(monkeypatch):
    monkeypatch.setattr(frames, "pa", None)
    with pytest.raises(ImportError, match=r'pip install "labelfold\[app\]"'):
        as_table(np.zeros((2, 2)))
