"""Report the dead links within built HTML pages.

``python tools/check_links.py docs/_build/html`` reads every page below the folder and checks what
it refers to there: pages and other files, anchors, images, scripts and style sheets. It prints one
line per dead link, and the exit code is 1 if there are any. Addresses with a scheme or a host
are not tried, so nothing here needs the network.
"""

import argparse
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

REFERRING = {"href", "src", "poster", "data"}


class PageReader(HTMLParser):
    """Collects the links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name in REFERRING:
                self.targets.append(value.strip())
            elif name == "srcset":
                # "small.png, large.png 2x": an address, and the size it is for.
                self.targets += [choice.split()[0] for choice in value.split(",") if choice.strip()]


def read_page(path: Path) -> PageReader:
    """Parse one page."""
    reader = PageReader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader


def dead_links(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield page, link and what is wrong, for every dead link below a folder.

    Links that leave the folder are dead: only this folder is published.
    """
    root = folder.resolve()
    pages = {path: read_page(path) for path in sorted(root.rglob("*.html"))}
    for page, reader in pages.items():
        for target in dict.fromkeys(reader.targets):
            reason = _fault(root, page, target, pages)
            if reason:
                yield page.relative_to(root), target, reason


def _fault(root: Path, page: Path, target: str, pages: dict[Path, PageReader]) -> str:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return ""
    if parts.path.startswith("/"):
        return "begins with a slash, which depends on the host"
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if path.is_dir():
        path /= "index.html"
    if not path.is_relative_to(root):
        return "leaves the folder"
    if not path.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    # "#" alone and "#top" are the top of any page.
    if path in pages and anchor not in {"", "top"} and anchor not in pages[path].anchors:
        return "no such anchor"
    return ""


def main() -> int:
    """Check the folder that the command line names."""
    parser = argparse.ArgumentParser(description="Report dead links within built HTML pages.")
    parser.add_argument("folder", type=Path, help="folder of the built pages")
    folder = parser.parse_args().folder
    if not any(folder.rglob("*.html")):
        print(f"{folder}: no HTML pages there; build the documentation first", file=sys.stderr)
        return 1
    found = list(dead_links(folder))
    for page, target, reason in found:
        print(f"{page}: {target}: {reason}", file=sys.stderr)
    if found:
        print(f"{len(found)} dead links", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
