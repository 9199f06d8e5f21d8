"""What a service says of itself: the model, its health, its counters, its interface."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling.methods.rows import thresholds_of
from funnelling.research import NaiveClassifier
from funnelling.serving.guard import Metrics
from funnelling.storage import describe_model, load

from .conftest import LABELS, Client, sentences


def test_the_model(client: Any, model_path: Path) -> None:
    facts = client.get("/v1/model").json()
    description = describe_model(model_path)
    assert {key: facts[key] for key in ("method", "languages", "labels", "scores")} == {
        key: description[key] for key in ("method", "languages", "labels", "scores")
    }
    assert facts["single_label"] is False
    assert facts["limits"]["documents"] == 256
    assert facts["thresholds"] == thresholds_of(load(model_path))


def test_a_model_that_gives_one_label(make_client: Client) -> None:
    texts, labels, languages = sentences(90)
    single = NaiveClassifier(C=1).fit(texts, [(own or ["none"])[0] for own in labels], languages=languages)
    client = make_client(other_model=single.model_)
    assert client.get("/v1/model").json()["single_label"] is True
    answer = client.post("/v1/predict", json={"documents": [{"text": "a dog", "language": "en"}]})
    (row,) = answer.json()["documents"]
    assert len(row["labels"]) == 1
    assert sum(row["probabilities"].values()) == pytest.approx(1)
    assert row["best_label"] == row["labels"][0]
    body = {"documents": [{"text": "a dog", "language": "en"}], "threshold": 0.3}
    refusal = client.post("/v1/predict", json=body)
    assert (refusal.status_code, refusal.json()["pointer"]) == (422, "/threshold")
    assert "a threshold does not apply. Leave it out." in refusal.json()["detail"]
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert "threshold" not in schemas["PredictRequest"]["properties"]
    assert schemas["PredictRow"]["properties"]["labels"]["maxItems"] == 1


def test_health(client: Any) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


def values(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_counters_count(client: Any) -> None:
    for documents in ([{"text": "cat", "language": "en"}] * 3, [{"text": "Hund", "language": "de_AT"}], []):
        client.post("/v1/predict", json={"documents": documents})
    client.get("/nothing")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    counted = values(answer.text)
    assert counted['funnelling_requests_total{path="/v1/predict",status="200"}'] == 2
    assert counted['funnelling_requests_total{path="/v1/predict",status="422"}'] == 1
    assert counted['funnelling_requests_total{path="other",status="404"}'] == 1
    assert counted['funnelling_documents_total{language="en"}'] == 3
    assert counted['funnelling_documents_total{language="de"}'] == 1
    assert counted["funnelling_batches_total"] == 2
    assert counted["funnelling_requests_in_flight"] == 1  # the one that asks
    assert counted['funnelling_request_seconds_count{path="/v1/predict"}'] == 3
    assert counted['funnelling_request_seconds_bucket{path="/v1/predict",le="+Inf"}'] == 3


def test_workers_count_together_and_a_new_one_goes_on() -> None:
    first = Metrics(["/a"], ["en"], workers=2)
    second = Metrics(["/a"], ["en"], first.memory, 1, 2)
    for metrics, seconds in ((first, 0.002), (second, 0.2), (second, 99.0)):
        metrics.begin()
        metrics.end("/a", 200, seconds)
    second.begin()  # and dies
    again = Metrics(["/a"], ["en"], first.memory, 1, 2)
    for metrics in (first, again):
        counted = values(metrics.text("naive", "1"))
        assert counted['funnelling_requests_total{path="/a",status="200"}'] == 3
        assert counted['funnelling_request_seconds_bucket{path="/a",le="0.0025"}'] == 1
        assert counted['funnelling_request_seconds_bucket{path="/a",le="0.25"}'] == 2
        assert counted['funnelling_request_seconds_bucket{path="/a",le="+Inf"}'] == 3
        assert counted["funnelling_requests_in_flight"] == 0


def test_explanations(client: Any) -> None:
    documents = [
        {"text": "the old dog is in the house", "language": "en", "id": "7"},
        {"text": "pane e mela"},
    ]
    answer = client.post("/v1/explain", json={"documents": documents, "labels": LABELS[:2], "top": 3})
    assert answer.status_code == 200, answer.text
    first, second = answer.json()["documents"]
    assert (first["id"], first["language"], second["id"], second["language"]) == ("7", "en", "2", "it")
    assert list(first["labels"]) == LABELS[:2]
    dog = first["labels"]["animals"]
    assert dog["assigned"]
    assert dog["tier_one"]["words"][0][0] == "dog"
    assert len(dog["tier_one"]["words"]) <= 3
    predicted = client.post("/v1/predict", json={"documents": documents}).json()["documents"]
    assert dog["probability"] == predicted[0]["probabilities"]["animals"]


def test_the_interface_lists_what_there_is(make_client: Client) -> None:
    document = make_client().get("/openapi.json").json()
    of_labels = {"/v1/predict", "/v1/explain", "/v1/model", "/v1/labels"}
    assert set(document["paths"]) == {*of_labels, "/healthz", "/metrics"}
    assert "401" not in document["paths"]["/v1/predict"]["post"]["responses"]
    secured = make_client(token="secret-token").get("/openapi.json").json()
    assert secured["paths"]["/v1/predict"]["post"]["security"] == [{"token": []}]
    assert "401" in secured["paths"]["/v1/predict"]["post"]["responses"]


@pytest.mark.parametrize("path", ["/", "/healthz", "/v1/model", "/v1/labels", "/metrics", "/openapi.json"])
def test_a_head_is_a_get(client: Any, path: str) -> None:
    assert client.head(path).headers["content-type"] == client.get(path).headers["content-type"]
    assert set(client.delete(path).headers["allow"].split(", ")) == {"GET", "HEAD"}


def test_a_label_may_hold_what_only_json_can_spell(make_client: Client, model: Any) -> None:
    labels = np.array(["animals", "food", "\ud800"], dtype=object)
    client = make_client(other_model=replace(model, labels=model.labels.under(labels)))
    components = client.get("/openapi.json").json()["components"]["schemas"]
    list_or_null = components["ExplainRequest"]["properties"]["labels"]["anyOf"]
    assert list_or_null[0]["items"] == {"$ref": "#/components/schemas/Label"}
    assert "\ud800" in components["Label"]["enum"]
