"""The one place where an exception becomes a line on stderr and an exit code.

====  ======================================================================================
code  when
====  ======================================================================================
0     done
1     an unexpected error, which is a fault in labelfold
2     bad usage or bad input: a usage error of the command line, a ValueError or an OSError
130   interrupted with Ctrl-C
====  ======================================================================================
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from labelfold.cli.console import Console

UNEXPECTED = 1
BAD_INPUT = 2
INTERRUPTED = 130
TRACEBACK_VARIABLE = "LABELFOLD_TRACEBACK"

# The class of all errors that the argument parser raises. Its home has moved between releases of
# typer (click's own, later typer's copy of click), its place above BadParameter has not.
_ParserError: Any = typer.BadParameter.__mro__[2]


class ErrorTranslatingGroup(TyperGroup):
    """A group of commands that end with one line and an exit code, whatever they raise."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command line; raises SystemExit with the exit code."""
        extra["standalone_mode"] = False  # errors come here rather than being printed by typer
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
            raise  # what typer answers for itself
        except KeyboardInterrupt as interrupt:
            console.error(" ".join(["interrupted.", *getattr(interrupt, "__notes__", [])]))
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, OSError) as error:
            console.error(_error_line(error))
            if _wants_traceback():
                traceback.print_exception(error)
            raise typer.Exit(BAD_INPUT) from None
        except Exception as error:
            console.error(
                f"unexpected {type(error).__name__}: {_error_line(error)} "
                "This is a fault in labelfold: please report it with the traceback that "
                f"{TRACEBACK_VARIABLE}=1 or -v prints."
            )
            if _wants_traceback() or console.is_verbose:
                traceback.print_exception(error)
            raise typer.Exit(UNEXPECTED) from None


def _wants_traceback() -> bool:
    return os.environ.get(TRACEBACK_VARIABLE, "") not in ("", "0")


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
    """The text on one line, with a full stop."""
    line = " ".join(text.split())
    return line if line.endswith((".", "!", "?")) else line + "."
