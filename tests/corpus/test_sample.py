"""The embedded corpus, and how one like it is built."""

from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from funnelling.corpus.reference import SAMPLE_FILE, read_sample
from funnelling.research.corpora import debian
from funnelling.research.corpora.builders import BuiltCorpus
from funnelling.research.corpora.debian import SAMPLE_LANGUAGES as LANGUAGES
from funnelling.research.corpora.debian import build_sample
from tests.research.corpora.tagged_makers import Made, write_archive


def test_sizes() -> None:
    corpus = read_sample()
    sizes = Counter(zip(corpus.languages, corpus.splits, strict=True))
    assert len(corpus.by_language()) == 7
    assert set(sizes.values()) == {250, 100}
    assert all(sizes[language, "train"] == 250 for language in corpus.by_language())
    assert 25 <= len(corpus.label_set()) <= 40
    assert len(set(corpus.ids)) == len(corpus)
    assert None not in corpus.labels


def test_no_group_is_on_both_sides() -> None:
    corpus = read_sample()
    sides = [set(corpus.split(side).groups) - {None} for side in ("train", "test")]
    assert sides[0]
    assert not sides[0] & sides[1]
    assert len(set(corpus.groups)) == len(corpus)  # no package is described twice


def test_it_is_small_and_states_its_origin() -> None:
    folder = files("funnelling.corpus")
    assert len((folder / SAMPLE_FILE).read_bytes()) < 1_000_000
    notice = (folder / "NOTICE").read_text(encoding="utf-8")
    assert "Debian" in notice
    assert "licen" in notice.lower()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packages in one language or in all, more than needed, with tags more and less frequent."""
    tags = [f"field::f{i % 41}, use::u{i % 43}" for i in range(2_800)]
    packages = [
        Made(f"p{i:04}", tags[i], " ".join(LANGUAGES) if i % 8 == 7 else LANGUAGES[i % 7])
        for i in range(2_800)
    ]
    return write_archive(tmp_path_factory.mktemp("archive"), packages)


@pytest.fixture(scope="module")
def built(archive: Path) -> BuiltCorpus:
    return build_sample([archive])


def test_one_from_another_archive_has_the_same_shape(built: BuiltCorpus) -> None:
    assert Counter((row.language, row.split) for row in built.documents) == {
        (language, split): size for language in LANGUAGES for split, size in (("train", 250), ("test", 100))
    }
    assert len({row.group for row in built.documents}) == len(built.documents)


def test_its_labels_are_the_most_frequent_in_training(built: BuiltCorpus) -> None:
    counts: Counter[str] = Counter()
    for row in built.documents:
        number = int(row.id[1:5])
        tags = (f"field::f{number % 41}", f"use::u{number % 43}")
        counts.update(tags if row.split == "train" else ())
    expected = sorted(counts, key=lambda tag: (-counts[tag], tag))[:32]
    labels = {label for row in built.documents for label in row.labels or ()}
    assert labels == set(expected)
    # Documents outlive their rare tags.
    assert any(row.labels == () for row in built.documents)


def test_a_seed_gives_it_again_and_another_one_others(archive: Path, built: BuiltCorpus) -> None:
    assert build_sample([archive], 0) == built
    other = build_sample([archive], 1)
    assert {row.id for row in other.documents} != {row.id for row in built.documents}


def test_it_is_a_cut_of_the_comparable_corpus(archive: Path, built: BuiltCorpus) -> None:
    whole = {
        (row.id, row.text, row.split)
        for row in next(debian.build_debian_comparable(LANGUAGES, [archive])).documents
    }
    assert {(row.id, row.text, row.split) for row in built.documents} <= whole
