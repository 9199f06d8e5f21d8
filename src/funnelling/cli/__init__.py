"""The command line: one command a file; each parses, calls one function and prints.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from funnelling.cli import compare, data, evaluate, inspect, predict, quickstart, train
from funnelling.errors import InputError

COMMANDS = (quickstart, train, predict, evaluate, compare, inspect, data)
BAD_INPUT, INTERRUPTED = 2, 130


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, as for all bad input."""
        self.exit(BAD_INPUT, f"{self.prog}: {message}. See {self.prog} --help.\n")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print("funnelling", version("funnelling"))
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = _Parser(
        prog="funnelling",
        description="Classify documents in many languages under one set of labels.",
        epilog="New here? Try: funnelling quickstart",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 is success, 2 bad input, 130 Ctrl-C."""
    parsed = build_parser().parse_args(arguments)
    try:
        parsed.run(parsed)
        sys.stdout.flush()
    except InputError as error:
        print(f"funnelling: {error}", file=sys.stderr)
        return BAD_INPUT
    except MemoryError:
        print("funnelling: out of memory. Train on fewer documents or labels.", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("funnelling: interrupted; nothing was changed that was there before.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough; Python would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
