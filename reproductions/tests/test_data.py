"""Loaders of data files: on small files in the place of the real ones, and on the real ones."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import struct
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from labelfold import PartialLabels, hide_labels
from reproductions.data import alphadigits, landsat, magic, mnist, newsgroups
from reproductions.data.files import DataFile

REAL_DATA_HOME = os.environ.get("LABELFOLD_DATA") or None  # which no other test sees
CONTENT = b"1 2 3\n"
FILE = DataFile("numbers", hashlib.sha256(CONTENT).hexdigest(), "Get it from the shelf of numbers.")
TABLE = replace(FILE, has_free_blanks=True)
VARIANTS = [b"1\t2\t3\r\n", b"1 2 3", b"  1  2 3 \r\n\r\n", b"1 2 3\r"]


@pytest.fixture(autouse=True)
def _no_folder_in_the_environment(monkeypatch):
    monkeypatch.delenv("LABELFOLD_DATA", raising=False)


@pytest.fixture
def put(tmp_path):
    """Write small content in the place of a real file, packed or plain; return its checksum."""

    def write(file: DataFile, content: bytes, *, packed: bool = True) -> DataFile:
        path = tmp_path / (f"{file.name}.gz" if packed else file.name)
        path.write_bytes(gzip.compress(content) if packed else content)
        return replace(file, sha256=hashlib.sha256(content).hexdigest())

    return write


# Files


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_read_from_the_folder_named(tmp_path, put, monkeypatch, packed):
    put(FILE, CONTENT, packed=packed)
    monkeypatch.setenv("LABELFOLD_DATA", str(tmp_path / "elsewhere"))
    assert FILE.read(tmp_path) == FILE.read(str(tmp_path)) == CONTENT
    monkeypatch.setenv("LABELFOLD_DATA", str(tmp_path))
    assert FILE.read() == CONTENT
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert FILE.read("~") == CONTENT


def test_a_missing_file_or_folder_says_how_to_get_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Pass data_home or set .* LABELFOLD_DATA. Get it"):
        FILE.read()
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(FileNotFoundError, match=r"numbers\.gz nor numbers is in .* Get it"):
            FILE.read(folder)


@pytest.mark.parametrize("other", [b"", b"4 5 6\n", b"12 3\n", b"1 2\n3\n", CONTENT * 2])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("file", [FILE, TABLE])
def test_another_file_is_refused_with_both_checksums(tmp_path, put, file, packed, other):
    found = put(file, other, packed=packed).sha256
    message = f"not the expected file: .* is {found}, not {file.sha256}. Get it"
    with pytest.raises(ValueError, match=message):
        file.read(tmp_path)


@pytest.mark.parametrize("broken", [CONTENT, gzip.compress(CONTENT, mtime=0)[:-4]])
def test_a_broken_gzip_file_is_refused(tmp_path, broken):
    (tmp_path / "numbers.gz").write_bytes(broken)
    with pytest.raises(ValueError, match=r"is not a gzip file.*Get it from"):
        FILE.read(tmp_path)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("packed", [False, True])
def test_blanks_and_line_ends_matter_unless_it_is_a_table(tmp_path, put, variant, packed):
    put(FILE, variant, packed=packed)
    assert TABLE.read(tmp_path) == CONTENT
    with pytest.raises(ValueError, match="not the expected file"):
        FILE.read(tmp_path)


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (landsat.load_landsat, r"sat\.trn.*UCI.*/satimage/sat\.trn"),
        (magic.load_magic, r"magic04\.data.*UCI.*/magic/magic04\.data"),
        (mnist.load_mnist, r"mnist-train-images.*Get train-images.*LeCun"),
        (alphadigits.load_alphadigits, r"binaryalphadigs\.mat.*Sam Roweis"),
        (
            newsgroups.load_newsgroups,
            r"20newsgroups-19997\.jsonl.*Ken Lang.*first empty line.*JSON object",
        ),
    ],
)
def test_every_loader_says_how_to_get_its_file(tmp_path, load, message):
    with pytest.raises(FileNotFoundError, match=message):
        load(data_home=tmp_path)


# Tables and images


@pytest.mark.parametrize("load", [landsat.load_landsat, mnist.load_mnist])
def test_an_unknown_subset_is_refused(load):
    with pytest.raises(ValueError, match=r"subset='validation' must be .*'train' or 'test'"):
        load("validation")


def test_landsat(tmp_path, put, monkeypatch):
    tables = {
        "train": np.array([[*range(36), 1], [*range(100, 136), 7], [*range(36), 3]]),
        "test": np.array([[*range(200, 236), 5]]),
    }
    for part, table in tables.items():
        text = "".join(" ".join(map(str, row)) + "\n" for row in table).encode()
        monkeypatch.setitem(landsat.FILES, part, put(landsat.FILES[part], text))
    for part, table in {**tables, "all": np.concatenate([*tables.values()])}.items():
        X, y = landsat.load_landsat(part, data_home=tmp_path)
        assert (X.dtype, y.dtype) == (np.float64, np.int64)
        np.testing.assert_array_equal(X, table[:, :-1])
        np.testing.assert_array_equal(y, table[:, -1])


def test_magic(tmp_path, put, monkeypatch):
    features = np.array([np.linspace(-8.2027, 1e-05, 10), np.arange(10), np.full(10, 28.7967)])
    lines = [",".join(map(repr, row)) for row in features.tolist()]
    text = "".join(f"{line},{label}\n" for line, label in zip(lines, "ghg", strict=True))
    monkeypatch.setattr(magic, "FILE", put(magic.FILE, text.encode()))
    X, y = magic.load_magic(data_home=tmp_path)
    np.testing.assert_array_equal(X, features)
    assert (X.dtype, y.dtype, y.tolist()) == (np.float64, object, ["g", "h", "g"])
    assert PartialLabels.from_y(hide_labels(y, keep=[0, 1])).codes.tolist() == [0, 1, -1]
    y[1] = None  # which an array of strings would turn into a class
    assert PartialLabels.from_y(y).codes.tolist() == [0, -1, 0]


@pytest.mark.parametrize("subset", ["train", "test"])
def test_mnist(tmp_path, put, monkeypatch, subset):
    images = np.random.default_rng(0).integers(256, size=(5, 28, 28), dtype=np.uint8)
    labels = np.array([7, 0, 9, 3, 3], dtype=np.uint8)
    headers = [struct.pack(f">4B{a.ndim}I", 0, 0, 8, a.ndim, *a.shape) for a in (images, labels)]
    contents = [headers[0] + images.tobytes(), headers[1] + labels.tobytes()]
    files = tuple(put(*pair) for pair in zip(mnist.FILES[subset], contents, strict=True))
    monkeypatch.setitem(mnist.FILES, subset, files)
    X, y = mnist.load_mnist(subset, data_home=tmp_path)
    assert (X.dtype, y.dtype) == (np.uint8, np.int64)
    np.testing.assert_array_equal(X, images.reshape(5, 784))
    np.testing.assert_array_equal(y, labels)
    assert X.flags.writeable


@pytest.mark.parametrize("kinds", [["npz"], ["mat"], ["npz", "mat"]])
def test_alphadigits(tmp_path, put, monkeypatch, kinds):
    images = np.random.default_rng(0).integers(2, size=(6, 20, 16), dtype=np.uint8)
    if "npz" in kinds:
        file = io.BytesIO()
        codes = np.repeat(np.arange(3, dtype=np.uint8), 2)
        np.savez_compressed(file, X=images, y=codes, classes=np.array(["7", "A", "Z"]))
        monkeypatch.setattr(
            alphadigits, "NUMPY_FILE", put(alphadigits.NUMPY_FILE, file.getvalue(), packed=False)
        )
    if "mat" in kinds:
        cells, names = np.empty((3, 2), dtype=object), np.empty((1, 3), dtype=object)
        cells.ravel()[:] = list(images)
        names[0] = ["7", "A", "Z"] if kinds == ["mat"] else ["B", "C", "D"]
        file = io.BytesIO()
        savemat(file, {"dat": cells, "classlabels": names, "numclasses": 3.0})
        monkeypatch.setattr(
            alphadigits, "MATLAB_FILE", put(alphadigits.MATLAB_FILE, file.getvalue())
        )
    X, y = alphadigits.load_alphadigits(data_home=tmp_path)
    assert (X.dtype, y.dtype, X.flags.writeable) == (np.float64, object, True)
    np.testing.assert_array_equal(X, images.reshape(6, 320))
    np.testing.assert_array_equal(X[3, 16:32], images[3, 1])
    assert y.tolist() == ["7", "7", "A", "A", "Z", "Z"]
    assert all(type(label) is str for label in y)


def test_real_files():
    try:
        X, y = magic.load_magic(data_home=REAL_DATA_HOME)
        images, characters = alphadigits.load_alphadigits(data_home=REAL_DATA_HOME)
    except FileNotFoundError:
        pytest.skip("LABELFOLD_DATA names no folder that holds MAGIC and the Binary Alphadigits")
    assert X.shape == (19020, 10)
    assert y.tolist() == ["g"] * 12332 + ["h"] * 6688
    assert np.bincount(np.unique(X, axis=0, return_counts=True)[1]).tolist() == [0, 18790, 115]
    names = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert characters.tolist() == [name for name in names for _ in range(39)]
    pixels = hashlib.sha256(images.astype(np.uint8).tobytes()).hexdigest()
    assert pixels == "62abc33842215a61a16a142320f529f93c06b9cf9ddc4c1259e0962baf67ea44"
    np.testing.assert_array_equal(images[characters == "0"], images[characters == "O"])
    assert len(np.unique(images, axis=0)) == 1363


# 20 Newsgroups

# Frequencies: the 5, of 3, bat 2, cat 2, dog 2, eel 1, fox 1; the, bat and cat stand in two texts,
# the others in one.
TEXTS = [
    "The the THE: of, of of!",
    "dog cat bat dog",
    "",
    "the bat.fox? the",
    "8 a I 42 --\n",
    "Cat's eel",
]
GROUPS = ["rec.autos", "rec.pets", "rec.pets", "sci.med", "sci.med", "rec.pets"]
RANKING = ["the", "of", "bat", "cat", "dog", "eel", "fox"]


@pytest.fixture
def put_newsgroups(tmp_path, put, monkeypatch):
    def write(texts, groups):
        lines = [
            json.dumps({"group": group, "id": 1, "header": "", "body": text}, ensure_ascii=False)
            for text, group in zip(texts, groups, strict=True)
        ]
        content = "".join(f"{line}\n" for line in lines).encode()
        monkeypatch.setattr(newsgroups, "FILE", put(newsgroups.FILE, content))
        return tmp_path

    return write


def test_bodies_and_groups(put_newsgroups):
    texts, y = newsgroups.load_newsgroups(data_home=put_newsgroups(TEXTS, GROUPS))
    assert (texts, y.dtype, y.tolist()) == (TEXTS, object, GROUPS)


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\r"])
def test_separators_within_a_body_do_not_end_a_line(put_newsgroups, separator):
    texts = [f"one{separator}two", "caf\xe9"]
    assert newsgroups.load_newsgroups(data_home=put_newsgroups(texts, GROUPS[:2]))[0] == texts


def test_frequencies_by_hand(put_newsgroups):
    X, y, vocabulary, rows = newsgroups.load_newsgroups_vectorized(
        n_stop_words=2, n_words=4, data_home=put_newsgroups(TEXTS, GROUPS)
    )
    assert isinstance(X, sparse.csr_array)
    assert (X.dtype, vocabulary.dtype, y.dtype) == (np.float64, object, object)
    assert vocabulary.tolist() == ["bat", "cat", "dog", "eel"]
    # Left out: a text of stop words alone, an empty one, one without words.
    assert rows.tolist() == [1, 3, 5]
    assert y.tolist() == ["rec.pets", "sci.med", "rec.pets"]
    expected = [[0.25, 0.25, 0.5, 0], [1, 0, 0, 0], [0, 0.5, 0, 0.5]]
    np.testing.assert_array_equal(X.toarray(), expected)


def test_text_with_rarer_words_alone_is_left_out():
    X, vocabulary, rows = newsgroups.word_frequencies(["fox", *TEXTS], n_stop_words=2, n_words=1)
    assert vocabulary.tolist() == ["bat"]
    assert rows.tolist() == [2, 4]
    np.testing.assert_array_equal(X.toarray(), [[1], [1]])


@pytest.mark.parametrize("n_stop_words", range(6))
@pytest.mark.parametrize("n_words", [1, 2])
def test_words_are_ranked_by_frequency_then_alphabetically(n_stop_words, n_words):
    _, vocabulary, _ = newsgroups.word_frequencies(
        TEXTS, n_stop_words=n_stop_words, n_words=n_words
    )
    assert vocabulary.tolist() == RANKING[n_stop_words : n_stop_words + n_words]


def test_many_words_of_the_same_frequency_are_in_alphabetical_order():
    # Two frequencies in turn, so that a sort that is not stable has to move the words.
    words = [a + b for a in "abcdefghijklmnopqrst" for b in "abcdefghijklmnopqrst"]
    text = " ".join([*words, *words[::2]][::-1])
    _, vocabulary, _ = newsgroups.word_frequencies([text], n_stop_words=0, n_words=400)
    assert vocabulary.tolist() == words[::2] + words[1::2]


def test_a_word_is_a_run_of_two_or_more_letters_in_lower_case():
    text = "Don't re-read R2D2's e-mail, user_name@host1.EDU: abc123def na\xefve \xc5ngstr\xf6m I"
    _, vocabulary, _ = newsgroups.word_frequencies([text], n_stop_words=0, n_words=13)
    assert " ".join(vocabulary) == "abc def don edu host mail na name ngstr re read user ve"


def test_rows_sum_to_one_and_agree_with_counting_by_hand_in_any_order_of_the_texts():
    random = np.random.default_rng(0)
    words = np.array([a + b for a in "abcdefgh" for b in "abcdefgh"])
    # Lengths from 0 on, and frequencies that fall off, so that many words tie at the low end.
    weights = 1 / np.arange(1, 65)
    texts = [
        " ".join(random.choice(words, size=random.integers(8), p=weights / weights.sum()))
        for _ in range(60)
    ]
    X, vocabulary, rows = newsgroups.word_frequencies(texts, n_stop_words=5, n_words=30)
    counts = np.array([[text.split().count(word) for word in vocabulary] for text in texts])
    totals = counts.sum(axis=1)
    np.testing.assert_array_equal(rows, np.flatnonzero(totals))
    assert 0 < len(rows) < len(texts)
    np.testing.assert_allclose(X.toarray(), counts[rows] / totals[rows, np.newaxis], rtol=1e-15)
    np.testing.assert_allclose(X.sum(axis=1), 1, rtol=1e-15)
    assert X.has_sorted_indices
    turned, same_vocabulary, _ = newsgroups.word_frequencies(
        texts[::-1], n_stop_words=5, n_words=30
    )
    np.testing.assert_array_equal(same_vocabulary, vocabulary)
    np.testing.assert_array_equal(turned.toarray(), X.toarray()[::-1])
