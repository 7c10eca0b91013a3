"""Malformed files of every format end in a TableError of one line, and in nothing else.

Faults of text tables are those of tests/cli/test_malformed.py, which meets them in every command.
"""

from __future__ import annotations

import gzip
import io
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelfold.cli.tables import FORMATS, TableError, read_table

ENDINGS = ("csv", "tsv", "parquet", "npy", "npz", "svm", "idx", "txt")


def outcome(content, name, **options):
    """Read the bytes: the message of the refusal, or None if there is a good table."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            table = read_table(path, max_bytes=10**7, **options)
        except TableError as error:
            message = str(error)
            assert "\n" not in message
            assert message.endswith((".", "?"))
            assert name in message
            assert len(message.replace(folder, "")) < 700
            # The problem, then the way out.
            assert ": " in message
            return message
    values = table.X.data if sp.issparse(table.X) else table.X
    assert np.isfinite(values).all()
    assert table.X.shape[0] > 0
    return None


@pytest.mark.parametrize("ending", ENDINGS)
@given(content=st.binary(max_size=300))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_random_bytes(ending, content):
    outcome(content, f"data.{ending}")


@given(
    st.text(st.sampled_from('01.,;\t\n\r"-e xNA:#')), st.sampled_from(["csv", "tsv", "svm", "txt"])
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_random_text(content, ending):
    outcome(content.encode(), f"data.{ending}")


def good_files():
    X = np.random.default_rng(0).standard_normal((6, 3)).round(3)
    y = np.array(["a", "b", "", "a", "b", ""])
    text = "a,b,c,y\n" + "".join(
        ",".join(map(repr, row)) + f",{label}\n" for row, label in zip(X.tolist(), y, strict=True)
    )
    svmlight = "".join(
        f"{i % 3} " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(row)) + "\n"
        for i, row in enumerate(X.tolist())
    )
    npy, npz, sparse, parquet = (io.BytesIO() for _ in range(4))
    np.save(npy, X)
    np.savez(npz, X=X, y=y)
    sp.save_npz(sparse, sp.csr_array(np.where(X > 0, X, 0)))
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y}), parquet)
    return {
        "x.csv": (text.encode(), {"labels": "y"}),
        "x.svm": (svmlight.encode(), {}),
        "x.npy": (npy.getvalue(), {}),
        "x.npz": (npz.getvalue(), {}),
        "sparse.npz": (sparse.getvalue(), {}),
        "x.parquet": (parquet.getvalue(), {"labels": "y"}),
        "x.idx": (bytes([0, 0, 8, 2, 0, 0, 0, 3, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6]), {}),
    }


GOOD = good_files()
GOOD |= {f"{name}.gz": (gzip.compress(content, mtime=0), k) for name, (content, k) in GOOD.items()}


@pytest.mark.parametrize("name", GOOD)
def test_good_files_are_good(name):
    content, options = GOOD[name]
    assert outcome(content, name, **options) is None


@pytest.mark.parametrize("name", GOOD)
@given(data=st.data())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_altered_files(name, data):
    content, options = GOOD[name]
    altered = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        altered[data.draw(st.integers(0, len(altered) - 1))] = data.draw(st.integers(0, 255))
    outcome(bytes(altered), name, **options)


@pytest.mark.parametrize("name", [name for name in GOOD if name not in ("x.csv", "x.svm")])
@given(data=st.data())
@settings(max_examples=30, deadline=None, derandomize=True)
def test_files_cut_short(name, data):
    content, options = GOOD[name]
    cut = content[: data.draw(st.integers(0, len(content) - 1))]
    assert outcome(cut, name, **options) is not None


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.parquet", "x.idx"])
def test_wrong_ending(name):
    content, _ = GOOD[name]
    for ending in {"csv", "npy", "npz", "parquet", "idx", "svm"} - {name.split(".")[1]}:
        message = outcome(content, f"y.{ending}")
        assert message is not None
        assert "pass --format" in message


def test_formats_are_all_covered():
    assert {"csv", "tsv", "svmlight", "npy", "npz", "parquet", "idx"} == set(FORMATS)
