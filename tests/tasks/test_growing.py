"""Models that learn on, from Python: what has changed comes back."""

from pathlib import Path

import pytest

from funnelling import InputError, load_model
from funnelling.storage import describe_model
from funnelling.tasks.growing import add_language, update
from tests.cli.command import contents, documents, with_splits, write_jsonl


def test_a_further_language(model: Path, tmp_path: Path) -> None:
    before, lines = contents(model), list[str]()
    data = write_jsonl(tmp_path / "de.jsonl", with_splits(documents(["de"])))
    growth = add_language(model, data, tmp_path / "new", report=lines.append)
    assert contents(model) == before
    assert load_model(tmp_path / "new").languages_ == growth.model.languages_ == ["de", "en", "it"]
    assert lines == ["Learning from 16 documents in de."]
    assert (growth.test_documents, growth.corrected, growth.new_labels) == (8, 0, 0)
    assert growth.on_test.before == {}  # the model knew no German
    assert list(growth.on_test.after) == ["de"]
    assert list(growth.on_held_out.before) == ["en", "it"]
    assert list(growth.on_held_out.after) == ["de", "en", "it"]


def test_further_documents_and_corrected_ones(model: Path, tmp_path: Path) -> None:
    rows = with_splits(documents(["it"], each=30))
    for row in rows:
        row["labels"] = [*row["labels"], "new"] if row["split"] == "train" else row["labels"]
    growth = update(model, write_jsonl(tmp_path / "more.jsonl", rows), tmp_path / "new")
    assert growth.model.documents_ == {"en": 16, "it": 20}
    assert (growth.test_documents, growth.corrected, growth.new_labels) == (10, 16, 1)
    assert list(growth.on_test.before) == list(growth.on_test.after) == ["it"]


def test_test_documents_in_all_languages_are_what_the_model_is_measured_on(
    model: Path, tmp_path: Path
) -> None:
    rows = [{**row, "id": f"new-{row['id']}", "group": row["id"]} for row in with_splits(documents())]
    update(model, write_jsonl(tmp_path / "more.jsonl", rows), tmp_path / "new")
    how = describe_model(tmp_path / "new")["scores"]["how"]
    assert how == "Measured on 16 test documents after it learned on."


def test_the_report_is_that_of_the_new_model(model: Path, tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "de.jsonl", documents(["de"]))
    add_language(model, data, tmp_path / "new")
    old, new = ((folder / "report.html").read_text(encoding="utf-8") for folder in (model, tmp_path / "new"))
    how = "Measured by inner folds over the training documents after it learned on."
    assert how in new
    assert how not in old
    assert "48 documents in 2 languages" not in new
    assert "in 3 languages" in new


def test_the_other_task_is_named(model: Path, tmp_path: Path) -> None:
    german = write_jsonl(tmp_path / "de.jsonl", documents(["de"]))
    italian = write_jsonl(tmp_path / "it.jsonl", documents(["it"]))
    with pytest.raises(InputError, match=r"de\.jsonl: the model does not know de.*add-language"):
        update(model, german, tmp_path / "new")
    with pytest.raises(InputError, match=r"it\.jsonl: the model knows it already.*funnelling update"):
        add_language(model, italian, tmp_path / "new")
    assert not (tmp_path / "new").exists()
