"""`labelfold.tables.read`: what each format, packing and layout gives, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from labelfold.exceptions import InputError
from labelfold.tables import read
from labelfold.tables.frames import get_column, to_array
from labelfold.tables.source import FORMATS, format_of_name

VECTORS = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
FRAME = pd.DataFrame(
    {
        "id": [f"r{row}" for row in range(6)],
        "size": [1.5, 2.25, None, 4, 1e-300, 0.75],
        "count": [1, 2, 3, 4, 5, 6],
        "flag": [True, False, True, False, True, True],
        "color": ["red", "blue", None, "red", "a,b", 'a "q"'],
        "day": pd.date_range("2024-02-27", periods=6),
        "kind": ["u", None, "v", None, "u", None],
    }
)
LABELS = ["u", None, "v", None, "u", None]


def write(frame, path):
    """Write a table in the format that the name gives."""
    name = path.name.lower()
    if ".csv" in name:
        frame.to_csv(path, index=False)
    elif ".tsv" in name:
        content = frame.to_csv(index=False, sep="\t").encode()
        is_packed = name.endswith(".zst")
        path.write_bytes(pa.compress(content, "zstd", asbytes=True) if is_packed else content)
    elif name.endswith(".parquet"):
        frame.to_parquet(path, index=False)
    elif name.endswith(".feather"):
        frame.to_feather(path)
    elif name.endswith(".arrow"):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        with pa.ipc.new_stream(str(path), table.schema) as stream:
            stream.write_table(table)
    elif name.endswith(".xlsx"):
        frame.to_excel(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True, date_format="iso")
    return path


def text(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def values(table, name):
    return table.features[name].to_pylist()


# Formats


@pytest.mark.parametrize(
    "name",
    [
        *("t.csv", "t.tsv", "t.csv.gz", "t.tsv.zst", "T.CSV"),
        *("t.parquet", "t.feather", "t.arrow", "t.jsonl", "t.jsonl.gz", "t.xlsx"),
    ],
)
def test_a_table_is_the_same_in_every_format(tmp_path, name):
    table = read(write(FRAME, tmp_path / name), labels="kind")
    assert table.labels.tolist() == LABELS
    assert table.ids == FRAME["id"].tolist()
    assert table.notes == ("Rows are named by column 'id'.",)
    assert table.feature_names == ["size", "count", "flag", "color", "day"]
    assert values(table, "size") == [1.5, 2.25, None, 4.0, 1e-300, 0.75]
    assert values(table, "count") == [1, 2, 3, 4, 5, 6]
    assert values(table, "flag") == FRAME["flag"].tolist()
    assert values(table, "color") == ["red", "blue", None, "red", "a,b", 'a "q"']
    assert [str(day)[:10] for day in values(table, "day")] == FRAME["day"].astype(str).tolist()


@pytest.mark.parametrize("kind", ["list", "fixed", "pandas", "polars", "jsonl"])
def test_lists_of_numbers_are_vectors(tmp_path, kind):
    path = tmp_path / "v.parquet"
    column = pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), 4)
    if kind == "pandas":
        pd.DataFrame({"e": list(VECTORS), "kind": LABELS}).to_parquet(path)
    elif kind == "polars":
        pl.DataFrame({"e": VECTORS, "kind": LABELS}).write_parquet(path)
    elif kind == "jsonl":
        path = tmp_path / "v.jsonl"
        rows = zip(VECTORS.tolist(), LABELS, strict=True)
        path.write_text("\n".join(json.dumps({"e": e, "kind": one}) for e, one in rows))
    else:
        column = column if kind == "fixed" else column.cast(pa.list_(pa.float32()))
        pa.parquet.write_table(pa.table({"e": column, "kind": LABELS}), path, row_group_size=4)
    table = read(path, labels="kind")
    assert table.feature_names == ["e"]
    found = to_array(get_column(table.features, "e"))
    np.testing.assert_array_equal(found, VECTORS)
    assert found.dtype == (np.float64 if kind == "jsonl" else np.float32)
    assert table.labels.tolist() == LABELS


def test_a_missing_vector_is_a_row_of_nan(tmp_path):
    path = tmp_path / "v.parquet"
    rows = [None, *VECTORS[1:3].tolist(), None, None, VECTORS[5].tolist()]
    pa.parquet.write_table(pa.table({"e": pa.array(rows, pa.list_(pa.float32()))}), path)
    found = to_array(get_column(read(path).features, "e"))
    np.testing.assert_array_equal(np.isnan(found).all(axis=1), [row is None for row in rows])
    np.testing.assert_array_equal(found[[1, 2, 5]], VECTORS[[1, 2, 5]])


@pytest.mark.parametrize("rows", [[None, None], [[], []], [None, []]])
def test_a_column_without_any_vector_is_empty(tmp_path, rows):
    column = pa.array(rows, pa.list_(pa.float32()))
    pa.parquet.write_table(pa.table({"e": column, "a": [1, 2]}), tmp_path / "v.parquet")
    assert values(read(tmp_path / "v.parquet"), "e") == [None, None]


def test_a_column_that_is_ignored_may_be_malformed(tmp_path):
    path = text(tmp_path, '{"a": 1, "e": [1.5]}\n{"a": 2, "e": [1.5, 2]}\n', "t.jsonl")
    assert values(read(path, ignore=["e"]), "a") == [1, 2]
    with pytest.raises(InputError, match="row 2, column 'e': a vector of 2"):
        read(path)


def test_vectors_beside_a_table(tmp_path):
    path = write(FRAME, tmp_path / "t.csv")
    np.save(tmp_path / "v.npy", VECTORS)
    table = read(path, labels="kind", vectors=tmp_path / "v.npy")
    assert table.feature_names[-1] == "vectors"
    found = to_array(get_column(table.features, "vectors"))
    np.testing.assert_array_equal(found, VECTORS)
    assert found.dtype == np.float32


def test_matrices(tmp_path):
    X = VECTORS.astype(np.float64)
    y = np.array([0, 1, -1, 1, 0, -1])
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X, y=y)
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(X * (X > 0)))
    dump_svmlight_file(X, y, str(tmp_path / "x.svm"), zero_based=False)
    pixels = np.arange(24, dtype=np.uint8).reshape(6, 2, 2)
    header = b"\0\0\x08\x03" + np.array(pixels.shape, dtype=">u4").tobytes()
    text(tmp_path, gzip.compress(header + pixels.tobytes()), "x-idx3-ubyte.gz")
    np.testing.assert_array_equal(read(tmp_path / "x.npy").features, X)
    for name in ("x.npz", "x.svm"):
        table = read(tmp_path / name)
        assert table.labels.tolist() == [0, 1, None, 1, 0, None]
        found = table.features if name == "x.npz" else table.features.toarray()
        np.testing.assert_allclose(found, X, rtol=1e-14)
    np.testing.assert_array_equal(read(tmp_path / "s.npz").features.toarray(), X * (X > 0))
    np.testing.assert_array_equal(read(tmp_path / "x-idx3-ubyte.gz").features, pixels.reshape(6, 4))
    np.testing.assert_array_equal(read(tmp_path / "x.npy", features=["3-4"]).features, X[:, 2:])


def test_labels_of_a_matrix_column(tmp_path):
    np.save(tmp_path / "x.npy", np.column_stack([VECTORS, [0, 1, np.nan, 1, 2, -1]]))
    table = read(tmp_path / "x.npy", labels=-1)
    assert table.labels.tolist() == [0, 1, None, 1, 2, None]
    assert table.n_features == 4


@pytest.mark.parametrize("form", FORMATS)
def test_endings_tell_formats(form):
    for ending in FORMATS[form]:
        assert format_of_name(f"data{ending}") == form
        assert format_of_name(f"DATA{ending}.gz".upper()) == form


def test_the_first_sheet_with_cells_is_read(tmp_path):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as writer:
        for name, frame in {"empty": pd.DataFrame(), "first": FRAME, "second": FRAME[:2]}.items():
            frame.to_excel(writer, sheet_name=name, index=False)
    table = read(tmp_path / "t.xlsx", labels="kind")
    assert table.labels.tolist() == LABELS
    assert table.notes[0] == "Of 2 sheets the first was read, 'first'."


def test_cells_of_a_sheet_are_as_written(tmp_path):
    frame = pd.DataFrame([["007", "n/a", 1.5], ["08", "x", 2], ["09", "none", None]])
    frame.to_excel(tmp_path / "t.xlsx", index=False, header=False)
    table = read(tmp_path / "t.xlsx", header=False, id_column=1)
    assert table.ids == ["007", "08", "09"]
    assert values(table, "column 2") == ["n/a", "x", "none"]
    assert values(table, "column 3") == [1.5, 2, None]


def test_content_gives_the_format_where_the_name_does_not(tmp_path):
    for name in ("t.csv", "t.parquet", "t.feather", "t.arrow", "t.jsonl", "t.xlsx"):
        path = write(FRAME, tmp_path / name)
        other = path.rename(tmp_path / "data")
        assert read(other, labels="kind").labels.tolist() == LABELS
    assert read(text(tmp_path, "1 3:0.5\n0 1:2\n", "points")).labels.tolist() == [1, 0]


# Text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks(tmp_path, end, mark):
    lines = [f"{mark}a,b", "", "1,x", "2,y", ""]
    table = read(text(tmp_path, end.join(lines)))
    assert (values(table, "a"), values(table, "b")) == ([1, 2], ["x", "y"])


def test_semicolons_and_decimal_commas(tmp_path):
    table = read(text(tmp_path, 'a;b;"c, d"\n1,5;x, y;7\n-,25;z;8\n2e-3;;9\n'))
    assert values(table, "a") == [1.5, -0.25, 0.002]
    assert values(table, "b") == ["x, y", "z", None]
    assert values(table, "c, d") == [7, 8, 9]
    assert table.notes == ("Numbers have decimal commas.",)


def test_numbers_between_spaces(tmp_path):
    np.savetxt(tmp_path / "x.txt", VECTORS)
    np.testing.assert_array_equal(read(tmp_path / "x.txt").features, VECTORS)
    names = values(read(text(tmp_path, "full name\nAnn Lee\nJo Day 2\nAl 3\n")), "full name")
    assert names == ["Ann Lee", "Jo Day 2", "Al 3"]


def test_cells_of_several_lines_and_quotes(tmp_path):
    table = read(text(tmp_path, 'a,b\n1,"x\n""y"", z"\n2,w\n'))
    assert values(table, "b") == ['x\n"y", z', "w"]


@pytest.mark.parametrize("cell", ["", "NA", "N/A", "NaN", "nan", "null", "?", "None"])
def test_missing_cells(tmp_path, cell):
    table = read(text(tmp_path, f"a,b\n1,x\n{cell},{cell}\n3,y\n"))
    assert values(table, "a") == [1, None, 3]
    assert values(table, "b") == ["x", None, "y"]


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        ("a,b,c", True),
        ("1,2,3.5", False),
        ("0,1,2", True),  # as pandas names columns without a name
        ("x,2019,2020", True),  # a word above numbers
        ("400,410,420", False),
        (",b,c", True),
    ],
)
def test_a_first_line_is_a_header_or_data(tmp_path, first, is_header):
    path = text(tmp_path, f"{first}\n5,6.5,7\n8,9,1\n")
    table = read(path)
    assert table.n_rows == (2 if is_header else 3)
    assert table.has_names == is_header


def test_numbers_are_exact(tmp_path):
    numbers = np.random.default_rng(0).standard_normal(1000) * 10.0 ** np.arange(-100, 100, 0.2)
    table = read(text(tmp_path, "a,b\n" + "".join(f"{x!r},{-x!r}\n" for x in numbers.tolist())))
    np.testing.assert_array_equal(table.features["a"], numbers)


def test_a_row_like_the_others_is_data(tmp_path):
    path = text(tmp_path, "alice,10,20,30\nbob,11,25,28\ncarol,9,21,31\n")
    table = read(path)
    assert values(table, "column 1") == ["alice", "bob", "carol"]
    assert table.notes == ("Line 1 was taken for data: pass --header if it names the columns.",)
    assert read(path, header=True).feature_names == ["alice", "10", "20", "30"]
    assert read(path, features=["alice"]).n_rows == 2
    assert read(text(tmp_path, "red,no\nblue,yes\nred,no\n")).n_rows == 3
    assert read(text(tmp_path, "color,old\nblue,yes\nred,no\n")).n_rows == 2


def test_types_may_change_far_below(tmp_path):
    """The type of a column is that of all of its cells, and not of the first block."""
    lines = ["a,b", *["1,2"] * 600_000, "2.5,text"]
    table = read(text(tmp_path, "\n".join(lines)))
    assert str(table.features["a"].type) == "double"
    assert table.features["b"][-1].as_py() == "text"


def test_a_row_that_ends_far_below_is_refused_by_line(tmp_path):
    lines = ["a,b", *["1,2"] * 600_000, "1,2,3", *["1,2"] * 1000]
    with pytest.raises(InputError, match=r"data.csv: line 600002 has 3 cells"):
        read(text(tmp_path, "\n".join(lines)))


# Rows and columns


def test_a_column_without_a_name_names_the_rows(tmp_path):
    table = read(text(tmp_path, ",a\nx,1\ny,2\n"))
    assert (table.ids, table.feature_names) == (["x", "y"], ["a"])
    frame = FRAME.set_index(pd.Index(list("abcdef")))
    frame.to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").ids == list("abcdef")


def test_an_id_that_repeats_is_a_column(tmp_path):
    table = read(text(tmp_path, "id,a\n007,1\n007,2\n"))
    assert (table.ids, table.feature_names) == (None, ["id", "a"])
    assert read(text(tmp_path, "a,n\n1,007\n2,08\n"), id_column="n").ids == ["007", "08"]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"features": ["p*"]}, ["p1", "p2"]),
        ({"features": ["z", "p1"]}, ["z", "p1"]),
        ({"features": [2, "3-4"]}, ["p1", "p2", "q"]),
        ({"features": [-2]}, ["q"]),
        ({"ignore": ["p*", "z"]}, ["q"]),
        ({"id_column": "q"}, ["z", "p1", "p2"]),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl", "t.xlsx"])
def test_columns_are_chosen(tmp_path, options, names, name):
    frame = pd.DataFrame({c: [1.5, 2.5] for c in ["z", "p1", "p2", "q"]} | {"kind": ["u", "v"]})
    table = read(write(frame, tmp_path / name), labels="kind", **options)
    assert table.feature_names == names


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": "kin"}, "did you mean 'kind'"),
        ({"labels": "p*"}, "names 2 columns"),
        ({"labels": 9}, "no such column among 4"),
        ({"labels": "kind", "features": ["kind"]}, "a feature or row name too"),
        ({"labels": "kind", "id_column": "kind"}, "a feature or row name too"),
        ({"ignore": ["*"]}, "no column is left"),
        ({"features": ["nothing like it"]}, "choose from 'p1', 'p2', 'z', 'kind'"),
        ({"format": "xml"}, "--format xml is unknown"),
        ({"format": "parquet"}, "damaged or incomplete"),
    ],
)
def test_wishes_that_cannot_be_met(tmp_path, options, words):
    path = text(tmp_path, "p1,p2,z,kind\n1,2,3,u\n4,5,6,v\n")
    with pytest.raises(InputError, match=words.replace("*", r"\*")):
        read(path, **options)


# Labels


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2", ""], [1, 2, None]),
        (["3", "-1", "5"], [3, None, 5]),
        (["1.0", "2", "?"], [1, 2, None]),
        (["007", "7", "NA"], ["007", "7", None]),
        (["True", "False", "null"], ["True", "False", None]),
        ([" a ", "none", "a"], ["a", "none", "a"]),
    ],
)
def test_labels_of_text(tmp_path, cells, expected):
    path = text(tmp_path, "a,kind\n" + "".join(f"{i},{c}\n" for i, c in enumerate(cells)))
    found = read(path, labels="kind").labels
    assert found.tolist() == expected
    assert [type(one) for one in found] == [type(one) for one in expected]


@pytest.mark.parametrize("kind", ["csv", "header", "npy", "parquet", "idx"])
def test_labels_in_a_file_of_their_own(tmp_path, kind):
    path = write(FRAME.drop(columns="kind"), tmp_path / "t.csv")
    labels, given = tmp_path / f"y.{kind}", [1, 0, 2, 1, 0, 2]
    if kind == "npy":
        np.save(labels, given)
    elif kind == "parquet":
        pd.DataFrame({"y": given}).to_parquet(labels)
    elif kind == "idx":
        labels.write_bytes(b"\0\0\x08\x01\0\0\0\x06" + bytes(given))
    else:
        head = ["label"] if kind == "header" else []
        labels = text(tmp_path, "\n".join([*head, *map(str, given)]), "y.csv")
    assert read(path, labels_file=labels).labels.tolist() == given


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1", "-1"], "just -1 and"),
        (["u", "-1"], "-1"),
        (["0.5", "1.5"], "must be classes"),
    ],
)
def test_labels_that_can_be_read_in_two_ways(tmp_path, cells, words):
    path = text(tmp_path, f"a,kind\n1,{cells[0]}\n2,{cells[1]}\n")
    with pytest.raises(InputError, match=rf"data.csv: column 'kind': .*{words}"):
        read(path, labels="kind")


def test_labels_are_single_values(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "kind": [[1.5], [2.5]], "day": FRAME["day"][:2]})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"column 'kind': labels of type .*list"):
        read(tmp_path / "t.parquet", labels="kind")
    with pytest.raises(InputError, match="column 'day': labels of type timestamp"):
        read(tmp_path / "t.parquet", labels="day")


# Several files, and where bytes come from


def test_several_files_are_one_table(tmp_path):
    paths = [
        write(FRAME[:2], tmp_path / "a.csv"),
        write(FRAME[2:4], tmp_path / "b.parquet"),
        write(FRAME[["kind", *FRAME.columns[:-1]]][4:], tmp_path / "c.csv.gz"),
    ]
    table = read(paths, labels="kind")
    assert table.labels.tolist() == LABELS
    assert table.ids == FRAME["id"].tolist()
    assert values(table, "size") == [1.5, 2.25, None, 4.0, 1e-300, 0.75]
    assert table.origin == f"{paths[0]} and 2 more"
    assert read(str(tmp_path / "*.csv*"), labels="kind").ids == ["r0", "r1", "r4", "r5"]
    for none in (tmp_path / "*.tsv", [paths[0], tmp_path / "*.tsv"]):
        with pytest.raises(InputError, match=r"\*.tsv: no file has such a name"):
            read(none)


def test_numbers_here_and_text_there_are_text(tmp_path):
    paths = [text(tmp_path, "a\n1\n2\n", "1.csv"), text(tmp_path, "a\nx\ny\n", "2.csv")]
    assert values(read(paths), "a") == ["1", "2", "x", "y"]


def test_vectors_of_several_formats_are_joined(tmp_path):
    first, second, third = (tmp_path / name for name in ("1.parquet", "2.jsonl", "3.jsonl"))
    pa.parquet.write_table(pa.table({"e": list(VECTORS[:2])}), first)
    second.write_text("".join(json.dumps({"e": row}) + "\n" for row in VECTORS[2:].tolist()))
    found = to_array(get_column(read([first, second]).features, "e"))
    np.testing.assert_array_equal(found, VECTORS)
    for cell, words in {
        "[1.5, 2]": "row 3, column 'e': a vector of 2",
        "1": "'e' of vectors",
    }.items():
        third.write_text(f'{{"e": {cell}}}\n')
        with pytest.raises(InputError, match=words):
            read([first, third])


def test_labels_of_several_files_are_read_together(tmp_path):
    # The first file alone could be of two classes, and has integers where the second has text.
    paths = [text(tmp_path, "a,kind\n1,1\n2,-1\n", "1.csv")]
    paths.append(text(tmp_path, "kind,a\n0,3\n1,4\n", "2.csv"))
    assert read(paths, labels="kind").labels.tolist() == [1, None, 0, 1]
    paths[1] = text(tmp_path, "kind,a\nx,3\n1,4\n", "2.csv")
    with pytest.raises(InputError, match="-1"):
        read(paths, labels="kind")


def test_places_in_several_files(tmp_path):
    paths = [text(tmp_path, "a\n1.5\n2\n", "1.csv"), text(tmp_path, "a\n1\ninf\n", "2.csv")]
    with pytest.raises(InputError, match=r"2.csv: line 3, column 'a': infinite value"):
        read(paths)


def test_several_matrices(tmp_path):
    np.save(tmp_path / "1.npy", VECTORS[:2])
    np.save(tmp_path / "2.npy", VECTORS[2:])
    np.save(tmp_path / "3.npy", VECTORS[:, 1:])
    np.testing.assert_array_equal(read(str(tmp_path / "[12].npy")).features, VECTORS)
    with pytest.raises(InputError, match=r"3.npy: not the columns of .*1.npy \(3 columns"):
        read(str(tmp_path / "*.npy"))


def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = gzip.compress(b"a,b\n1,2\n")
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert read(pipe).feature_names == ["a", "b"]
    writer.join()


def test_more_than_the_limit_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("labelfold.tables.source.available_memory", lambda: 200_000)
    path = text(tmp_path, gzip.compress(b"a,b\n" + b"1,2\n" * 10**6), "bomb.csv.gz")
    with pytest.raises(InputError, match="more than 100,000 bytes, half of memory: unpack it"):
        read(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x89PNG\r\n", "line 1 is not UTF-8"),
        (b"\xd0\xcf\x11\xe0\0\0", "binary data"),
        (gzip.compress(gzip.compress(b"a,b\n", mtime=0), mtime=0), "binary data"),
        (b"PAR1\0", "damaged or incomplete"),
        (b"\xff\xfea\0", "text in UTF-8"),
    ],
)
def test_files_of_other_kinds_are_refused(tmp_path, content, words):
    with pytest.raises(InputError, match=words):
        read(text(tmp_path, content))


@pytest.mark.parametrize(("name", "words"), [(".", "Is a directory"), ("none.csv", "No such file")])
def test_names_of_no_file(tmp_path, name, words):
    with pytest.raises(InputError, match=words):
        read(tmp_path / name)
