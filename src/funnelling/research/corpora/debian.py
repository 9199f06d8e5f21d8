"""Corpora of Debian package descriptions: comparable, parallel, without tags, and the embedded one.

`debian-comparable`: each source package is described in one language only, so that no language has what
another has. The seed varies which language that is and what is for test: ten trials are ten seeds.

`debian-parallel`: a training package is read in one language, a test package in all. The seed varies only
which language the training packages are read in.

`debian-untagged`: only sources without tags, so that no text of a labelled corpus's test set, nor one much
like it, is read beforehand.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from funnelling.errors import InputError, counted
from funnelling.formats import Document
from funnelling.randomness import stream
from funnelling.research.corpora.builders import (
    BuiltCorpus,
    most_frequent,
    normal_languages,
    omissions_in_words,
)
from funnelling.research.corpora.debian_index import (
    ENGLISH,
    TELLS_LITTLE,
    Key,
    TaggedPackage,
    document,
    indices_for,
    one_per_source,
    read_descriptions,
    read_packages,
    read_tagged,
    same_wording,
    telling_packages,
)
from funnelling.runtime.progress import progress_bar
from funnelling.text.tokens import words

COMPARABLE_LANGUAGES = ("cs", "da", "de", "en", "es", "fr", "it", "pl", "pt", "pt_BR", "sk")
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
    languages: Sequence[str] = COMPARABLE_LANGUAGES,
    sources: Sequence[Path] = (),
    seeds: Sequence[int] = (0,),
    verbose: int = 0,
) -> Iterator[BuiltCorpus]:
    """A corpus per seed: up to 1,000 training and 1,000 test documents per language, else 70 % and 30 %.

    Labels are the tags of at least 30 documents, training and test together: they are the corpus's, not
    the choice of a method. ``sources`` are folders of index files; without any, apt fetches them.
    """
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


SAMPLE_LANGUAGES = ("da", "de", "en", "es", "fr", "it", "pt")
TRAIN, TEST, SAMPLE_LABELS = 250, 100, 32


def build_sample(sources: Sequence[Path] = (), seed: int = 0, verbose: int = 0) -> BuiltCorpus:
    """A cut of a comparable corpus: 250 training and 100 test documents per language, 32 labels.

    The embedded one is that of seed 0 from Debian 12 for arm64; other archives have other packages.
    """
    packages = telling_packages(read_tagged(SAMPLE_LANGUAGES, sources, verbose))
    placements = draw(packages, SAMPLE_LANGUAGES, SIZES, seed)
    sample: list[Placement] = []
    for language in SAMPLE_LANGUAGES:
        for split, size in (("train", TRAIN), ("test", TEST)):
            rows = [row for row in placements if (row.language, row.split) == (language, split)]
            order = stream(seed, "sample", language, split).permutation(len(rows))
            sample += [rows[position] for position in sorted(order[:size])]
    labels = most_frequent((row.package.tags for row in sample if row.split == "train"), SAMPLE_LABELS)
    return BuiltCorpus([document(*row, labels) for row in sample], [])


PARALLEL_LANGUAGES = ("da", "de", "en", "fr", "it")
PARALLEL_LABELS = 150


def build_debian_parallel(
    languages: Sequence[str] = PARALLEL_LANGUAGES,
    sources: Sequence[Path] = (),
    seeds: Sequence[int] = (0,),
    verbose: int = 0,
) -> Iterator[BuiltCorpus]:
    """A corpus per seed: training packages in one language each, their other versions as ``parallel``.

    The labels are the 150 tags that most training packages have; a package without any of them is left
    out. ``sources`` are folders of index files; without any, apt fetches them.
    """
    languages = normal_languages(languages)
    packages = read_tagged(languages, sources, verbose)
    telling = telling_packages(packages)
    complete = [package for package in telling if len(package.texts) == len(languages)]
    alone = sorted(one_per_source(complete).values(), key=lambda package: package.name)
    labels = most_frequent((package.tags for package in alone if not _for_test(package)), PARALLEL_LABELS)
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
        documents = []
        for package in labelled:
            drawn = languages[int(stream(seed, "parallel", package.source).integers(len(languages)))]
            for language in languages:
                side = "test" if _for_test(package) else "train" if language == drawn else "parallel"
                documents.append(document(package, language, side, labels))
        yield BuiltCorpus(documents, omissions)


def _for_test(package: TaggedPackage) -> bool:
    """Three in ten, by a hash of the source: the test documents are the same for every seed."""
    return int(hashlib.md5(package.source.encode(), usedforsecurity=False).hexdigest(), 16) % 10 < 3


Group = TypeVar("Group", str, tuple[str, str])


def none_left(kind: str, languages: Sequence[str], min_words: int) -> InputError:
    """The refusal where nothing is in all languages."""
    return InputError(
        f"no {kind} has {counted(min_words, 'word')} in all of {', '.join(languages)}. "
        "Ask for fewer --languages or --min-words."
    )


def too_short(min_words: int) -> str:
    """The reason why most groups are left out."""
    return f"without {counted(min_words, 'word')} in every language"


def has_words(text: str, language: str, number: int) -> bool:
    """Whether a text has at least so many words."""
    return len(text) >= number and len(words(text, language)) >= number


def groups_in_all(texts: Mapping[str, Mapping[Group, str]], min_words: int) -> list[Group]:
    """The groups that have enough words in every language, in alphabetical order.

    >>> groups_in_all({"en": {"a": "the cat", "b": "the dog"}, "it": {"a": "il gatto", "b": "cane"}}, 2)
    ['a']
    """
    common = set.intersection(*(set(groups) for groups in texts.values()))
    return sorted(
        group
        for group in common
        if all(has_words(groups[group], language, min_words) for language, groups in texts.items())
    )


def documents_of(
    corpus: str, groups: Iterable[str], texts: Mapping[str, Mapping[str, str]]
) -> list[Document]:
    """A document for each group and language.

    >>> [document.id for document in documents_of("help", ["a"], {"en": {"a": "cat"}, "it": {"a": "gatto"}})]
    ['help/a/en', 'help/a/it']
    """
    return [
        Document(f"{corpus}/{group}/{language}", texts[language][group], language=language, group=group)
        for group in groups
        for language in sorted(texts)
    ]


UNTAGGED_LANGUAGES = ("da", "de", "en", "fr", "it")
MIN_WORDS = 5


def build_debian_untagged(
    languages: Sequence[str] = UNTAGGED_LANGUAGES,
    sources: Sequence[Path] = (),
    min_words: int = MIN_WORDS,
    verbose: int = 0,
) -> BuiltCorpus:
    """A description of each source none of whose packages is tagged, where one is in all languages.

    ``sources`` are folders of index files; without any, apt fetches them.
    """
    languages = normal_languages(languages)
    with (
        indices_for(sorted({*languages, ENGLISH}), sources, verbose) as indices,
        progress_bar("read indices", None, bool(verbose), "packages") as advance,
    ):
        packages = read_packages(indices, advance)
        tagged = {package.source for package in packages if package.tags}
        candidates = {package.key: package for package in packages if package.source not in tagged}
        english = read_descriptions(indices, ENGLISH, advance)
        texts: dict[str, dict[Key, str]] = {}
        for language in languages:
            descriptions = english if language == ENGLISH else read_descriptions(indices, language, advance)
            texts[language] = {
                key: text
                for key, text in descriptions.items()
                if key in candidates and (language == ENGLISH or not same_wording(text, english.get(key, "")))
            }
    complete = groups_in_all(texts, min_words)
    representatives = one_per_source(candidates[key] for key in complete)
    if not representatives:
        raise none_left("untagged package", languages, min_words)
    by_source = {
        language: {source: descriptions[package.key] for source, package in representatives.items()}
        for language, descriptions in texts.items()
    }
    keys = {package.key for package in packages}
    return BuiltCorpus(
        documents_of("debian", sorted(representatives), by_source),
        omissions_in_words(
            (len(keys) - len(candidates), "package", "of sources with tags"),
            (len(candidates) - len(complete), "package", too_short(min_words)),
            (len(complete) - len(representatives), "package", "beside another one of the source"),
        ),
    )
