"""docs/guide/dask.md, run as written from two terminals, but for the number of the port."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from dask_processes import ENVIRONMENT
from sklearn.datasets import load_digits

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "dask.md"
BLOCK = re.compile(r"<!-- terminal (\d) -->\n```(console|python)\n(.*?)```", re.DOTALL)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def test_the_page_is_run_as_written(tmp_path):
    page = PAGE.read_text(encoding="utf-8").replace("8786", free_port())
    programs = Path(sys.executable).parent
    environment = {**ENVIRONMENT, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    how = {"cwd": tmp_path, "env": environment}
    log = (tmp_path / "terminal-1.txt").open("w")
    first, second = "", []
    for terminal, kind, text in BLOCK.findall(page):
        commands = "\n".join(re.findall(r"^\$ (.*)$", text, re.MULTILINE))
        if terminal == "1":
            first = commands
        else:
            second.append((kind, commands or text))
    assert len(second) == 4
    with subprocess.Popen(
        ["bash", "-c", first], start_new_session=True, stdout=log, stderr=log, **how
    ) as cluster:
        try:
            printed = [run(kind, text, how) for kind, text in second]
        finally:
            os.killpg(cluster.pid, signal.SIGKILL)
    assert "Labels of all rows: 3 files" in printed[1]
    assert float(re.search(r"^(0\.\d+|1\.0) \d+$", printed[3], re.MULTILINE)[1]) >= 0.97
    _, y = load_digits(return_X_y=True)
    for folder in ("digits-labels/labels", "sample-labels", "graph-labels"):
        files = sorted((tmp_path / folder).glob("part-*.parquet"))
        table = pd.concat([pd.read_parquet(path) for path in files])
        assert table["id"].tolist() == list(range(len(y)))
        assert np.mean(table["label"] == y) >= 0.9, folder


def run(kind, text, how):
    """Run what the second terminal shows, and return what it prints."""
    command = [sys.executable, "-c", text] if kind == "python" else ["bash", "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout
