"""Small corpora drawn at random, whose labels the vectors tell, but not fully."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

WORDS = {
    "en": ["cat", "dog", "bird", "horse", "table", "house", "garden", "river"],
    "it": ["gatto", "cane", "uccello", "cavallo", "tavolo", "casa", "giardino", "fiume"],
}


@dataclass
class VectorCorpus:
    """Vectors and labels by language, and the same in one matrix of as many columns for all."""

    X: dict[str, Matrix]
    y: dict[str, npt.NDArray[np.int64]]

    @property
    def languages(self) -> list[str]:
        return [language for language, X in self.X.items() for _ in X]

    @property
    def stacked(self) -> Matrix:
        return np.vstack(list(self.X.values()))

    @property
    def indicator(self) -> npt.NDArray[np.int64]:
        return np.vstack(list(self.y.values()))


def vector_corpus(
    languages: tuple[str, ...] = ("en", "it"),
    documents: int = 40,
    labels: int = 3,
    features: int = 12,
    noise: float = 0.6,
    seed: int = 0,
) -> VectorCorpus:
    """Each language shows the same hidden topics in features of its own; seeds draw other documents."""
    X, y = {}, {}
    for language in languages:
        rng = np.random.default_rng([seed, *language.encode()])
        topics = rng.normal(size=(documents, labels))
        shown = topics @ np.random.default_rng([*language.encode()]).normal(size=(labels, features))
        X[language] = (shown + noise * rng.normal(size=shown.shape)) / np.sqrt(features)
        y[language] = (topics + noise * rng.normal(size=topics.shape) > 0.4).astype(int)
    return VectorCorpus(X, y)


def text_corpus(documents: int = 30, seed: int = 0) -> tuple[list[str], list[list[str]], list[str]]:
    """Texts in English and Italian by turns, a label for each of the first four words of a language."""
    rng = np.random.default_rng(seed)
    texts, labels, languages = [], [], []
    for i in range(documents):
        language = ("en", "it")[i % 2]
        chosen = rng.choice(8, size=3, replace=False)
        texts.append(" ".join(WORDS[language][word] for word in chosen))
        labels.append([("cats", "dogs", "birds", "horses")[word] for word in sorted(chosen) if word < 4])
        languages.append(language)
    return texts, labels, languages


def many_labels(topics: int = 1_100) -> tuple[list[str], list[list[str]], list[str]]:
    """Texts in English and Italian about one topic each, with its label and that of its group, of seven."""
    texts, labels, languages = [], [], []
    for i in range(2 * topics):
        topic, language = i // 2, ("en", "it")[i % 2]
        texts.append(f"{language}a{topic} {language}b{topic % 7} topic{topic}")
        labels.append([f"label {topic}", f"group {topic % 7}"])
        languages.append(language)
    return texts, labels, languages
