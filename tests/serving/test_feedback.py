"""Feedback goes into a journal, from whoever may use the service, as far as there is room."""

import json
from pathlib import Path
from typing import Any

import pytest

from funnelling import read_documents
from funnelling.formats.journal import Journal

from .conftest import TEXTS

GOOD = {"text": TEXTS["it"], "language": "it", "labels": ["music", "food"], "note": "sung at dinner"}


def test_feedback_is_written_down(make_client: Any, tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    client = make_client(feedback=str(path))
    assert client.get("/v1/model").json()["feedback"] is True
    answer = client.post("/v1/feedback", json={"documents": [GOOD, {"text": "a", "id": 7, "labels": []}]})
    assert (answer.status_code, answer.json()) == (200, {"recorded": 2})
    first, second = read_documents(path)
    assert (first.text, first.language, first.labels) == (TEXTS["it"], "it", ("music", "food"))
    assert (second.id, second.labels) == ("7", ())
    assert json.loads(path.read_text("utf-8").splitlines()[1])["note"] == "sung at dinner"
    assert "/v1/feedback" in client.get("/openapi.json").json()["paths"]


def test_a_service_that_takes_none_says_so(client: Any) -> None:
    answer = client.post("/v1/feedback", json={"documents": [GOOD]})
    assert answer.status_code == 404
    assert answer.json()["detail"] == "This service takes no feedback. Start it with --feedback FILE."
    assert client.get("/v1/model").json()["feedback"] is False
    assert "/v1/feedback" not in client.get("/openapi.json").json()["paths"]


def test_who_may_send_it(make_client: Any, tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    client = make_client(token="a-token-of-the-tests", feedback=str(path))
    assert client.post("/v1/feedback", json={"documents": [GOOD]}).status_code == 401
    headers = {"Host": "elsewhere.example"}
    assert make_client(feedback=str(path)).post("/v1/feedback", headers=headers).status_code == 421
    assert not path.exists()


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({**GOOD, "labels": ["poems"]}, 'The model has no label "poems"'),
        ({"text": "a"}, '"labels" is missing'),
        ({**GOOD, "text": " "}, "nothing to learn from an empty text"),
        ({**GOOD, "note": "x" * 10_001}, "at most 10,000 characters"),
        ({**GOOD, "who": "Ada"}, '"who" is no field of a document'),
    ],
)
def test_what_is_no_feedback(make_client: Any, tmp_path: Path, document: Any, reason: str) -> None:
    client = make_client(feedback=str(tmp_path / "feedback.jsonl"))
    answer = client.post("/v1/feedback", json={"documents": [document]})
    assert answer.status_code == 422
    assert reason in answer.json()["detail"]


def test_a_full_journal_and_one_in_use(make_client: Any, tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    client = make_client(feedback=str(path), feedback_bytes=400)
    answers = [client.post("/v1/feedback", json={"documents": [GOOD]}).status_code for _ in range(3)]
    assert answers == [200, 507, 507]
    assert len(list(read_documents(path))) == 1
    with Journal(path):
        assert client.post("/v1/feedback", json={"documents": [GOOD]}).status_code == 503
    path.write_text("my thesis")
    assert client.post("/v1/feedback", json={"documents": [GOOD]}).status_code == 507
    assert path.read_text() == "my thesis"
