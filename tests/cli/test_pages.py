"""The commands in the pages of docs/cli print what the pages show."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPECIFICATION = importlib.util.spec_from_file_location(
    "command_pages", ROOT / "tools" / "command_pages.py"
)
command_pages = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(command_pages)
NAMES = sorted(path.stem for path in command_pages.PAGES.glob("*.md") if path.stem != "index")


@pytest.mark.skipif(sys.platform == "win32", reason="the pages are for a Unix shell")
@pytest.mark.parametrize("name", NAMES)
def test_commands_print_what_the_page_shows(name):
    page = (command_pages.PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert command_pages.BLOCK.search(page)
    now = command_pages.renew(page)
    assert command_pages.is_same(page, now), command_pages.difference(page, now, name)


@pytest.mark.parametrize(
    ("now", "is_same"),
    [
        ("Graph: 12 edges, error 0.502, in 7.1 s, residual 3e-9\n  by numpy 2.4.9", True),
        ("Graph: 12 edges, error 0.52, in 2.5 s, residual 1e-9 by numpy 2.4.6", False),
        ("Graph: 13 edges, error 0.5, in 2.5 s, residual 1e-9 by numpy 2.4.6", False),
        ("Grapf: 12 edges, error 0.5, in 2.5 s, residual 1e-9 by numpy 2.4.6", False),
        ("Graph: 13 edges, error 0.7, in 2.5 s, residual 1e-9 by numpy 2.5.0", True),
        ("Grapf: 12 edges, error 0.5, in 2.5 s, residual 1e-9 by numpy 2.5.0", False),
    ],
)
def test_only_volatile_values_may_differ(now, is_same):
    page = "Graph: 12 edges, error 0.5, in 2.5 s, residual 1e-9 by numpy 2.4.6"
    assert command_pages.is_same(page, now) == is_same
