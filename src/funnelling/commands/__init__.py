"""The command line: one command per file; each parses, calls one function and prints.

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
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from pkgutil import resolve_name
from typing import Any, NoReturn

from funnelling.commands import settings
from funnelling.commands.declaring import (
    BAD_INPUT,
    Parser,
    add_general,
    add_parser,
    every_parser,
    examples,
    run,
    style_of,
)
from funnelling.errors import InputError
from funnelling.runtime.messages import VARIABLES, Style, say, speak, speaking, style

COMMANDS = {  # some of which are in layers above
    "quickstart": "funnelling.commands.quickstart:Quickstart",
    "train": "funnelling.commands.train:Train",
    "predict": "funnelling.commands.predict:Predict",
    "evaluate": "funnelling.commands.evaluate:Evaluate",
    "explain": "funnelling.commands.explain:Explain",
    "audit": "funnelling.labelling.commands:Audit",
    "inspect": "funnelling.commands.inspect:Inspect",
    "suggest": "funnelling.labelling.commands:Suggest",
    "label": "funnelling.labelling.commands:Label",
    "add-language": "funnelling.commands.update:AddLanguage",
    "update": "funnelling.commands.update:Update",
    "forget": "funnelling.commands.forget:Forget",
    "tune": "funnelling.commands.tune:Tune",
    "relabel": "funnelling.commands.relabel:Relabel",
    "compare": "funnelling.commands.compare:Compare",
    "experiment": "funnelling.research.commands:Experiment",
    "serve": "funnelling.serving.command:Serve",
    "push": "funnelling.commands.share:Push",
    "pull": "funnelling.commands.share:Pull",
    "data list": "funnelling.research.commands:ListCorpora",
    "data describe": "funnelling.commands.describe:Describe",
    "data build": "funnelling.research.commands:BuildCorpus",
    "embeddings build": "funnelling.research.commands:BuildVectors",
    "completion": "funnelling.commands.completing:Completion",
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
FAILED, INTERRUPTED, TERMINATED = 1, 130, 143


class _Termination(KeyboardInterrupt):
    """SIGTERM, which ends a command as tidily as Ctrl-C."""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print("funnelling", version("funnelling"))
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = Parser(
        prog="funnelling",
        description="Classify documents in many languages under one set of labels.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = {"": parser.add_subparsers(title="commands", metavar="COMMAND", required=True)}
    for name, place in COMMANDS.items():
        group = name.rpartition(" ")[0]
        if group not in commands:
            summary, description, example = GROUPS[group]
            inner = commands[""].add_parser(
                group, help=summary, description=description, epilog=examples([example])
            )
            commands[group] = inner.add_subparsers(title="actions", metavar="ACTION", required=True)
        add_parser(commands[group], name, resolve_name(place))
    for _, each in every_parser(parser):
        add_general(each)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 is success, 2 bad input, 130 Ctrl-C, 143 SIGTERM."""
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
            run(parsed)
        sys.stdout.flush()
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
        if not style().as_json:
            raise
        say(f"a fault of funnelling: {type(error).__name__}", logging.CRITICAL, exc_info=sys.exc_info())
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


def _refuse(message: str) -> int:
    """Say what is wrong, and that alone where it is standard output."""
    say(message, logging.ERROR)
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    return BAD_INPUT


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
