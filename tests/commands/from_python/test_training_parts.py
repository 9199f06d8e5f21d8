"""Learning by parts gives the model of the whole, and goes on where it was cut short."""

import subprocess
import sys
from dataclasses import replace
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet as pq
import pytest

from funnelling import InputError, load_model, read_corpus
from funnelling.commands.parts import documents_for_test, fit_parts, learns_by_parts
from funnelling.corpus.blocks import bag
from funnelling.evaluation.splits import SINGLE_LABEL_NOTICE
from funnelling.methods.learning import forget, further
from funnelling.methods.model import Model
from funnelling.methods.parts import prepare
from funnelling.methods.registry import make_method
from funnelling.storage import save
from tests.commands.command import one_label_documents, with_splits
from tests.commands.from_python.folders import rows, write_parts


def _model(name: str = "fun-tat", **parameters: Any) -> Any:
    return make_method(name, seed=0, jobs=1).under(**parameters)


def _bytes(model: Model, folder: Path) -> dict[str, bytes]:
    save(model, folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["fun-tat", "fun-kfcv", "naive"])
@pytest.mark.parametrize("divided", [True, False])
def test_the_model_is_that_of_the_documents_in_memory(tmp_path: Path, name: str, divided: bool) -> None:
    made = rows() if divided else [{**row, "split": None} for row in rows()]
    folder = write_parts(tmp_path / "parts", made)
    by_parts = _model(name)
    by_parts = fit_parts(by_parts, folder, tmp_path / "work", jobs=1)
    corpus = read_corpus(folder)
    whole = _model(name).fit(corpus.split("train") if divided else corpus)
    assert _bytes(by_parts, tmp_path / "a") == _bytes(whole, tmp_path / "b")


class TestLearningOn:
    """A model of parts keeps its documents' words, and learns on as any other."""

    @pytest.mark.parametrize("name", ["fun-tat", "fun-kfcv", "naive"])
    @pytest.mark.parametrize("numbered", [False, True])
    def test_gives_the_model_of_all_parts(self, tmp_path: Path, name: str, numbered: bool) -> None:
        made = [{**row, "id": None} if numbered else row for row in rows()]
        order = [row["language"] for row in made].index
        folder = write_parts(tmp_path / "parts", sorted(made, key=lambda row: order(row["language"])), 4)
        whole = _model(name)
        whole = fit_parts(whole, folder, tmp_path / "work", jobs=1)
        last = folder / "part-3.parquet"
        further = read_corpus(last).split("train")
        last.unlink()
        grown = _model(name)
        grown = fit_parts(grown, folder, tmp_path / "work", jobs=1)
        save(grown, tmp_path / "grown")
        grown = load_model(tmp_path / "grown")
        ids = None if numbered else further.ids
        grown.update(further.texts, further.y, further.languages, ids=ids, exact=True)
        texts = [row["text"] for row in made]
        languages = [row["language"] for row in made]
        np.testing.assert_array_equal(
            grown.decision_function(texts, languages), whole.margins(texts, languages)
        )
        assert grown.documents_ == whole.documents

    def test_corrects_and_forgets_documents(self, tmp_path: Path) -> None:
        folder = write_parts(tmp_path / "parts", rows())
        model = _model()
        model = fit_parts(model, folder, tmp_path / "work", jobs=1)
        first = read_corpus(folder).split("train").select([0])
        merged = further(model, first.texts, [["money"]], first.languages, ids=first.ids)
        assert sum(map(len, merged.corrected.values())) == 1
        assert not merged.new
        documents = sum(model.documents.values())
        assert sum(forget(model, first.ids).documents.values()) == documents - 1

    def test_texts_are_kept_as_they_were_written_where_that_was_asked_for(self, tmp_path: Path) -> None:
        folder = write_parts(tmp_path / "parts", rows())
        train = read_corpus(folder).split("train")
        for keep_texts in (True, False):
            model = _model(keep="texts" if keep_texts else "words")
            model = fit_parts(model, folder, tmp_path / "work", jobs=1)
            assert model.archive.kind == ("as written" if keep_texts else "bags")
            kept = sorted(text for texts in model.archive.documents.values() for text in texts)
            assert kept == sorted(train.texts if keep_texts else map(bag, train.texts))

    def test_is_refused_where_words_would_take_too_much(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr("funnelling.methods.parts.MAX_STORED_CHARACTERS", 1_000)
        folder = write_parts(tmp_path / "parts", rows())
        model = _model()
        model = fit_parts(model, folder, tmp_path / "work", jobs=1)
        assert "more than 1,000 characters, so the model keeps none of their words" in caplog.text
        assert model.archive.kind == "none"
        save(model, tmp_path / "m")
        model = load_model(tmp_path / "m")
        assert model.explain(["printer"], languages=["en"])[0]["language"] == "en"
        with pytest.raises(
            InputError, match=r"too many training documents to store .* part files, and train it again"
        ):
            model.update(["printer"], [["money"]], languages=["en"])

    def test_is_refused_by_a_compact_model(self, tmp_path: Path) -> None:
        model = _model(keep="nothing")
        model = fit_parts(model, write_parts(tmp_path / "parts", rows()), tmp_path / "work", jobs=1)
        assert model.archive is None
        with pytest.raises(InputError, match="The model is compact"):
            further(model, ["printer"], [["money"]], ["en"])


@pytest.mark.parametrize("labels", [2, 3])
def test_one_label_per_document_is_noticed(tmp_path: Path, labels: int) -> None:
    made = with_splits(one_label_documents(labels=labels))
    folder = write_parts(tmp_path / "parts", made)
    lines: list[str] = []
    by_parts = _model()
    by_parts = fit_parts(by_parts, folder, tmp_path / "work", jobs=1, report=lines.append)
    assert lines == [SINGLE_LABEL_NOTICE]
    train = read_corpus(folder).split("train")
    train = replace(train, one_label=True)
    assert _bytes(by_parts, tmp_path / "a") == _bytes(_model().fit(train), tmp_path / "b")
    several = _model()
    several = fit_parts(several, folder, tmp_path / "work", jobs=1, one_label=False)
    assert not several.labels.single_label


def test_one_label_per_document_is_refused_where_it_is_not_so(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", rows())
    with pytest.raises(InputError, match=r'parts: document "de-\d+" has .*, not exactly one'):
        fit_parts(_model(), folder, tmp_path / "work", jobs=1, one_label=True)


def test_groups_stay_together_and_missing_languages_are_found(tmp_path: Path) -> None:
    made = [{**row, "group": f"g{number // 4}"} for number, row in enumerate(rows())]
    for row in made[::7]:
        del row["language"]
    folder = write_parts(tmp_path / "parts", made)
    by_parts = _model()
    by_parts = fit_parts(by_parts, folder, tmp_path / "work", jobs=1)
    whole = _model().fit(read_corpus(folder).split("train"))
    assert _bytes(by_parts, tmp_path / "a") == _bytes(whole, tmp_path / "b")


def test_processes_change_nothing(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", rows(), parts=4)
    one, two = (prepare(sorted(map(str, folder.iterdir())), tmp_path / f"w{n}", jobs=n) for n in (1, 2))
    for language in one.vectors:
        np.testing.assert_array_equal(one.vectors[language].toarray(), two.vectors[language].toarray())
        np.testing.assert_array_equal(one.targets[language], two.targets[language])
        assert one.blocks[language].ids == two.blocks[language].ids


def test_vectors_stand_on_the_disk(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", rows())
    found = prepare(sorted(map(str, folder.iterdir())), tmp_path / "work", jobs=1)
    base: Any = found.vectors["it"].data
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, mmap)


def test_what_is_counted_is_not_counted_again(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", rows())
    parts = sorted(map(str, folder.iterdir()))
    prepare(parts, tmp_path / "work", jobs=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "work").glob("*.counts")}
    assert len(before) == 3
    victim = min(before)
    victim.write_bytes(victim.read_bytes()[:100])  # as a crash may leave it on some disks
    prepare(parts, tmp_path / "work", jobs=1)
    changed = [path for path, time in before.items() if path.stat().st_mtime_ns != time]
    assert changed == [victim]


def test_a_part_that_has_changed_is_counted_again(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", rows())
    parts = sorted(map(str, folder.iterdir()))
    prepare(parts, tmp_path / "work", jobs=1)
    from funnelling import write_documents
    from tests.commands.from_python.folders import as_documents

    write_documents(
        parts[0], as_documents([{**row, "text": "altogether new"} for row in rows()[:40]]), force=True
    )
    found = prepare(parts, tmp_path / "work", jobs=1)
    assert "altogether" in found.made_by["en"].vocabulary_ or "new" in found.made_by["en"].vocabulary_


def test_a_corrupt_part_is_named_before_anything_is_counted(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", rows())
    last = folder / "part-2.parquet"
    last.write_bytes(last.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"part-2\.parquet: not readable as Parquet"):
        prepare(sorted(map(str, folder.iterdir())), tmp_path / "work", jobs=1)


def test_a_bad_row_is_named_and_the_other_parts_stay_counted(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", rows())
    parts = sorted(map(str, folder.iterdir()))
    whole = Path(parts[2]).read_bytes()
    table = pq.read_table(parts[2])
    splits = pyarrow.array(["train", "dev"] + ["train"] * (len(table) - 2))
    pq.write_table(table.set_column(table.schema.get_field_index("split"), "split", splits), parts[2])
    with pytest.raises(InputError, match=r'part-2\.parquet:2: "split" must be train, test or parallel'):
        prepare(parts, tmp_path / "work", jobs=1)
    assert len(list((tmp_path / "work").glob("*.counts"))) == 2
    Path(parts[2]).write_bytes(whole)
    assert sum(prepare(parts, tmp_path / "work", jobs=1).sizes.values()) == 80


@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be limited there")
def test_a_full_disk_is_named_and_what_is_finished_stays(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", [*rows(), *[{**row, "id": "x" * 200_000} for row in rows(1)]], 4)
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000));"
        "from funnelling.commands import main; sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["train", str(folder), "-o", str(tmp_path / "model"), "--method", "fun-tat", "--jobs", "1"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "part-3.parquet.counts: file too large. Make room or choose another disk." in done.stderr
    assert len(list((tmp_path / "model.work").glob("*.counts"))) == 3
    assert not (tmp_path / "model").exists()


def test_parts_without_any_language_are_refused(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", [{**row, "language": None} for row in rows()])
    with pytest.raises(InputError, match="names its language"):
        prepare(sorted(map(str, folder.iterdir())), tmp_path / "work", jobs=1)


def test_parts_without_anything_to_learn_from_are_refused(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", [{**row, "split": "test"} for row in rows()])
    with pytest.raises(InputError, match='split "train"'):
        prepare(sorted(map(str, folder.iterdir())), tmp_path / "work", jobs=1)


@pytest.mark.parametrize("labels", [[], ["all"]])
def test_labels_that_say_nothing_are_refused(tmp_path: Path, labels: list[str]) -> None:
    folder = write_parts(tmp_path / "parts", [{**row, "labels": labels} for row in rows()])
    with pytest.raises(InputError, match="Nothing to learn"):
        fit_parts(_model(), folder, tmp_path / "work", jobs=1)


def test_which_methods_learn_by_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_parts(tmp_path / "parts", rows())
    assert learns_by_parts(_model("fun-tat"), folder)
    assert not learns_by_parts(_model("pooled"), folder)
    assert not learns_by_parts(_model("fun-views"), folder)
    assert not learns_by_parts(_model("fun-auto"), folder)  # few documents: all views are tried
    monkeypatch.setattr("funnelling.commands.parts.MAX_DOCUMENTS_FOR_VIEW_SEARCH", 100)
    assert learns_by_parts(_model("fun-auto"), folder)
    assert not learns_by_parts(_model("fun-tat"), folder / "part-0.parquet")
    (folder / "more.jsonl").write_text("{}")
    assert not learns_by_parts(_model("fun-tat"), folder)


def test_auto_chooses_among_own_words(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", rows())
    model = _model("fun-auto")
    model = fit_parts(model, folder, tmp_path / "work", jobs=1)
    choice = model.fitted.chosen
    assert choice.views == ["own"]
    assert {row["name"] for row in choice.tried} == {"fun-tat", "own, odds", "own"}


def test_documents_for_test_are_found_in_all_parts(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", rows())
    assert documents_for_test(folder, ["en"]).ids == [row["id"] for row in rows() if row["split"] == "test"]


def test_a_method_that_reads_texts_refuses_vectors(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts", rows())
    with pytest.raises(InputError, match="needs the texts themselves"):
        fit_parts(_model("pooled"), folder, tmp_path / "work", jobs=1)
