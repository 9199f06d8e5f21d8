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
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from pkgutil import resolve_name
from typing import Any, NamedTuple, NoReturn

from funnelling.commands import settings
from funnelling.commands.declaring import NegativeResultError, run
from funnelling.commands.parsing import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    NEGATIVE_RESULT,
    TERMINATED,
    Parser,
    add_general,
    command_of,
    define,
    style_of,
)
from funnelling.errors import InputError
from funnelling.runtime.messages import DEBUG, PROGRAM, VARIABLES, Style, say, speak, speaking, style


class CommandEntry(NamedTuple):
    """Where the class of a command is, what it does, and its group in help."""

    place: str
    summary: str
    group: str


GROUPS = {  # of commands, as help lists them; classes may be in layers above
    "Start": {
        "quickstart": ("commands.quickstart:Quickstart", "train and evaluate on the built-in corpus"),
        "train": (
            "commands.train:Train",
            "train a model on labelled documents: train tickets.csv -o model",
        ),
        "label": ("labelling.label:Label", "label documents in the browser, with or without a model"),
    },
    "Use": {
        "predict": ("commands.predict:Predict", "assign labels: predict model new.csv -o labelled.csv"),
        "explain": ("commands.explain:Explain", "show why a document gets its labels"),
        "serve": ("serving.command:Serve", "serve a model over HTTP, with a web page"),
    },
    "Measure": {
        "evaluate": ("commands.evaluate:Evaluate", "evaluate a model, or predictions made elsewhere"),
        "compare": ("commands.compare:Compare", "compare methods on your documents"),
        "inspect": ("commands.inspect:Inspect", "show what a file or a model contains"),
        "audit": ("labelling.audit:Audit", "find wrong and missing labels"),
    },
    "Maintain": {
        "update": ("commands.update:Update", "add documents, corrections, languages or labels"),
        "tune": ("commands.tune:Tune", "set decision thresholds"),
        "relabel": ("commands.relabel:Relabel", "rename, merge or remove labels"),
        "forget": ("commands.update:Forget", "remove training documents from a model"),
    },
    "Share": {
        "push": ("commands.share:Push", "upload a model to the Hugging Face Hub"),
        "pull": ("commands.share:Pull", "download a model"),
    },
    "More": {
        "research": (
            "research.commands:Research",
            "the paper's methods and experiments, corpora, word vectors",
        ),
        "research experiment": ("research.commands:Experiment", "run the paper's experiments"),
        "research corpora": ("research.commands:ListCorpora", "list the corpora that can be built"),
        "research build": ("research.commands:BuildCorpus", "build a corpus"),
        "research vectors": ("research.commands:BuildVectors", "learn word vectors from a reference corpus"),
        "completion": ("commands.completing:Completion", "set up shell completion"),
    },
}
COMMANDS = {
    name: CommandEntry(f"funnelling.{place}", summary, group)
    for group, entries in GROUPS.items()
    for name, (place, summary) in entries.items()
}
ENVIRONMENT = "\n".join(["environment:", *(f"  {name:17}  {meaning}" for name, meaning in VARIABLES.items())])
NEW_HERE = "New here? Try: funnelling quickstart"


class _Termination(KeyboardInterrupt):
    """SIGTERM, which ends a command as tidily as Ctrl-C."""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print("funnelling", version("funnelling"))
        parser.exit()


class _Program(Parser):
    """The parser of all commands, whose help lists them by group."""

    about_help = "after a command: -h shows common options, --help all of them"

    def format_short(self) -> str:
        return self._format(NEW_HERE)

    def format_help(self) -> str:
        return self._format(ENVIRONMENT, NEW_HERE)

    def _format(self, *last: str) -> str:
        options = {
            ", ".join(each.option_strings) + (f" {each.metavar}" if each.metavar else ""): each.help
            for each in self._actions
            if each.option_strings
        }
        shown = {
            group: {name: summary for name, (_, summary) in entries.items() if " " not in name}
            for group, entries in GROUPS.items()
        }
        parts = [f"usage: {self.prog} COMMAND ...", str(self.description)]
        for part in ({**shown}, {"Options": options}):
            width = max(len(name) for entries in part.values() for name in entries)
            lines = []
            for title, entries in part.items():
                lines += [title, *(f"  {name:{width}}  {text}" for name, text in entries.items())]
            parts.append("\n".join(lines))
        return "\n\n".join([*parts, *last]) + "\n"


def build_parser() -> Parser:
    """The parser of all commands."""
    parser = _Program(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND ...",
        description="Classify documents in many languages under one set of labels.",
        epilog=ENVIRONMENT,
    )
    listed: Any = {"title": "commands", "metavar": "COMMAND", "required": True, "parser_class": Parser}
    branches = {"": parser.add_subparsers(prog=PROGRAM, **listed)}
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    add_general(parser)
    above = {name.rpartition(" ")[0] for name in COMMANDS}
    for name, (place, summary, _) in COMMANDS.items():
        parent, _, last = name.rpartition(" ")
        command = branches[parent].add_parser(last, help=summary, define=partial(_define, name, place))
        if name in above:
            branches[name] = command.add_subparsers(**listed)
    return parser


def _define(name: str, place: str, parser: Parser) -> None:
    """Let a parser take what a command takes."""
    define(parser, resolve_name(place))
    parser.set_defaults(path=tuple(name.split()))
    add_general(parser)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and give its exit status, which `parsing` lists."""
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
    if not words:
        sys.stderr.write(build_parser().format_short())
        return BAD_INPUT
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


class _Finder:
    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in UNUSED else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def load_lazily() -> None:
    """From now on, load what is unused when it is used."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
