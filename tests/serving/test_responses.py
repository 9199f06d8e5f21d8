"""The answers are what their types say, and so what the OpenAPI document describes."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from funnelling.corpus.labels import LabelSpace
from funnelling.research import NaiveClassifier
from funnelling.serving import responses, schema
from tests.funnels import any_funnel

from .conftest import LABELS, TEXTS, Client, answers_of, sentences

BODY = {"documents": [{"text": text} for text in TEXTS.values()]}
BLANK = {"documents": [{"text": "🐈", "language": "en"}]}


@pytest.mark.parametrize(
    ("name", "method", "path", "body"),
    [
        ("PredictResponse", "POST", "/v1/predict", BODY),
        ("ExplainResponse", "POST", "/v1/explain", BODY),
        ("PredictResponse", "POST", "/v1/predict", BLANK),
        ("ExplainResponse", "POST", "/v1/explain", BLANK),
        ("ModelResponse", "GET", "/v1/model", None),
        ("LabelsResponse", "GET", "/v1/labels", None),
        ("HealthResponse", "GET", "/healthz", None),
        ("Problem", "POST", "/v1/predict", {}),
        ("Problem", "GET", "/nothing", None),
    ],
)
def test_answers_are_of_their_type(client: Any, name: str, method: str, path: str, body: Any) -> None:
    predictions, explanations = answers_of(LabelSpace(np.array(LABELS)))
    of_documents = {"PredictResponse": predictions, "ExplainResponse": explanations}
    general = getattr(schema, name, None) or getattr(responses, name)
    for kind in (general, of_documents.get(name, general)):
        kind.model_validate_json(client.request(method, path, json=body).content, strict=True)


def test_one_label_per_document() -> None:
    predict = TypeAdapter(answers_of(LabelSpace(np.array(LABELS), single_label=True))[0])
    properties = predict.json_schema()["$defs"]["PredictRow"]["properties"]
    assert properties["labels"]["maxItems"] == 1
    assert "thresholds" not in properties


def test_a_model_of_one_label_gives_none_where_nothing_is_known(make_client: Client) -> None:
    texts, labels, languages = sentences(60)
    one = NaiveClassifier(C=1).fit(texts, [(chosen or ["none"])[0] for chosen in labels], languages=languages)
    answer = make_client(other_model=one.model_).post("/v1/predict", json=BLANK)
    predict = TypeAdapter(answers_of(one.model_.labels)[0])
    (row,) = predict.validate_json(answer.content, strict=True).documents
    assert (row.labels, row.best_label, row.abstained) == ([], None, "out-of-vocabulary")
    assert sum(row.probabilities.values()) == pytest.approx(1)


@pytest.mark.parametrize(("labels", "items"), [(LABELS, {"$ref": "#/$defs/Label"}), ([1, 2], {})])
def test_labels_that_are_not_strings(labels: list[Any], items: dict[str, str]) -> None:
    predict = answers_of(LabelSpace(np.array(labels, dtype=object)))[0]
    row = predict.model_json_schema()["$defs"]["PredictRow"]
    assert row["properties"]["labels"]["items"] == items


def test_explanations_say_where_in_the_text_and_how_neighbours_begin(make_client: Client) -> None:
    texts, labels, languages = sentences(60)
    model = any_funnel(views=["own", "mixed"], random_state=0).fit(texts, labels, languages=languages)
    client = make_client(other_model=model.model_)
    text = f"🐈 {TEXTS['en']}"
    answer = client.post("/v1/explain", json={"documents": [{"text": text, "language": "en"}]})
    explain = TypeAdapter(answers_of(model.model_.labels)[1])
    (row,) = explain.validate_json(answer.content, strict=True).documents
    for told in row.labels.values():
        assert told.spans
        assert all(text[start:end].strip() == text[start:end] for start, end, _ in told.spans)
        assert told.tier_one.share + told.other_views["mixed"].share == 1
    assert all(neighbour.text in texts for neighbour in row.neighbours)
