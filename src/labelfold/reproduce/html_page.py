"""Markdown as one HTML page that needs nothing but the pictures beside it.

Raw HTML in the Markdown is shown as text. Where the screen is narrow, tables of few columns are
laid out cell below cell, and others scroll by themselves. Long ones are folded, but not in print.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["Section", "html_page"]

N_ROWS_SHOWN = 40  # longer tables are folded
N_COLUMNS_STACKED = 5  # of a table whose cells hold sentences

STYLE = """
body { margin: 0 auto; max-width: 72rem; padding: 1rem; color: #222; background: #fff;
       font: 1rem/1.5 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.2; margin: 2rem 0 .5rem; }
section { border-top: 1px solid #ccc; margin-top: 3rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left;
         vertical-align: top; font-variant-numeric: tabular-nums; }
th { border-bottom-color: #222; }
img { max-width: 100%; height: auto; }
summary { cursor: pointer; color: #0055a0; margin: .5rem 0; }
a { color: #0055a0; }
code { overflow-wrap: anywhere; }
.up { text-align: right; }
.matches::before, .part::before, .better::before, .differs::before {
  display: inline-block; width: 1.2em; }
.matches::before { content: "="; color: #00664a; }
.part::before { content: "≈"; color: #6a5700; }
.better::before { content: "+"; color: #0055a0; }
.differs::before { content: "≠"; color: #a03c00; }
@media (max-width: 40rem) {
  .stacked thead { display: none; }
  .stacked tr, .stacked td { display: block; }
  .stacked tr { border-bottom: 1px solid #999; padding: .4rem 0; }
  .stacked td { border: 0; padding: .1rem 0; }
  .stacked td:first-child { font-weight: 600; }
}
@media print { section { break-before: page; } }
"""
# A folded table would be missing on paper.
SCRIPT = """
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});
"""


TO_THE_TOP = '<p class="up"><a href="#top">all tables and figures</a></p>\n'


@dataclass(frozen=True)
class Section:
    """A part of the page that links can lead to.

    Parameters
    ----------
    name : str
        What a link to it names, behind "#".
    group : str
        What it belongs to, written in front of its heading.
    text : str
        Markdown, whose first line is the heading.
    """

    name: str
    group: str
    text: str


def html_page(title: str, text: str, sections: Sequence[Section] = ()) -> str:
    """Write a page of Markdown and of sections, each of which gets an anchor."""
    reader = _reader()
    # The verdicts get a sign of their own, since colour alone says nothing to some.
    summary = re.sub(
        r"<td>(better|matches|matches in part|differs)</td>",
        lambda found: f'<td class="{found[1].split()[-1]}">{found[1]}</td>',
        reader.render(text),
    )
    parts = [summary]
    for section in sections:
        body = re.sub(r"^#", "##", section.text, flags=re.MULTILINE)
        body = body.replace("## ", f"## {section.group} ", 1)
        name = html.escape(section.name)
        parts.append(f'<section id="{name}">\n{reader.render(body)}{TO_THE_TOP}</section>')
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        '<body id="top">\n' + "\n".join(parts) + f"\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("table_open", _open_table)
    reader.add_render_rule("table_close", _close_table)
    return reader


def _open_table(renderer: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    n_rows = n_cells = 0
    for token in tokens[index:]:
        n_rows += token.type == "tr_open"
        n_cells += token.type == "th_open"
        if token.type == "table_close":
            token.meta["is_folded"] = tokens[index].meta["is_folded"] = n_rows > N_ROWS_SHOWN + 1
            break
    folded = f"<details><summary>all {n_rows - 1:,} rows</summary>\n"
    kind = "table stacked" if n_cells <= N_COLUMNS_STACKED else "table"
    return (
        folded if tokens[index].meta["is_folded"] else ""
    ) + f'<div class="{kind}" tabindex="0"><table>\n'


def _close_table(renderer: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    return "</table></div>\n" + ("</details>\n" if tokens[index].meta["is_folded"] else "")
