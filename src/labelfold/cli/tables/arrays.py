"""NPY and NPZ: arrays of numbers, dense or sparse, and labels beside them.

Nothing is unpickled. Sizes are taken from the headers and checked before the arrays are read.
"""

from __future__ import annotations

import math
import warnings
import zipfile
from dataclasses import dataclass
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from labelfold.cli.tables.columns import Columns, Request, choose_columns
from labelfold.cli.tables.errors import TableError, damage_named, listed, shown
from labelfold.cli.tables.labels import labels_of_values
from labelfold.cli.tables.memory import in_words, refuse_beyond_memory
from labelfold.cli.tables.source import Source
from labelfold.cli.tables.table import Matrix, Table, refuse_bad_values
from labelfold.exceptions import InputError

POINTS, LABELS = "X", "y"
# What scipy.sparse.save_npz writes; each format has a part of the last ones.
SPARSE_MARKS = frozenset(("format", "shape", "data"))
NPY_ENDING = ".npy"


def read_npy(source: Source, request: Request) -> Table:
    """Read a two-dimensional array, an NPY file."""
    with source.open() as stream:
        header = _Header.read(stream, source.origin)
    n_rows, n_columns = header.matrix_shape(source.origin)
    refuse_beyond_memory(n_rows, n_columns, source.origin)
    return _table_of_array(read_npy_array(source), request, None, source.origin)


def read_npz(source: Source, request: Request) -> Table:
    """Read an NPZ file: arrays X and y, a single two-dimensional array, or a sparse matrix."""
    with source.open_seekable() as stream:
        archive = _Archive(stream, source)
        if SPARSE_MARKS.issubset(archive.names):
            return _read_sparse(archive, request)
        points = archive.choose_points(request)
        header = archive.header(points)
        n_rows, n_columns = header.matrix_shape(f"{source.origin}, array {points}")
        refuse_beyond_memory(n_rows, n_columns, source.origin)
        array = archive.array(points)
        name = LABELS if request.labels is None and LABELS in archive.names else request.labels
        if not (isinstance(name, str) and name in archive.names):
            return _table_of_array(array, request, None, source.origin)
        labels = labels_of_array(archive.array(name), f"{source.origin}, array {name}")
    if len(labels) != len(array):
        raise TableError(
            f"{source.origin}: {len(array):,} rows in {points} and {len(labels):,} labels in "
            f"{name}: the arrays do not belong together."
        )
    return _table_of_array(array, request, labels, source.origin)


def read_npy_array(source: Source) -> NDArray[Any]:
    """Return the array of an NPY file, whatever its shape."""
    with source.open() as stream:
        _Header.read(stream, source.origin).refuse_beyond(source.max_bytes, source.origin)
    with source.open() as stream:
        return _read_array(stream, source.origin)


def labels_of_array(array: NDArray[Any], title: str) -> NDArray[Any]:
    """Read labels from an array of integers, floats, truth values or text."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim != 1 or array.dtype.kind not in "biufUS":
        raise TableError(
            f"{title} has shape {array.shape} and dtype {array.dtype}: labels are a row of "
            "integers, of text or of truth values."
        )
    if array.dtype.kind == "S":
        try:
            array = np.char.decode(array, "utf-8")
        except UnicodeDecodeError as error:
            raise TableError(f"{title} is not UTF-8: save it as text, dtype str.") from error
    return labels_of_values(array.tolist(), title, row_title)


def row_title(row: int) -> str:
    """Return what messages call a row of a file without lines."""
    return f"row {row + 1}"


def table_of_matrix(X: Matrix, columns: Columns, labels: NDArray[Any] | None, origin: str) -> Table:
    """Return a table of the features of a matrix, once its values are good."""
    refuse_bad_values(X, columns, origin, row_title)
    return Table(X, columns.feature_names, labels, None, origin)


def refuse_no_rows(n_rows: int, origin: str) -> None:
    """Refuse a matrix without rows."""
    if n_rows == 0:
        raise TableError(f"{origin} has no rows: give a row of numbers a point.")


@dataclass(frozen=True)
class _Header:
    """Shape and type that an array announces."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def read(cls, stream: IO[bytes], origin: str) -> _Header:
        """Read the header of an NPY stream."""
        readers = {
            (1, 0): npy_format.read_array_header_1_0,
            (2, 0): npy_format.read_array_header_2_0,
        }
        with damage_named(origin), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a header written by Python 2
            reader = readers.get(npy_format.read_magic(stream))
            if reader is None:
                raise TableError(f"{origin} holds an array of records: save a plain matrix.")
            shape, _, dtype = reader(stream)
        if dtype.hasobject:
            raise TableError(
                f"{origin} holds Python objects, which could run code: save numbers, or labels "
                "as text with y.astype(str)."
            )
        if any(size < 0 for size in shape):
            raise TableError(f"{origin} announces the shape {shape}: get or make it again.")
        return cls(shape, dtype)

    def refuse_beyond(self, n_bytes: int, origin: str) -> None:
        """Refuse an array larger than that: the file cannot hold it."""
        # Entries of no size would make an array of any length out of nothing.
        if math.prod(self.shape) * max(self.dtype.itemsize, 1) > n_bytes:
            raise TableError(
                f"{origin} announces the shape {self.shape}, more than it can hold: get or make it "
                "again."
            )

    def matrix_shape(self, origin: str) -> tuple[int, int]:
        """Return the numbers of rows and columns; refuse what is not a matrix of numbers."""
        if len(self.shape) != 2:
            raise TableError(
                f"{origin} has shape {self.shape}: a table has two dimensions, (rows, columns); "
                "reshape it, as with array.reshape(len(array), -1)."
            )
        if self.dtype.kind not in "biuf":
            raise TableError(
                f"{origin} has dtype {self.dtype}: features are real numbers, such as float64."
            )
        refuse_no_rows(self.shape[0], origin)
        return self.shape[0], self.shape[1]


class _Archive:
    """The arrays of an NPZ file, their announced sizes within the limit."""

    def __init__(self, stream: IO[bytes], source: Source) -> None:
        self._origin = source.origin
        with damage_named(source.origin):
            self._zip = zipfile.ZipFile(stream)
        entries = self._zip.infolist()
        self.names = [e.filename.removesuffix(NPY_ENDING) for e in entries]
        if not entries or not all(e.filename.endswith(NPY_ENDING) for e in entries):
            raise TableError(
                f"{source.origin} is a zip archive, and not one of NumPy arrays: save a "
                "spreadsheet as CSV, and unpack other archives."
            )
        announced = sum(entry.file_size for entry in entries)
        if announced > source.max_bytes:
            raise TableError(
                f"{source.origin} unpacks to {in_words(announced)}, beyond the limit of "
                f"{in_words(source.max_bytes)}: raise it with --max-bytes if you trust the file."
            )

    @property
    def origin(self) -> str:
        """What messages call the archive."""
        return self._origin

    def header(self, name: str) -> _Header:
        """Return shape and type of an array."""
        with self._open(name) as stream:
            return _Header.read(stream, f"{self._origin}, array {name}")

    def array(self, name: str) -> NDArray[Any]:
        """Return an array."""
        size = self._zip.getinfo(name + NPY_ENDING).file_size
        self.header(name).refuse_beyond(size, f"{self._origin}, array {name}")
        with self._open(name) as stream:
            return _read_array(stream, f"{self._origin}, array {name}")

    def choose_points(self, request: Request) -> str:
        """Return the name of the array of points."""
        if POINTS in self.names:
            return POINTS
        matrices = [
            name
            for name in self.names
            if name != request.labels and len(self.header(name).shape) == 2
        ]
        if len(matrices) != 1:
            raise TableError(
                f"{self._origin} has {len(matrices)} matrices (its arrays: {listed(self.names)}): "
                f"name the one of the points {POINTS}, and the labels {LABELS}."
            )
        return matrices[0]

    def _open(self, name: str) -> IO[bytes]:
        with damage_named(self._origin):
            return self._zip.open(name + NPY_ENDING)


def _read_array(stream: IO[bytes], origin: str) -> NDArray[Any]:
    # Older releases of NumPy take any buffered stream, even one that unpacks, for a file on disk.
    bare: Any = SimpleNamespace(read=stream.read)
    with damage_named(origin):
        return np.asarray(npy_format.read_array(bare, allow_pickle=False))


def _read_sparse(archive: _Archive, request: Request) -> Table:
    origin = archive.origin
    if request.labels is not None:
        raise TableError(
            f"{origin} is a sparse matrix, without labels: give them in a file of their own with "
            "--labels-file."
        )
    parts = {name: archive.array(name) for name in archive.names}
    with damage_named(origin):
        X = _sparse_matrix(parts)
    refuse_no_rows(X.shape[0], origin)
    columns = choose_columns(request, None, X.shape[1], origin)
    if not columns.takes_all:
        X = X[:, columns.features]
    return table_of_matrix(X, columns, None, origin)


def _sparse_matrix(parts: dict[str, NDArray[Any]]) -> sp.csr_array:
    """Return the matrix of `scipy.sparse.save_npz`, every index checked before it is used."""
    kind = parts["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    n_rows, n_columns = (int(size) for size in parts["shape"].tolist())
    data = parts["data"]
    if data.dtype.kind not in "biuf":
        raise InputError(f"its entries have dtype {data.dtype}")
    if kind in ("csr", "csc", "bsr"):
        maker = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[kind]
        matrix = maker((data, parts["indices"], parts["indptr"]), shape=(n_rows, n_columns))
        matrix.check_format(full_check=True)
    elif kind == "coo":
        matrix = sp.coo_array((data, (parts["row"], parts["col"])), shape=(n_rows, n_columns))
        if data.size and (parts["row"].min() < 0 or parts["col"].min() < 0):
            raise InputError("negative index")
    else:
        raise InputError(f"its sparse format is {shown(kind)}, save it as csr")
    X = sp.csr_array(matrix, dtype=np.float64)
    X.sum_duplicates()
    return X


def _table_of_array(
    array: NDArray[Any], request: Request, labels: NDArray[Any] | None, origin: str
) -> Table:
    if labels is not None:
        request = Request(None, request.features, request.ignore, request.id_column)
    if request.id_column is not None:
        raise TableError(f"{origin} has no column of row names: leave out --id-column.")
    columns = choose_columns(request, None, array.shape[1], origin)
    if columns.label is not None:
        title = f"{origin}: {columns.title(columns.label)}"
        values = array[:, columns.label]
        whole = values.dtype.kind == "f" and not np.any(values[~np.isnan(values)] % 1)
        items = [int(v) if whole and not np.isnan(v) else v for v in values.tolist()]
        labels = labels_of_values(items, title, row_title)
    chosen = array if columns.takes_all else array[:, columns.features]
    X = np.ascontiguousarray(chosen, dtype=np.float64)
    return table_of_matrix(X, columns, labels, origin)
