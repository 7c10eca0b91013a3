import hashlib
import os
from dataclasses import replace

import numpy as np
import pytest

from labelfold import PartialLabels, hide_labels
from reproductions.data import load_magic, magic

# Kept here since no test of this directory sees the variable.
REAL_DATA_HOME = os.environ.get("LABELFOLD_DATA") or None

FEATURES = np.array(
    [
        [28.7967, 16.0021, 2.6449, 0.3918, 0.1982, 27.7004, 22.011, -8.2027, 40.092, 81.8828],
        [75.1362, 30.9205, 3.1611, 0.1832, 0.0947, -5.5, 43.0, 1e-05, 4.649, 356.462],
        [21.3846, 0.0, 2.6703, 0.5, 0.25, 100.0, -9.4, 3.0, 90.0, 256.4],
    ]
)
LABELS = ["g", "h", "g"]


def as_text(features, labels) -> bytes:
    rows = zip(features, labels, strict=True)
    lines = [",".join([*map(repr, map(float, row)), label]) + "\n" for row, label in rows]
    return "".join(lines).encode()


TEXT = as_text(FEATURES, LABELS)


@pytest.fixture
def magic_home(tmp_path, monkeypatch, write_data_file):
    monkeypatch.setattr(magic, "FILE", write_data_file(magic.FILE.name, TEXT))
    return tmp_path


@pytest.fixture
def magic_source(shelf, monkeypatch):
    """Lay a small table in the place of the real file, to be downloaded from this machine."""
    shelf.pages["/magic04.data"] = TEXT
    content_sha256 = hashlib.sha256(TEXT).hexdigest()
    small = replace(magic.FILE, content_sha256=content_sha256, url=shelf.url("/magic04.data"))
    monkeypatch.setattr(magic, "FILE", small)
    return shelf


def test_features_and_classes(magic_home):
    X, y = load_magic(data_home=magic_home)
    assert X.dtype == np.float64
    assert y.dtype == object
    np.testing.assert_array_equal(X, FEATURES)
    assert y.tolist() == LABELS
    assert all(type(label) is str for label in y)


def test_directory_from_the_environment(magic_home, monkeypatch):
    monkeypatch.setenv("LABELFOLD_DATA", str(magic_home))
    assert load_magic()[0].shape == (3, 10)


def test_one_row(tmp_path, monkeypatch, write_data_file):
    text = as_text(FEATURES[:1], LABELS[:1])
    monkeypatch.setattr(magic, "FILE", write_data_file(magic.FILE.name, text))
    X, y = load_magic(data_home=tmp_path)
    np.testing.assert_array_equal(X, FEATURES[:1])
    assert y.tolist() == ["g"]


def test_classes_can_be_hidden(magic_home):
    _, y = load_magic(data_home=magic_home)
    hidden = hide_labels(y, keep=[0, 1])
    assert hidden.tolist() == ["g", "h", None]
    labels = PartialLabels.from_y(hidden)
    assert labels.codes.tolist() == [0, 1, -1]
    assert labels.classes.tolist() == ["g", "h"]
    assert PartialLabels.from_y(y).codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize("unlabeled", [None, -1])
def test_unlabeled_rows_can_be_marked_in_place(magic_home, unlabeled):
    _, y = load_magic(data_home=magic_home)
    y[1] = unlabeled
    assert PartialLabels.from_y(y).codes.tolist() == [0, -1, 0]


ROW = b"1,2,3,4,5,6,7,8,9,"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1,2,g\n", "has 3 columns: expected are 10 features and a class"),
        (b"1 2 3 4 5 6 7 8 9 10 g\n", "has 1 columns: expected are 10 features and a class"),
        (ROW + b"10,11,g\n", "has 12 columns"),
        (ROW + b"10,g\n1,g\n", "is no table of numbers and classes: .*columns changed from 11"),
        (ROW + b"10,x\n" + ROW + b"10,G\n", r"has the classes \['G', 'x'\]: expected are \('g', "),
        (ROW + b"10,gh\n", r"has the classes \['gh'\]"),
        (ROW + b"10,\n", r"has the classes \[''\]"),
        (ROW + b"10,11\n", r"has the classes \['11'\]"),
        (ROW + b"ten,g\n", "has a feature that is no number: .*'ten'"),
        (ROW + b",g\n", "has a feature that is no number: .*''"),
        (ROW + b"#,g\n", "has a feature that is no number: .*'#'"),
        (ROW + b"nan,g\n", "has the feature nan: expected are finite numbers"),
        (ROW + b"-inf,h\n", "has the feature -inf: expected are finite numbers"),
        (ROW + b"1e999,h\n", "has the feature 1e999: expected are finite numbers"),
        (b"\xff\xfe\n", "is no table of numbers and classes"),
        (b"", "is empty: expected are lines of 10 numbers and a class"),
        (b" \n\n", "is empty"),
    ],
)
def test_bad_content(tmp_path, monkeypatch, write_data_file, content, message):
    monkeypatch.setattr(magic, "FILE", write_data_file("magic04.data.gz", content))
    with pytest.raises(ValueError, match=rf"^magic04\.data\.gz {message}"):
        load_magic(data_home=tmp_path)


def test_missing_file_says_how_to_get_it(tmp_path):
    message = (
        r"magic04\.data\.gz is not in .*download=True.*/magic/magic04\.data\. By hand: get "
        r"magic04\.data from the UCI Machine Learning"
    )
    with pytest.raises(FileNotFoundError, match=message):
        load_magic(data_home=tmp_path)


def test_other_file_of_that_name_is_refused(tmp_path, write_data_file):
    write_data_file("magic04.data.gz", TEXT)
    with pytest.raises(ValueError, match="is not the file expected"):
        load_magic(data_home=tmp_path)


def test_plain_file_with_carriage_returns(tmp_path, magic_source):
    (tmp_path / "magic04.data").write_bytes(TEXT.replace(b"\n", b"\r\n") + b"\r\n")
    X, y = load_magic(data_home=tmp_path)
    np.testing.assert_array_equal(X, FEATURES)
    assert y.tolist() == LABELS
    assert not magic_source.asked


def test_download(tmp_path, magic_source):
    X, y = load_magic(data_home=tmp_path, download=True)
    np.testing.assert_array_equal(X, FEATURES)
    assert y.tolist() == LABELS
    assert [path.name for path in tmp_path.iterdir()] == ["magic04.data"]
    np.testing.assert_array_equal(load_magic(data_home=tmp_path)[0], X)
    assert magic_source.asked == ["/magic04.data"]


def test_download_into_the_data_home_of_scikit_learn(magic_source):
    assert load_magic(download=True)[0].shape == (3, 10)
    assert load_magic(download=True)[0].shape == (3, 10)
    assert magic_source.asked == ["/magic04.data"]


def test_changed_table_is_not_taken_for_a_download(tmp_path, magic_source):
    magic_source.pages["/magic04.data"] = as_text(FEATURES[::-1], LABELS)
    with pytest.raises(ValueError, match="is not the file expected"):
        load_magic(data_home=tmp_path, download=True)
    assert list(tmp_path.iterdir()) == []


def test_failed_download_says_how_to_get_the_file_by_hand(tmp_path, magic_source):
    magic_source.pages.clear()
    message = r"/magic04\.data could not be downloaded .*404.*By hand: get magic04\.data from the"
    with pytest.raises(ConnectionError, match=message):
        load_magic(data_home=tmp_path, download=True)


def test_real_file():
    try:
        X, y = load_magic(data_home=REAL_DATA_HOME)
    except FileNotFoundError:
        pytest.skip(f"LABELFOLD_DATA names no directory that holds {magic.FILE.name}")
    assert X.shape == (19020, 10)
    np.testing.assert_array_equal(X[0], FEATURES[0])
    assert y.tolist() == ["g"] * 12332 + ["h"] * 6688
    _, counts = np.unique(X, axis=0, return_counts=True)
    assert np.bincount(counts).tolist() == [0, 18790, 115]
