"""What reference corpora have in common: every group in every language, with enough words in each."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from funnelling.errors import InputError
from funnelling.formats import Document
from funnelling.report.tables import counted
from funnelling.text.languages import normalise_tag
from funnelling.text.tokens import words

Group = TypeVar("Group", str, tuple[str, str])


class Built(NamedTuple):
    """A corpus, and what was left out of it, in words."""

    documents: list[Document]
    dropped: list[str]


def normal_languages(tags: Iterable[str]) -> tuple[str, ...]:
    """Language tags in their one spelling and in alphabetical order, none twice.

    >>> normal_languages(["pt-br", "IT", "it"])
    ('it', 'pt_BR')
    """
    return tuple(sorted(set(map(normalise_tag, tags))))


def check_folders(sources: Sequence[Path]) -> None:
    """Refuse a source that is no folder."""
    for source in sources:
        if not source.is_dir():
            raise InputError(f"{source}: no such folder. Give the folder of the files as --source.")


def none_left(kind: str, languages: Sequence[str], min_words: int) -> InputError:
    """The refusal where nothing is in all languages."""
    return InputError(
        f"no {kind} has {counted(min_words, 'word')} in all of {', '.join(languages)}. "
        "Ask for fewer --languages or --min-words."
    )


def left_out(*counts: tuple[int, str, str]) -> list[str]:
    """What was left out and why, in words, where it was anything.

    >>> left_out((1, "page", "too short"), (0, "page", "too long"))
    ['1 page too short']
    """
    return [f"{counted(number, noun)} {reason}" for number, noun, reason in counts if number]


def too_short(min_words: int) -> str:
    """The reason why most groups are left out."""
    return f"without {counted(min_words, 'word')} in every language"


def has_words(text: str, language: str, number: int) -> bool:
    """Whether a text has at least so many words."""
    return len(text) >= number and len(words(text, language)) >= number


def groups_in_all(texts: Mapping[str, Mapping[Group, str]], min_words: int) -> list[Group]:
    """The groups that have enough words in every language, in alphabetical order.

    >>> groups_in_all({"en": {"a": "the cat", "b": "the dog"}, "it": {"a": "il gatto", "b": "cane"}}, 2)
    ['a']
    """
    common = set.intersection(*(set(groups) for groups in texts.values()))
    return sorted(
        group
        for group in common
        if all(has_words(groups[group], language, min_words) for language, groups in texts.items())
    )


def documents_of(
    corpus: str, groups: Iterable[str], texts: Mapping[str, Mapping[str, str]]
) -> list[Document]:
    """A document for each group and language.

    >>> [document.id for document in documents_of("help", ["a"], {"en": {"a": "cat"}, "it": {"a": "gatto"}})]
    ['help/a/en', 'help/a/it']
    """
    return [
        Document(f"{corpus}/{group}/{language}", texts[language][group], language=language, group=group)
        for group in groups
        for language in sorted(texts)
    ]
