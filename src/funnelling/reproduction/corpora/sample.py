"""What the embedded corpus was made by: a cut of debian-comparable."""

from collections.abc import Sequence
from pathlib import Path

from funnelling.randomness import stream
from funnelling.reproduction.corpora.built import Built, most_frequent

LANGUAGES = ("da", "de", "en", "es", "fr", "it", "pt")
TRAIN, TEST, LABELS = 250, 100, 32


def build(sources: Sequence[Path] = (), seed: int = 0, verbose: int = 0) -> Built:
    """A cut of a comparable corpus: 250 training and 100 test documents a language, 32 labels.

    The embedded one is that of seed 0 from Debian 12 for arm64; other archives have other packages.
    """
    from funnelling.reproduction.corpora.debian_comparable import SIZES, Drawn, draw
    from funnelling.reproduction.corpora.debian_tagged import document, read_tagged, telling_packages

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
