"""Free memory with made-up control groups, process limits and machines."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from labelfold import memory

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
