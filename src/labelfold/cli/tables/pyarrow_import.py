"""pyarrow, which is not always installed, made safe for files of strangers."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

from labelfold.cli.tables.errors import TableError
from labelfold.exceptions import InputError

# Before this release, a file could name the type below and have its content unpickled, which runs
# any code (CVE-2023-47248).
FIRST_SAFE = (14, 0, 1)
PICKLED_TYPE = "arrow.py_extension_type"


def import_pyarrow() -> Any:
    """Return pyarrow, or say how to get it."""
    try:
        pyarrow = importlib.import_module("pyarrow")
        importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise TableError(
            'Parquet needs pyarrow: pip install "labelfold[io]", or use CSV or NPY.'
        ) from error
    if tuple(map(int, re.findall(r"\d+", pyarrow.__version__)[:3])) < FIRST_SAFE:
        _refuse_pickled_type(pyarrow)
    return pyarrow


@cache
def _refuse_pickled_type(pyarrow: Any) -> None:
    """Put a type that cannot be read in the place of the one that unpickles."""

    class RefusedType(pyarrow.ExtensionType):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(pyarrow.null(), PICKLED_TYPE)

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Any:
            raise InputError("a column has a type that could run code")

    pyarrow.unregister_extension_type(PICKLED_TYPE)
    pyarrow.register_extension_type(RefusedType())
