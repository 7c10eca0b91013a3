"""The pages are true: Python blocks run, links work, output is what is printed, and generated pages
and pictures are up to date.
"""

import importlib.util
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from labelfold import methods

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Generated, or with their own checks.
GENERATED = {"_build", "auto_examples", "cli", "generated", "reproduction"}
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in DOCS.rglob("*.md")
    if not GENERATED.intersection(path.relative_to(DOCS).parts)
)
# Below, and with a cluster by tests/distributed/test_page.py.
RUN_ELSEWHERE = {"docs/five_minutes.md", "docs/guide/dask.md"}
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OUTPUT = re.compile(r"prints\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ labelfold (.*)$", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]\d+)?")
# Shares of rows: how close a solver comes to its limit depends on versions.
_SHARE = re.compile(r"(?<!residuals )(?<!\d)(\d+)%")
# Built with the documentation, or by other tools.
_BUILT_LATER = re.compile(r"(?:\.\./)?auto_examples/index\.rst|(?:\.\./)?reproduction/index\.md")


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def has_python(page):
    return _BLOCK.search(text_of(page)) is not None


@pytest.fixture
def run_page(tmp_path, monkeypatch):
    """Return a function that runs a page's blocks, in one namespace and in an empty folder."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    # A module of its own, so classes of a page can be pickled.
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    # What a page declares must not leak into other tests.
    methods.all_estimators()
    monkeypatch.setattr(methods, "_estimators", dict(methods._estimators))
    monkeypatch.setattr(methods, "_stored", dict(methods._stored))

    def run(page):
        text = text_of(page)
        for block in _BLOCK.finditer(text):
            # Blank lines in front give a traceback the page's line numbers.
            lines_before = text.count("\n", 0, block.start(1))
            exec(compile("\n" * lines_before + block[1], page, "exec"), module.__dict__)
        return tmp_path

    yield run
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_pages_are_found():
    assert {"docs/index.md", "docs/five_minutes.md", "docs/guide/labels.md"} <= set(PAGES)


@pytest.mark.parametrize(
    "page",
    [page for page in ["README.md", *PAGES] if page not in RUN_ELSEWHERE and has_python(page)],
)
def test_python_blocks_run(page, run_page):
    run_page(page)


def test_first_map_is_what_the_page_shows(run_page, capsys):
    from matplotlib.image import imread

    page = "docs/five_minutes.md"
    folder = run_page(page)

    shown, printed = _OUTPUT.search(text_of(page))[1], capsys.readouterr().out
    # Residuals and numbers of products depend on the machine; words and shares do not.
    assert _NUMBER.sub("#", printed).split() == _NUMBER.sub("#", shown).split()
    for share, share_shown in zip(
        re.findall(_SHARE, printed), re.findall(_SHARE, shown), strict=True
    ):
        assert abs(int(share) - int(share_shown)) <= 2

    made, committed = imread(folder / "first-map.png"), imread(DOCS / "images" / "first-map.png")
    assert made.shape == committed.shape
    # The map is the same in every run: signs and rotation are fixed. Another release of matplotlib
    # moves axes by a pixel, which changes single pixels more than a mirrored panel does (by 6 of
    # 255 on average, against 1 to 3). Means over squares of 16 pixels separate the two: at most 68
    # from matplotlib 3.6, whose frame is five pixels lower, to 3.11; at least 170 if the map
    # is mirrored, empty or has other colors.
    assert 255 * np.abs(squares(made) - squares(committed)).max() < 80

    for command in _COMMAND.findall(text_of(page)):
        subprocess.run(
            [sys.executable, "-m", "labelfold.cli", *command.split()], cwd=folder, check=True
        )
    labels = (folder / "new-labels.csv").read_text(encoding="utf-8").splitlines()
    assert labels[0] == "row,label,confidence"
    assert len(labels) == 1 + 297


def squares(picture, side=16):
    """Return the mean colors of squares of a picture."""
    height, width = (side * (length // side) for length in picture.shape[:2])
    colors = picture[:height, :width, :3]
    return colors.reshape(height // side, side, width // side, side, 3).mean(axis=(1, 3))


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *PAGES])
def test_links_to_files_exist(page):
    path = ROOT / page
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text_of(page))
    targets += re.findall(r"^```\{image\} (\S+)$", text_of(page), re.MULTILINE)
    missing = [
        target
        for target in targets
        if not _BUILT_LATER.fullmatch(target) and not (path.parent / target).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *PAGES])
def test_links_to_headings_exist(page):
    path = ROOT / page
    missing = []
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)#([^)]+)\)", text_of(page)):
        other = (path.parent / target) if target else path
        if other.suffix == ".md" and other.exists() and anchor not in anchors(other):
            missing.append(f"{target}#{anchor}")
    assert missing == []


def anchors(path):
    """Return what the headings of a page are called in links."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def tool(name):
    specification = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_page_of_deviations_is_up_to_date():
    page = tool("deviations").make_page()
    assert (DOCS / "deviations.md").read_text(encoding="utf-8") == page, (
        "run python tools/deviations.py"
    )
    assert page.count("\n## ") >= 8


def test_page_on_reliability_is_up_to_date():
    page = tool("reliability").make_page()
    assert (DOCS / "reliability.md").read_text(encoding="utf-8") == page, (
        "run python tools/reliability.py"
    )


def test_deviations_are_found_in_docstrings_of_all_kinds(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "module.py").write_text(
        '"""Module.\n\nDeviation: of a module,\nin two lines.\n\nNot this.\n"""\n'
        "class A:\n"
        '    """A.\n\n    Notes\n    -----\n    See ``Deviation:`` below.\n\n'
        "    Deviation: ``x_i`` is y_i.\n\n    Deviation: another of :class:`B`.\n"
        '    """\n\n'
        "    def method(self):\n"
        '        """Do.\n\n        Deviation: of a method.\n        """\n',
        encoding="utf-8",
    )
    page = tool("deviations").make_page({tmp_path: "package"})
    names = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert names == ["A", "method", "module"]
    assert "Of a module,\nin two lines.\n" in page
    assert "Not this" not in page
    assert "`x_i` is y\\_i." in page
    assert "Another of `B`." in page


def test_picture_of_the_choice_is_up_to_date():
    specification = importlib.util.spec_from_file_location("choosing", DOCS / "images/choosing.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert (DOCS / "images" / "choosing.svg").read_text(encoding="utf-8") == module.draw()
    named = {name.partition("(")[0] for *_, names, _ in module.STEPS for name, _ in names}
    named |= {name for name, _ in module.LAST}
    import labelfold

    assert named <= set(labelfold.__all__)
