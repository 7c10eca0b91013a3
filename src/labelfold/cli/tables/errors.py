"""The one error of reading and writing tables, and how its lines show what is in a file."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from labelfold.exceptions import InputError

LONGEST_SHOWN = 40


class TableError(InputError):
    """A file that cannot be read or written as asked: one line with the place and the way out."""


@contextmanager
def damage_named(origin: str) -> Iterator[None]:
    """Turn whatever a parser raises on bytes that it cannot read into a TableError.

    Around calls of parsers only: what they raise on a damaged file is not written down anywhere.
    """
    try:
        yield
    except (TableError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise TableError(
            f"{origin} is damaged or incomplete ({reason}): get or make it again."
        ) from error


def shown(text: object) -> str:
    """Return a cell, or a name found in a file, in quotes, on one line and not too long."""
    whole = str(text)
    cut = whole if len(whole) <= LONGEST_SHOWN else whole[: LONGEST_SHOWN - 3] + "..."
    return repr(cut)


def listed(items: Iterable[str], most: int = 5) -> str:
    """Join items with commas; those beyond the first few are counted."""
    names = list(items)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def as_option(option: str, values: Iterable[str], most: int = 5) -> str:
    """Return an option given for each value, ready to be pasted into a shell."""
    words = [f"{option} {shlex.quote(value)}" for value in values]
    return " ".join(words[:most]) + (" ..." if len(words) > most else "")
