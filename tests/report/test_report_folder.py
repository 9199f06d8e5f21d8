import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from funnelling.errors import InputError
from funnelling.report.content import Bars, Report, Section, TableBlock
from funnelling.report.rendering import write_report
from funnelling.report.tables import Table, comma_separated
from tests.report.demo import demo_report, report_of

BARS = Bars("same", "Bars", "two bars", ["it", "da"], {"Fun": [0.5, None]}, "F1", "language")


def report_with(*blocks: TableBlock | Bars) -> Report:
    return Report("R", [], [Section("s", "S", [], blocks)])


def test_a_report_is_a_page_its_text_its_data_and_its_figures(tmp_path: Path) -> None:
    written = write_report(demo_report(), tmp_path / "new" / "folder")
    assert all(path.is_file() for path in written)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(written)
    names = [path.relative_to(tmp_path / "new" / "folder").as_posix() for path in written]
    assert names[:3] == ["report.html", "report.md", "data/results.csv"]
    assert {"data/gains.csv", "figures/learning.svg", "figures/labels.svg"} <= set(names)
    assert not {"figures/results.svg", "figures/gains.svg", "figures/transfer.svg"} & set(names)  # tables


def test_writing_again_replaces_and_changes_no_byte(tmp_path: Path) -> None:
    first = {path: path.read_bytes() for path in write_report(demo_report(), tmp_path)}
    assert {path: path.read_bytes() for path in write_report(demo_report(), tmp_path)} == first


def test_blocks_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    table = TableBlock("same", "Table", Table(["a"], [["b"]]))
    names = [path.name for path in write_report(report_with(table, BARS), tmp_path)]
    assert names == ["report.html", "report.md", "same.csv", "same-2.csv"]


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    table = TableBlock("../../x/..\\y", "T", Table(["a"], [["b"]]))
    written = write_report(report_with(table), tmp_path / "in")
    assert written[2] == tmp_path / "in" / "data" / "x-y.csv"


def test_the_markdown_links_figures_with_their_alternative_and_data(tmp_path: Path) -> None:
    write_report(demo_report(), tmp_path)
    text = (tmp_path / "report.md").read_text("utf-8")
    for target in re.findall(r"\]\(((?:data|figures)/[^)]+)\)", text):
        assert (tmp_path / target).is_file()
    assert (
        "![Calibrated scores lie near the diagonal; raw ones are overconfident.](figures/reliability.svg)"
        in text
    )
    assert "| method | RCV1/RCV2 micro-F1 |" in text
    assert "bold: the best" in text
    assert "- seed: 17" in text


def test_markdown_shows_texts_as_they_are(tmp_path: Path) -> None:
    write_report(report_of("<script>a|b</script>"), tmp_path)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert not re.search(r"(?<!\\)<script", text)
    assert "a|b" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}


def test_data_are_the_cells_with_titles_of_groups(tmp_path: Path) -> None:
    write_report(demo_report(), tmp_path)
    with open(tmp_path / "data" / "results.csv", encoding="utf-8", newline="") as stream:
        header, first, *_ = csv.reader(stream)
    assert header[:2] == ["method", "RCV1/RCV2 micro-F1"]
    assert header[-1] == "JRC-Acquis macro-K"
    assert first[0] == "Naive"
    with open(tmp_path / "data" / "gains.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[4][0] == "es"
    assert rows[4][3] == ""  # a value that does not exist


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-cmd", "@sum", "\tx", "-.5 ± .1", "-"])
def test_cells_that_a_spreadsheet_would_run_are_defused(cell: str) -> None:
    rows = list(csv.reader(comma_separated(Table([cell], [[cell]])).splitlines()))
    assert rows == [[f"'{cell}"], [f"'{cell}"]]


@pytest.mark.parametrize("cell", ["-1", "-.5", "+1.5e-6", "-1,000", "+3%", "it", "a=b", "", 'say "x", y'])
def test_numbers_and_words_stay_as_they_are(cell: str) -> None:
    assert list(csv.reader(comma_separated(Table(["a", "b"], [[cell, "c"]])).splitlines()))[1] == [cell, "c"]


def test_figures_are_well_formed_whatever_their_labels(tmp_path: Path) -> None:
    for path in write_report(report_of("\0<&\"'>\ud800"), tmp_path):
        if path.suffix == ".svg":
            ElementTree.parse(path)


def test_a_folder_that_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file.*cannot be written"):
        write_report(demo_report(), tmp_path / "file" / "in")
