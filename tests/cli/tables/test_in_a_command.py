"""Tables as a command meets them: refusals are exit code 2 and one line, "-" is standard input."""

from __future__ import annotations

import gzip
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from labelfold.cli.errors import ErrorTranslatingGroup
from labelfold.cli.tables import read_table

app = typer.Typer(cls=ErrorTranslatingGroup, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback()
def _root() -> None:
    pass


@app.command()
def shape(
    context: typer.Context, data: str, labels: Annotated[str | None, typer.Option()] = None
) -> None:
    table = read_table(data, labels=labels)
    context.obj.result(f"{table.n_rows} x {table.n_features}, {table.n_labeled} labelled")


def run(*arguments, **options):
    return CliRunner().invoke(app, ["shape", *arguments], prog_name="tool", **options)


def test_good_table(write):
    result = run(write("a,b,y\n1,2,x\n3,4,\n"), "--labels", "y")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "2 x 2, 1 labelled\n", "")


def test_last_column_by_number(write):
    assert run(write("1,2,x\n3,4,\n"), "--labels", "-1").stdout == "2 x 2, 1 labelled\n"


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", gzip.compress(b"a,b\n1,2\n", mtime=0)])
def test_standard_input(content):
    assert run("-", input=content).stdout == "1 x 2, 0 labelled\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a,b\n1,x\n", "column 'b' holds text"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells"),
        ("", "is empty"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-3], "gzip"),
    ],
)
def test_refusal_is_one_line_and_exit_code_2(write, content, line):
    result = run(write(content))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("labelfold: data.csv")
    assert result.stderr.count("\n") == 1
    assert line in result.stderr


def test_file_that_is_not_there():
    result = run("none.csv")
    assert result.exit_code == 2
    assert result.stderr == (
        "labelfold: none.csv: No such file or directory: check the name of the file.\n"
    )
