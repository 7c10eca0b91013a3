import gzip
import hashlib
import os
import socket
from dataclasses import replace
from http.client import BadStatusLine, RemoteDisconnected
from pathlib import Path

import pytest

from reproductions.data import files
from reproductions.data.files import DataFile

CONTENT = b"1 2 3\n"
PACKED = gzip.compress(CONTENT, mtime=0)
FILE = DataFile(
    name="numbers.gz",
    sha256=hashlib.sha256(PACKED).hexdigest(),
    content_sha256=hashlib.sha256(CONTENT).hexdigest(),
    origin="Get it from the shelf of numbers.",
)
TABLE = replace(FILE, blanks_matter=False)


@pytest.fixture
def plain_page(shelf):
    """Lay the plain file onto the shelf, and return what downloads it."""
    shelf.pages["/numbers"] = CONTENT
    return replace(FILE, url=shelf.url("/numbers"))


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
    assert f"{tmp_path}, named by LABELFOLD_DATA, nor is numbers." in str(caught.value)
    assert FILE.origin in str(caught.value)
    assert "download" not in str(caught.value)


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


def test_plain_file_is_taken(tmp_path):
    (tmp_path / "numbers").write_bytes(CONTENT)
    assert FILE.read(tmp_path) == CONTENT


def test_gzip_file_comes_before_the_plain_one(tmp_path):
    (tmp_path / "numbers").write_bytes(b"something else")
    (tmp_path / "numbers.gz").write_bytes(PACKED)
    assert FILE.read(tmp_path) == CONTENT


@pytest.mark.parametrize("file", [FILE, TABLE])
def test_other_plain_file_is_refused_and_kept(tmp_path, file):
    path = tmp_path / "numbers"
    path.write_bytes(b"4 5 6\n")
    with pytest.raises(ValueError, match="is not the file expected") as caught:
        file.read(tmp_path, download=True)
    message = str(caught.value)
    assert hashlib.sha256(b"4 5 6\n").hexdigest() in message
    assert file.content_sha256 in message
    assert file.origin in message
    assert path.read_bytes() == b"4 5 6\n"


VARIANTS = [b"1\t2\t3\r\n", b"1 2 3", b"  1  2 3 \r\n\r\n", b"1 2 3\r"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_blanks_and_line_ends_of_a_table_do_not_matter(tmp_path, variant):
    (tmp_path / "numbers").write_bytes(variant)
    assert TABLE.read(tmp_path) == CONTENT
    (tmp_path / "numbers.gz").write_bytes(gzip.compress(variant))
    assert TABLE.read(tmp_path) == CONTENT


@pytest.mark.parametrize("variant", VARIANTS)
def test_blanks_matter_unless_told_otherwise(tmp_path, variant):
    (tmp_path / "numbers").write_bytes(variant)
    with pytest.raises(ValueError, match="is not the file expected"):
        FILE.read(tmp_path)


@pytest.mark.parametrize("other", [b"12 3\n", b"1 2\n3\n", b"1 2 3\n1 2 3\n", b""])
def test_words_and_lines_of_a_table_do_matter(tmp_path, other):
    (tmp_path / "numbers").write_bytes(other)
    with pytest.raises(ValueError, match="its SHA-256 with one space between words is"):
        TABLE.read(tmp_path)


def test_nothing_is_downloaded_unasked(tmp_path, shelf, plain_page):
    with pytest.raises(FileNotFoundError, match="Pass download=True to fetch it from") as caught:
        plain_page.read(tmp_path)
    assert plain_page.url in str(caught.value)
    assert plain_page.origin in str(caught.value)
    assert not shelf.asked


def test_nothing_is_downloaded_if_the_file_is_there(tmp_path, shelf, plain_page):
    (tmp_path / "numbers.gz").write_bytes(PACKED)
    assert plain_page.read(tmp_path, download=True) == CONTENT
    assert not shelf.asked


def test_download_is_kept_in_data_home(tmp_path, shelf, plain_page):
    home = tmp_path / "new" / "data"
    assert plain_page.read(home, download=True) == CONTENT
    assert [path.name for path in home.iterdir()] == ["numbers"]
    assert plain_page.read(home, download=True) == CONTENT
    assert plain_page.read(home) == CONTENT
    assert shelf.asked == ["/numbers"]


def test_download_is_kept_in_the_directory_in_the_environment(tmp_path, plain_page, monkeypatch):
    monkeypatch.setenv("LABELFOLD_DATA", str(tmp_path))
    assert plain_page.read(download=True) == CONTENT
    assert (tmp_path / "numbers").read_bytes() == CONTENT


def test_download_is_kept_by_scikit_learn_if_no_directory_is_named(shelf, plain_page):
    assert plain_page.read(download=True) == CONTENT
    assert plain_page.read(download=True) == CONTENT
    assert shelf.asked == ["/numbers"]
    kept = Path(os.environ["SCIKIT_LEARN_DATA"]).rglob("numbers")
    assert [path.read_bytes() for path in kept] == [CONTENT]


def test_download_of_a_gzip_file_gets_the_name_of_the_file(tmp_path, shelf):
    shelf.pages["/shelf/n.gz"] = PACKED
    assert replace(FILE, url=shelf.url("/shelf/n.gz")).read(tmp_path, download=True) == CONTENT
    assert (tmp_path / "numbers.gz").read_bytes() == PACKED


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("wrong", [b"", CONTENT[:-3], b"<html>Moved</html>"])
def test_wrong_download_is_refused_and_removed(tmp_path, shelf, plain_page, wrong, named):
    home = tmp_path if named else None
    shelf.pages["/numbers"] = wrong
    with pytest.raises(ValueError, match="is not the file expected") as caught:
        plain_page.read(home, download=True)
    assert f"What was downloaded from {plain_page.url} was removed" in str(caught.value)
    assert plain_page.origin in str(caught.value)
    shelf.pages["/numbers"] = CONTENT
    assert plain_page.read(home, download=True) == CONTENT


def assert_connection_error(file, home):
    with pytest.raises(ConnectionError, match="could not be downloaded") as caught:
        file.read(home, download=True)
    assert file.url in str(caught.value)
    assert file.origin in str(caught.value)
    assert list(home.iterdir()) == []


def test_download_cut_short(tmp_path, shelf, plain_page):
    shelf.announced_too_much = 100
    assert_connection_error(plain_page, tmp_path)
    shelf.announced_too_much = 0
    assert plain_page.read(tmp_path, download=True) == CONTENT


def test_no_such_page(tmp_path, shelf):
    assert_connection_error(replace(FILE, url=shelf.url("/nothing")), tmp_path)


@pytest.mark.usefixtures("shelf")
def test_nobody_answers(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as closed_soon:
        port = closed_soon.getsockname()[1]
    assert_connection_error(replace(FILE, url=f"http://127.0.0.1:{port}/numbers"), tmp_path)


@pytest.mark.parametrize(
    "error", [TimeoutError("timed out"), RemoteDisconnected("gone"), BadStatusLine("nonsense")]
)
def test_other_failures_of_a_connection(tmp_path, monkeypatch, error):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(files, "fetch_file", fail)
    assert_connection_error(replace(FILE, url="http://numbers.invalid/numbers"), tmp_path)


def test_download_needs_a_directory(tmp_path, shelf, plain_page):
    path = tmp_path / "note"
    path.write_text("no directory")
    with pytest.raises(FileNotFoundError, match="which is not a directory") as caught:
        plain_page.read(path, download=True)
    assert "Pass download" not in str(caught.value)
    assert not shelf.asked


def test_file_without_a_url_can_not_be_downloaded(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"numbers\.gz is not in"):
        FILE.read(tmp_path, download=True)
