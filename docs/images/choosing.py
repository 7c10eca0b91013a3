"""Draws choosing.svg: which method is for what, as a ladder of questions.

Text stays text, so a reader can search it and a screen reader can speak it. The picture is narrow
with large letters, for phones; answers differ from questions in shape and lightness too, for print
and for color-blind readers.
"""

from html import escape
from pathlib import Path

# A question, the word that leads aside, the answers there, and the word that leads on.
STEPS = [
    (
        ["Do you want labels only,", "without an embedding?"],
        "yes",
        [
            ("FewLabelClassifier", "nothing to tune"),
            ("LaplacianClassifier", "one graph, with parameters"),
        ],
        "no",
    ),
    (
        ["Must distances be kept? (This works for", "thousands of rows, not for millions.)"],
        "yes",
        [
            ("MaximumVarianceUnfolding", "no labels"),
            ("IsometricSeparationMap", "a hyperplane separates the classes"),
            ("SupervisedSemidefiniteEmbedding", "classes far apart, distances kept within each"),
        ],
        "no",
    ),
    (
        ["Must the embedding be linear,", "and are most rows labeled?"],
        "yes",
        [("MarginalFisherAnalysis", "")],
        "no",
    ),
    (["Is any row labeled?"], "no", [("LaplacianEigenmaps", "")], "yes"),
    (
        ["Is one embedding of all rows", "too large for memory?"],
        "yes",
        [("ResampledEmbedding(CCDR())", "")],
        "no",
    ),
]
LAST = [("CCDR", "the embedding"), ("ManifoldClassifier", "with a label for every row")]

WIDTH, INDENT, GAP, LINE = 480, 84, 34, 23
INK, PAPER, ANSWER = "#1a1a1a", "#ffffff", "#00568a"  # the last 7.7 to 1 against white letters
TITLE = "Choosing a method"
SUMMARY = "A ladder of questions; the list below the picture in the page says the same."


def text(x: float, y: float, words: str, *, color: str = INK, size: int = 17, **more: str) -> str:
    """Return a line of text."""
    style = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}"{style}>{escape(words)}</text>'


def question(y: float, lines: list[str]) -> tuple[list[str], float]:
    """Return a question's box, and where it ends."""
    height = LINE * len(lines) + 20
    box = (
        f'<rect x="8" y="{y}" width="{WIDTH - 16}" height="{height}" rx="14" '
        f'fill="#f3f3f3" stroke="{INK}" stroke-width="1.5"/>'
    )
    words = [text(24, y + 27 + LINE * k, line) for k, line in enumerate(lines)]
    return [box, *words], y + height


def answers(y: float, names: list[tuple[str, str]]) -> tuple[list[str], float]:
    """Return the boxes of some answers, and where they end."""
    parts = []
    for name, remark in names:
        height = 36 if not remark else 58
        parts.append(
            f'<rect x="{INDENT}" y="{y}" width="{WIDTH - INDENT - 8}" height="{height}" '
            f'fill="{ANSWER}"/>'
        )
        bold = {"font_weight": "bold", "font_family": "monospace"}
        parts.append(text(INDENT + 12, y + 24, name, color=PAPER, size=16, **bold))
        if remark:
            parts.append(text(INDENT + 12, y + 46, remark, color=PAPER, size=16))
        y += height + 6
    return parts, y - 6


def arrow(points: str) -> str:
    """Return a line with a head at its end."""
    return (
        f'<polyline points="{points}" fill="none" stroke="{INK}" stroke-width="1.8" '
        'marker-end="url(#head)"/>'
    )


def draw() -> str:
    """Return the whole picture."""
    parts: list[str] = []
    y = 8.0
    for lines, aside, names, onward in STEPS:
        box, end = question(y, lines)
        side, after = answers(end + 12, names)
        bend = end + 30
        parts += [*box, *side, arrow(f"52,{end} 52,{bend} {INDENT - 3},{bend}")]
        parts.append(text(57, bend - 8, aside, size=14, font_style="italic"))
        parts.append(text(36, after + 20, onward, size=14, font_style="italic"))
        y = after + GAP
        # After the last question come answers, to which the arrow turns.
        is_last = lines is STEPS[-1][0]
        to = f"26,{y + 18} {INDENT - 3},{y + 18}" if is_last else f"26,{y - 3}"
        parts.append(arrow(f"26,{end} {to}"))
    box, y = answers(y, LAST)
    parts += box
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8:.0f}" '
            'role="img" aria-labelledby="title summary" font-family="sans-serif">',
            f'<title id="title">{TITLE}</title>',
            f'<desc id="summary">{SUMMARY}</desc>',
            '<defs><marker id="head" markerWidth="9" markerHeight="8" refX="8" refY="4" '
            f'orient="auto"><path d="M0,0 L9,4 L0,8 z" fill="{INK}"/></marker></defs>',
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            *parts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
