"""Where benchmark data come from: a file of documents, or a corpus drawn in a shape."""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from drawing import SHAPES, Shape, draw_language
from funnelling import Corpus, InputError, read_corpus
from funnelling.commands import values
from funnelling.text.tfidf import TfidfVectorizer
from vectors import LanguageVectors, Vectors

DEBIAN = Path(__file__).parents[2] / "shared" / "data" / "debian-comparable-11.jsonl.gz"
LANGUAGES, LABELS = 4, 30  # of a file, unless more are asked for: the recipe is slow


def from_documents(path: Path, languages: int, labels: int) -> Vectors:
    """The languages of a file with most training documents, and the labels that are most frequent in them."""
    corpus = read_corpus(path).labelled()
    train, test = (_by_language(corpus.split(split)) for split in ("train", "test"))
    both = sorted(set(train) & set(test), key=lambda language: (-len(train[language]), language))
    if len(both) < languages:
        raise InputError(
            f"{path.name}: {len(both)} languages have documents with split train and test, "
            f"not {languages}. Ask for fewer with --languages or give another file."
        )
    largest = sorted(both[:languages])
    counts = Counter(
        label for language in largest for of_document in train[language].labels for label in of_document or ()
    )
    if len(counts) < labels:
        raise InputError(f"{path.name}: {len(counts)} labels, not {labels}. Ask for fewer with --labels.")
    classes = [label for label, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:labels]]
    return Vectors(
        {language: _vectors(language, train[language], test[language], classes) for language in largest}
    )


def draw_corpus(shape: Shape, seed: int) -> Vectors:
    """Draw a corpus of this shape."""
    return Vectors({f"l{number:02}": draw_language(shape, number, seed) for number in range(shape.languages)})


def warm_up(model: Any) -> None:
    """Fit a model on a few documents, so that no figure includes what is loaded and started at first use."""
    few = draw_corpus(Shape(languages=2, documents=30, labels=5, features=100), seed=0)
    model.fit(few.train, few.train_labels)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which corpus to take."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--data", type=Path, metavar="FILE", help="documents with split train and test (Debian's)"
    )
    source.add_argument("--shape", metavar="S", help=f"draw a corpus: {', '.join(SHAPES)} or 4x500x30x2000")
    parser.add_argument("--languages", type=values.count, metavar="N", help=f"of the file ({LANGUAGES})")
    parser.add_argument("--labels", type=values.count, metavar="N", help=f"of the file ({LABELS})")


def corpus_of(arguments: argparse.Namespace) -> Vectors:
    """The corpus that the options ask for."""
    if arguments.shape is not None:
        if arguments.languages or arguments.labels:
            raise InputError("A shape has its own languages and labels. Leave --languages and --labels out.")
        return draw_corpus(Shape.parse(arguments.shape), arguments.seed)
    if arguments.data is None and not DEBIAN.exists():
        raise InputError(
            f"../shared/data/{DEBIAN.name} is missing. "
            "Pass --data FILE (documents with split train and test) or --shape S."
        )
    return from_documents(
        arguments.data or DEBIAN, arguments.languages or LANGUAGES, arguments.labels or LABELS
    )


def _by_language(corpus: Corpus) -> dict[str, Corpus]:
    return {language: corpus.select(rows) for language, rows in corpus.by_language().items()}


def _vectors(language: str, train: Corpus, test: Corpus, classes: list[str]) -> LanguageVectors:
    vectorizer = TfidfVectorizer(language)
    return LanguageVectors(
        vectorizer.fit_transform(train.texts).astype(np.float64),
        train.label_matrix(classes).astype(np.int8),
        vectorizer.transform(test.texts).astype(np.float64),
        test.label_matrix(classes).astype(np.int8),
    )
