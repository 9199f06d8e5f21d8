"""Errors in what a user gives, one line with place and cure each, and the phrases that such lines share."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class InputError(ValueError):
    """Bad input: a file, a document, a model folder or a parameter that cannot be used.

    The message is one line, names the place and says what to do. The command line prints it and
    exits with status 2.
    """


@contextmanager
def prefix_errors(place: str) -> Iterator[None]:
    """Let a refusal begin with the place that it is about, such as a file.

    >>> with prefix_errors("docs.jsonl"):
    ...     raise InputError("nothing to learn.")
    Traceback (most recent call last):
    funnelling.errors.InputError: docs.jsonl: nothing to learn.
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def join_words(words: Sequence[str]) -> str:
    """Words in a sentence.

    >>> join_words(["naive"]), join_words(["a", "b", "c"])
    ('naive', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def listed(values: Any, what: str) -> Any:
    """Several values, as they were given; one text alone would be taken for its letters."""
    if isinstance(values, str):
        raise InputError(f"{what} is one text. Put it in a list.")
    return values


def did_you_mean(name: str, known: Iterable[str], choose: bool = False) -> str:
    """The end of a refusal: a known name that may be meant; if none is near, all of them to ``choose`` from.

    >>> did_you_mean("trian", ["train", "tune"]), did_you_mean("xyz", ["train"])
    ('. Did you mean train?', '')
    >>> did_you_mean("xyz", ["train", "tune"], choose=True)
    '. Choose from train, tune.'
    """
    known = list(known)
    near = nearest(name, known)
    if near is None:
        return f". Choose from {', '.join(known)}." if choose else ""
    return f". Did you mean {near}?"


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is most like one, in any case, if any is like it."""
    from difflib import get_close_matches

    by_case = {each.casefold(): each for each in known}
    near = get_close_matches(name.casefold(), by_case, n=1, cutoff=cutoff)
    return by_case[near[0]] if near else None


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    >>> counted(1, "label"), counted(2_000, "label")
    ('1 label', '2,000 labels')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    """A text on one line, of as many characters, that tells a terminal nothing else.

    >>> printable("two\\nlines, \\x1b[31mred")
    'two lines, \ufffd[31mred'
    """
    return "".join(map(_printed.__getitem__, text))


class _Printed(dict[str, str]):
    """What stands for each character on a terminal."""

    def __missing__(self, character: str) -> str:
        kept = unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        self[character] = character if kept else " " if character.isspace() else "\ufffd"
        return self[character]


_printed = _Printed()
