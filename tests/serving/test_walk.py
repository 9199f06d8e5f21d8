"""From twenty labelled documents per language to a served model: a page and three commands."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from funnelling import Document, write_documents
from funnelling.commands import main

from .conftest import TEXTS, sentences
from .service import COMMAND, Service, start

LABEL = [*COMMAND[:-1], "label"]
SECONDS = 240


@pytest.fixture
def started() -> Iterator[list[Service]]:
    services: list[Service] = []
    yield services
    for service in services:
        service.stop()


def test_from_twenty_documents_to_a_served_model(started: list[Service], tmp_path: Path) -> None:
    texts, labels, languages = sentences(60 + 36, seed=5)
    documents = [
        Document(f"d{i}", text, language, tuple(given))
        for i, (text, given, language) in enumerate(zip(texts, labels, languages, strict=True))
    ]
    truth = {document.id: document.labels for document in documents}
    write_documents(tmp_path / "few.jsonl", documents[:60])
    rest = [Document(document.id, document.text, document.language) for document in documents[60:]]
    write_documents(tmp_path / "rest.jsonl", rest)

    model = tmp_path / "model"
    assert (
        main(["train", str(tmp_path / "few.jsonl"), "-o", str(model), "--method", "fun-tat", "--no-measure"])
        == 0
    )

    options = (tmp_path / "rest.jsonl", "--learn-after", 30, "--who", "Ada")
    page = start(model, tmp_path / "label.txt", *options, command=LABEL)
    started.append(page)
    person = {"session": "session-of-ada"}
    _, shown = page.ask("POST", "/v1/next", person)
    for _ in range(30):
        document = shown["document"]
        decision = {"key": document["key"], "action": "label", "labels": list(truth[document["id"]] or ())}
        status, shown = page.ask("POST", "/v1/annotate", {**person, **decision})
        assert status == 200
    until = time.monotonic() + SECONDS
    while shown["learning"]["running"] and time.monotonic() < until:
        time.sleep(0.2)
        _, shown = page.ask("POST", "/v1/heartbeat", person)
    assert (shown["learning"]["problem"], shown["learning"]["learned"]) == ("", 30)
    assert page.stop() == 0
    assert f"30 documents labelled. Model: {tmp_path / 'model-updated'}" in page.log.read_text("utf-8")

    service = start(tmp_path / "model-updated", tmp_path / "serve.txt")
    started.append(service)
    body = {"documents": [{"text": TEXTS["de"], "language": "de"}]}
    status, answer = service.ask("POST", "/v1/predict", body)
    assert status == 200
    assert "animals" in answer["documents"][0]["labels"]
    _, described = service.ask("GET", "/v1/model")
    assert sum(described["languages"].values()) == 90
