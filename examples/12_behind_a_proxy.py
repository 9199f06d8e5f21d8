"""
A service behind a proxy
========================

Your model is good enough, and colleagues want to use it: people on a page, programs over HTTP. On a server it
runs under systemd or in a container, and a proxy in front has the name, the certificate and the limits of
each client. This example starts the real service with a token, puts a small proxy in front that serves it
below a path, as nginx would, and does what an operator does: look at its health, replace the model, read the
counters.

:doc:`/deploying` has the files for systemd, containers, nginx and Caddy; :doc:`/serving` has the interface.
"""

# %%
# A model to serve
# ----------------
#
# A service serves a folder. This one is learned from the corpus that comes with the package, of each
# language only its own words, which is quick.

import tempfile
from pathlib import Path

from funnelling import FunnellingClassifier, read_sample

folder = tempfile.TemporaryDirectory()
model_folder = Path(folder.name) / "model"
train = read_sample().split("train")


def learn(seed: int) -> None:
    model = FunnellingClassifier.from_paper("tat", meta_C=1, random_state=seed)
    model.fit(train.texts, train.labels, languages=train.languages, groups=train.groups)
    model.save(model_folder, force=True)


learn(seed=0)

# %%
# The service
# -----------
#
# The token is in a file, so that no list of processes shows it. With ``--port 0`` the service takes a free
# port and says which; under systemd you would choose one. It answers as soon as the line is there.

import re
import secrets
import subprocess
import sys

token = secrets.token_hex(32)
token_file = Path(folder.name) / "token"
token_file.write_text(token, encoding="ascii")

command = [sys.executable, "-m", "funnelling", "serve"]
service = subprocess.Popen(
    [*command, str(model_folder), "--port", "0", "--token-file", str(token_file)],
    stderr=subprocess.PIPE,
    text=True,
)


def next_line(pattern: str) -> str:
    """The first line of the log that has this in it."""
    for line in service.stderr:
        if re.search(pattern, line):
            return line.strip()
    raise RuntimeError(f"the service ended with status {service.wait()}")


announced = next_line("^Serving")
port = int(re.search(r":(\d+) ", announced)[1])
print(announced.replace(str(port), "PORT"))

# %%
# The proxy
# ---------
#
# A stand-in for nginx, in a few lines: it takes the path ``/labels`` off, hands the request on, and keeps
# ``/metrics`` to itself. A real one encrypts, too, and limits how often a client may ask.

import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PREFIX = "/labels"


class Proxy(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        path = self.path.removeprefix(PREFIX)
        if path == self.path or path == "/metrics":
            self.send_error(404)
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        inside = HTTPConnection("127.0.0.1", port, timeout=40)
        inside.request(self.command, path, body, dict(self.headers))
        answer = inside.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *_: object) -> None:
        """Nothing: the service has a log."""


proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
threading.Thread(target=proxy.serve_forever, daemon=True).start()

# %%
# A client
# --------
#
# Programs send JSON and the token. The language is detected where none is given. Whoever has no token gets
# a document that says so, and the page at ``/labels/`` asks for it.

import json


def ask(path: str, body: object = None, token: str = "", to: int = proxy.server_port) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", to, timeout=40)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    content = None if body is None else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, content, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


documents = {"documents": [{"text": "Un lecteur de musique pour le bureau GNOME"}]}
status, answer = ask("/labels/v1/predict", documents, token)
row = json.loads(answer)["documents"][0]
print(status, row["language"], row["labels"])
status, answer = ask("/labels/v1/predict", documents)
print(status, json.loads(answer)["detail"])
status, page = ask("/labels/")
print(status, re.search("<title>.*</title>", page)[0])

# %%
# Health
# ------
#
# ``/healthz`` needs no token and answers once the model is loaded: this is what a container's health check
# asks, and what a balancer asks before it sends requests.

print(ask("/labels/healthz"))

# %%
# Another model
# -------------
#
# The service holds the model that it has read. Replace the folder as you like, and ask for the new one with
# SIGHUP (``systemctl reload``, ``docker kill --signal HUP``): other processes start with it, and only when
# they can serve it the old ones end. Windows has no such signal; restart the service there.

import signal

learn(seed=1)
if hasattr(signal, "SIGHUP"):
    service.send_signal(signal.SIGHUP)
    print(next_line("was loaded anew").split(" ", 2)[2])
print(ask("/labels/healthz")[0])

# %%
# Counters
# --------
#
# Prometheus reads ``/metrics`` from the service itself, with the token; the proxy does not let it out.

print("through the proxy:", ask("/labels/metrics", token=token)[0])
metrics = ask("/metrics", token=token, to=port)[1]
print(
    *(
        line
        for line in metrics.splitlines()
        if re.match("funnelling_(requests|documents)_total.* [1-9]", line)
    ),
    sep="\n",
)

# %%
# The end
# -------
#
# SIGTERM lets it answer what has come in. Its status is 0, so that a supervisor knows that nothing failed.

service.terminate()
service.stderr.close()
print("status", service.wait(60))
proxy.shutdown()
folder.cleanup()
