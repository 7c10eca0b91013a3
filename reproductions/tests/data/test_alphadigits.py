import gzip
import hashlib
import io
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from scipy.io import savemat

from labelfold import PartialLabels, hide_labels
from reproductions.data import alphadigits, load_alphadigits

# Kept here since no test of this directory sees the variable.
REAL_DATA_HOME = os.environ.get("LABELFOLD_DATA") or None

IMAGES = np.random.default_rng(0).integers(2, size=(6, 20, 16), dtype=np.uint8)
NAMES = ["7", "A", "Z"]
LABELS = ["7", "7", "A", "A", "Z", "Z"]
ARRAYS = {
    "X": IMAGES,
    "y": np.array([0, 0, 1, 1, 2, 2], dtype=np.uint8),
    "classes": np.array(NAMES),
}


def npz(**changes) -> bytes:
    """Write a NumPy file as the real one, with some arrays changed, or left out for None."""
    arrays = {key: value for key, value in (ARRAYS | changes).items() if value is not None}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def cells(values, shape):
    """Cell array of MATLAB: objects in a table."""
    array = np.empty(shape, dtype=object)
    array.ravel()[:] = list(values)
    return array


VARIABLES = {
    "dat": cells(IMAGES, (3, 2)),
    "classlabels": cells(NAMES, (1, 3)),
    "classcounts": cells([2.0, 2.0, 2.0], (1, 3)),
    "numclasses": 3.0,
}


def mat(compressed=False, **changes) -> bytes:
    """Write a MATLAB file as the real one, with some variables changed, or left out for None."""
    variables = {key: value for key, value in (VARIABLES | changes).items() if value is not None}
    file = io.BytesIO()
    savemat(file, variables, do_compression=compressed)
    return file.getvalue()


@pytest.fixture
def write_alphadigits(tmp_path, monkeypatch):
    """Write a file in the place of the real one, by the ending of its name."""
    files = {"npz": "NUMPY_FILE", "mat": "MATLAB_FILE"}

    def write(ending: str, content: bytes):
        (tmp_path / f"binaryalphadigs.{ending}").write_bytes(content)
        real = getattr(alphadigits, files[ending])
        small = replace(real, content_sha256=hashlib.sha256(content).hexdigest())
        monkeypatch.setattr(alphadigits, files[ending], small)
        return tmp_path

    return write


@pytest.fixture(params=[("npz", npz()), ("mat", mat())], ids=["npz", "mat"])
def alphadigits_home(request, write_alphadigits):
    return write_alphadigits(*request.param)


@pytest.fixture
def alphadigits_source(shelf, monkeypatch):
    """Lay a small file in the place of the original, to be downloaded from this machine."""
    content = mat()
    shelf.pages["/binaryalphadigs.mat"] = content
    small = replace(
        alphadigits.MATLAB_FILE,
        content_sha256=hashlib.sha256(content).hexdigest(),
        url=shelf.url("/binaryalphadigs.mat"),
    )
    monkeypatch.setattr(alphadigits, "MATLAB_FILE", small)
    return shelf


def test_images_are_rows(alphadigits_home):
    X, y = load_alphadigits(data_home=alphadigits_home)
    assert X.dtype == np.float64
    assert y.dtype == object
    np.testing.assert_array_equal(X, IMAGES.reshape(6, 320))
    np.testing.assert_array_equal(X[3, 16:32], IMAGES[3, 1])
    assert y.tolist() == LABELS
    assert all(type(label) is str for label in y)
    assert X.flags.writeable


def test_directory_from_the_environment(alphadigits_home, monkeypatch):
    monkeypatch.setenv("LABELFOLD_DATA", str(alphadigits_home))
    assert load_alphadigits()[0].shape == (6, 320)


@pytest.mark.parametrize(
    "content",
    [
        mat(compressed=True),
        mat(dat=cells(IMAGES.astype(float), (3, 2))),
        mat(dat=cells(IMAGES.astype(bool), (3, 2))),
        mat(classlabels=cells(NAMES, (3, 1))),
        mat(classlabels=cells([7, "A", "Z"], (1, 3)), classcounts=None, numclasses=None),
    ],
)
def test_other_ways_of_matlab(write_alphadigits, content):
    X, y = load_alphadigits(data_home=write_alphadigits("mat", content))
    np.testing.assert_array_equal(X, IMAGES.reshape(6, 320))
    assert y.tolist() == LABELS


@pytest.mark.parametrize(("ending", "content"), [("npz", npz()), ("mat", mat())])
def test_packed_file(write_alphadigits, ending, content):
    path = write_alphadigits(ending, content) / f"binaryalphadigs.{ending}"
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(content))
    path.unlink()
    assert load_alphadigits(data_home=path.parent)[1].tolist() == LABELS


def test_numpy_file_comes_before_the_original(write_alphadigits):
    write_alphadigits("npz", npz())
    home = write_alphadigits("mat", mat(classlabels=cells("BCD", (1, 3))))
    assert load_alphadigits(data_home=home)[1].tolist() == LABELS


def test_classes_can_be_hidden(alphadigits_home):
    _, y = load_alphadigits(data_home=alphadigits_home)
    hidden = hide_labels(y, keep=[0, 3])
    assert hidden.tolist() == ["7", None, None, "A", None, None]
    labels = PartialLabels.from_y(hidden)
    assert labels.codes.tolist() == [0, -1, -1, 1, -1, -1]
    assert labels.classes.tolist() == ["7", "A"]


@pytest.mark.parametrize("unlabeled", [None, -1])
def test_unlabeled_rows_can_be_marked_in_place(alphadigits_home, unlabeled):
    _, y = load_alphadigits(data_home=alphadigits_home)
    y[1] = unlabeled
    assert PartialLabels.from_y(y).codes.tolist() == [0, -1, 1, 1, 2, 2]


def with_pixel(value):
    images = IMAGES.astype(type(value))
    images[4, 2, 3] = value
    return images


def zip_of(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def npy(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def garbled(content: bytes, position: int) -> bytes:
    return content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :]


OBJECTS = np.array([None, *"12345"], dtype=object)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "begins with the bytes : an npz file begins with 504b"),
        (npy(IMAGES), "begins with the bytes 934e: an npz file begins with 504b"),
        (b"PK, not packed", "is no npz file of arrays without objects: .*pickle"),
        (npz()[:-30], "is no npz file of arrays without objects: .*not a zip file"),
        (garbled(npz(), 200), "is no npz file of arrays without objects: "),
        (npz(y=OBJECTS), "is no npz file of arrays without objects: Object arrays cannot be"),
        (npz(extra=OBJECTS), "is no npz file of arrays without objects: Object arrays cannot be"),
        (npz(y=None), "has no array y: expected are X, y, classes, found X, classes"),
        (npz(X=None, classes=None), "has no array X nor classes: expected are .*, found y"),
        (zip_of(), "has no array X nor y nor classes: expected are X, y, classes, found none"),
        (zip_of(X=b"1", y=b"1", classes=b"1"), "has no array X nor y nor classes"),
        (npz(classes=np.array([NAMES])), r"has classes of shape \(1, 3\) and type <U1: expected"),
        (
            npz(classes=ARRAYS["y"][:3]),
            r"has classes of shape \(3,\) and type uint8: expected is one",
        ),
        (npz(y=ARRAYS["y"][:5]), r"has y of shape \(5,\) and type uint8, X of shape \(6, 20, 16\)"),
        (npz(y=ARRAYS["y"].astype(float)), r"has y of shape \(6,\) and type float64.*one integer"),
        (npz(y=np.array([0, 0, -1, 1, 3, 2])), r"has the numbers \[-1, 3\] in y: .*which has 3"),
        (npz(X=IMAGES.reshape(6, 320)), r"has images of shape \(320,\): expected is \(20, 16\)"),
        (npz(X=IMAGES.reshape(6, 16, 20)), r"has images of shape \(16, 20\): expected is \(20, "),
        (npz(X=np.uint8(1), y=np.uint8(1)), r"has images of shape \(\): expected is \(20, 16\)"),
        (npz(X=IMAGES.astype(str)), "has pixels of type <U3: expected are numbers"),
        (npz(X=with_pixel(2)), "has the pixel 2: expected are 0 and 1"),
        (npz(X=with_pixel(-1)), "has the pixel -1: expected are 0 and 1"),
        (npz(X=with_pixel(0.5)), "has the pixel 0.5: expected are 0 and 1"),
        (npz(X=with_pixel(np.nan)), "has the pixel nan: expected are 0 and 1"),
        (npz(classes=np.array(["z", "A", "10"])), r"has the classes \['10', 'z'\]: expected are 0"),
        (npz(classes=np.array(["", "A", "Z"])), r"has the classes \[''\]: expected are 0 to 9 and"),
    ],
)
def test_bad_numpy_file(write_alphadigits, content, message):
    home = write_alphadigits("npz", content)
    with pytest.raises(ValueError, match=rf"^binaryalphadigs\.npz {message}"):
        load_alphadigits(data_home=home)


MATLAB_7_3 = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(100)
MIXED = [*IMAGES[:5], IMAGES[5, :19]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no MATLAB file that SciPy reads: .*(truncated|empty)"),
        (b"x" * 200, "is no MATLAB file that SciPy reads: Unknown mat file type"),
        (MATLAB_7_3, "is no MATLAB file that SciPy reads: .*7.3"),
        (mat()[:1000], "is no MATLAB file that SciPy reads: could not read bytes"),
        (garbled(mat(), 128), "is no MATLAB file that SciPy reads: Expecting miMATRIX"),
        (garbled(mat(compressed=True), 200), "is no MATLAB file that SciPy reads: .*decompress"),
        (mat(dat=None), "has no array dat: .*, found classcounts, classlabels, numclasses"),
        (mat(dat=None, classlabels=None), "has no array dat nor classlabels: expected are dat, "),
        (mat(dat=IMAGES), r"has dat of shape \(6, 20, 16\) and type uint8: expected is a cell arr"),
        (mat(dat=IMAGES[0]), r"has dat of shape \(20, 16\) and type uint8: expected is a cell"),
        (mat(dat=cells([], (3, 0))), r"has dat of shape \(3, 0\) and type object: expected is a"),
        (mat(dat=cells(IMAGES, (2, 3))), r"has classlabels of shape \(1, 3\) .* of 2 names, as "),
        (mat(classlabels="7AZ"), r"has classlabels of shape \(1,\) and type <U3: expected is a ce"),
        (mat(dat=cells(MIXED, (3, 2))), r"has images of the shapes \[\(19, 16\), \(20, 16\)\]: ex"),
        (mat(dat=cells(IMAGES[:, 1:], (3, 2))), r"has images of shape \(19, 16\): expected is "),
        (mat(dat=cells(IMAGES.astype(object), (3, 2))), "has pixels of type object: expected are "),
        (mat(dat=cells(with_pixel(255), (3, 2))), "has the pixel 255: expected are 0 and 1"),
        (mat(classlabels=cells(["7", "", "z"], (1, 3))), r"has the classes \['', 'z'\]: expected"),
    ],
)
def test_bad_original(write_alphadigits, content, message):
    home = write_alphadigits("mat", content)
    with pytest.raises(ValueError, match=rf"^binaryalphadigs\.mat {message}"):
        load_alphadigits(data_home=home)


def test_missing_files_say_how_to_get_one(tmp_path):
    message = (
        r"binaryalphadigs\.mat\.gz is not in .*, nor is binaryalphadigs\.mat\. Pass download=True "
        r"to fetch it from https://.*/binaryalphadigs\.mat\. By hand: get binaryalphadigs\.mat from"
        r" Sam Roweis.*binaryalphadigs\.npz made of it will do"
    )
    with pytest.raises(FileNotFoundError, match=message):
        load_alphadigits(data_home=tmp_path)


@pytest.mark.parametrize(("ending", "content"), [("npz", npz()), ("mat", mat())])
def test_other_file_of_that_name_is_refused(tmp_path, ending, content):
    path = tmp_path / f"binaryalphadigs.{ending}"
    path.write_bytes(content)
    message = r"is not the file expected: its SHA-256 is .*get binaryalphadigs\.mat from Sam Roweis"
    with pytest.raises(ValueError, match=message):
        load_alphadigits(data_home=tmp_path, download=True)
    assert path.read_bytes() == content


@pytest.mark.parametrize(("ending", "content"), [("npz", npz()), ("mat", mat())])
def test_other_packed_file_is_told_by_its_content(tmp_path, ending, content):
    (tmp_path / f"binaryalphadigs.{ending}.gz").write_bytes(gzip.compress(content))
    found = hashlib.sha256(content).hexdigest()
    message = f"expected is none in particular; unpacked it is {found}, expected is [0-9a-f]{{64}}"
    with pytest.raises(ValueError, match=message):
        load_alphadigits(data_home=tmp_path)


def test_download(tmp_path, alphadigits_source):
    X, y = load_alphadigits(data_home=tmp_path, download=True)
    np.testing.assert_array_equal(X, IMAGES.reshape(6, 320))
    assert y.tolist() == LABELS
    assert [path.name for path in tmp_path.iterdir()] == ["binaryalphadigs.mat"]
    np.testing.assert_array_equal(load_alphadigits(data_home=tmp_path)[0], X)
    assert alphadigits_source.asked == ["/binaryalphadigs.mat"]


def test_nothing_is_downloaded_if_the_numpy_file_is_there(write_alphadigits, alphadigits_source):
    home = write_alphadigits("npz", npz())
    assert load_alphadigits(data_home=home, download=True)[1].tolist() == LABELS
    assert not alphadigits_source.asked


def test_download_into_the_data_home_of_scikit_learn(alphadigits_source):
    assert load_alphadigits(download=True)[0].shape == (6, 320)
    assert load_alphadigits(download=True)[0].shape == (6, 320)
    assert alphadigits_source.asked == ["/binaryalphadigs.mat"]


def test_changed_file_is_not_taken_for_a_download(tmp_path, alphadigits_source):
    alphadigits_source.pages["/binaryalphadigs.mat"] = mat(dat=cells(IMAGES[::-1], (3, 2)))
    with pytest.raises(ValueError, match="is not the file expected"):
        load_alphadigits(data_home=tmp_path, download=True)
    assert list(tmp_path.iterdir()) == []


def test_failed_download_says_how_to_get_the_file_by_hand(tmp_path, alphadigits_source):
    alphadigits_source.pages.clear()
    message = r"/binaryalphadigs\.mat could not be downloaded .*404.*By hand: get binaryalphadigs"
    with pytest.raises(ConnectionError, match=message):
        load_alphadigits(data_home=tmp_path, download=True)


def test_real_file():
    try:
        X, y = load_alphadigits(data_home=REAL_DATA_HOME)
    except FileNotFoundError:
        pytest.skip("LABELFOLD_DATA names no directory that holds binaryalphadigs.npz or .mat")
    assert X.shape == (1404, 320)
    assert y.tolist() == [name for name in alphadigits.CLASSES for _ in range(39)]
    assert "".join(alphadigits.CLASSES) == "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert X.sum() == 185346
    pixels = hashlib.sha256(X.astype(np.uint8).tobytes()).hexdigest()
    assert pixels == "62abc33842215a61a16a142320f529f93c06b9cf9ddc4c1259e0962baf67ea44"
    np.testing.assert_array_equal(X[y == "0"], X[y == "O"])
    assert len(np.unique(X, axis=0)) == 1363
