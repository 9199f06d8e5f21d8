"""Settings: what a file and the environment say where the command line does not.

A file has the names of the options. Those at its top are for every command that has them, those of a table
for the command of that name. It is checked as the command line is, by the same parsers.
"""

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from funnelling.commands.declaring import RETIRED
from funnelling.commands.parsing import Parser, every_parser, exclusive_options, options_of, subcommands
from funnelling.errors import InputError, did_you_mean
from funnelling.runtime.messages import CONFIG, JOBS, TOKEN

MAX_FILE_BYTES = 2**20  # bytes of a file
NOT_IN_FILES = frozenset(["help", "version", "config"])
HELP = {"-h", "--help"}


class ConfigValue(NamedTuple):
    """A setting: its name, what it sets, what stands for it on a command line, and where it was made."""

    name: str
    action: argparse.Action
    words: tuple[str, ...]
    place: str


def parse(parser: Parser, words: Sequence[str]) -> tuple[argparse.Namespace, list[ConfigValue]]:
    """The command that was typed, with what a file and the environment add to it; and those settings."""
    if not HELP.isdisjoint(words):
        parser.parse_args(words)  # shows help and leaves, with options required that a file could set
    Parser.lenient = True  # parsers miss nothing but a command, of whose settings nothing could be said
    try:
        given = parser.parse_args(words)
        command = parser
        for name in given.path:
            command = subcommands(command)[name]
        settings = {
            dest: setting
            for dest, setting in _settings(parser, command, given).items()
            if not any(hasattr(given, rival) for rival in exclusive_options(command, setting.action))
        }
        values = _values(command, settings)
    finally:
        Parser.lenient = False
    for dest in values:
        settings[dest].action.required = False
    command.set_defaults(**values)
    return parser.parse_args(words), list(settings.values())


def told(refusal: str, settings: Sequence[ConfigValue]) -> str:
    """A refusal, after the places of the settings whose name or value is in it: nobody typed them."""

    def is_meant(setting: ConfigValue) -> bool:
        values = (word.partition("=")[2] for word in setting.words)
        named = re.search(rf"--{re.escape(setting.name)}(?![\w-])", refusal)
        return named is not None or any(repr(value) in refusal for value in values if value)

    named = [each.place for each in settings if is_meant(each)]
    return f"{', '.join(named)}: {refusal}" if named else refusal


def _settings(parser: Parser, command: Parser, given: argparse.Namespace) -> dict[str, ConfigValue]:
    """What the file and the environment say of a command, by what it sets."""
    settings: dict[str, ConfigValue] = {}
    path = getattr(given, "config", None) or os.environ.get(CONFIG)
    layers = list(_File(path, parser).layers(given.path)) if path else []
    jobs = options_of(command).get("jobs")
    if jobs is not None and os.environ.get(JOBS):
        layers.append(ConfigValue("jobs", jobs, (f"--jobs={os.environ[JOBS]}",), JOBS))
    for setting in layers:
        dest = setting.action.dest
        if setting.words:
            for rival in exclusive_options(command, setting.action):
                settings.pop(rival, None)
            settings[dest] = setting
        elif dest in settings and settings[dest].name == setting.name:
            del settings[dest]  # what stood above it is off again
    if TOKEN in os.environ:
        settings.pop("token_file", None)
    return settings


def _values(command: Parser, settings: Mapping[str, ConfigValue]) -> dict[str, Any]:
    """The values of settings, read as if they had been typed."""
    command.exit_on_error = False  # but raise it, for the line to name the place
    try:
        read = command.parse_args([word for setting in settings.values() for word in setting.words])
    except argparse.ArgumentError as error:
        names = (error.argument_name or "").split("/")
        place = next(each.place for each in settings.values() if f"--{each.name}" in names)
        raise InputError(f"{place}: {error.message}. See {command.prog} --help.") from None
    finally:
        command.exit_on_error = True
    return {dest: getattr(read, dest) for dest in settings}


class _File:
    """A file of settings, which names no command and no option that there is not."""

    def __init__(self, path: str, parser: Parser) -> None:
        import tomllib

        self.path, self.parser = path, parser
        self.commands = dict(every_parser(parser))
        try:
            with open(path, "rb") as file:
                content = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(f"{path}: {reason}. Name a file of settings, or none.") from None
        if len(content) > MAX_FILE_BYTES:
            raise InputError(f"{path}: more than {MAX_FILE_BYTES:,} bytes are no settings. Check the path.")
        try:
            self.text = content.decode("utf-8-sig")
            self.table = tomllib.loads(self.text)
        except UnicodeDecodeError:
            raise InputError(f"{path}: not UTF-8. Save it as UTF-8.") from None
        except (ValueError, RecursionError) as error:  # a number may have too many digits, too
            raise InputError(
                f"{path}: not TOML: {str(error) or 'nested too deeply'}. Correct it there."
            ) from None
        self._check_names(self.table, ())

    def layers(self, path: tuple[str, ...]) -> Iterator[ConfigValue]:
        """The settings for a command, those of its own table last."""
        options, table = options_of(self.commands[path]), self.table
        for depth in range(len(path) + 1):
            commands = subcommands(self.commands[path[:depth]])
            settings = [
                self._setting(name, value, options[name], path[:depth])
                for name, value in table.items()
                if name in options and not (isinstance(value, dict) and name in commands)
            ]
            self._check_rivals(settings, path)
            yield from settings
            table = table.get(path[depth], {}) if depth < len(path) else {}
            if not isinstance(table, dict):  # an option that is called like a command
                return

    def _check_rivals(self, settings: Sequence[ConfigValue], path: tuple[str, ...]) -> None:
        """Refuse two settings of a table that exclude each other: neither stands above the other."""
        for one, other in combinations((setting for setting in settings if setting.words), 2):
            if other.action.dest in exclusive_options(self.commands[path], one.action):
                raise InputError(f"{other.place}: cannot stand beside {one.name}. Leave one of them out.")

    def _check_names(self, table: Mapping[str, Any], path: tuple[str, ...]) -> None:
        below = [command for other, command in self.commands.items() if other[: len(path)] == path]
        options = {name for command in below for name in options_of(command)}.difference(NOT_IN_FILES)
        commands = subcommands(self.commands[path])
        for name, value in table.items():
            if isinstance(value, dict) and name in commands:
                self._check_names(value, (*path, name))
            elif name in options:
                continue  # what it takes is checked where it is used
            elif name in commands:
                header = ".".join([*path, name])
                raise InputError(
                    f"{self._place(name, path)}: {name} is a command. Write its options below [{header}]."
                )
            elif isinstance(value, dict):
                raise InputError(self._unknown(name, path, "command", {*commands}))
            else:
                raise InputError(self._unknown(name, path, "option", options))

    def _unknown(self, name: str, path: tuple[str, ...], what: str, known: set[str]) -> str:
        program, place = " ".join([self.parser.prog, *path]), self._place(name, path)
        if f"--{name}" in RETIRED:
            return f"{place}: {name} is now {RETIRED[f'--{name}']}"
        hint = did_you_mean(name.replace("_", "-"), sorted(known)) or f". See {program} --help."
        return f"{place}: {program} has no {what} of this name{hint}"

    def _setting(self, name: str, value: Any, action: argparse.Action, path: tuple[str, ...]) -> ConfigValue:
        place = self._place(name, path)
        several = isinstance(value, list) and isinstance(action, argparse._AppendAction)
        words = [self._word(name, each, action, place) for each in (value if several else [value])]
        return ConfigValue(name, action, tuple(word for word in words if word), place)

    def _word(self, name: str, value: Any, action: argparse.Action, place: str) -> str:
        """A value as it would be typed; nothing for a switch that is off."""
        switch = action.nargs == 0
        if isinstance(value, bool) and (switch or action.nargs == "?"):
            return f"--{name}" if value else ""
        if not switch and isinstance(value, str | int | float) and not isinstance(value, bool):
            return f"--{name}={value}"
        takes = "true or false" if switch else "a number, or a text in quotes"
        if isinstance(action, argparse._AppendAction):
            takes = f"{takes}, or a list of them"
        raise InputError(f"{place}: {name} takes {takes}, not {_shown(value)}. Correct it there.")

    def _place(self, name: str, path: tuple[str, ...]) -> str:
        """The file, the line if it can be told, and the key with its table."""
        key = ".".join([*path, name])
        table: tuple[str, ...] = ()
        for number, line in enumerate(self.text.splitlines(), 1):
            header = re.match(r"\s*\[([^\[\]]+)\]", line)
            if header:
                table = tuple(part.strip(" \t\"'") for part in header[1].split("."))
                here = table == (*path, name)
            else:
                start = re.match(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*[.=]""", line)
                here = start is not None and table == path and name in start.groups()
            if here:
                return f"{self.path}:{number}: {key}"
        return f"{self.path}: {key}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        from funnelling.formats.document import quoted

        return quoted(value)
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else str(value)
