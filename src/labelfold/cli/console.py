"""What a command prints, and how it ends: streams, progress, errors and exit codes.

Results go to stdout; progress, warnings and errors go to stderr. Progress is shown on a terminal
only, unless -v asks for it; -q leaves only errors on stderr.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from labelfold.exceptions import InputError

# Exit codes.
UNEXPECTED = 1  # any other error, which is a fault in labelfold
# Bad usage, an InputError, which is raised on purpose, or what the machine lacks: an OSError or
# MemoryError.
BAD_INPUT = 2
INTERRUPTED = 130  # Ctrl-C
TRACEBACK_VARIABLE = "LABELFOLD_TRACEBACK"

# The base class of the argument parser's errors. Its module differs between releases of typer
# (click, later typer's copy of click); its position above BadParameter does not.
_ParserError: Any = typer.BadParameter.__mro__[2]


class Console:
    """The two streams of a command, and how much it prints on the second.

    The streams are looked up at each message, because tests and shells redirect them.
    """

    def __init__(self) -> None:
        self.is_quiet = False
        self.is_verbose = False
        self._line_is_open = False

    def set_verbosity(self, *, quiet: bool, verbose: bool) -> None:
        """Set what -q and -v say."""
        if quiet and verbose:
            raise InputError("-q and -v contradict each other: pass one of them.")
        self.is_quiet, self.is_verbose = quiet, verbose

    @property
    def shows_progress(self) -> bool:
        """Whether progress is shown."""
        return not self.is_quiet and (self.is_verbose or sys.stderr.isatty())

    def result(self, text: str) -> None:
        """Print the result of the command."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def remark(self, text: str) -> None:
        """Print something beside the result, unless -q was given."""
        if not self.is_quiet:
            self._write_line(text)

    def error(self, text: str) -> None:
        """Print what went wrong."""
        self._write_line(f"labelfold: {text}")

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Show a step of the work while it runs, and its time when it is done."""
        shown = self.shows_progress
        start = time.perf_counter()
        if shown:
            self._close_line()
            sys.stderr.write(f"{title} ...")
            sys.stderr.flush()
            self._line_is_open = True
        yield
        if shown:
            # A warning may have ended the line.
            lead = " " if self._line_is_open else f"{title}: "
            sys.stderr.write(f"{lead}{time.perf_counter() - start:.1f} s\n")
            sys.stderr.flush()
            self._line_is_open = False

    def show_warning(
        self, message: Warning | str, category: type[Warning], *where: Any, **more: Any
    ) -> None:
        """Print a warning as a line, in place of `warnings.showwarning`."""
        self.remark(f"labelfold: warning: {' '.join(str(message).split())}")

    def _write_line(self, text: str) -> None:
        self._close_line()
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def _close_line(self) -> None:
        if self._line_is_open:
            sys.stderr.write("\n")
            self._line_is_open = False


class ErrorTranslatingGroup(TyperGroup):
    """A group of commands in which every error ends with one line and an exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command line; raises SystemExit with the exit code."""
        extra["standalone_mode"] = False  # typer raises errors instead of printing them
        try:
            code = super().main(*args, **extra)
        except _ParserError as error:
            Console().error(_usage_line(error))
            code = BAD_INPUT
        except typer.Abort:
            code = INTERRUPTED
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command with a console as `ctx.obj`, and translate what it raises."""
        console = ctx.obj = Console()
        try:
            with warnings.catch_warnings():
                warnings.showwarning = console.show_warning
                return super().invoke(ctx)
        except (_ParserError, typer.Exit, typer.Abort, BrokenPipeError):
            raise  # typer handles these
        except KeyboardInterrupt as interrupt:
            console.error(" ".join(["interrupted.", *getattr(interrupt, "__notes__", [])]))
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            raise typer.Exit(_report(error, console)) from None


def _report(error: Exception, console: Console) -> int:
    """Print what went wrong and return the exit code."""
    is_input = isinstance(error, InputError | OSError | MemoryError)
    line = _error_line(error)
    if not is_input:
        line = (
            f"unexpected {type(error).__name__}: {line} This is a fault in labelfold: please "
            f"report it with the traceback that {TRACEBACK_VARIABLE}=1 or -v prints."
        )
    console.error(line)
    is_wanted = os.environ.get(TRACEBACK_VARIABLE, "") not in ("", "0")
    if is_wanted or (console.is_verbose and not is_input):
        traceback.print_exception(error)
    return BAD_INPUT if is_input else UNEXPECTED


def _usage_line(error: Any) -> str:
    context = getattr(error, "ctx", None)
    command = "labelfold" if context is None else context.command_path
    return f"{_sentence(error.format_message())} See '{command} --help'."


def _error_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        parts = [f"{os.fsdecode(error.filename)}: {error.strerror}"]
    else:
        parts = [str(error) or type(error).__name__]
    return " ".join(_sentence(part) for part in [*parts, *getattr(error, "__notes__", [])])


def _sentence(text: str) -> str:
    """Return the text on one line, with a period."""
    line = " ".join(text.split())
    return line if line.endswith((".", "!", "?")) else line + "."
