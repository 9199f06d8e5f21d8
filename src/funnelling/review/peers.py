"""What documents of the same content are labelled: copies in the language, translations in others."""

from typing import NamedTuple

import numpy as np

from funnelling.corpus import Corpus
from funnelling.matrices import Targets
from funnelling.review.near_duplicates import MOST, near_duplicates
from funnelling.runtime.progress import progress_bar

COPIES, TRANSLATIONS = "duplicates disagree", "translations disagree"
HALF = 0.5


class Disagreement(NamedTuple):
    """What most documents of the same content have and one has not, or the other way round."""

    kind: str
    peers: list[int]  # rows
    wrong: list[int]  # columns of labels that it has and most of them have not
    missing: list[int]


def disagreements(corpus: Corpus, given: Targets, verbose: int = 0) -> dict[int, Disagreement]:
    """The documents that are labelled unlike others of the same content, by their rows.

    Translations are known by their group alone: texts of two languages are not compared. Documents of one
    language count as the same where they are near-duplicates, whatever their group.
    """
    found: dict[int, Disagreement] = {}
    for row, peers in _copies(corpus, verbose).items():
        _note(found, COPIES, row, peers, given)
    for row, peers in _translations(corpus).items():
        _note(found, TRANSLATIONS, row, peers, given)
    return found


def _note(found: dict[int, Disagreement], kind: str, row: int, peers: list[int], given: Targets) -> None:
    share = given[peers].mean(axis=0)
    wrong = np.flatnonzero(given[row] & (share < HALF)).tolist()
    missing = np.flatnonzero(~given[row] & (share > HALF)).tolist()
    if wrong or missing:
        found[row] = Disagreement(kind, peers, wrong, missing)


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
            others = (row for other in rows if other != language for row in rows[other][:MOST])
            found |= dict.fromkeys(rows[language], sorted(others)[:MOST])
    return found
