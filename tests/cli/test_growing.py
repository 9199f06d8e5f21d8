"""``funnelling add-language``, ``update``, ``explain`` and ``train --optimise``: models that are used."""

import json
from pathlib import Path

import pytest

from funnelling import load_model
from funnelling.storage import describe_model

from .command import assert_refused, contents, documents, read_jsonl, succeed, with_splits, write_jsonl
from .conftest import Refuses


@pytest.fixture
def grown(tmp_path: Path, model: Path) -> Path:
    """A copy of the model of English and Italian."""
    import shutil

    shutil.copytree(model, tmp_path / "model")
    return tmp_path / "model"


def german(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "de.jsonl", with_splits(documents(["de"])))


class TestAddLanguage:
    def test_a_new_language_can_be_labelled(
        self, grown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("add-language", grown, german(tmp_path), "--jobs", 1)
        printed = capsys.readouterr().out
        assert "de " in printed
        assert "On 8 test documents, before and after:" in printed
        assert printed.count("de             –") == 2  # on test documents, and on those held out
        assert "\nen " in printed
        scores = describe_model(grown)["scores"]
        assert list(scores["languages"]) == ["de", "en", "it"]
        assert scores["how"].startswith("Measured by inner folds")
        assert load_model(grown).languages_ == ["de", "en", "it"]

    def test_it_is_the_model_that_training_on_all_would_have_given(self, grown: Path, tmp_path: Path) -> None:
        rows = [*with_splits(documents()), *with_splits(documents(["de"]))]
        succeed("train", write_jsonl(tmp_path / "all.jsonl", rows), "-o", tmp_path / "at-once", "--jobs", 1)
        succeed("add-language", grown, german(tmp_path), "--jobs", 1)
        test = write_jsonl(tmp_path / "test.jsonl", documents(["de", "en", "it"]))
        for folder in ("at-once", "model"):
            succeed("predict", tmp_path / folder, test, "-o", tmp_path / f"{folder}.jsonl")
        assert read_jsonl(tmp_path / "model.jsonl") == read_jsonl(tmp_path / "at-once.jsonl")

    def test_into_another_folder(self, grown: Path, tmp_path: Path) -> None:
        before = contents(grown)
        succeed("add-language", grown, german(tmp_path), "-o", tmp_path / "new", "--jobs", 1)
        assert contents(grown) == before
        assert load_model(tmp_path / "new").languages_ == ["de", "en", "it"]

    @pytest.mark.usefixtures("grown")
    def test_a_language_it_knows_is_refused(self, tmp_path: Path) -> None:
        write_jsonl(tmp_path / "it.jsonl", documents(["it"]))
        assert_refused("add-language", "model", "it.jsonl", cwd=tmp_path, says=["it", "funnelling update"])


class TestUpdate:
    def test_documents_are_added_and_the_change_is_told(
        self, grown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = with_splits(documents(["it"], each=30))
        for row in rows:
            row["labels"] = [*row["labels"], "new"] if row["split"] == "train" else row["labels"]
        succeed("update", grown, write_jsonl(tmp_path / "more.jsonl", rows), "--jobs", 1)
        printed = capsys.readouterr().out
        assert "test documents, before and after:" in printed
        assert "Known already, with the labels given now: 16 documents" in printed
        assert "New labels: 1" in printed
        model = load_model(grown)
        assert model.documents_ == {"en": 16, "it": 20}
        assert "new" in model.classes_

    def test_test_documents_that_were_learned_from_are_left_out(
        self, grown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = with_splits(documents(["it"], each=30))
        for row in rows:
            row["split"] = {"train": "test", "test": "train"}[row["split"]]
        succeed("update", grown, write_jsonl(tmp_path / "more.jsonl", rows), "--jobs", 1)
        told = capsys.readouterr()
        assert "16 test documents left out, which the model learned from." in told.err

    def test_a_variant_of_a_language_is_taken_for_it(self, grown: Path, tmp_path: Path) -> None:
        rows = [{**row, "id": f"new-{row['id']}", "language": "it-CH"} for row in documents(["it"])]
        succeed("update", grown, write_jsonl(tmp_path / "more.jsonl", rows), "--jobs", 1)
        assert load_model(grown).languages_ == ["en", "it"]

    @pytest.mark.usefixtures("grown")
    def test_a_language_it_does_not_know_is_refused(self, tmp_path: Path) -> None:
        german(tmp_path)
        assert_refused("update", "model", "de.jsonl", cwd=tmp_path, says=["de", "add-language"])

    def test_without_test_documents_those_held_out_tell_the_change(
        self, grown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("update", grown, write_jsonl(tmp_path / "more.jsonl", documents(["it"])), "--jobs", 1)
        printed = capsys.readouterr().out
        assert "On training documents that were held out, before and after:" in printed
        assert "test document" not in printed


@pytest.mark.parametrize("command", ["add-language", "update"])
class TestRefusals:
    def test_a_compact_model(self, command: str, tmp_path: Path, split_data: Path) -> None:
        succeed("train", split_data, "-o", tmp_path / "small", "--compact", "--jobs", 1)
        german(tmp_path)
        assert_refused(command, "small", "de.jsonl", cwd=tmp_path, says=["small", "compact"])

    def test_a_model_that_is_no_funnel(self, command: str, tmp_path: Path, split_data: Path) -> None:
        succeed("train", split_data, "-o", tmp_path / "naive", "--method", "naive", "--jobs", 1)
        german(tmp_path)
        assert_refused(command, "naive", "de.jsonl", cwd=tmp_path, says=["naive", "only funnels"])


def test_explanations_are_json_lines(model: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("explain", model, data, "--top", 2)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["id"] for row in rows] == [document["id"] for document in documents()]
    label = next(iter(rows[3]["labels"].values()))
    assert len(label["tier_one"]["words"]) <= 2
    assert {"base", "labels", "other_labels"} == set(label["tier_two"])
    assert rows[3]["neighbours"][0]["id"].startswith(("en-", "it-"))


def test_one_label_is_explained_for_all(model: Path, data: Path, tmp_path: Path) -> None:
    succeed("explain", model, data, "--label", "money", "-o", tmp_path / "why.jsonl")
    assert all(list(row["labels"]) == ["money"] for row in read_jsonl(tmp_path / "why.jsonl"))


@pytest.mark.parametrize(
    ("rows", "options", "says"),
    [
        ([{"id": "7", "text": "ciao", "language": "xh"}], [], ["docs.jsonl:1", '"7"', "--skip-unknown"]),
        ([{"id": "7", "text": "ciao", "language": "it"}], ["-o", "why.csv"], ["why.csv", ".jsonl"]),
        ([], [], ["docs.jsonl: no document"]),
    ],
)
def test_what_cannot_be_explained_is_refused(
    rows: list[dict[str, object]], options: list[str], says: list[str], grown: Path, tmp_path: Path
) -> None:
    write_jsonl(tmp_path / "docs.jsonl", rows)
    assert_refused("explain", grown.name, "docs.jsonl", *options, cwd=tmp_path, says=says)


def test_unknown_languages_may_be_passed_over(model: Path, tmp_path: Path) -> None:
    rows = [{"id": "7", "text": "ciao", "language": "xh"}, {"id": "8", "text": "ciao", "language": "it-CH"}]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("explain", model, data, "--skip-unknown", "-o", tmp_path / "why.jsonl")
    first, second = read_jsonl(tmp_path / "why.jsonl")
    assert first == {"id": "7", "labels": None, "language": "xh"}
    assert second["language"] == "it_CH"


def test_a_label_that_is_none_is_refused(model: Path, data: Path, refuses: Refuses) -> None:
    refuses("explain", model, data, "--label", "fame", says=["fame", "inspect"])


def test_tuned_thresholds_are_told_with_predictions(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("train", split_data, "-o", tmp_path / "tuned", "--optimise", "recall=0.9", "--jobs", 1)
    capsys.readouterr()
    succeed("predict", tmp_path / "tuned", split_data)
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert row["thresholds"]
    for label, score in row["scores"].items():
        assert (label in row["labels"]) == (score > row["thresholds"].get(label, 0.5))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--optimise", "accuracy"], ["accuracy", "micro-f1"]),
        (["--optimise", "micro-f1", "--method", "naive"], ["naive", "Leave it out"]),
    ],
)
def test_what_cannot_be_tuned_is_refused(
    options: list[str], says: list[str], split_data: Path, refuses: Refuses
) -> None:
    refuses("train", split_data, "-o", "model", *options, says=says)
