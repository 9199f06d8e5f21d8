"""Models that learn on, from Python: what has changed comes back."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import InputError, load_model
from funnelling.commands.declaring import NegativeResultError
from funnelling.evaluation.change import HELD_OUT, NOT_MEASURED, TEST
from funnelling.storage import describe_model, save_model
from tests.commands.command import (
    LABELS,
    contents,
    documents,
    forget,
    one_label_documents,
    train,
    update,
    with_splits,
    write_jsonl,
)


def further(languages: list[str], **fields: Any) -> list[dict[str, Any]]:
    """Documents like those of the model, with ids and texts of their own."""
    return [
        {**row, "id": f"new-{row['id']}", "text": f"{row['text']} {row['text']}", **fields}
        for row in documents(languages)
    ]


def test_a_further_language(model: Path, tmp_path: Path) -> None:
    before, lines = contents(model), list[str]()
    data = write_jsonl(tmp_path / "de.jsonl", with_splits(documents(["de"])))
    growth = update(model, data, tmp_path / "new", report=lines.append)
    assert contents(model) == before
    assert load_model(tmp_path / "new").languages_ == growth.model.languages == ["de", "en", "it"]
    assert lines == ["Documents: 16 new.", "New languages: de (16 documents)."]
    assert (growth.new, growth.corrected, growth.new_labels) == (16, 0, [])
    assert growth.new_languages == ["de"]
    assert list(growth.change.before) == ["en", "it"]  # the model knew no German
    assert growth.change.on == {"de": TEST, "en": HELD_OUT, "it": HELD_OUT}


def test_further_documents_and_corrected_ones(model: Path, tmp_path: Path) -> None:
    rows = with_splits(documents(["it"], each=30))
    for row in rows:
        row["labels"] = [*row["labels"], "new"] if row["split"] == "train" else row["labels"]
    growth = update(model, write_jsonl(tmp_path / "more.jsonl", rows), tmp_path / "new", force=True)
    assert growth.model.documents == {"en": 16, "it": 20}
    assert (growth.new, growth.corrected, growth.replaced, growth.unchanged) == (4, 16, 0, 0)
    assert growth.new_labels == ["new"]
    assert growth.change.on == {"en": HELD_OUT, "it": TEST}
    assert growth.change.before["it"]["documents"] == growth.change.after["it"]["documents"] == 10


def test_where_nothing_is_new_nothing_is_done(model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "copy")
    rows = [row for row in with_splits(documents()) if row["split"] == "train"]
    lines: list[str] = []
    growth = update(tmp_path / "copy", write_jsonl(tmp_path / "same.jsonl", rows), report=lines.append)
    assert (growth.unchanged, growth.change) == (32, NOT_MEASURED)
    assert lines[-1] == "Nothing is new: the model stays as it is."
    assert contents(tmp_path / "copy") == contents(model)


def test_other_texts_under_most_ids_are_refused(model: Path, tmp_path: Path) -> None:
    rows = [{**row, "text": f"comment {n}"} for n, row in enumerate(documents(["it"]))]
    with pytest.raises(InputError, match=r"--id-column none .* --text-column none .* --force"):
        update(model, write_jsonl(tmp_path / "comments.jsonl", rows), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    growth = update(model, write_jsonl(tmp_path / "c.jsonl", rows[:9]), tmp_path / "new", force=True)
    assert growth.replaced == 6


def test_documents_that_come_twice_are_told(model: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    rows = [row for row in further(["it"])[:3] for _ in range(2)]
    update(model, write_jsonl(tmp_path / "it.jsonl", rows), tmp_path / "new", report=lines.append, force=True)
    assert "6 new documents with the id or the text of another: each is added." in lines


def test_an_id_that_another_language_has_is_told(model: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    rows = [{**row, "language": "de"} for row in documents(["it"])[:4]]
    update(model, write_jsonl(tmp_path / "de.jsonl", rows), tmp_path / "new", report=lines.append, force=True)
    assert "2 new documents with the id of a training document in another language." in lines


def test_documents_that_bring_nothing_new_are_not_learned_twice(model: Path, tmp_path: Path) -> None:
    rows = [row for row in with_splits(documents()) if row["split"] == "train"]
    growth = update(model, write_jsonl(tmp_path / "same.jsonl", rows), tmp_path / "new", exact=True)
    assert (growth.new, growth.corrected, growth.unchanged) == (0, 0, 32)
    texts = [row["text"] for row in documents()]
    languages = [row["language"] for row in documents()]
    old, new = load_model(model), load_model(tmp_path / "new")
    assert np.array_equal(old.predict_proba(texts, languages), new.predict_proba(texts, languages))


def test_documents_without_ids_are_known_by_their_texts(tmp_path: Path) -> None:
    rows = [{key: row[key] for key in row if key != "id"} for row in documents()]
    train("fun-tat", write_jsonl(tmp_path / "docs.jsonl", rows), tmp_path / "model", no_measure=True)
    changed = [{**rows[5], "labels": ["money"]}, rows[7]]
    growth = update(tmp_path / "model", write_jsonl(tmp_path / "more.jsonl", changed), force=True)
    assert (growth.new, growth.corrected, growth.unchanged) == (0, 1, 1)


def test_the_same_id_with_another_text_is_replaced_and_said(model: Path, tmp_path: Path) -> None:
    rows = [{**row, "id": row["id"].removeprefix("new-")} for row in further(["it"])][1:3]
    lines: list[str] = []
    growth = update(
        model, write_jsonl(tmp_path / "more.jsonl", rows), tmp_path / "new", report=lines.append, force=True
    )
    assert (growth.new, growth.replaced) == (0, 2)
    assert any("replaced" in line and "--id-column none" in line for line in lines)


def test_new_languages_may_come_with_further_documents(model: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    data = write_jsonl(tmp_path / "more.jsonl", further(["it", "de"]))
    growth = update(model, data, tmp_path / "new", report=lines.append, force=True)
    assert growth.new_languages == ["de"]
    assert "New languages: de (24 documents)." in lines


def test_a_further_language_is_detected(model: Path, tmp_path: Path) -> None:
    finnish = [f"Hei kaikki, tämä on lyhyt kirje pankista ja lainoista {n}" for n in range(20)]
    rows = [{"id": f"fi-{n}", "text": text, "labels": ["money"]} for n, text in enumerate(finnish)]
    rows += [{**row, "language": None} for row in further(["it"])[:4]]
    growth = update(model, write_jsonl(tmp_path / "fi.jsonl", rows), tmp_path / "new", force=True)
    assert growth.new_languages == ["fi"]
    assert growth.model.documents == {"en": 16, "fi": 20, "it": 20}
    few = write_jsonl(tmp_path / "few.jsonl", rows[12:])
    assert not update(model, few, tmp_path / "few", force=True).new_languages
    among = update(model, few, tmp_path / "fi", force=True, languages=["fi", "it"])
    assert among.new_languages == ["fi"]


class TestCorrections:
    def corrections(self, path: Path, rows: list[tuple[str, str]], header: str = "id,labels") -> Path:
        path.write_text("\n".join([header, *(f"{name},{labels}" for name, labels in rows)]) + "\n")
        return path

    def test_an_id_and_labels_are_enough(self, model: Path, tmp_path: Path) -> None:
        data = self.corrections(tmp_path / "c.csv", [("it-1", "money"), ("en-2", "[]"), ("en-4", "")])
        growth = update(model, data, tmp_path / "new", force=True)
        assert (growth.new, growth.corrected) == (0, 2)
        assert 0 <= growth.corrections_learned <= 2
        archive = load_model(tmp_path / "new").training_
        row = archive.blocks["it"].ids.index("it-1")
        assert archive.targets["it"][row].tolist() == [label == "money" for label in sorted(LABELS)]
        assert not archive.targets["en"][archive.blocks["en"].ids.index("en-2")].any()

    def test_what_is_learned_is_what_training_on_the_corrected_file_gives(
        self, model: Path, split_data: Path, tmp_path: Path
    ) -> None:
        rows = [json.loads(line) for line in split_data.read_text().splitlines()]
        for row in rows:
            if row["id"] in ("it-1", "en-2"):
                row["labels"] = ["money"]
        train("fun-tat", write_jsonl(tmp_path / "all.jsonl", rows), tmp_path / "at-once")
        data = self.corrections(tmp_path / "c.csv", [("it-1", "money"), ("en-2", "money")])
        update(model, data, tmp_path / "new", exact=True, force=True)
        texts, languages = [row["text"] for row in rows], [row["language"] for row in rows]
        grown, at_once = load_model(tmp_path / "new"), load_model(tmp_path / "at-once")
        assert np.array_equal(grown.predict_proba(texts, languages), at_once.predict_proba(texts, languages))

    def test_they_may_stand_beside_further_documents(self, model: Path, tmp_path: Path) -> None:
        rows: list[Any] = [{"id": "it-1", "labels": ["money"]}, *further(["it"])[:4]]
        growth = update(model, write_jsonl(tmp_path / "m.jsonl", rows), tmp_path / "new", force=True)
        assert (growth.new, growth.corrected) == (4, 1)
        assert growth.model.documents == {"en": 16, "it": 20}

    def test_a_text_that_is_kept_is_kept_as_it_was(self, model: Path, tmp_path: Path) -> None:
        data = self.corrections(tmp_path / "c.csv", [("it-1", "money")])
        growth = update(model, data, tmp_path / "new", force=True)
        old, new = load_model(model).training_, growth.model.archive
        for tag, block in old.blocks.items():
            assert new.documents[tag] == block.documents
            assert new.blocks[tag].beginnings == block.beginnings

    def test_an_empty_cell_of_text_is_no_text(self, model: Path, tmp_path: Path) -> None:
        (tmp_path / "c.csv").write_text("id,text,labels,language\nit-1,,money,it\n")
        growth = update(model, tmp_path / "c.csv", tmp_path / "new", force=True)
        assert (growth.new, growth.corrected, growth.replaced) == (0, 1, 0)

    @pytest.mark.parametrize(
        ("rows", "says"),
        [
            ([("nobody", "money")], r'no training document has the id "nobody"\. Correct the ids'),
            ([("nobody", "money"), ("none", "money")], r'"nobody", nor 1 more'),
        ],
    )
    def test_unknown_ids_are_refused(
        self, model: Path, tmp_path: Path, rows: list[tuple[str, str]], says: str
    ) -> None:
        with pytest.raises(InputError, match=says):
            update(model, self.corrections(tmp_path / "c.csv", rows), tmp_path / "new")
        assert not (tmp_path / "new").exists()

    def test_ids_of_several_languages_need_the_language(self, tmp_path: Path) -> None:
        rows = [{**row, "id": row["id"].split("-")[1]} for row in documents()]
        train("fun-tat", write_jsonl(tmp_path / "d.jsonl", rows), tmp_path / "model", no_measure=True)
        data = self.corrections(tmp_path / "c.csv", [("4", "account")])
        with pytest.raises(InputError, match=r"c\.csv: .*en and it.*'4'.*language"):
            update(tmp_path / "model", data)
        (tmp_path / "c.csv").write_text("id,labels,language\n4,account,it\n")
        assert update(tmp_path / "model", data, force=True).corrected == 1

    def test_of_one_label_per_document(self, tmp_path: Path) -> None:
        data = write_jsonl(tmp_path / "docs.jsonl", one_label_documents())
        train("fun-tat", data, tmp_path / "model", no_measure=True)
        corrections = self.corrections(tmp_path / "c.csv", [("it-0", "money"), ("it-7", "hardware")])
        growth = update(tmp_path / "model", corrections, force=True)
        assert growth.corrected == 2
        assert "accuracy" in growth.change.average_after


class TestAFall:
    def spoiled(self, path: Path) -> Path:
        """Labels that have nothing to do with the texts, for many documents."""
        rows = further(["en", "it"])
        for number, row in enumerate(rows):
            row["labels"] = [LABELS[number % 3]] if number % 2 else []
        return write_jsonl(path, rows)

    def measured(self, tmp_path: Path) -> Path:
        """The spoiled documents with test documents beside them."""
        spoiled = [json.loads(line) for line in self.spoiled(tmp_path / "s.jsonl").read_text().splitlines()]
        test = [
            {**row, "id": f"test-{number}-{row['id']}", "text": f"{row['text']} {word}", "split": "test"}
            for number, word in enumerate(["uno", "due", "tre"])
            for row in documents()
        ]
        train_rows = [{**row, "split": "train"} for row in spoiled]
        return write_jsonl(tmp_path / "more.jsonl", [*train_rows, *test])

    def test_the_old_model_stays(self, model: Path, tmp_path: Path) -> None:
        before = contents(model)
        reason = r"fell from \S+ to .*more than noise.*--force"
        with pytest.raises(NegativeResultError, match=reason) as refused:
            update(model, self.measured(tmp_path), tmp_path / "new")
        assert contents(model) == before
        assert not (tmp_path / "new").exists()
        (fall, *_) = refused.value.result.change.regressions
        assert fall.language is None
        assert fall.before > fall.after

    def test_unless_it_is_forced(self, model: Path, tmp_path: Path) -> None:
        growth = update(model, self.measured(tmp_path), tmp_path / "new", force=True)
        assert growth.change.regressions
        assert load_model(tmp_path / "new").documents_ == {"en": 40, "it": 40}


def test_test_documents_in_all_languages_are_what_the_model_is_measured_on(
    model: Path, tmp_path: Path
) -> None:
    rows = [{**row, "group": row["id"]} for row in with_splits(further(["en", "it"]))]
    update(model, write_jsonl(tmp_path / "more.jsonl", rows), tmp_path / "new")
    how = describe_model(tmp_path / "new")["scores"]["evaluated_on"]
    assert how == "Measured on 16 test documents after the update."


def test_the_report_is_that_of_the_new_model(model: Path, tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "de.jsonl", documents(["de"]))
    update(model, data, tmp_path / "new")
    old, new = ((folder / "report.html").read_text(encoding="utf-8") for folder in (model, tmp_path / "new"))
    how = "Measured by inner folds over the training documents after the update."
    assert how in new
    assert how not in old
    assert "48 documents in 2 languages" not in new
    assert "in 3 languages" in new


class TestBaselines:
    def test_they_learn_on_and_are_measured_on_test_documents(self, split_data: Path, tmp_path: Path) -> None:
        train("naive", split_data, tmp_path / "model")
        rows = with_splits(further(["it"]))
        growth = update(tmp_path / "model", write_jsonl(tmp_path / "more.jsonl", rows))
        assert growth.change.on == {"it": TEST}

    def test_without_any_they_are_not_measured(self, split_data: Path, tmp_path: Path) -> None:
        train("naive", split_data, tmp_path / "model")
        growth = update(tmp_path / "model", write_jsonl(tmp_path / "more.jsonl", further(["it"])))
        assert growth.change.after == {}
        assert describe_model(tmp_path / "model")["scores"] is None


class TestChoosingAnew:
    def test_without_documents(self, split_data: Path, tmp_path: Path) -> None:
        train("fun-auto", split_data, tmp_path / "model")
        lines: list[str] = []
        growth = update(tmp_path / "model", choose=True, report=lines.append, force=True)
        assert (growth.new, growth.corrected) == (0, 0)
        assert any(line.startswith("Chose") for line in lines)

    def test_more_documents_than_the_views_were_chosen_by_are_said(
        self, split_data: Path, tmp_path: Path
    ) -> None:
        train("fun-auto", split_data, tmp_path / "model")
        lines: list[str] = []
        data = write_jsonl(tmp_path / "more.jsonl", further(["en", "it"]))
        update(tmp_path / "model", data, report=lines.append, force=True)
        assert any("--choose" in line for line in lines)

    def test_of_views_that_were_given_it_is_refused(self, model: Path) -> None:
        with pytest.raises(InputError, match="views were given, not chosen"):
            update(model, choose=True)

    def test_nothing_to_learn_is_refused(self, model: Path) -> None:
        with pytest.raises(InputError, match="nothing to add"):
            update(model)


@pytest.mark.parametrize("exact", [False, True])
def test_few_documents_for_a_large_model_leave_what_was_held_out(
    split_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    monkeypatch.setattr("funnelling.funnel.inheritance.WARM_START_MIN_DOCUMENTS", 10)
    train("fun-auto", split_data, tmp_path / "model")
    data = write_jsonl(tmp_path / "more.jsonl", further(["it"])[1:2])
    growth = update(tmp_path / "model", data, exact=exact, force=True)
    assert growth.reused_folds is not exact
    assert growth.record()["reused_folds"] is not exact


def test_the_model_remembers_what_it_learned_from(model: Path, tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "more.jsonl", further(["it"])[:3])
    growth = update(model, data, tmp_path / "new", force=True)
    step = growth.model.history[-1]
    assert (step["step"], step["file"], step["documents"], step["new"]) == (
        "update",
        "more.jsonl",
        {"it": 3},
        3,
    )


class TestAfterALabelWasDropped:
    """Documents of a dropped class have none, and are learned no more."""

    @pytest.fixture
    def dropped(self, tmp_path: Path) -> Path:
        path = tmp_path / "model"
        train("fun-tat", write_jsonl(tmp_path / "one.jsonl", one_label_documents()), path, no_measure=True)
        model = load_model(path)
        model.relabel({model.classes_[0]: None})
        save_model(model, path, force=True)
        return path

    def test_it_can_forget(self, dropped: Path, tmp_path: Path) -> None:
        model = load_model(dropped)
        row = int(np.flatnonzero(model.training_.targets["en"].any(axis=1))[0])
        (tmp_path / "ids.txt").write_text(model.training_.blocks["en"].ids[row] + "\n")
        forgetful = forget(dropped, tmp_path / "ids.txt", tmp_path / "new")
        assert forgetful.forgotten == {"en": 1}

    def test_before_is_what_it_was(self, dropped: Path, tmp_path: Path) -> None:
        model = load_model(dropped)
        kept = [row for row in one_label_documents() if row["labels"][0] in model.classes_]
        rows = [{"id": kept[0]["id"], "labels": kept[0]["labels"]}]
        rows += [{**row, "id": f"new-{row['id']}", "text": f"{row['text']} more"} for row in kept[:6]]
        growth = update(dropped, write_jsonl(tmp_path / "more.jsonl", rows), tmp_path / "new", force=True)
        places = {tag: np.flatnonzero(each.any(axis=1)) for tag, each in model.training_.targets.items()}
        assert sum(map(len, places.values())) + growth.new == sum(growth.model.documents.values())
        assert growth.change.average_before["accuracy"] > 0.6
