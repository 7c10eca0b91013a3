"""The command line. `main` is the entry point of the `labelfold` command."""

import sys
from importlib.util import find_spec

__all__ = ["main"]

NEEDED = ("typer", "pandas", "pyarrow", "openpyxl")


def main() -> None:
    """Run the command line and exit with its code, if what it needs is installed."""
    if not all(map(find_spec, NEEDED)):
        sys.stderr.write(
            'The command line is an extra; install it with\npip install "labelfold[app]"\n'
        )
        raise SystemExit(2)
    from labelfold.cli.app import main as run

    run()
