"""The reference of the commands, from their parsers: a page for each, for the site and for `man`."""

import argparse
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from funnelling.commands import COMMANDS, build_parser
from funnelling.commands.parsing import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    NEGATIVE_RESULT,
    TERMINATED,
    every_parser,
    summaries,
)

SITE = "https://funnelling.github.io/funnelling/"
PROGRAM = "funnelling"
GENERAL = "general options"  # the group that every command has: the program's page alone describes it
STATUS = {
    0: "success",
    FAILED: "an internal error, in one line; `FUNNELLING_DEBUG=1` shows the traceback",
    BAD_INPUT: "bad input, which one line names with its cure",
    NEGATIVE_RESULT: "a negative result: `--require` not reached, or an update that made the model worse",
    INTERRUPTED: "interrupted by Ctrl-C; nothing is left half-written",
    TERMINATED: "ended by SIGTERM, as tidily",
}
CHAPTERS = {  # of the guide, that tell more of a command
    "quickstart": ("first-model",),
    "train": ("own-data", "choosing", "reading-the-table"),
    "predict": ("own-data",),
    "evaluate": ("own-data", "reading-the-table"),
    "explain": ("in-use",),
    "suggest": ("labelling",),
    "audit": ("labelling",),
    "update": ("in-use",),
    "forget": ("in-use",),
    "tune": ("in-use",),
    "relabel": ("in-use",),
    "compare": ("choosing", "reading-the-table"),
    "research": ("experiments", "resources", "reproduction"),
    "inspect": ("in-use",),
    "label": ("labelling", "serving"),
    "serve": ("serving", "deploying"),
    "push": ("sharing",),
    "pull": ("sharing",),
    "completion": ("settings",),
}

SPECIAL = re.compile(r"([\\*`|_<>])")
# In backticks, or an address that is not of a page and so no link.
CODE = re.compile(r"`([^`]+)`|\b((?!https?:)[a-z]+://[\w:./]*\w)")
VALUE = re.compile(r"(\s-\S+) (?!-)")  # the space between an option and its value
DEFINITION = re.compile(r"  (\S+)  +(\S.*)")


@dataclass(frozen=True)
class Command:
    """A command and its parser; ``actions`` are commands of its own."""

    name: str  # "funnelling research build"
    help: str
    parser: argparse.ArgumentParser
    actions: "list[Command]"

    @property
    def page(self) -> str:
        """Its file, without an ending."""
        return self.name.replace(" ", "-")


class Form(Enum):
    """What the pages are for; the value is how wide their synopses and examples are."""

    SITE = 88
    MAN = 68  # beside the margins that `man` adds, within 80 columns

    def link(self, page: str) -> str:
        """A link to the page of a command."""
        return f":manpage:`{page}(1)`" if self is Form.MAN else f":doc:`{page}`"

    def chapter(self, name: str) -> str:
        """A link to a chapter of the guide."""
        return f"{SITE}{name}.html" if self is Form.MAN else f":doc:`/{name}`"


def commands() -> Command:
    """The program, with all its commands."""
    known: dict[tuple[str, ...], Command] = {}
    for path, parser in every_parser(build_parser()):
        if not path:
            known[path] = Command(PROGRAM, "classify documents in many languages", parser, [])
            continue
        *above, name = path
        parent = known[tuple(above)]
        known[path] = Command(f"{parent.name} {name}", summaries(parent.parser)[name], parser, [])
        parent.actions.append(known[path])
    return known[()]


def pages(command: Command) -> Iterator[Command]:
    """Those that have a page: the program and its commands, whose actions stand on theirs."""
    yield command
    yield from command.actions


def man_pages_of(author: str) -> list[tuple[str, str, str, str, int]]:
    """What Sphinx is to make man pages of."""
    return [(f"commands/{each.page}", each.page, each.help, author, 1) for each in pages(commands())]


def write_pages(folder: Path, form: Form) -> None:
    """An index, and a page for each command."""
    program = commands()
    for command in pages(program):
        (folder / f"{command.page}.rst").write_text("\n".join(_page(command, form)), encoding="utf-8")
    listed = [each.page for each in pages(program)]
    index = [
        *_heading("Commands", "="),
        "What ``--help`` says, on a page for each command; ``make man`` makes man pages of the same.",
        "",
        *_list(program, form),
        f"{form.link(PROGRAM)} has what all of them share: general options, environment and exit status.",
        "",
        ".. toctree::",
        "   :hidden:",
        "",
        *(f"   {page}" for page in listed),
        "",
    ]
    (folder / "index.rst").write_text("\n".join(index), encoding="utf-8")


def _page(command: Command, form: Form) -> Iterator[str]:
    yield from _heading(command.name, "=")
    yield from _heading("Synopsis", "-")
    yield from _synopsis(command, form)
    yield from _heading("Description", "-")
    yield from _body(command, "-", form)
    if command.name == PROGRAM:
        yield from _heading("Exit status", "-")
        yield from _definitions((f"``{status}``", meaning) for status, meaning in STATUS.items())
    else:
        for action in command.actions:
            yield from _heading(action.name, "-")
            yield from _synopsis(action, form)
            yield from _body(action, "~", form)
    yield from _heading("See also", "-")
    yield from _see_also(command, form)


def _see_also(command: Command, form: Form) -> Iterator[str]:
    if command.name == PROGRAM:
        yield from (f"- The guide: {form.chapter('guide')}", "")
        return
    yield f"- {form.link(PROGRAM)}: all commands, general options, environment, exit status"
    yield from (f"- {form.chapter(name)}" for name in CHAPTERS[command.name.split()[1]])
    yield ""


def _body(command: Command, underline: str, form: Form) -> Iterator[str]:
    """What a command does, its arguments, group by group, and what its help ends with."""
    parser = command.parser
    last = [paragraph.splitlines() for paragraph in (parser.epilog or "").split("\n\n") if paragraph]
    yield from (_text(parser.description or f"{_capital(command.help)}."), "")
    for line, *more in last:
        if not more:
            yield from (_text(_capital(line)), "")
    yield from (f".. program:: {command.name}", "")
    for group in parser._action_groups:
        if any(isinstance(action, argparse._SubParsersAction) for action in group._group_actions):
            if command.name == PROGRAM:  # the actions of a command follow on its page
                yield from _heading("Commands", underline)
                yield from _list(command, form)
        elif group.title == GENERAL and command.name != PROGRAM:
            yield from (f"Every command also takes the {GENERAL} of {form.link(PROGRAM)}.", "")
        else:
            yield from _group(parser, group, underline)
    for first, *lines in last:
        if lines:
            yield from _heading(_title(first.removesuffix(":")), underline)
            yield from _last_words(lines, form)


def _group(parser: argparse.ArgumentParser, group: argparse._ArgumentGroup, underline: str) -> Iterator[str]:
    if not group._group_actions:
        return
    yield from _heading(_title(group.title or "options"), underline)
    if group.description:
        yield from (_text(group.description), "")
    for action in group._group_actions:
        yield from _argument(parser, action)


def _last_words(lines: list[str], form: Form) -> Iterator[str]:
    """Names with what they mean, or lines that could be typed."""
    definitions = [DEFINITION.fullmatch(line) for line in lines]
    if all(definitions):
        yield from _definitions((f"``{found[1]}``", found[2]) for found in definitions if found)
        return
    yield from (".. code-block:: text", "")
    for line in lines:
        kept = VALUE.sub("\\1\0", line.strip())  # together: textwrap takes \0 for no space
        typed = textwrap.wrap(kept, form.value - 2, break_long_words=False, break_on_hyphens=False)
        yield "   " + " \\\n     ".join(typed).replace("\0", " ")
    yield ""


def _argument(parser: argparse.ArgumentParser, action: argparse.Action) -> Iterator[str]:
    formatter = parser._get_formatter()
    if action.option_strings:
        value = "" if action.nargs == 0 else " " + formatter._format_args(action, _metavar(action))
        names = ", ".join(f"{flag}{value}" for flag in action.option_strings)
    else:
        names = formatter._format_args(action, _metavar(action))
    yield from (f".. option:: {names}", "")
    yield from (f"   {_text(formatter._expand_help(action))}", "")


def _metavar(action: argparse.Action) -> str:
    if action.choices is not None and action.metavar is None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return str(action.metavar or action.dest.upper())


def _synopsis(command: Command, form: Form) -> Iterator[str]:
    """How it is called, in lines of one width whatever the terminal is."""
    parser = command.parser
    general = {
        action for group in parser._action_groups if group.title == GENERAL for action in group._group_actions
    }
    shown = [action for action in parser._actions if command.name == PROGRAM or action not in general]
    formatter = argparse.HelpFormatter(parser.prog, width=form.value)
    formatter.add_usage(parser.usage, shown, parser._mutually_exclusive_groups, prefix="")
    yield from (".. code-block:: text", "")
    yield from (f"   {line}" for line in formatter.format_help().rstrip().splitlines())
    yield ""


def _list(program: Command, form: Form) -> Iterator[str]:
    """Links to the pages of the commands, and what each does."""
    group = ""
    for action in program.actions:
        known = COMMANDS[action.name.partition(" ")[2]].group
        if known != group:
            yield from (f"**{known}**", "")
            group = known
        yield from _definitions([(form.link(action.page), action.help)])


def _definitions(meanings: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in meanings:
        yield from (name, f"   {_text(meaning)}", "")


def _heading(title: str, underline: str) -> tuple[str, ...]:
    return (title, underline * len(title), "")


def _title(name: str) -> str:
    return _capital({"positional arguments": "arguments", "example": "examples"}.get(name, name))


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _text(help_text: str) -> str:
    """A help text as reStructuredText: what stands in backticks is code, and nothing else is markup."""
    pieces = CODE.split(" ".join(help_text.split()))  # a text, and what one of the two groups has found
    return "".join(
        SPECIAL.sub(r"\\\1", piece) if i % 3 == 0 else f"``{piece}``"
        for i, piece in enumerate(pieces)
        if piece
    )
