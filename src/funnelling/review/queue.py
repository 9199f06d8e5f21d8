"""In which order unlabelled documents come to people: those that are suggested first, then all others."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from funnelling.formats import Document
from funnelling.methods.suggesting import suggest_texts

if TYPE_CHECKING:
    from funnelling.methods.model import Method

FIRST = 500  # that are suggested, before the others as they came: nobody labels more before it learns


class Queued(NamedTuple):
    """A document's place among those given, and why it stands there, in a few words."""

    place: int
    reason: str


def queue_of(model: "Method", documents: Sequence[Document]) -> list[Queued]:
    """All documents in the order in which people should see them."""
    if not documents:
        return []
    rows = suggest_texts(
        model,
        [document.text for document in documents],
        [document.language for document in documents],
        FIRST,
        ids=list(range(len(documents))),
        groups=[document.group for document in documents] if any(each.group for each in documents) else None,
    )
    first = [Queued(int(row["id"]), row["reason"]) for row in rows]
    taken = {each.place for each in first}
    return [*first, *(Queued(place, "") for place in range(len(documents)) if place not in taken)]
