"""The embedded corpus: descriptions of Debian packages, enough to see every part of the software work."""

from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

from funnelling.corpus import Corpus, read_corpus
from funnelling.datasets.built import Built, most_frequent
from funnelling.randomness import stream

FILE = "sample.jsonl.gz"
LANGUAGES = ("da", "de", "en", "es", "fr", "it", "pt")
TRAIN, TEST, LABELS = 250, 100, 32


def read_sample() -> Corpus:
    """The embedded corpus, with splits train and test.

    >>> corpus = read_sample()
    >>> len(corpus), len(corpus.by_language()), len(corpus.label_set()), sorted(set(corpus.splits))
    (2450, 7, 32, ['test', 'train'])
    """
    with as_file(files("funnelling.datasets") / FILE) as path:
        return read_corpus(path)


def build(sources: Sequence[Path] = (), seed: int = 0, verbose: int = 0) -> Built:
    """A cut of a comparable corpus: 250 training and 100 test documents a language, 32 labels.

    The embedded one is that of seed 0 from Debian 12 for arm64; other archives have other packages.
    """
    from funnelling.datasets.debian_comparable import SIZES, Drawn, draw
    from funnelling.datasets.debian_tagged import document, read_tagged, telling_packages

    packages = telling_packages(read_tagged(LANGUAGES, sources, verbose))
    drawn = draw(packages, LANGUAGES, SIZES, seed)
    chosen: list[Drawn] = []
    for language in LANGUAGES:
        for split, size in (("train", TRAIN), ("test", TEST)):
            rows = [row for row in drawn if (row.language, row.split) == (language, split)]
            order = stream(seed, "sample", language, split).permutation(len(rows))
            chosen += [rows[position] for position in sorted(order[:size])]
    labels = most_frequent((row.package.tags for row in chosen if row.split == "train"), LABELS)
    return Built([document(*row, labels) for row in chosen], [])
