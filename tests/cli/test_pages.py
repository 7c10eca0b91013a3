"""The pages of docs/cli are made again: their commands still say what the pages show.

Other releases of the libraries give other digits, so that only words are compared here; `make docs`
compares the numbers too.
"""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPECIFICATION = importlib.util.spec_from_file_location(
    "command_pages", ROOT / "tools" / "command_pages.py"
)
command_pages = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(command_pages)


def words(page):
    """Return the words of all output: numbers vary, and so does their order."""
    shown = " ".join(match[2] for match in command_pages.BLOCK.finditer(page))
    return set(re.findall(r"[A-Za-z][A-Za-z-]{3,}", shown))


@pytest.mark.skipif(sys.platform == "win32", reason="the pages are for a Unix shell")
@pytest.mark.parametrize("name", ["embed", "classify", "transform", "inspect", "compare", "demo"])
def test_commands_print_what_the_page_shows(name):
    page = (ROOT / "docs" / "cli" / f"{name}.md").read_text(encoding="utf-8")
    shown, now = words(page), words(command_pages.renew(page))
    assert len(shown) > 20
    assert len(shown ^ now) <= 0.15 * len(shown), sorted(shown ^ now)
