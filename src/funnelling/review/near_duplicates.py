"""Documents of one language that are nearly the same text."""

from collections.abc import Sequence

from scipy import sparse

from funnelling.errors import InputError
from funnelling.text.tfidf import TfidfVectorizer

ALIKE = 0.9  # the cosine of two texts' tf-idf vectors from which on they are nearly the same
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
    turned = sparse.csr_array(vectors.T)
    for start in range(0, len(texts), BLOCK):
        cosines = sparse.coo_array(vectors[start : start + BLOCK] @ turned)
        near = cosines.data >= alike
        rows, columns = cosines.row[near] + start, cosines.col[near]
        for row, column in sorted(zip(rows.tolist(), columns.tolist(), strict=True)):
            if row != column:
                found[row].append(column)
    return found
