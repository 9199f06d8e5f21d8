"""Reference corpora: groups in every language, and what is said of files that are not so."""

import json
from pathlib import Path
from typing import Any

import pytest

from funnelling.corpus.reference import Reference, read_reference
from funnelling.errors import InputError

ROWS = [
    {"id": f"{group}/{language}", "language": language, "text": f"{language} {group}", "group": group}
    for group in ("b", "a", "c")
    for language in ("it", "en", "pt-BR")
]


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "reference.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_texts_are_aligned_by_group(tmp_path: Path) -> None:
    reference = read_reference(written(tmp_path, ROWS))
    assert reference.groups == ["a", "b", "c"]
    assert reference.languages == ["en", "it", "pt_BR"]
    assert reference.texts["it"] == ["it a", "it b", "it c"]


def test_some_of_its_languages(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    assert read_reference(path, ["pt_br", "en"]).languages == ["en", "pt_BR"]
    with pytest.raises(InputError, match=r'reference\.jsonl: no document in "de", only in en, it, pt_BR\. '):
        read_reference(path, ["en", "de"])


def test_a_sample_is_drawn_by_seed_and_stays_aligned() -> None:
    texts = {code: [f"{code} {k}" for k in range(50)] for code in ("en", "it")}
    reference = Reference([str(k) for k in range(50)], texts)
    sample = reference.sample(10, seed=3)
    assert len(sample.groups) == 10
    assert sample == reference.sample(10, seed=3)
    assert sample != reference.sample(10, seed=4)
    assert sample.texts["it"] == [f"it {group}" for group in sample.groups]
    assert reference.sample(50, seed=0) is reference


def test_the_digest_names_the_contents() -> None:
    one, other = (Reference(["a", "b"], {"en": ["x", text], "it": ["x", "y"]}) for text in ("y", "z"))
    assert one.digest() == Reference(["a", "b"], {"en": ["x", "y"], "it": ["x", "y"]}).digest()
    assert one.digest() != other.digest()


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            [row for row in ROWS if row["id"] != "a/it"],
            r':4: group "a" has a document in "en", but none in "it"\. Add it, or drop the group or',
        ),
        (
            [row for row in ROWS if row["language"] == "en"],
            r": all documents are in en\. A reference corpus has",
        ),
        (
            [*ROWS, {"id": "x", "language": "en", "text": ""}],
            r':10: document "x" has no "group"\. A reference',
        ),
        ([*ROWS, {"id": "x", "group": "a", "text": ""}], r':10: document "x" has no "language"\. Add it\.'),
        (
            [*ROWS, {"id": "x", "group": "a", "language": "it", "text": ""}],
            r':10: document "x" is the second of group "a" in "it"; the first is on line 4\. Drop one',
        ),
        (
            [*ROWS, {"id": "x", "group": "a", "language": "l'it", "text": ""}],
            r":10: .* is not a language tag",
        ),
        ([row for row in ROWS if row["group"] == "a"], r": only one group\."),
        ([], r": no document in it\."),
    ],
)
def test_what_is_no_reference_corpus(rows: list[dict[str, Any]], says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"reference\.jsonl" + says):
        read_reference(written(tmp_path, rows))
