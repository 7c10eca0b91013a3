"""Keep the report of a full run of `python -m reproductions all` in the documentation.

    python -m reproductions.keep_report DIR            what a full run left
    python -m reproductions.keep_report --records DIR  its results only, also unfinished ones
    python -m reproductions.keep_report --unpack DIR   the results that are kept, to go on from

What is kept: the report, and of every entry its page, its picture with 256 colours, and the results
of its tasks, of which the command makes the rest anew in minutes. The table of verdicts in README
is brought up to date.
"""

from __future__ import annotations

import lzma
import re
import shutil
import sys
from pathlib import Path

from reproductions import load_paper, paper_names

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "reproduction"
RECORDS = KEPT / "records"
AUTHORS = {
    "ccdr-2005": "Costa and Hero, CCDR",
    "ccdr-mc": "Raich et al., CCDR for many classes",
    "ism": "Vasiloglou et al., separation maps",
    "lapclass": "Belkin and Niyogi, Laplacian classifier",
    "ssde": "Zhang et al., supervised SDE",
}
VERDICTS = ("better", "matches", "matches in part", "differs")
# A row of the report's first table: name with or without a link, what it shows, verdict.
ROW = re.compile(rf"^\| (?P<name>[^|]+) \| [^|]+ \| (?P<verdict>{'|'.join(VERDICTS)}) \|", re.M)
TABLE = re.compile(r"(?<=<!-- verdicts -->\n).*?(?=<!-- end of verdicts -->)", re.S)


def keep(out: Path) -> None:
    """Replace what the documentation keeps by the files of a run."""
    shutil.copyfile(out / "report.md", KEPT / "report.md")
    for paper in map(load_paper, paper_names()):
        shutil.rmtree(KEPT / paper.name, ignore_errors=True)
        (KEPT / paper.name).mkdir(parents=True)
        for entry in paper.entries:
            for kind in ("md", "png"):
                source = out / paper.name / f"{entry.name}.{kind}"
                if kind == "md" or source.exists():
                    copy(source, KEPT / paper.name / source.name)
    keep_records(out)
    readme = ROOT / "README.md"
    table = verdict_table((KEPT / "report.md").read_text("utf-8"))
    readme.write_text(TABLE.sub(lambda _: table, readme.read_text("utf-8")), "utf-8")


def keep_records(out: Path) -> None:
    """Keep the results of all tasks that are finished."""
    for record in sorted(out.glob("*/*.jsonl")):
        if is_record(record):
            target = RECORDS / record.parent.name / f"{record.name}.xz"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(lzma.compress(record.read_bytes(), preset=9))


def unpack_records(out: Path) -> None:
    """Put the results that are kept where `python -m reproductions --out` goes on from them."""
    for record in sorted(RECORDS.glob("*/*.jsonl.xz")):
        target = out / record.parent.name / record.stem
        if target.exists():
            sys.exit(f"{target} exists: name another folder.")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(lzma.decompress(record.read_bytes()))


def is_record(path: Path) -> bool:
    """Tell a record of an entry from those of quick runs and from older ones set aside."""
    if path.parent.name not in paper_names():
        return False
    return path.stem in {entry.name for entry in load_paper(path.parent.name).entries}


def copy(source: Path, target: Path) -> None:
    """Copy a page as it is, and a picture with a palette."""
    if source.suffix != ".png":
        shutil.copyfile(source, target)
        return
    from PIL import Image

    # A repository keeps every version of a picture for ever: a palette halves it or better.
    with Image.open(source) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


def verdict_table(report: str) -> str:
    """Sum up the verdicts of a report: a row a paper, a column a verdict."""
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
    known = {(): keep, ("--records",): keep_records, ("--unpack",): unpack_records}
    if tuple(action) not in known or not folder or folder.startswith("-"):
        sys.exit(__doc__)
    known[tuple(action)](Path(folder))
