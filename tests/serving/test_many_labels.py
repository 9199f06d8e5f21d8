"""A service with a model of more than a thousand labels: candidates go out, not every label."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from funnelling.formats import Document
from funnelling.methods.rows import Predictor
from funnelling.storage import load

from .conftest import Client, answers_of

DOCUMENTS = [{"id": "a", "language": "en", "text": "ena5 enb5 topic5"}]


@pytest.fixture(scope="module")
def many(many_labels_model: Path) -> Any:
    return load(many_labels_model)


@pytest.fixture
def client(make_client: Client, many: Any, tmp_path: Path) -> Any:
    return make_client(other_model=many, feedback=str(tmp_path / "feedback.jsonl"))


def test_scores_are_those_of_the_candidates(client: Any, many: Any) -> None:
    body = {"documents": DOCUMENTS, "show": ["thresholds"]}
    (row,) = client.post("/v1/predict", json=body).json()["documents"]
    assert 5 < len(row["probabilities"]) <= 40
    (shown,) = Predictor(many)([Document("a", DOCUMENTS[0]["text"], language="en")])
    assert list(row["probabilities"].items())[:5] == list(shown["probabilities"].items())
    assert set(row["thresholds"]) <= set(row["probabilities"])
    (few,) = client.post("/v1/predict", json={"documents": DOCUMENTS, "top": 3}).json()["documents"]
    assert list(few["probabilities"].items()) == list(row["probabilities"].items())[:3]


def test_with_a_threshold_and_without_some_labels(client: Any, many: Any) -> None:
    body = {"documents": DOCUMENTS, "threshold": 1e-5, "exclude": ["group 5"]}
    (row,) = client.post("/v1/predict", json=body).json()["documents"]
    assert row["labels"] == [label for label, score in row["probabilities"].items() if score > 1e-5]
    assert "group 5" not in row["probabilities"]
    predictor = Predictor(many, threshold=1e-5).with_excluded(["group 5"])
    assert (
        row["labels"] == next(iter(predictor([Document("a", DOCUMENTS[0]["text"], language="en")])))["labels"]
    )


def test_answers_are_of_their_type(client: Any, many: Any) -> None:
    predicted, why, *_ = map(TypeAdapter, answers_of(many.labels))
    documents = [*DOCUMENTS, {"language": "it", "text": "zzzz"}]
    answer = client.post("/v1/predict", json={"documents": documents})
    predicted.validate_json(answer.content, strict=True)
    answer = client.post("/v1/explain", json={"documents": documents})
    first, nothing = why.validate_json(answer.content, strict=True).documents
    assert all(explained.candidate for explained in first.labels.values())
    assert nothing.labels == {}


def test_labels_are_not_listed_where_each_would_be_listed_again(client: Any) -> None:
    assert len(client.get("/openapi.json").content) < 50_000
    body = {"documents": DOCUMENTS, "exclude": ["no such label"]}
    refusal = client.post("/v1/predict", json=body)
    assert refusal.status_code == 422
    assert "no such label" in refusal.json()["detail"]


def test_feedback(client: Any, tmp_path: Path) -> None:
    body = {"documents": [{**DOCUMENTS[0], "labels": ["label 5"]}]}
    assert client.post("/v1/feedback", json=body).json() == {"recorded": 1}
    assert '"label 5"' in (tmp_path / "feedback.jsonl").read_text("utf-8")
