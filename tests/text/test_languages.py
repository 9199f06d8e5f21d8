"""Language tags have one spelling, and what is no tag is refused in one line."""

import pytest

from funnelling.errors import InputError
from funnelling.text.languages import is_language, name_among, normalise_tag, primary


@pytest.mark.parametrize(
    ("tag", "spelling"),
    [
        ("en", "en"),
        ("EN", "en"),
        (" de\n", "de"),
        ("pt-BR", "pt_BR"),
        ("PT_br", "pt_BR"),
        ("zh-hans", "zh_Hans"),
        ("zh-Hant-tw", "zh_Hant_TW"),
        ("es-419", "es_419"),
        ("ast", "ast"),
    ],
)
def test_a_tag_has_one_spelling(tag: str, spelling: str) -> None:
    assert normalise_tag(tag) == spelling
    assert normalise_tag(spelling) == spelling


@pytest.mark.parametrize("tag", ["", "e", "en US", "en__US", "English?", "de-", "日本", "en\x00", None, 5])
def test_what_is_no_tag_is_refused_with_its_value_and_a_cure(tag: str) -> None:
    with pytest.raises(InputError) as error:
        normalise_tag(tag)
    assert str(error.value) == f"{tag!r} is not a language tag. Write a code such as en or pt_BR."


def test_a_refusal_stays_short() -> None:
    with pytest.raises(InputError) as error:
        normalise_tag("x" * 1_000_000)
    assert len(str(error.value)) < 120


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
