"""A method that costs nothing to fit, and documents for it."""

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

    def fit(
        self,
        texts: list[str],
        labels: Any,
        languages: Any,
        groups: Any = None,
        ids: Any = None,
        label_set: Any = None,
    ) -> "Oracle":
        self.seen.append(list(texts))
        self.groups = groups
        self.languages_ = sorted(set(languages))
        self.classes_ = np.array(sorted({label for row in labels for label in row}), dtype=object)
        self.known = dict(zip(texts, labels, strict=True))
        if label_set is not None:
            self.label_set_ = label_set
        return self

    @property
    def algorithm(self) -> "Oracle":
        """What evaluation asks of a method's algorithm, it says itself."""
        return self

    @property
    def label_space(self) -> LabelSpace:
        return LabelSpace(self.classes_, self.single_label, self.sparse_labels)

    def label_counts(self) -> None:
        return None

    def usable(self, parameters: object, languages: list[str]) -> list[str]:
        return languages

    def serves_unseen(self, language: str) -> bool:
        return False

    def serves(self, language: str) -> bool:
        return language in self.languages_

    def final_c(self) -> None:
        return None

    def thresholds(self, language: str) -> Any:
        assert language in self.languages_
        return np.full(len(self.classes_), 0.5)

    def predict(self, texts: list[str], languages: Any) -> Any:
        assert len(texts) == len(languages) > 0
        return np.array(
            [[label in self.known.get(text, ()) for label in self.classes_] for text in texts], int
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
