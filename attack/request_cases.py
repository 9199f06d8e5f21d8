"""What a client may send that it should not: each case sends it, and says what the service does wrong."""

import json
import random
import select
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from typing import NamedTuple

from tests.serving.service import Service, request_bytes
from tests.text.pathological import SHAPES

SOON = 2.0  # seconds in which what is malformed is refused
LATE = 8.0  # in which anything else is over: the deadline, and some more
POST = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
GET = b"GET /v1/model HTTP/1.1\r\nHost: localhost\r\n\r\n"
LINES = b"application/x-ndjson"
BODY = b'{"documents": [{"text": "a cat"}]}'


class Found(NamedTuple):
    """What a service did that it may not."""

    kind: str
    said: str


Case = Callable[[Service, random.Random], Found | None]


def exchange(
    service: Service, pieces: Iterable[bytes], seconds: float, half_close: bool = False
) -> bytes | None:
    """Send bytes as far as they are taken, and read until the service closes; None where nothing comes."""
    said, until = b"", time.monotonic() + seconds
    with service.connect() as connection:
        connection.setblocking(False)
        waiting, rest = b"", iter(pieces)
        while (left := until - time.monotonic()) > 0:
            if not waiting:
                waiting = next(rest, b"")
                if not waiting and half_close:
                    half_close = False
                    connection.shutdown(socket.SHUT_WR)
            read, write, _ = select.select([connection], [connection] if waiting else [], [], left)
            try:
                if write:
                    waiting = waiting[connection.send(waiting) :]
                if read:
                    if not (chunk := connection.recv(65_536)):
                        return said
                    said += chunk
            except BlockingIOError:
                continue
            except OSError:  # it has closed, and does not read what comes
                return said
    return said or None


def statuses(said: bytes) -> list[int]:
    """The statuses of answers, in order."""
    return [int(piece[:3]) for piece in said.split(b"HTTP/1.1 ")[1:] if piece[:3].isdigit()]


def refused(*pieces: bytes, seconds: float = SOON) -> Case:
    """What has to be refused by one answer, soon."""

    def case(service: Service, _: random.Random) -> Found | None:
        said = exchange(service, pieces, seconds)
        if said is None:
            return Found("hung", f"no answer within {seconds} s")
        found = statuses(said)
        if len(found) > 1:
            return Found("let in", f"one request, but answers {found}")
        if found and not 400 <= found[0] < 500:
            return Found("let in", f"answered {found[0]}")
        return None

    return case


def answered(
    path: str, body: bytes, may: tuple[int, ...] = (200, 400, 413, 422), kind: bytes = b"application/json"
) -> Case:
    """A body that gets one of these answers, before the deadline."""
    length = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
    head = POST.replace(b"/v1/predict", path.encode()).replace(b"application/json", kind)
    content = head + length + body

    def case(service: Service, _: random.Random) -> Found | None:
        said = exchange(service, [content], LATE)
        if said is None:
            return Found("hung", f"no answer within {LATE} s")
        if [status for status in statuses(said) if status in may]:
            return None
        return Found("let in", said[:300].decode("latin-1"))

    return case


def batch(body: bytes, may: tuple[int, ...] = (200, 503)) -> Case:
    """Lines of documents."""
    return answered("/v1/predict", body, may, LINES)


def document(text: str) -> bytes:
    return json.dumps({"documents": [{"text": text}]}).encode()


# --- cases that say more than one thing ---------------------------------------------------------


def _random_bytes(service: Service, draw: random.Random) -> Found | None:
    """An ordinary request with some bytes changed: any answer will do, but one."""
    content = bytearray(request_bytes({"documents": [{"text": "a cat"}]}, "Connection: close"))
    for _ in range(draw.choice((1, 3, 10))):
        at = draw.randrange(len(content))
        content[at : at + draw.choice((0, 1, 4))] = draw.choice(
            (b"\0", b"\r\n", b" ", b"\xff", b":", draw.randbytes(4))
        )
    said = exchange(service, [bytes(content)], SOON, half_close=True)
    return Found("hung", "no answer") if said is None else None


def _endless_trailers(service: Service, _: random.Random) -> Found | None:
    sent = 0

    def trailers() -> Iterable[bytes]:
        nonlocal sent
        yield CHUNKED + b"%x\r\n%s\r\n0\r\n" % (len(BODY), BODY)
        for number in range(2_000):
            sent += 64_000
            yield b"".join(b"x-%d-%d: %s\r\n" % (number, i, b"y" * 980) for i in range(64))

    exchange(service, trailers(), 4.0)
    return Found("over memory", f"{sent >> 20} MiB of trailers were taken") if sent > 16 * 2**20 else None


def _pipelined(service: Service, draw: random.Random) -> Found | None:
    """Many requests at once on one connection: as many answers, in their order."""
    count = draw.randint(2, 60)
    bodies = [{"documents": [{"text": "a cat", "id": f"n{number}"}]} for number in range(count)]
    pieces = [request_bytes(body) for body in bodies[:-1]] + [request_bytes(bodies[-1], "Connection: close")]
    said = exchange(service, [b"".join(pieces)], LATE) or b""
    places = [said.find(f'"n{number}"'.encode()) for number in range(count)]
    if statuses(said) != [200] * count or places != sorted(places):
        return Found("lost", f"{count} requests, answers {statuses(said)}")
    return None


def _half_closed(service: Service, _: random.Random) -> Found | None:
    """A client that closes its side gets its answer, or is taken to be gone."""
    said = exchange(service, [request_bytes({"documents": [{"text": "a cat"}]})], LATE, half_close=True)
    return Found("hung", "the connection stays open") if said is None else None


def _dripping(service: Service, _: random.Random) -> Found | None:
    """Heads and bodies that come byte by byte are given up in time, and cost others nothing."""
    connections = [service.connect() for _ in range(60)]
    head, body = GET, POST + b"Content-Length: 1000\r\n\r\n{"
    try:
        for step in range(25):
            for number, connection in enumerate(connections):
                content = head if number % 2 else body
                with suppress(OSError):  # of one that was given up
                    connection.sendall(content[step : step + 1])
            time.sleep(0.02)
    finally:
        for connection in connections:
            connection.close()
    return None


def _idle(service: Service, _: random.Random) -> Found | None:
    connections = [service.connect() for _ in range(500)]
    time.sleep(0.5)
    status = service.ask("GET", "/healthz")[0]
    for connection in connections:
        connection.close()
    return None if status == 200 else Found("lost", f"status {status}")


def _never_reading(service: Service, _: random.Random) -> Found | None:
    """Clients that ask for much and read nothing."""
    connections = [service.connect() for _ in range(10)]
    for connection in connections:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.setblocking(False)
        with suppress(BlockingIOError):
            connection.send(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
    time.sleep(1.0)
    for connection in connections:
        connection.close()
    return None


def _leaving(service: Service, draw: random.Random) -> Found | None:
    """Clients that leave in the middle of a request, or before its answer."""
    content = request_bytes({"documents": [{"text": "a cat " * 500}] * 20})
    for _ in range(100):
        with service.connect() as connection:
            connection.sendall(content[: draw.choice((10, 150, len(content) // 2, len(content)))])
    return None


def text_of(shape: str) -> Case:
    """A text of a shape of Unicode, as long as a text may be, to label or to explain."""
    body = document(SHAPES[shape](400_000)[:190_000])

    def case(service: Service, draw: random.Random) -> Found | None:
        path = draw.choice(("/v1/predict", "/v1/explain"))
        return answered(path, body, (200, 413, 422, 503))(service, draw)

    return case


def _batch_never_read(service: Service, _: random.Random) -> Found | None:
    """Batches whose rows nobody reads, beside which others are answered."""
    line = b'{"text": "a cat", "language": "en"}\n'
    head = POST.replace(b"application/json", LINES) + b"Content-Length: %d\r\n\r\n" % (100_000 * len(line))
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(service.connect()).sendall(head + 100_000 * line)
        started = time.monotonic()
        status, _ = service.ask("POST", "/v1/predict", json.loads(BODY))
        seconds = time.monotonic() - started
    if status != 200 or seconds > SOON:
        return Found("hung", f"the next request took {seconds:.1f} s, status {status}")
    return None


def _beyond_the_deadline(service: Service, draw: random.Random) -> Found | None:
    """More work than a request may take: refused in time, and the next one need not wait for it."""
    words = " ".join(f"{draw.getrandbits(40):x}" for _ in range(15_000))
    body = json.dumps(
        {"documents": [{"text": f"{number} {words[number:]}"} for number in range(24)]}
    ).encode()
    found = answered("/v1/predict", body, (200, 413, 422, 503))(service, draw)
    if found is None:
        started = time.monotonic()
        status, _ = service.ask("POST", "/v1/predict", json.loads(BODY))
        seconds = time.monotonic() - started
        if status != 200 or seconds > SOON:
            found = Found("hung", f"the next request took {seconds:.1f} s, status {status}")
    return found


_NESTED = b"[" * 100_000 + b"]" * 100_000
CASES: dict[str, Case] = {
    "a head of 100 KB in one packet": refused(b"GET /healthz HTTP/1.1\r\nx: " + b"y" * 100_000 + b"\r\n\r\n"),
    "a malformed chunk size": refused(CHUNKED + b"zz\r\n"),
    "endless trailers": _endless_trailers,
    "2.8 million empty objects": answered("/v1/predict", b'{"documents": [' + b"{}," * 2_790_000 + b"{}]}"),
    "a body within and without chunks": refused(
        POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + GET
    ),
    "a key twice": answered("/v1/predict", b'{"documents": [{"text": "a", "text": "b"}]}', (400, 422)),
    "changed bytes": _random_bytes,
    "beyond the deadline": _beyond_the_deadline,
    "pipelined": _pipelined,
    "two lengths": refused(POST + b"Content-Length: 4\r\nContent-Length: 40\r\n\r\n1234" + GET),
    "a list of lengths": refused(POST + b"Content-Length: 4, 4\r\n\r\n1234"),
    "a negative length": refused(POST + b"Content-Length: -1\r\n\r\n"),
    "a signed length": refused(POST + b"Content-Length: +2\r\n\r\n{}"),
    "a huge length": refused(POST + b"Content-Length: 99999999999999999999\r\n\r\n{}"),
    "a length of gigabytes": refused(POST + b"Content-Length: 9999999999\r\n\r\n{}"),
    "another coding": refused(POST + b"Transfer-Encoding: gzip, chunked, x\r\n\r\n0\r\n\r\n"),
    "a coding that looks chunked": refused(POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    "a compressed body": refused(
        POST + b"Content-Encoding: gzip\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
    ),
    "a huge chunk size": refused(CHUNKED + b"f" * 40 + b"\r\n"),
    "a negative chunk size": refused(CHUNKED + b"-1\r\n"),
    "a chunk without its end": refused(CHUNKED + b"2\r\n{}{}\r\n0\r\n\r\n"),
    "a huge chunk extension": refused(CHUNKED + b"2;" + b"x" * 4_000_000 + b"\r\n{}\r\n0\r\n\r\n"),
    "many chunk extensions": refused(CHUNKED + b"1;a=b;c=d\r\n \r\n" * 100_000 + b"0\r\n\r\n", seconds=LATE),
    "tiny chunks": refused(
        CHUNKED + b"1\r\n \r\n" * 200_000 + b"0\r\nConnection: close\r\n\r\n", seconds=LATE
    ),
    "a space before a colon": refused(GET.replace(b"Host:", b"Host :")),
    "a folded header": refused(GET.replace(b"localhost", b"local\r\n host")),
    "a NUL in a header": refused(GET.replace(b"localhost", b"local\0host")),
    "a bare line feed": refused(b"GET /v1/model HTTP/1.1\nHost: elsewhere\n\n" + b"\0"),
    "no HTTP": refused(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200)),
    "another version": refused(b"GET / HTTP/9.9\r\n\r\n"),
    "another host": refused(
        GET.replace(b"localhost", b"evil.example").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    ),
    "two hosts": refused(GET.replace(b"\r\n\r\n", b"\r\nHost: evil.example\r\nConnection: close\r\n\r\n")),
    "a proxy's request": refused(b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "many headers": refused(b"GET /healthz HTTP/1.1\r\n" + b"a: b\r\n" * 50_000 + b"\r\n"),
    "a long path": refused(b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "a path upwards": refused(
        b"GET /static/../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    ),
    "nested JSON": answered("/v1/predict", b'{"documents": ' + _NESTED + b"}"),
    "half of nested JSON": answered("/v1/explain", b'{"documents": ' + b'{"a":' * 300_000),
    "a huge number": answered(
        "/v1/predict", b'{"documents": [{"text": "a", "id": ' + b"9" * 1_000_000 + b"}]}"
    ),
    "a number beyond floats": answered(
        "/v1/predict", b'{"documents": [{"text": "a"}], "threshold": 1e999}', (400, 422)
    ),
    "NaN": answered("/v1/predict", b'{"documents": [{"text": "a"}], "threshold": NaN}', (400, 422)),
    "lone surrogates": answered("/v1/predict", b'{"documents": [{"text": "\\ud800", "id": "\\udfff"}]}'),
    "no UTF-8": answered("/v1/predict", b'{"documents": [{"text": "\xff"}]}', (400, 422)),
    "many fields": answered("/v1/predict", b"{" + b",".join(b'"%d": 0' % i for i in range(500_000)) + b"}"),
    "many strings": answered(
        "/v1/explain", b'{"documents": [{"text": "a"}], "labels": [' + b'"",' * 1_000_000 + b'""]}'
    ),
    "a body of blanks": answered("/v1/predict", b" " * 8_000_000),
    "a body that is too large": answered("/v1/predict", b" " * 9_000_000, (413,)),
    "a batch of very many documents": batch(b'{"text":"a cat"}\n' * 450_000),
    "a batch of blank lines": batch(b"\r\n" * 4_000_000, (422,)),
    "a batch of blanks before a document": batch(b" \n" * 4_000_000 + b'{"text": "a cat"}'),
    "a batch of nested JSON": batch(_NESTED * 40, (400, 422)),
    "a batch of one line": batch(document("a cat") * 100_000, (400, 422)),
    "a batch in an unknown coding": batch('{"text": "a"}\n'.encode("utf-16"), (400,)),
    "batches that nobody reads": _batch_never_read,
    "half closed": _half_closed,
    "byte by byte": _dripping,
    "500 idle connections": _idle,
    "clients that do not read": _never_reading,
    "clients that leave": _leaving,
    "changed bytes further": _random_bytes,
}
