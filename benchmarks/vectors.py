"""A corpus as ready vectors by language: what both sides of a comparison are fed with."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from funnelling.evaluation import measure_languages
from funnelling.randomness import stream

Indicator = npt.NDArray[np.int8]


@dataclass
class Part:
    """One language: tf-idf vectors (float64, which scikit-learn's SVC would make of others), and labels."""

    train: csr_array
    train_labels: Indicator
    test: csr_array
    test_labels: Indicator


@dataclass
class Vectors:
    """All languages; as mappings from language to matrix they are what `fit` and `predict` take."""

    parts: dict[str, Part]

    @property
    def train(self) -> dict[str, csr_array]:
        return {language: part.train for language, part in self.parts.items()}

    @property
    def train_labels(self) -> dict[str, Indicator]:
        return {language: part.train_labels for language, part in self.parts.items()}

    @property
    def test(self) -> dict[str, csr_array]:
        return {language: part.test for language, part in self.parts.items()}

    @property
    def documents(self) -> int:
        """How many there are for training."""
        return sum(len(part.train_labels) for part in self.parts.values())

    def reduced(self, documents: int, seed: int) -> "Vectors":
        """The same with at most so many training documents a language, drawn at random."""
        parts = {}
        for language, part in self.parts.items():
            rows = stream(seed, "reduced", language).permutation(len(part.train_labels))[:documents]
            parts[language] = Part(part.train[rows], part.train_labels[rows], part.test, part.test_labels)
        return Vectors(parts)

    def measured(self, predicted: dict[str, npt.NDArray[Any]]) -> dict[str, float]:
        """micro-F1 and macro-F1 of predictions on the test documents, means over languages."""
        languages = [language for language, part in self.parts.items() for _ in part.test_labels]
        truth = np.vstack([part.test_labels for part in self.parts.values()])
        found = np.vstack([predicted[language] for language in self.parts])
        average = measure_languages(truth, found, languages)["average"]
        return {measure: average[measure] for measure in ("micro_f1", "macro_f1")}

    def described(self) -> dict[str, int]:
        """The size of the corpus; features are the mean over languages."""
        parts = self.parts.values()
        return {
            "languages": len(parts),
            "labels": next(iter(parts)).train_labels.shape[1],
            "documents": self.documents,
            "test_documents": sum(len(part.test_labels) for part in parts),
            "features": round(sum(part.train.shape[1] for part in parts) / len(parts)),
        }
