"""Training from Python: what the command does, with an answer that can be looked into."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import InputError, load_model, read_corpus
from funnelling.research import NaiveClassifier
from funnelling.storage import describe_model
from tests.commands.command import (
    contents,
    documents,
    one_label_documents,
    succeed,
    train,
    with_splits,
    write_jsonl,
)
from tests.commands.from_python.folders import rows, write_parts
from tests.funnels import any_funnel
from tests.report.reading import read_page


def test_a_name_gives_the_model_of_the_command(split_data: Path, tmp_path: Path) -> None:
    trained = train("fun-tat", split_data, tmp_path / "model", seed=3)
    options = ("--method", "fun-tat", "--seed", 3, "--jobs", 1)
    succeed("train", split_data, "-o", tmp_path / "by-command", *options)
    assert contents(tmp_path / "model") == contents(tmp_path / "by-command")
    assert trained.model.languages == ["en", "it"]
    assert trained.measurement.how == "Measured on 16 test documents."
    assert describe_model(tmp_path / "model")["scores"] == trained.measurement.record()


def test_a_method_of_ones_own_is_fitted_and_saved(split_data: Path, tmp_path: Path) -> None:
    method = any_funnel(views=None, meta_C=1, random_state=0)
    trained = train(method, split_data, tmp_path / "model")
    assert trained.model.history[-1]["step"] == "train"
    assert load_model(tmp_path / "model").meta_C == 1


def test_the_default_of_the_command_is_that_of_python(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", documents(each=36))
    succeed("train", data, "-o", tmp_path / "model", "--seed", 3, "--no-measure")
    corpus = read_corpus(data)
    model = any_funnel(random_state=3)
    model.fit(corpus.texts, corpus.labels, languages=corpus.languages)
    assert len(model.choice_.tried) > 1
    np.testing.assert_array_equal(
        load_model(tmp_path / "model").predict_proba(corpus.texts, languages=corpus.languages),
        model.predict_proba(corpus.texts, languages=corpus.languages),
    )


def test_every_step_is_reported(tmp_path: Path) -> None:
    rows = [*documents(), {"text": "no label", "language": "en"}]
    lines: list[str] = []
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    trained = train(NaiveClassifier(C=1, random_state=0), data, tmp_path / "model", report=lines.append)
    assert lines == [
        f"{data}: 1 of 49 documents have no labels and are left out.",
        f"{data}: 48 documents, 2 languages, 3 labels (multilabel).",
        lines[2],
        "Measuring by five outer folds.",
    ]
    assert re.fullmatch(r"Training naive … \d+\.\d s", lines[2])
    assert trained.measurement.how == "Measured by five outer folds over the training documents."


def test_nothing_is_printed(split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train("naive", split_data, tmp_path / "model")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_outer_folds_may_be_left_out(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", documents())
    measurement = train("fun-tat", data, tmp_path / "model", no_measure=True).measurement
    assert (measurement.scores, measurement.record(), measurement.how) == (None, None, "Not measured.")


def test_an_output_that_exists_is_refused_before_anything_is_read(model: Path) -> None:
    with pytest.raises(InputError, match=r"exists\. Choose another path or add --force"):
        train("fun-tat", "nowhere.jsonl", model)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (
            {"split": "test"},
            'docs.jsonl: no labelled document with split "train". Mark some with "split": "train".',
        ),
        (
            {"labels": ["all"]},
            "docs.jsonl: nothing to learn, all 48 training documents have the same",
        ),
    ],
)
def test_a_file_that_teaches_nothing_is_named(fields: dict[str, Any], says: str, tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", documents(**fields))
    with pytest.raises(InputError, match=r"docs\.jsonl: no") as refusal:
        train("fun-tat", data, tmp_path / "model")
    assert says in str(refusal.value)


def test_test_documents_in_unknown_languages_are_left_out(tmp_path: Path) -> None:
    rows = [*with_splits(documents()), *documents(["de"], each=2, split="test")]
    trained = train("naive", write_jsonl(tmp_path / "docs.jsonl", rows), tmp_path / "model")
    assert trained.measurement.how == (
        "Measured on 16 test documents (left out, for the model cannot label them: de)."
    )


class TestReport:
    def test_shows_the_errors_of_outer_folds(self, tmp_path: Path) -> None:
        data = write_jsonl(tmp_path / "docs.jsonl", one_label_documents())
        trained = train("naive", data, tmp_path / "model")
        errors = trained.measurement.full["errors"]
        page = read_page((tmp_path / "model" / "report.html").read_text(encoding="utf-8"))
        shown = [heading.text for heading in page.all("h4")]
        assert shown == [f"{error['id']} ({error['language']})" for error in errors]
        assert shown

    def test_is_the_same_wherever_and_whenever_it_is_made(self, split_data: Path, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        for path in (tmp_path / "model", tmp_path / "elsewhere" / "model"):
            train("naive", split_data, path)
        assert contents(tmp_path / "model") == contents(tmp_path / "elsewhere" / "model")
        assert "report.html" in contents(tmp_path / "model")

    def test_keeps_no_text_of_a_model_that_keeps_nothing(self, tmp_path: Path) -> None:
        rows = one_label_documents()
        data = write_jsonl(tmp_path / "docs.jsonl", rows)
        method = any_funnel(views=None, keep="nothing", random_state=0)
        trained = train(method, data, tmp_path / "model")
        assert "errors" not in trained.measurement.full
        page = (tmp_path / "model" / "report.html").read_text(encoding="utf-8")
        assert "--errors" in page
        assert not any(row["text"] in page for row in rows)

    def test_the_command_promises_the_same_of_any_method(self, tmp_path: Path) -> None:
        rows = one_label_documents()
        data = write_jsonl(tmp_path / "docs.jsonl", rows)
        succeed("train", data, "-o", tmp_path / "model", "--method", "naive", "--keep", "nothing")
        page = (tmp_path / "model" / "report.html").read_text(encoding="utf-8")
        assert not any(row["text"] in page for row in rows)

    def test_of_a_model_that_was_not_measured(self, tmp_path: Path) -> None:
        data = write_jsonl(tmp_path / "docs.jsonl", documents())
        train("naive", data, tmp_path / "model", no_measure=True)
        assert "Not measured." in (tmp_path / "model" / "report.html").read_text(encoding="utf-8")


def test_those_who_train_by_parts_into_one_folder_go_one_after_the_other(tmp_path: Path) -> None:
    parts = write_parts(tmp_path / "parts", rows(each=12))
    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(train, "naive", parts, tmp_path / "model", force=True) for _ in range(3)]
    models = [each.result().model.documents for each in running]
    assert models == [load_model(tmp_path / "model").documents_] * 3
    assert {path.name for path in tmp_path.iterdir()} == {"parts", "model"}
