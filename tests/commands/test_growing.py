"""``funnelling update``: documents, corrections, languages and labels are added to a model."""

import json
import re
from pathlib import Path

import pytest

from funnelling import load_model
from funnelling.commands import main
from funnelling.storage import describe_model

from .command import (
    LABELS,
    contents,
    documents,
    read_jsonl,
    succeed,
    with_splits,
    write_jsonl,
)
from .conftest import Refuses


def german(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "de.jsonl", with_splits(documents(["de"])))


class TestAFurtherLanguage:
    def test_a_new_language_can_be_labelled(
        self, own_words_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("update", own_words_copy, german(tmp_path), "--jobs", 1)
        printed = capsys.readouterr().out
        lines = [line.split() for line in printed.splitlines()]
        assert "Before and after, on the same documents" in printed
        assert ["de", "8", "test", "–"] in [line[:4] for line in lines]
        assert ["en", "16", "held", "out"] in [line[:4] for line in lines]
        assert "average" in [line[0] for line in lines]
        scores = describe_model(own_words_copy)["scores"]
        assert list(scores["languages"]) == ["de", "en", "it"]
        assert scores["evaluated_on"].startswith("Measured by inner folds")
        assert load_model(own_words_copy).languages_ == ["de", "en", "it"]

    def test_it_is_the_model_that_training_on_all_would_have_given(
        self, own_words_copy: Path, tmp_path: Path
    ) -> None:
        rows = [*with_splits(documents()), *with_splits(documents(["de"]))]
        data = write_jsonl(tmp_path / "all.jsonl", rows)
        succeed("train", data, "-o", tmp_path / "at-once", "--method", "fun-tat", "--jobs", 1)
        succeed("update", own_words_copy, german(tmp_path), "--jobs", 1, "--exact")
        test = write_jsonl(tmp_path / "test.jsonl", documents(["de", "en", "it"]))
        for folder in ("at-once", "model"):
            succeed("predict", tmp_path / folder, test, "-o", tmp_path / f"{folder}.jsonl")
        assert read_jsonl(tmp_path / "model.jsonl") == read_jsonl(tmp_path / "at-once.jsonl")

    def test_into_another_folder(self, model_copy: Path, tmp_path: Path) -> None:
        before = contents(model_copy)
        succeed("update", model_copy, german(tmp_path), "-o", tmp_path / "new", "--jobs", 1)
        assert contents(model_copy) == before
        assert load_model(tmp_path / "new").languages_ == ["de", "en", "it"]


class TestUpdate:
    def test_documents_are_added_and_the_change_is_shown(
        self, model_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = with_splits(documents(["it"], each=30))
        for row in rows:
            row["labels"] = [*row["labels"], "hardwrae"] if row["split"] == "train" else row["labels"]
        succeed("update", model_copy, write_jsonl(tmp_path / "more.jsonl", rows), "--jobs", 1, "--force")
        printed, said = capsys.readouterr()
        assert re.search(r"^it +10 test", printed, re.MULTILINE)
        assert "Documents: 4 new, 16 corrected." in said
        assert "of 16 corrected documents now get exactly the corrected labels." in printed
        assert "New labels, which the table leaves out: 1 (hardwrae)" in printed
        assert "hardwrae is near hardware, a label of the model. Merge them with relabel." in printed
        model = load_model(model_copy)
        assert model.documents_ == {"en": 16, "it": 20}
        assert "hardwrae" in model.classes_

    def test_test_documents_that_were_learned_from_are_left_out(
        self, model_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = with_splits(documents(["it"], each=30))
        for row in rows:
            row["split"] = {"train": "test", "test": "train"}[row["split"]]
        succeed("update", model_copy, write_jsonl(tmp_path / "more.jsonl", rows), "--jobs", 1)
        said = capsys.readouterr().err
        assert "16 test documents left out: training documents, or others of their groups." in said

    def test_a_variant_of_a_language_is_taken_for_it(self, model_copy: Path, tmp_path: Path) -> None:
        rows = [{**row, "id": f"new-{row['id']}", "language": "it-CH"} for row in documents(["it"])]
        succeed("update", model_copy, write_jsonl(tmp_path / "more.jsonl", rows), "--jobs", 1)
        assert load_model(model_copy).languages_ == ["en", "it"]

    def test_a_language_it_does_not_know_is_learned_and_said(
        self, model_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("update", model_copy, german(tmp_path), "--jobs", 1, "--force")
        assert "New languages: de (16 documents)." in capsys.readouterr().err
        assert load_model(model_copy).languages_ == ["de", "en", "it"]

    def test_corrections_by_id_from_a_table(
        self, model_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "corrections.csv").write_text("id,labels\nit-1,money\nen-2,[]\n")
        succeed("update", model_copy, tmp_path / "corrections.csv", "--jobs", 1, "--force", "--json")
        printed, said = capsys.readouterr()
        result = json.loads(printed)
        assert "Documents: 2 corrected." in said
        assert (result["new"], result["corrected"]) == (0, 2)
        assert set(result["evaluated_on"].values()) == {"held out"}
        assert result["before"]["average"].keys() == result["after"]["average"].keys()
        assert result["model"] == str(model_copy)

    @pytest.mark.usefixtures("model_copy")
    def test_corrections_of_unknown_documents_are_refused(self, tmp_path: Path, refuses: Refuses) -> None:
        (tmp_path / "corrections.csv").write_text("id,labels\nnobody,money\n")
        refuses(
            "update",
            "model",
            "corrections.csv",
            says=["corrections.csv", 'no training document has the id "nobody"'],
        )

    @pytest.mark.usefixtures("model_copy")
    def test_nothing_to_learn_is_refused(self, refuses: Refuses) -> None:
        refuses("update", "model", says=["model: nothing to add"])

    def test_a_resource_that_the_model_does_not_read_is_refused(
        self, tmp_path: Path, refuses: Refuses, split_data: Path
    ) -> None:
        succeed(
            "train", split_data, "-o", tmp_path / "naive", "--method", "naive", "--jobs", 1, "--no-measure"
        )
        reference = write_jsonl(tmp_path / "reference.jsonl", _reference())
        german(tmp_path)
        refuses("update", "naive", "de.jsonl", "--reference", reference, says=["reads no reference"])

    def test_a_score_that_fell_leaves_the_old_model_and_says_so(
        self, own_words_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = [
            {**row, "id": f"new-{row['id']}", "labels": [LABELS[i % 3]] if i % 2 else [], "split": "train"}
            for i, row in enumerate(documents(each=31))
        ]
        rows = [{**row, "text": f"{row['text']} {row['text']}"} for row in rows]
        rows += [
            {**row, "id": f"test-{word}-{row['id']}", "text": f"{row['text']} {word}", "split": "test"}
            for word in ("uno", "due", "tre")
            for row in documents()
        ]
        data, before = write_jsonl(tmp_path / "more.jsonl", rows), contents(own_words_copy)
        assert main(["update", str(own_words_copy), str(data), "--jobs", "1", "--json"]) == 3
        printed, said = capsys.readouterr()
        assert contents(own_words_copy) == before
        result = json.loads(printed)
        assert result["model"] is None
        assert result["regressions"][0]["before"] > result["regressions"][0]["after"]
        assert re.search(r"more\.jsonl: .* on average fell from \S+ to \S+, .*--force", said.splitlines()[-1])
        succeed("update", own_words_copy, data, "--jobs", 1, "--force")
        assert contents(own_words_copy) != before

    def test_without_test_documents_those_held_out_show_the_change(
        self, model_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("update", model_copy, write_jsonl(tmp_path / "more.jsonl", documents(["it"])), "--jobs", 1)
        printed = capsys.readouterr().out
        assert "16 held out" in printed
        assert " test " not in printed


class TestRefusals:
    def test_a_compact_model(self, tmp_path: Path, split_data: Path, refuses: Refuses) -> None:
        succeed(
            "train",
            split_data,
            "-o",
            tmp_path / "small",
            "--keep",
            "nothing",
            "--method",
            "fun-tat",
            "--jobs",
            1,
        )
        german(tmp_path)
        refuses("update", "small", "de.jsonl", says=["small", "compact"])

    @pytest.mark.usefixtures("model_copy")
    def test_a_file_without_training_documents(self, tmp_path: Path, refuses: Refuses) -> None:
        write_jsonl(tmp_path / "de.jsonl", documents(["de"], split="test"))
        says = ['de.jsonl: no labelled document with split "train"']
        refuses("update", "model", "de.jsonl", says=says)


def _reference() -> list[dict[str, str]]:
    return [
        {"id": f"{i}-{tag}", "group": str(i), "language": tag, "text": f"{tag} {i}"}
        for i in range(3)
        for tag in ("en", "it")
    ]
