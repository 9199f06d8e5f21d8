"""Descriptions of packages without tags: what is joined, what is left out, and broken indices."""

import bz2
import gzip
import lzma
from pathlib import Path
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.research.corpora.builders import BuiltCorpus
from funnelling.research.corpora.debian import build_debian_untagged
from funnelling.research.corpora.debian_index import tidy_description
from tests.research.corpora.makers import stanza, write_indices


def package(name: str, source: str = "", tags: str = "", md5: str = "") -> str:
    fields = {"Package": name, "Version": "1"}
    if source:
        fields["Source"] = source
    if tags:
        fields["Tag"] = tags
    return stanza(**fields, Description="short", Description_md5=md5 or f"md5-{name}")


def description(language: str, name: str, text: str, md5: str = "") -> str:
    return stanza(Package=name, Description_md5=md5 or f"md5-{name}", **{f"Description_{language}": text})


def archive(folder: Path, packages: list[str], names: list[str], **more: list[str]) -> Path:
    """Indices in which the named packages are translated, and what else is given."""
    english = {name: f"plays {name}\n A game of {name}\n in words.\n .\n  * fun" for name in names}
    italian = {name: f"gioca {name}\n Un gioco di {name}\n in parole.\n .\n  * bello" for name in names}
    return write_indices(
        folder,
        packages,
        {
            "en": [*(description("en", *pair) for pair in english.items()), *more.get("en", [])],
            "it": [*(description("it", *pair) for pair in italian.items()), *more.get("it", [])],
        },
    )


def built(folder: Path, languages: str = "en,it", **options: Any) -> BuiltCorpus:
    return build_debian_untagged(languages.split(","), [folder], **options)


def texts(corpus: BuiltCorpus) -> dict[str, str]:
    return {document.id: document.text for document in corpus.documents}


def refusal(folder: Path, languages: str = "en,it", **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        built(folder, languages, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_source_is_a_group_with_one_document_per_language(tmp_path: Path) -> None:
    corpus = built(archive(tmp_path, [package("chess")], ["chess"]))
    assert texts(corpus) == {
        "debian/chess/en": "plays chess\nA game of chess in words.\n* fun",
        "debian/chess/it": "gioca chess\nUn gioco di chess in parole.\n* bello",
    }
    assert [(document.group, document.language, document.labels) for document in corpus.documents] == [
        ("chess", "en", None),
        ("chess", "it", None),
    ]


def test_nothing_of_a_source_with_tags(tmp_path: Path) -> None:
    packages = [
        package("go", tags="game::board"),
        package("go-data", source="go (2.1)"),
        package("chess"),
        # Another index of the same archive carries no tags.
        package("cards", tags="game::card"),
        package("cards", md5="other"),
    ]
    corpus = built(archive(tmp_path, packages, ["go", "go-data", "chess", "cards"]))
    assert {document.group for document in corpus.documents} == {"chess"}
    assert corpus.omissions[0] == "4 packages of sources with tags"


def test_one_package_per_source_the_one_of_its_name_first(tmp_path: Path) -> None:
    packages = [
        package("a-chess", source="chess"),
        package("chess"),
        package("go-data", source="go"),
        package("go-bin", source="go (1)"),
    ]
    corpus = built(archive(tmp_path, packages, ["a-chess", "chess", "go-data", "go-bin"]))
    assert texts(corpus)["debian/chess/en"].startswith("plays chess\n")
    assert texts(corpus)["debian/go/en"].startswith("plays go-bin\n")
    assert corpus.omissions[0] == "2 packages beside another one of the source"


def test_copies_of_the_english_and_stale_translations_are_left_out(tmp_path: Path) -> None:
    packages = [package("chess"), package("copy"), package("stale", md5="new"), package("missing")]
    folder = archive(
        tmp_path,
        packages,
        ["chess"],
        en=[
            description("en", "copy", "one two three four five"),
            description("en", "stale", "one two three four five", "new"),
            description("en", "missing", "one two three four five"),
        ],
        it=[
            description("it", "copy", "One two  three\n four five"),
            description("it", "stale", "uno due tre quattro cinque", "old"),
        ],
    )
    corpus = built(folder)
    assert {document.group for document in corpus.documents} == {"chess"}
    assert corpus.omissions[0] == "3 packages without 5 words in every language"


def test_enough_words(tmp_path: Path) -> None:
    folder = archive(tmp_path, [package("chess")], ["chess"])
    assert built(folder, min_words=9).documents
    assert refusal(folder, min_words=10) == (
        "no untagged package has 10 words in all of en, it. Ask for fewer --languages or --min-words."
    )


def test_english_is_needed_but_need_not_be_asked_for(tmp_path: Path) -> None:
    folder = archive(tmp_path, [package("chess")], ["chess"])
    assert texts(built(folder, "it")).keys() == {"debian/chess/it"}
    next(folder.glob("*-en")).unlink()
    assert "no index called Translation-en" in refusal(folder, "it")


@pytest.mark.parametrize(
    ("extension", "compress"), [(".xz", lzma.compress), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
def test_a_mirror_s_own_names_and_compressions(tmp_path: Path, extension: str, compress: Any) -> None:
    plain = archive(tmp_path / "lists", [package("chess")], ["chess"])
    mirror = tmp_path / "dists" / "main"
    for path in sorted(plain.iterdir()):
        target = mirror / "i18n" / (path.name.rpartition("_")[2] + extension)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(compress(path.read_bytes()))
    assert built(tmp_path / "dists").documents == built(plain).documents
    target.write_bytes(target.read_bytes()[:-30])
    assert refusal(tmp_path / "dists").endswith("ends early or is damaged. Copy or download the file again.")


def test_regional_variants(tmp_path: Path) -> None:
    folder = archive(tmp_path, [package("chess")], ["chess"])
    index = [description("pt_BR", "chess", "um dois três quatro cinco").replace("pt-BR", "pt_BR")]
    (folder / "Translation-pt_BR").write_text("".join(index), encoding="utf-8")
    assert texts(built(folder, "en,pt-br"))["debian/chess/pt_BR"] == "um dois três quatro cinco"


def test_refusals(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a", [package("chess")], ["chess"])
    assert refusal(folder, "en,xx") == (
        f"{folder}: no index called Translation-xx. Use languages of those there: en, it."
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no index called Packages" in refusal(empty)
    assert "no such folder" in refusal(tmp_path / "nowhere")
    path = next(folder.glob("*-it"))
    path.write_bytes(b"Package: chess\nDescription-it: perch\xe9\n")
    assert refusal(folder) == f"{path}:2: not UTF-8 text. Save the file as UTF-8."
    for broken in ("<html>\n404\n", " begins in the middle\n"):
        path.write_text(broken)
        assert refusal(folder) == f"{path}:1: not an index of Debian packages. Fetch it again."


def test_empty_descriptions_and_missing_fields_are_passed_over(tmp_path: Path) -> None:
    folder = archive(
        tmp_path,
        [package("chess"), stanza(Package="x"), "\n\n", stanza(Description_md5="y"), package("hollow")],
        ["chess"],
        en=[stanza(Package="chess"), description("en", "hollow", "")],
        it=[description("it", "hollow", "")],
    )
    assert {document.group for document in built(folder).documents} == {"chess"}


@pytest.mark.parametrize(
    ("field", "tidy"),
    [
        ("short", "short"),
        ("short\n one\n two", "short\none two"),
        ("short\n .\n one\n .\n two", "short\none\ntwo"),
        ("short\n list:\n  * a\n    more\n  * b\n end", "short\nlist:\n* a\nmore\n* b\nend"),
        ("\n one", "\none"),
    ],
)
def test_descriptions_are_tidied(field: str, tidy: str) -> None:
    assert tidy_description(field) == tidy
