"""The reference of the commands, from their parsers: a page for each, for the site and for `man`."""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from funnelling.cli import build_parser
from funnelling.cli.parsers import every_parser, summaries

SPECIAL = re.compile(r"([\\*`|_<>])")
CODE = re.compile(r"`([^`]+)`")
WIDTH = 88  # of a synopsis, as wide as a page shows it


@dataclass(frozen=True)
class Command:
    """A command and its parser; ``actions`` are commands of its own."""

    name: str  # "funnelling data build"
    help: str
    parser: argparse.ArgumentParser
    actions: "list[Command]"

    @property
    def page(self) -> str:
        """Its file, without an ending."""
        return self.name.replace(" ", "-")


def commands() -> Command:
    """The program, with all its commands."""
    known: dict[tuple[str, ...], Command] = {}
    for path, parser in every_parser(build_parser()):
        if not path:
            known[path] = Command("funnelling", "classify documents in many languages", parser, [])
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


def write_pages(folder: Path) -> None:
    """An index, and a page for each command."""
    program = commands()
    for command in pages(program):
        (folder / f"{command.page}.rst").write_text("\n".join(_page(command)), encoding="utf-8")
    listed = [each.page for each in pages(program)]
    index = [
        *_heading("Commands", "="),
        "What ``--help`` says, on a page for each command; ``make man`` makes man pages of the same.",
        "",
        *_table(program),
        ".. toctree::",
        "   :hidden:",
        "",
        *(f"   {page}" for page in listed),
        "",
    ]
    (folder / "index.rst").write_text("\n".join(index), encoding="utf-8")


def _page(command: Command) -> Iterator[str]:
    yield from _heading(command.name, "=")
    yield from _heading("Synopsis", "-")
    yield from _synopsis(command)
    yield from _heading("Description", "-")
    yield from _body(command, "-")
    for action in command.actions if command.name != "funnelling" else []:
        yield from _heading(action.name, "-")
        yield from _synopsis(action)
        yield from _body(action, "~")
    yield from _heading("See also", "-")
    if command.name == "funnelling":
        yield from _table(command)
    else:
        yield from (":doc:`funnelling`, with all commands", "")


def _body(command: Command, underline: str) -> Iterator[str]:
    """What a command does, and its arguments, group by group."""
    parser = command.parser
    yield from (_text(parser.description or f"{command.help[:1].upper()}{command.help[1:]}."), "")
    yield from (f".. program:: {command.name}", "")
    for group in parser._action_groups:
        shown = [
            action
            for action in group._group_actions
            if action.help is not argparse.SUPPRESS and not isinstance(action, argparse._SubParsersAction)
        ]
        if not shown:
            continue
        title = {"positional arguments": "arguments"}.get(group.title or "", group.title or "options")
        yield from _heading(f"{title[:1].upper()}{title[1:]}", underline)
        if group.description:
            yield from (_text(group.description), "")
        for action in shown:
            yield from _argument(parser, action)
    for paragraph in (parser.epilog or "").split("\n\n"):
        yield from _last_words(paragraph)


def _last_words(paragraph: str) -> Iterator[str]:
    """A paragraph that help ends with; below a first line, what stays as it is, such as examples."""
    first, *lines = paragraph.splitlines() or [""]
    yield from (_text(f"{first[:1].upper()}{first[1:]}"), "")
    if lines:
        yield from (".. code-block:: text", "", *(f"   {line.removeprefix('  ')}" for line in lines), "")


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


def _synopsis(command: Command) -> Iterator[str]:
    """How it is called, in lines of one width whatever the terminal is."""
    parser = command.parser
    formatter = argparse.HelpFormatter(parser.prog, width=WIDTH)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    yield from (".. code-block:: text", "")
    yield from (f"   {line}" for line in formatter.format_help().rstrip().splitlines())
    yield ""


def _table(command: Command) -> Iterator[str]:
    """Links to the pages of commands, and what each does."""
    yield from (".. list-table::", "   :widths: 30 70", "")
    for action in command.actions:
        yield from (f"   * - :doc:`{action.page}`", f"     - {_text(action.help)}")
    yield ""


def _heading(title: str, underline: str) -> tuple[str, ...]:
    return (title, underline * len(title), "")


def _text(help_text: str) -> str:
    """A help text as reStructuredText: what stands in backticks is code, and nothing else is markup."""
    pieces = CODE.split(" ".join(help_text.split()))
    return "".join(f"``{piece}``" if i % 2 else SPECIAL.sub(r"\\\1", piece) for i, piece in enumerate(pieces))
