"""Copy the report of a full run of `labelfold reproduce all` into the documentation.

    python tools/keep_report.py reproduce-output

What is copied: the report, and of every entry its page and its picture, with 256 colours.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from labelfold.reproduce import load_paper, paper_names

KEPT = Path(__file__).parents[1] / "docs" / "reproduction"


def keep(out: Path) -> None:
    """Replace what the documentation keeps by the files of a run."""
    for name in ("report.md", "report.html"):
        shutil.copyfile(out / name, KEPT / name)
    for paper in map(load_paper, paper_names()):
        shutil.rmtree(KEPT / paper.name, ignore_errors=True)
        (KEPT / paper.name).mkdir(parents=True)
        for entry in paper.entries:
            for kind in ("md", "png"):
                source = out / paper.name / f"{entry.name}.{kind}"
                if kind == "md" or source.exists():
                    _copy(source, KEPT / paper.name / source.name)


def _copy(source: Path, target: Path) -> None:
    if source.suffix != ".png":
        shutil.copyfile(source, target)
        return
    from PIL import Image

    # A repository keeps every version of a picture for ever: a palette halves it or better.
    with Image.open(source) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    keep(Path(sys.argv[1]))
