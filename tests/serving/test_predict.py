"""POST /v1/predict: the rows of ``funnelling predict``, bit for bit."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from funnelling import LabelSet
from funnelling.corpus.label_set import Label
from funnelling.formats import Document
from funnelling.methods.rows import Predictor
from funnelling.serving import schema

from .conftest import LABELS, TEXTS, Client, sentences


def ask(client: Any, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answer = client.post("/v1/predict", json={"documents": documents})
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["documents"]
    return rows


def batches(documents: list[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    for i in range(0, len(documents), size):
        yield documents[i : i + size]


def test_the_labels_of_three_languages(client: Any) -> None:
    rows = ask(client, [{"text": text} for text in TEXTS.values()])
    assert [row["language"] for row in rows] == list(TEXTS)
    assert [row["labels"] for row in rows] == [["animals", "food"], ["music"], ["animals"]]
    assert [list(row["probabilities"]) for row in rows] == [LABELS] * 3
    assert [row["id"] for row in rows] == ["1", "2", "3"]


@pytest.mark.parametrize("size", [1, 7, 256])
@pytest.mark.parametrize("with_language", [True, False])
def test_the_same_bits_as_the_command_line(client: Any, model: Any, size: int, with_language: bool) -> None:
    texts, _, languages = sentences(300, seed=1)
    sent = [
        {"id": f"n{i}", "text": text, **({"language": language} if with_language else {})}
        for i, (text, language) in enumerate(zip(texts, languages, strict=True))
    ]
    documents = [Document(row["id"], row["text"], row.get("language")) for row in sent]
    expected = [json.loads(json.dumps(row)) for row in Predictor(model)(documents)]
    assert [row for batch in batches(sent, size) for row in ask(client, batch)] == expected


@pytest.mark.slow
def test_ten_thousand_documents(client: Any, model: Any) -> None:
    texts, _, languages = sentences(10_000, seed=2)
    sent = [
        {"text": text, "language": language, "id": str(i)}
        for i, (text, language) in enumerate(zip(texts, languages, strict=True))
    ]
    documents = [Document(row["id"], row["text"], row["language"]) for row in sent]
    expected = list(Predictor(model)(documents))
    assert [row for batch in batches(sent, 256) for row in ask(client, batch)] == expected


@pytest.mark.parametrize(
    ("sent", "received"), [("a", "a"), (7, "7"), (7.0, "7"), ("", "1"), (None, "1"), ("\ud800", "\ufffd")]
)
def test_ids_come_back_as_the_command_line_reads_them(client: Any, sent: Any, received: str) -> None:
    content = json.dumps({"documents": [{"text": "cat", "language": "en", "id": sent}]})
    answer = client.post("/v1/predict", content=content, headers={"Content-Type": "application/json"})
    assert [row["id"] for row in answer.json()["documents"]] == [received]


@pytest.mark.parametrize("language", ["EN", "en-GB", "en_US", "", None])
def test_languages_may_be_spelt_otherwise_or_be_missing(client: Any, language: str | None) -> None:
    (row,) = ask(client, [{"text": TEXTS["en"], "language": language}])
    assert row["language"].partition("_")[0] == "en"


def test_odd_texts_are_labelled(client: Any) -> None:
    for text in ("", " ", "\x00", "🐈" * 1_000, "<script>alert(1)</script>", "\u202e" * 9):
        assert len(ask(client, [{"text": text, "language": "en"}])) == 1


def test_where_nothing_is_known_no_label_is_given(client: Any) -> None:
    *blank, known = ask(client, [{"text": text, "language": "en"} for text in ("", "🐈", "xyzzy", "cat")])
    assert [(row["labels"], row["abstained"]) for row in blank] == [([], "out-of-vocabulary")] * 3
    assert known["abstained"] is None


def test_bodies_and_answers_as_a_client_has_them(client: Any) -> None:
    request = schema.PredictRequest(documents=[schema.Document(text=TEXTS["en"])], top=1)
    content = request.model_dump_json(exclude_unset=True)
    answer = client.post("/v1/predict", content=content, headers={"Content-Type": "application/json"})
    (row,) = schema.PredictResponse.model_validate_json(answer.content).documents
    assert (row.id, row.language, row.language_detected, len(row.probabilities)) == ("1", "en", True, 1)


def test_a_language_that_the_model_does_not_know_concerns_its_own_document_alone(client: Any) -> None:
    documents = [
        {"text": TEXTS["en"]},
        {"text": "Koira on talossa.", "language": "fi"},
        {"text": TEXTS["it"]},
    ]
    rows = ask(client, documents)
    assert [row["abstained"] for row in rows] == [None, "unknown-language", None]
    assert (rows[1]["language"], rows[1]["labels"], rows[1]["probabilities"]) == ("fi", [], {})
    assert [row.get("language_detected", False) for row in rows] == [True, False, True]
    explained = client.post("/v1/explain", json={"documents": documents}).json()["documents"]
    assert [row["abstained"] for row in explained] == [None, "unknown-language", None]


def test_languages_of_a_whole_request(client: Any) -> None:
    documents = [{"text": TEXTS["en"]}, {"text": TEXTS["it"], "language": "it"}]
    for options, languages in (
        ({"language": "de"}, ["de", "it"]),
        ({"languages": ["de"]}, ["de", "it"]),
        ({"languages": ["de", "en"]}, ["en", "it"]),
    ):
        answer = client.post("/v1/predict", json={"documents": documents, **options}).json()
        assert [row["language"] for row in answer["documents"]] == languages
        answer = client.post("/v1/explain", json={"documents": documents, **options}).json()
        assert [row["language"] for row in answer["documents"]] == languages


def test_rows_as_they_are_asked_for(model: Any, make_client: Client) -> None:
    document = {"id": "a", "text": TEXTS["en"], "language": "en"}
    named = model.following(
        LabelSet.of([Label("animals", {"fi": "eläimet"}), Label("food", {"fi": "ruoka"})])
    )
    options = {"top": 2, "names": "fi", "show": ["thresholds"], "threshold": None}
    answer = make_client(other_model=named).post("/v1/predict", json={"documents": [document], **options})
    predictor = Predictor(named, top=2, names="fi", tell_thresholds=True)
    assert answer.json()["documents"] == list(predictor([Document("a", TEXTS["en"], "en")]))
    assert answer.json()["documents"][0]["label_names"] == ["eläimet", "ruoka"]


@pytest.mark.parametrize("threshold", [0, 0.2, 0.9, 1, None])
def test_a_threshold_assigns_the_labels_above_it(client: Any, model: Any, threshold: float | None) -> None:
    documents = [{"text": text} for text in (*TEXTS.values(), "")]
    answer = client.post("/v1/predict", json={"documents": documents, "threshold": threshold})
    predictor = Predictor(model, threshold=threshold)
    expected = list(predictor([Document(str(i), row["text"]) for i, row in enumerate(documents, 1)]))
    assert answer.json()["documents"] == expected


def test_a_document_may_be_long_up_to_the_limit(make_client: Client) -> None:
    client = make_client(characters=50)
    assert ask(client, [{"text": "ä" * 50, "language": "de"}])
    assert client.post("/v1/predict", json={"documents": [{"text": "ä" * 51}]}).status_code == 422
