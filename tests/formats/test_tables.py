"""Tables for other programs: every format holds what it was given, and no cell runs."""

import csv
import datetime
import gzip
import io
import json
import logging
import math
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from funnelling import InputError
from funnelling.formats.reader import Spool
from funnelling.formats.tables import ending_of, write_table

HOSTILE = [
    "=1+1",
    '=HYPERLINK("http://example.org","x")',
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "http://example.org",
    "007",
    "a,b;c\td",
    'quote " and\nline',
    "città 漢字 🐈",
]
DAY = datetime.date(2024, 2, 29)
TABLES = ("csv", "tsv", "csv.gz", "xlsx", "parquet")


def written(folder: Path, ending: str, rows: Any, **options: Any) -> Path:
    path = folder / f"table.{ending}"
    write_table(path, rows, force=True, **options)
    return path


def cells(path: Path) -> list[list[Any]]:
    """The header and the rows of a CSV, TSV or Excel file."""
    if path.suffix == ".xlsx":
        return [list(row) for row in load_workbook(path).worksheets[0].iter_rows(values_only=True)]
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    delimiter = "\t" if ".tsv" in path.name else ","
    return list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=delimiter))


class TestColumns:
    @pytest.mark.parametrize("ending", TABLES[:-1])
    def test_all_that_occur_in_any_row(self, ending: str, tmp_path: Path) -> None:
        rows = [{"a": 1, "last": "x"}, {"b": "2", "a": 3}]
        header, first, second = cells(written(tmp_path, ending, rows, last={"last": "text", "never": "text"}))
        assert header == ["a", "b", "last", "never"]
        empty = None if ending == "xlsx" else ""
        assert first == [1 if ending == "xlsx" else "1", empty, "x", empty]
        assert second == [3 if ending == "xlsx" else "3", "2", empty, empty]

    @pytest.mark.parametrize("ending", TABLES)
    def test_without_rows(self, ending: str, tmp_path: Path) -> None:
        path = written(tmp_path, ending, [], last={"labels": "list", "probability": "number"})
        names = pq.read_schema(path).names if ending == "parquet" else cells(path)[0]
        assert names == ["labels", "probability"]

    def test_many_rows_are_set_aside_on_disk(self, tmp_path: Path) -> None:
        rows = [{"text": "x" * 10_000, f"column {i // 1_000}": i} for i in range(3_000)]
        with Spool(iter(rows), str(tmp_path)) as spool:
            assert (len(spool), spool.columns) == (3_000, ["text", "column 0", "column 1", "column 2"])
            assert list(spool) == rows == list(spool)
        assert list(tmp_path.iterdir()) == []


class TestDelimited:
    @pytest.mark.parametrize("ending", TABLES[:3])
    def test_no_cell_is_a_formula(self, ending: str, tmp_path: Path) -> None:
        rows = [{"=name": cell} for cell in HOSTILE]
        (name,), *found = cells(written(tmp_path, ending, rows))
        assert name == "'=name"
        assert [cell.removeprefix("'") for (cell,) in found] == HOSTILE
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for (cell,) in found)

    def test_numbers_stay_numbers(self, tmp_path: Path) -> None:
        values: list[Any] = [-1, -0.5, 1e-7, 10**30, "-3", "+4.5", "-1e5", Decimal("-1.10"), True]
        _, *found = cells(written(tmp_path, "csv", [{"x": value} for value in values]))
        assert [cell for (cell,) in found] == [
            *("-1", "-0.5", "1e-07", str(10**30), "-3", "+4.5", "-1e5", "-1.10", "true")
        ]

    def test_lists_and_objects_are_json(self, tmp_path: Path) -> None:
        row = {"list": ["a", "ü"], "object": {"k": [1, None]}}
        _, found = cells(written(tmp_path, "csv", [row]))
        assert [json.loads(cell) for cell in found] == list(row.values())

    def test_what_text_cannot_hold_is_replaced(self, tmp_path: Path) -> None:
        row = {"a": "x\0y", "b": "\ud800", "c": math.nan, "d": b"\xff"}
        _, found = cells(written(tmp_path, "csv", [row]))
        assert found == ["x\ufffdy", "\ufffd", "", "\\xff"]

    def test_equal_rows_are_equal_bytes(self, tmp_path: Path) -> None:
        for ending in TABLES:
            first = written(tmp_path, ending, [{"a": 1, "b": "x"}]).read_bytes()
            assert written(tmp_path, ending, [{"a": 1, "b": "x"}]).read_bytes() == first


class TestSpreadsheets:
    def test_no_cell_is_a_formula_a_link_or_a_guess(self, tmp_path: Path) -> None:
        path = written(tmp_path, "xlsx", [{"=name": cell} for cell in HOSTILE])
        assert cells(path) == [["=name"], *([cell.replace("\r", "\n")] for cell in HOSTILE)]
        with zipfile.ZipFile(path) as parts:
            sheet = parts.read("xl/worksheets/sheet1.xml").decode()
            assert "<f>" not in sheet
            assert "hyperlink" not in sheet.replace("HYPERLINK", "")
            assert not [name for name in parts.namelist() if "rels" in name and "sheet" in name]

    def test_values_keep_their_kind(self, tmp_path: Path) -> None:
        moment = datetime.datetime(2024, 2, 29, 12, 30)
        values: list[Any] = [
            7,
            -0.5,
            True,
            "7",
            DAY,
            moment,
            10**18,
            float("inf"),
            datetime.date(1066, 10, 14),
        ]
        _, *found = cells(written(tmp_path, "xlsx", [{"x": value} for value in values]))
        expected = [7, -0.5, True, "7", datetime.datetime(2024, 2, 29), moment]
        assert [cell for (cell,) in found] == [*expected, str(10**18), "inf", "1066-10-14"]

    @pytest.mark.parametrize("character", ["x", "🐈"])
    def test_long_cells_are_cut_and_counted(
        self, character: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        whole = character * (32_767 if character == "x" else 16_383)
        with caplog.at_level(logging.INFO, "funnelling"):
            path = written(tmp_path, "xlsx", [{"a": whole}, {"a": whole + "yy"}, {"a": whole * 2}])
        _, (first,), (second,), (third,) = cells(path)
        assert first == whole
        assert second == third
        assert second.endswith("…")
        assert len(second.encode("utf-16-le")) <= 2 * 32_767
        assert "2 cells longer than the 32,767 characters" in caplog.text

    def test_control_characters_do_not_break_the_file(self, tmp_path: Path) -> None:
        path = written(tmp_path, "xlsx", [{"a": "x\0\x01\x1fy\ufffe\ud800\r\n\rz"}])
        assert cells(path) == [["a"], ["x\ufffd\ufffd\ufffdy\ufffd\ufffd\n\nz"]]

    def test_more_rows_than_a_sheet_holds(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("funnelling.formats.tables.MAX_ROWS", 4)
        written(tmp_path, "xlsx", [{"a": 1}] * 3)
        with pytest.raises(InputError, match=r"holds 3 rows, and there are more\. Choose .*\.csv"):
            written(tmp_path, "xlsx", iter([{"a": 1}] * 4))

    def test_more_columns_than_a_sheet_holds(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"holds 16,384 columns, and there are 16,385"):
            written(tmp_path, "xlsx", [{str(j): j for j in range(16_385)}])
        assert list(tmp_path.iterdir()) == []

    def test_attached_tables_are_sheets(self, tmp_path: Path) -> None:
        rows = [{"language": "en", "threshold": 0.25}]
        path = written(tmp_path, "xlsx", [{"a": 1}], title="main", attached={"thresholds": rows})
        sheets = pandas.read_excel(path, sheet_name=None, engine="calamine")
        assert list(sheets) == ["main", "thresholds"]
        assert sheets["thresholds"].to_dict("records") == rows


class TestParquet:
    def test_columns_have_types(self, tmp_path: Path) -> None:
        rows: list[dict[str, Any]] = [
            {"int": 1, "mixed": 1, "float": 1, "none": None, "list": [], "object": {"a": 1}, "empty": {}},
            {
                "int": 2,
                "mixed": "x",
                "float": 0.5,
                "list": ["a"],
                "object": {"b": "c"},
                "day": datetime.date.min,
            },
        ]
        path = written(tmp_path, "parquet", rows)
        types = {field.name: str(field.type) for field in pq.read_schema(path)}
        assert (types["int"], types["float"], types["mixed"], types["none"]) == (
            *("int64", "double", "string", "string"),
        )
        assert types["day"] == "date32[day]"
        first, second = pq.read_table(path).to_pylist()
        assert (first["mixed"], first["list"], first["empty"]) == ("1", [], "{}")
        assert (second["list"], second["object"]) == (["a"], {"a": None, "b": "c"})

    def test_types_are_found_over_all_rows(self, tmp_path: Path) -> None:
        rows = [{"a": None if i < 2_500 else 0.5, "b": i if i < 2_500 else "x"} for i in range(3_000)]
        table = pq.read_table(written(tmp_path, "parquet", rows))
        assert [str(field.type) for field in table.schema] == ["double", "string"]
        assert table["b"].to_pylist() == [str(row["b"]) for row in rows]

    def test_attached_tables_are_metadata(self, tmp_path: Path) -> None:
        path = written(tmp_path, "parquet", [{"a": 1}], attached={"thresholds": [{"label": "ü"}]})
        assert json.loads(pq.read_schema(path).metadata[b"funnelling.thresholds"]) == [{"label": "ü"}]

    def test_odd_values(self, tmp_path: Path) -> None:
        rows: list[dict[str, Any]] = [{"a": "\ud800", "b": 2**70}, {"a": "\0", "b": 1}]
        assert pq.read_table(written(tmp_path, "parquet", rows)).to_pylist() == [
            {"a": "\ufffd", "b": str(2**70)},
            {"a": "\0", "b": "1"},
        ]


def test_json_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "jsonl", iter([{"a": float("nan"), "b": datetime.date(2024, 1, 2)}, {"c": [1]}]))
    assert path.read_text() == '{"a": null, "b": "2024-01-02"}\n{"c": [1]}\n'


def test_rows_come_first_and_the_file_when_it_is_whole(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, object]]:
        yield {"a": 1}
        raise KeyboardInterrupt

    for ending in (*TABLES, "jsonl"):
        with pytest.raises(KeyboardInterrupt):
            written(tmp_path, ending, rows())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out", "out.doc", "out.xls", "out.xlsx.gz", "out.parquet.gz", ".csvx"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"unknown format\. Use a name that ends in \.csv"):
        ending_of(name)


values = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=8)
tables = st.lists(st.dictionaries(st.sampled_from("abcd"), values), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(rows=tables)
def test_any_rows_come_out_with_all_their_cells(rows: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("any")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if not columns:
        return
    for ending in ("csv", "tsv", "xlsx"):
        header, *found = cells(written(folder, ending, rows))
        assert header == columns
        # A sheet ends with the last row that has a value.
        assert len(found) == len(rows) or ending == "xlsx"
    table = polars.read_parquet(written(folder, "parquet", rows))
    assert (table.columns, table.height) == (columns, len(rows))
    frame = pandas.read_csv(folder / "table.csv", dtype=str, keep_default_na=False, skip_blank_lines=False)
    assert (list(frame.columns), len(frame)) == (columns, len(rows))
