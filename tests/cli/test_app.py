"""The command as a program: entry point, help, version, streams and signals."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import pytest
from typer.testing import CliRunner

import labelfold
from labelfold.cli.app import app


def test_version_as_a_program():
    command = [sys.executable, "-m", "labelfold.cli", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"labelfold {labelfold.__version__}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_commands_and_exit_codes(option):
    result = CliRunner().invoke(app, [option])
    assert result.exit_code == 0
    assert "demo" in result.stdout
    assert "Exit codes: 0 success" in result.stdout


def test_no_command_shows_the_help_and_fails():
    result = CliRunner().invoke(app, [])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "demo" in result.stderr


def test_every_command_explains_itself():
    for command in app.registered_commands:
        name = command.callback.__name__
        result = CliRunner().invoke(app, [name, "--help"])
        assert result.exit_code == 0
        assert f"labelfold {name} " in result.stdout
        assert len(result.stdout.splitlines()) > 10


def test_help_and_version_load_no_numerical_package():
    script = textwrap.dedent("""
        import sys
        from labelfold.cli import main

        try:
            main()
        finally:
            heavy = {"numpy", "scipy", "sklearn", "matplotlib", "psutil"}
            print(sorted(heavy & set(sys.modules)), file=sys.stderr)
    """)
    for option in ("--help", "--version"):
        result = subprocess.run(
            [sys.executable, "-c", script, option], capture_output=True, text=True, check=True
        )
        assert result.stderr == "[]\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_ends_with_130_and_leaves_nothing(tmp_path):
    script = textwrap.dedent("""
        import signal
        import time
        import labelfold.cli.digits as experiment
        from labelfold.cli import main

        def work_forever(*arguments):
            print("working", flush=True)
            time.sleep(60)

        # A shell's background job, and all it starts, ignores SIGINT.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        experiment.run_experiment = work_forever
        main()
    """)
    with subprocess.Popen(
        [sys.executable, "-c", script, "demo", "--out", str(tmp_path / "new")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout.readline() == "working\n"
        program.send_signal(signal.SIGINT)
        _, stderr = program.communicate(timeout=30)
    assert (program.returncode, stderr) == (130, "labelfold: interrupted.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGPIPE")
def test_a_closed_pipe_prints_no_traceback():
    with subprocess.Popen(
        [sys.executable, "-m", "labelfold.cli", "demo", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        program.stdout.close()
        assert program.stderr.read() == ""
