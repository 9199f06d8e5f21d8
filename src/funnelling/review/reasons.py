"""Why a document should be labelled, in words."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from funnelling.method.explanation import Opinions
from funnelling.review.covering import Taken
from funnelling.review.doubts import Doubts
from funnelling.wording import counted

if TYPE_CHECKING:
    from funnelling.method.base import Method

OPEN = 0.8  # bits, from which on a label is in doubt
APART = 0.5  # between what a view and what tier 2 gives a label, from which on they disagree
FEW = 5  # labelled documents of a label, up to which it is rare
LIKELY = 0.3  # the probability from which on a document may have a rare label
MANY = 5  # documents from which on it is worth saying that one is like them
FEW_OF_LANGUAGE = 0.5  # of what languages have on average
NAMED = 2  # labels that a reason names


Examples = npt.NDArray[np.intp]  # how many labelled documents each label has


def examples_of(model: "Method") -> Examples | None:
    """How many labelled documents of each label a model has learned, where it knows."""
    archive = getattr(model, "training_", None)
    if archive is None or (model.exclusive_ and len(model.classes_) == 2):
        return None
    examples: Examples = np.sum([rows.sum(axis=0) for rows in archive.targets.values()], axis=0)
    return examples


class Reasons:
    """The reasons of documents, by what a model says of them and what it has learned."""

    def __init__(self, model: "Method", examples: Examples | None) -> None:
        self._labels = [str(label) for label in model.classes_]
        self._exclusive = bool(model.exclusive_)
        self._learned = model.documents_
        self._rare: list[tuple[int, int]] = []  # labels with few documents, those with fewest first
        if examples is not None:
            self._rare = sorted((int(examples[j]), int(j)) for j in np.flatnonzero(examples <= FEW))

    def __call__(self, language: str, taken: Taken, opinions: Opinions | None, doubts: Doubts | None) -> str:
        """All that speaks for a document that is taken, the plainest first."""
        said = [] if opinions is None or doubts is None else self._of_labels(taken.place, opinions, doubts)
        said.append(self._of_language(language))
        if taken.others >= MANY:
            said.append(f"like {counted(taken.others, 'other')} without labels")
        return "; ".join(each for each in said if each) or "unlike what is labelled"

    def _of_labels(self, place: int, opinions: Opinions, doubts: Doubts) -> list[str]:
        if not opinions.evident[place]:
            return ["no known word"]
        said = [self._unsure(place, doubts)]
        column = int(doubts.disagreement[place].argmax())
        if doubts.disagreement[place, column] >= APART:
            said.append(f"tiers disagree on {self._labels[column]}")
        likely = opinions.decisions.probabilities[place] >= LIKELY
        rare = next(((number, j) for number, j in self._rare if likely[j]), None)
        if rare is not None:
            said.append(f"perhaps the rare label {self._labels[rare[1]]} ({rare[0]} so far)")
        return said

    def _unsure(self, place: int, doubts: Doubts) -> str:
        order = np.argsort(-doubts.by_label[place], kind="stable").tolist()
        if self._exclusive:
            is_open = doubts.by_label[place].sum() >= OPEN / 2
            first, second = (self._labels[column] for column in order[:2])
            return f"unsure between {first} and {second}" if is_open else ""
        opened = [self._labels[column] for column in order if doubts.undecided[place, column] >= OPEN]
        return f"unsure about {' and '.join(opened[:NAMED])}" if opened else ""

    def _of_language(self, language: str) -> str:
        if language not in self._learned:
            return "language without labels"
        mean = sum(self._learned.values()) / len(self._learned)
        number = self._learned[language]
        return f"language with few labels ({number:,})" if number < FEW_OF_LANGUAGE * mean else ""
