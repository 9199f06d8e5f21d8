"""A trial in three languages whose labels show in the words, but not fully."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from funnelling.corpus import Corpus
from funnelling.evaluation.splits import Trial, settle, trial_split
from funnelling.formats import Document
from funnelling.spaces.word_vectors import WordVectors, write_vectors

LANGUAGES = ("de", "en", "it")
LABELS = ("a", "b", "c", "d")


def made_corpus(each: int = 60, seed: int = 0, parallel: bool = False) -> Corpus:
    """Each label has words of its own in each language; two thirds are to learn from."""
    rng = np.random.default_rng(seed)
    documents = []
    for position in range(each):
        split = "train" if position % 3 else "test"
        for language in LANGUAGES:
            labels = [label for label in LABELS if rng.random() < 0.35]
            shown = [label for label in LABELS if (label in labels) != (rng.random() < 0.1)]
            words = [f"{language}{label}{rng.integers(3)}" for label in shown]
            words += [f"{language}noise{rng.integers(12)}" for _ in range(3)]
            name = f"{language}-{position}"
            documents.append(Document(name, " ".join(words), language, tuple(labels), split, name))
            if parallel and split == "train" and language != "en":
                english = " ".join(word.replace(language, "en", 1) for word in words)
                documents.append(Document(f"{name}-en", english, "en", tuple(labels), "parallel", name))
    return Corpus.from_documents(documents)


def made_one_label_trials(runs: int = 1, classes: str = "abcd") -> list[Trial]:
    """Such trials where each document has one label: the first of its labels, or the last of all."""
    corpus = made_corpus()
    kept = [[label for label in labels if label in classes] for labels in corpus.label_lists()]
    corpus = replace(corpus, labels=[(labels[0] if labels else classes[-1],) for labels in kept])
    return settle([trial_split(corpus, run, 0) for run in range(runs)])[0]


def made_trials(runs: int = 1, **given: int | bool) -> list[Trial]:
    corpus = made_corpus(**given)  # type: ignore[arg-type]
    return [trial_split(corpus, run, 0) for run in range(runs)]


def write_words(folder: Path, corpus: Corpus, languages: Sequence[str]) -> Path:
    """Word vectors of a corpus, the same for each language: those of a label's words are alike."""
    rng = np.random.default_rng(0)
    words = sorted({word for text in corpus.texts for word in text.split()})
    centres = {label: rng.normal(size=8) for label in LABELS}
    matrix = np.array([centres.get(word[2], 0) + rng.normal(size=8) / 4 for word in words], dtype=np.float32)
    for language in languages:
        write_vectors(folder / f"{language}.vec", WordVectors(words, matrix, np.arange(len(words))))
    return folder
