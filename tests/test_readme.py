"""The Python blocks of README and user guide run, each page in one namespace from top to bottom."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/user_guide.md"])
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(_BLOCK.finditer(text))
    assert blocks
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        # Blank lines in front give a traceback the page's line numbers.
        lines_before = text.count("\n", 0, block.start(1))
        exec(compile("\n" * lines_before + block[1], page, "exec"), namespace)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/user_guide.md"])
def test_links_to_files_exist(page):
    path = ROOT / page
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (path.parent / target).exists()]
    assert missing == []
