"""The comparable corpus: the laws of its protocol, on made archives."""

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funnelling.errors import InputError
from funnelling.research.corpora import debian
from funnelling.research.corpora.builders import BuiltCorpus
from funnelling.research.corpora.debian import (
    MIN_DOCUMENTS,
    Placement,
    Sizes,
    build_debian_comparable,
    draw,
)
from funnelling.research.corpora.debian_index import TaggedPackage
from tests.research.corpora.tagged_makers import Made, comparable_packages, text_of, write_archive

LANGUAGES = ("en", "fr", "it")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_archive(tmp_path_factory.mktemp("archive"), comparable_packages())


@pytest.fixture(scope="module")
def corpus(folder: Path) -> BuiltCorpus:
    return next(build_debian_comparable(LANGUAGES, [folder]))


def tagged(number: int, languages: str, prefix: str = "s") -> list[TaggedPackage]:
    """Packages of as many sources in the same languages."""
    texts = {language: language for language in languages.split()}
    return [TaggedPackage(f"{prefix}{i}", f"{prefix}{i}", ("a::x", "b::y"), texts) for i in range(number)]


def sizes_of(rows: list[Placement]) -> dict[tuple[str, str], int]:
    return dict(Counter((row.language, row.split) for row in rows))


def assignment(corpus: BuiltCorpus) -> dict[str | None, tuple[str | None, str | None]]:
    return {row.group: (row.language, row.split) for row in corpus.documents}


def refusal(languages: tuple[str, ...], folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        next(build_debian_comparable(languages, [folder]))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_source_is_in_one_language_once_and_on_one_side(corpus: BuiltCorpus) -> None:
    groups = [row.group for row in corpus.documents]
    assert len(set(groups)) == len(groups) == 300
    assert {row.language for row in corpus.documents} == set(LANGUAGES)
    assert {row.split for row in corpus.documents} == {"train", "test"}


def test_a_document_is_the_description_of_a_package_in_its_language(corpus: BuiltCorpus) -> None:
    packages = {package.name: package for package in comparable_packages()}
    for row in corpus.documents:
        name, _, language = row.id.partition("/")
        assert row.language == language
        assert language in packages[name].languages.split()
        assert row.text == text_of(name, language)
        assert row.group == name.removesuffix("-data")


def test_any_package_of_a_source_may_stand_for_it(corpus: BuiltCorpus) -> None:
    standing = Counter(row.id.partition("/")[0].endswith("-data") for row in corpus.documents)
    assert standing[True] >= 20  # of the 100 sources with two


def test_labels_have_enough_documents_and_documents_have_labels(corpus: BuiltCorpus) -> None:
    counts = Counter(label for row in corpus.documents for label in row.labels or ())
    assert len(counts) == 1 + 4 + 3
    assert min(counts.values()) >= MIN_DOCUMENTS == 30
    for row in corpus.documents:
        number = int(row.id[1:4])
        assert row.labels == (f"field::f{number % 4}", f"interface::i{number % 3}", "role::program")
    assert corpus.omissions == [
        "100 packages beside another one of the source, or past the size",
        "300 tags of fewer than 30 documents",
    ]


@pytest.mark.parametrize(("number", "kept"), [(29, False), (30, True)])
def test_a_label_needs_thirty_documents(tmp_path: Path, number: int, kept: bool) -> None:
    packages = [
        *(Made(f"a{i}", "a::x, b::y, c::rare", "en") for i in range(number)),
        *(Made(f"b{i}", "a::x, b::y", "en") for i in range(60 - number)),
        Made("odd", "d::one, d::two", "en"),
    ]
    corpus = next(build_debian_comparable(["en"], [write_archive(tmp_path, packages)]))
    assert len(corpus.documents) == 60
    labels = {label for row in corpus.documents for label in row.labels or ()}
    assert labels == {"a::x", "b::y", *(["c::rare"] if kept else [])}
    assert "1 package without any other tag" in corpus.omissions
    assert all(row.labels for row in corpus.documents)


def test_packages_need_two_telling_tags(tmp_path: Path) -> None:
    packages = [
        *(Made(f"a{i}", "a::x, b::y, role::program", "en") for i in range(40)),
        *(Made(f"b{i}", "a::x, role::program, devel::library", "en") for i in range(7)),
    ]
    corpus = next(build_debian_comparable(["en"], [write_archive(tmp_path, packages)]))
    assert {row.id[0] for row in corpus.documents} == {"a"}
    assert corpus.omissions == ["7 packages with fewer than two tags beside role:: and devel::library"]
    assert all("role::program" in (row.labels or ()) for row in corpus.documents)


def test_a_source_in_one_language_alone_goes_there(tmp_path: Path) -> None:
    packages = [
        *(Made(f"many{i:02}", "a::x, b::y", "en it sk") for i in range(60)),
        *(Made(f"only{i:02}", "a::x, b::y", "sk") for i in range(10)),
        *(Made(f"two{i:02}", "a::x, b::y", "en it") for i in range(20)),
    ]
    folder = write_archive(tmp_path, packages)
    for seed in range(3):
        placed = assignment(next(build_debian_comparable(["en", "it", "sk"], [folder], [seed])))
        assert all(placed[f"only{i:02}"][0] == "sk" for i in range(10))
        # What all have fills up what is short: thirty each.
        assert Counter(language for language, _ in placed.values()) == {"en": 30, "it": 30, "sk": 30}


def test_the_language_with_fewest_documents_is_served_first(corpus: BuiltCorpus) -> None:
    # 75 sources are in English alone, 75 in Italian too, 150 in all: each language can have a hundred.
    assert Counter(row.language for row in corpus.documents) == dict.fromkeys(LANGUAGES, 100)
    numbers = [int(row.id[1:4]) for row in corpus.documents if row.language != "en"]
    assert all(number % 4 for number in numbers)


def test_seventy_to_thirty_where_there_are_few(corpus: BuiltCorpus) -> None:
    assert Counter((row.language, row.split) for row in corpus.documents) == {
        (language, split): size for language in LANGUAGES for split, size in (("train", 70), ("test", 30))
    }


@pytest.mark.parametrize(
    ("packages", "train", "test"),
    [(2, 1, 1), (10, 7, 3), (25, 18, 7), (29, 20, 9), (39, 20, 19), (40, 20, 20), (200, 20, 20)],
)
def test_sizes_have_a_limit(packages: int, train: int, test: int) -> None:
    rows = draw(tagged(packages, "en"), ["en"], Sizes(20, 20), 0)
    assert sizes_of(rows) == {("en", "train"): train, ("en", "test"): test}


def test_the_limit_is_a_thousand_on_each_side() -> None:
    assert debian.SIZES == (1_000, 1_000)
    rows = draw(tagged(2_500, "en"), ["en"], debian.SIZES, 0)
    assert sizes_of(rows) == {("en", "train"): 1_000, ("en", "test"): 1_000}


def test_what_one_language_has_no_room_for_another_takes() -> None:
    rows = draw([*tagged(30, "en"), *tagged(15, "en it", "t")], ["en", "it"], Sizes(10, 10), 0)
    assert sizes_of(rows) == {
        ("en", "train"): 10,
        ("en", "test"): 10,
        ("it", "train"): 10,
        ("it", "test"): 5,
    }


def test_the_order_of_sources_is_of_no_account() -> None:
    packages = [*tagged(30, "en it"), *tagged(20, "en", "t")]
    sizes = Sizes(10, 10)
    assert draw(packages, ["en", "it"], sizes, 0) == draw(packages[::-1], ["en", "it"], sizes, 0)


def test_the_order_of_the_index_is_of_no_account(tmp_path: Path, corpus: BuiltCorpus) -> None:
    backwards = write_archive(tmp_path / "a", comparable_packages(), order=reversed)
    assert next(build_debian_comparable(LANGUAGES, [backwards])) == corpus

    def shuffled(stanzas: list[str]) -> list[str]:
        return random.Random(3).sample(stanzas, len(stanzas))

    assert (
        next(
            build_debian_comparable(
                LANGUAGES, [write_archive(tmp_path / "b", comparable_packages(), order=shuffled)]
            )
        )
        == corpus
    )


def test_the_order_and_spelling_of_languages_is_of_no_account(folder: Path, corpus: BuiltCorpus) -> None:
    assert next(build_debian_comparable(["IT", "fr", "en", "it"], [folder])) == corpus


def test_a_seed_gives_its_documents_again_and_another_others(folder: Path, corpus: BuiltCorpus) -> None:
    assert next(build_debian_comparable(LANGUAGES, [folder], [0])) == corpus
    other = next(build_debian_comparable(LANGUAGES, [folder], [1]))
    before, after = assignment(corpus), assignment(other)
    assert before.keys() == after.keys()
    assert any(before[group][0] != after[group][0] for group in before)
    assert any(
        before[group][0] == after[group][0] and before[group][1] != after[group][1] for group in before
    )


def test_trials_are_the_corpora_of_their_seeds(folder: Path) -> None:
    trials = list(build_debian_comparable(LANGUAGES, [folder], seeds=[4, 0, 4]))
    assert trials == [next(build_debian_comparable(LANGUAGES, [folder], [seed])) for seed in (4, 0, 4)]


def test_a_language_without_descriptions_is_refused(tmp_path: Path) -> None:
    folder = write_archive(tmp_path, comparable_packages(40), "sk")
    assert refusal((*LANGUAGES, "sk"), folder) == (
        "0 tagged packages for sk, too few to learn from and measure on. "
        "Use a fuller archive or other --languages."
    )


def test_labels_too_rare_leave_nothing_and_are_refused(tmp_path: Path) -> None:
    folder = write_archive(tmp_path, [Made(f"p{i}", "a::x, b::y", "en it") for i in range(20)])
    assert refusal(("en", "it"), folder).startswith("0 tagged packages for en, too few")


def test_a_language_without_an_index_is_refused(folder: Path) -> None:
    assert refusal((*LANGUAGES, "sk"), folder) == (
        f"{folder}: no index called Translation-sk. Use languages of those there: en, fr, it."
    )


@st.composite
def archives(draw_from: st.DrawFn) -> list[TaggedPackage]:
    """Sources with one to three packages in some languages, and in each language two sources at least."""
    packages = [package for language in LANGUAGES for package in tagged(2, language, language)]
    described = st.lists(st.sets(st.sampled_from(LANGUAGES)), min_size=1, max_size=3)
    for i, versions in enumerate(draw_from(st.lists(described, max_size=30))):
        for j, languages in enumerate(versions):
            texts = {language: language for language in sorted(languages)}
            packages.append(TaggedPackage(f"p{i}-{j}", f"p{i}", ("a::x", "b::y"), texts))
    return packages


@settings(max_examples=60, deadline=None)
@given(archives(), st.integers(1, 8), st.integers(0, 5))
def test_the_protocol_holds_for_any_archive(packages: list[TaggedPackage], size: int, seed: int) -> None:
    rows = draw(packages, LANGUAGES, Sizes(size, size), seed)
    assert rows == draw(packages, LANGUAGES, Sizes(size, size), seed)
    placed = {row.package.source: row for row in rows}
    assert len(placed) == len(rows)
    assert all(row.language in row.package.texts for row in rows)

    languages_of: dict[str, set[str]] = {}
    for package in packages:
        languages_of.setdefault(package.source, set()).update(package.texts)
    counts = Counter(row.language for row in rows)
    for source in languages_of.keys() - placed.keys():
        # Only where its languages are full, and of sources that are in no more languages.
        for language in languages_of[source]:
            assert counts[language] == 2 * size
            assert all(
                len(languages_of[row.package.source]) <= len(languages_of[source])
                for row in rows
                if row.language == language
            )

    for language in LANGUAGES:
        train = sizes_of(rows).get((language, "train"), 0)
        assert counts[language] <= 2 * size
        assert train == min(size, round(0.7 * counts[language]))
