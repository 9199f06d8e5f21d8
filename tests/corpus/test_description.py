"""What `inspect` finds in a corpus."""

from typing import Any

import pytest

from funnelling import Corpus, Document
from funnelling.corpus.findings import describe


def _describe(*documents: Document) -> dict[str, Any]:
    return describe(Corpus.from_documents(documents))


def test_counts() -> None:
    described = _describe(
        Document(
            "1", "The cats sleep, the cat sleeps", language="en", labels=("pets", "rest"), split="train"
        ),
        Document("2", "A dog", language="en", labels=("pets",), split="test", group="g"),
        Document("3", "Il gatto dorme", language="it", labels=(), split="train", group="g"),
        Document("4", "unlabelled", language="it", split="train"),
    )
    assert described["documents"] == 4
    assert described["splits"] == {"test": 1, "train": 3}
    assert described["groups"] == 1
    english, italian = described["languages"]["en"], described["languages"]["it"]
    assert (english["documents"], english["labelled"], english["labels"]) == (2, 2, 2)
    # cat sleep cat sleep, dog: stop words are gone, lemmas count
    assert (english["words"], english["distinct_words"]) == (5, 3)
    assert (italian["documents"], italian["labelled"], italian["labels"]) == (2, 1, 0)
    assert english["reduced_to"] == "lemmas"
    assert english["stop_words"] is True
    assert described["labels"] == {"pets": {"en": 2}, "rest": {"en": 1}}
    assert described["labels_per_document"] == 1


def test_labels_come_by_frequency_then_by_name() -> None:
    rows = [("b",), ("a",), ("c", "b"), ("c",)]
    described = _describe(*(Document(str(i), "x", language="en", labels=row) for i, row in enumerate(rows)))
    assert list(described["labels"]) == ["b", "c", "a"]


def test_shared_words_are_a_share_of_the_smaller_vocabulary() -> None:
    described = _describe(
        Document("1", "linux kernel python garden", language="en"),
        Document("2", "linux python", language="it"),
        Document("3", "fenster", language="de"),
    )
    shared = described["shared_words"]
    assert shared["en"]["it"] == shared["it"]["en"] == 1
    assert shared["de"] == {"en": 0, "it": 0}


def test_a_language_without_resources() -> None:
    described = _describe(Document("1", "nuqneH", language="tlh"))
    assert described["languages"]["tlh"]["reduced_to"] is None
    assert described["languages"]["tlh"]["stop_words"] is False


FINE = tuple(
    Document(str(i), f"word{i}", language="en", labels=(label,)) for i, label in enumerate(["a", "b"] * 5)
)


@pytest.mark.parametrize(
    ("odd", "line"),
    [
        ([Document("x", " ", language="en", labels=("a",))], '1 document with an empty text: "x"'),
        (
            [Document("x", "the of", language="en", labels=("a",))],
            '1 document without a word that is kept: "x"',
        ),
        (
            [Document("x", "horse", language="en"), Document("y", "bird", language="en")],
            '2 documents without labels, not learned from: "x", "y"',
        ),
        (
            [Document("x", "horse", language="en", labels=())],
            '1 document with an empty list of labels, which counts as having no label: "x"',
        ),
        (
            [Document(name, "table", language="en", labels=("a",)) for name in "uvwx"],
            '4 documents with a text that another one of the language has too: "u", "v", "w", …',
        ),
        ([Document("0", "horse", language="en", labels=("a",))], '1 id used more than once: "0"'),
        (
            [Document("x", "horse", language="en", labels=("rare\n",))],
            '1 label with fewer than 5 documents: "rare\\n"',
        ),
        (
            [
                Document("x", "horse", language="en", labels=("a",), split="train", group="g"),
                Document("y", "bird", language="en", labels=("a",), split="test", group="g"),
            ],
            '1 group both in train and in test, so that scores will be too good: "g"',
        ),
    ],
)
def test_odd_rows(odd: list[Document], line: str) -> None:
    assert _describe(*FINE)["odd"] == []
    assert _describe(*FINE, *odd)["odd"] == [line]


def test_an_equal_text_in_another_language_is_not_odd() -> None:
    twins = [Document("x", "linux", language=language, labels=("a",)) for language in ("en", "it")]
    assert not [line for line in _describe(*FINE, *twins)["odd"] if "text" in line]
