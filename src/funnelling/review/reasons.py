"""Why a document should be labelled, in words."""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from funnelling.errors import counted
from funnelling.method.explanation import Opinions
from funnelling.review.covering import Taken
from funnelling.review.doubts import Doubts

OPEN = 0.8  # bits, from which on a label is in doubt
APART = 0.5  # between what a view and what tier 2 gives a label, from which on they disagree
FEW = 5  # labelled documents of a label, up to which it is rare
LIKELY = 0.3  # the probability from which on a document may have a rare label
MANY = 5  # documents from which on it is worth saying that one is like them
FEW_OF_LANGUAGE = 0.5  # of what languages have on average
NAMED = 2  # labels that a reason names


Examples = npt.NDArray[np.intp]  # how many labelled documents each label has


class Opinionated(Protocol):
    """What `suggest_texts` asks of a fitted model."""

    classes_: npt.NDArray[Any]
    exclusive_: bool
    texts_: bool
    languages_: list[str]
    documents_: dict[str, int]
    sparse_labels: ClassVar[bool]
    verbose: int

    def serves(self, language: str) -> bool: ...

    def opinions(self, X: Any, languages: None = None) -> dict[str, Opinions]: ...

    def label_counts(self) -> npt.NDArray[np.int64] | None: ...


def examples_of(model: Opinionated) -> Examples | None:
    """How many labelled documents of each label a model has learned, where it knows."""
    archive = getattr(model, "training_", None)
    if archive is None or (model.exclusive_ and len(model.classes_) == 2):
        return None
    examples: Examples = np.sum([rows.sum(axis=0) for rows in archive.targets.values()], axis=0)
    return examples


class Reason(NamedTuple):
    """Why a document should be labelled, and the columns of the labels that this names."""

    text: str
    columns: list[int]


class Reasons:
    """The reasons of documents, by what a model says of them and what it has learned."""

    def __init__(self, model: Opinionated, examples: Examples | None) -> None:
        self._labels = [str(label) for label in model.classes_]
        self._exclusive = bool(model.exclusive_)
        self._learned = model.documents_
        self._rare: list[tuple[int, int]] = []  # labels with few documents, those with fewest first
        if examples is not None:
            self._rare = sorted((int(examples[j]), int(j)) for j in np.flatnonzero(examples <= FEW))

    def __call__(
        self, language: str, taken: Taken, row: int, opinions: Opinions | None, doubts: Doubts | None
    ) -> Reason:
        """All that speaks for a document that is taken, the plainest first; opinions have it in a ``row``."""
        columns: list[int] = []
        said = []
        if opinions is not None and doubts is not None:
            for words, named in self._of_labels(row, opinions, doubts):
                said.append(words)
                columns += named
        said.append(self._of_language(language))
        if taken.others >= MANY:
            said.append(f"like {counted(taken.others, 'other')} without labels")
        return Reason("; ".join(each for each in said if each) or "unlike what is labelled", columns)

    def _of_labels(self, row: int, opinions: Opinions, doubts: Doubts) -> Iterator[Reason]:
        if not opinions.evident[row]:
            yield Reason("no known word", [])
            return
        unsure = self._unsure(row, doubts)
        if unsure:
            named = " and ".join(self._labels[column] for column in unsure)
            yield Reason(f"unsure {'between' if self._exclusive else 'about'} {named}", unsure)
        column = int(doubts.disagreement[row].argmax())
        if doubts.disagreement[row, column] >= APART:
            yield Reason(f"tiers disagree on {self._labels[column]}", [column])
        likely = opinions.decisions.probabilities[row] >= LIKELY
        rare = next(((number, j) for number, j in self._rare if likely[j]), None)
        if rare is not None:
            number, column = rare
            yield Reason(f"perhaps the rare label {self._labels[column]} ({number} so far)", [column])

    def _unsure(self, row: int, doubts: Doubts) -> list[int]:
        """The columns of labels in doubt, as many as a reason names."""
        order: list[int] = np.argsort(-doubts.by_label[row], kind="stable").tolist()
        if self._exclusive:
            return order[:NAMED] if doubts.by_label[row].sum() >= OPEN / 2 else []
        return [column for column in order if doubts.undecided[row, column] >= OPEN][:NAMED]

    def _of_language(self, language: str) -> str:
        if language not in self._learned:
            return "language without labels"
        mean = sum(self._learned.values()) / len(self._learned)
        number = self._learned[language]
        return f"language with few labels ({number:,})" if number < FEW_OF_LANGUAGE * mean else ""
