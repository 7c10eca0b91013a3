"""idx files, the format of MNIST: an image becomes a row of pixels; labels are a file apart."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from labelfold.cli.tables.arrays import refuse_no_rows, table_of_matrix
from labelfold.cli.tables.columns import Request, choose_columns
from labelfold.cli.tables.errors import TableError
from labelfold.cli.tables.memory import refuse_beyond_memory
from labelfold.cli.tables.source import Source
from labelfold.cli.tables.table import Table


def read_idx(source: Source, request: Request) -> Table:
    """Read an idx file of images, or of any array with at least two dimensions."""
    if request.labels is not None or request.id_column is not None:
        raise TableError(
            f"{source.origin} is an idx file, without labels and row names: give labels in a file "
            "of their own with --labels-file."
        )
    shape = _shape(source)
    if len(shape) < 2:
        raise TableError(
            f"{source.origin} is an idx file of {len(shape)} dimension: points need two at least; "
            "labels are given with --labels-file."
        )
    refuse_no_rows(shape[0], source.origin)
    n_pixels = math.prod(shape[1:])
    refuse_beyond_memory(shape[0], n_pixels, source.origin)
    columns = choose_columns(request, None, n_pixels, source.origin)
    pixels = read_idx_array(source).reshape(shape[0], n_pixels)
    chosen = pixels if columns.takes_all else pixels[:, columns.features]
    return table_of_matrix(chosen.astype(np.float64), columns, None, source.origin)


def read_idx_array(source: Source) -> NDArray[np.uint8]:
    """Return the array of an idx file of unsigned bytes.

    It is a header of big-endian numbers, then the values in C order. Header: two zero bytes, one
    byte for the type (8 is unsigned byte), one for the number of dimensions, and 4 for each size.
    """
    shape, content = _shape(source), source.read()
    n_values = len(content) - 4 - 4 * len(shape)
    if n_values != math.prod(shape):
        raise TableError(
            f"{source.origin} has {n_values} values: its header announces {math.prod(shape)}, of "
            f"shape {shape}. Get or make the file again."
        )
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def _shape(source: Source) -> list[int]:
    n_dimensions = source.head(4)[-1]
    sizes = source.head(4 + 4 * n_dimensions)[4:]
    if len(sizes) < 4 * n_dimensions or n_dimensions == 0:
        raise TableError(f"{source.origin} ends within its header: get or make the file again.")
    return np.frombuffer(sizes, dtype=">u4").tolist()
