"""What a service answers, as types: FastAPI describes them in the OpenAPI document."""

from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,  # pydantic reads no other before Python 3.12
)

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from funnelling.corpus.labels import LabelSpace
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.serving.guard import MEDIA_TYPE
from funnelling.serving.settings import Limits

Probability = Annotated[float, Field(ge=0, le=1)]
ZeroShot = Annotated[Literal[True], Field(description="Training had no documents in the language.")]
Abstained = Annotated[
    Literal["out-of-vocabulary", "unknown-language"] | None,
    Field(description="Why no label is assigned: nothing in the text, or not its language, is known."),
]
Contributions = list[tuple[Any, float]]  # of words or labels, by name
Place = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1, description="What the view counts, where tier 1 has several.")]


@with_config(ConfigDict(extra="forbid"))
class _Answer(TypedDict):
    pass


class ProblemDocument(_Answer):
    type: str
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    pointer: NotRequired[Annotated[str, Field(description="Where in the body it went wrong (RFC 6901).")]]


ProblemDocument.__name__ = ProblemDocument.__qualname__ = "Problem"  # the RFC's word, and so its component's


class WordScores(_Answer):
    view: NotRequired[Annotated[str, Field(description="Where tier 1 has several.")]]
    share: NotRequired[Share]
    score: float
    posterior: NotRequired[Annotated[Probability, Field(description="Where scores are calibrated.")]]
    bias: float
    words: Contributions
    other_words: float


class LabelScores(_Answer):
    base: float
    labels: Contributions
    other_labels: float


class CandidateFacts(_Answer):
    place: Annotated[int, Field(ge=1, description="Among the candidates of the document, by tier 1.")]
    of: Annotated[int, Field(ge=1)]
    scores: Annotated[dict[str, float], Field(description="By view.")]
    company: Annotated[float, Field(description="How well it goes with the other candidates.")]
    documents: Annotated[int, Field(ge=0, description="Training documents that have it.")]
    documents_in_language: Annotated[int, Field(ge=0)]


class ExplainedLabel(_Answer):
    probability: Probability
    score: float
    threshold: NotRequired[Probability]
    assigned: bool
    tier_one: NotRequired[WordScores]
    other_views: NotRequired[dict[str, WordScores]]
    passages: NotRequired[
        Annotated[
            list[tuple[Place, Place, float]],
            Field(
                description="What the words of the text added in tier 1, in all views by their shares: start "
                "and end in the text, in Unicode code points, and the amount."
            ),
        ]
    ]
    unplaced: NotRequired[
        Annotated[float, Field(description="What features added that stand nowhere in the text.")]
    ]
    tier_two: NotRequired[LabelScores]
    candidate: NotRequired[
        Annotated[CandidateFacts, Field(description="What tier 2 saw of it, where labels are many.")]
    ]


class Neighbour(_Answer):
    id: str
    language: str
    labels: list[Any]
    distance: float
    text: NotRequired[Annotated[str, Field(description="How its text begins, where the model keeps that.")]]


class Explanation(_Answer):
    id: str
    language: str
    labels: dict[str, ExplainedLabel]
    neighbours: Annotated[
        list[Neighbour],
        Field(description="Training documents that are nearest in the space of posteriors."),
    ]
    abstained: Abstained
    language_detected: NotRequired[Literal[True]]
    zero_shot: NotRequired[ZeroShot]


class Model(_Answer):
    method: str
    languages: Annotated[dict[str, int], Field(description="Training documents of each.")]
    labels: list[Any]
    exclusive: Annotated[bool, Field(description="Whether a document has exactly one label.")]
    scores: Annotated[
        dict[str, Any] | None,
        Field(description="How good it is, and in `how` by which documents; null if it was not measured."),
    ]
    limits: Limits
    feedback: Annotated[bool, Field(description="Whether `POST /v1/feedback` takes better labels.")]
    funnelling: str


class LabelFacts(_Answer):
    id: str
    name: Annotated[
        str, Field(description="In English, or else as it is called anywhere; the id without one.")
    ]
    names: Annotated[dict[str, str], Field(description="By language.")]
    description: str
    parents: Annotated[list[str], Field(description="More general labels, which the model may not have.")]
    excluded: Annotated[bool, Field(description="Whether it is never assigned.")]


class Labels(_Answer):
    labels: list[LabelFacts]


class FeedbackResponse(_Answer):
    taken: Annotated[int, Field(ge=1, description="Documents that were written down.")]


class Health(_Answer):
    status: Literal["ok"]


def document_types(labels: LabelSpace, limits: Limits) -> tuple[Any, Any]:
    """The types of a model's predictions and explanations, which depend on its labels."""
    names, single = labels.classes.tolist(), labels.single_label
    label: Any = str if all(isinstance(name, str) for name in names) else Any
    given: Any = Field(description="Those that are assigned.")
    shown = _of_probabilities(len(names), single)
    if single:
        given = Field(description="The most probable one; none where it abstains.", max_length=1)

    class Labelled(_Answer):
        id: str
        language: str
        labels: Annotated[list[label], given]
        best_label: Annotated[
            label | None, Field(description="The most probable one; null where it abstains.")
        ]
        probability: Annotated[
            Probability | None, Field(description="That of the best label; null where it abstains.")
        ]
        abstained: Abstained
        probabilities: Annotated[dict[str, Probability], Field(description=shown)]
        language_detected: NotRequired[Literal[True]]
        zero_shot: NotRequired[ZeroShot]

    class Thresholded(Labelled):
        thresholds: NotRequired[
            Annotated[
                dict[str, Probability],
                Field(description="Above which probability a label is assigned, where that is not .5."),
            ]
        ]

    prediction: Any = Labelled if single else Thresholded
    prediction.__name__ = prediction.__qualname__ = "Prediction"

    class PredictResponse(_Answer):
        documents: Annotated[list[prediction], Field(min_length=1, max_length=limits.documents)]

    class ExplainResponse(_Answer):
        documents: Annotated[list[Explanation], Field(min_length=1, max_length=limits.explained)]

    return PredictResponse, ExplainResponse


def _of_probabilities(labels: int, single: bool) -> str:
    if labels > XMC_MIN_LABELS:
        return "The probability of each label, or of those that are candidates, the most probable first."
    return "The probability of each label" + ("; they sum to 1." if single else ".")


REASONS = {
    400: "The body is not JSON in UTF-8.",
    401: "The token is missing or wrong.",
    405: "The path has no such method.",
    408: "The body took too long to arrive.",
    413: "The body is too large.",
    415: "The body is not announced as JSON.",
    421: "The service does not answer to the name in Host.",
    422: "The body is not what this path expects.",
    500: "The service failed.",
    503: "The service is too busy, or the model took too long.",
    507: "The journal that takes feedback is full.",
}
OF_A_BODY = (400, 408, 413, 415, 422, 503)

_PROBLEM = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


def answers(kind: Any, meaning: str, *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route: an answer of a type, and the problems of these statuses."""
    return {200: {"description": meaning, "model": kind}, **problems(*statuses)}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may answer with."""
    return {
        status: {"description": REASONS[status], "content": _PROBLEM}
        for status in sorted({*statuses, 405, 421, 500})
    }
