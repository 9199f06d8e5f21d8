"""MLE's space: a document is the mean of its words' vectors, aligned across languages beforehand."""

import logging
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy import sparse

from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.matrices import Floats, Matrix, Targets, product, squared_norms
from funnelling.spaces.base import Documents, MonolingualBowSpace, Resources, check_texts, width_of
from funnelling.spaces.word_vectors import WordVectors, find_vectors, read_vectors
from funnelling.state import empty_row, expect, numbers
from funnelling.text.languages import is_served, served_by
from funnelling.text.tfidf import TfidfVectorizer, fit_own
from funnelling.text.words import analyser

logger = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class EmbeddedSpace(MonolingualBowSpace):
    """Documents as tf-idf-weighted means of word vectors, not normalised.

    Words are taken as the vectors have them, neither reduced nor stripped of accents; of the training
    documents' words, ``coverage_`` has the share that has a vector. A language without training documents
    takes the idf of the reference corpus; without one, that of Zipf's law for the word's rank in the
    file of vectors. Of such a language only the ``unseen_words`` most frequent words are kept.

    ``alike`` treats languages with training documents in the same way, and gives all documents the length 1:
    a classifier that is to label other languages than it learned from had better not tell them apart.
    """

    embeddings: str | os.PathLike[str] | None = None
    reference: Reference | None = None
    unseen_words: int = 50_000
    alike: bool = False
    verbose: int = 0
    embeddings_: dict[str, Annotated[Floats, numbers(None, "dimensions")]] = field(init=False)
    coverage_: dict[str, float] = field(init=False)

    @classmethod
    def as_view(cls, resources: Resources, seed: int) -> "EmbeddedSpace":  # noqa: ARG003
        return cls(resources.embeddings, resources.reference, alike=True, verbose=resources.verbose)

    def usable(self, languages: Sequence[str]) -> list[str]:
        known = self._files()
        return [language for language in languages if is_served(language, known)]

    def serves(self, language: str) -> bool:
        known = getattr(self, "vectorizers_", None) or self._files()
        return is_served(language, known)

    def _files(self) -> dict[str, Path]:
        if self.embeddings is None:
            raise InputError("No word vectors were given. Give embeddings, or --embeddings DIR.")
        return find_vectors(self.embeddings)

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        check_texts(documents, "The embeddings view" if self.alike else "mle", "the word vectors")
        files = self._files()
        words = {language: _plain_words(language) for language in documents}
        self.vectorizers_, vectors = fit_own(documents, words, bool(self.verbose))
        self.embeddings_, self.coverage_ = {}, {}
        for language, X in vectors.items():
            vocabulary = self.vectorizers_[language].vocabulary_
            path = files[served_by(language, files)]
            self.embeddings_[language] = _in_order(read_vectors(path, wanted=set(vocabulary)), vocabulary)
            self.coverage_[language] = _coverage(X, self.embeddings_[language])
            if self.alike:
                self._add_unseen(language, path)
        shares = ", ".join(f"{tag} {100 * share:.0f} %" for tag, share in self.coverage_.items())
        logger.info("Words of the training documents that have a vector: %s.", shares)
        for language in sorted(files.keys() - documents.keys()):
            self._add_unseen(language, files[language])
        if self.alike:
            return {language: self.vectors(language, texts) for language, texts in documents.items()}
        return {language: self._projected(language, X) for language, X in vectors.items()}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        expect(features is None, "a space of word vectors")
        words = self._check_words(languages, features)
        return empty_row(width_of(self.embeddings_, words), dense=True)

    def _projected(self, language: str, words: Any) -> Floats:
        embeddings = self.embeddings_[language]
        known = embeddings.any(axis=1).astype(np.float32)
        sums = product(words, embeddings)
        lengths = np.sqrt(squared_norms(sums)) if self.alike else words @ known
        sums /= np.maximum(lengths, np.finfo(np.float32).tiny)[:, None]  # a document may have no known word
        return sums

    def _add_unseen(self, language: str, path: Path) -> None:
        word_vectors = read_vectors(path, limit=self.unseen_words)
        vocabulary = sorted(word_vectors.words)
        self.embeddings_[language] = _in_order(word_vectors, vocabulary)
        code = None if self.reference is None else self.reference.language_for(language)
        if self.reference is None or code is None:
            ranks = dict(zip(word_vectors.words, word_vectors.ranks.tolist(), strict=True))
            idf = {word: math.log(ranks[word] + 2) for word in vocabulary}
        else:
            idf = _reference_idf(vocabulary, code, self.reference.texts[code])
        words = _plain_words(language).with_vocabulary(vocabulary, [idf[word] for word in vocabulary])
        self.vectorizers_[language] = words


def _plain_words(language: str) -> TfidfVectorizer:
    return TfidfVectorizer(language, reduce_to=None, fold_accents=False)


def _reference_idf(vocabulary: Sequence[str], language: str, texts: Sequence[str]) -> dict[str, float]:
    """The idf of words in reference documents; half a document more keeps it finite, and above 0."""
    analyse = analyser(language, reduce_to=None, fold=False)
    df = Counter(word for text in texts for word in set(analyse(text)))
    return {word: math.log((len(texts) + 1) / (df[word] + 0.5)) for word in vocabulary}


def _in_order(word_vectors: WordVectors, vocabulary: Sequence[str]) -> Floats:
    """One row per word of the vocabulary, zeros for one without a vector."""
    rows = {word: row for row, word in enumerate(word_vectors.words)}
    embeddings = np.zeros((len(vocabulary), word_vectors.dimensions), dtype=np.float32)
    for row, word in enumerate(vocabulary):
        if word in rows:
            embeddings[row] = word_vectors.matrix[rows[word]]
    return embeddings


def _coverage(X: Any, embeddings: Floats) -> float:
    """The share of the words of documents, each counted once per document, that have a vector."""
    known = np.asarray(embeddings.any(axis=1))
    columns: Any = sparse.csr_array(X).indices
    return float(known[columns].mean()) if len(columns) else 1.0
