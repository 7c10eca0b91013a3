"""Runs the command line as `python -m labelfold.cli`."""

from labelfold.cli import main

main()
