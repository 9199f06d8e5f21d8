"""The settings of a service, the token it may ask for, and the paths of its interface."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import NamedTuple

from pydantic import ConfigDict, with_config

from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError
from funnelling.runtime.messages import TOKEN, Style

LOOPBACK = ("127.0.0.1", "::1", "localhost")
JOURNAL_WAIT_S = 2.0  # that feedback waits for others to be written down

_MIN_TOKEN_CHARACTERS = 8


# An answer that describes the model has all of them, which OpenAPI is to say in spite of the defaults.
@with_config(ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True))
@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for, and how long it may take."""

    documents: int = 256
    explained: int = 16
    characters: int = 200_000
    words: int = 100_000
    body: int = 8 * 2**20
    seconds: float = 30.0

    @property
    def head_seconds(self) -> float:
        """How long the head of a request may take."""
        return min(10.0, self.seconds)


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """One service: its model, where it listens, and what it asks of its clients."""

    model: str
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    token: str | None = field(default=None, repr=False)
    limits: Limits = field(default_factory=Limits)
    allowed_hosts: tuple[str, ...] = ()
    style: Style = field(default_factory=Style)  # of what it logs
    label_set: str | os.PathLike[str] | LabelSet | None = (
        None  # that of a file in place of the model's own, read once
    )
    exclude: tuple[str, ...] = ()  # labels that are not assigned
    feedback: str | None = None  # the journal that takes what labels should have been, if any does
    feedback_bytes: int = 100 * 2**20  # that it may have

    @property
    def hosts(self) -> frozenset[str] | None:
        """The host names it answers to, or None for any.

        Without a token, a web page elsewhere could use a service on the loopback address by a name of its
        own that leads there.
        """
        if self.token is not None or self.host not in LOOPBACK:
            return None
        return frozenset(("localhost", "127.0.0.1", "[::1]", *map(str.lower, self.allowed_hosts)))


def read_token(path: str | None) -> str | None:
    """The token in a file, else in the environment, else none."""
    if path is None:
        value = os.environ.get(TOKEN)
        return None if value is None else _checked(value.strip(), TOKEN)
    try:
        with open(path, encoding="ascii") as file:
            return _checked(file.read().strip(), path)
    except UnicodeDecodeError:
        raise _unfit(path) from None


def _checked(token: str, source: str) -> str:
    # A header carries it: visible ASCII only, and a short one would be guessed.
    if len(token) < _MIN_TOKEN_CHARACTERS or not token.isascii() or not token.isprintable() or " " in token:
        raise _unfit(source)
    return token


def _unfit(source: str) -> InputError:
    return InputError(
        f"{source}: a token is {_MIN_TOKEN_CHARACTERS} or more letters, digits and signs of ASCII without a "
        "space. Make one with: openssl rand -hex 32"
    )


FEEDBACK = "/v1/feedback"
INTERFACE = (
    *("/v1/predict", "/v1/explain", FEEDBACK, "/v1/model", "/v1/labels"),
    *("/healthz", "/metrics", "/openapi.json"),
)
PAGES = {"/": "index.html", "/docs": "docs.html"}
LABELLING_PAGES = {"/": "label.html"}


class _Labelling(NamedTuple):
    """The paths of a page to label on."""

    facts: str = "/v1/labels"
    next: str = "/v1/next"
    annotate: str = "/v1/annotate"
    undo: str = "/v1/undo"
    language: str = "/v1/language"
    heartbeat: str = "/v1/heartbeat"
    explain: str = "/v1/explain"


LABELLING = _Labelling()


def page_files(pages: Mapping[str, str] = PAGES) -> dict[str, str]:
    """The file of the package behind each path of some pages, and of what they are made of."""
    folder = files("funnelling.serving").joinpath("page")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith((".css", ".js", ".svg")))
    return {**pages, **{f"/static/{name}": name for name in names}}


def served_paths() -> list[str]:
    """All paths of the application."""
    return [*INTERFACE, *page_files()]


def labelling_paths() -> list[str]:
    """All paths of a page to label on."""
    return [*LABELLING, *page_files(LABELLING_PAGES)]
