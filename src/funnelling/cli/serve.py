"""``funnelling serve``: a model behind a page and a small HTTP interface."""

import argparse
from importlib.util import find_spec

from funnelling.commands import options
from funnelling.commands.declaring import style_of
from funnelling.errors import InputError
from funnelling.runtime.messages import TOKEN

MAX_PORT = 65_535


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "serve",
        help="serve a model to browsers and programs",
        description="Serve a model: a page to try it on at /, labels at /v1/predict, the interface at /docs.",
        epilog=options.examples("serve model", "serve model --host 0.0.0.0 --workers 2 --token-file token"),
    )
    parser.add_argument("model", metavar="MODEL", help=options.MODEL_HELP)
    add_place(parser)
    parser.add_argument(
        "--workers", type=options.count, default=1, metavar="N", help="processes that share the model (1)"
    )
    options.add_label_set(parser)
    add_access(parser)
    parser.add_argument(
        "--feedback",
        type=options.journal,
        metavar="FILE",
        help="journal to take feedback into: what labels should have been, on the page and at /v1/feedback",
    )
    limits = parser.add_argument_group("limits of a request")
    limits.add_argument(
        "--deadline", type=seconds, default=30.0, metavar="S", help="seconds a request may take (30)"
    )
    limits.add_argument(
        "--max-text",
        type=options.count,
        default=200_000,
        metavar="N",
        help="most characters of a text (200,000)",
    )
    limits.add_argument(
        "--max-words",
        type=options.count,
        default=100_000,
        metavar="N",
        help="most different words in the documents of a request (100,000)",
    )
    limits.add_argument(
        "--max-body",
        type=options.count,
        default=8 * 2**20,
        metavar="N",
        help="most bytes of a request (8,388,608)",
    )
    limits.add_argument(
        "--max-feedback",
        type=options.count,
        default=100 * 2**20,
        metavar="N",
        help="most bytes of the journal of feedback (104,857,600)",
    )
    parser.set_defaults(run=run)


def add_place(parser: argparse.ArgumentParser) -> None:
    """Where a service listens."""
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (127.0.0.1)")
    parser.add_argument(
        "--port", type=port, default=8000, metavar="N", help="port; 0 takes a free one (8000)"
    )


def add_access(parser: argparse.ArgumentParser) -> None:
    """Who may use a service."""
    access = parser.add_argument_group("who may use it")
    access.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"file with the bearer token to ask for; else {TOKEN}, else none",
    )
    access.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="without a token, a further name besides localhost to answer to; may be repeated",
    )


def run(arguments: argparse.Namespace) -> None:
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "httptools")):
        raise InputError("serve needs FastAPI and uvicorn: pip install 'funnelling[serve]'")
    from funnelling.serving.settings import Limits, ServiceSettings, read_token
    from funnelling.serving.supervisor import serve

    settings = ServiceSettings(
        arguments.model,
        arguments.host,
        arguments.port,
        arguments.workers,
        read_token(arguments.token_file),
        Limits(
            characters=arguments.max_text,
            words=arguments.max_words,
            body=arguments.max_body,
            seconds=arguments.deadline,
        ),
        tuple(arguments.allow_host),
        style_of(arguments),
        arguments.label_set,
        tuple(arguments.exclude),
        arguments.feedback,
        arguments.max_feedback,
    )
    serve(settings)


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
