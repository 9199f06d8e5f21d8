"""Parsers made of what commands declare: they refuse in one line, and show help short and long."""

import argparse
import logging
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields
from itertools import takewhile
from typing import Any, ClassVar, NoReturn, Self

from funnelling.commands.declaring import DECLARED, Command, Declared, refuse_retired
from funnelling.errors import did_you_mean
from funnelling.runtime.messages import Style, say

FAILED, BAD_INPUT, NEGATIVE_RESULT, INTERRUPTED, TERMINATED = 1, 2, 3, 130, 143  # exit statuses
UP_TO_SEMICOLON = re.compile(r"(?:[^;(]|\([^)]*\)|;(?! ))*")


def define(parser: "Parser", kind: type[Command]) -> None:
    """Let a parser take what a command takes."""
    paragraphs = [" ".join(each.split()) for each in (kind.__doc__ or "").split("\n\n")]
    parser.summary, parser.description = paragraphs[0], " ".join(paragraphs).strip()
    parser.example = examples(kind.examples[:1])
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
        declared: Declared = known[name].metadata[DECLARED]
        place: Any = parser
        if declared.group is not None:
            groups = (each for each in parser._action_groups if each.title == declared.group.title)
            place = next(groups, None) or parser.add_argument_group(*declared.group[:2])
            place.short = declared.group.short
        if declared.exclusive:
            place = exclusive.get(declared.exclusive) or place.add_mutually_exclusive_group()
            exclusive[declared.exclusive] = place
        words, typed = declared.words | {"default": argparse.SUPPRESS}, [name]
        if declared.names is not None:
            words |= {"dest": name, "required": known[name].default is MISSING}
            typed = [f"--{name.replace('_', '-')}", *declared.names]
            typed.sort(key=lambda name: name.startswith("--"))  # help shows short names first
        added = [place.add_argument(*typed, **words)]
        for other, own in declared.also.items():
            added.append(place.add_argument(other, **(words | {"required": False} | own)))
        for action in added:
            action.complete, action.common = declared.complete, declared.common or added[0].required


def command_of(parsed: argparse.Namespace) -> Command:
    """The command that was parsed."""
    names = [each.name for each in fields(parsed.kind)]
    command: Command = parsed.kind(**{name: getattr(parsed, name) for name in names if hasattr(parsed, name)})
    return command


def examples(commands: Sequence[str]) -> str:
    """What help ends with: commands as they could be typed."""
    title = "example:" if len(commands) == 1 else "examples:"
    return "\n".join([title, *(f"  funnelling {command}" for command in commands)]) if commands else ""


class _Help(argparse.HelpFormatter):
    """Wraps a paragraph, and leaves a text of several lines, such as examples, as it is.

    No line ends within a word that has a hyphen, such as fun-tat: it is to be typed. Short help leaves out
    what follows a semicolon.
    """

    short = False

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        for command in self._iter_indented_subactions(action):  # Python 3.11 forgets how far these stand in
            length = len(self._format_action_invocation(command)) + self._current_indent
            self._action_max_length = max(self._action_max_length, length)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        return f"{', '.join(action.option_strings)} {self._format_args(action, action.dest.upper())}"

    def _expand_help(self, action: argparse.Action) -> str:
        text = super()._expand_help(action)
        return UP_TO_SEMICOLON.match(text)[0] if self.short else text  # type: ignore[index]

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return text
        return "\n".join(f"{indent}{line}" for line in self._split_lines(text, width - len(indent)))

    def _split_lines(self, text: str, width: int) -> list[str]:
        import textwrap

        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class _ShowHelp(argparse.Action):
    def __call__(
        self, parser: Any, _namespace: object, _values: object, typed: str | None = None
    ) -> NoReturn:
        print(parser.format_short() if typed == "-h" else parser.format_help(), end="")
        raise SystemExit(0)


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one line, as all bad input is refused.

    ``define`` adds what it takes once that is needed: for a command, its class is loaded for that.
    """

    lenient: ClassVar[bool] = False  # whether parsers miss nothing but a command
    about_help: ClassVar[str] = "show common options, --help all of them"
    summary = example = ""  # how short help begins and ends

    def __init__(
        self,
        formatter_class: Any = _Help,
        define: Callable[["Parser"], None] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(formatter_class=formatter_class, allow_abbrev=False, add_help=False, **options)
        words: dict[str, Any] = {"default": argparse.SUPPRESS, "nargs": 0, "help": self.about_help}
        self.add_argument("-h", "--help", action=_ShowHelp, **words)
        self._define = define
        self._intermixed = False

    def defined(self) -> Self:
        """The parser, with all that it takes."""
        add, self._define = self._define, None
        if add is not None:
            add(self)
        return self

    def format_short(self) -> str:
        """Help with arguments and common options alone; without commands, which all are common."""
        arguments = [each for each in self._actions if not each.option_strings]
        if any(isinstance(each, argparse._SubParsersAction) for each in arguments):
            return self.format_help()
        options = [each for each in self._actions if each.option_strings and getattr(each, "common", False)]
        formatter = _Help(self.prog)
        formatter.short = True
        words = [formatter._format_args(each, str(each.metavar)) for each in arguments]
        words += [f"{each.option_strings[0]} {each.metavar}" for each in options if each.required]
        formatter.add_usage(" ".join([self.prog, *words, "[OPTION …]"]), (), ())
        formatter.add_text(self.summary)
        for title, shown in (("arguments", arguments), ("options", [*options, self._actions[0]])):
            formatter.start_section(title)
            formatter.add_arguments(shown)
            formatter.end_section()
        for group in self._action_groups:
            formatter.add_text(getattr(group, "short", ""))
        formatter.add_text(self.example)
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        see = "" if message.endswith("?") else f". See {self.prog} --help."
        say(f"{message}{see}", logging.ERROR, program=self.prog)
        self.exit(BAD_INPUT)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        if not subcommands(self.defined()):
            for word in takewhile(lambda word: word != "--", words):
                if word.startswith("--") and " " not in word:
                    self._check_option(word.partition("=")[0])
        required = [
            action
            for action in self._actions
            if action.required and not isinstance(action, argparse._SubParsersAction)
        ]
        for action in required:
            action.required = not self.lenient
        arguments = [action for action in self._actions if not action.option_strings]
        between = not self._intermixed and any(action.nargs == "?" for action in arguments)
        between = between and not {"-h", "--help"} & {*words}  # help shows arguments as they are declared
        try:
            if between:  # options may stand between arguments of which one may be left out
                self._intermixed = True
                known, others = super().parse_known_intermixed_args(words, namespace)
            else:
                known, others = super().parse_known_args(words, namespace)
        finally:
            self._intermixed = self._intermixed and not between
            for action in required:
                action.required = True
        if others and not self._intermixed:
            self._check_option(others[0].partition("=")[0])
            self.error(f"{others[0]!r} is one argument too many")
        return known, others

    def _check_option(self, name: str) -> None:
        """Refuse a name that is no option here, with what may be meant."""
        known = self._option_string_actions
        if name.startswith("-") and name not in known:
            refuse_retired(self._command, name)
            self.error(f"no option {name}{did_you_mean(name, known)}")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if isinstance(action, argparse._SubParsersAction) and arg_strings[0] not in action.choices:
            refuse_retired(self._command, *arg_strings)
            self.error(f"no command {arg_strings[0]!r}{did_you_mean(arg_strings[0], action.choices)}")
        return super()._get_values(action, arg_strings)

    @property
    def _command(self) -> str:
        """The words after the name of the program."""
        return self.prog.partition(" ")[2]


def add_general(parser: argparse.ArgumentParser) -> None:
    """What every command takes, before its name or after it: so that neither place has a default."""
    group = parser.add_argument_group("general options")

    def add(*names: str, **options: Any) -> None:
        group.add_argument(*names, default=argparse.SUPPRESS, **options)

    add("-q", "--quiet", action="store_true", help="print errors only")
    add("--log-json", action="store_true", help="log as JSON on standard error")
    add("--config", metavar="FILE", help="read settings from FILE")


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
