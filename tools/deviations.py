"""Collect what the docstrings say under "Deviation:" into docs/deviations.md.

``python tools/deviations.py`` writes the page, ``--check`` fails if it is out of date. A
deviation is a paragraph that begins with the word; it ends at the next blank line.
"""

import argparse
import ast
import difflib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {ROOT / "src": "labelfold", ROOT: "reproductions"}
PAGE = ROOT / "docs" / "deviations.md"
MARK = "Deviation:"
INTRODUCTION = """\
# Where labelfold departs from the papers

Papers leave things open, contain misprints, and state problems that have no solution. Where the
code departs from a paper, its docstring says so under "Deviation:". `python tools/deviations.py`
builds this page from the docstrings. [Mathematics](mathematics.md) lists the papers and the
problems that are solved instead.
"""
# reStructuredText that Markdown reads differently.
ROLE = re.compile(r":\w+:`~?([^`]*)`")
LITERAL = re.compile(r"``(.+?)``", re.DOTALL)


def deviations_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of every deviation in a module, in the order of its source."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        docstring = ast.get_docstring(node, clean=False)
        if docstring is None or MARK not in docstring:
            continue
        name = path.stem if isinstance(node, ast.Module) else node.name
        for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(docstring)):
            if paragraph.startswith(MARK):
                yield name, paragraph.removeprefix(MARK).strip()


def to_markdown(paragraph: str) -> str:
    """Return a paragraph of a docstring as Markdown."""
    text = LITERAL.sub(lambda match: f"`{' '.join(match[1].split())}`", paragraph)
    text = ROLE.sub(r"`\1`", text)
    # Outside of code, * and _ must not be read as emphasis.
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(one if one.startswith("`") else re.sub(r"([*_])", r"\\\1", one) for one in parts)


def make_page(sources: Mapping[Path, str] = SOURCES) -> str:
    """Return the page for packages, given by the folders that hold them."""
    found: dict[tuple[str, str], list[str]] = {}
    for folder, package in sources.items():
        for path in sorted((folder / package).rglob("*.py")):
            module = ".".join(path.relative_to(folder).with_suffix("").parts)
            for name, text in deviations_in(path):
                found.setdefault((name, module), []).append(text)
    parts = [INTRODUCTION]
    for (name, module), texts in sorted(found.items(), key=lambda entry: entry[0][0].lower()):
        parts.append(f"## {name}\n")
        parts.append(f"In `{module}`.\n")
        parts += [f"{sentence_case(to_markdown(text))}\n" for text in texts]
    return "\n".join(parts)


def sentence_case(text: str) -> str:
    """Return a text that begins with a capital letter, unless it begins with a parameter's name."""
    first = text.split(maxsplit=1)[0]
    return text[0].upper() + text[1:] if first.isalpha() else text


def main(*, check: bool) -> int:
    """Write or check the page; return the exit code."""
    new = make_page()
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if old == new:
        return 0
    if not check:
        PAGE.write_text(new, encoding="utf-8")
        print(f"{PAGE.name} updated.")
        return 0
    lines = (old.splitlines(), new.splitlines())
    print("\n".join(difflib.unified_diff(*lines, str(PAGE), "now", lineterm="")))
    print("docs/deviations.md is out of date: run python tools/deviations.py")
    return 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Collect the deviations of the docstrings.")
    parser.add_argument("--check", action="store_true", help="fail on differences, write nothing")
    sys.exit(main(check=parser.parse_args().check))
