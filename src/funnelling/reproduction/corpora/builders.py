"""What all builders of corpora share: what they give, and what they ask of their options."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from funnelling.errors import InputError, counted
from funnelling.formats import Document
from funnelling.text.languages import normalise_tag

# How often something was left out: a noun, and the reason.
OmissionCounts = Counter[tuple[str, str]]


class BuiltCorpus(NamedTuple):
    """A corpus, and what was left out of it, in words."""

    documents: list[Document]
    omissions: list[str]


def normal_languages(tags: Iterable[str]) -> tuple[str, ...]:
    """Language tags in their one spelling and in alphabetical order, none twice.

    >>> normal_languages(["pt-br", "IT", "it"])
    ('it', 'pt_BR')
    """
    return tuple(sorted(set(map(normalise_tag, tags))))


def language_of(tag: str) -> str | None:
    """The one spelling of a language tag, None where it is no language tag.

    >>> language_of("pt-br"), language_of("not a tag")
    ('pt_BR', None)
    """
    try:
        return normalise_tag(tag)
    except InputError:
        return None


def check_folders(sources: Sequence[Path]) -> None:
    """Refuse a source that is no folder."""
    for source in sources:
        if not source.is_dir():
            raise InputError(f"{source}: no such folder. Give the folder of the files as --source.")


def most_frequent(labels: Iterable[Iterable[str]], number: int) -> list[str]:
    """The labels that most documents have; of equals the first by name.

    >>> most_frequent([["b", "a"], ["b"], ["c"]], 2)
    ['b', 'a']
    """
    counts = Counter(label for document in labels for label in document)
    return sorted(counts, key=lambda label: (-counts[label], label))[:number]


def omissions_in_words(*counts: tuple[int, str, str]) -> list[str]:
    """What was left out and why, where it was anything.

    >>> omissions_in_words((1, "page", "too short"), (0, "page", "too long"))
    ['1 page too short']
    """
    return [f"{counted(number, noun)} {reason}" for number, noun, reason in counts if number]
