"""What documents of the same content are labelled: near copies in the language, translations in others.

Two texts that have most of their words in common share one of their rarest words, of a tenth of their words
and one more. Only texts with such a word in common are compared, and of many with the same word each only
with those that come next: where there are many copies, each is told some of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.matrices import Targets
from funnelling.runtime.progress import progress_bar
from funnelling.text.tfidf import TfidfVectorizer

# The share of two texts' words that both have, from which on they are nearly the same
NEAR_DUPLICATE_CUTOFF = 0.9
# Near duplicates of a text that are told, and that are looked for beyond it
MAX_NEAR_DUPLICATES = 100
PAIRS_PER_BLOCK = 500_000  # that are compared at once

Places = NDArray[np.intp]


def near_duplicates(texts: Sequence[str], language: str) -> list[list[int]]:
    """For each text of a language the places of those that are nearly the same, itself left out.

    The first `MAX_NEAR_DUPLICATES` of them are told.

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
        alike = sorted(place for each in units for place in copies[each][: MAX_NEAR_DUPLICATES + 1])
        for place in copies[unit] if len(alike) > 1 else ():
            found[place] = [other for other in alike[: MAX_NEAR_DUPLICATES + 1] if other != place][
                :MAX_NEAR_DUPLICATES
            ]
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
    for step in range(1, MAX_NEAR_DUPLICATES + 1):
        same = np.flatnonzero(columns[step:] == columns[:-step])
        if not len(same):
            return
        pairs = np.unique(np.column_stack([rows[same], rows[same + step]]), axis=0)
        for start in range(0, len(pairs), PAIRS_PER_BLOCK):
            a, b = pairs[start : start + PAIRS_PER_BLOCK].T
            common = np.asarray((words[a] * words[b]).sum(axis=1)).ravel()
            near = common >= NEAR_DUPLICATE_CUTOFF * (sizes[a] + sizes[b] - common)
            yield a[near], b[near]


def _rarest(words: Any) -> tuple[Places, Places]:
    """Rows and their rarest words, so many that rows nearly the same have one in common; word by word."""
    sizes = np.diff(words.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    frequent = np.bincount(words.indices, minlength=words.shape[1])[words.indices]
    order = np.lexsort((words.indices, frequent, rows))
    place = np.arange(len(order)) - words.indptr[rows]  # from the rarest on
    kept = np.sort(order[place < (sizes - np.ceil(NEAR_DUPLICATE_CUTOFF * sizes) + 1)[rows]])  # row by row
    by_word = kept[np.argsort(words.indices[kept], kind="stable")]
    return rows[by_word], words.indices[by_word]


COPIES, TRANSLATIONS = "duplicates disagree", "translations disagree"
DEFAULT_THRESHOLD = 0.5


class Disagreement(NamedTuple):
    """What most documents of the same content have and one has not, or the other way round."""

    kind: str
    duplicates: list[int]  # rows
    wrong: list[int]  # columns of labels that it has and most of them have not
    missing: list[int]


def find_label_disagreements(corpus: Corpus, given: Targets, verbose: int = 0) -> dict[int, Disagreement]:
    """The documents that are labelled unlike others of the same content, by their rows.

    Translations are known by their group alone: texts of two languages are not compared. Documents of one
    language count as the same where they are near-duplicates, whatever their group.
    """
    found: dict[int, Disagreement] = {}
    for kind, alike in ((COPIES, _copies(corpus, verbose)), (TRANSLATIONS, _translations(corpus))):
        for row, peers in alike.items():
            share = given[peers].mean(axis=0)
            wrong = np.flatnonzero(given[row] & (share < DEFAULT_THRESHOLD)).tolist()
            missing = np.flatnonzero(~given[row] & (share > DEFAULT_THRESHOLD)).tolist()
            if wrong or missing:
                found[row] = Disagreement(kind, peers, wrong, missing)
    return found


def _copies(corpus: Corpus, verbose: int) -> dict[int, list[int]]:
    copies: dict[int, list[int]] = {}
    with progress_bar("near-duplicates", len(corpus), bool(verbose), "documents") as advance:
        for language, rows in corpus.by_language().items():
            near = near_duplicates([corpus.texts[row] for row in rows], language)
            copies |= {
                int(row): [int(rows[place]) for place in places]
                for row, places in zip(rows, near, strict=True)
                if places
            }
            advance(len(rows))
    return copies


def _translations(corpus: Corpus) -> dict[int, list[int]]:
    """By their rows the documents of a group in other languages, the first ones where there are many."""
    by_group: dict[str, dict[str | None, list[int]]] = {}
    for row, (group, language) in enumerate(zip(corpus.groups, corpus.languages, strict=True)):
        if group is not None:
            by_group.setdefault(group, {}).setdefault(language, []).append(row)
    found: dict[int, list[int]] = {}
    for rows in by_group.values():
        for language in rows if len(rows) > 1 else ():
            others = (row for other in rows if other != language for row in rows[other][:MAX_NEAR_DUPLICATES])
            found |= dict.fromkeys(rows[language], sorted(others)[:MAX_NEAR_DUPLICATES])
    return found
