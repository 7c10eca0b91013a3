import struct

import numpy as np
import pytest

from reproductions.data import load_mnist, mnist

IMAGES = np.random.default_rng(0).integers(256, size=(5, 28, 28), dtype=np.uint8)
LABELS = np.array([7, 0, 9, 3, 3], dtype=np.uint8)


def idx(array, *, start=b"\0\0", type_code=8) -> bytes:
    header = struct.pack(f">BB{array.ndim}I", type_code, array.ndim, *array.shape)
    return start + header + array.tobytes()


@pytest.fixture
def write_mnist(tmp_path, monkeypatch, write_data_file):
    def write(subset, images, labels):
        names = mnist.FILES[subset]
        files = mnist.ImageFiles(
            images=write_data_file(names.images.name, idx(images)),
            labels=write_data_file(names.labels.name, idx(labels)),
        )
        monkeypatch.setitem(mnist.FILES, subset, files)
        return tmp_path

    return write


@pytest.mark.parametrize("subset", ["train", "test"])
def test_images_are_rows(write_mnist, subset):
    X, y = load_mnist(subset, data_home=write_mnist(subset, IMAGES, LABELS))
    assert X.dtype == np.uint8
    assert y.dtype == np.int64
    np.testing.assert_array_equal(X, IMAGES.reshape(5, 784))
    np.testing.assert_array_equal(y, LABELS)
    assert X.flags.writeable


def test_directory_from_the_environment(write_mnist, monkeypatch):
    monkeypatch.setenv("LABELFOLD_DATA", str(write_mnist("train", IMAGES, LABELS)))
    assert load_mnist()[0].shape == (5, 784)


def test_unknown_subset():
    with pytest.raises(ValueError, match="subset='all' is unknown: give 'train' or 'test'"):
        load_mnist("all")


def test_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"mnist-train-images.*Get train-images.*LeCun"):
        load_mnist(data_home=tmp_path)


def test_other_file_of_that_name_is_refused(tmp_path, write_data_file):
    write_data_file(mnist.FILES["train"].images.name, idx(IMAGES))
    with pytest.raises(ValueError, match="is not the file expected"):
        load_mnist("train", data_home=tmp_path)
