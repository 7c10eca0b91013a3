"""What a person sees of a row: its id, texts and image; and search in them.

Images come from a column of bytes or of paths. Paths are confined to one folder, links in it
resolved, so a table from elsewhere cannot show other files of the machine. Only formats without
scripts are images.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError

__all__ = ["Images", "ShownRows", "row_ids"]

LARGEST_IMAGE = 20_000_000  # bytes
BEGINNINGS = {  # of files, by media type
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/bmp": b"BM",
    "image/webp": b"RIFF",
}


@dataclass(frozen=True)
class Images:
    """Images of rows: for each its bytes, its path or None."""

    cells: Sequence[bytes | str | None]
    folder: Path  # which paths start from and cannot leave

    def get(self, row: int) -> tuple[bytes, str] | None:
        """Return the bytes of an image and their media type; None if there is no such image."""
        cell = self.cells[row]
        content = (self._read(cell) if isinstance(cell, str) else cell) or b""
        found = (kind for kind, start in BEGINNINGS.items() if content.startswith(start))
        return next(((content, kind) for kind in found), None)

    def _read(self, path: str) -> bytes | None:
        with suppress(OSError, ValueError):  # ValueError: a zero byte in the path
            folder = self.folder.resolve(strict=True)
            file = (folder / path).resolve(strict=True)
            is_inside = file.is_relative_to(folder) and file.is_file()
            if is_inside and file.stat().st_size <= LARGEST_IMAGE:
                return file.read_bytes()
        return None


@dataclass(frozen=True)
class ShownRows:
    """Ids, columns of texts and images of all rows."""

    ids: list[str]  # all different
    columns: list[tuple[str, list[str | None]]]
    images: Images | None = None
    form: str = "table"  # of cards; or "text" or "image"

    def card(self, row: int) -> dict[str, Any]:
        """Return what the card of a row says."""
        texts = [texts[row] for _, texts in self.columns]
        return {"row": row, "id": self.ids[row], "texts": texts}

    def find(self, text: str) -> NDArray[np.bool_]:
        """Return where an id or a column has a text; accents, case and spacing do not matter."""
        wanted = folded(text)
        return np.fromiter((wanted in one for one in self._folded), dtype=bool, count=len(self.ids))

    @cached_property
    def _folded(self) -> list[str]:
        columns = [self.ids, *(texts for _, texts in self.columns)]
        # A new line between the columns: no search has one.
        return ["\n".join(folded(cell or "") for cell in row) for row in zip(*columns, strict=True)]


def folded(text: str) -> str:
    """Return a text without accents, case and more than single spaces."""
    plain = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text))  # as search.js does
    return " ".join(plain.lower().split())


def row_ids(ids: Sequence[Any] | None, n_rows: int) -> list[str]:
    """Return the names of rows as text, their numbers from 1 without names."""
    if ids is None:
        return [str(number) for number in range(1, n_rows + 1)]
    names = [str(name) for name in ids]
    seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        first = seen.setdefault(name, number)
        if first != number:
            raise InputError(
                f"rows {first:,} and {number:,} are both named {name!r}, and labels are stored by "
                "row name: correct it, or name another --id-column."
            )
    return names
