"""Documents by language: columns that are passed on, folds that follow from seed and groups, what is kept."""

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from funnelling import Corpus
from funnelling.corpus.blocks import BY_LABEL, SLOTS, Block, bag
from funnelling.corpus.by_language import ByLanguage
from funnelling.corpus.labels import LabelSpace
from funnelling.formats.document import LineNumber
from funnelling.methods.inputs import read_inputs
from funnelling.methods.learning import Method, forget, further, relabel, update
from funnelling.methods.merging import merge
from funnelling.methods.model import Model
from funnelling.randomness import assign_folds
from funnelling.research import NaiveClassifier
from funnelling.state import StateError, check_fields
from funnelling.storage import load, save
from tests.corpus.training import made_training

LABELS = LabelSpace(np.array(["a", "b"], dtype=object))


def slots(size: int, first: int = 0) -> dict[str, Any]:
    """Something in all columns that nobody fills yet, another for each document."""
    numbers = np.arange(first, first + size, dtype=np.float32)
    return {
        "weights": numbers + 1,
        "soft_targets": np.stack([numbers, -numbers], axis=1),
        "sources": [f"source {n:.0f}" for n in numbers],
        "opinions": np.stack([numbers / 2, numbers], axis=1),
    }


def block(size: int, first: int = 0, **columns: Any) -> Block:
    targets = np.arange(first, first + size)[:, None] % 2 == [[0, 1]]
    names = [str(n) for n in range(first, first + size)]
    return Block.of(names, None, targets, content=[f"text {name}" for name in names], **columns)


def shown(found: Block, name: str) -> list[Any]:
    return np.asarray(getattr(found, name)).tolist()


@given(st.lists(st.integers(0, 7), max_size=8))
def test_a_selection_keeps_all_columns(rows: list[int]) -> None:
    whole = block(8, **slots(8))
    taken = whole.take(np.array(rows, dtype=np.intp))
    for name in ("ids", "content", "targets", *SLOTS):
        assert shown(taken, name) == [shown(whole, name)[row] for row in rows]


def test_training_documents_and_archives_keep_all_columns() -> None:
    training = made_training({"en": np.eye(4, 2, dtype=bool)}, {"en": list("wxyz")}, kind="as written")
    training = training.only(["en"])
    blocks = {"en": block(4, **slots(4)), "it": block(4, 4, **slots(4, 4))}
    made = [
        type(training)(blocks=blocks, labels=LABELS).only(["it"]).select({"it": np.array([False, True] * 2)}),
        ByLanguage(blocks=blocks).kept(keep_texts=False).select({"it": np.array([1, 3])}),
    ]
    for documents in made:
        assert documents.languages == ["it"]
        for name in SLOTS:
            assert shown(documents.blocks["it"], name) == [shown(blocks["it"], name)[row] for row in (1, 3)]


def test_documents_that_come_bring_their_columns_or_blanks() -> None:
    with_slots, without = block(2, **slots(2)), block(2, 2)
    last, first = with_slots.followed_by(without), without.followed_by(with_slots)
    for both, places in ((last, (2, 3)), (first, (0, 1))):
        assert len(both) == 4
        assert [both.weights[row] for row in places] == [1, 1]  # type: ignore[index]
        assert [both.sources[row] for row in places] == ["", ""]  # type: ignore[index]
        for name in ("soft_targets", "opinions"):
            assert np.isnan(getattr(both, name)[list(places)]).all()
        others = [row for row in range(4) if row not in places]
        for name in SLOTS:
            assert [shown(both, name)[row] for row in others] == shown(with_slots, name)


def test_merging_passes_columns_on() -> None:
    archive = ByLanguage(blocks={"en": block(3, **slots(3))}).kept(keep_texts=False)
    inputs = read_inputs(["text 1", "text 9"], ["en", "en"])
    merged = merge(archive, LABELS, inputs, [["a"], ["b"]], None, ["1", "9"]).archive.blocks["en"]
    assert merged.ids == ["0", "1", "2", "9"]
    assert shown(merged, "weights") == [1, 2, 3, 1]
    assert merged.sources == ["source 0", "source 1", "source 2", ""]


def test_columns_that_come_replace_those_of_known_documents() -> None:
    known, came = block(3, **slots(3)), block(2, 1, **slots(2, 10))
    updated = known.updated(came, SLOTS, {1: 0, 2: 1})
    assert updated.sources == ["source 0", "source 10", "source 11"]
    assert updated.ids == known.ids
    assert known.updated(block(2, 1), SLOTS, {1: 0}).sources == known.sources


@given(st.lists(st.lists(st.sampled_from([0, 1, 2]), unique=True, max_size=3), max_size=4))
def test_what_is_known_by_label_follows_labels(columns: list[list[int]]) -> None:
    soft = np.array([[0.1, np.nan, 0.9], [np.nan, np.nan, 0.5]], dtype=np.float32)
    before = block(2, soft_targets=soft, opinions=soft[:, ::-1], weights=np.ones(2, dtype=np.float32))
    after = before.with_targets(np.ones((2, len(columns)), dtype=bool), columns)
    for name in BY_LABEL:
        values = getattr(before, name)
        expected = [[max(values[row, some], key=_rank, default=np.nan) for some in columns] for row in (0, 1)]
        np.testing.assert_array_equal(getattr(after, name), np.array(expected, np.float32).reshape(2, -1))
    assert after.weights is before.weights
    assert before.with_targets(before.targets[:, :1]).soft_targets is soft


def _rank(number: float) -> float:
    return -1 if np.isnan(number) else number


def test_documents_of_two_corpora_keep_what_each_has() -> None:
    one = Corpus(**_fields(2), weights=[2, 3], soft_labels=[{"a": 0.5}, {}])
    both = one.followed_by(Corpus(**_fields(1), sources=["s"]))
    assert (both.weights, both.soft_labels) == ([2, 3, 1], [{"a": 0.5}, {}, {}])
    assert (both.sources, both.opinions, len(both)) == (["", "", "s"], None, 3)


def _fields(size: int) -> dict[str, Any]:
    columns = {"ids": list("123"), "languages": ["en"] * 3, "texts": ["a"] * 3, "labels": [("a",)] * 3}
    return {
        name: each[:size] for name, each in {**columns, "splits": [None] * 3, "groups": [None] * 3}.items()
    }


def test_folds_follow_from_seed_language_and_groups() -> None:
    targets = {tag: np.zeros((6, 1), dtype=bool) for tag in ("en", "it")}
    groups = {"en": ["g"] * 3 + [None] * 3, "it": None}
    training = made_training(targets, groups=groups, seed=3)
    for tag in targets:
        expected = assign_folds(5, 6, 3, "folds", language=tag, groups=groups[tag])
        assert training.folds[tag].tolist() == expected.tolist()
    some = training.select({"en": np.array([0, 5])})
    assert some.folds["en"].tolist() == training.folds["en"][[0, 5]].tolist()
    assert training.select({tag: np.array([0, 5]) for tag in targets}).only(["it"]).stacked_folds().size == 2


@pytest.mark.parametrize("keep_texts", [True, False])
def test_texts_are_kept_as_bags_or_as_written(keep_texts: bool) -> None:
    written = block(1)
    kept = ByLanguage(blocks={"en": written}).kept(keep_texts)
    assert kept.kind == ("as written" if keep_texts else "bags")
    assert kept.documents["en"] == (written.content if keep_texts else list(map(bag, ["text 0"])))
    assert kept.blocks["en"].beginnings == ["text 0"]
    assert kept.kept(keep_texts=False).documents["en"] == [bag("text 0")]


def test_numbers_for_ids_are_told_apart() -> None:
    names = [LineNumber(1), "1"]
    given_names = Block.of(names, [None, "g"], np.ones((2, 1), dtype=bool))
    assert (given_names.ids, given_names.unnamed.tolist()) == (["1", "1"], [True, False])
    assert [type(name) for name in given_names.names] == [LineNumber, str]
    assert (given_names.groups, given_names.grouping) == (["", "g"], [None, "g"])


@pytest.mark.parametrize(
    "column",
    [
        {"weights": np.ones(2, dtype=np.float32)},
        {"weights": np.full(3, -1, dtype=np.float32)},
        {"unnamed": np.zeros(2, dtype=bool)},
        {"content": sparse.csr_array(np.ones((2, 4)))},
        {"soft_targets": [[0.5]] * 3},
        {"sources": "abc"},
    ],
)
def test_columns_of_other_kinds_and_lengths_are_refused(column: dict[str, Any]) -> None:
    columns = {"ids": list("abc"), "unnamed": np.zeros(3, dtype=bool), "groups": [""] * 3}
    check_fields(Block(**columns, targets=np.ones((3, 2), dtype=bool)))
    with pytest.raises(StateError):
        check_fields(Block(**columns | {"targets": np.ones((3, 2), dtype=bool)} | column))


def test_a_corpus_hands_its_columns_on() -> None:
    corpus = Corpus(
        ids=list("123"),
        languages=["en", "it", "en"],
        texts=["one", "due", "three"],
        labels=[("a",), ("b",), ()],
        splits=["train"] * 3,
        groups=[None] * 3,
        weights=[1, 2, 3],
        soft_labels=[{"a": 0.9}, {"b": 0.5}, {}],
        sources=["x", "y", "z"],
        opinions=[{"a": 1.0, "b": 0.0}] * 3,
    )
    documents, labels = ByLanguage.of_corpus(corpus.split("train").select([0, 1, 2]))
    english = documents.blocks["en"]
    assert labels.classes.tolist() == ["a", "b"]
    assert (shown(english, "weights"), english.sources) == ([1, 3], ["x", "z"])
    assert shown(english, "opinions") == [[1, 0], [1, 0]]
    np.testing.assert_array_equal(english.soft_targets, np.array([[0.9, np.nan], [np.nan] * 2], np.float32))
    with pytest.raises(FrozenInstanceError):
        corpus.one_label = True  # type: ignore[misc]


def test_columns_follow_when_labels_come_merge_and_go(tmp_path: Path) -> None:
    def corpus(label: str, first: int) -> Corpus:
        names = [f"{label}{number}" for number in range(first, first + 4)]
        return Corpus(
            ids=names,
            languages=["en"] * 4,
            texts=[f"{label * 3} {name}" for name in names],
            labels=[(label,)] * 4,
            splits=[None] * 4,
            groups=[None] * 4,
            soft_labels=[{label: number / 8} for number in range(first, first + 4)],
            weights=[2.0] * 4,
        )

    def known(model: Model) -> dict[str, list[list[float]]]:
        save(model, tmp_path / "model", force=True)
        archive = load(tmp_path / "model").archive
        assert archive is not None
        block, classes = archive.blocks["en"], model.labels.classes.tolist()
        assert block.weights is not None
        assert block.soft_targets is not None
        assert set(block.weights.tolist()) == {2}
        return {
            label: [[row, value] for row, value in enumerate(column.tolist()) if not np.isnan(value)]
            for label, column in zip(classes, block.soft_targets.T, strict=True)
        }

    a, b = ([[row + 4 * place, row / 8] for row in range(4)] for place in (0, 1))
    model = Method.of(NaiveClassifier()).fit(corpus("a", 0).followed_by(corpus("b", 0)))
    assert known(model) == {"a": a, "b": b}
    came = corpus("aa", 4)
    further_ones = further(model, came.texts, came.y, came.languages, None, came.ids, came)
    model = update(model, further_ones)
    aa = [[row + 8, (row + 4) / 8] for row in range(4)]
    assert known(model) == {"a": a, "aa": aa, "b": b}
    assert known(relabel(model, {"a": "z", "aa": "b"})) == {"b": b + aa, "z": a}
    assert known(relabel(model, {"a": ""})) == {"aa": aa, "b": b}
    gone = forget(model, came.ids)
    assert known(gone) == {"a": a, "b": b}
