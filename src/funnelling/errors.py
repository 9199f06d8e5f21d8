"""Errors in what a user gives: one line that names the place and the cure."""

from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Bad input: a file, a document, a model folder or a parameter that cannot be used.

    The message is one line, names the place and says what to do. The command line prints it and
    exits with status 2.
    """


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Let a refusal begin with the place that it is about, such as a file.

    >>> with naming("docs.jsonl"):
    ...     raise InputError("nothing to learn.")
    Traceback (most recent call last):
    funnelling.errors.InputError: docs.jsonl: nothing to learn.
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
