"""Any table of good values comes back exactly, whatever the format."""

from __future__ import annotations

import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelfold.cli.tables import read_table, write_table

numbers = st.floats(-1e152, 1e152, allow_subnormal=True)
words = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1, max_size=8)
names = words.map(lambda word: "c " + word.strip()).map(str.strip)


@st.composite
def matrices(draw):
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 6)))
    rows = st.lists(numbers, min_size=shape[1], max_size=shape[1])
    return np.array(draw(st.lists(rows, min_size=shape[0], max_size=shape[0])))


@st.composite
def labels_of(draw, n_rows, kinds=("integer", "text")):
    value = {
        "integer": st.integers(0, 9),
        # Words that are neither numbers nor signs of a missing label.
        "text": words.map(lambda word: f"k{word}".strip()),
    }[draw(st.sampled_from(kinds))]
    cells = draw(st.lists(st.none() | value, min_size=n_rows, max_size=n_rows))
    labels = np.empty(n_rows, dtype=object)
    labels[:] = cells
    # -1 for an unlabelled row next to nothing but 1 would be refused.
    labels[labels == 1] = 2
    return labels


def read_bytes(content, name, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        return read_table(path, **options)


def check(table, X, labels=None):
    found = table.X.toarray() if sp.issparse(table.X) else table.X
    np.testing.assert_array_equal(found, X)
    assert found.dtype == np.float64
    if labels is not None:
        assert table.labels.tolist() == labels.tolist()


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "csv.gz", "parquet.gz"])
@given(st.data())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_columns(ending, data):
    X = data.draw(matrices())
    labels = data.draw(labels_of(len(X)))
    titles = data.draw(st.lists(names, min_size=X.shape[1], max_size=X.shape[1], unique=True))
    row_ids = [f"r{i}" for i in range(len(X))]
    columns = {"row": row_ids, **dict(zip(titles, X.T, strict=True)), "the label": labels}
    stream = io.BytesIO()
    write_table(stream, columns, name=f"x.{ending}")
    table = read_bytes(stream.getvalue(), f"x.{ending}", labels="the label", id_column="row")
    check(table, X, labels)
    assert table.feature_names == titles
    assert table.row_ids == row_ids


@pytest.mark.parametrize("ending", ["npz", "npz.gz", "npy", "npy.gz"])
@given(st.data())
@settings(max_examples=20, deadline=None, derandomize=True)
def test_arrays(ending, data):
    X = data.draw(matrices())
    labels = data.draw(labels_of(len(X))) if "npz" in ending else None
    stream = io.BytesIO()
    columns = {"X": X} if labels is None else {"X": X, "y": labels}
    write_table(stream, columns, name=f"x.{ending}")
    check(read_bytes(stream.getvalue(), f"x.{ending}"), X, labels)


@given(matrices(), st.sampled_from(["csr", "csc", "coo"]))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_sparse_npz(X, form):
    stream = io.BytesIO()
    sp.save_npz(stream, sp.csr_array(X).asformat(form))
    check(read_bytes(gzip.compress(stream.getvalue()), "x.npz.gz"), X)


@given(st.data())
@settings(max_examples=20, deadline=None, derandomize=True)
def test_svmlight(data):
    X = data.draw(matrices())
    labels = data.draw(labels_of(len(X), kinds=("integer",)))
    given_labels = [-1 if label is None else label for label in labels]
    X[:, -1] = 1.0  # the format leaves zeros out, and the number of columns
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row) if x)
        for label, row in zip(given_labels, X.tolist(), strict=True)
    ]
    check(read_bytes("\n".join(lines).encode(), "x.svm"), X, labels)


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 3), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_idx(n_images, height, width, random):
    pixels = np.array([random.randrange(256) for _ in range(n_images * height * width)])
    header = bytes([0, 0, 8, 3]) + np.array([n_images, height, width], dtype=">u4").tobytes()
    content = header + pixels.astype(np.uint8).tobytes()
    check(read_bytes(content, "x-idx3-ubyte"), pixels.reshape(n_images, -1))


@given(matrices())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_csv_without_header(X):
    content = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    check(read_bytes(content.encode(), "x.csv", header=False), X)
