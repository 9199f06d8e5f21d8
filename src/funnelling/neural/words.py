"""Words as numbers: rows of a table that holds a vector for each."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.embeddings.vectors import read_vectors
from funnelling.text.words import analyser

Floats = npt.NDArray[np.float32]

# The first rows of every table, which stay zero: of what fills up short documents, and of unknown words.
PADDING, UNKNOWN, FIRST_WORD = 0, 1, 2
# Documents that a word without a vector must be in to get one in training.
LEAST_DOCUMENTS = 2

Read = Sequence[Sequence[str]]  # the words of each document


def read_words(language: str, texts: Iterable[str]) -> list[list[str]]:
    """All words of texts in their order, as vectors have them: neither reduced nor stripped of accents.

    >>> read_words("fr", ["L'été, les chats"])
    [['l', 'été', 'les', 'chats']]
    """
    return list(map(analyser(language, reduce_to=None, stop_words=False, fold=False), texts))


def number_words(read: Read, words: Sequence[str], length: int) -> Floats:
    """A row a document: the numbers of its last words, filled up to the length; floats hold them exactly.

    >>> number_words([["a", "cat"], ["the", "black", "cat"]], ["black", "cat"], length=2).tolist()
    [[1.0, 3.0], [2.0, 3.0]]
    """
    numbers = {word: number for number, word in enumerate(words, FIRST_WORD)}
    rows = np.full((len(read), length), PADDING, dtype=np.float32)
    for row, document in zip(rows, read, strict=True):
        last = document[-length:]
        row[: len(last)] = [numbers.get(word, UNKNOWN) for word in last]
    return rows


class Vocabulary(NamedTuple):
    """The words of training documents, their table, and the share of words that have a vector.

    In the share, a word counts once a document.
    """

    words: list[str]
    table: Floats
    coverage: float


def fit_vocabulary(read: Read, path: Path) -> Vocabulary:
    """Take the words that have a vector in a file, and start those from zeros that have none.

    But a word of one document alone: nothing that is learned of it would be of use.
    """
    counts = Counter(chain.from_iterable(map(set, read)))
    found = read_vectors(path, wanted=set(counts))
    rows = dict(zip(found.words, found.matrix, strict=True))
    words = sorted(word for word, count in counts.items() if word in rows or count >= LEAST_DOCUMENTS)
    vectors = np.zeros((len(words), found.dimensions), dtype=np.float32)
    for row, word in enumerate(words):
        if word in rows:
            vectors[row] = rows[word]
    total = counts.total()
    return Vocabulary(words, to_table(vectors), sum(counts[word] for word in rows) / total if total else 1.0)


def to_table(vectors: Floats) -> Floats:
    """Vectors of words after the rows of padding and of unknown words."""
    return np.vstack([np.zeros((FIRST_WORD, vectors.shape[1]), dtype=np.float32), vectors])
