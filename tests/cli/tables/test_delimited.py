from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from labelfold.cli.tables import delimited
from labelfold.cli.tables.cells import kind_of

SMALL = "a,b,kind\n1,2.5,cat\n-3,4e2,\n"


def test_header_numbers_and_labels(read):
    table = read(SMALL, labels="kind")
    np.testing.assert_array_equal(table.X, [[1, 2.5], [-3, 400]])
    assert table.X.dtype == np.float64
    assert table.feature_names == ["a", "b"]
    assert table.labels.tolist() == ["cat", None]
    assert table.row_ids is None
    assert table.origin == "data.csv"
    assert (table.n_rows, table.n_features, table.n_labeled) == (2, 2, 1)
    assert table.class_counts == {"cat": 1}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_delimiters_line_ends_and_byte_order_mark(read, delimiter, end, mark):
    text = mark + end.join(delimiter.join(row.split(",")) for row in SMALL.splitlines())
    table = read(text, labels="kind")
    np.testing.assert_array_equal(table.X, [[1, 2.5], [-3, 400]])
    assert table.feature_names == ["a", "b"]


def test_line_ends_may_be_mixed(read):
    np.testing.assert_array_equal(read("1,2\n3,4\r5,6\r7,8\n").X, [[1, 2], [3, 4], [5, 6], [7, 8]])


def test_tsv_takes_tabs_only(read):
    table = read("a\tb;c\n1\t2\n", "data.tsv")
    assert table.feature_names == ["a", "b;c"]


def test_semicolons_win_over_commas_in_cells(refusal):
    message = refusal("1,5;2,5\n2,5;3,5\n")
    assert "line 2, column '1,5': '2,5' seems to have a decimal comma" in message


def test_blank_lines_are_skipped_and_still_counted_in_line_numbers(read, refusal):
    np.testing.assert_array_equal(read("a,b\n\n1,2\n\n3,4\n\n").X, [[1, 2], [3, 4]])
    assert "line 5, column 'b'" in refusal("a,b\n\n1,2\n\n3,x\n")


def test_cells_may_have_quotes_and_blanks(read):
    table = read('"a", b ,"say ""c"""\n"1", 2 ,x\n 3,"4",y\n', ignore=['say "c"'])
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.feature_names == ["a", "b"]


def test_ignored_text_may_run_over_lines_and_separators(read):
    rows = [[i, f'line one,\nline "two" {i}', i / 7] for i in range(5000)]
    stream = io.StringIO()
    csv.writer(stream).writerows([["a", "note", "b"], *rows])
    table = read(stream.getvalue(), ignore=["note"])
    np.testing.assert_array_equal(table.X, [[row[0], row[2]] for row in rows])


def test_lines_are_counted_through_cells_that_run_over_lines(refusal):
    text = 'a,note\n1,"x\ny"\n2,z\nq,w\n'
    assert "line 5, column 'a': 'q'" in refusal(text, ignore=["note"])


def test_quote_without_end_is_refused_even_in_an_ignored_column(refusal):
    for n_rows in (1, 3000):
        text = "a,note\n" + "1,x\n" * n_rows + '2,"y\n3,z\n'
        assert f"begins in line {n_rows + 2} " in refusal(text, ignore=["note"])


@pytest.mark.parametrize("n_rows", [1, 1999, 2000, 2001, 4000])
def test_rows_at_the_borders_of_blocks(read, n_rows):
    assert delimited.ROWS_AT_ONCE == 2000
    X = np.arange(3.0 * n_rows).reshape(n_rows, 3) / 7
    text = "a,b,c,y\n" + "".join(
        f"{x!r},{y!r},{z!r},k{i % 3}\n" for i, (x, y, z) in enumerate(X.tolist())
    )
    table = read(text, labels="y")
    np.testing.assert_array_equal(table.X, X)
    assert table.labels.tolist() == [f"k{i % 3}" for i in range(n_rows)]


@pytest.mark.parametrize("n_rows", [10, 2000, 2001])
def test_row_of_another_length_is_named_by_line(refusal, n_rows):
    rows = "1,2\n" * n_rows
    for bad, n_cells in (("1,2,3", 3), ("1", 1), ("1,2,", 3)):
        message = refusal(f"a,b\n{rows}{bad}\n{rows}")
        assert f"line {n_rows + 2} has {n_cells} cells" in message
        assert "the header has 2" in message


def test_wide_tables_are_read_in_smaller_blocks(read, monkeypatch):
    monkeypatch.setattr(delimited, "CELLS_AT_ONCE", 10)
    X = np.arange(28.0).reshape(7, 4)
    for n_columns in (1, 2, 4):
        text = "\n".join(",".join(map(repr, row)) for row in X[:, :n_columns].tolist())
        np.testing.assert_array_equal(read(text, header=False).X, X[:, :n_columns])
    monkeypatch.setattr(delimited, "CELLS_AT_ONCE", 1)
    np.testing.assert_array_equal(read(text, header=False).X, X)


def test_block_of_rows_of_another_length_is_named_by_line(refusal):
    text = "a,b\n" + "1,2\n" * delimited.ROWS_AT_ONCE
    assert "line 2002 has 3 cells" in refusal(text + "1,2,3\n" * 5)


def test_truth_values_are_zero_and_one(read):
    np.testing.assert_array_equal(
        read("a,b\n1,True\n2,FALSE\n3,true\n").X, [[1, 1], [2, 0], [3, 1]]
    )


def test_truth_value_after_the_sample_among_numbers_is_refused(refusal):
    text = "a,b\n" + "1,2\n" * 150 + "3,true\n"
    assert "line 152, column 'b': 'true' is not a number" in refusal(text)
    text = "a,b\n" + "1,true\n" * 150 + "3,1\n"
    assert "line 152, column 'b': '1' is neither true nor false" in refusal(text)


class TestMissing:
    @pytest.mark.parametrize("cell", ["", "NA", "nan", "NaN", "null", "None", "?", " ", "#N/A"])
    def test_is_named_by_line_and_column_and_counted(self, refusal, cell):
        message = refusal(f"a,b\n1,2\n3,{cell}\n{cell},5\n6,{cell}\n")
        assert "line 3, column 'b': the first of 3 missing values, in 2 columns" in message
        assert "--ignore b" in message

    def test_one_without_header(self, refusal):
        message = refusal("1,2\n3,nan\n")
        assert "line 2, column 2: a missing value:" in message
        assert "--ignore 2" in message

    def test_column_without_any_value(self, refusal):
        message = refusal("a,b\n1,\n3,\n")
        assert "the first of 2 missing values, in 1 column:" in message
        assert "pass --labels b if it holds the labels" in message


class TestText:
    def test_column_is_named_with_example_and_ways_out(self, refusal):
        message = refusal("a,city,land\n1,Oslo,NO\n2,Rome,IT\n")
        assert "column 'city' holds text, such as 'Oslo' in line 2" in message
        assert "also text: column 'land'" in message
        assert "--ignore city --ignore land" in message
        assert "pass --labels city" in message
        assert "encode" in message

    def test_stray_cell_in_the_sample_and_beyond(self, refusal):
        for n_rows in (20, 3000):
            message = refusal("a,b\n" + "1,2\n" * n_rows + "3,oops\n")
            assert f"line {n_rows + 2}, column 'b': 'oops' is not a number" in message

    @pytest.mark.parametrize("cell", ["1_000", "0x10", "1d5", "1 2", "1j", "١", "12%", "--1"])
    def test_near_numbers(self, refusal, cell):
        for n_rows in (2, 150):
            message = refusal("a,b\n" + "1,2\n" * n_rows + f"3,{cell}\n")
            assert f"line {n_rows + 2}, column 'b': {cell!r}" in message

    def test_label_is_not_suggested_twice(self, refusal):
        assert "--labels" not in refusal("a,c,y\n1,Oslo,0\n2,Rome,1\n", labels="y")

    @pytest.mark.parametrize("date", ["2024-01-31", "31/01/2024", "31.1.2024", "12:30"])
    def test_dates(self, refusal, date):
        assert "turn dates and times into numbers" in refusal(f"a,d\n1,{date}\n2,{date}\n")

    def test_unwieldy_names_are_replaced_by_numbers(self, refusal):
        message = refusal('a,"b\nc",' + "d" * 1000 + "\n1,x,y\n2,z,w\n")
        assert "--ignore 2 --ignore 3" in message
        assert len(message) < 400
        assert len(refusal("a,b\n1,2\n1,2\n3," + "x" * 10_000 + "\n")) < 400

    def test_long_cells_take_no_time(self):
        assert kind_of("1" * 200_000 + "x") == "text"


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "INF", "1e153", "-1e200", "1e999"])
def test_values_out_of_reach(refusal, cell):
    kind = "infinite" if "i" in cell.lower() else "huge"
    assert f"line 3, column 'b': {kind} value {cell!r}: " in refusal(f"a,b\n1,2\n3,{cell}\n")


def test_largest_and_least_values_pass(read):
    np.testing.assert_array_equal(read("a,b\n1e152,-1e152\n1e-300,5e-324\n").X[0], [1e152, -1e152])


class TestHeader:
    def test_none(self, read):
        table = read("1,2\n3,4\n")
        assert table.feature_names is None
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
        np.testing.assert_array_equal(read("1,2\n").X, [[1, 2]])

    def test_is_seen_beside_text_columns(self, read):
        assert read("a,kind\n1,x\n2,y\n", labels="kind").feature_names == ["a"]

    def test_without_header_text_labels_by_number(self, read):
        table = read("1,2,x\n3,4,y\n", labels=-1)
        assert table.labels.tolist() == ["x", "y"]
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])

    @pytest.mark.parametrize("names", ["0,1,2", "400.5,401,401.5", "1990,1991,1992"])
    def test_names_in_even_steps(self, read, names):
        table = read(f"{names},y\n5,1,8,0\n2,2,2,1\n", labels="y")
        assert table.feature_names == names.split(",")

    def test_name_that_is_used_decides(self, read):
        text = "5,x,9\n1,2,3\n4,5,6\n"
        assert read(text, labels="x").feature_names == ["5", "9"]
        assert read(text, ignore=["x"]).feature_names == ["5", "9"]

    def test_counting_numbers_are_either(self, refusal, read):
        text = "0,1,2\n5.5,6,7\n8,9,10\n"
        assert "--header or --no-header" in refusal(text)
        assert read(text, header=True).feature_names == ["0", "1", "2"]
        assert read(text, header=False).n_rows == 3

    def test_first_column_without_name_holds_row_names(self, read):
        table = read(",a,b\nr1,1,2\nr2,3,4\n")
        assert table.row_ids == ["r1", "r2"]
        assert table.feature_names == ["a", "b"]
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])


class TestEncoding:
    def test_other_than_utf8_is_named_by_line(self, refusal):
        message = refusal("a,b\n1,2\n3,é\n".encode("latin-1"))
        assert "line 3 is not UTF-8 (byte 0xe9)" in message
        assert "iconv -f WINDOWS-1252 -t UTF-8" in message

    def test_beyond_the_sample(self, refusal):
        text = b"a,b\n" + b"1,2\n" * 5000 + b"\xff,3\n"
        assert "line 5002 is not UTF-8" in refusal(text)

    def test_names_and_labels_in_utf8(self, read):
        table = read("größe,клас\n1,да\n2,нет\n", labels="клас")
        assert table.feature_names == ["größe"]
        assert table.labels.tolist() == ["да", "нет"]


def test_reading_leaves_no_warning(read, recwarn):
    read("a,b\n\n1,2\n\n" + "1,2\n" * 1999)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ('a,b\n1,2\n"3"4,5\n', {}, "begins in line 3"),
        ("a,b,c\n1,2,x\n3,4,y,z\n", {"features": ["a"]}, "line 3 has 4 cells"),
        ("a,b\n1,0\n2,true\n", {}, "line 3, column 'b': 'true' is not a number"),
        ("a,b\n1,true\n2,0\n", {}, "line 2, column 'b': 'true' is not a number"),
        ("a,b\n" + "1,2\n" * 5000 + "nan,3\n", {}, "line 5002, column 'a'"),
        ("1 2 3\n4 5 6\n", {}, "separate them by commas"),
        ("5,x,9\n1,2,3\n4,5,6\n", {}, "--header or --no-header"),
        ("1,NA\n3,4\n5,6\n", {}, "line 1, column 2: a missing value"),
        ("a,b,a\n1,2,3\n", {}, "columns 1, 3 are all named 'a'"),
        ("a,b,a,b\n1,2,3,4\n", {}, "2 such names"),
        ("x,y\n1,2\n3,4\n", {"header": False}, "line 1, column 1: 'x'"),
        ("a,b\n" + "1,2\n" * 5000 + "\0,3\n", {}, "binary data"),
    ],
)
def test_refusals(refusal, content, options, words):
    assert words in refusal(content, **options)
