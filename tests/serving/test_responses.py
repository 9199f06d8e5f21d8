"""The answers are what their types say, and so what the OpenAPI document describes."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from funnelling.serving.responses import response_types
from funnelling.serving.settings import Limits

from .conftest import LABELS, TEXTS

BODY = {"documents": [{"text": text} for text in TEXTS.values()]}


@pytest.mark.parametrize(
    ("name", "method", "path", "body"),
    [
        ("PredictResponse", "POST", "/v1/predict", BODY),
        ("ExplainResponse", "POST", "/v1/explain", BODY),
        ("Model", "GET", "/v1/model", None),
        ("Health", "GET", "/healthz", None),
        ("Problem", "POST", "/v1/predict", {}),
        ("Problem", "GET", "/nothing", None),
    ],
)
def test_answers_are_of_their_type(client: Any, name: str, method: str, path: str, body: Any) -> None:
    kinds = {kind.__name__: TypeAdapter(kind) for kind in response_types(LABELS, Limits())}
    kinds[name].validate_json(client.request(method, path, json=body).content, strict=True)


def test_one_label_per_document() -> None:
    predict = TypeAdapter(response_types(LABELS, Limits(), exclusive=True)[0])
    properties = predict.json_schema()["$defs"]["Prediction"]["properties"]
    assert properties["labels"]["minItems"] == properties["labels"]["maxItems"] == 1
    assert "thresholds" not in properties


@pytest.mark.parametrize(("labels", "items"), [(LABELS, {"type": "string"}), ([1, 2], {})])
def test_labels_that_are_not_strings(labels: list[Any], items: dict[str, str]) -> None:
    predict = response_types(labels, Limits())[0]
    schema = TypeAdapter(predict).json_schema()["$defs"]["Prediction"]
    assert schema["properties"]["labels"]["items"] == items
