"""``funnelling research vectors``: learn vectors from a reference corpus."""

import json
from pathlib import Path

import numpy as np
import pytest

from funnelling.spaces.word_vectors import find_vectors, read_vectors

from .command import WORDS, contents, succeed, write_jsonl
from .conftest import Refuses


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    rows = [
        {
            "id": f"{i}/{code}",
            "language": code,
            "text": f"{words[i % 8]} {words[i // 2 % 8]} {words[i // 5 % 8]}",
            "group": f"page {i:02}",
        }
        for i in range(60)
        for code, words in WORDS.items()
    ]
    return write_jsonl(tmp_path / "reference.jsonl", rows)


def test_vectors_are_built(reference: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "vectors"
    succeed("research", "vectors", reference, "-o", folder, "--dimensions", 6)
    assert f"Vectors: {folder}, from 60 groups (words: de 8, en 8, it 8)" in capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} == {"de.vec", "en.vec", "it.vec"}
    vectors = {code: read_vectors(path) for code, path in find_vectors(folder).items()}
    printer = vectors["it"].matrix[vectors["it"].words.index("stampante")]
    for code, word in (("en", "printer"), ("de", "drucker")):
        matrix = vectors[code].matrix
        cosines = matrix @ printer / np.linalg.norm(matrix, axis=1)
        assert vectors[code].words[cosines.argmax()] == word


def test_the_same_seed_gives_the_same_bytes(
    reference: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        options = ("--dimensions", 5, "--seed", 3, "--json")
        succeed("research", "vectors", reference, "-o", tmp_path / name, *options)
        assert json.loads(capsys.readouterr().out)["words"] == {"de": 8, "en": 8, "it": 8}
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_some_languages(reference: Path, tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    succeed("research", "vectors", reference, "-o", folder, "--dimensions", 5, "--languages", "en,IT")
    assert list(find_vectors(folder)) == ["en", "it"]


def test_only_a_folder_of_vectors_is_replaced(
    reference: Path, tmp_path: Path, refuses: Refuses, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "vectors"
    build = ("research", "vectors", reference, "-o", "vectors", "--dimensions", 5)
    succeed("research", "vectors", reference, "-o", folder, "--dimensions", 5)
    before = contents(folder)
    capsys.readouterr()
    refuses(*build, says=["vectors exists. Choose another path or add --force."])
    assert contents(folder) == before
    succeed("research", "vectors", reference, "-o", folder, "--dimensions", 4, "--force")
    assert contents(folder) != before
    (folder / "notes.txt").write_text("mine")
    capsys.readouterr()
    refuses(*build, "--force", says=["vectors: holds notes.txt"])
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".funnelling")]


def test_refusals(reference: Path, tmp_path: Path, refuses: Refuses) -> None:
    build = ("research", "vectors", reference, "-o", "vectors")
    refuses(*build, says=["300 dimensions need more than 300 groups, and there are 60"])
    refuses(
        *build, "--dimensions", 5, "--languages", "en,fr", says=['no document in "fr", only in de, en, it']
    )
    refuses("research", "vectors", "nowhere.jsonl", "-o", "vectors", says=["nowhere.jsonl: no such file"])
    assert not (tmp_path / "vectors").exists()
