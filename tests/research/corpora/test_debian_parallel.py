"""The parallel corpus: the laws of its protocol, on made archives."""

import dataclasses
import hashlib
from collections import Counter
from itertools import count, islice
from pathlib import Path

import pytest

from funnelling.errors import InputError
from funnelling.formats import Document
from funnelling.research.corpora.builders import BuiltCorpus
from funnelling.research.corpora.debian import PARALLEL_LABELS as LABELS
from funnelling.research.corpora.debian import build_debian_parallel
from tests.research.corpora.tagged_makers import Made, text_of, write_archive

LANGUAGES = ("de", "en", "it")


def is_for_test(source: str) -> bool:
    return int(hashlib.md5(source.encode()).hexdigest(), 16) % 10 < 3


def names(number: int, for_test: bool) -> list[str]:
    """The first names of packages that fall on a side."""
    found = (name for name in map("p{:04}".format, count()) if is_for_test(name) == for_test)
    return list(islice(found, number))


def packages() -> list[Made]:
    """Eighty in all languages, of which some have siblings or lack tags, and some in fewer languages."""
    rows = []
    for i in range(80):
        tags = f"role::program, field::{{f{i % 4},g{i % 5}}}"
        rows.append(Made(f"p{i:04}", tags, "de en it"))
        if i % 10 == 0:
            rows.append(Made(f"a-p{i:04}", tags, "de en it", source=f"p{i:04}"))
    rows += [Made(f"partly{i}", "field::{f1,f2}", "de en") for i in range(6)]
    rows += [Made(f"dull{i}", "field::f1, role::program", "de en it") for i in range(5)]
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_archive(tmp_path_factory.mktemp("archive"), packages())


@pytest.fixture(scope="module")
def corpus(folder: Path) -> BuiltCorpus:
    return next(build_debian_parallel(LANGUAGES, [folder]))


def by_group(corpus: BuiltCorpus) -> dict[str, list[Document]]:
    groups: dict[str, list[Document]] = {}
    for row in corpus.documents:
        assert row.group is not None
        groups.setdefault(row.group, []).append(row)
    return groups


def without_splits(corpus: BuiltCorpus) -> list[Document]:
    return [dataclasses.replace(row, split=None) for row in corpus.documents]


def refusal(folder: Path, languages: tuple[str, ...] = LANGUAGES) -> str:
    with pytest.raises(InputError) as caught:
        next(build_debian_parallel(languages, [folder]))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_test_packages_are_in_all_languages_and_training_packages_in_one(corpus: BuiltCorpus) -> None:
    groups = by_group(corpus)
    assert len(groups) == 80
    for rows in groups.values():
        assert [row.language for row in rows] == list(LANGUAGES)
        sides = Counter(row.split for row in rows)
        assert sides in ({"test": 3}, {"train": 1, "parallel": 2})


def test_a_hash_of_the_source_decides_what_is_for_test(corpus: BuiltCorpus) -> None:
    for group, rows in by_group(corpus).items():
        assert ({row.split for row in rows} == {"test"}) == is_for_test(group)


def test_a_training_package_can_be_had_in_english(corpus: BuiltCorpus) -> None:
    for rows in by_group(corpus).values():
        english = [row for row in rows if row.language == "en"]
        assert len(english) == 1
        assert {row.split for row in rows} == {"test"} or english[0].split in ("train", "parallel")
        assert len({row.labels for row in rows}) == 1


def test_each_language_has_its_share_of_training(corpus: BuiltCorpus) -> None:
    training = Counter(row.language for row in corpus.documents if row.split == "train")
    assert set(training) == set(LANGUAGES)
    assert min(training.values()) >= 10


def test_what_is_left_out_and_why(corpus: BuiltCorpus) -> None:
    assert corpus.omissions == [
        "5 packages with fewer than two tags beside role:: and devel::library",
        "6 packages without a description in every language",
        "8 packages beside another one of the source",
    ]
    # The package of the source's name stands for it.
    for row in corpus.documents:
        assert row.id == f"{row.group}/{row.language}"
        assert row.text == text_of(str(row.group), str(row.language))


def test_a_seed_redraws_only_the_language_to_learn_in(folder: Path, corpus: BuiltCorpus) -> None:
    other = next(build_debian_parallel(LANGUAGES, [folder], [1]))
    assert without_splits(other) == without_splits(corpus)
    for split in ("test", "train"):
        mine, its = ([row for row in built.documents if row.split == split] for built in (corpus, other))
        assert (mine == its) == (split == "test")
        assert {row.group for row in mine} == {row.group for row in its}
    assert other.omissions == corpus.omissions


def test_a_seed_gives_its_documents_again_whatever_the_order(tmp_path: Path, corpus: BuiltCorpus) -> None:
    backwards = write_archive(tmp_path, packages(), order=reversed)
    assert next(build_debian_parallel(["it", "EN", "de"], [backwards], [0])) == corpus


def test_trials_are_the_corpora_of_their_seeds(folder: Path) -> None:
    trials = list(build_debian_parallel(LANGUAGES, [folder], seeds=[2, 0, 2]))
    assert trials == [next(build_debian_parallel(LANGUAGES, [folder], [seed])) for seed in (2, 0, 2)]


def test_another_package_moves_no_other(tmp_path: Path, corpus: BuiltCorpus) -> None:
    more = [*packages(), Made("p9999", "field::{f0,g0}", "de en it")]
    grown = next(build_debian_parallel(LANGUAGES, [write_archive(tmp_path, more)]))
    assert [row for row in grown.documents if row.group != "p9999"] == corpus.documents


def test_labels_are_the_most_frequent_of_training_packages(tmp_path: Path) -> None:
    (*training, odd), test = names(101, False), names(30, True)
    rows = [
        # Each of 150 tags two times or more.
        *(
            Made(name, f"a::{{{','.join(f't{(4 * i + j) % LABELS:03}' for j in range(4))}}}", "en it")
            for i, name in enumerate(training)
        ),
        # Frequent for test only, or all but.
        *(Made(name, "a::t000, b::{test-only,test-mostly}", "en it") for name in test[1:]),
        Made(odd, "b::{test-mostly,x}", "en it"),
        Made(test[0], "b::{test-only,test-mostly}", "en it"),
    ]
    corpus = next(build_debian_parallel(["en", "it"], [write_archive(tmp_path, rows)]))
    labels = {label for row in corpus.documents for label in row.labels or ()}
    assert labels == {f"a::t{i:03}" for i in range(LABELS)}
    assert by_group(corpus).keys() == {*training, *test[1:]}
    assert all(row.labels for row in corpus.documents)
    assert corpus.omissions == ["2 packages without any of the labels"]


def test_english_may_be_left_out(folder: Path) -> None:
    corpus = next(build_debian_parallel(["de", "it"], [folder]))
    assert {row.language for row in corpus.documents} == {"de", "it"}
    assert len(corpus.documents) == 160


@pytest.mark.parametrize("for_test", [False, True])
def test_packages_on_one_side_only_are_too_few(tmp_path: Path, for_test: bool) -> None:
    rows = [Made(name, "a::x, b::y", "de en it") for name in names(3, for_test)]
    assert refusal(write_archive(tmp_path, rows)).endswith(
        "3 tagged packages in all of de, en, it, too few to learn from some and measure on others. "
        "Use a fuller archive or fewer --languages."
    )


def test_no_package_in_all_languages_is_too_few(tmp_path: Path) -> None:
    rows = [Made(f"p{i}", "a::x, b::y", "de en" if i % 2 else "en it") for i in range(30)]
    assert refusal(write_archive(tmp_path, rows)).startswith("0 tagged packages in all of de")
