"""Malformed inputs: each ends with exit code 2, one line, and no output file.

The line names the problem and the remedy. Commands run in this process; data are small, so that
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
import pyarrow as pa
import pyarrow.parquet
import pytest
from command_line import refused
from command_line import run as run_command
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA

import labelfold
from tools import malformed_files

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
    """Refused with exit code 2, one line that names the file and a remedy, and no file."""
    result, left, folder = run(command, content, name, model_content, *more)
    line = result.stderr
    assert result.exit_code == 2, (line, result.stdout, result.exception)
    assert result.stdout == ""
    assert left == []
    assert line.startswith("labelfold: ")
    assert line.count("\n") == 1
    assert "Traceback" not in line
    assert "fault in labelfold" not in line
    assert line.count(": ") >= 2, line  # the problem, then the remedy
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


# A sample of what `python tools/malformed_files.py` makes 1,500 of


def test_malformed_files_are_refused_in_one_line():
    counts, wrong = malformed_files.run(300, seed=1)
    assert wrong == []
    assert set(counts) == set(malformed_files.KINDS)


def test_a_defect_of_ours_is_not_taken_for_bad_input(model, monkeypatch):
    """Neither by the command nor by what turns errors of reading libraries into refusals."""

    def fail(*arguments, **options):
        raise ValueError("a defect")

    stream = io.BytesIO()
    pa.parquet.write_table(pa.table({"v": [[1.5, 2.0]] * 9, "kind": list("uvuvuvuvu")}), stream)
    csv = ("data.csv", as_bytes(lines_of(9)))
    places = {
        "source._unpack": ("data.csv.gz", gzip.compress(csv[1])),
        "delimited._find_delimiter": csv,
        "table._find": csv,
        "frames.to_column": ("data.parquet", stream.getvalue()),
        "reading._read_all": csv,
    }
    for place, (name, content) in places.items():
        with monkeypatch.context() as patch:
            patch.setattr(f"labelfold.tables.{place}", fail)
            result, left, _ = run("embed", content, name, model)
        assert (result.exit_code, left) == (1, [])
        assert "unexpected ValueError: a defect. This is a fault in labelfold" in result.stderr


# Rows that cannot be used


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
