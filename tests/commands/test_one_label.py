"""One label per document, from training to the report: noticed, said, and given."""

import json
from pathlib import Path

import pytest

from funnelling.evaluation.splits import SINGLE_LABEL_NOTICE
from funnelling.research.experiments.registry import ALL_EXPERIMENTS, parse_experiments
from funnelling.storage import describe_model

from .command import documents, one_label_documents, read_jsonl, succeed, with_splits, write_jsonl
from .conftest import Refuses

FAST = ("--method", "fun-tat", "--jobs", 1)


@pytest.fixture(scope="module")
def one_label(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("data") / "one.jsonl", with_splits(one_label_documents()))


@pytest.fixture(scope="module")
def one_label_model(tmp_path_factory: pytest.TempPathFactory, one_label: Path) -> Path:
    """A model of those documents. Do not change it."""
    path = tmp_path_factory.mktemp("models") / "one-label"
    succeed("train", one_label, "-o", path, *FAST)
    return path


def test_training_says_so_and_ends_with_accuracy_by_language(
    one_label: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("train", one_label, "-o", tmp_path / "model", *FAST)
    captured = capsys.readouterr()
    assert SINGLE_LABEL_NOTICE in captured.err.splitlines()
    _, header, *rows = captured.out.splitlines()
    assert header.split() == ["language", "documents", "accuracy", "macro-F1"]
    assert [row.split()[0] for row in rows[:3]] == ["en", "it", "average"]
    scores = describe_model(tmp_path / "model")["scores"]
    assert list(scores["average"])[:3] == ["accuracy", "micro_f1", "macro_f1"]
    assert scores["average"]["accuracy"] == pytest.approx(10 / 12, abs=0.1)


def test_outer_folds_are_of_one_label_too(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", one_label_documents(labels=2))
    succeed("train", data, "-o", tmp_path / "model", *FAST)
    description = describe_model(tmp_path / "model")
    assert description["single_label"] is True
    assert 0.5 < description["scores"]["average"]["accuracy"] < 1


def test_several_labels_can_be_asked_for(
    one_label: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("train", one_label, "-o", tmp_path / "model", "--several-labels", *FAST)
    assert SINGLE_LABEL_NOTICE not in capsys.readouterr().err
    description = describe_model(tmp_path / "model")
    assert description["single_label"] is False
    assert "accuracy" not in description["scores"]["average"]


def test_one_label_can_be_asked_for(one_label: Path, tmp_path: Path, one_label_model: Path) -> None:
    succeed("train", one_label, "-o", tmp_path / "model", "--one-label", *FAST)
    assert (tmp_path / "model" / "model.json").read_bytes() == (one_label_model / "model.json").read_bytes()


def test_documents_that_do_not_have_one_are_named(refuses: Refuses, split_data: Path, tmp_path: Path) -> None:
    line = [str(split_data), 'document "en-2" has 2 labels, not exactly one', "leave --one-label out"]
    refuses("train", split_data, "-o", "model", "--one-label", says=line)
    refuses("compare", split_data, "--one-label", says=line)
    bare = write_jsonl(tmp_path / "bare.jsonl", documents(each=8))
    refuses("train", bare, "-o", "m", "--one-label", says=["not exactly one"])
    refuses("train", bare, "-o", "m", "--one-label", "--several-labels", says=["not allowed with"])


def test_thresholds_do_not_apply(refuses: Refuses, one_label: Path, one_label_model: Path) -> None:
    refuses("predict", one_label_model, one_label, "--threshold", 0.3, says=["a threshold does not apply"])
    refuses(
        *("train", one_label, "-o", "model", "--goal", "macro-f1", *FAST),
        says=["--goal tunes thresholds", "--several-labels"],
    )


def test_predictions_have_one_label_and_probabilities_that_sum_to_one(
    one_label: Path, one_label_model: Path, tmp_path: Path
) -> None:
    succeed("predict", one_label_model, one_label, "-o", tmp_path / "out.jsonl")
    for row in read_jsonl(tmp_path / "out.jsonl"):
        assert row["labels"] == [max(row["probabilities"], key=row["probabilities"].__getitem__)]
        assert sum(row["probabilities"].values()) == pytest.approx(1)
        assert "thresholds" not in row


def test_where_nothing_is_known_no_label_is_given(one_label_model: Path, tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", [{"id": "1", "text": "", "language": "en"}])
    succeed("predict", one_label_model, data, "-o", tmp_path / "out.jsonl")
    (row,) = read_jsonl(tmp_path / "out.jsonl")
    assert (row["labels"], row["abstained"]) == ([], "out-of-vocabulary")
    assert sum(row["probabilities"].values()) == pytest.approx(1)


def test_inspect_and_the_card_say_it(one_label_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("inspect", one_label_model, "--full")
    printed = capsys.readouterr().out
    assert "Labels      3 (single-label): account, hardware, money" in printed
    card = (one_label_model / "README.md").read_text(encoding="utf-8")
    assert "It gives each document one of 3 labels, in 2 languages" in card
    assert "| language | documents | accuracy | macro-F1 |" in card
    for text in (printed, card):
        assert "taken for" in text
        assert "thresholds do not apply" in " ".join(text.split())


def test_evaluating_leaves_out_what_has_not_one_label(
    one_label_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], refuses: Refuses
) -> None:
    rows = [*one_label_documents(each=6), *({**row, "labels": []} for row in documents(each=2))]
    succeed("evaluate", one_label_model, write_jsonl(tmp_path / "docs.jsonl", rows), "--json")
    captured = capsys.readouterr()
    assert captured.err.startswith("4 test documents left out, for want of exactly one label.\n")
    assert json.loads(captured.out)["documents"] == {"en": 6, "it": 6}
    none = write_jsonl(tmp_path / "none.jsonl", rows[12:])
    refuses("evaluate", one_label_model, none, says=["no document has exactly one"])


def test_which_labels_were_given_to_the_documents_of_each(
    one_label: Path, one_label_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("evaluate", one_label_model, one_label, "--by-label", "--confusion-matrix", "--json")
    result = json.loads(capsys.readouterr().out)
    right = sum(number for true, given, number in result["confusion"] if true == given)
    wrong = sum(number for _, _, number in result["confused"])
    assert right + wrong == 24
    assert [row["threshold"] for row in result["by_label"]] == [None] * 3
    assert sum(row["n_correct"] for row in result["by_label"]) == right
    assert "co_missed" not in result
    succeed("evaluate", one_label_model, one_label, "--confused", "--confusion-matrix")
    printed = capsys.readouterr().out
    assert "Labels that are taken for others:\nlabel" in printed
    assert printed.splitlines()[-3].startswith("1 account")


def test_a_comparison_and_its_report(
    one_label: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    compare = ("compare", one_label, "--methods", "naive,pooled,fun-tat,lri,dci", "--runs", 2, "--jobs", 1)
    succeed(*compare, "-o", output, "--json")
    captured = capsys.readouterr()
    assert SINGLE_LABEL_NOTICE in captured.err.splitlines()
    result = json.loads(captured.out)
    assert list(result["best"])[:2] == ["accuracy", "micro_f1"]
    assert list(result) == ["command", "methods", "best", "pairs", "dummy", "unknown_labels"]
    for method in result["methods"].values():
        assert list(method["average"])[:2] == ["accuracy", "micro_f1"]
        assert sum(number for _, _, number in method["confusion"]) == 2 * 24
    page = (output / "report.md").read_text(encoding="utf-8")
    assert "### Which labels" in page
    assert "one per document" in page
    assert (output / "data" / "confusion.csv").read_text().splitlines()[0] == (
        r"true \ given,account,hardware,money"
    )
    # Results of several labels are others, and kept beside.
    succeed(*compare, "-o", output, "--json", "--several-labels")
    assert "accuracy" not in json.loads(capsys.readouterr().out)["best"]
    succeed(*compare, "-o", output)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["method", "accuracy", "macro-F1", "fit", "s"]
    assert printed[6].startswith("(most frequent)")


def test_experiments(one_label: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--data", one_label, "--methods", "naive,fun-tat", "-o", tmp_path / "out", "--jobs", 1)
    succeed("research", "experiment", "all", *options)
    assert capsys.readouterr().err.splitlines()[0] == SINGLE_LABEL_NOTICE
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert list(results) == parse_experiments(ALL_EXPERIMENTS)
    assert "accuracy" in results["contributions"]["benefit"]
    assert "accuracy" in results["learning-curves"]["it"][0]["Naive"]
    assert "accuracy" in results["per-language"]["improvements"]
    assert "accuracy" in results["zero-shot"]["methods"]["fun-zero-shot"]


def test_models_learn_on(
    one_label_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], refuses: Refuses
) -> None:
    german = write_jsonl(tmp_path / "de.jsonl", with_splits(one_label_documents(["de"])))
    succeed("update", one_label_model, german, "-o", tmp_path / "grown", "--jobs", 1)
    printed = capsys.readouterr().out
    assert printed.splitlines()[1].split() == ["accuracy", "macro-F1"]
    description = describe_model(tmp_path / "grown")
    assert description["single_label"] is True
    assert list(description["scores"]["languages"]) == ["de", "en", "it"]
    assert "accuracy" in description["scores"]["average"]
    more = [
        {**row, "id": f"new-{row['id']}", "labels": ["new"]} for row in one_label_documents(["de"], each=6)
    ]
    succeed("update", tmp_path / "grown", write_jsonl(tmp_path / "more.jsonl", more), "--jobs", 1)
    assert "new" in describe_model(tmp_path / "grown")["labels"]
    capsys.readouterr()
    several = write_jsonl(tmp_path / "several.jsonl", documents(["it"]))
    refuses(
        "update",
        tmp_path / "grown",
        several,
        says=["several.jsonl", 'document "it-2" has 2 labels', "Give it one"],
    )
