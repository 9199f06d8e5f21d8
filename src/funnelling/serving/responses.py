"""The answers of a service: which models and problems the OpenAPI document names for a route."""

from typing import Annotated, Any, Literal

from pydantic import Field

from funnelling.corpus.labels import LabelSpace
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.serving import schema
from funnelling.serving.guard import MEDIA_TYPE
from funnelling.serving.requests import at_most, narrowed
from funnelling.serving.schema import Answer, Probability
from funnelling.serving.settings import Limits


class ExampleText(Answer):
    language: str
    text: str


class ModelResponse(Answer):
    """What a model is, and how much a request may ask of it."""

    method: str
    languages: Annotated[dict[str, int], Field(description="Training documents of each.")]
    labels: list[Any]
    single_label: Annotated[bool, Field(description="Whether a document has exactly one label.")]
    thresholds: Annotated[
        dict[str, dict[str, Probability]],
        Field(description="By language: above which probability a label is assigned, where that is not .5."),
    ]
    scores: Annotated[
        dict[str, Any] | None,
        Field(description="How good it is, and on which documents; null if it was not measured."),
    ]
    examples: Annotated[
        list[ExampleText], Field(description="How training documents begin, where the model keeps that.")
    ]
    limits: Limits
    feedback: Annotated[bool, Field(description="Whether `POST /v1/feedback` takes better labels.")]
    funnelling: str


class LabelFacts(Answer):
    id: str
    name: Annotated[
        str, Field(description="In English, or else as it is called anywhere; the id without one.")
    ]
    names: Annotated[dict[str, str], Field(description="By language.")]
    description: str
    parents: Annotated[list[str], Field(description="More general labels, which the model may not have.")]
    excluded: Annotated[bool, Field(description="Whether it is never assigned.")]


class LabelsResponse(Answer):
    """What labels are called."""

    labels: list[LabelFacts]


class FeedbackResponse(Answer):
    recorded: Annotated[int, Field(ge=1, description="Documents that are in the journal now.")]


class HealthResponse(Answer):
    status: Literal["ok"]


def answer_types(labels: LabelSpace, limits: Limits, label: Any) -> tuple[Any, Any]:
    """The answers to requests for predictions and for explanations; ``label`` is the type of the labels."""
    names, single = labels.classes.tolist(), labels.single_label
    if not all(isinstance(name, str) for name in names):
        label = Any
    if len(names) > XMC_MIN_LABELS:
        shown = "The probability of each label, or of those that are candidates, the most probable first."
    else:
        shown = "The probability of each label" + ("; they sum to 1." if single else ".")
    row = narrowed(
        schema.SingleLabelRow if single else schema.PredictRow,
        "PredictRow",
        labels=Annotated[list[label], Field(max_length=1)] if single else list[label],
        best_label=label | None,
        probabilities=Annotated[dict[str, Probability], Field(description=shown)],
    )
    predictions = narrowed(schema.PredictResponse, documents=at_most(row, limits.documents))
    explanations = narrowed(schema.ExplainResponse, documents=at_most(schema.ExplainRow, limits.explained))
    return predictions, explanations


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
