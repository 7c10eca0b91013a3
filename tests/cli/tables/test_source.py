from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from labelfold.cli.tables import STANDARD_INPUT, TableError, memory, read_table
from labelfold.cli.tables import source as source_module

TEXT = b"a,b\n1,2\n3,4\n"
X = [[1, 2], [3, 4]]


class FakeInput(io.TextIOWrapper):
    def __init__(self, content, is_terminal=False):
        super().__init__(io.BytesIO(content))
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


class TestStandardInput:
    @pytest.mark.parametrize("content", [TEXT, gzip.compress(TEXT, mtime=0), npy(np.array(X))])
    def test_format_is_found_by_content(self, monkeypatch, content):
        monkeypatch.setattr(sys, "stdin", FakeInput(content))
        table = read_table(STANDARD_INPUT)
        np.testing.assert_array_equal(table.X, X)
        assert table.origin == "standard input"

    def test_svmlight(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", FakeInput(b"1 1:2 3:4\n0 2:5\n"))
        assert read_table("-").X.toarray().tolist() == [[2, 0, 4], [0, 5, 0]]

    @pytest.mark.parametrize(
        ("stream", "problem"),
        [
            (FakeInput(b"", is_terminal=True), "is a terminal"),
            (FakeInput(b""), "is empty"),
            (None, "is closed"),
        ],
    )
    def test_nothing_to_read(self, monkeypatch, stream, problem):
        monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(TableError, match=f"standard input {problem}"):
            read_table(Path("-"))

    def test_limit(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", FakeInput(TEXT * 1000))
        with pytest.raises(TableError, match="standard input: more than the limit"):
            read_table("-", max_bytes=5000)

    def test_once_only(self):
        with pytest.raises(TableError, match="cannot both come from standard input"):
            read_table("-", labels_file="-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_named_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(TEXT))
    writer.start()
    table = read_table(path)
    writer.join()
    np.testing.assert_array_equal(table.X, X)


class TestGzip:
    def test_by_content_and_not_by_name(self, read):
        for name in ("data.csv.gz", "data.csv", "data.gz", "data"):
            np.testing.assert_array_equal(read(gzip.compress(TEXT), name).X, X)
        np.testing.assert_array_equal(read(TEXT, "data.csv.gz").X, X)

    def test_several_members(self, read):
        np.testing.assert_array_equal(read(gzip.compress(TEXT[:4]) + gzip.compress(TEXT[4:])).X, X)

    @pytest.mark.parametrize("n_cut", [1, 4, 8, 12, 20])
    def test_cut_short(self, refusal, n_cut):
        assert "damaged or incomplete gzip file" in refusal(gzip.compress(TEXT)[:-n_cut])

    def test_altered(self, refusal):
        packed = bytearray(gzip.compress(TEXT))
        packed[-6] ^= 1  # in the checksum
        assert "damaged or incomplete gzip file" in refusal(bytes(packed))

    def test_cut_far_behind_the_head(self, refusal):
        rows = b"".join(b"%d,%d\n" % (i * i, i) for i in range(50_000))
        assert "damaged or incomplete gzip file" in refusal(gzip.compress(rows)[:-1000])

    def test_twice(self, refusal):
        assert "gzip inside gzip: unpack it once" in refusal(gzip.compress(gzip.compress(TEXT)))

    def test_empty_content(self, refusal):
        assert "is empty" in refusal(gzip.compress(b""))


class TestLimit:
    def test_plain_file(self, refusal):
        assert "more than the limit of 10 bytes" in refusal(TEXT, max_bytes=10)

    @pytest.mark.parametrize("head", [b"a,b\n", b"\x93NUMPY\x01\0", b"PK\x03\x04", b"PAR1\x15"])
    def test_small_file_that_unpacks_to_a_large_one(self, refusal, head, monkeypatch):
        n_read = 0
        unpack = gzip.GzipFile.read

        def counting_read(self, size=-1):
            nonlocal n_read
            piece = unpack(self, size)
            n_read += len(piece)
            return piece

        monkeypatch.setattr(gzip.GzipFile, "read", counting_read)
        packed = gzip.compress(head + b"1,2\n" * 10_000_000)
        assert len(packed) < 200_000
        name = {b"a": "x.csv", b"\x93": "x.npy", b"P": "x"}[head[:1]]
        message = refusal(packed, name, max_bytes=1_000_000)
        assert "limit" in message or "damaged" in message
        assert n_read < 8_000_000

    def test_one_byte_decides(self, read, refusal):
        for packed in (TEXT, gzip.compress(TEXT)):
            n_bytes = max(len(TEXT), len(packed))
            assert read(packed, max_bytes=n_bytes).n_rows == 2
        assert "limit" in refusal(gzip.compress(TEXT * 100), max_bytes=100 * len(TEXT) - 1)


class TestMemory:
    def test_too_many_cells_are_refused_before_they_are_read(self, refusal, monkeypatch):
        monkeypatch.setattr(memory, "available_memory", lambda: 1000)
        message = refusal("a,b\n" + "1,2\n" * 1000)
        assert "need 16 kB of memory, and 1 kB are free" in message
        assert "--features" in message

    @pytest.mark.parametrize(
        ("content", "name"),
        [
            (npy(np.zeros((200, 2), dtype=np.uint8)), "x.npy"),
            (bytes([0, 0, 8, 2, 0, 0, 1, 0, 0, 0, 0, 1]) + b"1" * 256, "x.idx"),
        ],
    )
    def test_binary_files_announce_their_size(self, refusal, monkeypatch, content, name):
        monkeypatch.setattr(memory, "available_memory", lambda: 1000)
        assert "memory" in refusal(content, name)

    def test_what_is_packed_and_must_be_held_in_memory(self, refusal, monkeypatch):
        monkeypatch.setattr(source_module, "available_memory", lambda: 3_000_000)
        packed = gzip.compress(b"PK\x03\x04" + b"0" * 10_000_000)
        assert "unpack the file to disk" in refusal(packed, "x.npz")

    def test_memory_error_is_a_refusal(self, write, monkeypatch):
        def fail(*args, **more):
            raise MemoryError

        monkeypatch.setattr(np, "loadtxt", fail)
        with pytest.raises(TableError, match="needs more memory than there is"):
            read_table(write(TEXT))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("none.csv", r"none\.csv: No such file or directory: check the name"),
        (".", "is a folder"),
        ("a\0b.csv", "check the name"),
        ("a\nb.csv", "^[^\n]*$"),
    ],
)
def test_names_of_no_file(tmp_path, name, problem):
    with pytest.raises(TableError, match=problem):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (5, "5 bytes"),
        (1500, "1.5 kB"),
        (2 * 10**9, "2 GB"),
        (3 * 10**12, "3 TB"),
        (10**16, "10,000 TB"),
    ],
)
def test_sizes_in_words(size, words):
    assert memory.in_words(size) == words
