"""Descriptions of Debian packages, no two in the same words: a comparable corpus, as RCV1/RCV2.

Each source package is described in one language only, so that no language has what another has. The
seed varies which language that is and what is for test: ten trials are ten seeds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from funnelling.errors import InputError, counted
from funnelling.formats import Document
from funnelling.randomness import stream
from funnelling.reproduction.corpora.builders import BuiltCorpus, normal_languages, omissions_in_words
from funnelling.reproduction.corpora.debian_tagged import (
    TELLS_LITTLE,
    TaggedPackage,
    document,
    read_tagged,
    telling_packages,
)

LANGUAGES = ("cs", "da", "de", "en", "es", "fr", "it", "pl", "pt", "pt_BR", "sk")
TRAIN_SHARE = 0.7
MIN_DOCUMENTS = 30  # of a label


class Sizes(NamedTuple):
    """The most documents of a language."""

    train: int
    test: int


class Placement(NamedTuple):
    """Where a package was put: in which language, and on which side of the split."""

    package: TaggedPackage
    language: str
    split: str


SIZES = Sizes(1_000, 1_000)


def build_debian_comparable(
    languages: Sequence[str] = LANGUAGES, sources: Sequence[Path] = (), seed: int = 0, verbose: int = 0
) -> BuiltCorpus:
    """The corpus of a seed: up to 1,000 training and 1,000 test documents per language, else 70 % and 30 %.

    Labels are the tags of at least 30 documents, training and test together: they are the corpus's, not
    the choice of a method. ``sources`` are folders of index files; without any, apt fetches them.
    """
    return next(build_debian_comparable_trials([seed], languages, sources, verbose))


def build_debian_comparable_trials(
    seeds: Sequence[int],
    languages: Sequence[str] = LANGUAGES,
    sources: Sequence[Path] = (),
    verbose: int = 0,
) -> Iterator[BuiltCorpus]:
    """The corpora of several seeds, for which the archive is read once."""
    languages = normal_languages(languages)
    packages = read_tagged(languages, sources, verbose)
    telling = telling_packages(packages)
    for seed in seeds:
        placements = draw(telling, languages, SIZES, seed)
        counts = Counter(tag for row in placements for tag in row.package.tags)
        labels = [tag for tag, count in counts.items() if count >= MIN_DOCUMENTS]
        documents = [document(*row, labels) for row in placements]
        labelled = [row for row in documents if row.labels]
        _check(labelled, languages)
        yield BuiltCorpus(
            labelled,
            omissions_in_words(
                (len(packages) - len(telling), "package", TELLS_LITTLE),
                (
                    len(telling) - len(placements),
                    "package",
                    "beside another one of the source, or past the size",
                ),
                (len(counts) - len(labels), "tag", f"of fewer than {MIN_DOCUMENTS} documents"),
                (len(documents) - len(labelled), "package", "without any other tag"),
            ),
        )


def draw(
    packages: Sequence[TaggedPackage], languages: Sequence[str], sizes: Sizes, seed: int
) -> list[Placement]:
    """One package of each source in one language, and the split of every language.

    Sources in the fewest languages are placed first, each in the language of its own that has fewest
    documents so far: small languages get what only they can have.
    """
    by_source: dict[str, dict[str, list[TaggedPackage]]] = {}
    for package in packages:
        for language in package.texts:
            by_source.setdefault(package.source, {}).setdefault(language, []).append(package)
    names = sorted(by_source)
    shuffled = [names[position] for position in stream(seed, "comparable", "order").permutation(len(names))]
    packages_of: dict[str, list[TaggedPackage]] = {language: [] for language in languages}
    for source in sorted(shuffled, key=lambda source: len(by_source[source])):
        random = stream(seed, "comparable", source)
        open_to = [
            language for language in sorted(by_source[source]) if len(packages_of[language]) < sum(sizes)
        ]
        if open_to:
            tie = random.permutation(len(open_to))
            choice = min(range(len(open_to)), key=lambda i: (len(packages_of[open_to[i]]), tie[i]))
            versions = by_source[source][open_to[choice]]
            packages_of[open_to[choice]].append(versions[random.integers(len(versions))])
    for language, own in packages_of.items():
        if len(own) < 2:
            raise _too_few(language, len(own))
    return [row for language in languages for row in _split(packages_of[language], language, sizes, seed)]


def _split(packages: Sequence[TaggedPackage], language: str, sizes: Sizes, seed: int) -> Iterator[Placement]:
    train = min(sizes.train, round(TRAIN_SHARE * len(packages)))
    if len(packages) >= sum(sizes):
        train = sizes.train
    order = stream(seed, "comparable", "split", language).permutation(len(packages))
    test = order[train : train + sizes.test]
    for split, rows in (("train", order[:train]), ("test", test)):
        yield from (Placement(packages[row], language, split) for row in np.sort(rows))


def _check(documents: Sequence[Document], languages: Sequence[str]) -> None:
    """Refuse a corpus in which a language has nothing to learn from, or nothing to measure on."""
    sides = Counter((document.language, document.split) for document in documents)
    for language in languages:
        if not sides[language, "train"] or not sides[language, "test"]:
            raise _too_few(language, sides[language, "train"] + sides[language, "test"])


def _too_few(language: str, number: int) -> InputError:
    return InputError(
        f"{counted(number, 'tagged package')} for {language}, too few to learn from and measure on. "
        "Use a fuller archive or other --languages."
    )
