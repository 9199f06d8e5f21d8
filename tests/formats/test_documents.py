"""What a record may hold, whichever format it came in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.errors import InputError
from funnelling.formats.document import Document, join_labels, split_labels, to_document, to_record
from funnelling.formats.label_cells import LabelCells


def document(**fields: object) -> Document:
    return to_document({"text": "t", **fields}, "docs.jsonl", 17)


def refusal(**fields: object) -> str:
    with pytest.raises(InputError) as caught:
        document(**fields)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_only_the_text_is_needed() -> None:
    assert document() == Document("17", "t")


def test_all_fields() -> None:
    full = document(id="a", language="it", labels=["x", "y"], split="parallel", group="g")
    assert full == Document("a", "t", "it", ("x", "y"), "parallel", "g")


def test_whole_numbers_name_documents_and_groups() -> None:
    assert document(id=12, group=-3) == Document("12", "t", group="-3")


@pytest.mark.parametrize("nothing", [None, ""])
def test_empty_means_missing(nothing: object) -> None:
    assert document(id=nothing, language=nothing, split=nothing, group=nothing) == Document("17", "t")


def test_unlabelled_is_not_the_same_as_no_label() -> None:
    assert document().labels is None
    assert document(labels=None).labels is None
    assert document(labels=[]).labels == ()


def test_a_repeated_label_counts_once_and_order_is_kept() -> None:
    assert document(labels=["b", "a", "b"]).labels == ("b", "a")


def test_language_is_left_as_written() -> None:
    assert document(language=" PT-br ").language == " PT-br "


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    cleaned = document(text="a\ud800b", labels=["\udfff"], id="\ud800", language="\ud800", group="\ud800")
    assert cleaned == Document("\ufffd", "a\ufffdb", "\ufffd", ("\ufffd",), None, "\ufffd")
    assert to_record(Document("1", "\ud800", labels=("\ud800",))) == {
        "id": "1",
        "text": "\ufffd",
        "labels": ["\ufffd"],
    }


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"labels": 4},
            '"labels" must be a list of strings, found a number. Put it in brackets or drop the field.',
        ),
        (
            {"labels": "a"},
            '"labels" must be a list of strings, found a string. Put it in brackets or drop the field.',
        ),
        ({"labels": {"a": 1}}, '"labels" must be a list of strings, found an object.'),
        ({"labels": ["a", True]}, '"labels" must be a list of strings, found a boolean in it.'),
        ({"labels": ["a", None]}, '"labels" must be a list of strings, found null in it.'),
        ({"labels": [["a"]]}, '"labels" must be a list of strings, found a list in it.'),
        ({"labels": [""]}, '"labels" holds an empty label.'),
        ({"text": None}, '"text" must be a string, found null.'),
        ({"text": 3.5}, '"text" must be a string, found a number.'),
        ({"id": 1.5}, '"id" must be a string, found a number.'),
        ({"id": True}, '"id" must be a string, found a boolean.'),
        ({"id": b"x"}, '"id" must be a string, found bytes.'),
        ({"language": 3}, '"language" must be a string, found a number.'),
        ({"group": ["g"]}, '"group" must be a string, found a list.'),
        ({"split": "dev\nx"}, '"split" must be train, test or parallel, found "dev\\nx".'),
        ({"split": "Dev"}, '"split" must be train, test or parallel, found "Dev".'),
    ],
)
def test_a_refusal_names_place_and_cure(fields: dict[str, object], message: str) -> None:
    assert refusal(**fields).startswith(f"docs.jsonl:17: {message}")


def test_a_document_without_text_is_refused() -> None:
    with pytest.raises(InputError, match=r'^docs\.jsonl:2: "text" is missing\.'):
        to_document({"id": "a"}, "docs.jsonl", 2)


def test_a_long_value_is_shortened_in_the_message() -> None:
    assert len(refusal(split="x" * 10_000)) < 200


def test_an_empty_label_is_not_written() -> None:
    with pytest.raises(InputError, match=r'document "7" holds an empty label'):
        to_record(Document("7", "t", labels=("a", "")))


@given(st.lists(st.text("ab|\\ \n,", min_size=1).map(str.strip).filter(bool)))
def test_joined_labels_come_apart_again(labels: list[str]) -> None:
    assert LabelCells().read(join_labels(labels)) == labels


@given(st.text("a|\\"))
def test_any_cell_splits(cell: str) -> None:
    assert len(split_labels(cell)) <= cell.count("|") + 1
