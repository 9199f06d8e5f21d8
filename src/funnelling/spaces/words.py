"""Spaces of words and of character n-grams: pooled over all languages, mixed, or each language's own."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import Matrix, Targets, by_language, sizes_of
from funnelling.plain import clone
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.threads import map_threads
from funnelling.spaces.base import Documents, Resources, Space, are_texts, check_one_width, check_texts
from funnelling.state import empty_row, expect, expect_by, numbers
from funnelling.text.characters import CharacterVectorizer, RunLength, Template, Vectorizer
from funnelling.text.languages import is_language
from funnelling.text.tfidf import (
    FeatureSpans,
    TfidfVectorizer,
    check_vectorizer,
    feature_names,
    feature_places,
)


class PooledSpace(Space):
    """Documents as tf-idf vectors over one vocabulary.

    It takes any language: names, numbers and loan words are known in all.
    """

    dense = False
    vectorizer_: Vectorizer | None

    def __init__(self, name: str = "pooled", vectorizer: Template = None, verbose: int = 0) -> None:
        self.name = name
        self.vectorizer = vectorizer
        self.verbose = verbose

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        if not are_texts(documents):
            check_one_width(documents, self.name)
            self.vectorizer_ = None  # the user gave vectors
            return dict(documents)
        self.vectorizer_ = TfidfVectorizer() if self.vectorizer is None else clone(self.vectorizer)
        texts = [text for of_language in documents.values() for text in of_language]
        with progress_bar("words", len(texts), bool(self.verbose), "documents") as advance:
            X = self.vectorizer_.fit_transform(texts, **self._languages(documents))
            advance(len(texts))
        return by_language(X, sizes_of(documents))

    def vectors(self, language: str, documents: Documents) -> Matrix:
        X: Matrix = documents
        if self.vectorizer_ is not None:
            X = self.vectorizer_.transform(documents, **self._languages({language: documents}))
        return self._projected(X)

    def all_vectors(self, documents: Mapping[str, Documents]) -> Mapping[str, Matrix]:
        if not isinstance(self.vectorizer_, TfidfVectorizer):
            return super().all_vectors(documents)
        texts = [text for of_language in documents.values() for text in of_language]
        X = self.vectorizer_.transform(texts, **self._languages(documents))
        return by_language(self._projected(X), sizes_of(documents))

    def _projected(self, words: Any) -> Matrix:
        """Vectors of words in the space: here they are the same."""
        return words  # type: ignore[no-any-return]

    def _languages(self, documents: Mapping[str, Documents]) -> dict[str, list[str]]:
        """The argument that only our own vectorizer takes: the language of each text."""
        if not isinstance(self.vectorizer_, TfidfVectorizer):
            return {}
        return {"languages": [language for language, texts in documents.items() for _ in texts]}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        expect((self.vectorizer_ is None) == (features is not None), "the vocabulary of a space")
        vectors: Matrix = check_vectorizer(self.vectorizer_) if features is None else empty_row(features)
        return vectors

    def feature_names(self) -> Sequence[str] | None:
        return feature_names(self.vectorizer_)

    def places(self, language: str, text: str) -> FeatureSpans | None:
        return feature_places(self.vectorizer_, text, language)

    def serves(self, language: str) -> bool:
        # Vectors of the user's own may come from a language of any name, and mean anything.
        return is_language(language) and getattr(self, "vectorizer_", True) is not None


MIN_NGRAM_LENGTH, MAX_NGRAM_LENGTH = 3, 6  # characters of an n-gram; see the ablation in benchmarks/README.md


class CharacterSpace(PooledSpace):
    """Documents as tf-idf vectors over character n-grams, one vocabulary for all languages.

    For the parameters see `funnelling.text.characters.CharacterVectorizer`.
    """

    def __init__(
        self, length: RunLength = 4, verbose: int = 0, longest: RunLength | None = None, latin: bool = False
    ) -> None:
        super().__init__("characters", CharacterVectorizer(length, longest=longest, latin=latin), verbose)
        self.length = length
        self.longest = longest
        self.latin = latin

    @classmethod
    def as_view(cls, resources: Resources, seed: int) -> Self:  # noqa: ARG003
        return cls(MIN_NGRAM_LENGTH, resources.verbose, MAX_NGRAM_LENGTH, latin=True)

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        check_texts(documents, self.name, "runs of characters")
        return super().fit(documents, targets)


# Each half of a vector has this length: the whole has 1, if neither is empty
HALF_LENGTH = np.float32(np.sqrt(0.5))


class MixedSpace(Space):
    """Documents as tf-idf vectors over words and over character n-grams, one vocabulary for all languages.

    Words are reduced as in ``pooled``, but rare ones stay: what they share with others their characters say.
    """

    dense = False
    words_: PooledSpace
    characters_: CharacterSpace
    _begun: dict[str, Any]
    _jobs: int | None = None

    def __init__(self, verbose: int = 0) -> None:
        self.verbose = verbose

    @classmethod
    def as_view(cls, resources: Resources, seed: int) -> Self:
        space = super().as_view(resources, seed)
        space._begun, space._jobs = resources.begun, resources.n_jobs
        return space

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        """Learn the space, or take it from one of the kind that has learned it from these documents."""
        begun = getattr(self, "_begun", {})
        if not begun or not _are_same(begun["documents"], documents):
            begun |= {"documents": dict(documents), "vectors": self._fit(documents, targets), "space": self}
        self.words_, self.characters_ = begun["space"].words_, begun["space"].characters_
        vectors: Mapping[str, Matrix] = begun["vectors"]
        return vectors

    def _fit(
        self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]
    ) -> Mapping[str, Matrix]:
        check_texts(documents, "mixed", "the vocabulary")
        size = sum(map(len, documents.values()))
        self.words_ = PooledSpace(vectorizer=TfidfVectorizer(min_df=rarest_word(size)))
        self.characters_ = CharacterSpace.as_view(Resources(), 0)
        spaces = (self.words_, self.characters_)
        with progress_bar("words and characters", size, bool(self.verbose), "documents") as advance:
            words, characters = map_threads(lambda each: spaces[each].fit(documents, targets), 2, self._jobs)
            advance(size)
        return {language: _beside(words[language], characters[language]) for language in documents}

    def vectors(self, language: str, documents: Documents) -> Matrix:
        return _beside(
            self.words_.vectors(language, documents), self.characters_.vectors(language, documents)
        )

    def all_vectors(self, documents: Mapping[str, Documents]) -> Mapping[str, Matrix]:
        """Vectors in the space, or those that another space of the kind has made of these documents."""
        begun = getattr(self, "_begun", {})
        vectors: Mapping[str, Matrix]
        asked, vectors = begun.get("asked", ({}, {}))
        if not asked or not _are_same(asked, documents) or begun["space"].words_ is not self.words_:
            words, characters = (half.all_vectors(documents) for half in (self.words_, self.characters_))
            vectors = {language: _beside(words[language], characters[language]) for language in documents}
            if begun:
                begun["asked"] = dict(documents), vectors
        return vectors

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        halves = (self.words_, self.characters_)
        widths = [half.check_space(languages, features).shape[1] for half in halves]
        expect(all(isinstance(half.vectorizer_, TfidfVectorizer) for half in halves), "the halves of a space")
        return empty_row(sum(widths))

    def feature_names(self) -> Sequence[str] | None:
        return [*(self.words_.feature_names() or []), *(self.characters_.feature_names() or [])]

    def places(self, language: str, text: str) -> FeatureSpans | None:
        words, characters = self.words_.places(language, text), self.characters_.places(language, text)
        assert words is not None
        assert characters is not None  # both are of our own vectorizers
        known: Any = self.words_.vectorizer_
        shifted = characters._replace(columns=characters.columns + len(known.vocabulary_))
        return FeatureSpans(*map(np.concatenate, zip(words, shifted, strict=True)))

    def serves(self, language: str) -> bool:
        return is_language(language)


def _are_same(some: Mapping[str, Documents], others: Mapping[str, Documents]) -> bool:
    """Whether these are the very same documents, not only equal ones."""
    return list(some) == list(others) and all(some[tag] is others[tag] for tag in some)


def rarest_word(documents: int) -> int:
    """In how many documents a word must be: where they are few, a word of one says much.

    >>> rarest_word(1_000), rarest_word(10_000), rarest_word(100_000)
    (1, 2, 3)
    """
    return 1 if documents < 2_000 else 2 if documents < 50_000 else 3


def _beside(words: Any, characters: Any) -> Matrix:
    beside: Matrix = sparse.hstack([words * HALF_LENGTH, characters * HALF_LENGTH], format="csr")
    return beside


# The weight of a language, a column of its own, beside 1 for all features of a document
LANGUAGE_WEIGHT = 0.5


class OwnMixedSpace(MixedSpace):
    """The features of ``mixed``, a set for each language: what they mean there, whatever they mean elsewhere.

    Beside ``mixed`` that is Daumé's feature augmentation ("Frustratingly easy domain adaptation", 2007), but
    with classifiers apart, so that tier 2 can say how far each of them is to be trusted. All languages have
    one calibration, which sixty documents of one language could not teach.
    """

    columns_: dict[str, Annotated[npt.NDArray[np.intp], numbers(None, kinds="i", least=0)]]

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        shared = super().fit(documents, targets)
        self.columns_ = {
            language: np.unique(_rows(X).indices).astype(np.intp) for language, X in shared.items()
        }
        return {language: self._own(language, X) for language, X in shared.items()}

    def vectors(self, language: str, documents: Documents) -> Matrix:
        return self._own(language, super().vectors(language, documents))

    def all_vectors(self, documents: Mapping[str, Documents]) -> Mapping[str, Matrix]:
        return {tag: self._own(tag, X) for tag, X in super().all_vectors(documents).items()}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        shared = super().check_space(languages, features).shape[1]
        for columns in expect_by(self.columns_, languages, "the columns of languages").values():
            increasing = columns.max(initial=0) < shared and (np.diff(columns) > 0).all()
            expect(increasing, "the columns of a language")
        return empty_row(int(self._starts()[-1]) + len(self.columns_))

    def feature_names(self) -> Sequence[str] | None:
        shared = super().feature_names() or []
        own = [f"{shared[column]} ({tag})" for tag, each in self.columns_.items() for column in each.tolist()]
        return [*own, *(f"({language})" for language in self.columns_)]

    def places(self, language: str, text: str) -> FeatureSpans | None:
        shared = super().places(language, text)
        assert shared is not None
        own = self.columns_[language]  # sorted
        numbers = np.minimum(np.searchsorted(own, shared.columns), max(len(own) - 1, 0))
        known = np.isin(shared.columns, own)
        columns, starts, ends = (each[known] for each in (numbers, shared.starts, shared.ends))
        return FeatureSpans(self._starts()[list(self.columns_).index(language)] + columns, starts, ends)

    def serves(self, language: str) -> bool:
        return False  # it has no columns here

    def _starts(self) -> npt.NDArray[np.intp]:
        """Where the columns of each language start, and where the last ones end."""
        return np.cumsum([0, *map(len, self.columns_.values())])

    def _own(self, language: str, X: Matrix) -> Matrix:
        """Rows of the shared space in the columns of a language."""
        starts = self._starts()
        number = list(self.columns_).index(language)
        known = _rows(X)[:, self.columns_[language]].tocoo()
        evident = np.unique(known.row)  # of which something is known
        entries = (
            (known.data, known.row, starts[number] + known.col),
            (np.full(len(evident), LANGUAGE_WEIGHT), evident, np.full(len(evident), starts[-1] + number)),
        )
        values, rows, columns = (np.concatenate(each) for each in zip(*entries, strict=True))
        own: Matrix = sparse.csr_array(
            (values.astype(np.float32), (rows, columns)),
            (known.shape[0], int(starts[-1]) + len(self.columns_)),
        )
        return own


def _rows(X: Any) -> sparse.csr_array[np.float32]:
    return sparse.csr_array(X)
