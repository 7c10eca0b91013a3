import struct

import numpy as np
import pytest

from labelfold.datasets import load_mnist, mnist
from labelfold.datasets.mnist import parse_idx

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


def test_numbers_of_images_and_labels_must_agree(write_mnist):
    home = write_mnist("test", IMAGES, LABELS[:4])
    with pytest.raises(ValueError, match=r"has 5 images, .* 4 labels: the two files do not"):
        load_mnist("test", data_home=home)


def test_images_must_have_their_size(write_mnist):
    home = write_mnist("test", IMAGES[:, :20], LABELS)
    with pytest.raises(ValueError, match=r"images of shape \(20, 28\): expected is \(28, 28\)"):
        load_mnist("test", data_home=home)


def test_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"mnist-train-images.*Get train-images.*LeCun"):
        load_mnist(data_home=tmp_path)


def test_other_file_of_that_name_is_refused(tmp_path, write_data_file):
    write_data_file(mnist.FILES["train"].images.name, idx(IMAGES))
    with pytest.raises(ValueError, match="is not the file expected"):
        load_mnist("train", data_home=tmp_path)


@pytest.mark.parametrize("shape", [(4,), (3, 2), (2, 3, 4), (0,), (0, 28, 28)])
def test_parse_idx_restores_any_array(shape):
    array = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    parsed = parse_idx(idx(array), n_dimensions=len(shape), name="a")
    np.testing.assert_array_equal(parsed, array)
    assert parsed.shape == shape


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "digits has 0 bytes: its header alone needs 8"),
        (idx(LABELS)[:6], "digits has 6 bytes: its header alone needs 8"),
        (idx(LABELS, start=b"\x1f\x8b"), "begins with the bytes 1f8b: an idx file begins with 00"),
        (idx(LABELS, type_code=0x0D), "idx type 0x0d: expected are unsigned bytes, 0x08"),
        (idx(IMAGES), "has 3 dimensions: expected are 1"),
        (idx(LABELS)[:-1], r"has 4 values: its header announces 5, of shape \[5\]"),
        (idx(LABELS) + b"\0", r"has 6 values: its header announces 5, of shape \[5\]"),
    ],
)
def test_parse_idx_refuses_other_content(content, message):
    with pytest.raises(ValueError, match=message):
        parse_idx(content, n_dimensions=1, name="digits")
