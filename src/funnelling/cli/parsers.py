"""The parsers of the commands: how they refuse, what all of them take, and what is in them."""

import argparse
import logging
import sys
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from itertools import takewhile
from typing import Any, NoReturn

from funnelling.errors import InputError
from funnelling.runtime.messages import Style, say

LABELLING = "Run python benchmarks/labelling.py FILE in a clone of the repository."
# What was typed after `funnelling`, without arguments, and one sentence or two that name the replacement.
RETIRED = {
    "--no-config": "Only a file named by --config or FUNNELLING_CONFIG is read. Unset the variable instead.",
    "inspect MODEL MODEL": "Write inspect --json of each model to a file, and compare the files with diff.",
    "embeddings neighbours": "Use gensim: KeyedVectors.load_word2vec_format(FILE).most_similar(WORD).",
    "experiment labelling": LABELLING,
    "experiment --learner": LABELLING,
    "experiment --label-up-to": LABELLING,
    "experiment --steps": LABELLING,
    "train --device": "Fits run on the CPU. Leave the option out.",
    "push --revision": "Write funnelling push MODEL owner/name@branch.",
    "predict --device": "Predictions run on the CPU. Leave the option out.",
}


def refuse_retired(command: str, word: str) -> None:
    """Refuse a retired subcommand or option of a command; "" is the command of general options.

    >>> RETIRED["data describe"] = "Use inspect DATA."
    >>> refuse_retired("data", "describe")
    Traceback (most recent call last):
    funnelling.errors.InputError: 'data describe' is retired. Use inspect DATA.
    >>> del RETIRED["data describe"]
    """
    typed = f"{command} {word}".strip()
    if typed in RETIRED:
        raise InputError(f"'{typed}' is retired. {RETIRED[typed]}")


BAD_INPUT = 2


class _Help(argparse.HelpFormatter):
    """Wraps a paragraph, and leaves a text of several lines, such as examples, as it is.

    No line ends within a word that has a hyphen, such as fun-tat: it is to be typed.
    """

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        for command in self._iter_indented_subactions(action):  # Python 3.11 forgets how far these stand in
            length = len(self._format_action_invocation(command)) + self._current_indent
            self._action_max_length = max(self._action_max_length, length)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return text
        return "\n".join(f"{indent}{line}" for line in self._split_lines(text, width - len(indent)))

    def _split_lines(self, text: str, width: int) -> list[str]:
        import textwrap

        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one line, as all bad input is refused."""

    def __init__(self, formatter_class: Any = _Help, **options: Any) -> None:
        super().__init__(formatter_class=formatter_class, **options)

    def error(self, message: str) -> NoReturn:
        say(f"{message}. See {self.prog} --help.", logging.ERROR, program=self.prog)
        self.exit(BAD_INPUT)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        for word in takewhile(lambda word: word != "--", words):
            if word.startswith("--"):
                refuse_retired(self._command, word.partition("=")[0])
        return super().parse_known_args(words, namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction):
            refuse_retired(self._command, value)
        super()._check_value(action, value)

    @property
    def _command(self) -> str:
        """The words after the name of the program."""
        return self.prog.partition(" ")[2]


def add_general(parser: argparse.ArgumentParser) -> None:
    """What every command takes, before its name or after it: so that neither place has a default."""
    group = parser.add_argument_group("general options")

    def add(name: str, **options: Any) -> None:
        group.add_argument(name, default=argparse.SUPPRESS, **options)

    add("--config", metavar="FILE", help="file of settings, in TOML")
    add("--quiet", action="store_true", help="say nothing on standard error but errors")
    add("--log-json", action="store_true", help="write standard error as JSON, one object per line")


def style_of(parsed: argparse.Namespace) -> Style:
    """How a command is to speak."""
    return Style(getattr(parsed, "quiet", False), getattr(parsed, "log_json", False))


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of a parser's commands, by name."""
    return {name: each for action in _branches(parser) for name, each in action.choices.items()}


def summaries(parser: argparse.ArgumentParser) -> dict[str, str]:
    """What help says of each of a parser's commands."""
    return {each.dest: each.help or "" for action in _branches(parser) for each in action._choices_actions}


def _branches(parser: argparse.ArgumentParser) -> Iterator[Any]:
    return (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))


def every_parser(
    parser: argparse.ArgumentParser, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """A parser and those of all its commands, each with the words that lead to it, such as data, build."""
    yield path, parser
    for name, command in subcommands(parser).items():
        yield from every_parser(command, (*path, name))


def options_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """The options of a parser by their long names, without the dashes."""
    return {
        name.removeprefix("--"): action
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--")
    }


def exclusive_options(parser: argparse.ArgumentParser, action: argparse.Action) -> set[str]:
    """Where the options store that cannot stand beside one, its own place included."""
    groups = [group._group_actions for group in parser._mutually_exclusive_groups]
    return {action.dest, *(other.dest for group in groups if action in group for other in group)}


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
