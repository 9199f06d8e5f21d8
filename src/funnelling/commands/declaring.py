"""Commands as data: a frozen class each, whose fields are its arguments and options.

The parser, the file of settings, completion, help and the signature in Python are all made of these fields.
"""

import argparse
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from itertools import takewhile
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, NoReturn, Self, dataclass_transform

from funnelling.errors import InputError
from funnelling.runtime.messages import Reporter, Style, say, silent

DECLARED = "declared"  # in the metadata of a field
HIDDEN = argparse.SUPPRESS  # as the help of what is not shown


class Group(NamedTuple):
    """A group of options in help."""

    title: str
    description: str | None = None


Complete = str | Callable[[], Iterable[str]]  # what completes a value: a kind of things, or names


class _Declared(NamedTuple):
    """How a field is given on a command line.

    An argument has no ``names``; those of an option stand beside its long one, which is the field's. Options
    with the same word in ``exclusive`` exclude each other. ``complete`` says what completes the value, where
    its metavar does not. ``also`` are further names that set the field, each with the words for argparse that
    are its own; ``words`` are those of all. Short help shows what is ``common``. An argument that is
    ``first`` may be left out, and stands before one that is needed: ``[MODEL] DATA``.
    """

    names: tuple[str, ...] | None
    words: dict[str, Any]
    group: Group | None = None
    exclusive: str = ""
    complete: Complete = ""
    also: Mapping[str, dict[str, Any]] = MappingProxyType({})
    common: bool = False
    first: bool = False


def option(
    meaning: str,
    metavar: str | None = None,
    *names: str,
    default: Any = MISSING,
    group: Group | None = None,
    exclusive: str = "",
    complete: Complete = "",
    also: Mapping[str, dict[str, Any]] = MappingProxyType({}),
    common: bool = False,
    **words: Any,
) -> Any:
    """A field that is an option with a value; without a default it is required."""
    words |= {"help": meaning, **({} if metavar is None else {"metavar": metavar})}
    declared = _Declared(names, words, group, exclusive, complete, also, common)
    return field(default=default, metadata={DECLARED: declared})


def flag(meaning: str, **words: Any) -> Any:
    """A field that is an option without a value, off by default."""
    return option(meaning, **{"default": False, "action": "store_true", **words})


def argument(
    meaning: str,
    metavar: str,
    *,
    default: Any = MISSING,
    complete: Complete = "",
    first: bool = False,
    **words: Any,
) -> Any:
    """A field that is an argument, on a command line and in Python; ``first`` is that of `_Declared`."""
    words |= {"help": meaning, "metavar": metavar, **({"nargs": "?"} if first else {})}
    declared = _Declared(None, words, complete=complete, common=True, first=first)
    return field(default=default, kw_only=False, metadata={DECLARED: declared})


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(argument, option))
class Command:
    """A command, or options that several commands share.

    The docstring is the description in its help, which ends with ``epilog`` and ``examples``.
    """

    examples: ClassVar[tuple[str, ...]] = ()
    epilog: ClassVar[str] = ""
    own: ClassVar[tuple[str, ...]] = ()  # the fields that a class adds to those of its bases

    def __init_subclass__(cls) -> None:
        cls.own = tuple(name for name, value in vars(cls).items() if isinstance(value, Field))
        dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)

    def run(self, report: Reporter = silent, verbose: int = 0) -> Any:
        """Do the work; ``report`` gets a line on each step, ``verbose`` above 0 shows progress bars."""
        raise NotImplementedError

    def show(self, result: Any) -> None:
        """Print what `run` gave."""


class NegativeResultError(InputError):
    """A result that is not what was asked for; it is shown all the same, before the message."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


def define(parser: argparse.ArgumentParser, kind: type[Command]) -> None:
    """Let a parser take what a command takes."""
    parser.description = " ".join((kind.__doc__ or "").split())
    parser.epilog = "\n\n".join(filter(None, (kind.epilog, examples(kind.examples))))
    add_options(parser, kind)
    parser.set_defaults(kind=kind)


def add_options(parser: argparse.ArgumentParser, kind: type[Command]) -> None:
    """Add the fields of a command to a parser: its arguments, its own options, then those that it shares."""
    known = {each.name: each for each in fields(kind) if DECLARED in each.metadata}  # type: ignore[arg-type]
    names = [name for name, each in known.items() if each.metadata[DECLARED].names is None]
    names.sort(key=lambda name: not known[name].metadata[DECLARED].first)
    names += [name for base in kind.__mro__ for name in getattr(base, "own", ())]
    exclusive: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        declared: _Declared = known[name].metadata[DECLARED]
        place: Any = parser
        if declared.group is not None:
            groups = (each for each in parser._action_groups if each.title == declared.group.title)
            place = next(groups, None) or parser.add_argument_group(*declared.group)
        if declared.exclusive:
            place = exclusive.get(declared.exclusive) or place.add_mutually_exclusive_group()
            exclusive[declared.exclusive] = place
        words, typed = declared.words | {"default": argparse.SUPPRESS}, [name]
        if declared.names is not None:
            words |= {"dest": name, "required": known[name].default is MISSING}
            typed = [f"--{name.replace('_', '-')}", *declared.names]
            typed.sort(key=lambda name: name.startswith("--"))  # help shows short names first
        place.add_argument(*typed, **words).complete = declared.complete
        for other, own in declared.also.items():
            place.add_argument(other, **(words | {"required": False} | own)).complete = declared.complete


def command_of(parsed: argparse.Namespace) -> Command:
    """The command that was parsed."""
    names = [each.name for each in fields(parsed.kind)]
    command: Command = parsed.kind(**{name: getattr(parsed, name) for name in names if hasattr(parsed, name)})
    return command


def run(command: Command) -> None:
    """Run a command, and print its result."""
    try:
        command.show(command.run(say, verbose=1))
    except NegativeResultError as error:
        command.show(error.result)
        raise


def examples(commands: Sequence[str]) -> str:
    """What help ends with: commands as they could be typed."""
    title = "example:" if len(commands) == 1 else "examples:"
    return "\n".join([title, *(f"  funnelling {command}" for command in commands)]) if commands else ""


LABELLING = "Run python benchmarks/labelling.py FILE in a clone of the repository."
# What was typed after `funnelling`, without arguments, and one sentence or two that name the replacement.
RETIRED = {
    "suggest": "It is now: funnelling predict MODEL DATA (assign labels), or funnelling label MODEL DATA "
    "--to FILE (documents to label next).",
    "add-language": "It is now: funnelling update MODEL DATA.",
    "--no-config": "Only a file named by --config or FUNNELLING_CONFIG is read. Unset the variable instead.",
    "inspect MODEL MODEL": "Write inspect --json of each model to a file, and compare the files with diff.",
    "embeddings neighbours": "Use gensim: KeyedVectors.load_word2vec_format(FILE).most_similar(WORD).",
    "label --label-set": "Write --labels FILE.",
    "label --output": "Write --save MODEL.",
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


FAILED, BAD_INPUT, NEGATIVE_RESULT, INTERRUPTED, TERMINATED = 1, 2, 3, 130, 143  # exit statuses


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
    """A parser that refuses in one line, as all bad input is refused.

    ``define`` adds what it takes once that is needed: for a command, its class is loaded for that.
    """

    lenient: ClassVar[bool] = False  # whether parsers miss nothing but a command

    def __init__(
        self,
        formatter_class: Any = _Help,
        define: Callable[["Parser"], None] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(formatter_class=formatter_class, allow_abbrev=False, **options)
        self._define = define
        self._intermixed = False

    def defined(self) -> Self:
        """The parser, with all that it takes."""
        add, self._define = self._define, None
        if add is not None:
            add(self)
        return self

    def error(self, message: str) -> NoReturn:
        say(f"{message}. See {self.prog} --help.", logging.ERROR, program=self.prog)
        self.exit(BAD_INPUT)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        for word in takewhile(lambda word: word != "--", words):
            if word.startswith("--"):
                refuse_retired(self._command, word.partition("=")[0])
        required = [
            action
            for action in self.defined()._actions
            if action.required and not isinstance(action, argparse._SubParsersAction)
        ]
        for action in required:
            action.required = not self.lenient
        arguments = [action for action in self._actions if not action.option_strings]
        between = not self._intermixed and any(action.nargs == "?" for action in arguments)
        try:
            if not between:
                return super().parse_known_args(words, namespace)
            self._intermixed = True  # options may stand between arguments of which one may be left out
            return super().parse_known_intermixed_args(words, namespace)
        finally:
            self._intermixed = self._intermixed and not between
            for action in required:
                action.required = True

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


def subcommands(parser: argparse.ArgumentParser) -> dict[str, Parser]:
    """The parsers of a parser's commands, by name."""
    return {name: each for action in _branches(parser) for name, each in action.choices.items()}


def summaries(parser: argparse.ArgumentParser) -> dict[str, str]:
    """What help says of each of a parser's commands."""
    return {each.dest: each.help or "" for action in _branches(parser) for each in action._choices_actions}


def _branches(parser: argparse.ArgumentParser) -> Iterator[Any]:
    return (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))


def every_parser(parser: Parser, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Parser]]:
    """A parser and those of all its commands, each with the words that lead to it, such as data, build."""
    yield path, parser.defined()
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
