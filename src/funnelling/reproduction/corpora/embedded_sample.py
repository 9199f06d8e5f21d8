"""How the embedded corpus was made: a cut of debian-comparable."""

from collections.abc import Sequence
from pathlib import Path

from funnelling.randomness import stream
from funnelling.reproduction.corpora.builders import BuiltCorpus, most_frequent

LANGUAGES = ("da", "de", "en", "es", "fr", "it", "pt")
TRAIN, TEST, LABELS = 250, 100, 32


def build_sample(sources: Sequence[Path] = (), seed: int = 0, verbose: int = 0) -> BuiltCorpus:
    """A cut of a comparable corpus: 250 training and 100 test documents per language, 32 labels.

    The embedded one is that of seed 0 from Debian 12 for arm64; other archives have other packages.
    """
    from funnelling.reproduction.corpora.debian_comparable import SIZES, Placement, draw
    from funnelling.reproduction.corpora.debian_tagged import document, read_tagged, telling_packages

    packages = telling_packages(read_tagged(LANGUAGES, sources, verbose))
    placements = draw(packages, LANGUAGES, SIZES, seed)
    sample: list[Placement] = []
    for language in LANGUAGES:
        for split, size in (("train", TRAIN), ("test", TEST)):
            rows = [row for row in placements if (row.language, row.split) == (language, split)]
            order = stream(seed, "sample", language, split).permutation(len(rows))
            sample += [rows[position] for position in sorted(order[:size])]
    labels = most_frequent((row.package.tags for row in sample if row.split == "train"), LABELS)
    return BuiltCorpus([document(*row, labels) for row in sample], [])
