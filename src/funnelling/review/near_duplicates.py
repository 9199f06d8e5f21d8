"""Documents of one language that are nearly the same text."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from funnelling.errors import InputError
from funnelling.text.tfidf import TfidfVectorizer

ALIKE = 0.9  # the share of two texts' words that both have, from which on they are nearly the same
BLOCK = 1_000  # documents that are compared with all others at once


def near_duplicates(texts: Sequence[str], language: str, alike: float = ALIKE) -> list[list[int]]:
    """For each text of a language the places of those that are nearly the same, itself left out.

    >>> near_duplicates(["a tame grey cat", "one dog barks", "A tame cat, grey", ""], "en")
    [[2], [], [0], []]
    """
    found: list[list[int]] = [[] for _ in texts]
    try:
        vectors = sparse.csr_array(TfidfVectorizer(language=language, min_df=1).fit_transform(list(texts)))
    except InputError:  # no text has a word
        return found
    vectors.data[:] = 1  # a rare word counts no more than one that tells a label
    turned, sizes = sparse.csr_array(vectors.T), np.diff(vectors.indptr)
    for start in range(0, len(texts), BLOCK):
        common = sparse.coo_array(vectors[start : start + BLOCK] @ turned)
        rows, columns = common.row + start, common.col
        near = (common.data >= alike * (sizes[rows] + sizes[columns] - common.data)) & (rows != columns)
        for row, column in sorted(zip(rows[near].tolist(), columns[near].tolist(), strict=True)):
            found[row].append(column)
    return found
