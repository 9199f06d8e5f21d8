"""A corpus as ready vectors by language, which both sides of a comparison get."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from funnelling.evaluation import measure_languages
from funnelling.randomness import stream

Indicator = npt.NDArray[np.int8]


@dataclass
class LanguageVectors:
    """One language: tf-idf vectors (float64, to which scikit-learn's SVC converts others) and labels."""

    train: csr_array
    train_labels: Indicator
    test: csr_array
    test_labels: Indicator


@dataclass
class Vectors:
    """All languages, also as the mappings from language to matrix that `fit` and `predict` take."""

    by_language: dict[str, LanguageVectors]

    @property
    def train(self) -> dict[str, csr_array]:
        return {language: vectors.train for language, vectors in self.by_language.items()}

    @property
    def train_labels(self) -> dict[str, Indicator]:
        return {language: vectors.train_labels for language, vectors in self.by_language.items()}

    @property
    def test(self) -> dict[str, csr_array]:
        return {language: vectors.test for language, vectors in self.by_language.items()}

    @property
    def documents(self) -> int:
        """How many documents there are for training."""
        return sum(len(vectors.train_labels) for vectors in self.by_language.values())

    def reduced(self, documents: int, seed: int) -> "Vectors":
        """A corpus with at most so many training documents per language, drawn at random."""
        by_language = {}
        for language, vectors in self.by_language.items():
            rows = stream(seed, "reduced", language).permutation(len(vectors.train_labels))[:documents]
            by_language[language] = replace(
                vectors, train=vectors.train[rows], train_labels=vectors.train_labels[rows]
            )
        return Vectors(by_language)

    def measure(self, predicted: dict[str, npt.NDArray[Any]]) -> dict[str, float]:
        """micro-F1 and macro-F1 of predictions on the test documents, means over languages."""
        languages = [language for language, vectors in self.by_language.items() for _ in vectors.test_labels]
        truth = np.vstack([vectors.test_labels for vectors in self.by_language.values()])
        predictions = np.vstack([predicted[language] for language in self.by_language])
        average = measure_languages(truth, predictions, languages)["average"]
        return {measure: average[measure] for measure in ("micro_f1", "macro_f1_paper")}

    def sizes(self) -> dict[str, int]:
        """The size of the corpus; features are the mean over languages."""
        languages = self.by_language.values()
        return {
            "languages": len(languages),
            "labels": next(iter(languages)).train_labels.shape[1],
            "documents": self.documents,
            "test_documents": sum(len(vectors.test_labels) for vectors in languages),
            "features": round(sum(vectors.train.shape[1] for vectors in languages) / len(languages)),
        }
