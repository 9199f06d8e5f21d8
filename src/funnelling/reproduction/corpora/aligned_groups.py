"""What reference corpora have in common: every group in every language, with enough words in each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from funnelling.errors import InputError, counted
from funnelling.formats import Document
from funnelling.text.tokens import words

Group = TypeVar("Group", str, tuple[str, str])


def none_left(kind: str, languages: Sequence[str], min_words: int) -> InputError:
    """The refusal where nothing is in all languages."""
    return InputError(
        f"no {kind} has {counted(min_words, 'word')} in all of {', '.join(languages)}. "
        "Ask for fewer --languages or --min-words."
    )


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
