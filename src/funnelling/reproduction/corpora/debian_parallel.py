"""Descriptions of Debian packages that exist in all of five languages: a parallel corpus, as JRC-Acquis.

A training package is read in one language, a test package in all. The seed varies only which language the
training packages are read in.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from funnelling.errors import InputError, counted
from funnelling.formats import Document
from funnelling.randomness import stream
from funnelling.reproduction.corpora.builders import (
    BuiltCorpus,
    most_frequent,
    normal_languages,
    omissions_in_words,
)
from funnelling.reproduction.corpora.debian_index import one_per_source
from funnelling.reproduction.corpora.debian_tagged import (
    TELLS_LITTLE,
    TaggedPackage,
    document,
    read_tagged,
    telling_packages,
)

LANGUAGES = ("da", "de", "en", "fr", "it")
LABELS = 150


def build_debian_parallel(
    languages: Sequence[str] = LANGUAGES, sources: Sequence[Path] = (), seed: int = 0, verbose: int = 0
) -> BuiltCorpus:
    """The corpus of a seed: training packages in one language each, their other versions as ``parallel``.

    The labels are the 150 tags that most training packages have; a package without any of them is left
    out. ``sources`` are folders of index files; without any, apt fetches them.
    """
    return next(build_debian_parallel_trials([seed], languages, sources, verbose))


def build_debian_parallel_trials(
    seeds: Sequence[int],
    languages: Sequence[str] = LANGUAGES,
    sources: Sequence[Path] = (),
    verbose: int = 0,
) -> Iterator[BuiltCorpus]:
    """The corpora of several seeds, for which the archive is read once."""
    languages = normal_languages(languages)
    packages = read_tagged(languages, sources, verbose)
    telling = telling_packages(packages)
    complete = [package for package in telling if len(package.texts) == len(languages)]
    alone = sorted(one_per_source(complete).values(), key=lambda package: package.name)
    labels = most_frequent((package.tags for package in alone if not _for_test(package)), LABELS)
    labelled = [package for package in alone if not set(labels).isdisjoint(package.tags)]
    if not any(map(_for_test, labelled)) or all(map(_for_test, labelled)):
        raise InputError(
            f"{counted(len(complete), 'tagged package')} in all of {', '.join(languages)}, too few to learn "
            "from some and measure on others. Use a fuller archive or fewer --languages."
        )
    omissions = omissions_in_words(
        (len(packages) - len(telling), "package", TELLS_LITTLE),
        (len(telling) - len(complete), "package", "without a description in every language"),
        (len(complete) - len(alone), "package", "beside another one of the source"),
        (len(alone) - len(labelled), "package", "without any of the labels"),
    )
    for seed in seeds:
        rows = [row for package in labelled for row in _versions(package, languages, labels, seed)]
        yield BuiltCorpus(rows, omissions)


def _for_test(package: TaggedPackage) -> bool:
    """Three in ten, by a hash of the source: the test documents are the same for every seed."""
    return int(hashlib.md5(package.source.encode(), usedforsecurity=False).hexdigest(), 16) % 10 < 3


def _versions(
    package: TaggedPackage, languages: Sequence[str], labels: Sequence[str], seed: int
) -> Iterator[Document]:
    training_language = languages[int(stream(seed, "parallel", package.source).integers(len(languages)))]
    for language in languages:
        side = "test" if _for_test(package) else "train" if language == training_language else "parallel"
        yield document(package, language, side, labels)
