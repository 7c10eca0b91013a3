from __future__ import annotations

import io
import struct

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file


def idx(shape, values, kind=8):
    return bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + bytes(values)


class TestSvmlight:
    def test_lines(self, read):
        table = read("# made by hand\n2 1:0.5 3:-2e1 # first\n\n0 2:7\n-1 1:1\n", "x.svm")
        assert isinstance(table.X, sp.csr_array)
        np.testing.assert_array_equal(table.X.toarray(), [[0.5, 0, -20], [0, 7, 0], [1, 0, 0]])
        assert table.labels.tolist() == [2, 0, None]
        assert table.feature_names is None

    @pytest.mark.parametrize("zero_based", [True, False])
    def test_indices_from_zero_or_one(self, read, zero_based):
        X = np.array([[1.0, 0, 2], [0, 3, 0]])
        stream = io.BytesIO()
        dump_svmlight_file(X, [0, 1], stream, zero_based=zero_based)
        np.testing.assert_array_equal(read(stream.getvalue(), "x.svm").X.toarray(), X)

    def test_number_of_columns(self, read, refusal):
        assert read("1 1:2\n0 2:3\n", "x.svm", n_features=5).X.shape == (2, 5)
        assert "cannot be read as svmlight" in refusal("1 1:2\n0 9:3\n", "x.svm", n_features=5)

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("1 1:2\ncat 1:3\n", "line 2 is not svmlight ('cat 1:3')"),
            ("1 1:2\n0 1:x\n", "line 2 is not svmlight"),
            ("1 1:2\n0 1\n", "line 2 is not svmlight"),
            ("1 a:2\n", "line 1 is not svmlight"),
            ("1 1:nan\n", "line 1 is not svmlight"),
            ("1 99999999999999999999:1\n", "line 1 is not svmlight"),
            ("1 3:1 2:1\n", "cannot be read as svmlight"),
            ("1 999999999:1\n", "more than 100,000,000"),
            ("1 1:1e200\n", "row 1, column 1: huge value"),
            ("1 1:2\n-1 1:3\n", "holds just -1 and 1"),
            ("0.5 1:2\n1 1:3\n", "holds 0.5 (row 1)"),
            ("# nothing\n", "has no rows"),
            ("1\n2\n", "has labels and no values"),
            ("1 1:2\n\xff 1:3\n", "line 2 is not svmlight"),
        ],
    )
    def test_refused(self, refusal, content, expected):
        assert expected in refusal(content.encode("latin-1"), "x.svm")

    def test_labels_cannot_be_named(self, refusal):
        assert "leave out --labels" in refusal("1 1:2\n", "x.svm", labels="y")


class TestIdx:
    def test_images_become_rows(self, read):
        table = read(idx((2, 2, 3), range(12)), "x-images-idx3-ubyte")
        np.testing.assert_array_equal(table.X, np.arange(12.0).reshape(2, 6))
        assert table.X.dtype == np.float64
        assert table.feature_names is None

    def test_columns_by_number(self, read):
        table = read(idx((2, 3), range(6)), "x.idx", features=["2-3"])
        np.testing.assert_array_equal(table.X, [[1, 2], [4, 5]])

    def test_number_of_columns_is_checked(self, read, refusal):
        assert read(idx((2, 3), range(6)), "x.idx", n_features=3).n_features == 3
        assert "has 3 feature columns and 4 are needed" in refusal(
            idx((2, 3), range(6)), "x.idx", n_features=4
        )

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (idx((2, 2, 3), range(11)), "11 values: its header announces 12"),
            (idx((2, 2, 3), range(13)), "13 values: its header announces 12"),
            (idx((3,), range(3)), "of 1 dimension"),
            (idx((0, 3), []), "has no rows"),
            (idx((2, 3), range(6))[:7], "ends within its header"),
            (bytes([0, 0, 8, 0]), "ends within its header"),
            (bytes([0, 0, 8]), "ends within its header"),
            (idx((2, 1), range(2), kind=13), "binary data"),
        ],
    )
    def test_refused(self, refusal, content, expected):
        assert expected in refusal(content, "x.idx")

    def test_header_that_announces_more_than_memory(self, refusal):
        assert "memory" in refusal(idx((2**32 - 1, 2**32 - 1), [1]), "x.idx")

    def test_labels_are_elsewhere(self, refusal):
        assert "--labels-file" in refusal(idx((2, 3), range(6)), "x.idx", labels=1)
