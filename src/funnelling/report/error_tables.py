"""The worst errors of a model: as a table, and as texts in which the passages are marked that misled it."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.errors import printable
from funnelling.report.content import MarkedText, Texts
from funnelling.report.passages import signed
from funnelling.report.tables import Table, number

NONE = "–"
SIDES = {"wrong": "for it", "missed": "against it"}  # which words are told of a label
NOTHING_KNOWN = "the model knows nothing in this text"
ERRORS_NOTE = (
    "Documents that the model was most sure about, and wrong: a wrong label with a high probability, and in "
    "turns with those a label missed with a low one."
)
MARKS_NOTE = "Marked in the texts is what counted for the label that is wrong, or that was missed if none is."


def errors_table(errors: Sequence[Mapping[str, Any]]) -> Table:
    """One document per row, with all that is known of its error."""
    return Table(
        [
            "document",
            "language",
            "true",
            "given",
            "wrong",
            "probability of wrong",
            "words for wrong",
            "missed",
            "probability of missed",
            "words against missed",
            "text",
        ],
        [
            [
                error["id"],
                error["language"],
                _listed(error["labels"]),
                _listed(error["given"]),
                *_cells(error, "wrong"),
                *_cells(error, "missed"),
                error["text"],
            ]
            for error in errors
        ],
    )


def errors_listing(errors: Sequence[Mapping[str, Any]], width: int) -> str:
    """The same for a terminal: below each document what is wrong with it and why, in lines of some width.

    >>> blamed = {"label": "sport", "probability": 0.9, "words": [["match", 0.5]], "passages": []}
    >>> document = {"id": "a", "language": "en", "labels": ["fire"], "given": ["sport"], "text": "A match"}
    >>> print(errors_listing([{**document, "wrong": blamed}], 60))
     1. a (en)
        wrong   sport .900; for it: match +0.50
        true    fire
        given   sport
        text    A match
    """
    lines = []
    for place, error in enumerate(errors, start=1):
        said = {
            **{kind: _blamed(error, kind) for kind in SIDES if kind in error},
            "true": _listed(error["labels"]),
            "given": _listed(error["given"]),
            "text": error["text"],
        }
        lines.append(printable(f"{place:2}. {error['id']} ({error['language']})"))
        for name, value in said.items():
            begin, rest = f"    {name:<8}", " " * 12
            plain = " ".join(printable(value).split())
            lines.append(textwrap.fill(plain, width, initial_indent=begin, subsequent_indent=rest).rstrip())
    return "\n".join(lines)


def error_texts(errors: Sequence[Mapping[str, Any]]) -> Texts:
    """The texts of errors, each with what is wrong, and with marks where it went wrong."""
    has_passages = any(_first(error)["passages"] for error in errors)
    return Texts(
        "errors",
        "The worst errors",
        [_marked_text(error) for error in errors],
        errors_table(errors),
        [ERRORS_NOTE, *([MARKS_NOTE] if has_passages else [])],
    )


def _marked_text(error: Mapping[str, Any]) -> MarkedText:
    facts = {kind.capitalize(): _blamed(error, kind) for kind in SIDES if kind in error}
    facts |= {"True labels": _listed(error["labels"]), "Labels given": _listed(error["given"])}
    return MarkedText(
        f"{error['id']} ({error['language']})",
        error["language"],
        facts,
        error["text"],
        _first(error)["passages"],
    )


def _first(error: Mapping[str, Any]) -> Mapping[str, Any]:
    """The label whose passages are marked."""
    first: Mapping[str, Any] = error["wrong"] if "wrong" in error else error["missed"]
    return first


def _blamed(error: Mapping[str, Any], kind: str) -> str:
    """A label that is wrong, or missed, its probability and the reason."""
    blamed = error[kind]
    words = _words(blamed["words"])
    reason = f"; {SIDES[kind]}: {words}" if words else ""
    if not error.get("evidence", True):
        reason = f"; {NOTHING_KNOWN}"
    return f"{blamed['label']} {number(blamed['probability'])}{reason}"


def _cells(error: Mapping[str, Any], kind: str) -> list[str]:
    if kind not in error:
        return [NONE, "", ""]
    blamed = error[kind]
    return [blamed["label"], number(blamed["probability"]), _words(blamed["words"])]


def _words(words: Sequence[Sequence[Any]]) -> str:
    shown = [(word, signed(contribution)) for word, contribution in words]
    return ", ".join(f"{word} {amount}" for word, amount in shown if amount != signed(0))


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(labels) or NONE
