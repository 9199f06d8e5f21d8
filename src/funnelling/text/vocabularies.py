"""Texts of several languages to vectors: one vocabulary per language, or one for all."""

from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.matrices import Matrix, by_language, sizes_of
from funnelling.plain import clone
from funnelling.runtime.progress import progress_bar
from funnelling.state import expect_matrix
from funnelling.text.languages import known_as
from funnelling.text.tfidf import Places, TfidfVectorizer

Texts = Mapping[str, list[str]]


def fit_own(
    texts: Texts, template: Any = None, shown: bool = False
) -> tuple[dict[str, Any], dict[str, Matrix]]:
    """One vectorizer per language, fitted on its texts, and their vectors.

    ``template`` is a vectorizer to clone, a mapping from languages to such, or None for tf-idf.
    """
    vectorizers = {language: _vectorizer(language, template) for language in texts}
    vectors = {}
    with progress_bar("words", sum(map(len, texts.values())), shown, "documents") as advance:
        for language, of_language in texts.items():
            vectors[language] = vectorizers[language].fit_transform(of_language)
            advance(len(of_language))
    return vectorizers, vectors


def _vectorizer(language: str, template: Any) -> Any:
    if isinstance(template, Mapping):
        template = template.get(known_as(language, template))
    return TfidfVectorizer(language=language) if template is None else clone(template)


def fit_shared(texts: Texts, template: Any = None, shown: bool = False) -> tuple[Any, dict[str, Matrix]]:
    """One vectorizer for all languages, and the vectors of their texts; a word of two languages is one."""
    everything, languages = _together(texts)
    vectorizer = TfidfVectorizer() if template is None else clone(template)
    with progress_bar("words", len(everything), shown, "documents") as advance:
        X = vectorizer.fit_transform(everything, **_languages_for(vectorizer, languages))
        advance(len(everything))
    return vectorizer, by_language(X, sizes_of(texts))


def shared_vectors(vectorizer: Any, language: str, texts: Sequence[str]) -> Matrix:
    """Vectors of one language's texts over the vocabulary of all."""
    vectors: Matrix = vectorizer.transform(texts, **_languages_for(vectorizer, [language] * len(texts)))
    return vectors


def all_shared_vectors(vectorizer: TfidfVectorizer, texts: Texts) -> dict[str, Matrix]:
    """Vectors of several languages' texts over the vocabulary of all."""
    everything, languages = _together(texts)
    return by_language(vectorizer.transform(everything, languages=languages), sizes_of(texts))


def _together(texts: Texts) -> tuple[list[str], list[str]]:
    """The texts of all languages, and the language of each."""
    everything = [text for of_language in texts.values() for text in of_language]
    return everything, [language for language, of_language in texts.items() for _ in of_language]


def _languages_for(vectorizer: Any, languages: Sequence[str]) -> dict[str, Any]:
    """The argument that only our own vectorizer takes: the language of each text."""
    return {"languages": languages} if isinstance(vectorizer, TfidfVectorizer) else {}


def check_vectorizer(vectorizer: Any) -> Matrix:
    """Refuse a fitted vectorizer that could not make vectors; gives one of them.

    What one of the user's holds, only it knows: it is asked about a text of all its words.
    """
    if hasattr(vectorizer, "check_words"):
        example: Matrix = vectorizer.check_words()
        return example
    example = vectorizer.transform([" ".join(map(str, feature_names(vectorizer) or "a"))])
    expect_matrix(example, (1, None), "what a vectorizer says", "biuf")
    return example


def feature_names(vectorizer: Any) -> list[str] | None:
    """What the columns of a vectorizer's vectors stand for, None where they have no names.

    >>> feature_names(None) is None
    True
    """
    names = getattr(vectorizer, "get_feature_names_out", None)
    if getattr(names, "__func__", None) is TfidfVectorizer.get_feature_names_out:
        return list(vectorizer.vocabulary_)  # an array of them would take as long as all else
    return None if names is None else list(names())


def feature_places(vectorizer: Any, text: str, language: str | None = None) -> Places | None:
    """Where a text has a vectorizer's features, None where only a vectorizer of the user's could say.

    ``language`` is that of the text where one vectorizer is for all.
    """
    return vectorizer.places(text, language) if isinstance(vectorizer, TfidfVectorizer) else None
