"""The JSON that goes in and out, as OpenAPI describes it: what `requests` accepts, no more and no less."""

from collections.abc import Sequence
from typing import Any

from funnelling.method import Method
from funnelling.serving.requests import LARGEST_ID, LONGEST_ID, LONGEST_TAG, MOST_WORDS
from funnelling.serving.settings import Limits

Schema = dict[str, Any]

NUMBER: Schema = {"type": "number"}
STRING: Schema = {"type": "string"}
PROBABILITY: Schema = {"type": "number", "minimum": 0, "maximum": 1}
ZERO_SHOT: Schema = {"const": True, "description": "Training had no documents in the language."}
ANY_LANGUAGE = r"^(|[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)$"


def schemas(model: Method, limits: Limits) -> dict[str, Schema]:
    """The components of the OpenAPI document."""
    labels = model.classes_.tolist()
    return {
        "Problem": _object(
            {
                "type": STRING,
                "title": STRING,
                "status": {"type": "integer", "minimum": 400, "maximum": 599},
                "detail": STRING,
                "pointer": {**STRING, "description": "Where in the body it went wrong (RFC 6901)."},
            },
            optional=["pointer"],
        ),
        "Document": _object(
            {
                "text": {"type": "string", "maxLength": limits.characters},
                "language": {
                    "type": ["string", "null"],
                    "pattern": language_pattern(model),
                    "maxLength": LONGEST_TAG,
                    "description": "A code such as en or pt_BR. Detected where it is missing.",
                },
                "id": {
                    "type": ["string", "integer", "null"],
                    "maxLength": LONGEST_ID,
                    "minimum": -LARGEST_ID,
                    "maximum": LARGEST_ID,
                    "description": "Comes back with the answer. The document's number where it is missing.",
                },
            },
            optional=["language", "id"],
        ),
        "PredictRequest": _object({"documents": _documents("Document", limits.documents)}),
        "Prediction": _prediction(labels),
        "PredictResponse": _object({"documents": _documents("Prediction", limits.documents)}),
        "ExplainRequest": _object(
            {
                "documents": _documents("Document", limits.explained),
                "labels": {
                    "type": ["array", "null"],
                    "items": {"enum": [str(label) for label in labels]},
                    "minItems": 1,
                    "maxItems": len(labels),
                    "description": "The assigned labels, or the three most probable, where it is missing.",
                },
                "top": {"type": "integer", "minimum": 1, "maximum": MOST_WORDS, "default": 10},
            },
            optional=["labels", "top"],
        ),
        "Explanation": _explanation(),
        "ExplainedLabel": _explained_label(),
        "ExplainResponse": _object({"documents": _documents("Explanation", limits.explained)}),
        "Model": _model(),
        "Health": _object({"status": {"const": "ok"}}),
    }


def language_pattern(model: Method) -> str:
    """What tags the model serves, in either case, plain or with further subtags; empty means missing."""
    if model.serves("qaa"):  # a code that no language has: it serves all
        return ANY_LANGUAGE
    served = [_tag_pattern(language) for language in model.languages_]
    if any(model.serves(code) for code in _two_letter_codes() if code not in model.languages_):
        return ANY_LANGUAGE
    return f"^(|{'|'.join(served)})$"


def _tag_pattern(tag: str) -> str:
    letters = "".join("[-_]" if c == "_" else f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in tag)
    return letters if "_" in tag else f"{letters}([-_][A-Za-z0-9]{{1,8}})*"


def _two_letter_codes() -> list[str]:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return [a + b for a in alphabet for b in alphabet]


def _prediction(labels: Sequence[Any]) -> Schema:
    named = STRING if all(isinstance(label, str) for label in labels) else {}
    return _object(
        {
            "id": STRING,
            "language": STRING,
            "labels": {"type": "array", "items": named, "description": "Those that are assigned."},
            "scores": {**_mapping(PROBABILITY), "description": "The probability of each label."},
            "thresholds": {
                **_mapping(PROBABILITY),
                "description": "Above which probability a label is assigned, where that is not .5.",
            },
            "zero_shot": ZERO_SHOT,
        },
        optional=["thresholds", "zero_shot"],
    )


def _explanation() -> Schema:
    neighbour = _object(
        {"id": STRING, "language": STRING, "labels": {"type": "array", "items": {}}, "distance": NUMBER}
    )
    return _object(
        {
            "id": STRING,
            "language": STRING,
            "labels": _mapping(reference("ExplainedLabel")),
            "neighbours": {
                "type": "array",
                "items": neighbour,
                "description": "Training documents that are nearest in the space of posteriors.",
            },
            "zero_shot": ZERO_SHOT,
        },
        optional=["zero_shot"],
    )


def _explained_label() -> Schema:
    contributions = {"type": "array", "items": _pair()}
    tier_one = _object(
        {
            "view": {**STRING, "description": "Where tier 1 has several."},
            "score": NUMBER,
            "posterior": PROBABILITY,
            "bias": NUMBER,
            "words": contributions,
            "other_words": NUMBER,
        },
        optional=["view"],
    )
    tier_two = _object({"base": NUMBER, "labels": contributions, "other_labels": NUMBER})
    return _object(
        {
            "probability": PROBABILITY,
            "score": NUMBER,
            "threshold": PROBABILITY,
            "assigned": {"type": "boolean"},
            "tier_one": tier_one,
            "other_views": _mapping(tier_one),
            "tier_two": tier_two,
        },
        optional=["threshold", "tier_one", "other_views", "tier_two"],
    )


def _model() -> Schema:
    scores = {"type": ["object", "null"], "description": "Measured on its own test set; null if it was not."}
    limits = _object(
        {name: {"type": "integer"} for name in ("documents", "explained", "characters", "body")}
        | {"seconds": NUMBER}
    )
    return _object(
        {
            "method": STRING,
            "languages": {**_mapping({"type": "integer"}), "description": "Training documents of each."},
            "labels": {"type": "array", "items": {}},
            "exclusive": {"type": "boolean", "description": "Whether a document has exactly one label."},
            "scores": scores,
            "limits": limits,
            "funnelling": STRING,
        }
    )


def reference(name: str) -> Schema:
    """A component by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _documents(name: str, most: int) -> Schema:
    return {"type": "array", "items": reference(name), "minItems": 1, "maxItems": most}


def _pair() -> Schema:
    return {"type": "array", "prefixItems": [{}, NUMBER], "minItems": 2, "maxItems": 2}


def _mapping(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


def _object(properties: dict[str, Schema], optional: Sequence[str] = ()) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }
