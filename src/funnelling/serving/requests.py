"""The documents in the body of a request: what may be asked, checked before the model sees it."""

from collections.abc import Sequence
from typing import Any

from funnelling.errors import InputError
from funnelling.formats.document import Document, quoted, to_document
from funnelling.method import Method
from funnelling.serving.problems import Problem
from funnelling.text.languages import normalise_tag

LONGEST_ID = 1_000
LONGEST_TAG = 40
MOST_WORDS = 100  # that an explanation lists
LARGEST_ID = 2**53 - 1

_FIELDS = {"text", "language", "id"}


def documents_in(body: Any, model: Method, most: int, characters: int, *others: str) -> list[Document]:
    """The documents of a body, which may have other fields of these names."""
    if not isinstance(body, dict):
        raise _refusal("", 'the body must be an object such as {"documents": [{"text": "…"}]}')
    if unknown := body.keys() - {"documents", *others}:
        raise _refusal("", f"{_shown(unknown)} is no field of a request")
    rows = body.get("documents")
    if not isinstance(rows, list):
        raise _refusal("/documents", "documents must be a list")
    if not 1 <= len(rows) <= most:
        raise _refusal("/documents", f"a request has from 1 to {most} documents, this one {len(rows):,}")
    return [_document(row, i, model, characters) for i, row in enumerate(rows)]


def labels_in(body: dict[str, Any], labels: Sequence[Any]) -> list[str] | None:
    """The labels that are to be explained; None where the explanation is to choose."""
    chosen = body.get("labels")
    if chosen is None:
        return None
    if not isinstance(chosen, list) or not chosen or len(chosen) > len(labels):
        raise _refusal("/labels", f"labels must be a list of 1 to {len(labels)} labels")
    known = {str(label) for label in labels}
    for i, label in enumerate(chosen):
        if not isinstance(label, str):
            raise _refusal(f"/labels/{i}", "a label must be a string")
        if label not in known:
            raise _refusal(
                f"/labels/{i}", f"the model has no label {quoted(label)}. GET /v1/model lists them"
            )
    return list(dict.fromkeys(chosen))


def words_in(body: dict[str, Any], default: int = 10) -> int:
    """How many words an explanation is to list."""
    top = body.get("top", default)
    if not _is_whole(top) or not 1 <= top <= MOST_WORDS:
        raise _refusal("/top", f"top must be a whole number from 1 to {MOST_WORDS}")
    return int(top)


def _document(row: Any, i: int, model: Method, characters: int) -> Document:
    place = f"/documents/{i}"
    if not isinstance(row, dict):
        raise _refusal(place, 'a document must be an object such as {"text": "…"}')
    if unknown := row.keys() - _FIELDS:
        raise _refusal(place, f"{_shown(unknown)} is no field of a document: give text, language and id")
    text = row.get("text")
    if not isinstance(text, str):
        raise _refusal(f"{place}/text", "text must be a string")
    if len(text) > characters:
        raise _refusal(
            f"{place}/text", f"a text has at most {characters:,} characters, this one {len(text):,}"
        )
    if not isinstance(row.get("language"), str | None):
        raise _refusal(f"{place}/language", "language must be a string")
    _check_id(row.get("id"), f"{place}/id")
    # The command line reads its files through the same door.
    document = to_document({**row, "id": _plain_id(row.get("id"))}, "documents", i + 1)
    if document.language is not None:
        _check_language(document.language, model, f"{place}/language")
    return document


def _check_id(value: Any, place: str) -> None:
    if value is None or (isinstance(value, str) and len(value) <= LONGEST_ID):
        return
    if not _is_whole(value) or abs(value) > LARGEST_ID:
        raise _refusal(place, f"id must be a string of at most {LONGEST_ID:,} characters or a whole number")


def _plain_id(value: Any) -> Any:
    return int(value) if isinstance(value, float) else value  # JSON does not tell 1.0 from 1


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    )


def _check_language(tag: str, model: Method, place: str) -> None:
    known = ", ".join(model.languages_)
    try:
        if tag == tag.strip() and len(tag) <= LONGEST_TAG and model.serves(normalise_tag(tag)):
            return
    except InputError:
        pass
    raise _refusal(place, f"the model does not know the language {quoted(tag)}, only {known}")


def _shown(names: set[str]) -> str:
    return quoted(min(names))


def _refusal(pointer: str, reason: str) -> Problem:
    return Problem(422, f"{reason[0].upper()}{reason[1:]}.", pointer=pointer)
