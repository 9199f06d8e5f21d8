"""Words to features: stop words dropped, the rest reduced to lemmas or stems, accents folded."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection
from functools import cache, lru_cache
from threading import Lock
from typing import Literal, NamedTuple

from funnelling.errors import InputError
from funnelling.text.languages import name_among
from funnelling.text.lemmas import lemmatiser
from funnelling.text.tokens import DOTLESS_LANGUAGES, fold_accents, lower, placed_words, words

# A longer run is no word but data (base64, sequences); the longest forms in dictionaries have 86 letters.
LONGEST_WORD = 100
# Some 50 MB per language: the cache has most words of a stream, and no stream fills the memory.
CACHED_WORDS = 200_000

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

    Get one from `analyser`, so that all texts of the language share its cache. Threads may share it too.
    """

    def __init__(self, plan: _Plan):
        self._casing = plan.casing
        self._features = _Features(plan)

    def __call__(self, text: str) -> list[str]:
        """Return the features of a text in the order of its words."""
        return list(filter(None, map(self._features.__getitem__, words(text, self._casing))))

    def placed(self, text: str) -> list[tuple[str, int, int]]:
        """Return the same features, each with the start and the end of its word in the text.

        >>> analyser("en").placed("The dogs bark")
        [('dog', 4, 8), ('bark', 9, 13)]
        """
        words_with_features = (
            (self._features[word], start, end) for word, start, end in placed_words(text, self._casing)
        )
        return [(feature, start, end) for feature, start, end in words_with_features if feature]


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


@cache
def _analyser(plan: _Plan) -> Analyser:
    return Analyser(plan)


class _Features(dict[str, str]):
    """From word to feature, filled as words come; a stop word's feature is empty."""

    def __init__(self, plan: _Plan):
        super().__init__()
        self._plan = plan
        self._stop_words = _stop_words(plan.stop_words) if plan.stop_words else frozenset[str]()
        self._reduce = _reducer(plan)
        self._lock = Lock()

    def __missing__(self, word: str) -> str:
        if len(word) > LONGEST_WORD:
            return ""
        with self._lock:  # a stemmer holds the word it works on
            feature = "" if word in self._stop_words else self._reduced(word)
        if len(self) >= CACHED_WORDS:
            self.clear()
        self[word] = feature
        return feature

    def _reduced(self, word: str) -> str:
        feature = lower(self._reduce(word), self._plan.casing) or word
        return fold_accents(feature) if self._plan.fold else feature


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

    stop_words = [unicodedata.normalize("NFC", word) for word in stopwordsiso.stopwords(code)]
    # Our words end at an apostrophe, so "isn't" comes as "isn" and "t", which are stop words too.
    return frozenset(stop_words).union(*(words(word) for word in stop_words if "'" in word or "’" in word))
