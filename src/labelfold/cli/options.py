"""Options that several commands share, declared once so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr except errors.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show progress even when stderr is no terminal.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
