"""What may spoil a model is found before training."""

from funnelling import Corpus, Document
from funnelling.corpus.findings import findings


def _found(*documents: Document) -> dict[str, list[str]]:
    corpus = Corpus.from_documents(documents)
    return {f"{each.noun} {each.what}": list(each.names) for each in findings(corpus)}


def _about(found: dict[str, list[str]], words: str) -> list[str]:
    return [name for what, names in found.items() if words in what for name in names]


def _many(*labels: str, text: str = "text") -> list[Document]:
    return [
        Document(f"{label} {i}", f"{text} {label} {i}", "en", (label,)) for label in labels for i in range(12)
    ]


def test_nothing_is_odd_in_a_good_corpus() -> None:
    assert _found(*_many("Food, Drink", "Arts & Music", "news")) == {}


def test_labels_that_look_joined() -> None:
    found = _found(*_many("45", "71", "45;71", "12, 45", "Food, Drink"))
    assert _about(found, "apparently joined") == ["45;71", "12, 45"]


def test_labels_that_differ_by_case_or_blanks_alone() -> None:
    found = _found(*_many("Sport", "sport", "news", "new s", "arts"))
    assert sorted(_about(found, "but for case")) == ["Sport", "new s", "news", "sport"]


def test_a_label_that_may_say_that_there_is_none() -> None:
    assert _about(_found(*_many("None", "news")), "may say that there is none") == ["None"]


def test_texts_on_both_sides_of_the_split() -> None:
    train = [Document(f"r{i}", f"t{i}", "en", ("a",), "train") for i in range(12)]
    test = [Document("e1", "t1", "en", ("a",), "test"), Document("e2", "t1", "it", ("a",), "test")]
    assert _about(_found(*train, *test), "text both in train and in test") == ["e1"]


def test_markup_is_told_with_its_cure() -> None:
    marked = _many("a", text="<p>Hello &amp; goodbye</p>") + _many("b", text="Yes.\n> Are you there?\n")
    found = _found(*marked)
    assert len(_about(found, "--strip html")) == 12
    assert len(_about(found, "--strip quotes")) == 12
    assert not _about(found, "--strip markdown")


def test_a_language_and_labels_with_few_documents() -> None:
    found = _found(*_many("a", "b"), Document("x", "ciao", "it", ("rare",)))
    assert _about(found, "language with fewer") == ["it"]
    assert _about(found, "label with fewer") == ["rare"]
