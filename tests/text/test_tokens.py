"""Words of many scripts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.text.tokens import fold_accents, words

ANY_TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"]))  # lone surrogates too


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The quick, brown fox -- jumps!", ["the", "quick", "brown", "fox", "jumps"]),
        ("x86_64 snake_case 3.14 C", ["x86", "64", "snake", "case", "3", "14", "c"]),
        ("l'eau d’été don't", ["l", "eau", "d", "été", "don", "t"]),
        ("Die GROẞE Straße", ["die", "große", "straße"]),
        ("ΟΔΥΣΣΕΥΣ και Αθήνα", ["οδυσσευς", "και", "αθήνα"]),
        ("Быстрая лиса", ["быстрая", "лиса"]),
        ("اللغة العربيّة، كتاب", ["اللغة", "العربيّة", "كتاب"]),
        ("शब्दकोश में हिन्दी", ["शब्दकोश", "में", "हिन्दी"]),
        ("தமிழ் நூல்", ["தமிழ்", "நூல்"]),
        ("한국어 문서를 읽다", ["한국어", "문서를", "읽다"]),
        ("中文信息", ["中", "中文", "文", "文信", "信", "信息", "息"]),
        ("カナとかな", ["カ", "カナ", "ナ", "ナと", "と", "とか", "か", "かな", "な"]),
        ("ภาษา", ["ภา", "ภาษ", "าษ", "าษา", "ษา"]),
        ("Linux用のUSB3", ["linux", "用", "用の", "の", "usb3"]),
        ("ไทย and English", ["ไท", "ไทย", "ทย", "and", "english"]),
        ("", []),
        (" \n\t… 😀❤️", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_turkish_lowers_its_two_letters_i() -> None:
    assert words("IŞIK İstanbul KIRMIZI", "tr") == ["ışık", "istanbul", "kırmızı"]
    assert words("TITLE", "en") == ["title"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "Full width"),
        ("ｶﾞｽ", "ガス"),
        ("ﬁne ﬂow", "fine flow"),
        ("cafe\u0301", "café"),
        ("J\u030cK", "ǰk"),
        ("Wort\u00adtrennung", "Worttrennung"),
        ("\ufeffstart", "start"),
        ("ﻛﺘﺎب", "كتاب"),
        ("كـــتاب", "كتاب"),
        ("می\u200cخواهم", "میخواهم"),
    ],
)
def test_spellings_of_one_word_are_one_word(one: str, other: str) -> None:
    assert words(one) == words(other)


def test_a_trademark_sign_is_no_letter() -> None:
    assert words("Windows™") == ["windows"]


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("crème", "creme"),
        ("ångström", "angstrom"),
        ("i̇stanbul", "istanbul"),
        ("αθήνα", "αθηνα"),
        ("ёлка", "елка"),
        ("straße", "straße"),
        ("søster", "søster"),
        ("हिन्दी", "हिन्दी"),
        ("ガス", "ガス"),
        ("한국어", "한국어"),
        ("العربيّة", "العربيّة"),
    ],
)
def test_accents_are_folded_and_other_marks_kept(word: str, folded: str) -> None:
    assert fold_accents(word) == folded
    assert fold_accents(unicodedata.normalize("NFD", word)) == folded


def test_letters_beyond_the_basic_plane_are_letters() -> None:
    assert words("𞤀𞤣𞤤𞤢𞤥 𠀀𠀁") == ["𞤢𞤣𞤤𞤢𞤥", "𠀀", "𠀀𠀁", "𠀁"]


HUGE = ["a" * 10**7, "_" * 10**7, "é " * 10**6, "漢" * 10**6, "a" + "\u0300\u0316" * 10**6]


@pytest.mark.parametrize("text", HUGE, ids=["word", "blank", "words", "ideographs", "marks"])
def test_a_huge_text_takes_linear_time(text: str) -> None:
    """Were it quadratic, this test would not end."""
    words(text)


@given(ANY_TEXT, st.sampled_from([None, "tr"]))
def test_any_text_has_words_that_are_words(text: str, language: str | None) -> None:
    for word in words(text, language):
        assert word in words(word, language)
        assert not any(character.isspace() or character in "_'’.,-" for character in word)
        fold_accents(word)


@given(ANY_TEXT, ANY_TEXT)
def test_texts_apart_keep_their_words(one: str, other: str) -> None:
    assert words(f"{one} . {other}") == words(one) + words(other)
