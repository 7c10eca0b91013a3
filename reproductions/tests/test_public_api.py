"""The reproductions use labelfold as anybody can: by its public names."""

import ast
import importlib
from pathlib import Path

import pytest

import labelfold

ROOT = Path(__file__).parents[1]
PUBLIC_MODULES = {"labelfold", *(f"labelfold.{name}" for name in labelfold.__all__)}
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in ROOT.rglob("*.py")
    if path.parts[len(ROOT.parts)] != "tests"
)


@pytest.mark.parametrize("name", MODULES)
def test_only_public_names_are_used(name):
    tree = ast.parse((ROOT / name).read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("labelfold"):
            assert node.module in PUBLIC_MODULES
            public = set(getattr(importlib.import_module(node.module), "__all__", ()))
            assert {alias.name for alias in node.names} <= public, node.module
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            assert own or node.attr.startswith("__"), node.attr
