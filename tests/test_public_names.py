"""Every public name of version 0.1 is still there, or in the CHANGELOG's table of changed names.

`public_names_0_1.txt` has one line per class or function that the reference of 0.1 listed: its
name, then its parameters, fitted attributes and methods.
"""

import importlib
import inspect
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LINES = (HERE / "public_names_0_1.txt").read_text(encoding="utf-8").splitlines()
PUBLIC = {owner: members.split() for owner, _, members in (line.partition(":") for line in LINES)}
ROW = re.compile(r"^\| (?P<old>`.*?) \| (?P<new>.*?) \|(?P<where>.*?)\|$", re.MULTILINE)


def quoted(cell):
    return re.findall(r"`([\w.]+)`", cell)


def read_table():
    """Return the rows of the CHANGELOG's table: old names, new names, where."""
    text = (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    section = text.partition("### Renamed\n")[2].partition("\n### ")[0]
    return [
        tuple(quoted(row[cell]) for cell in ("old", "new", "where"))
        for row in ROW.finditer(section)
    ]


TABLE = read_table()


def resolve(name):
    """Return what a qualified name stands for, None if there is no such thing."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError:
        return None


def has_member(value, name):
    """Whether a class or function has a parameter, attribute or method of this name."""
    documented = rf"^\s*(\w+, )*{name}(, \w+)* :"
    return (
        name in inspect.signature(value).parameters
        or hasattr(value, name)
        or re.search(documented, value.__doc__ or "", re.MULTILINE) is not None
    )


def find_owner(owner):
    """Return a class or function of 0.1 under its present name, None if the table says it went."""
    value = resolve(owner)
    if value is None:
        rows = [new for old, new, _ in TABLE if owner in old]
        assert rows, f"{owner} is neither there nor in the CHANGELOG"
        value = next((found for name in rows[0] if (found := resolve(name))), None)
    return value


@pytest.mark.parametrize("owner", PUBLIC)
def test_public_names_are_there_or_in_the_changelog(owner):
    value = find_owner(owner)
    if value is None:
        return
    short = owner.rpartition(".")[2]
    changed = {name for old, _, where in TABLE if short in where for name in old}
    gone = [name for name in PUBLIC[owner] if not has_member(value, name)]
    assert sorted(set(gone) - changed) == []


def test_the_table_of_changed_names_is_read():
    assert len(TABLE) > 20
    assert (["joined"], ["with_rows"], ["CCDR", "LaplacianEigenmaps"]) in TABLE


def test_new_names_exist():
    owners = {owner.rpartition(".")[2]: value for owner in PUBLIC if (value := find_owner(owner))}
    for _, new, where in TABLE:
        for short in where:
            missing = [name for name in new if not has_member(owners[short], name)]
            assert missing == [], short
