"""In which order unlabelled documents come to people: those first that the model is least sure of."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from funnelling.formats.document import Document
from funnelling.prediction import Predictor, batches
from funnelling.work.progress import progress_bar

if TYPE_CHECKING:
    from funnelling.method.base import Method

HALF = 0.5


class Queued(NamedTuple):
    """A document's place among those given, and why it stands there, in a few words."""

    place: int
    reason: str


def queue_of(model: "Method", documents: Sequence[Document], verbose: int = 0) -> list[Queued]:
    """All documents in the order in which people should see them; documents that are alike keep theirs."""
    predictor = Predictor(model, strict=False, tell_thresholds=True)
    doubts: list[tuple[float, str]] = []
    with progress_bar("ordering documents", len(documents), bool(verbose), "documents") as advance:
        for batch in batches(documents):
            doubts += [_doubt(row, bool(model.exclusive_)) for row in predictor(batch)]
            advance(len(batch))
    order = sorted(range(len(documents)), key=lambda place: -doubts[place][0])
    return [Queued(place, doubts[place][1]) for place in order]


def _doubt(row: dict[str, Any], exclusive: bool) -> tuple[float, str]:
    """How unsure the model is of a document, from 0 to 1, and of what."""
    scores = row["scores"]
    if scores is None:
        return 1.0, "a language that the model does not know"
    if "evidence" in row:
        return 0.0, "nothing in it is known to the model"
    if exclusive:
        first, *second = sorted(scores, key=lambda label: -scores[label])[:2]
        gap = scores[first] - (scores[second[0]] if second else 0.0)
        return 1.0 - gap, f"unsure between {first} and {second[0]}" if second else ""
    thresholds = row.get("thresholds", {})
    margins = {label: abs(score - thresholds.get(label, HALF)) for label, score in scores.items()}
    closest = min(margins, key=lambda label: margins[label])
    return 1.0 - margins[closest], f"unsure about {closest}"
