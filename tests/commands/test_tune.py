"""``funnelling tune``: thresholds for another goal, a table before and after, refusals in one line."""

import json
import shutil
import threading
from pathlib import Path

import pytest

from funnelling import load_model
from funnelling.runtime.alone import write_lock
from funnelling.storage import save_model

from .command import contents, one_label_documents, succeed, write_jsonl
from .conftest import Refuses


def test_the_model_is_that_which_was_trained_for_the_goal(
    model_copy: Path, split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("train", split_data, "-o", tmp_path / "anew", "--goal", "precision=.9", "--jobs", 1)
    (large,) = model_copy.glob("arrays-*")
    written = large.stat().st_mtime_ns
    capsys.readouterr()
    succeed("tune", model_copy, "--goal", "precision=.9")
    table = capsys.readouterr().out
    assert "labels per document" in table.splitlines()[0]
    assert "all together" in table
    assert "those of each fold were tuned on the others" in table
    tuned, anew = load_model(model_copy), load_model(tmp_path / "anew")
    assert (
        tuned.model_.fitted.learned.tier_two.thresholds.tolist()
        == anew.model_.fitted.learned.tier_two.thresholds.tolist()
    )
    assert tuned.parameters.tuned_for == "precision=.9"
    assert large.stat().st_mtime_ns == written, "what has not changed is not written again"


def test_inspect_and_the_card_tell_how_it_was_measured_now(
    model_copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("tune", model_copy, "--goal", "recall=.9")
    capsys.readouterr()
    succeed("inspect", model_copy)
    how = "after thresholds were tuned for recall=.9"
    assert how in capsys.readouterr().out
    assert how in (model_copy / "README.md").read_text().replace("\\", "")
    assert "recall=.9" in (model_copy / "report.html").read_text()


def test_json_has_all_of_it_and_output_leaves_the_old_model(
    model_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, output = contents(model_copy), tmp_path / "other"
    capsys.readouterr()
    succeed(
        *("tune", model_copy, "--goal", "recall=.9", "--labels", "money,account", "--per-label"),
        *("-o", output, "--json"),
    )
    record = json.loads(capsys.readouterr().out)
    assert record["command"] == "tune"
    assert record["goal"] == "recall=.9 per label"
    assert sorted(record["labels"]) == ["account", "money"]
    assert sorted(record["languages"]) == ["en", "it"]
    for row in (record["total"], *record["languages"].values(), *record["by_label"]):
        assert set(row["before"]) == set(row["after"]) == {"precision", "recall", "f1", "labels_per_document"}
    assert {row["label"] for row in record["by_label"]} == {"account", "money"}
    assert record["model"] == str(output)
    assert "evaluated_on" in record
    assert contents(model_copy) == before
    old, new = load_model(model_copy), load_model(output)
    hardware = old.classes_.tolist().index("hardware")
    assert (
        old.model_.fitted.learned.tier_two.thresholds[hardware]
        == new.model_.fitted.learned.tier_two.thresholds[hardware]
    )
    assert new.parameters.tuned_for is None, "all labels go by the old goal when the model learns on"


def test_a_model_that_another_command_changes_is_waited_for(own_words_copy: Path, tmp_path: Path) -> None:
    """Also where the tuned one goes elsewhere: it is tuned from what the other command made of it."""
    output = tmp_path / "other"
    arguments = ("tune", own_words_copy, "--goal", "recall=.9", "-o", output)
    tuning = threading.Thread(target=succeed, args=arguments)
    with write_lock(own_words_copy):
        tuning.start()
        tuning.join(1)
        changed = load_model(own_words_copy).relabel({"money": "cash"})
        save_model(changed, own_words_copy, force=True)
    tuning.join()
    assert load_model(output).parameters.tuned_for == "recall=.9"
    assert load_model(output).classes_.tolist() == changed.classes_.tolist()


def test_labels_may_stand_in_a_file_and_a_model_is_tuned_again_and_again(
    own_words_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("money\n\naccount\n")
    succeed("tune", own_words_copy, "--goal", "recall=.9", "--labels", labels)
    assert "Other labels keep their thresholds" in capsys.readouterr().out
    once = load_model(own_words_copy).model_.fitted.learned.tier_two.thresholds
    assert [cut == 0 for cut in once] == [False, True, False], "account, hardware, money"
    succeed("tune", own_words_copy, "--goal", "micro-f1")
    assert len(list(own_words_copy.glob("arrays-*"))) == 2
    succeed("tune", own_words_copy, "--goal", "recall=.9", "--labels", labels, "--json")
    again = load_model(own_words_copy).model_.fitted.learned.tier_two.thresholds
    assert [a == b for a, b in zip(once, again, strict=True)] == [True, False, True]


def test_what_cannot_be_tuned_is_refused(
    model: Path, split_data: Path, tmp_path: Path, refuses: Refuses
) -> None:
    shutil.copytree(model, tmp_path / "model")
    succeed("train", split_data, "-o", "naive", "--method", "naive", "--jobs", 1)
    succeed("train", split_data, "-o", "compact", "--method", "fun-tat", "--keep", "nothing", "--jobs", 1)
    data = write_jsonl(tmp_path / "one.jsonl", one_label_documents())
    succeed("train", data, "-o", "one", "--method", "fun-tat", "--no-measure", "--jobs", 1)
    goal = ("--goal", "recall=.9")
    refuses("tune", "model", "--goal", "accuracy", says=["accuracy", "precision=P"])
    refuses("tune", "nowhere", "--goal", "accuracy", says=["accuracy", "precision=P"])
    refuses("tune", "model", "--goal", "macrof1", says=["no goal 'macrof1'. Did you mean macro-f1?"])
    refuses("tune", "nowhere", *goal, says=["nowhere"])
    refuses("tune", "model", *goal, "--labels", "mony", says=["model: ", "'mony'", "money"])
    refuses("tune", "model", *goal, "--labels", ",", says=["No label"])
    refuses("tune", "model", *goal, "-o", "compact", says=["compact exists", "--force"])
    refuses("tune", "naive", *goal, says=["naive: Only funnels"])
    refuses("tune", "compact", *goal, says=["compact: ", "train it again with --goal"])
    succeed("tune", "compact", split_data, *goal)
    refuses("tune", "one", *goal, says=["one: ", "one label per document"])
    refuses("tune", "model", says=["--goal"])


def test_other_documents_are_tuned_on(
    own_words_copy: Path, split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(line) for line in split_data.read_text().splitlines()]
    test = [row for row in rows if row["split"] == "test"]
    unknown = {"id": "fi", "language": "fi", "text": "tervehdys kaikille", "labels": ["money"]}
    data = write_jsonl(tmp_path / "other.jsonl", [*rows, {**unknown, "split": "test"}])
    before = load_model(own_words_copy)
    succeed("tune", own_words_copy, data, "--goal", "recall=.9", "--json")
    record, said = capsys.readouterr()
    assert "1 document left out, in languages without training documents." in said
    record = json.loads(record)
    assert f"over {len(test)} other documents after thresholds were tuned" in record["evaluated_on"]
    assert sorted(record["languages"]) == ["en", "it"]
    tuned = load_model(own_words_copy)
    answers = [[row["text"] for row in test], [row["language"] for row in test]]
    truth = [set(row["labels"]) for row in test]
    right = sum(
        label in own
        for own, row in zip(truth, tuned.predict(*answers), strict=True)
        for label in tuned.classes_[row == 1]
    )
    assert right / sum(map(len, truth)) >= 0.9
    assert tuned.thresholds_["en"].tolist() != before.thresholds_["en"].tolist()


def test_training_documents_are_not_tuned_on(
    own_words_copy: Path, split_data: Path, tmp_path: Path, refuses: Refuses
) -> None:
    rows = [json.loads(line) for line in split_data.read_text().splitlines()]
    train = [{**row, "split": None} for row in rows if row["split"] == "train"]
    data = write_jsonl(tmp_path / "train.jsonl", train)
    refuses("tune", own_words_copy, data, "--goal", "micro-f1", says=["train.jsonl: no document to tune on"])
