"""The files for nginx, Caddy and systemd are taken by these programs, and a service works behind nginx."""

import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.serving.conftest import TEXTS, model_path  # noqa: F401
from tests.serving.service import start

PACKAGING = Path(__file__).parent.parent / "packaging"
NAME = "labels.example.org"
TOKEN = "0123456789abcdef"
START_SECONDS = 30
MOST_EXPOSURE = 1.5  # of 10, by systemd's own scale

Connect = Callable[[], http.client.HTTPSConnection]


def program(name: str) -> str:
    """A program of the system; a test without it is skipped."""
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_settings(folder: Path, port: int, service: int) -> Path:
    """Settings of a whole nginx with a certificate of its own, from its port to the service's."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    named = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    subprocess.run(
        [program("openssl"), "req", "-x509", "-nodes", *named, "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    ours = (PACKAGING / "nginx" / "funnelling.conf").read_text(encoding="utf-8")
    for old, new in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "    listen [::]:443 ssl;\n": "",
        "127.0.0.1:8000": f"127.0.0.1:{service}",
        f"/etc/ssl/{NAME}.crt": str(certificate),
        f"/etc/ssl/{NAME}.key": str(key),
    }.items():
        assert old in ours
        ours = ours.replace(old, new)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {folder / kind};\n" for kind in kinds)
    settings = folder / "nginx.conf"
    settings.write_text(
        f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{folders}{ours}}}\n",
        encoding="utf-8",
    )
    return settings


@contextmanager
def behind_nginx(model: Path, folder: Path, *options: str | Path) -> Iterator[Connect]:
    """Makes encrypted connections to nginx in front of a service."""
    nginx, _, port = program("nginx"), program("openssl"), free_port()
    with ExitStack() as running:
        service = start(model, folder / "log.txt", *options)
        running.callback(service.stop)
        settings = write_settings(folder, port, service.port)
        process = subprocess.Popen(
            [nginx, "-e", folder / "error.log", "-c", settings], stderr=subprocess.DEVNULL
        )
        running.callback(process.wait, START_SECONDS)
        running.callback(process.terminate)
        yield connecting(port, folder, process)


def connecting(port: int, folder: Path, process: subprocess.Popen[bytes]) -> Connect:
    trusted = ssl.create_default_context(cafile=str(folder / "certificate.pem"))

    def connect() -> http.client.HTTPSConnection:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=60)
        plain = socket.create_connection(("127.0.0.1", port), 60)
        connection.sock = trusted.wrap_socket(plain, server_hostname=NAME)
        return connection

    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            connect().close()
            break
        except OSError:
            time.sleep(0.05)
    return connect


@pytest.fixture(scope="module")
def connect(
    model_path: Path,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Connect]:
    """Connections to a service that asks for a token."""
    folder = tmp_path_factory.mktemp("proxy")
    token = folder / "token"
    token.write_text(TOKEN, encoding="ascii")
    with behind_nginx(model_path, folder, "--token-file", token) as connect:
        yield connect


def ask(
    connection: http.client.HTTPSConnection, path: str, body: bytes | None = None, token: str = TOKEN
) -> tuple[int, bytes]:
    headers = {"Host": NAME, "Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request("GET" if body is None else "POST", path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_a_service_behind_nginx_labels_and_refuses_in_its_own_words(
    connect: Connect,
) -> None:
    connection = connect()  # kept alive throughout
    body = json.dumps({"documents": [{"text": TEXTS["en"]}]}).encode()
    status, answer = ask(connection, "/labels/v1/predict", body)
    assert (status, json.loads(answer)["documents"][0]["language"]) == (200, "en")
    sock = connection.sock
    for _ in range(5):
        assert ask(connection, "/labels/healthz")[0] == 200
    assert connection.sock is sock, "nginx closed the connection"

    refused, wrong = ask(connection, "/labels/v1/predict", body, token="another-token")
    assert (refused, json.loads(wrong)["status"]) == (401, 401)
    large = json.dumps({"documents": [{"text": "a " * 2**22}]}).encode()
    refused, reason = ask(connection, "/labels/v1/predict", large)
    assert (refused, json.loads(reason)["status"]) == (413, 413)  # not nginx's page, which gives no reason


def test_a_service_without_a_token_knows_the_name_that_nginx_passes_on(
    model_path: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    with behind_nginx(model_path, tmp_path, "--allow-host", NAME) as connect:
        assert ask(connect(), "/labels/healthz")[0] == 200
        assert ask(connect(), "/labels/v1/model")[0] == 200


def test_the_page_works_below_a_path_and_counters_stay_inside(
    connect: Connect,
) -> None:
    connection = connect()
    status, page = ask(connection, "/labels/")
    links = re.findall(r'(?:href|src)="([^"#]+)"', page.decode())
    assert status == 200
    assert links
    for link in links:
        assert ask(connection, f"/labels/{link.removeprefix('./')}")[0] == 200, link
    connection.request("GET", "/labels")
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) == (308, "/labels/")
    answer.read()
    assert ask(connection, "/labels/metrics")[0] == 404
    assert ask(connection, "/v1/model")[0] == 404


def test_caddy_takes_its_file() -> None:
    settings = PACKAGING / "caddy" / "Caddyfile"
    adapted = subprocess.run(
        [program("caddy"), "adapt", "--adapter", "caddyfile", "--config", settings],
        capture_output=True,
        text=True,
    )
    assert adapted.returncode == 0, adapted.stderr
    assert "127.0.0.1:8000" in adapted.stdout


def test_systemd_takes_the_unit_and_finds_it_well_shut(tmp_path: Path) -> None:
    analyze = program("systemd-analyze")
    unit = tmp_path / "funnelling@.service"
    text = (PACKAGING / "systemd" / unit.name).read_text(encoding="utf-8")
    # It has to be there to be verified.
    unit.write_text(text.replace("/opt/funnelling/bin/funnelling", "/bin/true"), encoding="utf-8")
    verified = subprocess.run([analyze, "verify", unit], capture_output=True, text=True)
    ours = [line for line in verified.stderr.splitlines() if "funnelling" in line]  # others warn, too
    assert (verified.returncode, ours) == (0, [])
    looked = subprocess.run(
        [analyze, "security", "--offline=true", f"--threshold={round(10 * MOST_EXPOSURE)}", unit],
        capture_output=True,
        text=True,
    )
    assert looked.returncode == 0, looked.stdout[-200:] + looked.stderr
