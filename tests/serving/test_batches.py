"""A batch: one document per line in, one row per line out."""

import json
from typing import Any

import pytest

from funnelling.serving.guard import HTTPProblem, too_busy

from .conftest import TEXTS, Client, sentences
from .test_refusals import check_problem

LINES = {"Content-Type": "application/x-ndjson"}


def send(client: Any, documents: Any, query: str = "") -> Any:
    content = b"".join(
        each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in documents
    )
    return client.post(f"/v1/predict{query}", content=content, headers=LINES)


def rows(answer: Any) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == LINES["Content-Type"]
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("", {}),
        ("?top=2&threshold=0.3&language=en", {"top": 2, "threshold": 0.3, "language": "en"}),
        (
            "?exclude=music&exclude=food&show=thresholds",
            {"exclude": ["music", "food"], "show": ["thresholds"]},
        ),
        ("?languages=de&languages=it", {"languages": ["de", "it"]}),
    ],
)
def test_the_rows_are_those_of_other_requests(client: Any, query: str, options: dict[str, Any]) -> None:
    documents = [{"text": text} for text in sentences(600, seed=3)[0]]
    expected = []
    for start in range(0, 600, 200):
        body = {"documents": documents[start : start + 200], **options}
        expected += client.post("/v1/predict", json=body).json()["documents"]
    for number, row in enumerate(expected, 1):
        row["id"] = str(number)
    assert rows(send(client, documents, query)) == expected


def test_lines_may_be_blank_and_end_in_any_way(client: Any) -> None:
    documents = [b'{"text": "cat", "id": 7}\r\n', b"\n", b' {"text": "dog"} \n', b'{"text": "Hund"}']
    assert [row["id"] for row in rows(send(client, documents))] == ["7", "2", "3"]


@pytest.mark.parametrize(
    ("bad", "status", "pointer", "detail"),
    [
        ({"txt": "x"}, 422, "", 'Line 301: "txt" is no field of a document, which has text, language, id.'),
        ({"text": 7}, 422, "/text", 'Line 301: "text" must be a string.'),
        (b"7\n", 422, "", 'Line 301: A document must be an object such as {"text": "…"}.'),
        (b"{\n", 400, None, "Line 301: It is not JSON: "),
        (b'{"text": "\xff"}\n', 400, None, "Line 301: It is not UTF-8."),
    ],
)
def test_a_bad_line_refuses_the_batch(
    client: Any, bad: Any, status: int, pointer: str | None, detail: str
) -> None:
    problem = check_problem(send(client, [*[{"text": "cat"}] * 300, bad]), status)
    assert (problem["line"], problem.get("pointer")) == (301, pointer)
    assert problem["detail"].startswith(detail)


def test_what_else_is_refused(client: Any, make_client: Client) -> None:
    good = {"text": "cat"}
    assert "no document" in check_problem(send(client, [b"\n"]), 422)["detail"]
    assert "no field of the query" in check_problem(send(client, [good], "?most=3"), 422)["detail"]
    assert '"top" must be' in check_problem(send(client, [good], "?top=1&top=2"), 422)["detail"]
    strict = check_problem(send(client, [good, {**good, "language": "fi"}], "?strict=true"), 422)
    assert (strict["line"], strict["pointer"]) == (2, "/language")
    assert check_problem(send(client, [good], "?strict=true&language=fi"), 422).get("line") is None
    check_problem(send(make_client(body=1_000), [good] * 100), 413)
    check_problem(client.post("/v1/explain", content=b"{}", headers=LINES), 415)
    headers = {**LINES, "Content-Encoding": "gzip"}
    check_problem(client.post("/v1/predict", content=b"{}", headers=headers), 415)


@pytest.mark.parametrize(
    "failure", [too_busy("The model took too long."), HTTPProblem(422, "Too many words.")]
)
def test_a_batch_that_fails_on_the_way_ends_in_the_problem(make_client: Client, failure: HTTPProblem) -> None:
    client = make_client(seconds=3)
    engine = client.app.state.engine
    predict, calls = engine.predict, 0

    async def fail_later(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise failure
        return await predict(*arguments)

    engine.predict = fail_later
    *good, problem = rows(send(client, [{"text": TEXTS["en"], "language": "en"}] * 600))
    assert [row["id"] for row in good] == [str(number) for number in range(1, 513)]
    assert (problem["status"], problem["line"]) == (failure.status, 513)
    calls = 2
    check_problem(send(client, [{"text": "cat"}]), failure.status)
