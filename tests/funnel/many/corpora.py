"""Small documents of many labels, each of which shows in a word of its own."""

from typing import Any

import numpy as np
from scipy import sparse

from funnelling import Corpus, Document, ManyLabelsClassifier

LABELS = 12
Documents = tuple[list[str], list[list[str]], list[str]]


def documents(each: int = 90, languages: tuple[str, ...] = ("en", "it"), seed: int = 0) -> Documents:
    """Texts, their labels and languages by turns; every tenth document has no label."""
    random = np.random.default_rng(seed)
    texts, labels, tags = [], [], []
    for number in range(each * len(languages)):
        tag = languages[number % len(languages)]
        own = sorted({int(label) for label in random.integers(0, LABELS, 2)}) if number % 10 else []
        words = [*(f"{tag}{'abcdefghijkl'[label] * 4}" for label in own), *_noise(random, tag)]
        texts.append(" ".join(random.permutation(words)))
        labels.append([f"l{label:02}" for label in own])
        tags.append(tag)
    return texts, labels, tags


def corpus_of(given: Documents) -> Corpus:
    """The same as a corpus."""
    texts, labels, languages = given
    rows = enumerate(zip(texts, labels, languages, strict=True))
    return Corpus.from_documents(Document(f"d{row}", text, tag, tuple(own)) for row, (text, own, tag) in rows)


def _noise(random: np.random.Generator, tag: str) -> list[str]:
    return [f"{tag}{'xyzw'[word % 4]}{'qrstu'[word // 4]}ov" for word in random.integers(0, 20, 3)]


def fitted(given: Documents, **parameters: Any) -> ManyLabelsClassifier:
    texts, labels, languages = given
    ids = [f"d{number}" for number in range(len(texts))]
    return ManyLabelsClassifier(random_state=0, **parameters).fit(texts, labels, languages, ids=ids)


def random_matrix(rows: int, columns: int, density: float, seed: int) -> Any:
    """Sparse values of at most 1, multiples of 1/8, so that sums of products are exact in any order."""
    random = np.random.default_rng(seed)
    values = random.integers(-8, 9, (rows, columns)) * (random.random((rows, columns)) < density)
    return sparse.csr_array((values / 8).astype(np.float32))
