import gzip
import hashlib

import pytest

from labelfold.datasets.files import DataFile

CONTENT = b"1 2 3\n"
PACKED = gzip.compress(CONTENT, mtime=0)
FILE = DataFile(
    name="numbers.gz",
    sha256=hashlib.sha256(PACKED).hexdigest(),
    content_sha256=hashlib.sha256(CONTENT).hexdigest(),
    origin="Get it from the shelf of numbers.",
)


@pytest.fixture(autouse=True)
def _no_directory_in_the_environment(monkeypatch):
    monkeypatch.delenv("LABELFOLD_DATA", raising=False)


def test_reads_from_data_home(tmp_path):
    (tmp_path / "numbers.gz").write_bytes(PACKED)
    assert FILE.read(tmp_path) == CONTENT
    assert FILE.read(str(tmp_path)) == CONTENT


def test_reads_from_the_directory_in_the_environment(tmp_path, monkeypatch):
    (tmp_path / "numbers.gz").write_bytes(PACKED)
    monkeypatch.setenv("LABELFOLD_DATA", str(tmp_path))
    assert FILE.read() == CONTENT


def test_data_home_comes_before_the_environment(tmp_path, monkeypatch):
    (tmp_path / "numbers.gz").write_bytes(PACKED)
    monkeypatch.setenv("LABELFOLD_DATA", str(tmp_path / "elsewhere"))
    assert FILE.read(tmp_path) == CONTENT


def test_home_directory_is_expanded(tmp_path, monkeypatch):
    (tmp_path / "numbers.gz").write_bytes(PACKED)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert FILE.read("~") == CONTENT


def test_same_content_packed_otherwise_is_taken(tmp_path):
    (tmp_path / "numbers.gz").write_bytes(gzip.compress(CONTENT, compresslevel=1, mtime=12345))
    assert FILE.read(tmp_path) == CONTENT


@pytest.mark.parametrize("value", [None, ""])
def test_no_directory_named(value, monkeypatch):
    if value is not None:
        monkeypatch.setenv("LABELFOLD_DATA", value)
    with pytest.raises(FileNotFoundError, match="pass data_home or set") as caught:
        FILE.read()
    assert "numbers.gz" in str(caught.value)
    assert "LABELFOLD_DATA" in str(caught.value)
    assert FILE.origin in str(caught.value)


def test_missing_directory(tmp_path):
    with pytest.raises(FileNotFoundError, match="named by data_home, which is not a dir") as caught:
        FILE.read(tmp_path / "nowhere")
    assert str(tmp_path / "nowhere") in str(caught.value)
    assert FILE.origin in str(caught.value)


def test_missing_file(tmp_path, monkeypatch):
    monkeypatch.setenv("LABELFOLD_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"numbers\.gz is not in") as caught:
        FILE.read()
    assert f"{tmp_path}, named by LABELFOLD_DATA" in str(caught.value)
    assert FILE.origin in str(caught.value)


def test_wrong_content_names_both_checksums(tmp_path):
    other = gzip.compress(b"4 5 6\n")
    (tmp_path / "numbers.gz").write_bytes(other)
    with pytest.raises(ValueError, match="is not the file expected") as caught:
        FILE.read(tmp_path)
    message = str(caught.value)
    assert hashlib.sha256(other).hexdigest() in message
    assert hashlib.sha256(b"4 5 6\n").hexdigest() in message
    assert FILE.sha256 in message
    assert FILE.content_sha256 in message
    assert FILE.origin in message


@pytest.mark.parametrize("broken", [b"", CONTENT, PACKED[:-4], PACKED[:12] + b"\xff" + PACKED[13:]])
def test_broken_gzip_names_both_checksums(tmp_path, broken):
    (tmp_path / "numbers.gz").write_bytes(broken)
    with pytest.raises(ValueError, match="SHA-256") as caught:
        FILE.read(tmp_path)
    assert hashlib.sha256(broken).hexdigest() in str(caught.value)
    assert FILE.sha256 in str(caught.value)
