"""Keep the report of a full run of `python -m reproductions all` in the documentation.

    python -m reproductions.keep_report DIR            keep the output of a full run
    python -m reproductions.keep_report --records DIR  keep its task results only
    python -m reproductions.keep_report --unpack DIR   unpack the kept task results

Kept are the report and, for every entry, its page, its picture with 256 colors and the results of
its tasks, from which the command rebuilds the rest in minutes. The table of verdicts in
docs/reproduction/index.md is updated.
"""

from __future__ import annotations

import lzma
import re
import shutil
import sys
from pathlib import Path
from typing import get_args

from PIL import Image

from reproductions import PAPERS, load_paper
from reproductions.outcome import Outcome

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "reproduction"
INDEX = KEPT / "index.md"
RECORDS = KEPT / "records"
AUTHORS = {
    "ccdr-2005": "Costa and Hero, CCDR",
    "ccdr-mc": "Raich et al., CCDR for many classes",
    "ism": "Vasiloglou et al., separation maps",
    "lapclass": "Belkin and Niyogi, Laplacian classifier",
    "ssde": "Zhang et al., supervised SDE",
}
VERDICTS = get_args(Outcome)
# A row of the report's first table: name with or without a link, what it shows, verdict.
ROW = re.compile(rf"^\| (?P<name>[^|]+) \| [^|]+ \| (?P<verdict>{'|'.join(VERDICTS)}) \|", re.M)
TABLE = re.compile(r"(?<=<!-- verdicts -->\n).*?(?=<!-- end of verdicts -->)", re.S)


def keep(out: Path) -> None:
    """Replace the report in the documentation by that of a run."""
    shutil.copyfile(out / "report.md", KEPT / "report.md")
    for paper in map(load_paper, PAPERS):
        source, target = out / paper.name, KEPT / paper.name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for entry in paper.entries:
            shutil.copyfile(source / f"{entry.name}.md", target / f"{entry.name}.md")
            if entry.draw is not None:
                # A repository keeps every version of a picture: a palette halves its size.
                with Image.open(source / f"{entry.name}.png") as picture:
                    few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
                    few.save(target / f"{entry.name}.png", optimize=True)
    keep_records(out)
    table = verdict_table((KEPT / "report.md").read_text("utf-8"))
    INDEX.write_text(TABLE.sub(lambda _: table, INDEX.read_text("utf-8")), "utf-8")


def keep_records(out: Path) -> None:
    """Keep the results of all finished tasks, without quick runs and older editions."""
    for paper in map(load_paper, PAPERS):
        for entry in paper.entries:
            record = out / paper.name / f"{entry.name}.jsonl"
            if record.exists():
                target = RECORDS / paper.name / f"{record.name}.xz"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(lzma.compress(record.read_bytes(), preset=9))


def unpack_records(out: Path) -> None:
    """Unpack the kept results where `python -m reproductions --out` resumes from them."""
    for record in sorted(RECORDS.glob("*/*.jsonl.xz")):
        target = out / record.parent.name / record.stem
        if target.exists():
            sys.exit(f"{target} exists: pass another folder.")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(lzma.decompress(record.read_bytes()))


def verdict_table(report: str) -> str:
    """Summarize the verdicts of a report: one row per paper, one column per verdict."""
    lines = [f"| | {' | '.join(VERDICTS)} |", f"| --- {'| --- ' * len(VERDICTS)}|"]
    for paper, authors in AUTHORS.items():
        cells: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
        for match in ROW.finditer(report):
            # "[ism Fig. 1, figure-1-unfolding](...); ..." is Fig. 1.
            name = match["name"].lstrip("[").split("]")[0].split(",")[0]
            if name.startswith(f"{paper} "):
                cells[match["verdict"]].append(name.removeprefix(f"{paper} "))
        lines.append(f"| {authors} | {' | '.join(', '.join(cells[one]) for one in VERDICTS)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    *action, folder = sys.argv[1:] or [""]
    actions = {(): keep, ("--records",): keep_records, ("--unpack",): unpack_records}
    if tuple(action) not in actions or not folder or folder.startswith("-"):
        sys.exit(__doc__)
    actions[tuple(action)](Path(folder))
