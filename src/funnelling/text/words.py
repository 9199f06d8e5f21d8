"""Words to features: stop words dropped, the rest reduced to lemmas or stems, accents folded.

Before the first lookup simplemma decodes all records of a dictionary, often millions, in Python. Here the
records stay as they are. C code indexes them, and decodes a few per lookup. Records and index are mapped from
the user's cache, so that processes share them.
"""

from __future__ import annotations

import logging
import lzma
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import cache, lru_cache, partial
from importlib.metadata import version
from threading import Lock
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from funnelling.errors import InputError
from funnelling.runtime.files import Arrays, from_cache
from funnelling.runtime.threads import raise_if_cancelled
from funnelling.text.alignment import normalised
from funnelling.text.languages import name_among
from funnelling.text.tokens import DOTLESS_LANGUAGES, fold_accents, is_unspaced, lower, placed_words, words

_lemmas: Any
try:
    from funnelling.text import _lemmas  # type: ignore[attr-defined, no-redef]
except ImportError:  # installed where there was no compiler
    _lemmas = None

logger = logging.getLogger(__name__)

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
        name = f"lemmas/{code}-{version('simplemma')}"
        try:
            return from_cache(name, partial(_packed, code), PackedDictionary)
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


# A longer run is no word but data (base64, sequences); the longest forms in dictionaries have 86 letters.
MAX_WORD_CHARACTERS = 100
# So many distinct words of one text are reduced, or fewer if some have more than eight letters: lemmas are
# sought among the beginnings and ends of a word, up to 6 µs per letter.
MAX_REDUCED_WORDS = 15_000
MAX_REDUCED_LETTERS = 8 * MAX_REDUCED_WORDS
# Some 50 MB per language: the cache has most words of a stream, and no stream fills the memory.
MAX_CACHED_WORDS = 200_000

# Vietnamese words, most of them one syllable long, differ by their accents alone.
_ACCENTS_MATTER = frozenset({"vi"})

# The stemmers that Snowball names by language.
_STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


ReduceTo = Literal["lemmas", "stems"]


class LanguageResources(NamedTuple):
    """The resources of a language: what its words are reduced to, and whether it has stop words."""

    reduced_to: ReduceTo | None
    stop_words: bool


def resources(language: str, reduce_to: ReduceTo | None = "lemmas") -> LanguageResources:
    """Return the resources of a language; a regional variant has those of its language.

    >>> resources("pt_BR")
    LanguageResources(reduced_to='lemmas', stop_words=True)
    >>> resources("tlh")
    LanguageResources(reduced_to=None, stop_words=False)
    """
    plan = _plan(language, reduce_to, stop_words=True)
    return LanguageResources(plan.reduce_to, plan.stop_words is not None)


class Analyser:
    """Turn texts of one language into features, each distinct word analysed once.

    Of a text with more than some `MAX_REDUCED_WORDS` distinct words, those that come last stay as they are,
    but for their accents, so that no text takes long.

    Get one from `analyser`, so that all texts of the language share its cache. Threads may share it too.
    """

    def __init__(self, plan: _Plan):
        self._casing = plan.casing
        self._features = _Features(plan)

    def __call__(self, text: str) -> list[str]:
        """Return the features of a text in the order of its words."""
        return list(filter(None, self._features_of(words(text, self._casing))))

    def placed(self, text: str) -> list[tuple[str, int, int]]:
        """Return the same features, each with the start and the end of its word in the text.

        >>> analyser("en").placed("The dogs bark")
        [('dog', 4, 8), ('bark', 9, 13)]
        """
        placed = placed_words(text, self._casing)
        features = self._features_of([word for word, _, _ in placed])
        return [
            (feature, start, end)
            for feature, (_, start, end) in zip(features, placed, strict=True)
            if feature
        ]

    def _features_of(self, found: list[str]) -> Iterable[str]:
        """The feature of each word of a text, empty where it has none."""
        if len(found) <= MAX_REDUCED_LETTERS // MAX_WORD_CHARACTERS:  # whatever their letters
            return map(self._features.__getitem__, found)
        distinct = list(dict.fromkeys(found))
        letters = np.cumsum(
            np.clip(np.fromiter(map(len, distinct), np.intp, len(distinct)), 8, MAX_WORD_CHARACTERS)
        )
        beyond = int(np.searchsorted(letters, MAX_REDUCED_LETTERS, side="right"))
        if beyond == len(distinct):
            return map(self._features.__getitem__, found)
        features = [*map(self._features.__getitem__, distinct[:beyond])]
        features += self._features.unreduced(distinct[beyond:])
        return map(dict(zip(distinct, features, strict=True)).__getitem__, found)


def analyser(
    language: str | None = None,
    *,
    reduce_to: ReduceTo | None = "lemmas",
    stop_words: bool = True,
    fold: bool = True,
) -> Analyser:
    """Return the shared analyser of a language.

    Where a language has no lemmas its words are reduced to stems, or the other way round; without either, or
    without a language, words stay as they are. `fold` removes accents.

    >>> analyser("en")("The dogs were barking at the postmen's café")
    ['dog', 'bark', 'postman', 'cafe']
    >>> analyser("en", reduce_to=None, stop_words=False)("The dogs")
    ['the', 'dogs']
    """
    return _analyser(_plan(language, reduce_to, stop_words=stop_words, fold=fold))


class _Plan(NamedTuple):
    """Which resources to use; languages with equal plans share an analyser."""

    reduce_to: ReduceTo | None = None
    code: str = ""  # of the lemmas or stems
    stop_words: str | None = None
    casing: str | None = None
    fold: bool = True


@lru_cache(maxsize=1024)
def _plan(language: str | None, reduce_to: ReduceTo | None, *, stop_words: bool, fold: bool = True) -> _Plan:
    import stopwordsiso

    if reduce_to not in ("lemmas", "stems", None):
        raise InputError(f"words are reduced to lemmas, stems or None, found {reduce_to!r}.")
    if language is None:
        return _Plan(fold=fold)
    kind, code = _reduction(language, reduce_to) if reduce_to else (None, "")
    return _Plan(
        reduce_to=kind,
        code=code,
        stop_words=name_among(language, stopwordsiso.langs()) if stop_words else None,
        casing=name_among(language, DOTLESS_LANGUAGES),
        fold=fold and name_among(language, _ACCENTS_MATTER) is None,
    )


def _reduction(language: str, preferred: ReduceTo) -> tuple[ReduceTo | None, str]:
    """What the words of a language are reduced to, and the code under which that is found."""
    kinds: tuple[ReduceTo, ...] = ("lemmas", "stems")
    for kind in sorted(kinds, key=preferred.__ne__):
        if code := name_among(language, _languages_with(kind)):
            return kind, code
    return None, ""


def _languages_with(kind: ReduceTo) -> Collection[str]:
    if kind == "lemmas":
        from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

        return SUPPORTED_LANGUAGES
    import snowballstemmer

    return {code for code, name in _STEMMERS.items() if name in snowballstemmer.algorithms()}


_analyser = cache(Analyser)


class _Features(dict[str, str]):
    """From word to feature, filled as words come; a stop word's feature is empty."""

    def __init__(self, plan: _Plan):
        super().__init__()
        self._plan = plan
        self._stop_words = _stop_words(plan.stop_words) if plan.stop_words else frozenset[str]()
        self._reduce = _reducer(plan)
        self._lock = Lock()

    def __missing__(self, word: str) -> str:
        if len(word) > MAX_WORD_CHARACTERS:
            return ""
        raise_if_cancelled()
        with self._lock:  # a stemmer holds the word it works on
            feature = "" if word in self._stop_words else self._reduced(word)
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        self[word] = feature
        return feature

    def _reduced(self, word: str) -> str:
        if is_unspaced(word):  # such scripts have neither lemmas nor stems
            return self._folded(word)
        return self._folded(lower(self._reduce(word), self._plan.casing) or word)

    def unreduced(self, words: list[str]) -> list[str]:
        """The features of words that stay as they are."""
        kept = ["" if len(word) > MAX_WORD_CHARACTERS or word in self._stop_words else word for word in words]
        return self._folded("\n".join(kept)).split("\n")

    def _folded(self, word: str) -> str:
        return fold_accents(word) if self._plan.fold else word


def _reducer(plan: _Plan) -> Callable[[str], str]:
    if plan.reduce_to == "lemmas":
        return lemmatiser(plan.code)
    if plan.reduce_to == "stems":
        import snowballstemmer

        stem: Callable[[str], str] = snowballstemmer.stemmer(_STEMMERS[plan.code]).stemWord
        return stem
    return str


def _stop_words(code: str) -> frozenset[str]:
    import stopwordsiso

    stop_words = [normalised("NFC", word) for word in stopwordsiso.stopwords(code)]
    # Our words end at an apostrophe, so "isn't" comes as "isn" and "t", which are stop words too.
    return frozenset(stop_words).union(*(words(word) for word in stop_words if "'" in word or "’" in word))
