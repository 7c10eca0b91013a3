"""Summaries and verdicts as tables of text, and tables as Markdown or for a terminal."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from reproductions.entry import Unit, Verdict
from reproductions.outcome import compare_with_printed
from reproductions.summary import Estimate, Summary, SummaryRow

Table = list[list[str]]


def result_table(summary: Summary) -> Table:
    """Turn a summary into rows of text, the first one being the header."""
    names = list(dict.fromkeys(name for row in summary.rows for name in row.setting))
    measures = {row.measure for row in summary.rows}
    has_printed = any(row.printed for row in summary.rows)
    header = [name.replace("_", " ") for name in names]
    header += ["measure"] * (len(measures) > 1) + ["ours", "80 % interval", "runs"]
    table = [header + ["paper", "verdict"] * has_printed]
    for row in summary.rows:
        cells = [_format_setting(row.setting.get(name, "")) for name in names]
        cells += [row.measure] * (len(measures) > 1)
        cells += [format_value(row.estimate.mean, row.unit)]
        cells += [format_interval(row.estimate, row.unit), str(row.estimate.n_runs)]
        if has_printed:
            cells += [_format_printed(row), compare_with_printed(row) or ""]
        table.append(cells)
    return table


def verdict_table(verdicts: Sequence[Verdict]) -> Table:
    """Turn verdicts into rows of text, the first one being the header."""
    rows = [[item.statement, item.paper, item.found, item.verdict] for item in verdicts]
    return [["claim", "the paper", "found here", "verdict"], *rows]


def explain_intervals(summary: Summary) -> str:
    """Say which kinds of interval a summary has."""
    methods = {row.estimate.method for row in summary.rows}
    texts = {
        "Student t": "With several runs, the interval is Student's for their mean.",
        "Wilson": "With one, it is Wilson's binomial interval for the rows scored.",
    }
    return " ".join(text for method, text in texts.items() if method in methods)


def format_value(value: float, unit: Unit) -> str:
    """Write a share in percent, a number from 1,000 on in full, any other with three digits."""
    # Adding zero drops the sign of -0.
    if unit == "share":
        return f"{round(100 * value, 2) + 0.0:.2f} %"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def format_interval(estimate: Estimate, unit: Unit) -> str:
    """Write the two ends of an interval, or nothing if there is none."""
    if estimate.low is None:
        return ""
    low, high = (format_value(end, unit) for end in estimate.ends)
    return f"{low.removesuffix(' %')} to {high}"


def format_estimate(estimate: Estimate, unit: Unit = "share") -> str:
    """Write a mean with its interval in parentheses."""
    interval = format_interval(estimate, unit)
    return format_value(estimate.mean, unit) + (f" ({interval})" if interval else "")


def format_difference(difference: Estimate) -> str:
    """Write a difference of two shares in percentage points, its interval in parentheses."""
    low, high = difference.ends
    interval = "" if difference.low is None else f" ({100 * low:+.2f} to {100 * high:+.2f})"
    return f"{100 * difference.mean:+.2f} points{interval}"


def markdown_table(table: Table, *, is_markdown: bool = False) -> str:
    """Write a table in Markdown, escaping its cells unless they are Markdown."""
    if not is_markdown:
        table = [[escape_markdown(cell) for cell in row] for row in table]
    header, *rows = table
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escape_markdown(text: str) -> str:
    """Escape text for Markdown, also within a table."""
    line = html.escape(" ".join(text.split()), quote=False)
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", line)


def text_table(table: Table) -> str:
    """Write a table in columns for a terminal."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    return "\n".join(lines)


def _format_setting(value: str | int | float) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _format_printed(row: SummaryRow) -> str:
    if row.printed is None:
        return ""
    if row.printed.text or row.printed.value is None:
        return row.printed.text
    if row.unit == "number":
        return format_value(row.printed.value, row.unit)
    # As papers print shares: one decimal, two if the second matters.
    return re.sub(r"(\.\d)0 %$", r"\1 %", format_value(row.printed.value, row.unit))
