"""The command line: the commands by name, and `main`, which parses, runs and prints one of them.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

import argparse
import io
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from pkgutil import resolve_name
from typing import Any, NoReturn

from funnelling.commands import settings
from funnelling.commands.declaring import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    NEGATIVE_RESULT,
    TERMINATED,
    NegativeResultError,
    Parser,
    add_general,
    command_of,
    define,
    examples,
    run,
    style_of,
)
from funnelling.errors import InputError
from funnelling.runtime.messages import DEBUG, VARIABLES, Style, say, speak, speaking, style

COMMANDS = {  # by name: the class, which may be in a layer above, and what it does
    "quickstart": ("funnelling.commands.quickstart:Quickstart", "see it work on the embedded corpus"),
    "train": ("funnelling.commands.train:Train", "train a model on a file of documents"),
    "predict": ("funnelling.commands.predict:Predict", "label documents with a model"),
    "evaluate": ("funnelling.commands.evaluate:Evaluate", "measure a model on labelled documents"),
    "explain": ("funnelling.commands.explain:Explain", "explain why documents get their labels"),
    "audit": ("funnelling.labelling.audit:Audit", "find documents whose labels look wrong or missing"),
    "inspect": ("funnelling.commands.inspect:Inspect", "show what a model is"),
    "label": ("funnelling.labelling.label:Label", "label documents in the browser, with or without a model"),
    "update": ("funnelling.commands.update:Update", "add documents, corrections, languages or labels"),
    "forget": ("funnelling.commands.update:Forget", "remove documents from a model"),
    "tune": ("funnelling.commands.tune:Tune", "set a model's thresholds for another goal"),
    "relabel": ("funnelling.commands.relabel:Relabel", "rename, merge or drop labels"),
    "compare": ("funnelling.commands.compare:Compare", "compare methods on a file of documents"),
    "experiment": (
        "funnelling.research.commands:Experiment",
        "run the paper's experiments, ending in a report",
    ),
    "serve": ("funnelling.serving.command:Serve", "serve a model to browsers and programs"),
    "push": ("funnelling.commands.share:Push", "share a model on the Hugging Face Hub"),
    "pull": ("funnelling.commands.share:Pull", "copy a model from the Hugging Face Hub"),
    "data list": ("funnelling.research.commands:ListCorpora", "list the corpora that can be built"),
    "data describe": ("funnelling.commands.inspect:Describe", "describe a file of documents"),
    "data build": ("funnelling.research.commands:BuildCorpus", "build a corpus"),
    "embeddings build": (
        "funnelling.research.commands:BuildVectors",
        "learn vectors from a reference corpus",
    ),
    "completion": (
        "funnelling.commands.completing:Completion",
        "let the shell complete commands and options",
    ),
}
GROUPS = {  # of commands: what each is for, its description, an example
    "data": (
        "look into files of documents, build corpora",
        "Look into a file of documents before anything is learned from it, or build a corpus.",
        "data describe docs.csv",
    ),
    "embeddings": (
        "learn word vectors",
        "Learn word vectors from a reference corpus.",
        "embeddings build reference.jsonl -o vectors",
    ),
}
EPILOG = "\n".join(
    [
        "environment:",
        *(f"  {name:17}  {meaning}" for name, meaning in VARIABLES.items()),
        "",
        "`funnelling COMMAND --help` tells more; a default stands there in brackets.",
        "",
        "New here? Try: funnelling quickstart",
    ]
)


class _Termination(KeyboardInterrupt):
    """SIGTERM, which ends a command as tidily as Ctrl-C."""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print("funnelling", version("funnelling"))
        parser.exit()


def build_parser() -> Parser:
    """The parser of all commands."""
    parser = Parser(
        prog="funnelling",
        description="Classify documents in many languages under one set of labels.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = {"": parser.add_subparsers(title="commands", metavar="COMMAND", required=True)}
    add_general(parser)
    for name, (place, summary) in COMMANDS.items():
        group, _, last = name.rpartition(" ")
        if group not in commands:
            about, description, example = GROUPS[group]
            inner = commands[""].add_parser(
                group, help=about, description=description, epilog=examples([example])
            )
            commands[group] = inner.add_subparsers(title="actions", metavar="ACTION", required=True)
            add_general(inner)
        commands[group].add_parser(last, help=summary, define=partial(_define, name, place))
    return parser


def _define(name: str, place: str, parser: Parser) -> None:
    """Let a parser take what a command takes."""
    define(parser, resolve_name(place))
    parser.set_defaults(path=tuple(name.split()))
    add_general(parser)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and give its exit status, which `declaring` lists."""
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what could be typed
        from funnelling.commands.completing import complete

        complete(build_parser())
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that does not speak UTF-8 shows a ? for what it lacks.
        sys.stdout.reconfigure(errors="replace")
    load_lazily()
    words = sys.argv[1:] if arguments is None else arguments
    with speaking(Style(as_json="--log-json" in words)):  # until all is parsed
        return _answer(words)


def _answer(words: Sequence[str]) -> int:
    used: list[settings.ConfigValue] = []
    try:
        parsed, used = settings.parse(build_parser(), words)
        speak(style_of(parsed))
        with _termination(), _cluster(parsed):
            run(command_of(parsed))
        sys.stdout.flush()
    except NegativeResultError as error:
        return _refuse(str(error), NEGATIVE_RESULT)
    except InputError as error:
        return _refuse(settings.told(str(error), used))
    except MemoryError:
        return _refuse("out of memory. Train on fewer documents or labels.")
    except KeyboardInterrupt as interrupt:
        say("interrupted; no file and no model is left half-written.", logging.ERROR)
        return TERMINATED if isinstance(interrupt, _Termination) else INTERRUPTED
    except BrokenPipeError:
        _drop_output()  # whatever read it has had enough
    except OSError as error:
        _drop_output()
        where = error.filename or "standard output"
        return _refuse(f"{where}: {(error.strerror or str(error)).lower()}. Check the path and the disk.")
    except Exception as error:
        debug = bool(os.environ.get(DEBUG))
        if debug and not style().as_json:
            raise
        cure = "Report it with the traceback" + ("" if debug else f" that {DEBUG}=1 shows")
        line = f"internal error: {type(error).__name__}: {error}".rstrip(" :.")
        say(f"{line}. {cure}.", logging.CRITICAL, exc_info=sys.exc_info())
        return FAILED
    return 0


@contextmanager
def _termination() -> Iterator[None]:
    """Let SIGTERM interrupt the command as Ctrl-C does, unless whoever runs it has other plans.

    Compiled code, such as that of a library which is being loaded, may make another error of either: then it
    counts as what it was.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    heard: list[type[BaseException]] = []

    def stop(number: int, _: Any) -> NoReturn:
        heard.append(_Termination if number == signal.SIGTERM else KeyboardInterrupt)
        raise heard[0]

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number, handler in before.items():
        if handler in (signal.SIG_DFL, signal.default_int_handler):  # and is not ignored
            signal.signal(number, stop)
    try:
        yield
    except Exception:
        if heard:
            raise heard[0] from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _cluster(parsed: argparse.Namespace) -> AbstractContextManager[None]:
    """The cluster that the command was given, for as long as it runs."""
    if getattr(parsed, "cluster", None) is None:
        return nullcontext()
    from funnelling.runtime.spread import on_cluster

    return on_cluster(parsed.cluster)


def _drop_output() -> None:
    """Send what is still to be printed nowhere: Python would complain again when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(message: str, status: int = BAD_INPUT) -> int:
    """Say what is wrong, and that alone where it is standard output."""
    say(message, logging.ERROR)
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    return status


# scipy imports all of numpy, Fortran tools and test tools included: a tenth of what a prediction takes.
UNUSED = ("numpy.f2py", "numpy.testing")


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in UNUSED else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def load_lazily() -> None:
    """From now on, load what is unused when it is used."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
