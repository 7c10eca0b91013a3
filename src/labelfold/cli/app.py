"""The `labelfold` command: its subcommands and its entry point.

A command is one module with one function, registered here. Commands import numerical packages
inside that function, so `labelfold --help` and `--version` answer at once.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from labelfold import __version__
from labelfold.cli.classify import classify
from labelfold.cli.compare import compare
from labelfold.cli.console import BAD_INPUT, ErrorTranslatingGroup
from labelfold.cli.demo import demo
from labelfold.cli.embed import embed
from labelfold.cli.inspect import inspect
from labelfold.cli.label import label
from labelfold.cli.methods import classifying, compared, embedders, listing
from labelfold.cli.review import review
from labelfold.cli.suggest import suggest
from labelfold.cli.transform import transform

app = typer.Typer(
    name="labelfold",
    cls=ErrorTranslatingGroup,
    help="Label, embed and draw tables with many rows and few labels.",
    epilog="Exit codes: 0 success, 2 bad usage, bad input or too little memory, 130 interrupted, "
    "1 a fault in labelfold.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=listing(classifying))(classify)
app.command(cls=listing(compared))(compare)
app.command()(demo)
app.command(cls=listing(embedders))(embed)
app.command()(inspect)
app.command()(label)
app.command()(review)
app.command()(suggest)
app.command()(transform)


def main() -> None:
    """Run the command line and exit with its code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A path that the terminal cannot show must not turn finished work into an error.
        sys.stdout.reconfigure(errors="backslashreplace")
    app(prog_name="labelfold")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"labelfold {__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def _labelfold(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(BAD_INPUT)
