"""Packages with tags: how tags are read, which descriptions belong to a package, and broken archives."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.errors import InputError
from funnelling.formats import Document
from funnelling.research.corpora.builders import most_frequent
from funnelling.research.corpora.debian_index import (
    TaggedPackage,
    document,
    parse_tags,
    read_tagged,
    telling_packages,
)
from tests.research.corpora.makers import stanza, write_indices
from tests.research.corpora.tagged_makers import Made, text_of, write_archive

GAME = "game::board, use::playing"


def read(*folders: Path, languages: str = "en it") -> dict[str, TaggedPackage]:
    packages = read_tagged(languages.split(), folders)
    assert len({package.name for package in packages}) == len(packages)
    return {package.name: package for package in packages}


def refusal(*folders: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(*folders)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def translations(language: str, *entries: tuple[str, str, str]) -> list[str]:
    """Stanzas of a name, a hash and a text."""
    return [
        stanza(Package=name, Description_md5=md5, **{f"Description_{language}": text})
        for name, md5, text in entries
    ]


@pytest.mark.parametrize(
    ("field", "tags"),
    [
        ("", []),
        ("game::board", ["game::board"]),
        ("use::playing, game::board", ["game::board", "use::playing"]),
        ("game::board,use::playing", ["game::board", "use::playing"]),
        ("devel::{lang:c,library}, role::devel-lib", ["devel::lang:c", "devel::library", "role::devel-lib"]),
        ("devel::{lang:c++, library}", ["devel::lang:c++", "devel::library"]),
        ("works-with-format::{png}", ["works-with-format::png"]),
        ("a::{x,y}, a::x, a::x", ["a::x", "a::y"]),
        ("a::x,\n b::{y,z},\n c::w", ["a::x", "b::y", "b::z", "c::w"]),
        ("\n a::x,\n b::{y,\n z}", ["a::x", "b::y", "b::z"]),
    ],
)
def test_tags_are_read_however_they_are_written(field: str, tags: list[str]) -> None:
    assert parse_tags(field) == tuple(tags)


@pytest.mark.parametrize(
    "field",
    [
        "special::obsolete",
        "special::{obsolete,meta}",
        "use::TODO",
        "use::{TODO,not-applicable}",
        "works-with::not-applicable, implemented-in::TODO",
        "devel::{}, use::",
    ],
)
def test_tags_that_say_nothing_are_left_out(field: str) -> None:
    assert parse_tags(field) == ()
    assert parse_tags(f"game::board, {field}, use::playing") == ("game::board", "use::playing")


def test_tags_that_only_resemble_those_that_say_nothing_are_kept() -> None:
    assert parse_tags("office::TODO-list, not-special::x") == ("not-special::x", "office::TODO-list")


_names = st.text("abcxyz019:+.-", min_size=1, max_size=6).filter(lambda name: not name.endswith(":"))
_facets = st.text("abcxyz-", min_size=1, max_size=4)


@given(st.dictionaries(_facets, st.sets(_names, min_size=1, max_size=4), max_size=4))
def test_braces_and_line_breaks_change_no_tag(facets: dict[str, set[str]]) -> None:
    tags = sorted(f"{facet}::{name}" for facet, names in facets.items() for name in names)
    in_braces = [f"{facet}::{{{','.join(sorted(names))}}}" for facet, names in facets.items()]
    assert list(parse_tags(", ".join(tags))) == tags
    assert list(parse_tags(",\n ".join(in_braces))) == tags


def test_a_package_has_its_source_its_tags_and_its_descriptions(tmp_path: Path) -> None:
    folder = write_archive(tmp_path, [Made("go", GAME, "en it", "games (2.1)"), Made("chess", GAME, "en")])
    assert read_tagged(["en", "it"], [folder]) == [
        TaggedPackage("chess", "chess", ("game::board", "use::playing"), {"en": text_of("chess", "en")}),
        TaggedPackage(
            "go",
            "games",
            ("game::board", "use::playing"),
            {"en": text_of("go", "en"), "it": text_of("go", "it")},
        ),
    ]


def test_tags_over_several_lines_of_the_index(tmp_path: Path) -> None:
    folder = write_archive(tmp_path, [Made("go", "game::board,\n use::{playing,\n  learning}", "en it")])
    assert read(folder)["go"].tags == ("game::board", "use::learning", "use::playing")


def test_packages_without_tags_are_left_out(tmp_path: Path) -> None:
    packages = [Made("go", GAME, "en it"), Made("none", "", "en"), Made("empty", "special::meta", "en")]
    assert read(write_archive(tmp_path, packages)).keys() == {"go"}


def test_a_description_must_be_of_the_package_and_of_its_wording(tmp_path: Path) -> None:
    folder = write_indices(
        tmp_path,
        [
            stanza(Package="go", Description_md5="new", Tag=GAME),
            stanza(Package="chess", Description_md5="same", Tag=GAME),
            stanza(Package="cards", Description_md5="same", Tag=GAME),
        ],
        {
            "en": translations("en", ("go", "new", "plays go"), ("chess", "same", "plays")),
            "it": translations(
                "it",
                ("go", "old", "una volta giocava a go"),
                ("cards", "same", "gioca a carte"),
                ("dice", "same", "gioca a dadi"),
            ),
        },
    )
    assert {name: package.texts for name, package in read(folder).items()} == {
        "go": {"en": "plays go"},
        "chess": {"en": "plays"},
        "cards": {"it": "gioca a carte"},
    }


@pytest.mark.parametrize("languages", ["en it", "it en", "it"])
def test_a_description_left_in_english_is_none(tmp_path: Path, languages: str) -> None:
    folder = write_indices(
        tmp_path,
        [stanza(Package=name, Description_md5=name, Tag=GAME) for name in ("go", "chess")],
        {
            "en": translations(
                "en", ("go", "go", "plays go\n A game\n in words."), ("chess", "chess", "plays chess")
            ),
            # The same words in other lines.
            "it": translations(
                "it", ("go", "go", "plays go\n A game in\n words."), ("chess", "chess", "gioca a scacchi")
            ),
        },
    )
    packages = read(folder, languages=languages)
    assert "it" not in packages["go"].texts
    assert packages["chess"].texts["it"] == "gioca a scacchi"
    assert all(("en" in package.texts) == ("en" in languages) for package in packages.values())


@pytest.mark.parametrize("updates_first", [False, True])
@pytest.mark.parametrize("md5", ["a-before", "z-after"])
def test_a_package_repeated_by_updates_keeps_its_translations(
    tmp_path: Path, updates_first: bool, md5: str
) -> None:
    main = write_archive(tmp_path / "main", [Made("go", GAME, "en it", md5="m-main")])
    updates = write_archive(tmp_path / "updates", [Made("go", "game::new", "en", md5=md5)])
    found = read(*([updates, main] if updates_first else [main, updates]))
    assert found["go"].texts.keys() == {"en", "it"}
    assert found["go"].tags == ("game::board", "use::playing")


def test_a_package_repeated_without_tags_keeps_its_tags(tmp_path: Path) -> None:
    main = write_archive(tmp_path / "main", [Made("go", GAME, "en it")])
    updates = write_archive(tmp_path / "updates", [Made("go", "", "en it")])
    assert read(main, updates) == read(updates, main) == read(main)


@pytest.mark.parametrize("name", ["pt%5fBR", "pt_BR"])
def test_regional_variants_under_apt_s_names(tmp_path: Path, name: str) -> None:
    folder = write_archive(tmp_path, [Made("go", GAME, "en")])
    write_indices(folder / "more", [], {name: translations("pt_BR", ("go", "md5-go", "joga go"))})
    assert read(folder, languages="pt_BR")["go"].texts == {"pt_BR": "joga go"}


def test_an_archive_without_tags_is_refused(tmp_path: Path) -> None:
    says = "the index called Packages has no tags. Take that of Debian's main archive."
    assert refusal(write_archive(tmp_path / "a", [Made("go", "", "en it")])) == says
    assert refusal(write_archive(tmp_path / "b", [Made("go", "special::x, use::TODO", "en it")])) == says
    assert refusal(write_archive(tmp_path / "c", [], "it")) == says


def test_a_missing_index_is_refused(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "a", [Made("go", GAME, "en fr")])
    assert refusal(folder) == (
        f"{folder}: no index called Translation-it. Use languages of those there: en, fr."
    )
    assert "no such folder" in refusal(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("tags", "telling"),
    [
        ("game::board, use::playing", True),
        ("devel::lang:c, use::playing, role::program", True),
        ("game::board", False),
        ("game::board, role::program, role::app-data", False),
        ("devel::library, role::{devel-lib,shared-lib}, game::board", False),
    ],
)
def test_two_tags_must_say_what_a_package_is_for(tags: str, telling: bool) -> None:
    package = TaggedPackage("go", "go", parse_tags(tags), {})
    assert telling_packages([package]) == ([package] if telling else [])


def test_a_document_has_those_tags_that_are_labels() -> None:
    package = TaggedPackage("go", "games", ("a::x", "b::y", "c::z"), {"en": "plays", "it": "gioca"})
    assert document(package, "it", "train", ["c::z", "a::x", "d::w"]) == Document(
        "go/it", "gioca", language="it", labels=("a::x", "c::z"), split="train", group="games"
    )
    assert document(package, "en", "test", []).labels == ()


def test_the_most_frequent_tags_first_and_equals_by_name() -> None:
    packages = [
        TaggedPackage(str(i), str(i), tags, {})
        for i, tags in enumerate([("b", "d"), ("c", "d"), ("b", "c", "a")])
    ]
    tags = [package.tags for package in packages]
    assert most_frequent(tags, 3) == most_frequent(tags[::-1], 3) == ["b", "c", "d"]
    assert most_frequent(tags, 9) == ["b", "c", "d", "a"]


def test_an_empty_description_is_none(tmp_path: Path) -> None:
    folder = write_indices(
        tmp_path,
        [stanza(Package="go", Tag=GAME, Description_md5="1")],
        {
            "en": [stanza(Package="go", Description_md5="1", Description_en="plays go")],
            "it": [stanza(Package="go", Description_md5="1", Description_it="")],
        },
    )
    assert [list(package.texts) for package in read_tagged(["en", "it"], [folder])] == [["en"]]


def test_the_order_of_an_index_decides_nothing(tmp_path: Path) -> None:
    rows = [Made("go", "a::x", "en"), Made("go", "a::y", "en")]
    forwards, backwards = (
        write_archive(tmp_path / str(n), order) for n, order in enumerate((rows, rows[::-1]))
    )
    assert read_tagged(["en"], [forwards]) == read_tagged(["en"], [backwards])
