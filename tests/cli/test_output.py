from __future__ import annotations

import os
import stat

import pytest

from labelfold.cli.output import OutputFiles


def write(output, path, content):
    with output.open(path) as stream:
        stream.write(content)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_appear_together_at_the_end(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    with OutputFiles(first, second) as output:
        write(output, first, b"1")
        write(output, second, b"2")
        assert not first.exists()
        assert not second.exists()
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"2")
    assert names(tmp_path) == ["a", "b"]


def test_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "a"

    def overtaken_write():
        with OutputFiles(path) as output:
            write(output, path, b"new")
            path.write_bytes(b"other")

    with pytest.raises(FileExistsError):
        overtaken_write()
    assert path.read_bytes() == b"other"
    assert names(tmp_path) == ["a"]


def test_overwrite_replaces_and_keeps_the_mode(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with OutputFiles(path, overwrite=True) as output:
        write(output, path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_new_file_follows_the_umask(tmp_path):
    path = tmp_path / "a"
    before = os.umask(0o027)
    try:
        with OutputFiles(path) as output:
            write(output, path, b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, ValueError, SystemExit])
def test_interrupted_write_leaves_the_old_file(tmp_path, interruption):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def interrupted_write():
        with OutputFiles(path, overwrite=True) as output, output.open(path) as stream:
            stream.write(b"ne")
            raise interruption

    with pytest.raises(interruption):
        interrupted_write()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_interrupted_while_renaming_says_what_was_kept(tmp_path, monkeypatch):
    first, second = tmp_path / "a", tmp_path / "b"
    replace = os.replace

    def replace_once(source, target):
        monkeypatch.setattr(os, "replace", interrupt)
        replace(source, target)

    def interrupt(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", replace_once)

    def interrupted_write():
        with OutputFiles(first, second) as output:
            write(output, first, b"1")
            write(output, second, b"2")

    with pytest.raises(KeyboardInterrupt) as caught:
        interrupted_write()
    assert caught.value.__notes__ == [f"Complete and kept: {first}."]
    assert names(tmp_path) == ["a"]


def test_symbolic_link_is_followed(tmp_path):
    target, link = tmp_path / "real" / "a", tmp_path / "link"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link.symlink_to(target)
    with OutputFiles(link, overwrite=True) as output:
        write(output, link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("name", "error", "problem"),
    [
        (".", IsADirectoryError, "is a folder: name a file in it"),
        ("a/b/c", NotADirectoryError, "a is not a folder: choose another"),
    ],
)
def test_folders_and_files_are_not_mistaken(tmp_path, name, error, problem):
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(error, match=problem), OutputFiles(tmp_path / name, overwrite=True):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipe_is_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        pytest.raises(OSError, match="a device or a pipe, not a file"),
        OutputFiles(pipe, overwrite=True),
    ):
        pass
