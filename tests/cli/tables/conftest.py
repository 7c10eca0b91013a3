from __future__ import annotations

import pytest

from labelfold.cli.tables import TableError, read_table


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file and return its name, relative so that messages are short."""
    monkeypatch.chdir(tmp_path)

    def write_file(content, name="data.csv"):
        raw = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(raw)
        return name

    return write_file


@pytest.fixture
def read(write):
    """Write a file and read it."""

    def read_content(content, name="data.csv", **options):
        return read_table(write(content, name), **options)

    return read_content


@pytest.fixture
def refusal(read):
    """Write a file that must be refused and return the message, which is one line."""

    def refusal_of(content, name="data.csv", **options):
        with pytest.raises(TableError) as caught:
            read(content, name, **options)
        message = str(caught.value)
        assert "\n" not in message
        assert message.endswith((".", "?"))
        assert name in message
        return message

    return refusal_of
