"""Malformed data files: each must end with exit code 2, one line that says what to do, and no file.

``python tools/malformed_files.py`` makes 1,500 of them and runs a command on each, in this process;
``--files N`` makes another number, and ``--seed N`` other ones. The line must name the file and,
where the fault has a place, its line or row and its column. Prints how many files of each kind were
refused, and every one that was not refused as it should be; exits with 1 if there was one.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from sklearn.decomposition import PCA
from typer.testing import CliRunner

import labelfold
from labelfold.cli.app import app

Rng = np.random.Generator
NAMES = ("a", "b", "c")
COMMANDS = ("inspect", "compare", "embed", "classify", "transform")
LABELING = COMMANDS[:-1]
LEARNING = ("compare", "classify")


@dataclass
class Malformed:
    """A file, what to run on it, and words that the refusal must have."""

    name: str
    content: bytes
    words: tuple[str, ...] = ()
    commands: tuple[str, ...] = COMMANDS
    options: tuple[str, ...] = ()
    beside: dict[str, bytes] = field(default_factory=dict)
    has_labels: bool = True


def make(rng: Rng) -> tuple[str, Malformed]:
    """Return a malformed file of a kind drawn at random, and the name of the kind."""
    kind = list(KINDS)[rng.integers(len(KINDS))]
    return kind, KINDS[kind](rng)


# Text


def _rows(rng: Rng) -> list[list[str]]:
    """A fine table: a header, and 6 to 30 rows of three numbers and a kind."""
    X = rng.standard_normal((int(rng.integers(6, 31)), 3))
    rows = [[*map(repr, row), "uv"[i % 2]] for i, row in enumerate(X.tolist())]
    return [[*NAMES, "kind"], *rows]


def _text(rng: Rng, rows: list[list[str]], *words: str, **more: Any) -> Malformed:
    """The table as CSV or TSV, packed or not."""
    delimiter, ending = [(",", "csv"), (";", "csv"), ("\t", "tsv")][rng.integers(3)]
    content = "\n".join(delimiter.join(cells) for cells in rows).encode()
    packing = rng.integers(4)
    if packing == 0:
        content, ending = gzip.compress(content, mtime=0), f"{ending}.gz"
    elif packing == 1:
        content, ending = pa.compress(content, codec="zstd", asbytes=True), f"{ending}.zst"
    return Malformed(f"data.{ending}", content, words, **more)


def _place(rng: Rng, rows: list[list[str]]) -> tuple[int, int]:
    return int(rng.integers(1, len(rows))), int(rng.integers(3))


def ragged(rng: Rng) -> Malformed:
    rows = _rows(rng)
    row, _ = _place(rng, rows)
    if rng.random() < 0.5:
        rows[row].append(str(rng.choice(["", "1", "x"])))
    else:
        del rows[row][-1]
    return _text(rng, rows, f"line {row + 1} has {len(rows[row])} cells")


def open_quote(rng: Rng) -> Malformed:
    rows = _rows(rng)
    row, column = _place(rng, rows)
    rows[row][column] = '"1'
    return _text(rng, rows, f"line {row + 1}", "quotes")


def text_after_quote(rng: Rng) -> Malformed:
    rows = _rows(rng)
    row, column = _place(rng, rows)
    rows[row][column] = '"1"5'
    return _text(rng, rows, f"line {row + 1}", "quotes")


def infinite_or_huge(rng: Rng) -> Malformed:
    rows = _rows(rng)
    row, column = _place(rng, rows)
    cell = str(rng.choice(["inf", "-inf", "Infinity", "1e153", "-1e200", "1e400"]))
    rows[row][column] = cell
    kind = "huge" if cell in ("1e153", "-1e200") else "infinite"
    return _text(rng, rows, f"line {row + 1}", f"column '{NAMES[column]}'", f"{kind} value")


def repeated_name(rng: Rng) -> Malformed:
    rows = _rows(rng)
    rows[0][int(rng.integers(1, 3))] = "a"
    return _text(rng, rows, "are all named 'a'")


def header_only(rng: Rng) -> Malformed:
    return _text(rng, _rows(rng)[:1], "no rows")


def other_encoding(rng: Rng) -> Malformed:
    encoding = str(rng.choice(["latin-1", "utf-16", "utf-32", "cp1252"]))
    text = "a,b,c,kind\n1,2,3,é\n4,5,6,ü\n"
    words = ("line 2", "UTF-8") if encoding in ("latin-1", "cp1252") else ()
    return Malformed("data.csv", text.encode(encoding), words)


def empty(rng: Rng) -> Malformed:
    contents = [b"", b"\n", b"\n\n \n", b"\xef\xbb\xbf"]
    return Malformed("data.csv", contents[rng.integers(len(contents))])


def binary(rng: Rng) -> Malformed:
    return Malformed("data.csv", b"\0" + rng.bytes(int(rng.integers(200))))


def cut_packed(rng: Rng) -> Malformed:
    content = "\n".join(",".join(cells) for cells in _rows(rng)).encode()
    if rng.random() < 0.5:
        return _cut(rng, "data.csv.gz", gzip.compress(content, mtime=0), least=3)
    return _cut(rng, "data.csv.zst", pa.compress(content, codec="zstd", asbytes=True), least=5)


# Labels


def label_column_missing(rng: Rng) -> Malformed:
    rows = _rows(rng)
    rows[0][-1] = str(rng.choice(["Kind", "kin", "class", "kinds"]))
    return _text(rng, rows, "there is no such column", commands=LABELING)


def ambiguous_labels(rng: Rng) -> Malformed:
    rows = _rows(rng)
    cells = [("1", "-1"), ("u", "-1"), ("0.5", "1.5"), ("2", "2.25")][rng.integers(4)]
    for i, row in enumerate(rows[1:]):
        row[-1] = cells[i % 2]
    return _text(rng, rows, "column 'kind'", commands=LABELING)


def one_class(rng: Rng) -> Malformed:
    rows = _rows(rng)
    cells = [("u", "u"), ("u", ""), ("", ""), ("3", "NA"), ("?", "-1")][rng.integers(5)]
    for i, row in enumerate(rows[1:]):
        row[-1] = cells[i % 2]
    return _text(rng, rows, "two classes", commands=LEARNING)


def labels_file_of_other_length(rng: Rng) -> Malformed:
    rows = [row[:-1] for row in _rows(rng)]
    labels = "\n".join("uv"[i % 2] for i in range(len(rows) + 3)).encode()
    options = ("--labels-file", "labels.csv")
    beside = {"labels.csv": labels}
    case = _text(rng, rows, "labels.csv", commands=LABELING, options=options, beside=beside)
    return replace(case, has_labels=False)


# JSON lines


def _objects(rng: Rng) -> list[dict[str, Any]]:
    names, *rows = _rows(rng)
    return [
        {**dict(zip(names, map(float, row[:3]), strict=False)), "kind": row[3], "v": [1.5, i]}
        for i, row in enumerate(rows)
    ]


def _json(lines: list[str], *words: str) -> Malformed:
    return Malformed("data.jsonl", "\n".join(lines).encode(), words)


def broken_json(rng: Rng) -> Malformed:
    lines = [json.dumps(one) for one in _objects(rng)]
    row = int(rng.integers(1, len(lines)))
    broken = [lines[row][:-1], lines[row][:10], "{a: 1}", "[1, 2]", "3", lines[row] + "}"]
    kind = int(rng.integers(len(broken)))
    lines[row] = broken[kind]
    # pyarrow does not say where a brace is too many.
    return _json(lines, *([f"row {row + 1}"] if kind < len(broken) - 1 else []))


def json_of_another_type(rng: Rng) -> Malformed:
    rows = _objects(rng)
    row, column = int(rng.integers(1, len(rows))), NAMES[rng.integers(3)]
    rows[row][column] = ["text", [1, 2], {"a": 1}, True][rng.integers(4)]
    return _json([json.dumps(one) for one in rows], f"row {row + 1}", f"Column(/{column})")


def vectors_of_unequal_length(rng: Rng) -> Malformed:
    rows = _objects(rng)
    row = int(rng.integers(1, len(rows)))
    rows[row]["v"] = [1.5] * int(rng.choice([0, 1, 3, 9]))
    words = (f"row {row + 1}", "column 'v'", "vector")
    form = rng.integers(3)
    if form == 0:
        return _json([json.dumps(one) for one in rows], *words)
    stream, table = io.BytesIO(), pa.Table.from_pylist(rows)
    if form == 1:
        pa.parquet.write_table(table, stream)
        return Malformed("data.parquet", stream.getvalue(), words)
    pa.feather.write_feather(table, stream)
    return Malformed("data.feather", stream.getvalue(), words)


# Files of columns


def _table(rng: Rng) -> pa.Table:
    return pa.Table.from_pylist(_objects(rng))


def _cut(rng: Rng, name: str, content: bytes, least: int = 1) -> Malformed:
    return Malformed(name, content[: int(rng.integers(least, len(content)))])


def cut_parquet(rng: Rng) -> Malformed:
    stream = io.BytesIO()
    pa.parquet.write_table(_table(rng), stream)
    return _cut(rng, "data.parquet", stream.getvalue())


def cut_arrow(rng: Rng) -> Malformed:
    stream = io.BytesIO()
    pa.feather.write_feather(_table(rng), stream)
    return _cut(rng, "data.feather", stream.getvalue())


def parquet_without_rows(rng: Rng) -> Malformed:
    stream = io.BytesIO()
    pa.parquet.write_table(_table(rng).slice(0, 0), stream)
    return Malformed("data.parquet", stream.getvalue(), ("no rows",))


def infinite_vector(rng: Rng) -> Malformed:
    table, stream = _table(rng).to_pylist(), io.BytesIO()
    row = int(rng.integers(len(table)))
    table[row]["v"] = [1.0, np.inf]
    pa.parquet.write_table(pa.Table.from_pylist(table), stream)
    words = (f"row {row + 1}", "column 'v'", "infinite value")
    return Malformed("data.parquet", stream.getvalue(), words)


def _workbook(rows: list[list[Any]]) -> bytes:
    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(stream)
    return stream.getvalue()


def cut_excel(rng: Rng) -> Malformed:
    return _cut(rng, "data.xlsx", _workbook(_rows(rng)))


def bad_excel(rng: Rng) -> Malformed:
    rows: list[list[Any]] = [list(row) for row in _rows(rng)]
    kind = rng.integers(4)
    if kind == 0:
        return Malformed("data.xlsx", _workbook([]))
    if kind == 1:
        return Malformed("data.xlsx", _workbook(rows[:1]), ("no rows",))
    if kind == 2:
        rows[0][1] = "a"
        return Malformed("data.xlsx", _workbook(rows), ("are all named 'a'",))
    row, column = _place(rng, rows)
    rows[row][column] = "1e200"
    words = (f"line {row + 1}", f"column '{NAMES[column]}'", "huge value")
    return Malformed("data.xlsx", _workbook(rows), words)


# Matrices


def _saved(array: Any, **more: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, X=array, **more) if more else np.save(stream, array)
    return stream.getvalue()


def cut_matrix(rng: Rng) -> Malformed:
    X = rng.standard_normal((8, 3))
    if rng.random() < 0.5:
        return _cut(rng, "data.npy", _saved(X))
    return _cut(rng, "data.npz", _saved(X, y=np.arange(8)))


def bad_matrix(rng: Rng) -> Malformed:
    X = rng.standard_normal((8, 3))
    bad = X.copy()
    bad[4, 1] = np.inf
    choices: list[tuple[str, bytes, tuple[str, ...]]] = [
        ("data.npy", _saved(X[:, 0]), ("shape",)),
        ("data.npy", _saved(X.reshape(2, 4, 3)), ("shape",)),
        ("data.npy", _saved(X[:0]), ("shape",)),
        ("data.npy", _saved(X.astype(complex)), ("dtype",)),
        ("data.npy", _saved(X.astype(str)), ("dtype",)),
        ("data.npy", _saved(np.array([[1, None]], dtype=object)), ()),
        ("data.npy", _saved(bad), ("row 5, column 2", "infinite value")),
        ("data.npz", _saved(X, y=np.arange(7)), ("give one label per row",)),
        ("data.svm", b"1 3:0.5\n0 1:2 x\n", ("svmlight",)),
        ("data.svm", b"1 3:0.5\n0 4:2 1:3\n", ()),
        ("data-idx3-ubyte", b"\0\0\x08\x03" + bytes([0, 0, 0, 9] * 3), ()),
        ("data-idx3-ubyte", b"\0\0\x08\x03\0\0", ()),
    ]
    name, content, words = choices[rng.integers(len(choices))]
    return Malformed(name, content, words, commands=("embed", "inspect"), has_labels=False)


def bad_vectors(rng: Rng) -> Malformed:
    rows = _rows(rng)
    X = rng.standard_normal((len(rows) - 1, 4))
    bad = X.copy()
    bad[2, 3] = np.inf
    choices = [
        _saved(X[:-1]),
        _saved(X[:, 0]),
        _saved(X.astype(str)),
        _saved(bad),
        _saved(X, y=X),
        _saved(X)[: int(rng.integers(1, 200))],
        b"1,2,3\n",
    ]
    vectors = choices[rng.integers(len(choices))]
    options = ("--vectors", "v.npy")
    return _text(rng, rows, "v.npy", options=options, beside={"v.npy": vectors})


def files_that_differ(rng: Rng) -> Malformed:
    rows, other = _rows(rng), _rows(rng)
    other[0][1] = "d"
    content = "\n".join(",".join(cells) for cells in other).encode()
    words = ("more.csv", "'b', 'd'")
    beside = {"more.csv": content}
    return _text(rng, rows, *words, commands=LABELING, options=("more.csv",), beside=beside)


KINDS: dict[str, Callable[[Rng], Malformed]] = {
    function.__name__.replace("_", " "): function
    for function in (
        *(ragged, open_quote, text_after_quote, infinite_or_huge, repeated_name, header_only),
        *(other_encoding, empty, binary, cut_packed, label_column_missing, ambiguous_labels),
        *(one_class, labels_file_of_other_length, broken_json, json_of_another_type),
        *(vectors_of_unequal_length, cut_parquet, cut_arrow, parquet_without_rows),
        *(infinite_vector, cut_excel, bad_excel, cut_matrix, bad_matrix, bad_vectors),
        files_that_differ,
    )
}


def save_model(path: Path) -> None:
    """Save a model of the columns a, b and c, for `transform`."""
    X = np.random.default_rng(0).standard_normal((20, 3))
    labelfold.save(PCA(2).fit(X), path, feature_names=list(NAMES))


def check(case: Malformed, command: str, model: Path) -> str | None:
    """Run a command on the file; return what is wrong with the answer, None if nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, content in {case.name: case.content, **case.beside}.items():
            (place / name).write_bytes(content)
        out = place / "out.csv"
        arguments = [command, *([str(model)] if command == "transform" else [])]
        arguments.append(str(place / case.name))
        given = [str(place / one) if one in case.beside else one for one in case.options]
        if case.has_labels and command != "transform":
            arguments += ["--labels", "kind"]
        arguments += given
        arguments += ["--methods", "pca"] if command == "compare" else []
        arguments += [] if command == "inspect" else ["-o", str(out)]
        result = CliRunner().invoke(app, arguments)
        left = sorted(set(os.listdir(folder)) - {case.name, *case.beside})
    line = result.stderr
    problems = {
        f"exit code {result.exit_code}": result.exit_code != 2,
        "text on standard output": bool(result.stdout),
        f"files left: {left}": bool(left),
        "not one line": line.count("\n") != 1 or not line.startswith("labelfold: "),
        "no file named": folder not in line,
        "a traceback": "Traceback" in line or "fault in labelfold" in line,
        "no remedy": line.count(": ") < 2 or not line.endswith((".\n", "?\n")),
        "too long": len(line.replace(folder, "")) > 700,
        **{f"without {word!r}": word not in line for word in case.words},
    }
    found = [title for title, is_wrong in problems.items() if is_wrong]
    return f"{', '.join(found)}: {line or result.stdout}" if found else None


def run(n_files: int, seed: int = 0) -> tuple[Counter[str], list[str]]:
    """Make that many files and run a command on each; return counts by kind, and what is wrong."""
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.skops")
        save_model(model)
        for number in range(n_files):
            kind, case = make(rng)
            command = case.commands[rng.integers(len(case.commands))]
            problem = check(case, command, model)
            counts[kind] += 1
            if problem is not None:
                wrong.append(f"file {number}, {kind}, {command}: {problem}")
    return counts, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begin = time.perf_counter()
    counts, wrong = run(options.files, options.seed)
    for kind, count in sorted(counts.items()):
        print(f"{count:5d} {kind}")
    for line in wrong:
        print(line.rstrip())
    seconds = time.perf_counter() - begin
    print(
        f"{options.files - len(wrong)} of {options.files} refused as they should, {seconds:.0f} s"
    )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
