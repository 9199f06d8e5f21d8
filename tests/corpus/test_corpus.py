"""A corpus keeps documents in order and gives them out by position, split, language and label."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.corpus import Corpus, read_corpus
from funnelling.errors import InputError
from funnelling.formats import Document

DOCUMENTS = [
    Document("1", "uno", "it", ("b", "a"), "train", "g1"),
    Document("2", "one", "en", ("c",), "train", "g1"),
    Document("3", "due", "it", (), "test", None),
    Document("4", "two", "en", None, None, None),
]


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.from_documents(iter(DOCUMENTS))


def test_columns_run_in_parallel(corpus: Corpus) -> None:
    assert len(corpus) == 4
    assert list(corpus) == DOCUMENTS
    assert corpus.languages == ["it", "en", "it", "en"]
    assert corpus.labels == [("b", "a"), ("c",), (), None]


def test_selection_keeps_the_order_asked_for(corpus: Corpus) -> None:
    assert list(corpus.select([2, 0])) == [DOCUMENTS[2], DOCUMENTS[0]]
    assert list(corpus.select(np.array([False, True, False, True]))) == [DOCUMENTS[1], DOCUMENTS[3]]
    assert list(corpus.select([])) == []
    assert list(corpus.select(np.zeros(4, dtype=bool))) == []


@pytest.mark.parametrize("rows", [[True], [0.5], [[0, 1]], ["a"], 3])
def test_a_selection_that_makes_no_sense_is_refused(corpus: Corpus, rows: object) -> None:
    with pytest.raises(InputError):
        corpus.select(rows)  # type: ignore[arg-type]


def test_splits(corpus: Corpus) -> None:
    assert corpus.split("train").ids == ["1", "2"]
    assert len(corpus.split("parallel")) == 0
    with pytest.raises(InputError, match=r'split "dev" is unknown\. Use one of train, test, parallel\.'):
        corpus.split("dev")


def test_documents_of_no_label_are_labelled(corpus: Corpus) -> None:
    assert corpus.labelled().ids == ["1", "2", "3"]


def test_languages_are_sorted_and_hold_positions(corpus: Corpus) -> None:
    positions = corpus.by_language()
    assert list(positions) == ["en", "it"]
    assert positions["en"].tolist() == [1, 3]
    with pytest.raises(InputError, match='document "x" has no language'):
        Corpus.from_documents([Document("x", "t")]).by_language()


def test_label_matrix_follows_the_classes(corpus: Corpus) -> None:
    assert corpus.label_set() == ["a", "b", "c"]
    matrix = corpus.labelled().label_matrix(["c", "a", "unheard of"])
    assert matrix.dtype == bool
    assert matrix.tolist() == [[False, True, False], [True, False, False], [False, False, False]]
    assert corpus.labelled().label_matrix([]).shape == (3, 0)


def test_unlabelled_documents_have_no_row_of_a_label_matrix(corpus: Corpus) -> None:
    with pytest.raises(InputError, match=r'document "4" is unlabelled\. Leave such documents out'):
        corpus.label_matrix(["a"])


label_lists = st.lists(st.lists(st.sampled_from("abcd"), unique=True).map(tuple), max_size=8)


@given(label_lists, st.randoms())
def test_permuting_documents_permutes_the_label_matrix(labels: list[tuple[str, ...]], random: Random) -> None:
    corpus = Corpus.from_documents(Document(str(i), "", labels=each) for i, each in enumerate(labels))
    order = list(range(len(labels)))
    random.shuffle(order)
    classes = list("abcd")
    matrix = corpus.label_matrix(classes)
    assert (corpus.select(order).label_matrix(classes) == matrix[order].reshape(-1, 4)).all()


# Reading


@pytest.fixture
def detection(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str] | None]:
    """Stand-ins for the language functions; the list gathers the candidates that detection was given."""
    candidates_seen: list[Sequence[str] | None] = []

    def normalise_tag(tag: str) -> str:
        if not tag.isalpha():
            raise InputError(f'"{tag}" is no language tag. Write one like "it".')
        return tag.lower()

    def detect_languages(
        texts: Sequence[str],
        candidates: Sequence[str] | None = None,
        *,
        verbose: int = 0,  # noqa: ARG001
    ) -> list[str]:
        candidates_seen.append(candidates)
        return ["xx" for _ in texts]

    def detect_in_file(texts: Sequence[str], _verbose: int) -> tuple[list[str], Counter[tuple[str, str]]]:
        return detect_languages(texts), Counter()

    for name, stand_in in {
        "normalise_tag": normalise_tag,
        "is_undetermined": lambda _tag: False,
        "detect_languages": detect_languages,
        "detect_in_file": detect_in_file,
    }.items():
        monkeypatch.setattr(f"funnelling.text.detection.{name}", stand_in)
    return candidates_seen


def write(folder: Path, *lines: str) -> Path:
    path = folder / "docs.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_missing_languages_are_detected_among_those_named(
    tmp_path: Path, detection: list[Sequence[str] | None]
) -> None:
    path = write(
        tmp_path, '{"text": "a"}', '{"text": "b", "language": "IT"}', '{"text": "c", "language": "en"}'
    )
    assert read_corpus(path).languages == ["xx", "it", "en"]
    assert detection == [["en", "it"]]


def test_without_any_language_all_are_candidates(
    tmp_path: Path, detection: list[Sequence[str] | None]
) -> None:
    assert read_corpus(write(tmp_path, '{"text": "a"}')).languages == ["xx"]
    assert detection == [None]


def test_detection_can_be_left_out(tmp_path: Path, detection: list[Sequence[str] | None]) -> None:
    path = write(tmp_path, '{"text": "a"}', '{"text": "b", "language": "IT"}')
    assert read_corpus(path, detect=False).languages == [None, "it"]
    assert detection == []


@pytest.mark.usefixtures("detection")
def test_what_is_no_language_tag_is_refused_by_file_and_document(tmp_path: Path) -> None:
    path = write(tmp_path, '{"text": "a"}', '{"id": "x", "text": "b", "language": "?!"}')
    with pytest.raises(InputError, match=r'docs\.jsonl: document "x": "\?!" is no language tag\. Write'):
        read_corpus(path)


def test_languages_of_a_real_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '{"text": "Il gatto dorme sul divano, e non vuole alzarsi", "language": "IT"}',
        '{"text": "Die Katze schläft auf dem Sofa und will nicht aufstehen", "language": "de-at"}',
        '{"text": "La bambina mangia una mela sotto un grande albero"}',
    )
    assert read_corpus(path).languages == ["it", "de_AT", "it"]


def test_what_cannot_be_detected_is_refused_by_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"docs\.jsonl: no language was recognised"):
        read_corpus(write(tmp_path, '{"text": ""}'))
