"""What is refused, with which status, and that a refusal says why as a problem document."""

import asyncio
import json
import time
from typing import Any

import pytest
from starlette.requests import Request

from funnelling.serving import bodies
from funnelling.serving.guard import MEDIA_TYPE, SECURITY, HTTPProblem
from funnelling.serving.settings import Limits

from .conftest import Client

JSON = {"Content-Type": "application/json"}
GOOD = {"text": "the cat", "language": "en"}

BAD_BODIES = [
    ([], ""),
    ({}, "/documents"),
    ({"documents": []}, "/documents"),
    ({"documents": {}}, "/documents"),
    ({"documents": [GOOD] * 257}, "/documents"),
    ({"documents": [GOOD], "most": 3}, ""),
    ({"documents": [GOOD], "top": 0}, "/top"),
    ({"documents": [GOOD], "show": ["labels"]}, "/show"),
    ({"documents": [GOOD], "strict": 1}, "/strict"),
    ({"documents": [GOOD], "names": "en"}, "/names"),
    ({"documents": [GOOD], "languages": ["fr"]}, "/languages/0"),
    ({"documents": [GOOD], "languages": ["en", ""]}, "/languages/1"),
    ({"documents": [GOOD], "language": "x" * 41}, "/language"),
    ({"documents": [GOOD], "language": "fr", "strict": True}, "/language"),
    ({"documents": [1]}, "/documents/0"),
    ({"documents": [GOOD, {"language": "en"}]}, "/documents/1/text"),
    ({"documents": [{"text": None}]}, "/documents/0/text"),
    ({"documents": [{**GOOD, "lang": "en"}]}, "/documents/0"),
    ({"documents": [{**GOOD, "id": True}]}, "/documents/0/id"),
    ({"documents": [{**GOOD, "id": 1.5}]}, "/documents/0/id"),
    ({"documents": [{**GOOD, "id": "x" * 1_001}]}, "/documents/0/id"),
    ({"documents": [{**GOOD, "language": "fr"}], "strict": True}, "/documents/0/language"),
    ({"documents": [{**GOOD, "language": "English, I think"}], "strict": True}, "/documents/0/language"),
    ({"documents": [{**GOOD, "language": 3}]}, "/documents/0/language"),
    ({"documents": [{"text": "x" * 200_001}]}, "/documents/0/text"),
]
BAD_BYTES = [
    b"",
    b"{",
    b'{"documents": [{"text": "\xff"}]}',
    '{"documents": []}'.encode("utf-16"),
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"documents": NaN}',
    b'{"documents": [], "documents": []}',
    b'\xef\xbb\xbf{"documents": []}',
    b'{"documents": ' + b"9" * 5_000 + b"}",
]


# 8 MB of values, which would hold up the loop for a second or two; and what looks like them within a text.
MANY_VALUES = [
    b'{"documents": [' + (value + b",") * (8_000_000 // (len(value) + 1)) + value + b"]}"
    for value in (b"{}", b"[]", b"0", b'""', b"[[]]", b'{"text":""}')
]
MARKS = b'{"documents": [{"text": "' + b"[],{}," * 30_000 + b'\\"", "language": "en"}]}'


def check_problem(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == MEDIA_TYPE
    problem: dict[str, Any] = answer.json()
    assert {"type", "title", "status", "detail"} <= set(problem)
    assert problem["status"] == status
    assert problem["detail"].endswith(".")
    return problem


@pytest.mark.parametrize(("body", "pointer"), BAD_BODIES)
def test_the_refusal_of_a_body_of_the_wrong_shape_says_where(client: Any, body: Any, pointer: str) -> None:
    assert check_problem(client.post("/v1/predict", json=body), 422)["pointer"] == pointer


@pytest.mark.parametrize("body", BAD_BYTES, ids=lambda body: repr(body[:20]))
def test_bytes_that_are_no_json(client: Any, body: bytes) -> None:
    problem = check_problem(client.post("/v1/predict", content=body, headers=JSON), 400)
    assert "decode" not in problem["detail"]  # Python's words


@pytest.mark.parametrize(
    "extra", [{"top": 0}, {"top": "3"}, {"top": 101}, {"labels": []}, {"labels": ["x"]}, {"labels": [[]]}]
)
def test_what_an_explanation_cannot_be_asked(client: Any, extra: dict[str, Any]) -> None:
    problem = check_problem(client.post("/v1/explain", json={"documents": [GOOD], **extra}), 422)
    assert "label that" not in problem["detail"]


def test_an_explanation_of_too_many(client: Any) -> None:
    check_problem(client.post("/v1/explain", json={"documents": [GOOD] * 17}), 422)


def test_an_object_with_more_fields_than_anything_has(client: Any) -> None:
    check_problem(client.post("/v1/predict", json={f"field {i}": i for i in range(101)}), 422)


@pytest.mark.parametrize("kind", ["text/plain", "application/json; charset=latin-1", ""])
def test_a_body_of_another_kind(client: Any, kind: str) -> None:
    answer = client.post("/v1/predict", content=b"{}", headers={"Content-Type": kind})
    check_problem(answer, 415)


def test_a_compressed_body(client: Any) -> None:
    headers = {**JSON, "Content-Encoding": "gzip"}
    check_problem(client.post("/v1/predict", content=b"x", headers=headers), 415)


def test_a_body_that_is_too_large_whether_it_says_so_or_not(make_client: Client) -> None:
    client = make_client(body=1_000)
    large = json.dumps({"documents": [{"text": "x" * 1_000}]}).encode()
    check_problem(client.post("/v1/predict", content=large, headers=JSON), 413)
    check_problem(client.post("/v1/predict", content=iter([large]), headers=JSON), 413)


def test_more_bodies_than_there_is_memory_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "_MAX_HELD_BYTES", 110)
    reader = bodies.Bodies(Limits(body=60))

    async def play() -> None:
        released = asyncio.Event()

        def read(*chunks: bytes) -> asyncio.Task[Any]:
            left = list(chunks)

            async def receive() -> dict[str, Any]:
                if len(left) == 1:
                    await released.wait()
                return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

            headers = [(b"content-type", b"application/json")]
            request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
            return asyncio.create_task(reader.read_json(request, asyncio.get_running_loop().time() + 10))

        readers = [read(b" " * 50, b"1") for _ in range(3)]
        await asyncio.sleep(0.01)
        assert [task.done() for task in readers] == [False, False, True]
        released.set()
        *others, refusal = await asyncio.gather(*readers, return_exceptions=True)
        assert others == [1, 1]
        assert isinstance(refusal, HTTPProblem)
        assert (refusal.status, dict(refusal.headers or {})) == (503, {"Retry-After": "1"})
        assert await read(b" " * 50, b"2") == 2  # what was held is free again

    asyncio.run(play())


def test_other_paths_and_methods(client: Any) -> None:
    check_problem(client.get("/nothing"), 404)
    check_problem(client.get("/static/..%2fworker.py"), 404)
    answer = client.get("/v1/predict")
    check_problem(answer, 405)
    assert answer.headers["allow"] == "POST"
    assert set(client.delete("/").headers["allow"].split(", ")) == {"GET", "HEAD"}


class TestToken:
    @pytest.mark.parametrize("path", ["/v1/model", "/v1/predict", "/v1/explain", "/v1/nothing", "/metrics"])
    @pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic secret-token", "Bearer", "secret-token"])
    def test_without_it_nothing_is_answered(self, make_client: Client, path: str, header: str | None) -> None:
        headers = {} if header is None else {"Authorization": header}
        answer = make_client(token="secret-token").get(path, headers=headers)
        check_problem(answer, 401)
        assert answer.headers["www-authenticate"].startswith("Bearer")

    def test_with_it_all_is(self, make_client: Client) -> None:
        client = make_client(token="secret-token")
        for header in ("Bearer secret-token", "bearer secret-token"):
            assert client.get("/v1/model", headers={"Authorization": header}).status_code == 200

    @pytest.mark.parametrize("path", ["/", "/docs", "/healthz", "/openapi.json", "/static/page.js"])
    def test_what_needs_none(self, make_client: Client, path: str) -> None:
        assert make_client(token="secret-token").get(path).status_code == 200


@pytest.mark.parametrize("path", ["/", "/docs", "/v1/model", "/metrics", "/nothing", "/static/page.css"])
def test_every_answer_has_the_headers_that_keep_a_browser_safe(client: Any, path: str) -> None:
    headers = client.get(path).headers
    assert {name: headers[name] for name in SECURITY} == SECURITY
    assert "unsafe" not in headers["content-security-policy"]


class TestHost:
    """A page elsewhere can have its own name lead to this machine; it is not answered."""

    @pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]", "[::1]:80"])
    def test_ours(self, client: Any, host: str) -> None:
        assert client.get("/v1/model", headers={"Host": host}).status_code == 200

    @pytest.mark.parametrize("path", ["/", "/healthz", "/v1/model", "/nothing"])
    @pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "localhost.evil.example", ""])
    def test_foreign(self, client: Any, path: str, host: str) -> None:
        check_problem(client.get(path, headers={"Host": host}), 421)

    def test_allowed(self, make_client: Client) -> None:
        client = make_client(hosts=("Labels.example",))
        assert client.get("/healthz", headers={"Host": "labels.example"}).status_code == 200
        check_problem(client.get("/healthz", headers={"Host": "example"}), 421)

    def test_a_token_is_enough(self, make_client: Client) -> None:
        client = make_client(token="secret-token")
        assert client.get("/healthz", headers={"Host": "labels.example"}).status_code == 200
        assert "421" not in client.get("/openapi.json").text


@pytest.mark.parametrize("body", MANY_VALUES, ids=lambda body: repr(body[15:26]))
def test_very_many_values(body: bytes) -> None:
    started = time.perf_counter()
    with pytest.raises(HTTPProblem, match="more than 20,000 values"):
        bodies.json_value(body)
    assert time.perf_counter() - started < 1  # some 60 ms


@pytest.mark.parametrize("end", [b"", b"\\", b'"'])
def test_strings_without_end_are_looked_at_once(end: bytes) -> None:
    started = time.perf_counter()
    with pytest.raises(HTTPProblem, match="not JSON"):
        bodies.json_value(b'["' + b'\\",' * 1_000_000 + end)
    assert time.perf_counter() - started < 2


def test_marks_within_a_text_are_no_values(client: Any) -> None:
    assert client.post("/v1/predict", content=MARKS, headers=JSON).status_code == 200
