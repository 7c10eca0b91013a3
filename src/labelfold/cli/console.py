"""What a command says: results on stdout; progress, warnings and errors on stderr.

Progress shows on a terminal only, unless -v asks for it; -q leaves nothing but errors on stderr.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from labelfold.exceptions import InputError


class Console:
    """The two streams of a command and how much it says on the second.

    The streams are looked up at each message, so that whoever redirects them sees it all.
    """

    def __init__(self) -> None:
        self.is_quiet = False
        self.is_verbose = False
        self._line_is_open = False

    def set_verbosity(self, *, quiet: bool, verbose: bool) -> None:
        """Take over -q and -v."""
        if quiet and verbose:
            raise InputError("-q and -v contradict each other: pass one of them.")
        self.is_quiet, self.is_verbose = quiet, verbose

    def result(self, text: str) -> None:
        """Print what the command was asked for."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def error(self, text: str) -> None:
        """Say what went wrong."""
        self._write_line(f"labelfold: {text}")

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Show a step of the work while it runs, and its time when it is done."""
        shown = not self.is_quiet and (self.is_verbose or sys.stderr.isatty())
        start = time.perf_counter()
        if shown:
            self._close_line()
            sys.stderr.write(f"{title} ...")
            sys.stderr.flush()
            self._line_is_open = True
        yield
        if shown:
            # A warning may have ended the line meanwhile.
            lead = " " if self._line_is_open else f"{title}: "
            sys.stderr.write(f"{lead}{time.perf_counter() - start:.1f} s\n")
            sys.stderr.flush()
            self._line_is_open = False

    def show_warning(
        self, message: Warning | str, category: type[Warning], *where: Any, **more: Any
    ) -> None:
        """Print a warning as a line; stands in for `warnings.showwarning`."""
        if not self.is_quiet:
            self._write_line(f"labelfold: warning: {' '.join(str(message).split())}")

    def _write_line(self, text: str) -> None:
        self._close_line()
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def _close_line(self) -> None:
        if self._line_is_open:
            sys.stderr.write("\n")
            self._line_is_open = False
