"""``funnelling serve``: a model behind a page and a small HTTP interface."""

import argparse
from collections.abc import Sequence
from importlib.util import find_spec

from funnelling.commands.declaring import Command, Group, argument, option
from funnelling.commands.options import MODEL_HELP, Exclude, LabelSetFile
from funnelling.commands.values import count, journal
from funnelling.errors import InputError
from funnelling.runtime.messages import TOKEN, Reporter, silent, style

MAX_PORT = 65_535
ACCESS = Group("who may use it")
LIMITS = Group("limits of a request")


def port(text: str) -> int:
    """The number of a port, or 0."""
    if not text.isascii() or not text.isdigit() or int(text) > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to {MAX_PORT}")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


class Service(Command):
    """Where a service listens, and who may use it."""

    host: str = option("where to listen (127.0.0.1)", "ADDRESS", default="127.0.0.1", common=True)
    port: int = option("port (8000); 0 takes a free one", "N", default=8000, type=port, common=True)
    token_file: str | None = option(
        f"file with the bearer token to ask for; else {TOKEN}, else none",
        "FILE",
        default=None,
        group=ACCESS,
        common=True,
    )
    allow_host: Sequence[str] = option(
        "without a token, a further name besides localhost to answer to; may be repeated",
        "NAME",
        default=(),
        action="append",
        group=ACCESS,
    )

    def check_installed(self, name: str) -> None:
        """Refuse a command that needs packages which are not there."""
        if any(find_spec(each) is None for each in ("fastapi", "uvicorn", "httptools")):
            raise InputError(f"{name} needs FastAPI and uvicorn: pip install 'funnelling[serve]'")


class Serve(Service, LabelSetFile, Exclude):
    """Serve a model: a page to try it on at /, labels at /v1/predict, the interface at /docs."""

    examples = ("serve model", "serve model --host 0.0.0.0 --workers 2 --token-file token")

    model: str = argument(MODEL_HELP, "MODEL")
    workers: int = option("processes that share the model (1)", "N", default=1, type=count, common=True)
    feedback: str | None = option(
        "journal to take feedback into: what labels should have been, on the page and at /v1/feedback",
        "FILE",
        default=None,
        type=journal,
        common=True,
    )
    deadline: float = option("seconds a request may take (30)", "S", default=30.0, type=seconds, group=LIMITS)
    max_text: int = option(
        "most characters of a text (200,000)", "N", default=200_000, type=count, group=LIMITS
    )
    max_words: int = option(
        "most different words in the documents of a request (100,000)",
        "N",
        default=100_000,
        type=count,
        group=LIMITS,
    )
    max_body: int = option(
        "most bytes of a request (8,388,608)", "N", default=8 * 2**20, type=count, group=LIMITS
    )
    max_feedback: int = option(
        "most bytes of the journal of feedback (104,857,600)",
        "N",
        default=100 * 2**20,
        type=count,
        group=LIMITS,
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> None:
        self.check_installed("serve")
        from funnelling.serving.settings import Limits, ServiceSettings, read_token
        from funnelling.serving.supervisor import serve

        limits = Limits(
            characters=self.max_text, words=self.max_words, body=self.max_body, seconds=self.deadline
        )
        settings = ServiceSettings(
            self.model,
            self.host,
            self.port,
            self.workers,
            read_token(self.token_file),
            limits,
            tuple(self.allow_host),
            style(),
            self.label_set,
            tuple(self.exclude),
            self.feedback,
            self.max_feedback,
        )
        serve(settings)
