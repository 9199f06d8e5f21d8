"""``funnelling add-language`` and ``funnelling update``: models that learn on."""

from pathlib import Path

import pytest

from funnelling import load_model
from funnelling.storage import describe_model

from .command import assert_refused, contents, documents, read_jsonl, succeed, with_splits, write_jsonl
from .conftest import Refuses


def german(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "de.jsonl", with_splits(documents(["de"])))


class TestAddLanguage:
    def test_a_new_language_can_be_labelled(
        self, own_words_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("add-language", own_words_copy, german(tmp_path), "--jobs", 1)
        printed = capsys.readouterr().out
        assert "de " in printed
        assert "On 8 test documents, before and after:" in printed
        assert printed.count("de             –") == 2  # on test documents, and on those held out
        assert "\nen " in printed
        scores = describe_model(own_words_copy)["scores"]
        assert list(scores["languages"]) == ["de", "en", "it"]
        assert scores["how"].startswith("Measured by inner folds")
        assert load_model(own_words_copy).languages_ == ["de", "en", "it"]

    def test_it_is_the_model_that_training_on_all_would_have_given(
        self, own_words_copy: Path, tmp_path: Path
    ) -> None:
        rows = [*with_splits(documents()), *with_splits(documents(["de"]))]
        data = write_jsonl(tmp_path / "all.jsonl", rows)
        succeed("train", data, "-o", tmp_path / "at-once", "--method", "fun-tat", "--jobs", 1)
        succeed("add-language", own_words_copy, german(tmp_path), "--jobs", 1)
        test = write_jsonl(tmp_path / "test.jsonl", documents(["de", "en", "it"]))
        for folder in ("at-once", "model"):
            succeed("predict", tmp_path / folder, test, "-o", tmp_path / f"{folder}.jsonl")
        assert read_jsonl(tmp_path / "model.jsonl") == read_jsonl(tmp_path / "at-once.jsonl")

    def test_into_another_folder(self, model_copy: Path, tmp_path: Path) -> None:
        before = contents(model_copy)
        succeed("add-language", model_copy, german(tmp_path), "-o", tmp_path / "new", "--jobs", 1)
        assert contents(model_copy) == before
        assert load_model(tmp_path / "new").languages_ == ["de", "en", "it"]

    @pytest.mark.usefixtures("model_copy")
    def test_a_language_it_knows_is_refused(self, tmp_path: Path) -> None:
        write_jsonl(tmp_path / "it.jsonl", documents(["it"]))
        assert_refused("add-language", "model", "it.jsonl", cwd=tmp_path, says=["it", "funnelling update"])


class TestUpdate:
    def test_documents_are_added_and_the_change_is_shown(
        self, model_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = with_splits(documents(["it"], each=30))
        for row in rows:
            row["labels"] = [*row["labels"], "new"] if row["split"] == "train" else row["labels"]
        succeed("update", model_copy, write_jsonl(tmp_path / "more.jsonl", rows), "--jobs", 1)
        printed = capsys.readouterr().out
        assert "test documents, before and after:" in printed
        assert "Known already, with the labels given now: 16 documents" in printed
        assert "New labels: 1" in printed
        model = load_model(model_copy)
        assert model.documents_ == {"en": 16, "it": 20}
        assert "new" in model.classes_

    def test_test_documents_that_were_learned_from_are_left_out(
        self, model_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = with_splits(documents(["it"], each=30))
        for row in rows:
            row["split"] = {"train": "test", "test": "train"}[row["split"]]
        succeed("update", model_copy, write_jsonl(tmp_path / "more.jsonl", rows), "--jobs", 1)
        said = capsys.readouterr().err
        assert "16 test documents left out, which the model learned from." in said

    def test_a_variant_of_a_language_is_taken_for_it(self, model_copy: Path, tmp_path: Path) -> None:
        rows = [{**row, "id": f"new-{row['id']}", "language": "it-CH"} for row in documents(["it"])]
        succeed("update", model_copy, write_jsonl(tmp_path / "more.jsonl", rows), "--jobs", 1)
        assert load_model(model_copy).languages_ == ["en", "it"]

    @pytest.mark.usefixtures("model_copy")
    def test_a_language_it_does_not_know_is_refused(self, tmp_path: Path) -> None:
        german(tmp_path)
        assert_refused("update", "model", "de.jsonl", cwd=tmp_path, says=["de", "add-language"])

    def test_without_test_documents_those_held_out_show_the_change(
        self, model_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("update", model_copy, write_jsonl(tmp_path / "more.jsonl", documents(["it"])), "--jobs", 1)
        printed = capsys.readouterr().out
        assert "On training documents that were held out, before and after:" in printed
        assert "test document" not in printed


@pytest.mark.parametrize("command", ["add-language", "update"])
class TestRefusals:
    def test_a_compact_model(self, command: str, tmp_path: Path, split_data: Path, refuses: Refuses) -> None:
        succeed(
            "train", split_data, "-o", tmp_path / "small", "--compact", "--method", "fun-tat", "--jobs", 1
        )
        german(tmp_path)
        refuses(command, "small", "de.jsonl", says=["small", "compact"])

    @pytest.mark.usefixtures("model_copy")
    def test_a_file_without_training_documents(self, command: str, tmp_path: Path, refuses: Refuses) -> None:
        write_jsonl(tmp_path / "de.jsonl", documents(["de"], split="test"))
        says = ['de.jsonl: no labelled document with split "train"']
        refuses(command, "model", "de.jsonl", says=says)

    def test_a_model_that_is_no_funnel(
        self, command: str, tmp_path: Path, split_data: Path, refuses: Refuses
    ) -> None:
        succeed("train", split_data, "-o", tmp_path / "naive", "--method", "naive", "--jobs", 1)
        german(tmp_path)
        refuses(command, "naive", "de.jsonl", says=["naive", "only funnels"])
