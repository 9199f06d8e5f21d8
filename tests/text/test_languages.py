"""Language tags have one spelling, and what is no tag is refused in one line."""

import subprocess
import sys
from itertools import product
from string import ascii_lowercase

import pytest
from langcodes import standardize_tag

from funnelling.errors import InputError
from funnelling.text.languages import (
    _general,
    is_language,
    is_served,
    known_as,
    name_among,
    normalise_tag,
    primary,
    served_by,
)


@pytest.mark.parametrize(
    ("tag", "spelling"),
    [
        ("en", "en"),
        ("EN", "en"),
        (" de\n", "de"),
        ("pt-BR", "pt_BR"),
        ("PT_br", "pt_BR"),
        ("zh-hant", "zh_Hant"),
        ("es-419", "es_419"),
        ("ca-valencia", "ca_valencia"),
        ("ast", "ast"),
    ],
)
def test_a_tag_has_one_spelling(tag: str, spelling: str) -> None:
    assert normalise_tag(tag) == spelling
    assert normalise_tag(spelling) == spelling


@pytest.mark.parametrize(
    ("tags", "language"),
    [
        (["de", "deu", "ger", "deu_Latn", "ger-latn", "German", "GERMAN", " german "], "de"),
        (["nl", "nld", "dut", "Dutch", "Flemish"], "nl"),
        (["de-DE", "deu_Latn_DE", "ger_de"], "de_DE"),
        (["por-BR", "por_Latn_BR", "Brazilian Portuguese"], "pt_BR"),
        (["zho", "chi", "zho_Hans", "cmn", "cmn_Hani", "Chinese", "Mandarin Chinese"], "zh"),
        (["zho_Hant", "Traditional Chinese", "Chinese (Traditional)"], "zh_Hant"),
        (["zh_Hant_TW", "zho-TW"], "zh_TW"),
        (["zh_Hans_TW"], "zh_Hans_TW"),
        (["srp", "srp_Cyrl", "sr-Cyrl"], "sr"),
        (["srp_Latn", "sr-latn"], "sr_Latn"),
        (["arb_Arab", "ara", "arb", "Arabic", "Standard Arabic"], "ar"),
        (["arb_Latn"], "ar_Latn"),
        (["ary_Arab", "ary", "Moroccan Arabic"], "ary"),
        (["arq"], "arq"),
        (["swh_Latn", "swa", "Swahili"], "sw"),
        (["quy_Latn", "quy", "Ayacucho Quechua"], "quy"),
        (["jpn_Jpan"], "ja"),
        (["kor_Hang", "ko-Kore"], "ko"),
        (["nob_Latn", "nob", "Norwegian Bokmål", "norwegian bokmal"], "nb"),
        (["nor"], "no"),
        (["tgl_Latn", "Tagalog"], "tl"),
        (["fil"], "fil"),
        (["twi_Latn"], "tw"),
        (["fat_Latn"], "fat"),
        (["hbs", "hbs_Latn", "Serbo-Croatian"], "sh"),
        (["cnr", "cnr_Latn"], "cnr"),
        (["prs_Arab", "Dari"], "prs"),
        (["iw", "heb_Hebr"], "he"),
        (["ell", "gre", "ell_Grek", "Greek", "Modern Greek"], "el"),
        (["pes_Arab", "Persian", "farsi"], "fa"),
        (["Haitian Creole", "haitian-creole", "hat_Latn"], "ht"),
    ],
)
def test_a_language_has_one_tag_however_it_is_written(tags: list[str], language: str) -> None:
    assert {tag: normalise_tag(tag) for tag in tags} == dict.fromkeys(tags, language)
    assert normalise_tag(language) == language


@pytest.mark.parametrize("tag", ["xx", "xx_Latn", "qaa", "und", "zzz"])
def test_a_tag_that_no_standard_knows_stays_as_it_is(tag: str) -> None:
    assert normalise_tag(tag) == tag


@pytest.mark.parametrize("word", ["dialect", "email", "german_x", "root", "mixed"])
def test_a_word_is_no_code(word: str) -> None:
    with pytest.raises(InputError, match="is not a language tag"):
        normalise_tag(word)


@pytest.mark.parametrize(
    ("name", "tag"),
    [("Deutsch", "de"), ("Französisch", "fr"), ("italiano", "it"), ("русский", "ru"), ("中文", "zh")],
)
def test_names_in_other_languages(name: str, tag: str) -> None:
    assert normalise_tag(name) == tag


def test_no_code_is_taken_for_a_name() -> None:
    assert [normalise_tag(code) for code in ("even", "eve", "ido", "dan", "han")] == [
        *("eve", "eve", "io", "da", "han")
    ]


def test_every_code_leads_to_a_code_that_stays() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    codes = [a + b + c for a in letters for b in letters for c in ("", *letters)]
    assert [code for code in codes if normalise_tag(normalise_tag(code)) != normalise_tag(code)] == []


@pytest.mark.parametrize("tag", ["", "e", "en US", "en__US", "English?", "de-", "日本", "en\x00", None, 5])
def test_what_is_no_tag_is_refused_with_its_value_and_a_cure(tag: str) -> None:
    with pytest.raises(InputError) as error:
        normalise_tag(tag)
    assert str(error.value) == (
        f"{tag!r} is not a language tag. Write a code such as en or pt_BR, or a name such as German."
    )


@pytest.mark.parametrize("tag", ["x" * 1_000_000, "en" + "-x" * 10_000, "German " * 10_000, "(" * 10_000])
def test_a_refusal_stays_short(tag: str) -> None:
    with pytest.raises(InputError, match="is not a language tag") as error:
        normalise_tag(tag)
    assert len(str(error.value)) < 160


def test_the_primary_language_of_a_variant() -> None:
    assert [primary(tag) for tag in ("pt_BR", "PT-br", "zh_Hant_TW", "fi")] == ["pt", "pt", "zh", "fi"]


def test_what_our_tools_know_is_a_language() -> None:
    import stopwordsiso
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    from funnelling.text.detection import _NO_LANGUAGE, _identifier
    from funnelling.text.words import _STEMMERS

    detected = {label for label, _ in _identifier().rank("")} - _NO_LANGUAGE
    known = {*SUPPORTED_LANGUAGES, *stopwordsiso.langs(), *_STEMMERS, *detected}
    assert [code for code in sorted(known) if not is_language(code)] == []


def test_tools_know_some_languages_by_other_names() -> None:
    assert name_among("no", {"nb"}) == "nb"
    assert name_among("nb_NO", {"no"}) == "no"
    assert name_among("sr", {"hbs", "hr"}) == "hbs"
    assert name_among("sr", {"sr", "hbs"}) == "sr"
    assert name_among("de", {"nl", "da"}) is None
    assert name_among("cnr", {"hbs"}) == "hbs"
    assert name_among("prs_Arab", {"fa"}) == "fa"
    assert name_among("grn_Latn", {"gug"}) == "gug"
    assert name_among("ger", {"de", "nl"}) == "de"
    assert name_among("arq", {"ar"}) is None


@pytest.mark.parametrize("tag", ["xx", "xx_Latn", "qaa", "und", "mul", "no one", "dialect", "", "x" * 10_000])
def test_what_names_no_language_is_none(tag: str) -> None:
    assert not is_language(tag)


@pytest.mark.parametrize("tag", ["de", "deu_Latn", "German", "quy", "tlh", "zh_Hant_TW", "Haitian Creole"])
def test_what_names_a_language_is_one(tag: str) -> None:
    assert is_language(tag)


@pytest.mark.parametrize(
    ("language", "known", "name"),
    [
        ("de", ["deu_Latn", "en"], "deu_Latn"),  # as a mapping spelled it
        ("deu_Latn", ["de", "en"], "de"),
        ("de_AT", ["deu_Latn"], "deu_Latn"),
        ("sr", ["sr_Latn"], "sr_Latn"),
        ("sr_RS", ["sr_Latn"], "sr_Latn"),
        ("sr_Latn_RS", ["sr", "sr_Latn"], "sr_Latn"),
        ("sr_Latn", ["sr"], "sr"),
        ("zh_TW", ["zh", "zh_Hant"], "zh_Hant"),
        ("zh_SG", ["zh", "zh_Hant"], "zh"),
        ("zh", ["zh_Hant"], "zh_Hant"),
        ("any name", ["any name"], "any name"),
    ],
)
def test_variants_are_served_by_what_is_closest(language: str, known: list[str], name: str) -> None:
    assert served_by(language, known) == name
    assert is_served(language, known)


@pytest.mark.parametrize(
    ("language", "known"),
    [
        ("pt", ["pt_BR"]),
        ("zh", ["zh_TW"]),
        ("ar", ["ary"]),
        ("ary", ["ar"]),
        ("sr", ["sr_Latn", "sr_Arab"]),
        ("any name", ["de", "an"]),
    ],
)
def test_other_languages_and_regions_do_not_serve(language: str, known: list[str]) -> None:
    assert served_by(language, known) == language
    assert not is_served(language, known)


def test_a_language_is_known_by_any_of_its_tags() -> None:
    assert known_as("de", ["en", "deu_Latn"]) == "deu_Latn"
    assert known_as("de", ["deu_Latn", "de"]) == "de"
    assert known_as("pt_BR", ["pt"]) is None
    assert known_as("de", []) is None


def test_codes_of_two_letters_wait_for_no_library() -> None:
    script = (
        "import sys; from funnelling.text.languages import normalise_tag, served_by; "
        "print([normalise_tag(tag) for tag in ('EN', 'pt-BR', 'iw')], served_by('en', ['en']), "
        "'langcodes' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "['en', 'pt_BR', 'he'] en False\n"


def test_codes_of_two_letters_are_counted_as_unicode_does() -> None:
    for letters in product(ascii_lowercase, repeat=2):
        code = normalise_tag("".join(letters))
        assert _general(code) == standardize_tag(code, macro=True).replace("-", "_") or not is_language(code)
