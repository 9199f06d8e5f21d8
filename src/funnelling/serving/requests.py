"""The bodies of requests as pydantic models: what is accepted and what OpenAPI describes are one.

What may be asked depends on the model and on the settings, so the types are made when a service starts.
"""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from string import ascii_lowercase
from typing import Annotated, Any, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from funnelling.errors import InputError
from funnelling.formats.document import Document, quoted, to_document
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.model import Model
from funnelling.methods.rows import NO_THRESHOLD
from funnelling.serving.guard import HTTPProblem
from funnelling.serving.settings import Limits
from funnelling.text.languages import is_language, is_served, normalise_tag

MAX_TAG_CHARACTERS = 40
ANY_TAG = r"^(|[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)$"
_SUBTAGS = "([-_][A-Za-z0-9]{1,8})*"


def tag_pattern(model: Model) -> str:
    """A pattern of the tags that a model serves, in either case, plain or with subtags, or empty."""
    if model.serves("qaa"):  # a code that no language has: it serves all
        return ANY_TAG
    codes = [a + b for a in ascii_lowercase for b in ascii_lowercase]
    if any(model.serves(code) for code in codes if not is_served(code, model.languages)):
        return ANY_TAG
    return f"^(|{'|'.join(_spellings(tag, model) for tag in model.languages)})$"


def _spellings(tag: str, model: Model) -> str:
    """A pattern of a language by each of its codes; one that is served as such may have any subtags."""
    if not is_language(tag):
        return _in_any_case(tag) + ("" if "_" in tag else _SUBTAGS)
    language, *subtags = normalise_tag(tag).split("_")
    codes = "|".join(map(_in_any_case, _codes(language)))
    if model.serves(language):
        return f"({codes}){_SUBTAGS}"
    return "[-_]".join([f"({codes})", *map(_in_any_case, subtags)])


def _codes(language: str) -> list[str]:
    """The codes of a language in ISO 639-1 and -2."""
    from langcodes import Language

    longer = {Language.get(language).to_alpha3(variant) for variant in "TB"}
    return [language, *sorted(code for code in longer - {language} if normalise_tag(code) == language)]


def _in_any_case(tag: str) -> str:
    return "".join("[-_]" if c == "_" else f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in tag)


MAX_ID_CHARACTERS = 1_000
MAX_INTEGER_ID = 2**53 - 1  # beyond it, numbers of JavaScript are not exact
MAX_NOTE_CHARACTERS = 10_000
MAX_WORDS_PER_EXPLANATION = 100  # that an explanation lists

# What pydantic finds wrong, as a client reads it. Our own validators bring a sentence with them.
_REASONS = {
    "extra_forbidden": "{name} is no field of {owner}, which has {fields}",
    "greater_than_equal": "{name} must be at least {ge}",
    "int_type": "{name} must be a whole number",
    "less_than_equal": "{name} must be at most {le}",
    "list_type": "{name} must be a list",
    "literal_error": "{name} must be {expected}",
    "missing": "{name} is missing. Add it",
    "model_attributes_type": "{name} must be an object such as {example}",
    "string_too_long": "{name} may have at most {max_length:,} characters",
    "string_too_short": "{name} must have at least {min_length:,} characters",
    "string_type": "{name} must be a string",
    "too_long": "{name} may have at most {max_length:,} entries, not {actual_length:,}",
    "too_short": "{name} must not be empty",
}


class Requests:
    """The requests that a model answers: read from the value of a body, or refused."""

    def __init__(self, model: Model, limits: Limits) -> None:
        document = _document_type(model, limits.characters)
        labels = [str(label) for label in model.labels.classes.tolist()]
        top: Any = Annotated[
            _whole_number(1, MAX_WORDS_PER_EXPLANATION),
            _saying("top", f'"top" must be a whole number from 1 to {MAX_WORDS_PER_EXPLANATION}'),
        ]
        threshold: Any = Annotated[
            Annotated[float, Field(ge=0, le=1)],
            _saying("threshold", '"threshold" must be a number from 0 to 1'),
        ]
        self._single = model.labels.single_label
        several: Any = _some(_label_type(labels), len(labels)) | None
        rules = model.rules
        self._assignable = {
            label for column, label in enumerate(labels) if rules is None or not rules.excluded[column]
        }
        fields: dict[str, Any] = {
            "documents": _some(document, limits.documents),
            "exclude": (several, Field(None, description="Labels that are not to be assigned.")),
        }
        if not self._single:
            said = "Assign labels above this probability. The model's own thresholds where it is missing."
            fields["threshold"] = (threshold | None, Field(None, description=said))
        base = _WithoutThreshold if self._single else Body
        self.predict_type: Any = create_model("PredictRequest", __base__=base, **fields)
        self.explain_type: Any = create_model(
            "ExplainRequest",
            __base__=Body,
            documents=_some(document, limits.explained),
            labels=(
                several,
                Field(
                    None, description="The assigned labels, or the three most probable, where it is missing."
                ),
            ),
            top=(top, 10),
        )
        self.feedback_type: Any = create_model(
            "FeedbackRequest",
            __base__=Body,
            documents=_some(_corrected_type(document, labels, self._single), limits.documents),
        )

    def read_predict(self, request: Any) -> tuple[list[Document], float | None, tuple[str, ...]]:
        """The documents to label, the threshold of all labels (None: each has the model's own).

        And the labels that are not to be assigned, in alphabetical order.
        """
        exclude = tuple(sorted(set(request.exclude or ())))
        if exclude and self._assignable <= set(exclude):
            raise HTTPProblem(422, "Every label is excluded. Leave at least one.", pointer="/exclude")
        return _documents(request), None if self._single else request.threshold, exclude

    def read_explain(self, request: Any) -> tuple[list[Document], list[str] | None, int]:
        """The documents, the labels to explain (None: the usual ones), and how many words to list."""
        labels = None if request.labels is None else list(dict.fromkeys(request.labels))
        return _documents(request), labels, request.top

    def read_feedback(self, request: Any) -> list[tuple[Document, str]]:
        """Documents with the labels that they should have had, and what was noted about each."""
        documents = _documents(request)
        for place, document in enumerate(documents):
            if not document.text.strip():
                raise HTTPProblem(
                    422, "There is nothing to learn from an empty text.", pointer=f"/documents/{place}/text"
                )
        return [(document, row.note) for document, row in zip(documents, request.documents, strict=True)]


class Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _WithoutThreshold(Body):
    @model_validator(mode="before")
    @classmethod
    def _refuse_threshold(cls, body: Any) -> Any:
        if isinstance(body, dict) and "threshold" in body:
            raise HTTPProblem(422, NO_THRESHOLD, pointer="/threshold")
        return body


def _document_type(model: Model, characters: int) -> type[BaseModel]:
    tag = {"type": "string", "pattern": tag_pattern(model), "maxLength": MAX_TAG_CHARACTERS}
    language = Annotated[str, AfterValidator(_tag_check(model)), WithJsonSchema(tag)]
    identifier = string(MAX_ID_CHARACTERS) | _whole_number(-MAX_INTEGER_ID, MAX_INTEGER_ID)
    said = _saying(
        "id",
        f"an id must be a string of at most {MAX_ID_CHARACTERS:,} characters or a whole number below 2**53",
    )
    return create_model(
        "Document",
        __base__=Body,
        text=(string(characters), ...),
        language=(
            language | None,
            Field(None, description="A code such as en, eng or pt_BR. Detected where it is missing."),
        ),
        id=(
            Annotated[identifier, said] | None,
            Field(None, description="Comes back with the answer. The document's number where it is missing."),
        ),
    )


def _corrected_type(document: type[BaseModel], labels: list[str], single: bool) -> Any:
    """A document with the labels that it should have had."""
    label: Any = _label_type(labels)
    least, most = (1, 1) if single else (0, len(labels))
    none = "" if single else "; an empty list says that it should have none"
    return create_model(
        "CorrectedDocument",
        __base__=document,
        labels=(
            Annotated[list[label], Field(min_length=least, max_length=most)],
            Field(description=f"All that it should have had{none}."),
        ),
        note=(string(MAX_NOTE_CHARACTERS), Field("", description="For whoever reads the journal.")),
    )


def _some(entry: Any, most: int) -> Any:
    """A list that is not empty; one bad entry is enough to refuse it."""
    return Annotated[list[entry], Field(min_length=1, max_length=most, fail_fast=True)]


def string(most: int) -> Any:
    # Not pydantic's max_length, which refuses half of a surrogate pair. JSON can spell it, and we take it.
    def check(text: str) -> str:
        if len(text) > most:
            raise PydanticCustomError(
                "string_length", f"a text has at most {most:,} characters, this one {len(text):,}"
            )
        return text

    return Annotated[str, AfterValidator(check), WithJsonSchema({"type": "string", "maxLength": most})]


def _whole_number(least: int, most: int) -> Any:
    return Annotated[int, Field(ge=least, le=most), BeforeValidator(_as_whole)]


def _as_whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value  # to JSON, 1.0 is 1


def _saying(field: str, sentence: str) -> WrapValidator:
    """Let one sentence stand for whatever pydantic finds wrong with a field."""

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise PydanticCustomError(field, sentence) from None

    return WrapValidator(check)


def _tag_check(model: Model) -> Callable[[str], str]:
    known = ", ".join(model.languages)

    @lru_cache(maxsize=1_024)
    def serves(tag: str) -> bool:
        try:
            return tag == tag.strip() and model.serves(normalise_tag(tag))
        except InputError:
            return False

    def check(tag: str) -> str:
        if tag and (len(tag) > MAX_TAG_CHARACTERS or not serves(tag)):
            raise PydanticCustomError(
                "language", f"the model does not know the language {quoted(tag)}, only {known}"
            )
        return tag

    return check


def _label_type(labels: list[str]) -> Any:
    known = frozenset(labels)

    def check(label: str) -> str:
        if label not in known:
            raise PydanticCustomError(
                "label", f"the model has no label {quoted(label)}. GET /v1/model lists them"
            )
        return label

    # Not a Literal, which cannot hold half of a surrogate pair. Thousands are listed by /v1/model alone.
    schema = {"type": "string"} if len(labels) > XMC_MIN_LABELS else {"type": "string", "enum": labels}
    return Annotated[str, AfterValidator(check), WithJsonSchema(schema)]


def _documents(request: Any) -> list[Document]:
    # Made as the command line makes them from its files: with the same ids, and texts fit to be encoded.
    return [to_document(vars(row), "documents", number) for number, row in enumerate(request.documents, 1)]


def body_problem(kind: type[BaseModel], errors: Sequence[Any]) -> HTTPProblem:
    """The refusal of a body for one of its errors: a misspelt field rather than the one missing for it."""
    error = next((error for error in errors if error["type"] == "extra_forbidden"), errors[0])
    code, (_, *place) = error["type"], error["loc"]
    if not place and code == "missing":  # what FastAPI finds in null
        code = "model_attributes_type"
    words: dict[str, Any] = {"name": _noun(place)}
    if code == "model_attributes_type":
        words["example"] = json.dumps(_example(_owner(kind, place)), ensure_ascii=False)
    if code == "extra_forbidden":
        *place, field = place
        fields = _owner(kind, place).model_fields
        words = {"name": quoted(str(field)), "owner": _noun(place), "fields": ", ".join(fields)}
    reason = _REASONS[code].format(**words, **error.get("ctx", {})) if code in _REASONS else error["msg"]
    pointer = "".join(f"/{step}" for step in place)
    return HTTPProblem(422, f"{reason[0].upper()}{reason[1:]}.", pointer=pointer)


def _owner(kind: type[BaseModel], place: Sequence[int | str]) -> type[BaseModel]:
    """The type of the object at a place: that of the body, or of the entries of one of its lists."""
    if not place:
        return kind
    entry: type[BaseModel] = get_args(kind.model_fields[str(place[0])].annotation)[0]
    return entry


def _example(kind: Any) -> Any:
    """What something of a type looks like: an object has the fields that it cannot lack."""
    if get_origin(kind) is list:
        return [_example(get_args(kind)[0])]
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return "…"
    fields = kind.model_fields.items()
    return {name: _example(field.annotation) for name, field in fields if field.is_required()}


def _noun(place: Sequence[int | str]) -> str:
    match place:
        case []:
            return "the body"
        case [str(entries), int()]:
            return f"a {entries.removesuffix('s')}"
        case _:
            return f'"{place[-1]}"'
