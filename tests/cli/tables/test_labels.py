from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

from labelfold import PartialLabels
from labelfold.cli.tables import TableError, read_table


def table_of(cells):
    return "a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["3", "5", "3"], [3, 5, 3]),
        (["3", "", "-1", "4"], [3, None, None, 4]),
        (["+1", "0", "2"], [1, 0, 2]),
        (["1.0", "2", "nan"], [1.0, 2.0, None]),
        (["007", "7", "8"], ["007", "7", "8"]),
        (["00.5", "1"], ["00.5", "1"]),
        (["True", "False", ""], ["True", "False", None]),
        (["cat", "NA", "?", "null", "None", "NaN", "dog"], ["cat", *[None] * 5, "dog"]),
        (["1", "2", "x"], ["1", "2", "x"]),
        (["none", "some"], ["none", "some"]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        ([" a", "a ", '"b"'], ["a", "a", "b"]),
        (["", "", ""], [None, None, None]),
        (["-1", "-1"], [None, None]),
    ],
)
def test_cells(read, cells, labels):
    found = read(table_of(cells), labels="y").labels
    assert found.dtype == object
    assert found.tolist() == labels
    assert [type(x) for x in found] == [type(x) for x in labels]
    PartialLabels.from_y(found)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-1", "1"], "column 'y' holds just -1 and 1"),
        (["1", "-1", ""], "column 'y' holds just -1 and 1"),
        (["1.0", "-1.0"], "column 'y' holds just -1 and 1"),
        (["a", "-1", "b"], "holds -1 among labels of text (line 3)"),
        (["1", "2.5", "3"], "holds 2.5 (line 3), and labels are classes"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(refusal, cells, expected):
    assert expected in refusal(table_of(cells), labels="y")


def test_no_column_of_labels(read):
    table = read("a,b\n1,2\n")
    assert table.labels is None
    assert table.n_labeled == 0
    assert table.class_counts == {}
    assert not table.is_labeled.any()


def test_class_counts_are_in_order(read):
    table = read(table_of(["9", "10", "", "9"]), labels="y")
    assert table.class_counts == {9: 2, 10: 1}
    assert list(table.class_counts) == [9, 10]


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


class TestFile:
    data = "1,2\n3,4\n5,6\n"

    def read(self, write, content, name):
        return read_table(write(self.data), labels_file=write(content, name)).labels.tolist()

    @pytest.mark.parametrize(
        ("content", "name", "labels"),
        [
            ("a\nb\na\n", "y.csv", ["a", "b", "a"]),
            ("kind\na\nb\na\n", "y.csv", ["a", "b", "a"]),
            ("a\n\nb\n", "y.csv", ["a", None, "b"]),
            ("a\nb\n\n", "y.txt", ["a", "b", None]),
            ("3\n-1\n4", "y.csv", [3, None, 4]),
            ("a, b\nc\nd\n", "y.tsv", ["a, b", "c", "d"]),
            (npy(np.array([3, -1, 4])), "y.npy", [3, None, 4]),
            (npy(np.array([3.0, np.nan, 4])), "y.npy", [3.0, None, 4.0]),
            (npy(np.array(["a", "", "b"])), "y.npy", ["a", None, "b"]),
            (npy(np.array([b"a", b"", b"b"])), "y.npy", ["a", None, "b"]),
            (npy(np.array([[3], [2], [4]])), "y.npy", [3, 2, 4]),
            (npy(np.array([True, False, True])), "y.npy", [True, False, True]),
            (bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 9]), "y-labels-idx1-ubyte", [7, 0, 9]),
            (gzip.compress(b"a\nb\na\n", mtime=0), "y.csv.gz", ["a", "b", "a"]),
        ],
    )
    def test_formats(self, write, content, name, labels):
        assert self.read(write, content, name) == labels

    @pytest.mark.parametrize(
        ("content", "name", "expected"),
        [
            ("a\nb\n", "y.csv", "2 labels for 3 rows"),
            ("a\nb\nc\nd\ne\n", "y.csv", "5 labels for 3 rows"),
            # One label too many is not a header.
            ("a\nb\na\nb\n", "y.csv", "4 labels for 3 rows"),
            ("1\n2\n3\n4\n", "y.csv", "4 labels for 3 rows"),
            ("kind\na\nb\n\n", "y.csv", "3 lines and a blank one"),
            ("a,1\nb,2\nc,3\n", "y.csv", "line 1 has 2 cells"),
            (npy(np.array([1, 2])), "y.npy", "2 labels for 3 rows"),
            (npy(np.zeros((3, 2))), "y.npy", "has shape (3, 2)"),
            (npy(np.array([1, 2, 3], dtype=complex)), "y.npy", "dtype complex128"),
            (npy(np.array([b"\xff", b"a", b"b"])), "y.npy", "not UTF-8"),
            ("1 1:2\n", "y.svm", "is an svmlight file"),
            ("é\na\nb".encode("latin-1"), "y.csv", "line 1 is not UTF-8"),
        ],
    )
    def test_refused(self, write, content, name, expected):
        with pytest.raises(TableError) as caught:
            self.read(write, content, name)
        assert expected in str(caught.value)
        assert name in str(caught.value)

    def test_column_and_file_contradict(self, write):
        with pytest.raises(TableError, match="--labels and --labels-file"):
            read_table(write(self.data), labels=1, labels_file="y.csv")
