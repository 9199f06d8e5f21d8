"""Files of labels and their new names, whatever form they come in."""

from pathlib import Path

import pytest

from funnelling import InputError
from funnelling.corpus.label_maps import read_label_map
from funnelling.formats.tables import write_table

LABELS = ["birds", "cats", "dogs"]
WANTED = {"cats": "felines, all", "dogs": ""}

TEXTS = {
    "header.csv": 'Old Label,New_label\ncats,"felines, all"\ndogs,\n',
    "plain.csv": 'cats,"felines, all"\ndogs,\n\n',
    "semicolons.csv": "cats;felines, all\n dogs ; \n",
    "wide.csv": 'note,to,from\nx,"felines, all",cats\ny,,dogs\n',
    "tabs.tsv": "old\tnew\ncats\tfelines, all\ndogs\t\n",
    "one.json": '{\n  "cats": "felines, all",\n  "dogs": null\n}\n',
    "rows.json": '[{"old": "cats", "new": "felines, all"}, {"old": "dogs", "new": ""}]',
    "rows.jsonl": '{"old": "cats", "new": "felines, all"}\n\n{"new": null, "old": "dogs"}\n',
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_form_is_found(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(TEXTS[name], encoding="utf-8")
    assert read_label_map(tmp_path / name, LABELS) == WANTED


@pytest.mark.parametrize("name", ["map.xlsx", "map.parquet"])
def test_spreadsheets_and_parquet(name: str, tmp_path: Path) -> None:
    write_table(tmp_path / name, [{"old": old, "new": new} for old, new in WANTED.items()])
    assert read_label_map(tmp_path / name, LABELS) == WANTED


def test_a_label_may_be_called_old(tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text("old,new\ncats,felines\n", encoding="utf-8")
    assert read_label_map(tmp_path / "map.csv", ["old", *LABELS]) == {"old": "new", "cats": "felines"}


def test_numbers_are_labels(tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text('{"1": 7}', encoding="utf-8")
    assert read_label_map(tmp_path / "map.json", [1, 2]) == {"1": "7"}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("map.csv", "old,new\nca,x\n", r"map\.csv:2: the model has no label 'ca'. Did you mean cats\?"),
        ("map.csv", "cats,x\ncats,y\n", r"map\.csv:2: 'cats' has another new name in .*map\.csv:1. Keep one"),
        ("map.csv", "cats\ndogs\n", "no new name beside a label"),
        ("map.csv", "cats,x,y\n", "3 cells"),
        ("map.csv", "old,new\n", "no labels in it"),
        ("map.csv", "", "no labels in it"),
        ("map.json", '{"cats": "x", "cats": "y"}', "another new name"),
        ("map.json", '{"cats": ["x"]}', "a label must be a text"),
        ("map.json", '["cats"]', "not {"),
        ("map.json", '"cats"', "not {"),
        ("map.jsonl", '{"old": "cats", "new": "x"}\nnonsense\n', r"map\.jsonl:2: not JSON"),
        ("map.doc", "cats,x\n", "unknown format"),
    ],
)
def test_what_is_wrong_is_said(name: str, text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        read_label_map(tmp_path / name, LABELS)
