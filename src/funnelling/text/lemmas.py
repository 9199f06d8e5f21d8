"""Words to lemmas, by simplemma's rules over its dictionaries.

A packed dictionary of millions of words takes seconds to read, and much memory. As a trie in the user's cache
it is mapped within milliseconds, and processes share it. simplemma has tries too; each process reads a copy.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

from funnelling.work.cache import from_cache

LARGE = 500_000  # words whose preparation takes long enough to be told

logger = logging.getLogger(__name__)


@cache
def lemmatiser(code: str) -> Callable[[str], str]:
    """What gives the lemma of a word; a word that simplemma does not know comes back in lower case.

    >>> lemmatiser("en")("postmen")
    'postman'
    """
    from simplemma import Lemmatizer
    from simplemma.strategies import DefaultStrategy

    strategy = DefaultStrategy(dictionary_factory=_Factory())
    lemmatizer = Lemmatizer(cache_max_size=0, lemmatization_strategy=strategy)
    return lambda word: lemmatizer.lemmatize(word, code)


class _Factory:
    """Hands simplemma the dictionary that it asks for with every word; the first word opens it."""

    def __init__(self) -> None:
        self._words: Mapping[str, str] | None = None

    def get_dictionary(self, lang: str) -> Mapping[str, str]:
        if self._words is None:
            with _opening:  # what one thread prepares, another waits for
                self._words = self._words or dictionary(lang)
        return self._words


_opening = Lock()


def dictionary(code: str) -> Mapping[str, str]:
    """From word to lemma: mapped from the cache, which gets it when it is first needed.

    Where nothing can be cached, the packed dictionary is read.
    """
    from simplemma.strategies.dictionaries import StreamDictionaryFactory

    name = f"lemmas/{code}-{version('simplemma')}.trie"
    try:
        return from_cache(name, partial(_write_trie, code), MappedDictionary)
    except Exception as error:  # a cache is never worth failing
        logger.debug("The lemmas of %s cannot be cached: %s", code, error)
        return StreamDictionaryFactory(cache_max_size=1).get_dictionary(code)


class MappedDictionary(Mapping[str, str]):
    """A dictionary in a file, which is read as words are looked up."""

    def __init__(self, path: Path) -> None:
        from marisa_trie import BytesTrie

        if not path.stat().st_size:  # of an empty file marisa makes an empty trie
            raise OSError(f"{path} is empty")
        self._trie: Any = BytesTrie().mmap(str(path))

    def get(self, word: str, default: Any = None) -> Any:
        try:
            lemmas = self._trie.get(word)
            return lemmas[0].decode() if lemmas else default
        except (UnicodeError, SystemError):  # what marisa makes of a NUL, of half a surrogate, of damage
            return default

    def __getitem__(self, word: str) -> str:
        lemma: str = self._trie[word][0].decode()
        return lemma

    def __iter__(self) -> Iterator[str]:
        yield from self._trie.iterkeys()

    def __len__(self) -> int:
        return len(self._trie)


def _write_trie(code: str, path: Path) -> None:
    from marisa_trie import BytesTrie
    from simplemma.strategies.dictionaries import DefaultDictionaryFactory

    words = DefaultDictionaryFactory(cache_max_size=1).get_dictionary(code)
    if len(words) > LARGE:
        logger.info("Preparing the lemmas of %s, once.", code)
    BytesTrie((word, lemma.encode()) for word, lemma in words.items()).save(str(path))
