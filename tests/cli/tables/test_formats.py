from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from labelfold.cli.tables.formats import format_of_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"),
        ("A.CSV.GZ", "csv"),
        ("a.b.tsv", "tsv"),
        ("a.pq", "parquet"),
        ("train-images-idx3-ubyte.gz", "idx"),
        ("train-images.idx3-ubyte", "idx"),
        ("a.libsvm", "svmlight"),
        ("a.txt", None),
        ("a", None),
    ],
)
def test_by_name(name, expected):
    assert format_of_name(name) == expected


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture"),
        (b"\xff\xd8\xff\xe0\0", "a JPEG picture"),
        (b"%PDF-1.7", "a PDF document"),
        (b"\xd0\xcf\x11\xe0\xa1", "Excel"),
        (b"\x89HDF\r\n", "an HDF5 file"),
        (b"BZh91AY&SY", "packed with bzip2"),
        (b"\xfd7zXZ\0", "packed with xz"),
        (b"a\0b", "binary data of no known kind"),
        (b"", "is empty"),
    ],
)
@pytest.mark.parametrize("name", ["data.csv", "data.npy", "data"])
def test_other_kinds_of_files(refusal, content, kind, name):
    assert kind in refusal(content, name)


def test_text_that_begins_like_another_file(read):
    for word in ("PAR1", "GIF8", "BZh", "MATLAB", "SQLite", "%PDF"):
        assert read(f"{word},b\n1,2\n").feature_names == [word, "b"]


def test_content_that_contradicts_the_name(refusal):
    stream = io.BytesIO()
    np.save(stream, np.eye(2))
    message = refusal(stream.getvalue())
    assert "data.csv holds a NumPy array, and its name says csv: pass --format npy" in message
    assert "data.npy holds text, and its name says npy" in refusal("1,2\n", "data.npy")


def test_format_overrides_the_name(read, refusal):
    stream = io.BytesIO()
    np.save(stream, np.eye(2))
    np.testing.assert_array_equal(read(stream.getvalue(), format="npy").X, np.eye(2))
    assert "--format npz says npz" in refusal(stream.getvalue(), "x.npy", format="npz")


def test_unknown_format(write):
    from labelfold.cli.tables import TableError, read_table

    with pytest.raises(TableError, match="--format xls is unknown: choose from csv, tsv"):
        read_table(write("1,2\n"), format="xls")


@pytest.mark.parametrize("name", ["book.xlsx", "data.npz"])
def test_zip_of_other_things(refusal, name):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/workbook.xml", "<xml/>")
    assert "not one of NumPy arrays: save a spreadsheet as CSV" in refusal(stream.getvalue(), name)


def test_text_without_ending_is_csv_unless_it_is_svmlight(read):
    assert read("1,2\n3,4\n", "data.txt").X.tolist() == [[1, 2], [3, 4]]
    assert read("1 1:2\n0 2:3\n", "data.txt").X.toarray().tolist() == [[2, 0], [0, 3]]
