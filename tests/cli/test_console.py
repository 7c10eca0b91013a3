from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout

from labelfold.cli.console import Console


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_results_go_to_stdout(capsys):
    Console().result("7")
    assert capsys.readouterr() == ("7\n", "")


def test_errors_go_to_stderr(capsys):
    Console().error("no.")
    assert capsys.readouterr() == ("", "labelfold: no.\n")


def test_steps_are_silent_when_stderr_is_no_terminal(capsys):
    with Console().step("search"):
        pass
    assert capsys.readouterr().err == ""


def test_steps_show_on_a_terminal():
    with redirect_stderr(Terminal()) as terminal, Console().step("search"):
        assert terminal.getvalue() == "search ..."
    assert re.fullmatch(r"search \.\.\. \d+\.\d s\n", terminal.getvalue())


def test_quiet_silences_steps_on_a_terminal():
    console = Console()
    console.set_verbosity(quiet=True, verbose=False)
    with redirect_stderr(Terminal()) as terminal, console.step("search"):
        console.show_warning("careful", UserWarning, "file.py", 1)
    assert terminal.getvalue() == ""


def test_verbose_shows_steps_in_a_pipe(capsys):
    console = Console()
    console.set_verbosity(quiet=False, verbose=True)
    with console.step("search"):
        pass
    assert capsys.readouterr().err.startswith("search ...")


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
