"""`labelfold classify --dask`: what it refuses before any work; test_page.py runs it."""

import pytest
from command_line import refused, run

DASK = ("--labels", "kind", "--dask", "local")


@pytest.mark.parametrize(
    "options",
    [
        ("--new", "a.csv"),
        ("--plot", "a.png"),
        ("--folds", "3"),
        ("--save", "a.skops"),
        ("--force",),
    ],
)
def test_options_that_contradict_it(tmp_path, options):
    result = run("classify", tmp_path, *DASK, "-o", tmp_path / "out", *options)
    refused(result, options[0], "does not go with --dask")


def test_a_folder_without_parquet(tmp_path):
    result = run("classify", tmp_path, *DASK, "-o", tmp_path / "out")
    refused(result, str(tmp_path), "no Parquet file")


def test_an_output_that_is_someone_elses(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    (tmp_path / "data").mkdir()
    parquet.write_table(pa.table({"x": [1.0], "kind": ["a"]}), tmp_path / "data" / "a.parquet")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("")
    result = run("classify", tmp_path / "data", *DASK, "-o", tmp_path / "out")
    refused(result, "is not empty")
