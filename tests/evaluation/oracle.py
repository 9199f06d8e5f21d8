"""A method that costs nothing to fit, and documents for it."""

from copy import copy
from typing import Any

import numpy as np

from funnelling import Corpus, Document
from funnelling.corpus.labels import LabelSpace


class Oracle:
    """Knows what it was fitted on by heart and nothing else; notes what it saw."""

    single_label = False
    sparse_labels = False
    reads_parallel = False
    learns_names = False
    seen: list[list[str]]

    def __init__(self, seen: list[list[str]] | None = None) -> None:
        self.seen = [] if seen is None else seen

    def fit(self, documents: Corpus, label_set: Any = None) -> Any:
        fitted = copy(self)
        self.seen.append(list(documents.texts))
        fitted.languages = list(documents.by_language())
        fitted.classes = np.array(documents.label_set(), dtype=object)
        fitted.given = documents.label_lists()
        fitted.known = dict(zip(documents.texts, fitted.given, strict=True))
        fitted.label_set = label_set
        return fitted

    @property
    def itself(self) -> "Oracle":
        """What evaluation asks of its algorithm, its parameters and its fitted tree, it says itself."""
        return self

    algorithm = parameters = fitted = itself

    @property
    def labels(self) -> LabelSpace:
        return LabelSpace(self.classes, self.single_label, self.sparse_labels)

    @property
    def rules(self) -> Any:
        return None if self.label_set is None else self.label_set.rules(self.classes)

    @property
    def label_documents(self) -> list[int]:
        return [sum(label in own for own in self.given) for label in self.classes]

    @property
    def documents(self) -> dict[str, int]:
        return {"en": len(self.known)}

    def usable(self, parameters: object, languages: list[str]) -> list[str]:
        return languages

    def serves_unseen(self, parameters: object, language: str) -> bool:
        return False

    def serves(self, language: str) -> bool:
        return language in self.languages

    final_c = None

    def thresholds(self, language: str) -> Any:
        assert language in self.languages
        return np.full(len(self.classes), 0.5)

    def predict(self, texts: list[str], languages: Any) -> Any:
        assert len(texts) == len(languages) > 0
        return np.array(
            [[label in self.known.get(text, ()) for label in self.classes] for text in texts], int
        )

    def classify(self, texts: list[str], languages: Any) -> Any:
        decided = self.predict(texts, languages)
        return decided, decided.astype(float)


def made_corpus(count: int = 20, languages: tuple[str, ...] = ("en", "it"), **fields: Any) -> Corpus:
    """So many documents per language, every second with one label more."""
    return Corpus.from_documents(
        Document(
            f"{language}{i}", f"{language} {i}", language=language, labels=("a", "b")[: 1 + i % 2], **fields
        )
        for language in languages
        for i in range(count)
    )
