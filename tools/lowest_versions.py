"""Print pip constraints that pin every dependency in pyproject.toml to its lower bound.

Reads the runtime dependencies and the extras named on the command line:
``python tools/lowest_versions.py pyproject.toml io``.
"""

import re
import sys
import tomllib
from pathlib import Path

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*>=\s*(?P<lowest>[\w.]+)[^;]*(?P<marker>;.*)?")


def lowest_version(requirement: str) -> str:
    """Turn ``name>=1.2,<2; marker`` into ``name==1.2 ; marker``."""
    match = _REQUIREMENT.fullmatch(requirement)
    if match is None:
        raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound of the form name>=x")
    return f"{match['name']}=={match['lowest']} {match['marker'] or ''}".rstrip()


def main(path: str, *extras: str) -> None:
    """Print one constraint per line."""
    project = tomllib.loads(Path(path).read_text(encoding="utf-8"))["project"]
    requirements = list(project["dependencies"])
    for extra in extras:
        requirements += project["optional-dependencies"][extra]
    for requirement in dict.fromkeys(requirements):
        print(lowest_version(requirement))


if __name__ == "__main__":
    main(*sys.argv[1:])
