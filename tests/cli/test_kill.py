"""`kill -9` at random moments of a long write: the file is the old one or the new one, whole.

A process that is killed cannot tidy up: what it had written stays behind under a hidden temporary
name, `.labelfold-<random>.tmp`, in the folder of the file. It is never read or taken for a result,
later writes are not disturbed by it, and it can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

import labelfold

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")

N_KILLS = 20  # of each kind of write
LEFT_BEHIND = ".labelfold-*.tmp"

# Programs that make what is to be written once, and have a child write it whenever asked: a kill
# then costs no start of Python.
WRITE_TABLE = """
import sys
from pathlib import Path
import numpy as np
from labelfold.cli.output import OutputFiles
from labelfold.tables.writing import write_table

path = Path(sys.argv[1])
columns = {"x": np.random.default_rng(1).standard_normal((50_000, 5))}

def write():
    with OutputFiles(path, overwrite=True) as output, output.open(path) as stream:
        write_table(stream, columns, name=path)
"""
SAVE_MODEL = """
import sys
import numpy as np
import labelfold
from sklearn.neighbors import KNeighborsClassifier

X = np.random.default_rng(1).standard_normal((100_000, 20))
model = KNeighborsClassifier(algorithm="brute").fit(X, np.arange(len(X)) % 2)

def write():
    labelfold.save(model, sys.argv[1])
"""
WHENEVER_ASKED = """
import os

write()  # loads what else is needed, so that children need not
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        print(os.getpid(), flush=True)
        write()
        os._exit(0)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


class Writer:
    """A program that writes a file whenever asked, and whose writes can be killed."""

    def __init__(self, program):
        self._program = program

    def begin(self, path):
        """Ask for a write; return the process that does it, once its temporary file is there."""
        before = other_files(path)
        self._program.stdin.write("\n")
        process = int(self._program.stdout.readline())
        deadline = time.perf_counter() + 60
        while not other_files(path) - before:
            assert time.perf_counter() < deadline
            time.sleep(0.0005)
        return process

    def wait(self):
        """Wait for the end of the write, by itself or killed."""
        assert self._program.stdout.readline() == "ended\n"


@contextlib.contextmanager
def writer(script, path):
    with subprocess.Popen(
        [sys.executable, "-c", script + WHENEVER_ASKED, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as program:
        yield Writer(program)
        program.stdin.close()


def time_of_write(program, path):
    program.begin(path)
    begin = time.perf_counter()
    program.wait()
    return time.perf_counter() - begin


def other_files(path):
    return {one.name for one in path.parent.iterdir() if one != path}


def contents(path):
    """Return what a file holds, None if there is none; of a model its arrays, checked to be whole.

    skops names members by addresses, so that the bytes differ from one save to the next.
    """
    if not path.exists():
        return None
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as model:
        assert model.testzip() is None
        arrays = [one for one in model.infolist() if one.filename.endswith(".npy")]
        return sorted((one.file_size, one.CRC) for one in arrays)


@pytest.mark.parametrize(
    ("script", "name"), [(WRITE_TABLE, "table.csv"), (SAVE_MODEL, "model.skops")]
)
def test_killed_at_random_moments(tmp_path, script, name):
    path = tmp_path / name
    rng = np.random.default_rng(7)
    outcomes = []
    with writer(script, path) as program:
        seconds = min(time_of_write(program, path) for _ in range(3))
        new = contents(path)
        assert other_files(path) == set()
        for n_killed in range(1, N_KILLS + 1):
            # Every second time there is no old file.
            path.unlink(missing_ok=True)
            old = None if n_killed % 2 else b"old, and whole"
            if old is not None:
                path.write_bytes(old)
            process = program.begin(path)
            time.sleep(rng.uniform(0, 1) * seconds)
            with contextlib.suppress(ProcessLookupError):  # it was quick this time
                os.kill(process, signal.SIGKILL)
            program.wait()
            found = contents(path)
            assert found in (old, new)
            outcomes.append("new" if found == new else "old")
            others = other_files(path)
            assert all(fnmatch.fnmatch(other, LEFT_BEHIND) for other in others)
            assert len(others) <= n_killed  # one a kill at most
        assert "old" in outcomes  # killed within a write, and not always after it
        # What was left behind disturbs no later write, and a write that ends adds nothing.
        time_of_write(program, path)
    assert contents(path) == new
    assert other_files(path) == others
    if path.suffix == ".skops":
        assert labelfold.load(path).n_features_in_ == 20
