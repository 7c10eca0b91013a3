"""A thousand malformed inputs: each ends with exit code 2, one line, and no output file.

The line names the problem and the way out. Commands run in this process; data are small, so that
even what is found only in the fit is found soon.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from command_line import refused
from command_line import run as run_command
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA

import labelfold

READERS = ("inspect", "compare", "embed", "classify", "transform")
LEARNERS = ("compare", "classify")  # which need labels of two classes

few = settings(
    deadline=None,
    derandomize=True,
    # Inputs are small as they are, and making a failing one smaller takes minutes.
    phases=[Phase.explicit, Phase.generate],
)


class ModelBytes(bytes):
    """Bytes that hypothesis does not print."""

    def __repr__(self):
        return "model"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The bytes of a model of three features named a, b and c."""
    path = tmp_path_factory.mktemp("model") / "model.skops"
    X = np.random.default_rng(0).standard_normal((20, 3))
    labelfold.save(PCA(2).fit(X), path, feature_names=["a", "b", "c"])
    return ModelBytes(path.read_bytes())


def arguments_of(command, data, model_path, out):
    """A command line that would be fine with fine data."""
    if command == "inspect":
        return ["inspect", data, "--labels", "kind"]
    if command == "transform":
        return ["transform", model_path, data, "-o", out]
    extra = ["--methods", "pca,ccdr"] if command == "compare" else []
    return [command, data, "--labels", "kind", *extra, "-o", out]


def run(command, content, name, model_content, *more):
    """Run a command on these bytes in a new folder; return its result and what it left there."""
    with tempfile.TemporaryDirectory() as folder:
        data, model_path = Path(folder, name), Path(folder, "model.skops")
        data.write_bytes(content)
        model_path.write_bytes(model_content)
        arguments = arguments_of(command, data, model_path, Path(folder, "out.csv"))
        result = run_command(*arguments, *more)
        left = sorted(set(os.listdir(folder)) - {name, "model.skops"})
    return result, left, folder


def check_refusal(command, content, name, model_content, *more, expected=None):
    """Refused with exit code 2, one line that names the file and a way out, and no file."""
    result, left, folder = run(command, content, name, model_content, *more)
    line = result.stderr
    assert result.exit_code == 2, (line, result.stdout, result.exception)
    assert result.stdout == ""
    assert left == []
    assert line.startswith("labelfold: ")
    assert line.count("\n") == 1
    assert "Traceback" not in line
    assert "fault in labelfold" not in line
    assert line.count(": ") >= 2, line  # the problem, then the way out
    assert line.endswith((".\n", "?\n"))
    assert len(line.replace(folder, "")) < 700
    if expected is not None:
        assert expected in line, line
    return line


def lines_of(n_rows, n_columns=3):
    X = np.random.default_rng(n_rows).standard_normal((n_rows, n_columns))
    names = ["a", "b", "c", "d", "e"][:n_columns]
    return [[*names, "kind"]] + [[*map(repr, row), "uv"[i % 2]] for i, row in enumerate(X.tolist())]


def as_bytes(lines, delimiter=","):
    return "\n".join(delimiter.join(cells) for cells in lines).encode()


def a_place(draw, lines):
    return draw(st.integers(1, len(lines) - 1)), draw(st.integers(0, 1))


def set_cell(draw, lines, value):
    row, column = a_place(draw, lines)
    lines[row][column] = value


# Faults that every command finds in the features.


def ragged(draw, lines):
    row = draw(st.integers(1, len(lines) - 1))
    if draw(st.booleans()):
        lines[row].append(draw(st.sampled_from(["", "1", "x"])))
    else:
        del lines[row][-1]


def missing(draw, lines):
    set_cell(draw, lines, draw(st.sampled_from(["", "NA", "nan", "NaN", "null", "?", "None"])))


def mixed(draw, lines):
    word = draw(st.text(st.characters(categories=["L"]), min_size=1, max_size=5))
    set_cell(draw, lines, word + "!")


def infinite(draw, lines):
    set_cell(draw, lines, draw(st.sampled_from(["inf", "-inf", "Infinity"])))


def huge(draw, lines):
    set_cell(draw, lines, f"{draw(st.sampled_from(['', '-']))}1e{draw(st.integers(153, 5000))}")


def duplicated(draw, lines):
    lines[0][draw(st.integers(1, len(lines[0]) - 2))] = "a"


def header_only(draw, lines):
    del lines[1:]


def open_quote(draw, lines):
    set_cell(draw, lines, '"1')


def date(draw, lines):
    set_cell(draw, lines, draw(st.dates()).isoformat())


FAULTS = {
    "ragged": (ragged, "cells"),
    "missing": (missing, "missing value"),
    "mixed": (mixed, "!'"),
    "infinite": (infinite, "infinite value"),
    "huge": (huge, "huge value"),
    "duplicated": (duplicated, "are all named"),
    "header only": (header_only, "no rows"),
    "open quote": (open_quote, "quotes"),
    "date": (date, "dates"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("command", READERS)
@given(data=st.data())
@settings(few, max_examples=12)
def test_faults_in_the_features(model, command, fault, data):
    lines = lines_of(data.draw(st.integers(6, 30)))
    make_fault, expected = FAULTS[fault]
    make_fault(data.draw, lines)
    delimiter, ending = data.draw(st.sampled_from([(",", "csv"), (";", "csv"), ("\t", "tsv")]))
    content = as_bytes(lines, delimiter)
    if data.draw(st.booleans()):
        content = gzip.compress(content, mtime=0)
        ending += ".gz"
    check_refusal(command, content, f"data.{ending}", model, expected=expected)


@pytest.mark.parametrize("command", READERS)
@given(data=st.data())
@settings(few, max_examples=30)
def test_files_cut_short_or_of_another_encoding(model, command, data):
    content = as_bytes(lines_of(data.draw(st.integers(6, 30))))
    kind = data.draw(st.sampled_from(["gzip", "npy", "npz", "encoding", "empty", "bytes"]))
    name = "data.csv"
    if kind == "gzip":
        packed = gzip.compress(content, mtime=0)
        content = packed[: data.draw(st.integers(2, len(packed) - 1))]
        name = "data.csv.gz"
    elif kind in ("npy", "npz"):
        whole = io.BytesIO()
        X = np.ones((4, 3))
        np.save(whole, X) if kind == "npy" else np.savez(whole, X=X)
        content = whole.getvalue()[: data.draw(st.integers(1, len(whole.getvalue()) - 1))]
        name = f"data.{kind}"
    elif kind == "encoding":
        encoding = data.draw(st.sampled_from(["latin-1", "utf-16", "utf-32", "cp1252"]))
        content = f"a,b,c,kind\n1,2,3,é\n4,5,6,{data.draw(st.sampled_from('àéîøü'))}\n".encode(
            encoding
        )
    elif kind == "empty":
        content = data.draw(st.sampled_from([b"", b"\n", b"\n\n \n", b"\xef\xbb\xbf"]))
    else:
        content = b"\0" + data.draw(st.binary(max_size=200))
    check_refusal(command, content, name, model)


# Labels


@pytest.mark.parametrize("command", [name for name in READERS if name != "transform"])
@given(data=st.data())
@settings(few, max_examples=20)
def test_label_column_missing(model, command, data):
    lines = lines_of(data.draw(st.integers(6, 30)))
    lines[0][-1] = data.draw(st.sampled_from(["Kind", "kin", "class", "kinds"]))
    check_refusal(command, as_bytes(lines), "data.csv", model, expected="there is no such column")


@pytest.mark.parametrize("command", [name for name in READERS if name != "transform"])
@given(data=st.data())
@settings(few, max_examples=15)
def test_labels_that_can_be_read_in_two_ways(model, command, data):
    lines = lines_of(data.draw(st.integers(6, 30)))
    cells = data.draw(st.sampled_from([("1", "-1"), ("u", "-1"), ("0.5", "1.5"), ("2", "2.25")]))
    for i, row in enumerate(lines[1:]):
        row[-1] = cells[i % 2]
    check_refusal(command, as_bytes(lines), "data.csv", model)


@pytest.mark.parametrize("command", LEARNERS)
@given(data=st.data())
@settings(few, max_examples=20)
def test_one_class_or_none(model, command, data):
    lines = lines_of(data.draw(st.integers(6, 30)))
    cells = data.draw(st.sampled_from([("u", "u"), ("u", ""), ("", ""), ("3", "NA"), ("?", "-1")]))
    for i, row in enumerate(lines[1:]):
        row[-1] = cells[i % 2]
    check_refusal(command, as_bytes(lines), "data.csv", model, expected="two classes")


# Points that are no good


@pytest.mark.parametrize("command", ["embed", "classify"])
@given(data=st.data())
@settings(few, max_examples=15)
def test_all_rows_equal(model, command, data):
    lines = lines_of(data.draw(st.integers(2, 20)))
    for row in lines[1:]:
        row[:3] = ["1.5", "2", "-3"]
    # Without warnings of few rows.
    check_refusal(command, as_bytes(lines), "data.csv", model, "-q")


# Models


@given(data=st.data())
@settings(few, max_examples=40)
def test_models_cut_short(model, data):
    cut = model[: data.draw(st.integers(0, len(model) - 1))]
    line = check_refusal("transform", as_bytes(lines_of(8)), "new.csv", cut)
    assert "model.skops" in line


@given(data=st.data())
@settings(few, max_examples=30)
def test_other_files_in_place_of_a_model(model, data):
    content = data.draw(
        st.one_of(
            st.binary(max_size=300),
            st.sampled_from(
                [as_bytes(lines_of(5)), gzip.compress(model, mtime=0), b"PK\x05\x06" + bytes(18)]
            ),
        )
    )
    check_refusal("transform", as_bytes(lines_of(8)), "new.csv", content)


# Files in the way of outputs


@pytest.mark.parametrize("command", [name for name in READERS if name != "inspect"])
def test_files_are_replaced_if_asked_and_what_is_read_never(model, command, tmp_path):
    data, model_path, out = (tmp_path / name for name in ("data.csv", "model.skops", "out.csv"))
    data.write_bytes(as_bytes(lines_of(30)))
    model_path.write_bytes(model)
    out.write_text("mine")
    before = data.read_bytes()
    # Outputs are looked at before anything is read.
    refused(run_command(*arguments_of(command, "none.csv", model_path, out)), "exists", "--force")
    assert out.read_text() == "mine"
    result = run_command(*arguments_of(command, data, model_path, out), "--force")
    assert result.exit_code == 0, result.stderr
    assert "," in out.read_text()
    same = tmp_path / ".." / tmp_path.name / "data.csv"
    arguments = arguments_of(command, data, model_path, same)
    refused(run_command(*arguments, "--force"), "is read by this command")
    assert data.read_bytes() == before


@pytest.mark.parametrize("command", ["embed", "classify", "transform"])
def test_a_pipe_from_stdin_to_stdout(model, command, tmp_path):
    content, model_path, out = as_bytes(lines_of(30)), tmp_path / "m.skops", tmp_path / "out.csv"
    model_path.write_bytes(model)
    data = tmp_path / "data.csv"
    data.write_bytes(content)
    assert run_command(*arguments_of(command, data, model_path, out)).exit_code == 0
    program = [sys.executable, "-m", "labelfold.cli"]
    program += map(str, arguments_of(command, "-", model_path, "-"))
    result = subprocess.run(program, input=content, capture_output=True, check=True)
    table = result.stdout.decode().replace("standard input", str(data))
    assert table == out.read_text()
    assert b"30 rows" in result.stderr


# The counterpart: what is refused above is refused for its fault


@pytest.mark.parametrize("command", READERS)
def test_fine_data_are_fine(model, command):
    result, left, _ = run(command, as_bytes(lines_of(30)), "data.csv", model)
    assert result.exit_code == 0, result.stderr
    assert left == ([] if command == "inspect" else ["out.csv"])
