"""The worst errors of a model: as a table, and as texts in which the passages are marked that misled it."""

from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.report.content import MarkedText, Texts
from funnelling.report.tables import Table, number

NONE = "–"
NOTHING_KNOWN = "the model knows nothing in this text"
ERRORS_NOTE = (
    "Documents that the model was most sure about, and wrong: a wrong label with a high probability, and in turns "
    "with those a label missed with a low one."
)
MARKS_NOTE = (
    "Marked in a text: what spoke for the first label that is named with it, underlined, and what spoke against it, "
    "with a broken line; the darker, the more."
)


def errors_table(errors: Sequence[Mapping[str, Any]], longest: int | None = None) -> Table:
    """One document per row; of its text so many characters at most."""
    return Table(
        [
            "document",
            "language",
            "true",
            "given",
            "wrong",
            "probability",
            "words for it",
            "missed",
            "probability",
            "words against it",
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
                _shortened(error["text"], longest),
            ]
            for error in errors
        ],
    )


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
    facts = {"True labels": _listed(error["labels"]), "Labels given": _listed(error["given"])}
    for kind, title, words in (("wrong", "Wrong", "for it"), ("missed", "Missed", "against it")):
        if kind in error:
            label, probability = error[kind]["label"], number(error[kind]["probability"])
            facts[title] = f"{label}, probability {probability}{_reason(error, kind, words)}"
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


def _reason(error: Mapping[str, Any], kind: str, side: str) -> str:
    if not error.get("evidence", True):
        return f"; {NOTHING_KNOWN}"
    words = _words(error[kind]["words"])
    return f"; {side}: {words}" if words else ""


def _cells(error: Mapping[str, Any], kind: str) -> list[str]:
    if kind not in error:
        return [NONE, "", ""]
    blamed = error[kind]
    return [blamed["label"], number(blamed["probability"]), _words(blamed["words"])]


def _words(words: Sequence[Sequence[Any]]) -> str:
    return ", ".join(f"{word} {contribution:+.2f}" for word, contribution in words)


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(labels) or NONE


def _shortened(text: str, longest: int | None) -> str:
    plain = " ".join(text.split())
    return plain if longest is None or len(plain) <= longest else f"{plain[:longest].rstrip()} …"
