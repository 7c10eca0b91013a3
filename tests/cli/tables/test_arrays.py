from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

X = np.array([[1.5, 2, 0], [0, -4, 5e100]])


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def sparse_npz(matrix):
    stream = io.BytesIO()
    sp.save_npz(stream, matrix)
    return stream.getvalue()


def npy_header(shape, descr="<f8", version=1):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(text)) + text


class TestNpy:
    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", "i2", "u1", "?"])
    def test_any_real_type(self, read, order, dtype):
        array = np.array([[1, 0], [1, 1], [0, 1]], dtype=dtype, order=order)
        table = read(npy(array), "x.npy")
        np.testing.assert_array_equal(table.X, array.astype(float))
        assert table.X.dtype == np.float64
        assert table.X.flags.c_contiguous
        assert table.feature_names is None
        assert table.labels is None

    def test_columns_by_number(self, read):
        array = np.array([[1.0, 7, 3], [4, -1, 6], [7, 8, 9]])
        table = read(npy(array), "x.npy", labels=2, features=[3, 1])
        np.testing.assert_array_equal(table.X, array[:, [2, 0]])
        assert table.labels.tolist() == [7, None, 8]
        assert all(type(label) in (int, type(None)) for label in table.labels)

    def test_all_columns_in_another_order(self, read):
        assert read(npy(X), "x.npy", features=[3, 2, 1]).X.tolist() == X[:, ::-1].tolist()

    @pytest.mark.parametrize(
        ("array", "expected"),
        [
            (np.zeros(3), "has shape (3,): a table has two dimensions"),
            (np.zeros((2, 3, 4)), "has shape (2, 3, 4)"),
            (np.zeros(()), "has shape ()"),
            (np.zeros((0, 3)), "has no rows"),
            (np.zeros((3, 0)), "no column is left"),
            (np.array([["a", "b"]]), "has dtype <U1: features are real numbers"),
            (np.zeros((2, 2), dtype=complex), "has dtype complex128"),
            (np.zeros((2, 2), dtype="M8[s]"), "has dtype datetime64[s]"),
            (np.zeros((2, 2), dtype=[("a", "f8")]), "features are real numbers"),
            (np.array([[1, np.nan], [np.nan, 2]]), "row 1, column 2: the first of 2 missing"),
            (np.array([[1, 2], [np.inf, 2]]), "row 2, column 1: infinite value inf"),
            (np.array([[1, 2], [3, -1e160]]), "row 2, column 2: huge value -1e+160"),
        ],
    )
    def test_refused(self, refusal, array, expected):
        assert expected in refusal(npy(array), "x.npy")

    def test_bad_value_is_named_by_its_column_in_the_file(self, refusal):
        array = np.array([[1, 2, 3], [4, 5, np.nan]])
        assert "row 2, column 3: a missing" in refusal(npy(array), "x.npy", features=[3])

    def test_objects_are_not_unpickled(self, refusal):
        array = np.array([[1, None]], dtype=object)
        assert "Python objects, which could run code" in refusal(npy(array), "x.npy")

    @pytest.mark.parametrize(
        "header",
        [
            npy_header((10**12, 10**3)),
            npy_header((10**15,), "<U0"),
            npy_header((-1, 2)),
            npy_header((2, 2), version=9),
            npy_header("text"),
            npy_header((2, 2), "|O"),
            npy_header((2, 2), "nonsense"),
        ],
    )
    def test_headers_that_lie(self, refusal, header):
        refusal(header + b"\0" * 32, "x.npy")


class TestNpz:
    def test_points_and_labels(self, read):
        table = read(npz(X=X, y=np.array(["a", ""])), "x.npz")
        np.testing.assert_array_equal(table.X, X)
        assert table.labels.tolist() == ["a", None]

    def test_only_matrix_under_any_name(self, read):
        np.testing.assert_array_equal(read(npz(points=X), "x.npz").X, X)

    def test_labels_by_name_of_array_or_number_of_column(self, read):
        content = npz(X=X, y=np.array([1, 2]), z=np.array([3, -1]))
        assert read(content, "x.npz", labels="z").labels.tolist() == [3, None]
        table = read(npz(X=np.array([[1.0, 5], [2, 6]])), "x.npz", labels=2)
        assert table.labels.tolist() == [5, 6]

    @pytest.mark.parametrize(
        ("arrays", "expected"),
        [
            ({"a": X, "b": X}, "has 2 matrices (its arrays: a, b)"),
            ({"a": X[0]}, "has 0 matrices"),
            ({"X": X, "y": np.array([1, 2, 3])}, "2 rows in X and 3 labels in y"),
            ({"X": X, "y": np.array([1, -1])}, "array y holds just -1 and 1"),
            ({"X": X, "y": np.array([0.5, 1])}, "array y holds 0.5 (row 1)"),
            ({"X": X, "y": np.array(["a", None], dtype=object)}, "array y holds Python objects"),
            ({"X": X[0]}, "array X has shape (3,)"),
        ],
    )
    def test_refused(self, refusal, arrays, expected):
        assert expected in refusal(npz(**arrays), "x.npz")

    def test_unknown_array_of_labels(self, refusal):
        assert "--labels 'kind'" in refusal(npz(X=X), "x.npz", labels="kind")

    def test_row_names(self, refusal):
        assert "leave out --id-column" in refusal(npz(X=X), "x.npz", id_column=1)

    def test_bomb_is_refused_by_its_announced_size(self, refusal):
        content = npz(X=np.zeros((1000, 1000)))
        assert len(content) < 20_000
        assert "unpacks to 8 MB, beyond the limit of 1 MB" in refusal(
            content, "x.npz", max_bytes=10**6
        )

    def test_array_that_announces_more_than_its_entry_holds(self, refusal):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("X.npy", npy(X))
            archive.writestr("y.npy", npy_header((10**11,), "|S1"))
        assert "more than it can hold" in refusal(stream.getvalue(), "x.npz")

    def test_archive_with_a_password(self, refusal):
        content = bytearray(npz(X=X))
        content[6] |= 1
        content[content.index(b"PK\x01\x02") + 8] |= 1
        assert "damaged" in refusal(bytes(content), "x.npz")


class TestSparse:
    @pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
    def test_formats(self, read, form):
        table = read(sparse_npz(sp.csr_matrix(X).asformat(form)), "x.npz")
        assert isinstance(table.X, sp.csr_array)
        assert table.X.dtype == np.float64
        np.testing.assert_array_equal(table.X.toarray(), X)
        assert table.labels is None

    def test_integers_and_repeated_entries(self, read):
        matrix = sp.coo_matrix((np.array([1, 2, 3]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
        np.testing.assert_array_equal(
            read(sparse_npz(matrix), "x.npz").X.toarray(), [[0, 3], [3, 0]]
        )

    def test_repeated_and_unsorted_entries_in_rows(self, read):
        parts = {"format": "csr", "shape": (2, 3), "data": [1.0, 2, 3, 4]}
        parts |= {"indices": [2, 0, 2, 1], "indptr": [0, 3, 4]}
        X = read(npz(**parts), "x.npz").X
        np.testing.assert_array_equal(X.toarray(), [[2, 0, 4], [0, 4, 0]])
        assert X.indices.tolist() == [0, 2, 1]

    def test_columns(self, read):
        table = read(sparse_npz(sp.csr_array(X)), "x.npz", features=[3, 1])
        np.testing.assert_array_equal(table.X.toarray(), X[:, [2, 0]])

    @pytest.mark.parametrize(
        ("change", "value"),
        [
            ("indices", [0, 1, 9, 2]),
            ("indices", [0, -1, 1, 2]),
            ("indptr", [0, 2, 400]),
            ("indptr", [0, 3, 1]),
            ("indptr", [0, 4]),
            ("shape", [2]),
            ("shape", [2, -3]),
            ("format", "dia"),
            ("format", "no such"),
            ("data", ["a", "b", "c", "d"]),
        ],
    )
    def test_wrong_indices_never_reach_the_matrix(self, refusal, change, value):
        matrix = sp.csr_array(X)
        parts = {
            "format": np.array("csr"),
            "shape": np.array(matrix.shape),
            "data": matrix.data,
            "indices": matrix.indices,
            "indptr": matrix.indptr,
        }
        parts[change] = np.array(value)
        assert "damaged or incomplete" in refusal(npz(**parts), "x.npz")

    def test_negative_index_in_coordinates(self, refusal):
        parts = {"format": "coo", "shape": (2, 2), "data": [1.0], "row": [0], "col": [-1]}
        assert "damaged" in refusal(npz(**parts), "x.npz")

    def test_values(self, refusal):
        bad = sp.csr_array(np.array([[0, 1.0], [np.nan, 0]]))
        assert "row 2, column 1: a missing value" in refusal(sparse_npz(bad), "x.npz")

    def test_labels_are_elsewhere(self, refusal):
        assert "--labels-file" in refusal(sparse_npz(sp.csr_array(X)), "x.npz", labels="y")

    def test_very_many_columns(self, read, refusal):
        wide = sp.csr_array(([1.0], ([0], [10**7])), shape=(1, 10**7 + 1))
        assert read(sparse_npz(wide), "x.npz").n_features == 10**7 + 1
        wider = sp.csr_array(([1.0], ([0], [10**12])), shape=(1, 10**12 + 1))
        assert "more than 100,000,000" in refusal(sparse_npz(wider), "x.npz", ignore=[1])
