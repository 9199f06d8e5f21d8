"""The bodies of requests: how they are read, and what a refusal says of them."""

import json
from typing import Any

import pytest

from funnelling.formats import Document
from funnelling.serving.engine import RowOptions
from funnelling.serving.requests import Requests
from funnelling.serving.settings import Limits

from .conftest import LABELS, Client

GOOD = {"text": "the cat", "language": "en"}


@pytest.fixture(scope="module")
def requests(model: Any) -> Requests:
    return Requests(model, Limits(characters=20))


def refusal(client: Any, path: str, body: Any) -> tuple[int, str, str]:
    answer = client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    return answer.status_code, answer.json()["pointer"], answer.json()["detail"]


def test_documents_are_read_as_the_command_line_reads_them(requests: Requests) -> None:
    body = {"documents": [{**GOOD, "id": 7.0}, {"text": "\ud800", "language": "", "id": None}]}
    documents = [Document("7", "the cat", "en"), Document("2", "\ufffd")]
    assert requests.read_predict(requests.predict_type(**body)) == (documents, RowOptions())


@pytest.mark.parametrize(("sent", "threshold"), [(0.3, 0.3), (0, 0.0), (1, 1.0), (None, None)])
def test_a_threshold(requests: Requests, sent: Any, threshold: float | None) -> None:
    body = requests.predict_type(documents=[GOOD], threshold=sent)
    assert requests.read_predict(body)[1].threshold == threshold


@pytest.mark.parametrize("bad", [-0.1, 1.1, "0.5", True, [], 10**400])
def test_a_threshold_that_is_none(client: Any, bad: Any) -> None:
    detail = '"threshold" must be a number from 0 to 1.'
    assert refusal(client, "/v1/predict", {"documents": [GOOD], "threshold": bad}) == (
        422,
        "/threshold",
        detail,
    )


@pytest.mark.parametrize(
    ("extra", "labels", "top"),
    [
        ({}, None, 10),
        ({"labels": None, "top": 3}, None, 3),
        ({"labels": ["food", "animals", "food"], "top": 3.0}, ["food", "animals"], 3),
        ({"labels": LABELS}, LABELS, 10),
    ],
)
def test_what_is_to_be_explained(
    requests: Requests, extra: dict[str, Any], labels: list[str] | None, top: int
) -> None:
    assert requests.read_explain(requests.explain_type(documents=[GOOD], **extra)) == (
        [Document("1", "the cat", "en")],
        labels,
        top,
        RowOptions(),
    )


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        *(
            (bad, "", 'The body must be an object such as {"documents": [{"text": "…"}]}.')
            for bad in ([], None, "x", 7, False)
        ),
        ({}, "/documents", '"documents" is missing. Add it.'),
        (
            {"docs": [GOOD]},
            "",
            '"docs" is no field of the body, which has documents, language, languages, strict, labels, top.',
        ),
        ({"documents": "x"}, "/documents", '"documents" must be a list.'),
        ({"documents": []}, "/documents", '"documents" must not be empty.'),
        ({"documents": [GOOD] * 17}, "/documents", '"documents" may have at most 16 entries, not 17.'),
        ({"documents": [GOOD, 1]}, "/documents/1", 'A document must be an object such as {"text": "…"}.'),
        (
            {"documents": [{"txt": "x"}]},
            "/documents/0",
            '"txt" is no field of a document, which has text, language, id.',
        ),
        ({"documents": [{"text": 1}]}, "/documents/0/text", '"text" must be a string.'),
        (
            {"documents": [{"text": "x" * 21}]},
            "/documents/0/text",
            "A text has at most 20 characters, this one 21.",
        ),
        *(
            (
                {"documents": [{**GOOD, "id": bad}]},
                "/documents/0/id",
                "An id must be a string of at most 1,000 characters or a whole number below 2**53.",
            )
            for bad in (True, 1.5, 2**53, -1e300, 10**400, "x" * 1_001, [], {})
        ),
        *(
            (
                {"documents": [{**GOOD, "language": bad}], "strict": True},
                "/documents/0/language",
                f"The model does not know the language {shown}, only de, en, it.",
            )
            for bad, shown in (("fr", '"fr"'), (" en", '" en"'), ("en\n", '"en\\n"'), ("\ud800", '"\\ud800"'))
        ),
        ({"documents": [{**GOOD, "language": 3}]}, "/documents/0/language", '"language" must be a string.'),
        ({"documents": [GOOD], "top": 0}, "/top", '"top" must be a whole number from 1 to 100.'),
        ({"documents": [GOOD], "top": 101}, "/top", '"top" must be a whole number from 1 to 100.'),
        *(
            ({"documents": [GOOD], "top": bad}, "/top", '"top" must be a whole number from 1 to 100.')
            for bad in (True, None, "3", 1.5)
        ),
        ({"documents": [GOOD], "labels": []}, "/labels", '"labels" must not be empty.'),
        ({"documents": [GOOD], "labels": ["food", []]}, "/labels/1", "A label must be a string."),
        (
            {"documents": [GOOD], "labels": ["x"]},
            "/labels/0",
            'The model has no label "x". GET /v1/model lists them.',
        ),
    ],
)
def test_a_refusal_names_the_place_and_the_cure(
    make_client: Client, body: Any, pointer: str, detail: str
) -> None:
    assert refusal(make_client(characters=20), "/v1/explain", body) == (422, pointer, detail)


def test_many_bad_documents_cost_no_more_than_one(client: Any) -> None:
    _, pointer, detail = refusal(client, "/v1/predict", {"documents": [1] * 19_000})
    assert (pointer, detail) == ("/documents/0", 'A document must be an object such as {"text": "…"}.')
