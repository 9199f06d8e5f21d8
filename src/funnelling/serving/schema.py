"""What a service takes and answers, as pydantic models that hold for any model.

A client may validate with them; a service narrows them to the labels, languages and limits of its model.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_after_validator_function

MAX_TAG_CHARACTERS = 40
MAX_ID_CHARACTERS = 1_000
MAX_INTEGER_ID = 2**53 - 1  # beyond it, numbers of JavaScript are not exact
MAX_NOTE_CHARACTERS = 10_000
MAX_LANGUAGES = 100  # of a request
MAX_LABELS_PER_ROW = 1_000
MAX_WORDS_PER_EXPLANATION = 100


class Body(BaseModel):
    """An object with these fields and no others, of these types and no similar ones."""

    model_config = ConfigDict(strict=True, extra="forbid")


@dataclass(frozen=True)
class Characters:
    """How many characters a string may have at most.

    Not pydantic's max_length, which refuses half of a surrogate pair. JSON can spell it, and we take it.
    """

    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "maxLength": self.most}

    def _check(self, text: str) -> str:
        if len(text) > self.most:
            raise PydanticCustomError(
                "string_length", f"a text has at most {self.most:,} characters, this one {len(text):,}"
            )
        return text


def string(most: int) -> Any:
    """The type of strings of so many characters."""
    return Annotated[str, Characters(most)]


def _as_whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value  # to JSON, 1.0 is 1


def saying(field: str, sentence: str) -> WrapValidator:
    """Let one sentence stand for whatever pydantic finds wrong with a field."""

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise PydanticCustomError(field, sentence) from None

    return WrapValidator(check)


Language = Annotated[str, Characters(MAX_TAG_CHARACTERS)]
_WHOLE = BeforeValidator(_as_whole)
Id = Annotated[
    Annotated[str, Characters(MAX_ID_CHARACTERS)]
    | Annotated[int, Field(ge=-MAX_INTEGER_ID, le=MAX_INTEGER_ID), _WHOLE],
    saying(
        "id",
        f"an id must be a string of at most {MAX_ID_CHARACTERS:,} characters or a whole number below 2**53",
    ),
]
Threshold = Annotated[
    Annotated[float, Field(ge=0, le=1)], saying("threshold", '"threshold" must be a number from 0 to 1')
]
LANGUAGE_OF_ALL = "The language of documents that have none; without it, theirs is detected."
LANGUAGE_OF_DOCUMENT = "A code such as en, eng or pt_BR. Detected where it is missing."

Entry = TypeVar("Entry")
Some = Annotated[list[Entry], Field(min_length=1, fail_fast=True)]  # one bad entry is enough to refuse it


class Document(Body):
    """A document to assign labels to, or to explain those of."""

    text: str
    language: Annotated[Language | None, Field(description=LANGUAGE_OF_DOCUMENT)] = None
    id: Annotated[
        Id | None,
        Field(description="Comes back with the answer. The document's number where it is missing."),
    ] = None


class FeedbackDocument(Document):
    """A document with the labels that it should have had."""

    labels: list[str]
    note: Annotated[
        str, Characters(MAX_NOTE_CHARACTERS), Field(description="For whoever reads the journal.")
    ] = ""


class LanguageOptions(Body):
    """How a request finds the languages of its documents."""

    language: Annotated[Language | None, Field(description=LANGUAGE_OF_ALL)] = None
    languages: Annotated[
        Some[Language] | None, Field(description="The languages that detection chooses among.")
    ] = None
    strict: Annotated[
        bool,
        Field(description="Refuse a request that names a language which the model does not know."),
    ] = False


class SingleLabelOptions(LanguageOptions):
    """What a request asks of a model that gives each document one label."""

    exclude: Annotated[Some[str] | None, Field(description="Labels that are not to be assigned.")] = None
    top: Annotated[
        Annotated[
            int,
            Field(ge=1, le=MAX_LABELS_PER_ROW),
            _WHOLE,
            saying("top", f'"top" must be a whole number from 1 to {MAX_LABELS_PER_ROW:,}'),
        ]
        | None,
        Field(description="Show the probabilities of so many labels, the most probable first."),
    ] = None
    names: Annotated[
        Language | None,
        Field(description="A language in which `label_names` says what the assigned labels are called."),
    ] = None


class PredictOptions(SingleLabelOptions):
    """What a request asks of a model that gives each document any number of labels."""

    threshold: Annotated[
        Threshold | None,
        Field(
            description="Assign labels above this probability. The model's own thresholds where it is "
            "missing."
        ),
    ] = None
    show: Annotated[
        list[Literal["thresholds"]],
        saying("show", '"show" must be ["thresholds"], or left out'),
        Field(max_length=1, description="What else a row shows: the thresholds of its labels."),
    ] = []


class PredictRequest(PredictOptions):
    """Documents to assign labels to."""

    documents: Some[Document]


class ExplainRequest(LanguageOptions):
    """Documents whose labels are to be explained."""

    documents: Some[Document]
    labels: Annotated[
        Some[str] | None,
        Field(description="The assigned labels, or the three most probable, where it is missing."),
    ] = None
    top: Annotated[
        int,
        Field(ge=1, le=MAX_WORDS_PER_EXPLANATION),
        _WHOLE,
        saying("top", f'"top" must be a whole number from 1 to {MAX_WORDS_PER_EXPLANATION}'),
    ] = 10


class FeedbackRequest(Body):
    """Documents with the labels that they should have had."""

    documents: Some[FeedbackDocument]


Probability = Annotated[float, Field(ge=0, le=1)]
Contributions = list[tuple[Any, float]]  # of words or labels, by name
Place = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1, description="What the view counts, where tier 1 has several.")]


class Answer(BaseModel):
    """An object of an answer."""

    model_config = ConfigDict(extra="forbid")


class Problem(Answer):
    """Why a request was not answered (RFC 9457)."""

    type: str
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    pointer: Annotated[
        str | None, Field(description="Where in the body, or in its line, it went wrong (RFC 6901).")
    ] = None
    line: Annotated[
        int | None, Field(ge=1, description="In which line of a body of lines it went wrong.")
    ] = None


class Row(Answer):
    """What every row about a document has."""

    id: str
    language: str
    language_detected: Annotated[
        bool, Field(description="Whether the document came without its language.")
    ] = False
    language_probability: Annotated[Probability | None, Field(description="Of a detected language.")] = None
    abstained: Annotated[
        Literal["out-of-vocabulary", "unknown-language"] | None,
        Field(
            description="Why no label is assigned: the model knows nothing in the text, or not its language. "
            "Else null."
        ),
    ]
    zero_shot: Annotated[bool, Field(description="Whether training had no documents in the language.")] = (
        False
    )


class SingleLabelRow(Row):
    """A document with the label of a model that gives each document one."""

    labels: Annotated[list[Any], Field(description="Those that are assigned.")]
    label_names: Annotated[
        list[str] | None, Field(description="What these are called, where `names` asks for it.")
    ] = None
    best_label: Annotated[Any, Field(description="The most probable one; null where the model abstains.")]
    probability: Annotated[
        Probability | None, Field(description="That of the best label; null where the model abstains.")
    ]
    probabilities: dict[str, Probability]


class PredictRow(SingleLabelRow):
    """A document with its labels and their probabilities."""

    thresholds: Annotated[
        dict[str, Probability],
        Field(description="Above which a label is assigned, where that is not .5 and `show` asks for it."),
    ] = {}


class PredictResponse(Answer):
    """One row per document, in their order."""

    documents: Annotated[list[PredictRow], Field(min_length=1)]


class WordScores(Answer):
    view: Annotated[str | None, Field(description="Where tier 1 has several.")] = None
    share: Share | None = None
    score: float
    posterior: Annotated[Probability | None, Field(description="Where scores are calibrated.")] = None
    bias: float
    words: Contributions
    other_words: float


class LabelScores(Answer):
    base: float
    labels: Contributions
    other_labels: float


class CandidateFacts(Answer):
    rank: Annotated[int, Field(ge=1, description="Among the candidates of the document, by tier 1.")]
    n_candidates: Annotated[int, Field(ge=1)]
    scores: Annotated[dict[str, float], Field(description="By view.")]
    co_occurrence: Annotated[float, Field(description="How well it goes with the other candidates.")]
    documents: Annotated[int, Field(ge=0, description="Training documents that have it.")]
    documents_in_language: Annotated[int, Field(ge=0)]


class ExplainedLabel(Answer):
    probability: Probability
    score: float
    threshold: Probability | None = None
    assigned: bool
    tier_one: WordScores | None = None
    other_views: dict[str, WordScores] = {}
    spans: Annotated[
        list[tuple[Place, Place, float]],
        Field(
            description="What the words of the text added in tier 1, in all views by their shares: start "
            "and end in the text, in Unicode code points, and the amount."
        ),
    ] = []
    outside_text: Annotated[
        float, Field(description="What features added that stand nowhere in the text.")
    ] = 0
    tier_two: LabelScores | None = None
    candidate: Annotated[
        CandidateFacts | None, Field(description="What tier 2 saw of it, where labels are many.")
    ] = None


class Neighbour(Answer):
    id: str
    language: str
    labels: list[Any]
    distance: float
    text: Annotated[str, Field(description="How its text begins, where the model keeps that.")] = ""


class ExplainRow(Row):
    """A document with what its labels rest on."""

    labels: dict[str, ExplainedLabel]
    neighbours: Annotated[
        list[Neighbour],
        Field(description="Training documents that are nearest in the space of posteriors."),
    ]


class ExplainResponse(Answer):
    """One row per document, in their order."""

    documents: Annotated[list[ExplainRow], Field(min_length=1)]
