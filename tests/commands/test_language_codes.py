"""Languages as people write them: codes of two or three letters, with a script, or English names."""

from pathlib import Path
from typing import Any

import pytest

from funnelling import load_model
from funnelling.commands.values import languages
from funnelling.storage import save_model
from tests.funnels import any_funnel

from .command import assert_refused, documents, read_jsonl, succeed, with_splits, write_jsonl

SPELLINGS = ("de", "deu", "deu_Latn", "German", "ger")


def _german(tags: tuple[str, ...], split: bool = True) -> list[dict[str, Any]]:
    rows = with_splits(documents(["de"])) if split else documents(["de"])
    return [{**row, "language": tags[i % len(tags)]} for i, row in enumerate(rows)]


def _predicted(model: Path, tag: str, folder: Path) -> list[dict[str, Any]]:
    data = write_jsonl(folder / "new.jsonl", _german((tag,), split=False))
    succeed("predict", model, data, "-o", folder / "out.jsonl", "--force")
    return read_jsonl(folder / "out.jsonl")


class TestOneLanguage:
    def test_however_it_is_written(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for name, tags in (("mixed", SPELLINGS), ("plain", ("de",))):
            rows = [*with_splits(documents(["en"])), *_german(tags)]
            data = write_jsonl(tmp_path / f"{name}.jsonl", rows)
            succeed("train", data, "-o", tmp_path / name, "--method", "fun-tat", "--jobs", 1)
            renamed = "mixed.jsonl: languages by their shortest codes: de (German, deu, deu_Latn, ger)."
            assert (renamed in capsys.readouterr().err) == (name == "mixed")
        assert load_model(tmp_path / "mixed").languages_ == ["de", "en"]
        expected = _predicted(tmp_path / "plain", "de", tmp_path)
        assert {row["language"] for row in expected} == {"de"}
        for tag in SPELLINGS:
            assert _predicted(tmp_path / "mixed", tag, tmp_path) == expected

    def test_in_options(self) -> None:
        assert languages("deu,English,pt-BR") == ["de", "en", "pt_BR"]

    def test_in_python(self) -> None:
        rows = _german(SPELLINGS)
        texts, tags = [row["text"] for row in rows], [row["language"] for row in rows]
        model = any_funnel(views=None, random_state=0).fit(texts, [row["labels"] for row in rows], tags)
        assert model.languages_ == ["de"]
        assert (model.predict(texts, tags) == model.predict(texts, ["de"] * len(texts))).all()

    def test_what_is_no_name_may_be_refused(self, model: Path, tmp_path: Path) -> None:
        unsure = write_jsonl(tmp_path / "unsure.jsonl", [{"text": "a", "language": "English, I think"}])
        says = ["is not a language tag", "or a name such as German"]
        assert_refused("predict", model, unsure, "--strict", cwd=tmp_path, says=says)


class TestModelsThatSpellItOut:
    """They were fitted on a mapping, whose keys are the names of languages."""

    @pytest.fixture
    def spelt_out(self, tmp_path: Path) -> Path:
        rows = {"deu_Latn": documents(["de"]), "eng_Latn": documents(["en"])}
        model = any_funnel(views=None, random_state=0).fit(
            {tag: [row["text"] for row in each] for tag, each in rows.items()},
            {tag: [row["labels"] for row in each] for tag, each in rows.items()},
        )
        save_model(model, tmp_path / "model")
        return tmp_path / "model"

    @pytest.mark.parametrize("tag", [*SPELLINGS, "de_AT"])
    def test_they_label(self, spelt_out: Path, tag: str, tmp_path: Path) -> None:
        rows = _predicted(spelt_out, tag, tmp_path)
        assert {row["language"] for row in rows} == {"de_AT" if tag == "de_AT" else "de"}
        assert not any("zero_shot" in row for row in rows)
        assert [set(row["labels"]) for row in rows] == [set(row["labels"]) for row in documents(["de"])]

    def test_they_learn_on(self, spelt_out: Path, tmp_path: Path) -> None:
        more = [
            {**row, "id": f"more-{row['id']}", "text": row["text"] + " mehr"} for row in _german(("ger",))
        ]
        data = write_jsonl(tmp_path / "more.jsonl", more)
        succeed("update", spelt_out, data, "--jobs", 1)
        model = load_model(spelt_out)
        assert model.languages_ == ["deu_Latn", "eng_Latn"]
        assert model.documents_["deu_Latn"] > model.documents_["eng_Latn"]
