"""Label sets that are long: what is trained and compared by itself, and what its model can be taught."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from funnelling import InputError
from funnelling.commands.parts import has_many_labels, learns_by_parts
from funnelling.commands.train import Train
from funnelling.corpus import Corpus
from funnelling.evaluation.splits import Trial
from funnelling.formats import read_documents
from funnelling.funnel.learning import FUNNEL
from funnelling.funnel.many.learning import MANY_LABELS
from funnelling.methods.baselines import NAIVE
from funnelling.methods.comparing import usual_methods
from funnelling.methods.registry import DEFAULT_COMPARISON, make_method
from funnelling.storage import load
from tests.commands.command import (
    contents,
    documents,
    forget,
    relabel,
    train,
    tune,
    update,
    write_jsonl,
)
from tests.commands.from_python.folders import write_parts


@pytest.fixture(autouse=True)
def two_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The three labels of the documents are many."""
    for module in ("matrices", "commands.parts"):
        monkeypatch.setattr(f"funnelling.{module}.XMC_MIN_LABELS", 2)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("data") / "docs.jsonl", documents())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Iterator[Path]:
    """A model of many labels, which stays as it is."""
    path = tmp_path_factory.mktemp("models") / "fun-many"
    train("fun-many", data, path, no_measure=True)
    before = contents(path)
    yield path
    assert contents(path) == before


def test_many_labels_are_learned_by_the_method_for_them(data: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    trained = train("auto", data, tmp_path / "m", no_measure=True, report=lines.append)
    assert trained.model.algorithm == load(tmp_path / "m").algorithm == MANY_LABELS
    assert "3 labels: fun-many is trained, which is made for so many." in lines


def test_a_method_that_is_named_is_trained_and_another_advised(data: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    trained = train("naive", data, tmp_path / "m", no_measure=True, report=lines.append)
    assert trained.model.algorithm == NAIVE
    assert "3 labels: naive will take long. fun-many is made for so many." in lines
    lines.clear()
    train("fun-many", data, tmp_path / "many", no_measure=True, report=lines.append)
    assert not any("made for so many" in line for line in lines)


def test_few_labels_are_not_many(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("funnelling.matrices.XMC_MIN_LABELS", 3)
    assert train("auto", data, tmp_path / "m", no_measure=True).model.algorithm == FUNNEL


def test_parts_of_many_labels_are_read_as_a_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    parts = write_parts(tmp_path / "parts", documents())
    assert has_many_labels(parts)
    assert not learns_by_parts(make_method("fun-many"), parts)
    assert learns_by_parts(make_method("naive"), parts)
    assert train("auto", parts, tmp_path / "m", no_measure=True).model.algorithm == MANY_LABELS
    assert contents(tmp_path).keys() & {"m.work"} == set()
    monkeypatch.setattr("funnelling.commands.parts.XMC_MIN_LABELS", 3)
    assert not has_many_labels(parts)


def test_what_is_compared_depends_on_labels_and_documents(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_side = Corpus.from_documents(read_documents(data))
    trials = [Trial(train_side, Corpus(), Corpus())]
    assert usual_methods(trials) == (
        ["naive", "fun-many"],
        ["3 labels: comparing naive and fun-many. --methods names others."],
    )
    monkeypatch.setattr("funnelling.methods.comparing.MAX_AFFORDABLE_PAIRS", 100)
    assert usual_methods(trials)[0] == ["fun-many"]
    monkeypatch.setattr("funnelling.matrices.XMC_MIN_LABELS", 3)
    assert usual_methods(trials) == (list(DEFAULT_COMPARISON), [])


def test_options_that_only_some_methods_have_ask_for_one() -> None:
    assert not Train("docs.csv", output="model")._asks_for_method
    given: list[dict[str, Any]] = [
        {"method": "fun-tat"},
        {"goal": "macro-f1"},
        {"set": ["fun-auto.meta_C=1"]},
    ]
    for options in given:
        assert Train("docs.csv", output="model", **options)._asks_for_method


class TestLearningOn:
    def test_a_further_language(self, model: Path, tmp_path: Path) -> None:
        growth = update(model, write_jsonl(tmp_path / "de.jsonl", documents(["de"])), tmp_path / "m")
        assert (growth.new, growth.new_languages) == (24, ["de"])
        assert load(tmp_path / "m").languages == ["de", "en", "it"]

    def test_further_documents_and_corrected_ones(self, model: Path, tmp_path: Path) -> None:
        rows = documents(["it"], each=30)
        rows[0]["labels"] = ["new"]
        growth = update(model, write_jsonl(tmp_path / "more.jsonl", rows), tmp_path / "m")
        assert (growth.new, growth.corrected, growth.unchanged, growth.new_labels) == (6, 1, 23, ["new"])

    def test_labels_alone_correct_documents(self, model: Path, tmp_path: Path) -> None:
        rows = [{"id": "it-0", "language": "it", "labels": ["money"]}]
        growth = update(model, write_jsonl(tmp_path / "labels.jsonl", rows), tmp_path / "m")
        assert (growth.corrected, growth.model.documents) == (1, {"en": 24, "it": 24})

    def test_documents_are_forgotten(self, model: Path, tmp_path: Path) -> None:
        (tmp_path / "ids.txt").write_text("en-0\nen-1\n", encoding="utf-8")
        assert forget(model, tmp_path / "ids.txt", tmp_path / "m").forgotten == {"en": 2}

    def test_labels_are_merged_and_not_dropped(self, model: Path, tmp_path: Path) -> None:
        names = tmp_path / "names.csv"
        names.write_text("from,to\nmoney,things\nhardware,things\n", encoding="utf-8")
        assert relabel(model, names, tmp_path / "m").merged == {"things": ["hardware", "money"]}
        names.write_text("from,to\nmoney,\n", encoding="utf-8")
        with pytest.raises(InputError, match="fun-many cannot drop labels yet"):
            relabel(model, names, tmp_path / "other")
        assert not (tmp_path / "other").exists()

    def test_thresholds_are_not_tuned(self, model: Path, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="none to tune yet"):
            tune(model, "macro-f1", tmp_path / "m")
        assert not (tmp_path / "m").exists()
