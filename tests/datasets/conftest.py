import gzip
import hashlib

import pytest

from labelfold.datasets.files import DataFile


@pytest.fixture
def write_data_file(tmp_path):
    """Write a gzip file of the given content to tmp_path, and return what recognises it."""

    def write(name: str, content: bytes) -> DataFile:
        packed = gzip.compress(content)
        (tmp_path / name).write_bytes(packed)
        return DataFile(
            name=name,
            sha256=hashlib.sha256(packed).hexdigest(),
            content_sha256=hashlib.sha256(content).hexdigest(),
            origin="Written by a test.",
        )

    return write
