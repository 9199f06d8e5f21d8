"""Documents of one language that are nearly the same text.

Two texts that have most of their words in common share one of their rarest words (all but a tenth of a text
are too few to miss it), so that only texts with such a word in common are compared.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.errors import InputError
from funnelling.text.tfidf import TfidfVectorizer

SAME_WORDS = 0.9  # the share of two texts' words that both have, from which on they are nearly the same
MOST = 100  # of those nearly the same as a text that are told
BLOCK = 1_000  # texts whose partners are looked for at once
PAIRS = 500_000  # that are compared at once

Places = NDArray[np.intp]


def near_duplicates(texts: Sequence[str], language: str) -> list[list[int]]:
    """For each text of a language the places of those that are nearly the same, itself left out.

    The first `MOST` of them are told.

    >>> near_duplicates(["a tame grey cat", "one dog barks", "A tame cat, grey", ""], "en")
    [[2], [], [0], []]
    """
    try:
        words = sparse.csr_array(TfidfVectorizer(language=language, min_df=1).fit_transform(list(texts)))
    except InputError:  # no text has a word
        return [[] for _ in texts]
    words.data[:] = 1  # a rare word counts no more than one that tells a label
    copies = _same_words(words)
    distinct = np.array([places[0] for places in copies], dtype=np.intp)
    near: list[list[int]] = [[unit] for unit in range(len(copies))]
    for rows, columns in _near(words[distinct]):
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            near[row].append(column)
            near[column].append(row)
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
    """Pairs of rows that have enough of their words in common, each pair once."""
    sizes, rarest = np.diff(words.indptr), _rarest(words)
    turned = sparse.csr_array(rarest.T)
    for start in range(0, words.shape[0], BLOCK):
        partners = sparse.coo_array(rarest[start : start + BLOCK] @ turned)
        rows, columns = partners.row.astype(np.intp) + start, partners.col.astype(np.intp)
        small, large = np.minimum(sizes[rows], sizes[columns]), np.maximum(sizes[rows], sizes[columns])
        asked = np.flatnonzero((rows < columns) & (small >= SAME_WORDS * large))
        for first in range(0, len(asked), PAIRS):
            some = asked[first : first + PAIRS]
            a, b = rows[some], columns[some]
            common = np.asarray((words[a] * words[b]).sum(axis=1)).ravel()
            near = common >= SAME_WORDS * (sizes[a] + sizes[b] - common)
            yield a[near], b[near]


def _rarest(words: Any) -> Any:
    """Each row's rarest words: so many that rows nearly the same have one of them in common."""
    sizes = np.diff(words.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    frequent = np.bincount(words.indices, minlength=words.shape[1])[words.indices]
    order = np.lexsort((words.indices, frequent, rows))
    place = np.arange(len(order)) - words.indptr[rows]  # from the rarest on
    kept = order[place < (sizes - np.ceil(SAME_WORDS * sizes) + 1)[rows]]
    ones = np.ones(len(kept), dtype=np.float32)
    return sparse.csr_array((ones, (rows[kept], words.indices[kept])), shape=words.shape)
