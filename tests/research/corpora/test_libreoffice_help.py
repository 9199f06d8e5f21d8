"""LibreOffice's help: aligned pages and paragraphs, without what is not translated."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.research.corpora.builders import BuiltCorpus
from funnelling.research.corpora.libreoffice import build_libreoffice_help
from tests.research.corpora.makers import help_package, help_page

OPEN = {
    "en-us": help_page("Open", ("par_1", "Choose the file."), ("par_2", "Not yet done."), ("par_3", "42")),
    "it": help_page("Apri", ("par_1", "Scegliete il file."), ("par_2", "not  yet DONE."), ("par_3", "42")),
    "pt-br": help_page("Abrir", ("par_1", "Escolha o arquivo."), ("par_2", "Ainda não."), ("par_3", "42")),
}


def packages(folder: Path, pages: dict[str, dict[str, str]]) -> Path:
    """A folder with a package for each code, from page to code to content."""
    for code in dict.fromkeys(code for versions in pages.values() for code in versions):
        help_package(
            folder, code, {page: versions[code] for page, versions in pages.items() if code in versions}
        )
    return folder


def built(folder: Path, languages: str, **options: Any) -> BuiltCorpus:
    return build_libreoffice_help(languages.split(","), [folder], **{"min_words": 1, **options})


def texts(corpus: BuiltCorpus) -> dict[str, str]:
    return {document.id: document.text for document in corpus.documents}


def refusal(folder: Path, languages: str, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        built(folder, languages, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_page_is_a_group_with_one_document_per_language(tmp_path: Path) -> None:
    corpus = built(packages(tmp_path, {"swriter/open": OPEN}), "PT-br,en,it")
    assert texts(corpus) == {
        "libreoffice/swriter/open/en": "Open\nChoose the file.\nNot yet done.",
        "libreoffice/swriter/open/it": "Apri\nScegliete il file.",
        "libreoffice/swriter/open/pt_BR": "Abrir\nEscolha o arquivo.\nAinda não.",
    }
    assert {document.group for document in corpus.documents} == {"swriter/open"}
    assert [document.language for document in corpus.documents] == ["en", "it", "pt_BR"]
    assert all(document.labels is None for document in corpus.documents)
    assert corpus.omissions == ["untranslated paragraphs (en 0 %, it 25 %, pt_BR 0 %)"]


def test_english_goes_by_both_names_and_is_needed_even_if_not_asked_for(tmp_path: Path) -> None:
    folder = packages(tmp_path, {"open": OPEN})
    assert texts(built(folder, "en-US,it")).keys() == {"libreoffice/open/en", "libreoffice/open/it"}
    assert texts(built(folder, "it")) == {"libreoffice/open/it": "Apri\nScegliete il file."}
    next(folder.glob("*en-us*")).unlink()
    assert "no package libreoffice-help-en-us, which shows what is untranslated." in refusal(folder, "it")


def test_british_english_is_not_taken_for_untranslated(tmp_path: Path) -> None:
    folder = packages(tmp_path, {"open": {"en-us": OPEN["en-us"], "en-gb": OPEN["en-us"]}})
    assert texts(built(folder, "en,en_GB"))["libreoffice/open/en_GB"].endswith("Not yet done.")


def test_a_heading_that_differs_from_the_title_is_kept(tmp_path: Path) -> None:
    page = help_page("Open", ("par_1", "Choose."), heading="Opening")
    assert texts(built(packages(tmp_path, {"open": {"en-us": page}}), "en")) == {
        "libreoffice/open/en": "Open\nOpening\nChoose."
    }


def test_only_pages_with_enough_words_in_every_language(tmp_path: Path) -> None:
    short = {code: help_page(f"Short {code}", ("par_1", f"Kurz {code}")) for code in ("en-us", "it")}
    short["it"] = help_page("Breve", ("par_1", "Kurz en-us"))
    alone = {"en-us": help_page("Alone", ("par_1", "Nobody translated this page yet."))}
    folder = packages(tmp_path, {"open": OPEN, "short": short, "alone": alone})
    corpus = built(folder, "en,it", min_words=4)
    assert {document.group for document in corpus.documents} == {"open"}
    assert corpus.omissions[1] == "2 pages without 4 words in every language"
    message = refusal(folder, "en,it", min_words=None)
    assert message == "no page has 50 words in all of en, it. Ask for fewer --languages or --min-words."


def test_paragraphs_are_aligned_by_id_and_position(tmp_path: Path) -> None:
    """Also where a language sorts them anew; then those without an id of their own have no partner."""
    page = {
        "en-us": help_page(
            "List",
            ("par_1", "the apple"),
            ("par_2", "the pear"),
            ("", "last of all"),
            ("x", "one"),
            ("x", "two"),
        ),
        "it": help_page(
            "Lista",
            ("par_1", "la mela"),
            ("par_2", "la pera"),
            ("", "per ultimo"),
            ("x", "uno"),
            ("x", "due"),
        ),
        "de": help_page(
            "Liste",
            ("par_2", "die Birne"),
            ("par_1", "der Apfel"),
            ("", "zuletzt"),
            ("x", "zwei"),
            ("x", "eins"),
        ),
    }
    folder = packages(tmp_path, {"list": page})
    two = texts(built(folder, "en,it", paragraphs=True))
    assert two["libreoffice/list#par_1/it"] == "la mela"
    assert two["libreoffice/list#4/en"] == "last of all"
    assert two["libreoffice/list#4/it"] == "per ultimo"
    assert two["libreoffice/list#5/it"] == "uno"
    three = built(folder, "en,it,de", paragraphs=True)
    assert texts(three)["libreoffice/list#par_1/de"] == "der Apfel"
    assert {document.group for document in three.documents} == {"list#hd_id1", "list#par_1", "list#par_2"}
    # Pages lose nothing by it.
    assert texts(built(folder, "en,it,de"))["libreoffice/list/de"] == (
        "Liste\ndie Birne\nder Apfel\nzuletzt\nzwei\neins"
    )


def test_paragraphs_are_translated_long_enough_and_said_once(tmp_path: Path) -> None:
    pages = {
        name: {
            "en-us": help_page(
                "A", ("par_1", "Choose the file."), ("par_2", "Not yet done."), ("par_3", "Two words")
            ),
            "it": help_page(
                "B", ("par_1", "Scegliete il file."), ("par_2", "Not yet done."), ("par_3", "Due parole")
            ),
        }
        for name in ("a", "b")
    }
    corpus = built(packages(tmp_path, pages), "en,it", paragraphs=True, min_words=None)
    assert texts(corpus).keys() == {"libreoffice/a#par_1/en", "libreoffice/a#par_1/it"}
    assert corpus.omissions[2] == "1 repetition of a paragraph"


def test_several_folders_in_any_order_give_the_same(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    packages(one, {"open": {"en-us": OPEN["en-us"]}, "a": {"en-us": OPEN["en-us"]}})
    packages(other, {"open": {"it": OPEN["it"]}, "a": {"it": OPEN["it"]}})
    first = build_libreoffice_help(["it", "en"], [one, other], min_words=1)
    assert first == build_libreoffice_help(["en", "it"], [other, one], min_words=1)
    assert [document.id for document in first.documents] == sorted(texts(first))


def test_valencian_is_not_catalan(tmp_path: Path) -> None:
    packages(tmp_path, {"open": {"en-us": OPEN["en-us"]}})
    path = help_package(tmp_path, "ca", {"open": help_page("Obre", ("par_1", "Trieu el fitxer."))})
    assert texts(built(tmp_path, "ca"))["libreoffice/open/ca"] == "Obre\nTrieu el fitxer."
    shutil.copy(help_package(tmp_path, "ca-valencia", {"open": OPEN["it"]}), path)
    assert refusal(tmp_path, "ca").endswith("no help page is in it. Take another file or other --languages.")


def test_a_package_that_points_at_another_language_is_left_out_and_named(tmp_path: Path) -> None:
    packages(tmp_path, {"open": OPEN})
    path = help_package(tmp_path, "sk", {}, links={"./usr/share/libreoffice/help/sk": "cs"})
    result = built(tmp_path, "en,sk")
    assert {document.language for document in result.documents} == {"en"}
    assert result.omissions[0] == f"sk, for {path.name} holds no page in it"


def test_an_unknown_language_names_those_there(tmp_path: Path) -> None:
    packages(tmp_path, {"open": OPEN})
    help_package(tmp_path, "common", {"open": OPEN["it"]})
    assert refusal(tmp_path, "en,tlh") == (
        f"{tmp_path}: no package libreoffice-help-tlh. Use languages of those there: en, it, pt_BR."
    )
    assert "is not a language tag" in refusal(tmp_path, "en,")


def test_two_packages_of_a_language_are_refused(tmp_path: Path) -> None:
    packages(tmp_path, {"open": OPEN})
    path = next(tmp_path.glob("*-it_*"))
    shutil.copy(path, tmp_path / "libreoffice-help-it_9_all.deb")
    assert refusal(tmp_path, "en,it").endswith("is of the same language. Remove one of them.")


def test_broken_packages_and_pages(tmp_path: Path) -> None:
    packages(tmp_path, {"open": OPEN})
    path = help_package(tmp_path, "it", {"open": "è".encode("latin-1")})
    assert refusal(tmp_path, "en,it").startswith(
        f"{path}: ./usr/share/libreoffice/help/it/text/open.html is not UTF-8"
    )
    path.write_bytes(path.read_bytes()[:-100])
    assert "a damaged one" in refusal(tmp_path, "en,it")
    help_package(tmp_path, "it", {"open": "<html>no body</html>"})
    assert refusal(tmp_path, "en,it").startswith("no page has 1 word in all of en, it.")
    assert "no such folder" in refusal(tmp_path / "nowhere", "en")
    assert "Use languages of those there: none." in refusal(tmp_path.parent, "en")
