"""Commands as data: a frozen class each, whose fields are its arguments and options.

The parser, the file of settings, completion, help and the signature in Python are all made of these fields.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, dataclass_transform

from funnelling.errors import InputError
from funnelling.runtime.messages import Reporter, say, silent

DECLARED = "declared"  # in the metadata of a field


class Group(NamedTuple):
    """A group of options in help; ``short`` is what short help says in their place."""

    title: str
    description: str | None = None
    short: str = ""


Complete = str | Callable[[], Iterable[str]]  # what completes a value: a kind of things, or names


class Declared(NamedTuple):
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
    declared = Declared(names, words, group, exclusive, complete, also, common)
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
    """A field that is an argument, on a command line and in Python; ``first`` is that of `Declared`."""
    words |= {"help": meaning, "metavar": metavar, **({"nargs": "?"} if first else {})}
    declared = Declared(None, words, complete=complete, common=True, first=first)
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


def run(command: Command) -> None:
    """Run a command, and print its result."""
    try:
        command.show(command.run(say, verbose=1))
    except NegativeResultError as error:
        command.show(error.result)
        raise


# What was typed after `funnelling`, without arguments or values, and what is typed now. An option without a
# command is one of all commands.
RETIRED = {
    "suggest": "funnelling predict MODEL DATA (assign labels), or funnelling label MODEL DATA --to FILE "
    "(documents to label next)",
    "add-language": "funnelling update MODEL DATA",
    "experiment": "funnelling research experiment NAME",
    "data describe": "funnelling inspect DATA",
    "data list": "funnelling research corpora",
    "data build": "funnelling research build NAME -o FILE",
    "data": "funnelling inspect DATA, funnelling research corpora, or funnelling research build",
    "embeddings": "funnelling research vectors REFERENCE -o DIR",
    "embeddings build": "funnelling research vectors REFERENCE -o DIR",
    "label --label-set": "--labels FILE",
    "label --output": "--save MODEL",
    "--optimise": "--goal GOAL",
    "--optimize": "--goal GOAL",
    "--compact": "--keep nothing",
    "--keep-texts": "--keep texts",
    "--with-documents": "--keep words, or --keep texts",
    "--no-table": "--no-measure",
    "--scores": "--probabilities",
    "--skip-unknown": "the default. Leave the option out",
}


def refuse_retired(command: str, *words: str) -> None:
    """Refuse what a command does not take, if it has moved: what was typed after the command's name.

    >>> refuse_retired("", "data", "list", "--json")
    Traceback (most recent call last):
    funnelling.errors.InputError: 'data list' is now: funnelling research corpora
    """
    for typed in (*(" ".join([command, *words[:length]]).strip() for length in (2, 1)), words[0]):
        if typed in RETIRED:
            raise InputError(f"'{typed}' is now: {RETIRED[typed]}")
