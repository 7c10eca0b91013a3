"""Streams, exit codes and the one line on stderr, on a command that only fails."""

from __future__ import annotations

import io
import re
import warnings
from contextlib import redirect_stderr, redirect_stdout

import pytest
import typer
from typer.testing import CliRunner

from labelfold.cli.console import Console, ErrorTranslatingGroup
from labelfold.cli.options import command
from labelfold.exceptions import InputError

app = typer.Typer(cls=ErrorTranslatingGroup, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback()
def _root() -> None:
    pass


@app.command()
@command
def fail(console: Console, kind: str) -> None:
    interrupt = KeyboardInterrupt()
    interrupt.add_note("Complete and kept: a.csv.")
    failures = {
        "value": InputError("k=0 is too small:\n  ask for more"),
        "file": FileNotFoundError(2, "No such file or directory", "rows.csv"),
        "fault": ValueError("operands could not be broadcast"),
        "interrupt": interrupt,
        "exit": typer.Exit(7),
    }
    if kind == "warning":
        warnings.warn("two components\nwere joined", stacklevel=1)
    elif kind == "step":
        with console.step("search"):
            raise InputError("no.")
    elif kind in failures:
        raise failures[kind]
    else:
        console.result("fine")


def run(*arguments, **environment):
    return CliRunner(env=environment).invoke(app, arguments, prog_name="tool")


def test_success():
    result = run("fail", "not")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "fine\n", "")


@pytest.mark.parametrize(
    ("kind", "code", "line"),
    [
        ("value", 2, "labelfold: k=0 is too small: ask for more.\n"),
        ("file", 2, "labelfold: rows.csv: No such file or directory.\n"),
        ("interrupt", 130, "labelfold: interrupted. Complete and kept: a.csv.\n"),
        ("exit", 7, ""),
    ],
)
def test_failures_are_one_line_and_a_code(kind, code, line):
    result = run("fail", kind)
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", line)


@pytest.mark.parametrize(
    ("arguments", "environment", "has_traceback"),
    [([], {}, False), (["-v"], {}, True), ([], {"LABELFOLD_TRACEBACK": "1"}, True)],
)
def test_unexpected_error_asks_for_a_report(arguments, environment, has_traceback):
    result = run("fail", "fault", *arguments, **environment)
    assert result.exit_code == 1
    assert ("Traceback" in result.stderr) == (result.stderr.count("\n") > 1) == has_traceback
    assert "unexpected ValueError: operands could not be broadcast." in result.stderr
    assert "please report" in result.stderr


def test_bad_input_shows_a_traceback_only_through_the_environment():
    assert "Traceback" not in run("fail", "value", "-v").stderr
    assert "Traceback" in run("fail", "value", LABELFOLD_TRACEBACK="1").stderr
    assert "Traceback" not in run("fail", "value", LABELFOLD_TRACEBACK="0").stderr


@pytest.mark.parametrize(
    ("arguments", "problem", "remedy"),
    [
        (["fail"], "Missing argument", "See 'tool fail --help'."),
        (["fail", "value", "--depth"], "No such option", "See 'tool fail --help'."),
        (["climb"], "No such command 'climb'", "See 'tool --help'."),
        (["--depth"], "No such option", "See 'tool --help'."),
        (["fail", "not", "-q", "-v"], "-q and -v contradict each other", "pass one of them."),
    ],
)
def test_bad_usage(arguments, problem, remedy):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"labelfold: {problem}")
    assert result.stderr.endswith(f"{remedy}\n")
    assert result.stderr.count("\n") == 1


def test_a_warning_is_a_line_unless_quiet():
    before = warnings.showwarning
    assert run("fail", "warning").stderr == "labelfold: warning: two components were joined\n"
    assert run("fail", "warning", "-q").stderr == ""
    assert warnings.showwarning is before


def test_an_error_in_a_step_starts_its_own_line():
    result = run("fail", "step", "-v")
    assert result.stderr == "search ...\nlabelfold: no.\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "options", "is_shown"),
    [
        (io.StringIO, {}, False),
        (io.StringIO, {"verbose": True}, True),
        (Terminal, {}, True),
        (Terminal, {"quiet": True}, False),
    ],
)
def test_steps_show_on_a_terminal_or_if_asked_for(stream, options, is_shown):
    console = Console()
    console.set_verbosity(**{"quiet": False, "verbose": False} | options)
    with redirect_stderr(stream()) as written, console.step("search"):
        assert written.getvalue() == ("search ..." if is_shown else "")
    assert bool(re.fullmatch(r"search \.\.\. \d+\.\d s\n", written.getvalue())) == is_shown


def test_a_warning_in_a_step_gets_its_own_line():
    console = Console()
    with redirect_stderr(Terminal()) as terminal, console.step("search"):
        console.show_warning("careful", UserWarning, "file.py", 1)
    lines = terminal.getvalue().splitlines()
    assert lines[:2] == ["search ...", "labelfold: warning: careful"]
    assert re.fullmatch(r"search: \d+\.\d s", lines[2])


def test_a_console_follows_redirection(capsys):
    console = Console()
    with redirect_stdout(io.StringIO()) as stream:
        console.result("there")
    console.result("here")
    assert stream.getvalue() == "there\n"
    assert capsys.readouterr().out == "here\n"
