"""Free memory with made-up control groups, process limits and machines; fits that need more."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from labelfold import (
    CCDR,
    FewLabelClassifier,
    GraphLayout,
    LaplacianClassifier,
    LaplacianEigenmaps,
    ManifoldClassifier,
    MaximumVarianceUnfolding,
    fit_memory,
    memory,
)
from labelfold.exceptions import NotEnoughMemoryError
from labelfold.fit_memory import FitMemory
from labelfold.graph import adjacency, neighbor_index, search
from labelfold.solvers.eigen import operator

GB = 10**9


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 8 GB free and no limits; returns a function that adds a control group."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8 * GB))
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own")
    limit_process(monkeypatch, None)

    def add_group(own, folder, **files):
        (tmp_path / "own").write_text(own)
        group = tmp_path / "groups" / folder
        group.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (group / f"memory.{name}").write_text(f"{content}\n")

    return add_group


def limit_process(monkeypatch, limit, used=1 * GB):
    infinite = -1
    fake = SimpleNamespace(
        RLIMIT_AS=9,
        RLIM_INFINITY=infinite,
        getrlimit=lambda kind: (infinite if limit is None else limit, infinite),
    )
    monkeypatch.setattr(memory, "resource", fake)
    info = SimpleNamespace(memory_info=lambda: SimpleNamespace(vms=used))
    monkeypatch.setattr(psutil, "Process", lambda: info)


def test_without_limits_it_is_what_the_machine_has(machine):
    assert memory.available_memory() == 8 * GB


def test_here_it_is_some_of_the_whole():
    assert 0 < memory.available_memory() <= psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("own", "folder", "files"),
    [
        ("0::/\n", ".", {"max": 4 * GB, "current": 3 * GB}),
        ("0::/jobs/a\n", "jobs/a", {"max": 4 * GB, "current": 3 * GB}),
        ("0::/jobs/a\n", "jobs", {"max": 4 * GB, "current": 3 * GB}),
        ("0::/host/path\n", ".", {"max": 4 * GB, "current": 3 * GB}),
        (
            "5:cpu,memory:/docker/a\n1:name=systemd:/\n",
            "memory",
            {"limit_in_bytes": 4 * GB, "usage_in_bytes": 3 * GB},
        ),
    ],
)
def test_a_container_has_its_limit_less_its_use(machine, own, folder, files):
    machine(own, folder, **files)
    assert memory.available_memory() == 1 * GB


def test_cached_files_of_a_container_are_free(machine):
    stat = f"anon 100\nfile {3 * GB}\ninactive_file {2 * GB}"
    machine("0::/\n", ".", max=4 * GB, current=3 * GB, stat=stat)
    assert memory.available_memory() == 3 * GB


@pytest.mark.parametrize("limit", ["max", 2**63 - 4096])
def test_a_container_without_a_limit(machine, limit):
    machine("0::/\n", ".", max=limit, current=3 * GB)
    assert memory.available_memory() == 8 * GB


def test_the_narrowest_group_counts(machine):
    machine("0::/jobs/a\n", "jobs", max=6 * GB, current=1 * GB)
    machine("0::/jobs/a\n", "jobs/a", max=4 * GB, current=1 * GB)
    assert memory.available_memory() == 3 * GB


def test_the_limit_of_the_process(machine, monkeypatch):
    limit_process(monkeypatch, 3 * GB)
    assert memory.available_memory() == 2 * GB
    limit_process(monkeypatch, 3 * GB, used=4 * GB)
    assert memory.available_memory() == 0


# Fits that are refused


def test_formula_of_stages():
    fit = FitMemory(n_rows=10)
    fit.add(kept=10, during=90, block=7)
    fit.add(kept=40, during=30)
    assert (fit.kept, fit.peak) == (500, 1007)


def test_formulas_know_the_limits_of_search_edges_and_solver():
    assert fit_memory.LARGEST_COPY == neighbor_index.LARGEST_COPY
    assert fit_memory.LARGEST_LISTS == search.LARGEST_LISTS
    assert fit_memory.NARROW_FROM == adjacency.NARROW_FROM
    for name in ("PANEL", "LEAST_PANEL", "PANEL_ENTRIES"):
        assert getattr(fit_memory, name) == getattr(operator, name)


def test_little_is_not_looked_up(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: pytest.fail("looked up"))
    memory.require_memory(memory.SMALL - 1, verbose=1)


def test_what_is_needed_and_free_is_said(machine, capsys):
    memory.require_memory(1.44 * GB, verbose=1)
    assert capsys.readouterr().err == "Needs about 1.4 GB, 8.0 GB free.\n"
    memory.require_memory(1.44 * GB)
    assert capsys.readouterr().err == ""
    with pytest.raises(NotEnoughMemoryError, match=r"about 9\.0 GB of memory, and 8\.0 GB are"):
        memory.require_memory(9 * GB)


FITS = [
    CCDR(10),
    CCDR("auto", radius=0.1),
    LaplacianClassifier(),
    FewLabelClassifier(),
    ManifoldClassifier(),
    MaximumVarianceUnfolding(),
    *([GraphLayout()] if find_spec("openTSNE") else []),
]


@pytest.mark.parametrize("model", FITS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_fits_in_a_small_container_are_refused_before_work(machine, monkeypatch, model, kind):
    machine("0::/\n", ".", max=4 * GB, current=4 * GB - 30 * 10**6)
    monkeypatch.setattr("labelfold.base.build_graph", lambda *a, **k: pytest.fail("searched"))
    monkeypatch.setattr("labelfold.classify.row_kernels.fit_views", lambda *a: pytest.fail("fit"))
    X = np.zeros((60_000, 40), dtype=kind)
    y = np.where(np.arange(60_000) % 60, -1, np.arange(60_000) % 7)
    with pytest.raises(NotEnoughMemoryError, match=r"needs about .* and 30 MB are free"):
        model.fit(X, y)


def test_copy_in_float64_is_refused_first(machine):
    machine("0::/\n", ".", max=4 * GB, current=4 * GB - 30 * 10**6)
    X = np.broadcast_to(np.arange(5), (10**7, 5))
    with pytest.raises(NotEnoughMemoryError, match=r"needs about 400 MB"):
        CCDR().fit(X)


def test_a_graph_that_is_given_takes_nothing(machine):
    rows = np.random.default_rng(0).normal(size=(300, 3))
    model = LaplacianEigenmaps(n_neighbors=5)
    graph = model.build_graph(rows)
    needed = [model._memory(rows, None, given).peak for given in (None, graph)]
    assert needed[0] > needed[1] > 300 * 8 * 3


def test_more_of_anything_takes_more():
    rows = np.zeros((50_000, 40), dtype=np.float32)
    base = LaplacianEigenmaps(5)._memory(rows, None, None).peak
    more = [
        LaplacianEigenmaps(5)._memory(np.zeros((60_000, 40), dtype=np.float32), None, None),
        LaplacianEigenmaps(5)._memory(np.zeros((50_000, 400), dtype=np.float32), None, None),
        LaplacianEigenmaps(50)._memory(rows, None, None),
        LaplacianEigenmaps(5, n_neighbors=40)._memory(rows, None, None),
    ]
    assert min(one.peak for one in more) > base


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v holds on Linux")
def test_command_line_under_ulimit_ends_with_code_2_and_both_figures(tmp_path):
    """A process that may have 250 MB more than it has with everything loaded."""
    np.save(tmp_path / "rows.npy", np.zeros((150_000, 30), dtype=np.float32))
    script = (
        "import resource, sys, faiss, psutil, sklearn.manifold, labelfold as lf\n"
        "from labelfold.cli.app import main\n"
        "lf.CCDR, lf.tables\n"
        "limit = psutil.Process().memory_info().vms + 250 * 2**20\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "sys.argv[1:] = ['embed', 'rows.npy', '-o', 'map.csv']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert re.search(r"needs about \d+ MB of memory, and \d+ MB are free", done.stderr)
    assert not (tmp_path / "map.csv").exists()
