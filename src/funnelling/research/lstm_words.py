"""MLE-LSTM's parameters, and its words as numbers: rows of a table that holds one vector per word."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from funnelling.matrices import Floats
from funnelling.methods.algorithm import Parameters, Run
from funnelling.methods.parameters import positive, share, whole
from funnelling.spaces.word_vectors import read_vectors
from funnelling.text.words import analyser

# The first rows of every table stay zero: one for what fills up short documents, one for unknown words.
PADDING, UNKNOWN, FIRST_WORD = 0, 1, 2
# The fewest documents in which a word without a vector must occur to get one in training.
MIN_DOCUMENTS = 2

Words = Sequence[Sequence[str]]  # of each document


@dataclass(kw_only=True, eq=False, repr=False)
class MLELSTMParameters(Parameters):
    """The parameters of MLE-LSTM."""

    embeddings: str | os.PathLike[str] | None = None
    units: int = whole(512)
    dense_units: int = whole(2_048)
    dropout: float = share(0.5, zero_allowed=True)
    length: int = whole(200)
    epochs: int = whole(10)
    patience: int = whole(2)
    batch_size: int = whole(32)
    learning_rate: float = positive(0.001)
    validation: float = share(0.2)
    unseen_words: int = whole(50_000)
    device: str = "auto"

    @property
    def run(self) -> Run:
        return Run(self.n_jobs, device=self.device)


def read_words(language: str, texts: Iterable[str]) -> list[list[str]]:
    """All words of texts in their order, as files of vectors spell them: not reduced, with their accents.

    >>> read_words("fr", ["L'été, les chats"])
    [['l', 'été', 'les', 'chats']]
    """
    return list(map(analyser(language, reduce_to=None, stop_words=False, fold=False), texts))


def number_words(documents: Words, vocabulary: Sequence[str], length: int) -> Floats:
    """One row per document: the numbers of its last words, filled up to the length; floats hold them exactly.

    >>> number_words([["a", "cat"], ["the", "black", "cat"]], ["black", "cat"], length=2).tolist()
    [[1.0, 3.0], [2.0, 3.0]]
    """
    numbers = {word: number for number, word in enumerate(vocabulary, FIRST_WORD)}
    rows = np.full((len(documents), length), PADDING, dtype=np.float32)
    for row, document in zip(rows, documents, strict=True):
        last = document[-length:]
        row[: len(last)] = [numbers.get(word, UNKNOWN) for word in last]
    return rows


class Vocabulary(NamedTuple):
    """The words of training documents, their table, and the share of words that have a vector.

    In the share, a word counts once per document.
    """

    words: list[str]
    table: Floats
    coverage: float


def fit_vocabulary(documents: Words, path: Path) -> Vocabulary:
    """Take the words that have a vector in a file; words without one start from zeros.

    A word without a vector that is in one document alone is left out: learning it would be of no use.
    """
    counts = Counter(chain.from_iterable(map(set, documents)))
    known = read_vectors(path, wanted=set(counts))
    rows = dict(zip(known.words, known.matrix, strict=True))
    words = sorted(word for word, count in counts.items() if word in rows or count >= MIN_DOCUMENTS)
    vectors = np.zeros((len(words), known.dimensions), dtype=np.float32)
    for row, word in enumerate(words):
        if word in rows:
            vectors[row] = rows[word]
    total = counts.total()
    return Vocabulary(words, to_table(vectors), sum(counts[word] for word in rows) / total if total else 1.0)


def to_table(vectors: Floats) -> Floats:
    """A table of word vectors, after the rows of padding and of unknown words."""
    return np.vstack([np.zeros((FIRST_WORD, vectors.shape[1]), dtype=np.float32), vectors])
