"""Data frames and datasets become the documents that the same rows in a file would."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import Corpus, InputError, read_corpus

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

ROWS: dict[str, list[Any]] = {
    "Title": ["Cats", "Cani", None],
    "Body": ["They sleep", "Dormono", "Nothing"],
    "Category": [["pets", "rest"], ["pets"], None],
    "lang": ["EN", "it", None],
}


def _columns(corpus: Corpus) -> tuple[Any, ...]:
    return corpus.texts, corpus.labels, corpus.languages, corpus.ids


EXPECTED = (
    ["Cats\nThey sleep", "Cani\nDormono", "Nothing"],
    [("pets", "rest"), ("pets",), None],
    ["en", "it", None],
    ["1", "2", "3"],
)


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame], ids=["pandas", "polars"])
def test_columns_are_found(make: Any) -> None:
    assert _columns(Corpus.from_frame(make(ROWS))) == EXPECTED


def test_a_dataset_of_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")
    assert _columns(Corpus.from_frame(datasets.Dataset.from_dict(ROWS))) == EXPECTED


def test_numbers_of_classes_become_their_names() -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["neg", "pos"])}
    )
    dataset = datasets.Dataset.from_dict({"text": ["a", "b", "c"], "label": [1, 0, -1]}, features=features)
    assert Corpus.from_frame(dataset).labels == [("pos",), ("neg",), None]


def test_numbers_of_several_classes_become_their_names() -> None:
    datasets = pytest.importorskip("datasets")
    classes = datasets.Sequence(datasets.ClassLabel(names=["a", "b", "c"]))
    features = datasets.Features({"text": datasets.Value("string"), "labels": classes})
    dataset = datasets.Dataset.from_dict({"text": ["x", "y"], "labels": [[0, 2], []]}, features=features)
    assert Corpus.from_frame(dataset).labels == [("a", "c"), ()]


def test_missing_languages_are_detected_where_asked() -> None:
    frame = pandas.DataFrame({"text": ["The cat sleeps", "Il gatto dorme"], "lang": ["German", None]})
    assert Corpus.from_frame(frame).languages == ["de", None]
    assert Corpus.from_frame(frame[["text"]], detect=True).languages == ["en", "it"]


def test_columns_without_names() -> None:
    corpus = Corpus.from_frame(pandas.DataFrame([["x", "a"], ["y", "b"]]), text=0, labels=1)
    assert (corpus.texts, corpus.labels) == (["x", "y"], [("a",), ("b",)])


def test_the_splits_of_a_dataset() -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"text": ["a", "b"], "label": ["x", "y"]})
    corpus = Corpus.from_frame(datasets.DatasetDict(train=dataset, test=dataset))
    assert corpus.splits == ["train", "train", "test", "test"]
    assert corpus.ids == ["train:1", "train:2", "test:1", "test:2"]


def test_columns_are_chosen() -> None:
    frame = pandas.DataFrame({"a": ["x", "y"], "b": ["1;2", "2"], "text": ["no", "no"], "n": [7, 8]})
    corpus = Corpus.from_frame(frame, text="a", labels="b", id="n", label_separator=";")
    assert _columns(corpus) == (["x", "y"], [("1", "2"), ("2",)], [None, None], ["7", "8"])


@pytest.mark.parametrize("dtype", [int, float, bool, "Int64", "category"])
def test_one_column_per_label(dtype: Any) -> None:
    frame = pandas.DataFrame({"text": ["a", "b"], "sport": [1, 0], "news": [1, 1], "arts": [0, 1]})
    for label in ("sport", "news", "arts"):
        frame[label] = frame[label].astype(dtype)
    chosen = Corpus.from_frame(frame, labels=["sport", "news", "arts"])
    assert chosen.labels == [("sport", "news"), ("news", "arts")]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (pandas.Series([3.0, np.nan]), [("3",), None]),
        (pandas.Series([3, None], dtype="Int64"), [("3",), None]),
        (pandas.Series(["a", None], dtype="category"), [("a",), None]),
        (pandas.Series([np.array(["a", "b"]), None]), [("a", "b"), None]),
        (pandas.Series([{"b", "a"}, ()]), [("a", "b"), ()]),
    ],
)
def test_labels_of_many_kinds(values: Any, labels: Any) -> None:
    assert Corpus.from_frame(pandas.DataFrame({"text": ["x", "y"], "labels": values})).labels == labels


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_text_that_is_missing_is_an_empty_one(missing: Any) -> None:
    assert Corpus.from_frame(pandas.DataFrame({"text": ["a", missing]})).texts == ["a", ""]


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(InputError, match="list is no data frame"):
        Corpus.from_frame(["a"])


def test_a_frame_is_read_as_its_file_is(tmp_path: Path) -> None:
    frame = pandas.DataFrame(
        {"text": [f"t{i}" for i in range(6)], "label": ["a;b", "a", "b", "b;c", "c", "a;c"], "lang": "en"}
    )
    frame.to_csv(tmp_path / "docs.csv", index=False)
    assert Corpus.from_frame(frame).labels == read_corpus(tmp_path / "docs.csv").labels
