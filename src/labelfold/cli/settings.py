"""Parameters of estimators as text, `--set NAME=VALUE`, read by the type that each is declared as.

A type is an annotation such as "int | str", or "Any" where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from labelfold.exceptions import InputError

KINDS = ("None", "bool", "int", "float", "str")  # in the order in which a text is tried
TITLES = {
    "None": "none",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "text",
}


def parse_settings(
    settings: Sequence[str],
    types: Mapping[str, str],
    method: str,
    elsewhere: Mapping[str, str],
) -> dict[str, Any]:
    """Read all NAME=VALUE.

    Parameters
    ----------
    settings : sequence of str
        What the person gave.

    types : mapping from str to str
        Known parameters and their types.

    method : str
        What messages call the owner of the parameters.

    elsewhere : mapping from str to str
        Parameters that have an option of their own instead.

    Returns
    -------
    dict
        Names and values.

    Examples
    --------
    >>> from labelfold.cli.settings import parse_settings
    >>> types = {"alpha": "float", "radius": "float | None", "weights": "Any"}
    >>> parse_settings(["alpha=1", "radius=none", "weights=heat"], types, "lle", {})
    {'alpha': 1.0, 'radius': None, 'weights': 'heat'}
    """
    values: dict[str, Any] = {}
    for setting in settings:
        name, sign, text = (part.strip() for part in setting.partition("="))
        if not sign or not name or not text:
            raise InputError(
                f"--set {setting!r} must be NAME=VALUE, such as {next(iter(types))}=2."
            )
        if name in elsewhere:
            raise InputError(f"--set {name}: use {elsewhere[name]} instead.")
        if name not in types:
            raise InputError(
                f"--set {name}: --method {method} has no such parameter: choose from "
                f"{', '.join(types)}."
            )
        if name in values:
            raise InputError(f"--set {name} is given twice: pass it once.")
        values[name] = read_value(text, types[name], f"--set {name}")
    return values


def sets(settings: Sequence[str] | None, name: str) -> bool:
    """Return whether that parameter is among NAME=VALUE."""
    return any(setting.partition("=")[0].strip() == name for setting in settings or ())


def read_value(text: str, declared: str, option: str) -> Any:
    """Return the value that a text has as one of the declared types, the first that fits.

    Raises
    ------
    ValueError
        If it fits none; `option` is what the message begins with.
    """
    parts = [part.strip() for part in declared.split("|")]
    kinds = KINDS if "Any" in parts else [kind for kind in KINDS if kind in parts]
    for kind in kinds:
        found, value = _read_as(kind, text)
        if found:
            return value
    titles = " or ".join(TITLES[kind] for kind in reversed(kinds))
    raise InputError(f"{option} {text!r} must be {titles}.")


def _read_as(kind: str, text: str) -> tuple[bool, Any]:
    """Return whether a text can be read as that type, and its value."""
    word = text.lower()
    if kind == "None":
        return word == "none", None
    if kind == "bool":
        return word in ("true", "false"), word == "true"
    if kind == "str":
        return True, text
    try:
        number = int(text) if kind == "int" else float(text)
    except ValueError:
        return False, None
    return not math.isnan(number), number
