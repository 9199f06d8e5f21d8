"""Texts of several languages to vectors: a vocabulary for each language, or one for all."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from funnelling.text.tfidf import TfidfVectorizer
from funnelling.work.progress import progress_bar

Texts = Mapping[str, list[str]]
Matrix = Any


def fit_own(texts: Texts, given: Any = None, shown: bool = False) -> tuple[dict[str, Any], dict[str, Matrix]]:
    """A vectorizer for each language, fitted on its texts, and their vectors.

    ``given`` is the user's: one to clone, a mapping from languages to them, or None for tf-idf.
    """
    vectorizers = {language: _vectorizer(language, given) for language in texts}
    vectors = {}
    with progress_bar("words", sum(map(len, texts.values())), shown, "documents") as advance:
        for language, part in texts.items():
            vectors[language] = vectorizers[language].fit_transform(part)
            advance(len(part))
    return vectorizers, vectors


def _vectorizer(language: str, given: Any) -> Any:
    if isinstance(given, Mapping):
        given = given.get(language)
    return TfidfVectorizer(language=language) if given is None else clone(given)


def fit_shared(texts: Texts, given: Any = None, shown: bool = False) -> tuple[Any, dict[str, Matrix]]:
    """One vectorizer for all languages, and the vectors of their texts; a word of two languages is one."""
    everything = [text for part in texts.values() for text in part]
    sizes = [len(part) for part in texts.values()]
    vectorizer = TfidfVectorizer() if given is None else clone(given)
    with progress_bar("words", len(everything), shown, "documents") as advance:
        languages = [language for language, part in texts.items() for _ in part]
        X = vectorizer.fit_transform(everything, **_spoken(vectorizer, languages))
        advance(len(everything))
    ends = np.cumsum(sizes)
    parts = {tag: X[end - size : end] for tag, size, end in zip(texts, sizes, ends, strict=True)}
    return vectorizer, parts


def shared_vectors(vectorizer: Any, language: str, texts: Sequence[str]) -> Matrix:
    """Vectors of one language's texts over the vocabulary of all."""
    return vectorizer.transform(texts, **_spoken(vectorizer, [language] * len(texts)))


def _spoken(vectorizer: Any, languages: Sequence[str]) -> dict[str, Any]:
    """What only our own vectorizer asks for: the language of each text."""
    return {"languages": languages} if isinstance(vectorizer, TfidfVectorizer) else {}
