"""Exit codes and the one line on stderr, on commands that do nothing but fail."""

from __future__ import annotations

import warnings

import pytest
import typer
from typer.testing import CliRunner

from labelfold.cli.errors import ErrorTranslatingGroup
from labelfold.cli.options import Quiet, Verbose

app = typer.Typer(cls=ErrorTranslatingGroup, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback()
def _root() -> None:
    pass


@app.command()
def fail(context: typer.Context, kind: str, quiet: Quiet = False, verbose: Verbose = False) -> None:
    context.obj.set_verbosity(quiet=quiet, verbose=verbose)
    interrupt = KeyboardInterrupt()
    interrupt.add_note("Complete and kept: a.csv.")
    failures = {
        "value": ValueError("k=0 is too small:\n  ask for more"),
        "file": FileNotFoundError(2, "No such file or directory", "rows.csv"),
        "fault": KeyError("lost"),
        "interrupt": interrupt,
        "exit": typer.Exit(7),
    }
    if kind == "warning":
        warnings.warn("two pieces\nwere joined", stacklevel=1)
    elif kind == "step":
        with context.obj.step("search"):
            raise ValueError("no.")
    elif kind in failures:
        raise failures[kind]
    else:
        context.obj.result("fine")


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


def test_unexpected_error_asks_for_a_report():
    result = run("fail", "fault")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "unexpected KeyError: 'lost'" in result.stderr
    assert "please report" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [(["fault", "-v"], {}), (["fault"], {"LABELFOLD_TRACEBACK": "1"})],
)
def test_unexpected_error_shows_its_traceback_when_asked(arguments, environment):
    result = run("fail", *arguments, **environment)
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


def test_bad_input_shows_a_traceback_only_through_the_environment():
    assert "Traceback" not in run("fail", "value", "-v").stderr
    assert "Traceback" in run("fail", "value", LABELFOLD_TRACEBACK="1").stderr
    assert "Traceback" not in run("fail", "value", LABELFOLD_TRACEBACK="0").stderr


@pytest.mark.parametrize(
    ("arguments", "problem", "way_out"),
    [
        (["fail"], "Missing argument", "See 'tool fail --help'."),
        (["fail", "value", "--depth"], "No such option", "See 'tool fail --help'."),
        (["climb"], "No such command 'climb'", "See 'tool --help'."),
        (["--depth"], "No such option", "See 'tool --help'."),
        (["fail", "not", "-q", "-v"], "-q and -v contradict each other", "pass one of them."),
    ],
)
def test_bad_usage(arguments, problem, way_out):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"labelfold: {problem}")
    assert result.stderr.endswith(f"{way_out}\n")
    assert result.stderr.count("\n") == 1


def test_a_warning_is_a_line_unless_quiet():
    assert run("fail", "warning").stderr == "labelfold: warning: two pieces were joined\n"
    assert run("fail", "warning", "-q").stderr == ""


def test_warnings_are_left_as_they_were():
    before = warnings.showwarning
    run("fail", "warning")
    assert warnings.showwarning is before


def test_an_error_in_a_step_starts_its_own_line():
    result = run("fail", "step", "-v")
    assert result.stderr == "search ...\nlabelfold: no.\n"
