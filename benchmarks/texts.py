"""Drawn corpora as texts: short and long ones, few and many labels, one language and twenty-four."""

from itertools import pairwise

import numpy as np

from drawing import Shape, draw_documents
from funnelling import Corpus, Document

TEXTS = {
    "posts": Shape(4, 4_000, 6, 4_000, tokens=12, one_label=True, noise=0.2),
    "long": Shape(4, 500, 20, 8_000, tokens=600),
    "titles": Shape(3, 1_500, 500, 8_000, labels_per_document=2.5, tokens=8),
    "one-language": Shape(1, 3_000, 20, 4_000),
    "many-languages": Shape(24, 120, 10, 2_000, tokens=40),
}
# Of the European Union, the largest first.
LANGUAGES = (
    *("de", "fr", "it", "es", "pl", "ro", "nl", "el", "hu", "pt", "sv", "cs"),
    *("bg", "da", "fi", "sk", "hr", "lt", "sl", "lv", "et", "en", "mt", "ga"),
)
SYLLABLES = [consonant + vowel for consonant in "bcdfghklmnprstvz" for vowel in "aeiou"]


def draw_texts(shape: Shape, seed: int) -> Corpus:
    """Draw a corpus of this shape as texts; no word is of two languages."""
    return Corpus.from_documents(
        document for number in range(shape.languages) for document in _draw_language(shape, number, seed)
    )


def spell(number: int) -> str:
    """A word for each number.

    >>> spell(0), spell(1), spell(100_000)
    ('babe', 'bebe', 'bapefa')
    """
    syllables = []
    number += len(SYLLABLES)
    while number:
        number, rest = divmod(number, len(SYLLABLES))
        syllables.append(SYLLABLES[rest])
    return "".join(syllables)


def _draw_language(shape: Shape, number: int, seed: int) -> list[Document]:
    language = LANGUAGES[number]
    labels, rows, words = draw_documents(shape, number, seed)
    spelled = [spell(shape.languages * word + number) for word in range(shape.features)]
    ends = np.searchsorted(rows, np.arange(len(labels) + 1))
    return [
        Document(
            f"{language}-{row}",
            " ".join(spelled[word] for word in words[start:end]),
            language,
            tuple(f"label-{label:03}" for label in np.flatnonzero(labels[row])),
            "train" if row < shape.documents else "test",
        )
        for row, (start, end) in enumerate(pairwise(ends))
    ]
