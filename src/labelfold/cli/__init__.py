"""The command line. `main` is the entry point of the `labelfold` command."""

from labelfold.cli.app import main

__all__ = ["main"]
