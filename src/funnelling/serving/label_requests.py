"""The bodies of requests that a page to label on sends."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from funnelling.corpus.label_files import LONGEST
from funnelling.serving.requests import LONGEST_NOTE, Body, string

MOST_LABELS = 1_000  # of a document
_LONGEST_NAME = 100  # of a person, a session or a key


def _not_empty(label: str) -> str:
    if not label.strip():
        raise PydanticCustomError("label", "a label must not be empty")
    return label


Label: Any = Annotated[string(LONGEST), AfterValidator(_not_empty)]
Labels: Any = Annotated[list[Label], Field(max_length=MOST_LABELS)]
Name: Any = string(_LONGEST_NAME)
Session: Any = Annotated[str, Field(min_length=8, max_length=_LONGEST_NAME)]


class SessionRequest(Body):
    """Who asks: a browser, by a name that only it knows, and the person in front of it."""

    session: Session
    who: Name = ""


class StayRequest(SessionRequest):
    """Who is still there, and which document they look at."""

    key: Name = ""


class DecisionRequest(SessionRequest):
    """What a person decided about a document."""

    key: Name
    action: Literal["label", "skip", "note"]
    labels: Labels | None = None
    note: string(LONGEST_NOTE) = ""  # type: ignore[valid-type]


class LanguageRequest(SessionRequest):
    """Which language a document is in, and the labels that a person has chosen already, if any."""

    key: Name
    language: Name
    labels: Labels | None = None


class PassagesRequest(Body):
    """Which labels to explain in which document."""

    key: Name
    labels: Labels
