import hashlib
from dataclasses import replace

import numpy as np
import pytest

from reproductions.data import landsat, load_landsat

TABLES = {
    "train": np.array([[*range(36), 1], [*range(100, 136), 7], [*range(36), 3]]),
    "test": np.array([[*range(200, 236), 5]]),
}


def as_text(table) -> bytes:
    return "".join(" ".join(map(str, row)) + "\n" for row in table).encode()


@pytest.fixture
def landsat_home(tmp_path, monkeypatch, write_data_file):
    for part, table in TABLES.items():
        file = write_data_file(landsat.FILES[part].name, as_text(table))
        monkeypatch.setitem(landsat.FILES, part, file)
    return tmp_path


@pytest.fixture
def landsat_source(shelf, monkeypatch):
    """Small tables in the place of the real files, to be downloaded from this machine."""
    for part, table in TABLES.items():
        text = as_text(table)
        file = landsat.FILES[part]
        path = f"/{file.plain_name}"
        shelf.pages[path] = text
        content_sha256 = hashlib.sha256(text).hexdigest()
        small = replace(file, content_sha256=content_sha256, url=shelf.url(path))
        monkeypatch.setitem(landsat.FILES, part, small)
    return shelf


@pytest.mark.parametrize("subset", ["train", "test"])
def test_one_part(landsat_home, subset):
    X, y = load_landsat(subset, data_home=landsat_home)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    np.testing.assert_array_equal(X, TABLES[subset][:, :-1])
    np.testing.assert_array_equal(y, TABLES[subset][:, -1])


def test_all_is_train_followed_by_test(landsat_home):
    X, y = load_landsat(data_home=landsat_home)
    assert X.shape == (4, 36)
    np.testing.assert_array_equal(y, [1, 7, 3, 5])


def test_directory_from_the_environment(landsat_home, monkeypatch):
    monkeypatch.setenv("LABELFOLD_DATA", str(landsat_home))
    assert load_landsat("train")[0].shape == (3, 36)


def test_unknown_subset():
    with pytest.raises(ValueError, match="subset='validation' is unknown: give 'all', 'train' or"):
        load_landsat("validation")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 2 3\n", "has 3 columns: expected are 36 features and a class"),
        (as_text([[*range(36), 6]]), r"has the classes \[6\]: expected are"),
        (b"1 2 x\n", "is no table of integers"),
        (b"1 2\n1\n", "is no table of integers"),
        (b"\xff\xfe\n", "is no table of integers"),
        (b"", "is empty"),
    ],
)
def test_bad_content(tmp_path, monkeypatch, write_data_file, content, message):
    monkeypatch.setitem(landsat.FILES, "train", write_data_file("sat.trn.gz", content))
    with pytest.raises(ValueError, match=message):
        load_landsat("train", data_home=tmp_path)


def test_missing_file_says_how_to_get_it(tmp_path):
    message = r"sat\.tst\.gz is not in .*download=True.*/satimage/sat\.tst.*UCI Machine Learning"
    with pytest.raises(FileNotFoundError, match=message):
        load_landsat("test", data_home=tmp_path)


def test_other_file_of_that_name_is_refused(tmp_path, write_data_file):
    write_data_file("sat.trn.gz", as_text(TABLES["train"]))
    with pytest.raises(ValueError, match="is not the file expected"):
        load_landsat("train", data_home=tmp_path)


def test_plain_file_with_tabs_and_carriage_returns(tmp_path, landsat_source):
    text = as_text(TABLES["train"]).replace(b" ", b"\t").replace(b"\n", b" \r\n")
    (tmp_path / "sat.trn").write_bytes(text)
    X, y = load_landsat("train", data_home=tmp_path)
    np.testing.assert_array_equal(X, TABLES["train"][:, :-1])
    np.testing.assert_array_equal(y, TABLES["train"][:, -1])
    assert not landsat_source.asked


def test_download_of_all(tmp_path, landsat_source):
    X, y = load_landsat(data_home=tmp_path, download=True)
    np.testing.assert_array_equal(X, np.vstack([*TABLES.values()])[:, :-1])
    np.testing.assert_array_equal(y, [1, 7, 3, 5])
    assert landsat_source.asked == ["/sat.trn", "/sat.tst"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sat.trn", "sat.tst"]
    np.testing.assert_array_equal(load_landsat(data_home=tmp_path)[0], X)


def test_download_into_the_data_home_of_scikit_learn(landsat_source):
    assert load_landsat("test", download=True)[0].shape == (1, 36)
    assert load_landsat("test", download=True)[0].shape == (1, 36)
    assert landsat_source.asked == ["/sat.tst"]


def test_changed_table_is_not_taken_for_a_download(tmp_path, landsat_source):
    landsat_source.pages["/sat.trn"] = as_text(TABLES["train"][::-1])
    with pytest.raises(ValueError, match="is not the file expected"):
        load_landsat("train", data_home=tmp_path, download=True)
    assert list(tmp_path.iterdir()) == []


def test_failed_download_says_how_to_get_the_file_by_hand(tmp_path, landsat_source):
    landsat_source.pages.clear()
    message = r"/sat\.trn could not be downloaded .*404.*By hand: get sat\.trn from the UCI"
    with pytest.raises(ConnectionError, match=message):
        load_landsat("train", data_home=tmp_path, download=True)
