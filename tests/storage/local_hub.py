"""A small Hub on this machine, which speaks as much of the interface as models need.

Repositories with commits, branches and visibility; files as they are or as large ones, which are fetched from
a second host; and faults to order.
"""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

WRITER, READER, WRONG = "hf_writer", "hf_reader", "hf_wrong"
Files = dict[str, bytes]


@dataclass
class Repository:
    """Files by commit, and the commit of each branch."""

    private: bool = False
    gated: bool = False
    commits: dict[str, Files] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def add(self, files: Files, branch: str = "main", message: str = "first") -> str:
        """Make a commit of these files."""
        told = repr((len(self.commits), sorted(files.items()), message))
        commit = hashlib.sha1(told.encode()).hexdigest()
        self.commits[commit] = dict(files)
        self.branches[branch] = commit
        self.messages.append(message)
        return commit

    def files(self, revision: str = "main") -> Files:
        return self.commits[self.branches.get(revision, revision)]


@dataclass
class LocalHub:
    """What the server has, what it was asked, and what goes wrong."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: Files = field(default_factory=dict)  # large files that were uploaded, by SHA-256
    requests: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, token
    elsewhere: list[str] = field(default_factory=list)  # tokens that the second host was shown
    address: str = ""
    second: str = ""  # address of the second host
    cut: set[str] = field(default_factory=set)  # names of files that break off
    changed: set[str] = field(default_factory=set)  # names of files of which a byte is another
    statuses: dict[str, int] = field(default_factory=dict)  # answers to paths that have this in them
    between: Any = None  # called once, before a commit is looked at
    seconds: float = 0.0  # before each answer

    def repository(self, name: str, files: Files, **facts: Any) -> Repository:
        repository = self.repositories[name] = Repository(**facts)
        repository.add(files)
        return repository

    def asked(self, part: str) -> list[str]:
        """The paths with this in them that were asked for."""
        return [path for _, path, _ in self.requests if part in path]


def is_large(name: str) -> bool:
    return name.endswith(".safetensors")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: LocalHub

    def log_message(self, *_: Any) -> None:
        pass

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:  # a client that has gone
            self.close_connection = True

    @property
    def token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    def answer(self, status: int, body: Any = None, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def refuse(self, status: int, code: str, message: str = "no") -> None:
        self.answer(status, {"error": message}, X_Error_Code=code, X_Error_Message=message)

    def send_file(self, name: str, content: bytes, **headers: str) -> None:
        length = len(content)
        if self.command != "HEAD" and name in self.hub.changed:
            content = content[:-1] + bytes([content[-1] ^ 1])
        if self.command != "HEAD" and name in self.hub.cut:
            content = content[: length // 2]
            self.close_connection = True
        self.answer(200, content, Content_Length=str(length), **headers)


class _SecondHost(_Handler):
    """Where large files are; who shows it a token has leaked it."""

    def do_GET(self) -> None:
        self.hub.elsewhere.append(self.token)
        _, digest, name = self.path.split("/")
        self.send_file(name, self.hub.objects[digest])

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_PUT(self) -> None:
        self.hub.elsewhere.append(self.token)
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.hub.objects[hashlib.sha256(content).hexdigest()] = content
        self.answer(200)


class _Hub(_Handler):
    def route(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.content = self.rfile.read(length)
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append((self.command, path, self.token))
        threading.Event().wait(self.hub.seconds)  # tests make sleep do nothing
        for part, status in self.hub.statuses.items():
            if part in path:
                return self.refuse(status, "", f"Status {status}.")
        if self.token == WRONG:
            return self.refuse(401, "", "Invalid username or password.")
        for pattern, handle in _ROUTES:
            if found := re.fullmatch(pattern, path):
                return handle(self, *found.groups())
        return self.refuse(404, "", "Not found")

    def do_GET(self) -> None:
        self.route()

    def do_HEAD(self) -> None:
        self.route()

    def do_POST(self) -> None:
        self.route()

    def visible(self, name: str) -> Repository | None:
        """A repository that the client may read; else it is answered."""
        repository = self.hub.repositories.get(name)
        if repository is None or (repository.private and not self.token):
            self.refuse(404 if self.token else 401, "RepoNotFound", "Repository not found")
            return None
        if repository.gated and not self.token:
            self.refuse(401, "GatedRepo", "Access is restricted")
            return None
        return repository

    def commit_of(self, repository: Repository, revision: str) -> str | None:
        commit = repository.branches.get(revision, revision)
        if commit in repository.commits:
            return commit
        self.refuse(404, "RevisionNotFound", "Invalid rev id")
        return None

    def resolve(self, name: str, revision: str, file: str) -> None:
        if (repository := self.visible(name)) is None:
            return None
        if (commit := self.commit_of(repository, revision)) is None:
            return None
        content = repository.commits[commit].get(file)
        if content is None:
            return self.answer(404, X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
        digest = hashlib.sha256(content).hexdigest()
        if not is_large(file):
            return self.send_file(file, content, ETag=f'"{digest[:40]}"', X_Repo_Commit=commit)
        self.hub.objects[digest] = content
        return self.answer(
            302,
            Location=f"{self.hub.second}/{digest}/{file.rpartition('/')[2]}",
            X_Linked_ETag=f'"{digest}"',
            X_Linked_Size=str(len(content)),
            X_Repo_Commit=commit,
        )

    def info(self, name: str, revision: str | None = None) -> None:
        if (repository := self.visible(name)) is None:
            return None
        if (commit := self.commit_of(repository, revision or "main")) is None:
            return None
        files = [{"rfilename": file} for file in repository.commits[commit]]
        facts = {"id": name, "modelId": name, "sha": commit, "private": repository.private}
        return self.answer(200, {**facts, "siblings": files})

    def writable(self, name: str) -> Repository | None:
        if not self.token:
            self.refuse(401, "", "Invalid username or password.")
            return None
        if self.token != WRITER:
            self.refuse(403, "", "You don't have the rights to write here")
            return None
        return self.visible(name)

    def create(self) -> None:
        asked = json.loads(self.content)
        name = f"{asked['organization']}/{asked['name']}"
        if not self.token:
            return self.refuse(401, "", "Invalid username or password.")
        if name in self.hub.repositories:
            return self.answer(409, {"error": "You already created this model repo", "url": self.page(name)})
        if self.token != WRITER:
            return self.refuse(403, "", "You don't have the rights to create a model here")
        private = asked.get("private") or asked.get("visibility") == "private"
        self.hub.repository(name, {".gitattributes": b""}, private=bool(private))
        return self.answer(200, {"url": self.page(name), "id": name})

    def page(self, name: str) -> str:
        return f"{self.hub.address}/{name}"

    def branch(self, name: str, branch: str) -> None:
        if (repository := self.writable(name)) is None:
            return None
        if branch in repository.branches:
            return self.refuse(409, "", "Reference already exists")
        start = json.loads(self.content or b"{}").get("startingPoint")
        repository.branches[branch] = start or repository.branches["main"]
        return self.answer(201)

    def preupload(self, name: str, _: str) -> None:
        if self.writable(name) is None:
            return None
        files = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if is_large(file["path"]) else "regular",
                "shouldIgnore": False,
                "oid": None,
            }
            for file in json.loads(self.content)["files"]
        ]
        return self.answer(200, {"files": files})

    def batch(self, name: str) -> None:
        if self.writable(name) is None:
            return None
        objects = []
        for each in json.loads(self.content)["objects"]:
            upload = {"href": f"{self.hub.second}/{each['oid']}"}
            known = each["oid"] in self.hub.objects
            objects.append({**each, **({} if known else {"actions": {"upload": upload}})})
        return self.answer(200, {"transfer": "basic", "objects": objects})

    def commit(self, name: str, branch: str) -> None:
        if (repository := self.writable(name)) is None:
            return None
        between, self.hub.between = self.hub.between, None
        if between is not None:
            between()
        lines = [json.loads(line) for line in self.content.splitlines()]
        files = dict(repository.files(branch))
        message = ""
        for line in lines:
            value = line["value"]
            match line["key"]:
                case "header":
                    message = value["summary"]
                    if value.get("parentCommit") not in (None, repository.branches[branch]):
                        return self.refuse(412, "", "A commit has happened since")
                case "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                case "lfsFile":
                    files[value["path"]] = self.hub.objects[value["oid"]]
                case "deletedFile":
                    del files[value["path"]]
        commit = repository.add(files, branch, message)
        url = f"{self.page(name)}/commit/{commit}"
        return self.answer(200, {"success": True, "commitOid": commit, "commitUrl": url})

    def validate(self) -> None:
        self.answer(200, {"errors": [], "warnings": []})


_NAME = r"([^/]+/[^/]+)"
_ROUTES = (
    (rf"/{_NAME}/resolve/([^/]+)/(.+)", _Hub.resolve),
    (rf"/api/models/{_NAME}", _Hub.info),
    (rf"/api/models/{_NAME}/revision/(.+)", _Hub.info),
    (r"/api/repos/create", _Hub.create),
    (rf"/api/models/{_NAME}/branch/(.+)", _Hub.branch),
    (rf"/api/models/{_NAME}/preupload/(.+)", _Hub.preupload),
    (rf"/{_NAME}\.git/info/lfs/objects/batch", _Hub.batch),
    (rf"/api/models/{_NAME}/commit/(.+)", _Hub.commit),
    (r"/api/validate-yaml", _Hub.validate),
)


@contextmanager
def running() -> Iterator[LocalHub]:
    """A Hub, and its second host, for as long as the block runs."""
    hub = LocalHub()
    servers = [
        ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (kind,), {"hub": hub}))
        for kind in (_Hub, _SecondHost)
    ]
    hub.address = f"http://127.0.0.1:{servers[0].server_port}"
    hub.second = f"http://localhost:{servers[1].server_port}"  # another host, by its name
    for server in servers:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield hub
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


def environment(hub: LocalHub, cache: Path, token: str | None = WRITER) -> dict[str, str]:
    """What a process is to be told to use this Hub and nothing of whoever runs it."""
    told = {
        "HF_ENDPOINT": hub.address,
        "HF_HOME": str(cache),
        "HF_HUB_CACHE": str(cache / "hub"),
        "HF_HUB_DISABLE_XET": "1",  # which only the real one speaks
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    return told if token is None else {**told, "HF_TOKEN": token}


@contextmanager
def used(cache: Path, patch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """A Hub that the Hub's library uses in this process, as a writer, trying again without waiting."""
    pytest.importorskip("huggingface_hub")
    from huggingface_hub import constants
    from huggingface_hub.utils import _http

    with running() as hub:
        patch.setattr(constants, "ENDPOINT", hub.address)
        patch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.address + "/{repo_id}/resolve/{revision}/{filename}"
        )
        patch.setattr(constants, "HF_HUB_CACHE", str(cache))
        patch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        patch.setattr(constants, "HF_TOKEN_PATH", str(cache / "none"))
        patch.setattr(_http.time, "sleep", lambda _: None)
        patch.setenv("HF_TOKEN", WRITER)
        yield hub
