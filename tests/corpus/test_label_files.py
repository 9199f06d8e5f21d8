"""Files of labels: tables and JSON, whole and broken."""

import json
from pathlib import Path
from typing import Any

import pytest

from funnelling import InputError, read_label_set
from funnelling.corpus.label_set import Label

TABLE = """id,name_en,name@de,description,parent,exclude,documents
animals,Animals,Tiere,All of them,,,7
pets,Pets,,,animals,no,
cats,,Katzen,,pets|animals,,3
"old stuff",,,,,yes,
"""
OBJECTS: list[dict[str, Any]] = [
    {"id": "animals", "names": {"en": "Animals", "de": "Tiere"}, "description": "All of them"},
    {"id": "pets", "name": {"en": "Pets"}, "parent": "animals", "exclude": False},
    {"id": "cats", "name_de": "Katzen", "parents": ["pets", "animals"]},
    {"id": "old stuff", "exclude": True},
]
EXPECTED = [
    Label("animals", {"en": "Animals", "de": "Tiere"}, "All of them"),
    Label("pets", {"en": "Pets"}, parents=("animals",)),
    Label("cats", {"de": "Katzen"}, parents=("pets", "animals")),
    Label("old stuff", exclude=True),
]


def _chain(length: int, in_a_circle: bool = False) -> str:
    """A table in which each label is above the next; the first is below none, or the last one."""
    last = f"l{length - 1}" if in_a_circle else ""
    return "id,parent\n" + "".join(f"l{i},{f'l{i - 1}' if i else last}\n" for i in range(length))


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("labels.csv", TABLE),
        ("labels.csv", TABLE.replace(",", ";")),
        ("labels.tsv", TABLE.replace(",", "\t")),
        ("labels.jsonl", "".join(json.dumps(each) + "\n" for each in OBJECTS)),
        ("labels.json", json.dumps(OBJECTS)),
    ],
)
def test_all_forms_say_the_same(tmp_path: Path, name: str, content: str) -> None:
    assert list(read_label_set(written(tmp_path, name, content))) == EXPECTED


def test_numbers_are_ids_too(tmp_path: Path) -> None:
    path = written(tmp_path, "labels.jsonl", '{"id": 7, "name": "Seven"}\n')
    assert list(read_label_set(path)) == [Label("7", {"und": "Seven"})]


def test_standard_input_is_for_documents() -> None:
    with pytest.raises(InputError, match="not read from standard input"):
        read_label_set("-")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("labels.csv", "name\nx\n", 'labels.csv: no column "id"'),
        ("labels.csv", "id,name\n", "labels.csv: no labels in it"),
        ("labels.csv", "id,name\n,x\n", 'labels.csv:2: "id" is missing'),
        ("labels.csv", "id,parent\na,b\n", 'labels.csv: label "a": its parent "b" is no label'),
        ("labels.csv", "id,exclude\na,perhaps\n", 'labels.csv:2: "exclude" must be yes or no'),
        ("labels.csv", "id,name_short\na,x\n", "labels.csv:2: 'short' is not a language tag"),
        ("labels.csv", "id,name_en,name_eng\na,x,y\n", 'labels.csv:2: two names in "en"'),
        ("labels.jsonl", '{"id": "a", "names": "x"}\n', 'labels.jsonl:1: "names" must be an object'),
        ("labels.jsonl", '{"id": ["a"]}\n', 'labels.jsonl:1: "id" must be a text'),
        ("labels.jsonl", '{"id": "a", "parents": [{}]}\n', 'labels.jsonl:1: "parents" must be a text'),
        ("labels.jsonl", '{"id": "a"}\n{"id": "a"}\n', 'labels.jsonl: label "a" is there twice'),
        ("labels.jsonl", '{"id": \n', "labels.jsonl:1: "),
        ("labels.jsonl", '{"id": "a", "ID": "b"}\n', 'labels.jsonl:1: "id" is there twice'),
        ("labels.csv", "id,exlude\na,yes\n", 'labels.csv:2: "exlude": is "exclude" meant? Rename it'),
        ("labels.csv", "id,nam_de\na,b\n", 'labels.csv:2: "nam_de": is "name" meant? Rename it'),
        ("labels.csv", "id,ID\na,b\n", 'labels.csv:2: "id" is there twice'),
        ("labels.jsonl", "[" * 100_000, "labels.jsonl:1: JSON nested too deeply"),
        ("labels.jsonl", '{"id": "a", "names": {"en": {"x": 1}}}\n', '"names" must be a text'),
        ("labels.jsonl", f'{{"id": "{"a" * 1_000_000}"}}\n', '"id" has more than 100,000 characters'),
        ("labels.csv", "", 'labels.csv: no column "id"'),
        ("labels.csv", _chain(20_000), "has more than 64 labels above it"),
        ("labels.csv", _chain(20_000, True), 'label "l0" is among its own parents: l0 > l19999 >'),
        ("labels.doc", "x", "labels.doc: unknown format"),
    ],
)
def test_what_is_refused(tmp_path: Path, name: str, content: str, says: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_label_set(written(tmp_path, name, content))
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)
