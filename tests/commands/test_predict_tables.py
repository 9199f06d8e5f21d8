"""``funnelling predict -o FILE``: tables that other programs open, with all columns, and nothing runs."""

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow.parquet as pq
import pytest

from .command import LABELS, read_jsonl, run_command, succeed, write_jsonl

OURS = ["labels", "best_label", "probability", "abstained"]
HEADER = ["Ref", "text", "language", "price", "comment", "=1+1"]
# Cells that would compute, call a program or fetch a page if a spreadsheet took them for more than text.
CELLS = [
    ["007", "the invoice for the printer", "en", "12.50", "=1+1", "x"],
    ["008", "la fattura", "", "-3", '=HYPERLINK("http://example.org","click")', "-2+3+cmd|' /C calc'!A0"],
    ["009", "=SUM(1,2)", "en", "1e3", "@SUM(1,2)", "+1+1"],
    ["010", "stampante\nparola", "it", "", '=WEBSERVICE("http://example.org")', 'say "ciao"; città, 漢字'],
    ["011", "xyzzy", "en", ".5", "\t=1+1", "\r=1+1"],
]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "in.csv"
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows([HEADER, *CELLS])
    path.write_text(stream.getvalue(), encoding="utf-8", newline="")
    return path


def _predict(model: Path, source: Path, output: Path, *options: object) -> Path:
    succeed("predict", model, source, "-o", output, *options)
    return output


def _bare(cell: object) -> str:
    """A cell without what our defence adds to it, and with line ends as spreadsheets have them."""
    text = str(cell).removeprefix("'")
    return text.replace("\r", "\n")


def _check(rows: list[list[Any]]) -> None:
    header, *body = rows
    assert [_bare(name) for name in header] == [*HEADER, "id", *OURS]
    for row, cells in zip(body, CELLS, strict=True):
        found = dict(zip(HEADER, row, strict=False))
        assert int(found["Ref"]) == int(cells[0])  # LibreOffice takes 007 in a CSV for a number
        for name in ("text", "comment", "=1+1"):
            assert _bare(found[name]) == _bare(cells[HEADER.index(name)])
        assert found["language"] == (cells[2] or "it")
        price = cells[3]
        assert found["price"] in ("", None) if not price else float(found["price"]) == float(price)
        labels = row[-4].split("|")
        assert labels == [""] or set(labels) <= set(LABELS)
        assert 0 <= float(row[-2] or 0) <= 1
    assert body[-1][-4:] == ["", "", "", "out-of-vocabulary"]


class TestPrograms:
    @pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
    def test_pandas_and_polars_read_delimited_text(
        self, ending: str, own_words_model: Path, source: Path, tmp_path: Path
    ) -> None:
        path = _predict(own_words_model, source, tmp_path / f"out.{ending}")
        delimiter = "\t" if ending == "tsv" else ","
        frame = pandas.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False)
        _check([list(frame.columns), *frame.to_numpy().tolist()])
        table = polars.read_csv(path, separator=delimiter, infer_schema=False).fill_null("")
        _check([table.columns, *map(list, table.rows())])
        assert pandas.read_csv(path, sep=delimiter)["probability"].dtype == float

    def test_pandas_reads_a_spreadsheet(self, own_words_model: Path, source: Path, tmp_path: Path) -> None:
        path = _predict(own_words_model, source, tmp_path / "out.xlsx")
        sheets = pandas.read_excel(
            path, sheet_name=None, engine="openpyxl", dtype=object, keep_default_na=False
        )
        assert list(sheets) == ["predictions", "thresholds"]
        frame = sheets["predictions"]
        _check([list(frame.columns), *frame.to_numpy().tolist()])
        assert isinstance(frame["probability"][0], float)
        assert list(frame["Ref"]) == [cells[0] for cells in CELLS]  # text, not numbers
        assert set(sheets["thresholds"]["language"]) == {"en", "it"}

    def test_pandas_and_polars_read_parquet(
        self, own_words_model: Path, source: Path, tmp_path: Path
    ) -> None:
        path = _predict(own_words_model, source, tmp_path / "out.parquet")
        table = polars.read_parquet(path)
        assert (
            table.columns
            == [*HEADER, "id", *OURS, "probabilities"]
            == list(pandas.read_parquet(path).columns)
        )
        assert [list(row)[4:6] for row in table.rows()] == [cells[4:6] for cells in CELLS]  # as they stood
        assert table["labels"].dtype == polars.List(polars.String)
        assert json.loads(pq.read_schema(path).metadata[b"funnelling.thresholds"])

    @pytest.mark.skipif(shutil.which("soffice") is None, reason="needs LibreOffice")
    @pytest.mark.parametrize("ending", ["csv", "xlsx"])
    def test_libreoffice_opens_them_and_runs_nothing(
        self, ending: str, own_words_model: Path, source: Path, tmp_path: Path
    ) -> None:
        path = _predict(own_words_model, source, tmp_path / f"out.{ending}")
        flat = _convert(path, "fods", tmp_path)  # the document itself, in which a formula would stand
        assert "office:value-type" in flat
        assert "table:formula" not in flat
        assert "text:a " not in flat
        text = _convert(path, "csv:Text - txt - csv (StarCalc):44,34,76,1", tmp_path)
        _check(list(csv.reader(io.StringIO(text))))


def _convert(path: Path, target: str, folder: Path) -> str:
    """A file as LibreOffice understands it."""
    output = folder / "converted"
    subprocess.run(
        [
            *("soffice", "--headless", f"-env:UserInstallation={(folder / 'profile').as_uri()}"),
            # Comma, quote, UTF-8, from the first line.
            *(("--infilter=CSV:44,34,76,1",) if path.suffix == ".csv" else ()),
            *("--convert-to", target, "--outdir", str(output), str(path)),
        ],
        check=True,
        capture_output=True,
        timeout=300,
    )
    return (output / f"{path.stem}.{target.partition(':')[0]}").read_text(encoding="utf-8")


class TestColumns:
    def test_wide_scores(self, own_words_model: Path, source: Path, tmp_path: Path) -> None:
        table = _predict(own_words_model, source, tmp_path / "out.csv", "--probabilities", "wide")
        frame = pandas.read_csv(table, float_precision="round_trip")
        wide = [f"probability:{label}" for label in sorted(LABELS)]
        assert list(frame.columns)[-3:] == wide
        rows = read_jsonl(_predict(own_words_model, source, tmp_path / "out.jsonl"))
        assert frame[wide].to_numpy().tolist() == [list(row["probabilities"].values()) for row in rows]

    def test_the_answers_are_those_of_json_lines(
        self, own_words_model: Path, data: Path, tmp_path: Path
    ) -> None:
        rows = read_jsonl(_predict(own_words_model, data, tmp_path / "out.jsonl"))
        table = pq.read_table(_predict(own_words_model, data, tmp_path / "out.parquet")).to_pylist()
        for row, line in zip(table, rows, strict=True):
            row["probabilities"] = dict(row["probabilities"])
            assert {name: row[name] for name in line} == line

    def test_fields_that_only_some_documents_have(self, own_words_model: Path, tmp_path: Path) -> None:
        rows = [{"text": "invoice", "language": "en"}, {"text": "rete", "more": {"a": [1]}, "labels": ["x"]}]
        source = write_jsonl(tmp_path / "in.jsonl", rows)
        frame = pandas.read_csv(
            _predict(own_words_model, source, tmp_path / "out.csv"), keep_default_na=False
        )
        assert list(frame.columns) == ["text", "language", "id", "more", "input_labels", *OURS]
        assert list(frame["more"]) == ["", '{"a": [1]}']

    def test_documents_in_languages_that_are_not_known(self, own_words_model: Path, tmp_path: Path) -> None:
        source = write_jsonl(tmp_path / "in.jsonl", [{"text": "facture", "language": "fr"}])
        path = _predict(own_words_model, source, tmp_path / "out.csv")
        (row,) = csv.DictReader(io.StringIO(path.read_text()))
        assert [row[name] for name in OURS] == ["", "", "", "unknown-language"]


class TestMessages:
    def test_what_is_said(self, own_words_model: Path, tmp_path: Path) -> None:
        write_jsonl(
            tmp_path / "in.jsonl", [{"text": "invoice", "language": "en", "labels": [], "abstained": 1}]
        )
        done = run_command("predict", own_words_model, "in.jsonl", "-o", "out.csv", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, "")
        first, second, third = done.stderr.splitlines()
        assert first.endswith("they are kept: labels as input_labels, abstained as input_abstained.")
        assert second == "out.csv: 1 document."
        assert third.endswith(f"not all .5: funnelling inspect {own_words_model} --json has them.")

    def test_a_threshold_of_ones_own_is_the_only_one(
        self, own_words_model: Path, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        capsys.readouterr()
        path = _predict(own_words_model, source, tmp_path / "out.xlsx", "--threshold", 0.25)
        assert capsys.readouterr().err.count("\n") == 1  # the number of documents
        sheet = pandas.read_excel(path, sheet_name="thresholds", engine="openpyxl")
        assert sheet.to_dict("records") == [{"language": "all", "label": "all", "threshold": 0.25}]


def test_a_folder_of_documents_becomes_one_table(own_words_model: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        shutil.copy(data, tmp_path / "parts" / name)
    frame = pandas.read_csv(_predict(own_words_model, tmp_path / "parts", tmp_path / "out.csv"))
    assert len(frame) == 2 * len(read_jsonl(data))
    assert list(frame.columns)[:4] == ["id", "language", "text", "input_labels"]
