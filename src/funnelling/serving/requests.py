"""The requests that one model answers: what is accepted and what OpenAPI describes are one.

What may be asked depends on the model and on the settings, so the models of `schema` are narrowed when a
service starts.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    ValidationError,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType  # pydantic reads no other before Python 3.12

from funnelling.corpus.label_set import UNTAGGED
from funnelling.errors import InputError
from funnelling.formats.document import Document, quoted, to_document
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.model import Model
from funnelling.methods.rows import NO_THRESHOLD
from funnelling.serving import schema
from funnelling.serving.engine import RowOptions
from funnelling.serving.guard import HTTPProblem
from funnelling.serving.schema import Body, saying, string
from funnelling.serving.settings import Limits
from funnelling.serving.tags import ANY_TAG, tag_check, tag_pattern, tag_schema

# What pydantic finds wrong, as a client reads it. Our own validators bring a sentence with them.
_REASONS = {
    "bool_type": "{name} must be true or false",
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


class BatchOptions(NamedTuple):
    """What is asked of all documents of a batch.

    How their rows are to be, the language of documents that have none, and whether one that the model does
    not know is refused.
    """

    rows: RowOptions
    language: str | None
    strict: bool


class Requests:
    """The requests that a model answers: read from the value of a body, or refused."""

    def __init__(self, model: Model, limits: Limits) -> None:
        self.limits = limits
        self._single = model.labels.single_label
        labels = [str(label) for label in model.labels.classes.tolist()]
        rules = model.rules
        self._assignable = {
            label for column, label in enumerate(labels) if rules is None or not rules.excluded[column]
        }
        self._check_tag, known = tag_check(model), tag_schema(tag_pattern(model))
        served = Annotated[schema.Language, AfterValidator(self._check_tag), WithJsonSchema(known)]
        self.document_type = document = narrowed(schema.Document, text=string(limits.characters))
        label: Any = label_type(labels)
        self.label_type = label
        several: Any = (
            Annotated[list[label], Field(min_length=1, max_length=len(labels), fail_fast=True)] | None
        )
        one: Any = Annotated[served, AfterValidator(_named), WithJsonSchema({**known, "minLength": 1})]
        languages: Any = Annotated[list[one], Field(min_length=1, max_length=schema.MAX_LANGUAGES)] | None
        options: Any = schema.SingleLabelOptions if self._single else schema.PredictOptions
        bases = (_WithoutThreshold, options) if self._single else (options,)
        self.options_type: Any = narrowed(
            _where_strict(known, *bases), exclude=several, languages=languages, names=_names_type(model)
        )
        self.predict_type: Any = create_model(
            "PredictRequest", __base__=self.options_type, documents=at_most(document, limits.documents)
        )
        self.explain_type: Any = narrowed(
            _where_strict(known, schema.ExplainRequest),
            documents=at_most(document, limits.explained),
            labels=several,
            languages=languages,
        )
        not_blank = {"type": "string", "pattern": r"\S", "maxLength": limits.characters}
        least, most = (1, 1) if self._single else (0, len(labels))
        none = "" if self._single else "; an empty list says that it should have none"
        text: Any = Annotated[string(limits.characters), WithJsonSchema(not_blank)]
        corrected = create_model(
            "FeedbackDocument",
            __base__=schema.FeedbackDocument,
            text=(text, ...),
            language=(served | None, Field(None, description=schema.LANGUAGE_OF_DOCUMENT)),
            labels=(
                Annotated[list[label], Field(min_length=least, max_length=most)],
                Field(description=f"All that it should have had{none}."),
            ),
        )
        self.feedback_type: Any = narrowed(
            schema.FeedbackRequest, documents=at_most(corrected, limits.documents)
        )

    def read_predict(self, request: Any) -> tuple[list[Document], RowOptions]:
        """The documents to label, and what their rows are to be like."""
        return self._documents(request), self.read_options(request)

    def read_options(self, request: Any) -> RowOptions:
        """What rows are to be like; excluded labels in alphabetical order."""
        exclude = tuple(sorted(set(request.exclude or ())))
        if exclude and self._assignable <= set(exclude):
            raise HTTPProblem(422, "Every label is excluded. Leave at least one.", pointer="/exclude")
        return RowOptions(
            exclude,
            tuple(request.languages or ()),
            request.top,
            request.names,
            None if self._single else request.threshold,
            not self._single and bool(request.show),
        )

    def read_query(self, query: Mapping[str, Sequence[str]]) -> BatchOptions:
        """What the query of an address says of all documents."""
        value = {name: _of_query(name, values) for name, values in query.items()}
        try:
            request = validated(self.options_type, value, "the query")
            if request.strict:
                self.check_language(request.language, "/language")
            return BatchOptions(self.read_options(request), request.language, request.strict)
        except HTTPProblem as problem:  # it points at no body
            raise HTTPProblem(problem.status, problem.detail) from None

    def read_document(self, value: Any, number: int, options: BatchOptions) -> Document:
        """The document of a line, ``number`` among all."""
        row = validated(self.document_type, value, "a document")
        if options.strict:
            self.check_language(row.language, "/language")
        return _document(row, number, options.language)

    def read_explain(self, request: Any) -> tuple[list[Document], list[str] | None, int, RowOptions]:
        """The documents, the labels to explain (None: the usual ones), and how many words to list."""
        labels = None if request.labels is None else list(dict.fromkeys(request.labels))
        options = RowOptions(languages=tuple(request.languages or ()))
        return self._documents(request), labels, request.top, options

    def read_feedback(self, request: Any) -> list[tuple[Document, str]]:
        """Documents with the labels that they should have had, and what was noted about each."""
        documents = [_document(row, number) for number, row in enumerate(request.documents, 1)]
        for place, document in enumerate(documents):
            if not document.text.strip():
                raise HTTPProblem(
                    422, "There is nothing to learn from an empty text.", pointer=f"/documents/{place}/text"
                )
        return [(document, row.note) for document, row in zip(documents, request.documents, strict=True)]

    def _documents(self, request: Any) -> list[Document]:
        if request.strict:
            self.check_language(request.language, "/language")
            for place, row in enumerate(request.documents):
                self.check_language(row.language, f"/documents/{place}/language")
        return [_document(row, number, request.language) for number, row in enumerate(request.documents, 1)]

    def check_language(self, tag: str | None, pointer: str) -> None:
        """Refuse a language that the model does not know."""
        try:
            self._check_tag(tag or "")
        except PydanticCustomError as error:
            detail = error.message()
            raise HTTPProblem(422, f"{detail[0].upper()}{detail[1:]}.", pointer=pointer) from None


def _where_strict(tag: dict[str, Any], *bases: type[BaseModel]) -> Any:
    """Models whose schema says which languages they take where they are strict: those of a pattern."""
    language = {"language": {"anyOf": [tag, {"type": "null"}]}}
    documents = {"documents": {"items": {"properties": language}}}
    strict = {"properties": {"strict": {"const": True}}, "required": ["strict"]}
    known = {"if": strict, "then": {"properties": {**language, **documents}}}
    config = {
        "__module__": __name__,
        "__doc__": bases[-1].__doc__,
        "model_config": {"json_schema_extra": known},
    }
    return type(bases[-1].__name__, bases, config)


def narrowed(base: type[BaseModel], called: str = "", **kinds: Any) -> Any:
    """A model whose fields of these names are of other types, and otherwise as in its base."""
    fields: dict[str, Any] = {}
    for field, kind in kinds.items():
        general = base.model_fields[field]
        said: Any = {"description": general.description} if general.description else {}
        fields[field] = (kind, Field(general.default, **said))
    return create_model(called or base.__name__, __base__=base, __doc__=base.__doc__, **fields)


_LISTS = ("exclude", "languages", "show")
_WORDS = ("language", "names")


def _of_query(name: str, values: Sequence[str]) -> Any:
    """What a query says of a field: a list has its name several times, and all but words is JSON."""
    if name in _LISTS or len(values) > 1:
        return list(values)
    if name in _WORDS:
        return values[0]
    try:
        return json.loads(values[0])
    except ValueError:
        return values[0]


class _WithoutThreshold(Body):
    @model_validator(mode="before")
    @classmethod
    def _refuse_threshold(cls, body: Any) -> Any:
        if isinstance(body, dict) and "threshold" in body:
            raise HTTPProblem(422, NO_THRESHOLD, pointer="/threshold")
        return body


def at_most(entry: Any, most: int) -> Any:
    """A list that is not empty; one bad entry is enough to refuse it."""
    return Annotated[list[entry], Field(min_length=1, max_length=most, fail_fast=True)]


def _named(tag: str) -> str:
    if not tag:
        raise PydanticCustomError("language", "a language must not be empty")
    return tag


def label_type(labels: list[str]) -> Any:
    """A label of the model, which OpenAPI names once and lists there, unless they are thousands."""
    known = frozenset(labels)

    def check(label: str) -> str:
        if label not in known:
            raise PydanticCustomError(
                "label", f"the model has no label {quoted(label)}. GET /v1/model lists them"
            )
        return label

    # Not a Literal, which cannot hold half of a surrogate pair. Thousands are listed by /v1/model alone.
    listed = {"type": "string"} if len(labels) > XMC_MIN_LABELS else {"type": "string", "enum": labels}
    return TypeAliasType("Label", Annotated[str, AfterValidator(check), WithJsonSchema(listed)])


def _names_type(model: Model) -> Any:
    """A language in which labels have names; null where they have none."""
    label_set = model.label_set
    if label_set is None or not label_set.names:
        return Annotated[None, saying("names", "the labels of this model have no names")]

    def check(language: str) -> str:
        try:
            label_set.names_in(language)
        except InputError as error:
            raise PydanticCustomError("names", str(error).removesuffix(".")) from None
        return language

    listed = {"type": "string", "enum": sorted(label_set.names)}
    known = WithJsonSchema(tag_schema(ANY_TAG) if UNTAGGED in label_set.names else listed)
    return Annotated[schema.Language, AfterValidator(check), known] | None


def _document(row: Any, number: int, language: str | None = None) -> Document:
    # Made as the command line makes them from its files: with the same ids, and texts fit to be encoded.
    document = to_document(vars(row), "documents", number)
    return replace(document, language=language) if language and not document.language else document


def validated(kind: type[BaseModel], value: Any, whole: str) -> Any:
    """A value as a model, or refused; ``whole`` is what to call it."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise body_problem(kind, error.errors(include_url=False), whole) from None


def body_problem(kind: type[BaseModel], errors: Sequence[Any], whole: str = "the body") -> HTTPProblem:
    """The refusal of a body for one of its errors: a misspelt field rather than the one missing for it."""
    error = next((error for error in errors if error["type"] == "extra_forbidden"), errors[0])
    code, place = error["type"], list(error["loc"])
    if code == "model_type" or (not place and code == "missing"):  # what FastAPI finds in null
        code = "model_attributes_type"
    words: dict[str, Any] = {"name": _noun(place, whole)}
    if code == "model_attributes_type":
        words["example"] = json.dumps(_example(_owner(kind, place)), ensure_ascii=False)
    if code == "extra_forbidden":
        *place, field = place
        fields = _owner(kind, place).model_fields
        known = sorted(fields, key=lambda name: not fields[name].is_required())
        words = {"name": quoted(str(field)), "owner": _noun(place, whole), "fields": ", ".join(known)}
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


def _noun(place: Sequence[int | str], whole: str) -> str:
    match place:
        case []:
            return whole
        case [str(entries), int()]:
            return f"a {entries.removesuffix('s')}"
        case _:
            return f'"{place[-1]}"'
