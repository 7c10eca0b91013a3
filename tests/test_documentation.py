"""The reference is complete, examples cover the estimators, and dead links are found."""

import ast
import dataclasses
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import labelfold
from labelfold.methods import all_estimators, all_methods

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
CHECK_LINKS = ROOT / "tools" / "check_links.py"


def public_names():
    """Qualified names of all public classes and functions, from the lists of public names."""
    modules = [getattr(labelfold, name) for name in labelfold.__all__]
    packages = [labelfold, *(value for value in modules if inspect.ismodule(value))]
    return {
        f"{package.__name__}.{name}": value
        for package in packages
        for name in getattr(package, "__all__", ())
        if inspect.isclass(value := getattr(package, name)) or inspect.isroutine(value)
    }


def listed_names():
    """Qualified names in the tables of docs/api.md, in their order."""
    names, module = [], ""
    for line in (ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines():
        if stated := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = stated[1]
        elif entry := re.fullmatch(r"   ([A-Za-z_][\w.]*)", line):
            names.append(f"{module}.{entry[1]}")
    return names


def resolve(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


PUBLIC = public_names()
ESTIMATORS = sorted(
    {
        value.__name__
        for value in PUBLIC.values()
        if inspect.isclass(value) and issubclass(value, BaseEstimator)
    }
)


def test_every_public_name_is_in_the_reference():
    listed = [resolve(name) for name in listed_names()]
    assert sorted(name for name, value in PUBLIC.items() if value not in listed) == []


def test_everything_in_the_reference_is_public():
    others = set(listed_names()) - set(PUBLIC)
    # Results of fits are public in the module that defines them.
    assert sorted(name for name in others if not is_result_of_fit(name)) == []


def is_result_of_fit(name):
    """Whether a name is that of a value class that its own module exports."""
    module, _, attribute = name.rpartition(".")
    value = resolve(name)
    return (
        module.count(".") == 2
        and attribute in importlib.import_module(module).__all__
        and value.__module__ == module
        and dataclasses.is_dataclass(value)
    )


def test_every_certificate_is_in_the_reference():
    listed = {name.rpartition(".")[2] for name in listed_names()}
    stated = {
        kind
        for name in ESTIMATORS
        for value in [next(one for one in PUBLIC.values() if one.__name__ == name)]
        for kind in re.findall(r"^    certificate_ : (\w+)$", value.__doc__ or "", re.MULTILINE)
    }
    assert len(stated) >= 5
    assert stated <= listed


def test_the_reference_lists_nothing_twice():
    listed = [resolve(name) for name in listed_names()]
    assert len(listed) == len(set(listed))


def imports_of(path):
    """Pairs of module and name that a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return {
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_has_an_example(name):
    imported = {
        imported
        for path in EXAMPLES
        for module, imported in imports_of(path)
        if (module or "").partition(".")[0] == "labelfold"
    }
    assert name in imported


def named_in_tables(page):
    """Names in code type in the first cells of all tables of a page."""
    cells = re.findall(r"^\| ([^|]*)\|", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize("page", ["README.md", "docs/choosing.md"])
def test_every_declared_method_is_in_the_tables(page):
    wanted = {
        kind.__name__
        for kind in all_estimators()
        if kind.declaration.embeds or kind.declaration.name
    }
    assert sorted(wanted - named_in_tables(page)) == []


def test_the_readme_says_what_methods_do_with_labels():
    rows = re.findall(r"^\| (.*) \| (.*) \| (.*) \|$", (ROOT / "README.md").read_text(), re.M)
    said = {name: what for names, _, what in rows for name in re.findall(r"`(\w+)`", names)}
    for kind in all_methods().values():
        ignores = kind.declaration.labels == "ignores"
        assert (said[kind.__name__] == "none") == ignores, kind.__name__


def test_every_declared_estimator_is_public():
    assert {one.__name__ for one in all_estimators()} <= set(labelfold.__all__)


def test_estimators_are_found():
    # Otherwise the test above would pass without looking for anything.
    assert {"CCDR", "ResampledEmbedding", "TransductiveSearchCV"} <= set(ESTIMATORS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
class TestExample:
    def test_is_run_by_the_gallery(self, path):
        assert path.name.startswith("plot_")

    def test_begins_with_a_title(self, path):
        compiled = compile(path.read_text(encoding="utf-8"), str(path), "exec")
        _, title, underline, *_ = (compiled.co_consts[0] or "").split("\n")
        assert title
        assert underline == "=" * len(title)

    def test_names_exist(self, path):
        ours = [pair for pair in imports_of(path) if pair[0].partition(".")[0] == "labelfold"]
        assert ours
        for module, name in ours:
            assert hasattr(importlib.import_module(module), name), f"{module}.{name}"

    def test_needs_neither_data_files_nor_network(self, path):
        downloads = {name for _, name in imports_of(path) if name.startswith("fetch_")}
        files = {
            name
            for module, name in imports_of(path)
            if module == "labelfold.datasets" and name.startswith("load_")
        }
        assert downloads | files == set()


def load_check_links():
    spec = importlib.util.spec_from_file_location("check_links", CHECK_LINKS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def site(tmp_path):
    """Write pages by name into a folder below the temporary one, and return that folder."""
    folder = tmp_path / "html"

    def write(pages):
        for name, content in pages.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        return folder

    return write


def faults(folder):
    return [
        (page.as_posix(), target, reason)
        for page, target, reason in load_check_links().dead_links(folder)
    ]


def test_links_that_work_are_passed(site):
    folder = site(
        {
            "index.html": '<h1 id="übersicht">a</h1><a href="#übersicht">b</a><a href="#">c</a>'
            '<a href="sub/page.html?q=1#first">d</a><a href="sub/">e</a><a href="a%20b.txt">f</a>'
            '<img src="sub/map.png" srcset="sub/map.png, sub/map.png 2x">'
            '<a href="https://example.org/gone">g</a><a href="mailto:a@example.org">h</a>'
            '<img src="data:image/png;base64,AAAA"><a href="//example.org/gone.html">i</a>',
            "sub/page.html": '<p id="first"><a name="old"></a><a href="../index.html#top">j</a>'
            '<a href="#old">k</a><a href="../index.html#%C3%BCbersicht">l</a>',
            "sub/index.html": "",
            "sub/map.png": "",
            "a b.txt": "",
        }
    )
    assert faults(folder) == []


@pytest.mark.parametrize(
    ("content", "target", "reason"),
    [
        ('<a href="gone.html">', "gone.html", "no such file"),
        ('<a href="gone.html#a">', "gone.html#a", "no such file"),
        ('<a href="#gone">', "#gone", "no such anchor"),
        ('<p id="here"><a href="other.html#here">', "other.html#here", "no such anchor"),
        ('<p id="Here"><a href="#here">', "#here", "no such anchor"),
        ('<img src="gone.png">', "gone.png", "no such file"),
        ('<img src="other.html" srcset="other.html, gone.png 2x">', "gone.png", "no such file"),
        ('<script src="gone.js"></script>', "gone.js", "no such file"),
        ('<link rel="stylesheet" href="gone.css?v=1">', "gone.css?v=1", "no such file"),
        ('<a href="empty/">', "empty/", "no such file"),
        ('<a href="../outside.html">', "../outside.html", "leaves the folder"),
    ],
)
def test_a_dead_link_is_found(site, tmp_path, content, target, reason):
    folder = site({"index.html": content, "other.html": "<p id='there'>"})
    (folder / "empty").mkdir()
    (tmp_path / "outside.html").write_text("", encoding="utf-8")
    assert faults(folder) == [("index.html", target, reason)]


def test_a_link_from_the_root_of_the_host_is_dead(site):
    folder = site({"index.html": '<a href="/index.html">'})
    [(_, target, reason)] = faults(folder)
    assert target == "/index.html"
    assert "slash" in reason


def test_links_are_relative_to_their_page(site):
    folder = site({"index.html": "", "sub/page.html": '<a href="index.html">'})
    assert faults(folder) == [("sub/page.html", "index.html", "no such file")]


def run_check(folder):
    return subprocess.run(
        [sys.executable, str(CHECK_LINKS), str(folder)], capture_output=True, text=True
    )


def test_exit_code_reports_dead_links(site):
    folder = site({"index.html": '<a href="index.html">'})
    assert run_check(folder).returncode == 0
    site({"other.html": '<a href="gone.html"><a href="#gone">'})
    result = run_check(folder)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "other.html: gone.html: no such file",
        "other.html: #gone: no such anchor",
        "2 dead links",
    ]


def test_a_folder_without_pages_is_an_error(tmp_path):
    result = run_check(tmp_path / "html")
    assert result.returncode == 1
    assert "build the documentation first" in result.stderr
