"""What a model file would build, read from its description alone, before anything is built.

skops describes a model as a tree of nodes in JSON, each with the name of its type and a loader. The
audit runs on that tree with empty arrays in place of the real ones.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

import skops.io

from labelfold.persistence.container import SCHEMA
from labelfold.persistence.trusted_types import TRUSTED_TYPES

__all__ = ["find_foreign", "find_lost_keys"]

# JSON turns keys into text, from which skops makes these again. Of False it would make True.
RESTORED_KEYS = ("str", "int", "float", "str_", "int8", "int16", "int32", "int64", "float64")


def find_foreign(schema: bytes, names: Iterable[str]) -> dict[str, str]:
    """Return types that are not trusted, by name, each with a place where it stands.

    Parameters
    ----------
    schema : bytes
        The description in JSON.
    names : iterable of str
        Names of the files that it refers to.
    """
    empty = BytesIO()
    with zipfile.ZipFile(empty, "w") as file:
        for name in names:
            file.writestr(name, schema if name == SCHEMA else b"")
    foreign = set(skops.io.get_untrusted_types(data=empty.getvalue())) - set(TRUSTED_TYPES)
    if not foreign:
        return {}
    places = sorted(_places(json.loads(schema), ""), key=lambda one: one[0].count("."))
    found = dict.fromkeys(sorted(foreign), "")
    for place, node in reversed(places):  # the least nested place comes last, and stays
        name = f"{node['__module__']}.{node['__class__']}"
        if name in found:
            found[name] = place
    return found


def find_lost_keys(schema: bytes) -> list[str]:
    """Return the places of dictionaries with keys that would not come back as they are."""
    lost = []
    for place, node in _places(json.loads(schema), ""):
        if node["__loader__"] == "DictNode":
            kinds = [kind["__class__"] for kind in node["key_types"]["content"]]
            if len(kinds) != len(node["content"]) or not set(kinds) <= set(RESTORED_KEYS):
                lost.append(place)
    return lost


def _places(node: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all nodes with what a user would write to get at them."""
    if not isinstance(node, dict):
        return
    if "__loader__" in node:
        yield place, node
    content = node.get("content")
    if isinstance(content, list):
        for number, child in enumerate(content):
            yield from _places(child, f"{place}[{number}]")
    elif isinstance(content, dict) and "__loader__" in content:
        yield from _places(content, place)
    elif isinstance(content, dict):
        for name, child in content.items():
            yield from _places(child, f"{place}.{name}".lstrip("."))
