"""Words to lemmas, by simplemma's rules over its dictionaries.

Before the first lookup simplemma decodes all records of a dictionary, often millions, in Python. Here the
records stay as they are. C code indexes them, and decodes a few per lookup. Records and index are mapped from
the user's cache, so that processes share them.
"""

from __future__ import annotations

import logging
import lzma
import mmap
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from funnelling.runtime.files import arrays_in, from_cache

_lemmas: Any
try:
    from funnelling.text import _lemmas  # type: ignore[attr-defined, no-redef]
except ImportError:  # installed where there was no compiler
    _lemmas = None

logger = logging.getLogger(__name__)

Arrays = dict[str, npt.NDArray[np.generic]]

REVERSED = 1  # the flag of a dictionary whose words and lemmas are stored from their ends
FLAGS = 5  # where a dictionary has its flags, after the name of its format


class Dictionary(Protocol):
    """Lemmas by word, as far as simplemma asks for them."""

    def get(self, word: str, /) -> str | None:
        """Return the lemma of a word, None for a word that is not there."""


@cache
def lemmatiser(code: str) -> Callable[[str], str]:
    """Return a function from a word to its lemma; a word that simplemma lacks comes back in lower case.

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
        self._words: Dictionary | None = None

    def get_dictionary(self, lang: str) -> Any:
        if self._words is None:
            with _opening:  # what one thread opens, another waits for
                self._words = self._words or dictionary(lang)
        return self._words


_opening = Lock()


def dictionary(code: str) -> Dictionary:
    """Return the dictionary of a language, mapped from the cache, which gets it when it is first needed.

    Where nothing can be cached, it is in memory. It is simplemma's own where the package was built without a
    compiler, and where its format is unknown.

    >>> dictionary("en").get("postmen")
    'postman'
    """
    from simplemma.strategies.dictionaries import StreamDictionaryFactory

    if _lemmas is not None:
        name = f"lemmas/{code}-{version('simplemma')}.safetensors"
        try:
            return from_cache(name, partial(_write, code), _map)
        except Exception as error:  # a cache is never worth failing
            logger.debug("The lemmas of %s cannot be cached: %s", code, error)
        with suppress(ValueError):
            return PackedDictionary(_packed(code))
    return StreamDictionaryFactory(cache_max_size=1).get_dictionary(code)


def _packed(code: str) -> Arrays:
    """A dictionary as simplemma has it, decompressed, and its index."""
    from simplemma.strategies.dictionaries.dictionary_factory import DATA_FOLDER

    with lzma.open(DATA_FOLDER / f"{code}.plzma") as file:
        records = file.read()
    arrays = {"records": records, "index": _lemmas.index(records)}
    return {name: np.frombuffer(content, np.uint8) for name, content in arrays.items()}


def _write(code: str, path: Path) -> None:
    from safetensors.numpy import save

    path.write_bytes(save(_packed(code)))


def _map(path: Path) -> PackedDictionary:
    with open(path, "rb") as file:
        return PackedDictionary(arrays_in(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))


class PackedDictionary:
    """Lemmas by word, decoded as words are looked up.

    Parameters
    ----------
    arrays
        The dictionary of simplemma, decompressed, as ``records``, and its ``index``; both of bytes.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._records, self._index = (memoryview(arrays[name]) for name in ("records", "index"))  # type: ignore[arg-type]
        self._step = -1 if self._records[FLAGS] & REVERSED else 1

    def get(self, word: str, /) -> str | None:
        """Return the lemma of a word, None for a word that is not there."""
        try:
            stored = word.encode()[:: self._step]
            lemma: bytes | None = _lemmas.lemma(self._records, self._index, stored)
            return None if lemma is None else lemma[:: self._step].decode()
        except ValueError:  # half a surrogate, which JSON can spell; damage
            return None
