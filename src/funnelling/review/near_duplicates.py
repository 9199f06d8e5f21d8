"""Documents of one language that are nearly the same text.

Two texts that have most of their words in common share one of their rarest words, of a tenth of their words
and one more. Only texts with such a word in common are compared, and of many with the same word each only
with those that come next: where there are many copies, each is told some of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.errors import InputError
from funnelling.text.tfidf import TfidfVectorizer

SAME_WORDS = 0.9  # the share of two texts' words that both have, from which on they are nearly the same
MOST = 100  # of those nearly the same as a text that are told, and that are looked for beyond it
PAIRS = 500_000  # that are compared at once

Places = NDArray[np.intp]


def near_duplicates(texts: Sequence[str], language: str) -> list[list[int]]:
    """For each text of a language the places of those that are nearly the same, itself left out.

    The first `MOST` of them are told.

    >>> near_duplicates(["a tame grey cat", "one dog barks", "A tame cat, grey", ""], "en")
    [[2], [], [0], []]
    """
    try:
        vectorizer = TfidfVectorizer(language=language, min_df=1)
        words = sparse.csr_array(vectorizer.fit_transform([*texts, ""])[:-1])  # none has a word of all texts
    except InputError:  # no text has a word
        return [[] for _ in texts]
    words.data[:] = 1  # a rare word counts no more than one that tells a label
    copies = _same_words(words)
    distinct = np.array([places[0] for places in copies], dtype=np.intp)
    near: list[set[int]] = [{unit} for unit in range(len(copies))]
    for rows, columns in _near(words[distinct]):
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            near[row].add(column)
            near[column].add(row)
    found: list[list[int]] = [[] for _ in texts]
    for unit, units in enumerate(near):
        alike = sorted(place for each in units for place in copies[each][: MOST + 1])
        for place in copies[unit] if len(alike) > 1 else ():
            found[place] = [other for other in alike[: MOST + 1] if other != place][:MOST]
    return found


def _same_words(words: Any) -> list[list[int]]:
    """The places of texts of exactly the same words, any at all, by those words."""
    by_words: dict[bytes, list[int]] = {}
    for place, (start, end) in enumerate(zip(words.indptr[:-1], words.indptr[1:], strict=True)):
        if end > start:
            by_words.setdefault(np.sort(words.indices[start:end]).tobytes(), []).append(place)
    return list(by_words.values())


def _near(words: Any) -> Iterator[tuple[Places, Places]]:
    """Pairs of rows that have enough of their words in common, each pair at least once."""
    sizes = np.diff(words.indptr)
    rows, columns = _rarest(words)
    for step in range(1, MOST + 1):
        same = np.flatnonzero(columns[step:] == columns[:-step])
        if not len(same):
            return
        pairs = np.unique(np.column_stack([rows[same], rows[same + step]]), axis=0)
        for start in range(0, len(pairs), PAIRS):
            a, b = pairs[start : start + PAIRS].T
            common = np.asarray((words[a] * words[b]).sum(axis=1)).ravel()
            near = common >= SAME_WORDS * (sizes[a] + sizes[b] - common)
            yield a[near], b[near]


def _rarest(words: Any) -> tuple[Places, Places]:
    """Rows and their rarest words, so many that rows nearly the same have one in common; word by word."""
    sizes = np.diff(words.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    frequent = np.bincount(words.indices, minlength=words.shape[1])[words.indices]
    order = np.lexsort((words.indices, frequent, rows))
    place = np.arange(len(order)) - words.indptr[rows]  # from the rarest on
    kept = np.sort(order[place < (sizes - np.ceil(SAME_WORDS * sizes) + 1)[rows]])  # row by row
    by_word = kept[np.argsort(words.indices[kept], kind="stable")]
    return rows[by_word], words.indices[by_word]
