"""No text takes long: time grows with its length and no faster, whatever its characters."""

import re
import unicodedata
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from time import thread_time
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funnelling
from funnelling.text import alignment, characters, words
from funnelling.text.alignment import MAX_MARKS, compatible, normalised
from funnelling.text.characters import CharacterVectorizer
from funnelling.text.excerpts import start_within
from funnelling.text.tokens import fold_accents, tidy, units
from funnelling.text.tokens import words as words_of
from funnelling.text.words import Analyser, analyser
from tests.text.pathological import SHAPES

SIZE = 4_000  # bytes, and four times as many
ANY_TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"]))
MARKS = st.text(st.sampled_from("a\u0300\u0316\u0344\ufb1e\uff9e\uff9f\u3099\u0f73\u200d ｶ"))


def seconds(text: str) -> float:
    """What all that is done to the characters of a text takes, at best."""
    vectorizer = CharacterVectorizer(3, longest=6, latin=True, min_df=1).fit(["some text"])

    def once() -> float:
        start = thread_time()
        words_of(text)
        fold_accents(text)
        units(text)
        vectorizer.transform([text])
        vectorizer.places(text)
        return thread_time() - start

    return min(once(), once())


@pytest.mark.parametrize("name", SHAPES)
def test_time_grows_no_faster_than_a_text(name: str) -> None:
    """Sixteen times as long would be quadratic; small times have a large noise."""
    assert seconds(SHAPES[name](4 * SIZE)) < 10 * seconds(SHAPES[name](SIZE)) + 0.05


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_have_the_size_that_was_asked_for(name: str) -> None:
    size = len(SHAPES[name](10_000).encode("utf-8", "surrogatepass"))
    assert 8_000 < size <= 10_000


@pytest.mark.parametrize("pile", ["\ufb1e\uff9e" * 5_000, "a" + "\u0300\u0316" * 5_000])
@pytest.mark.parametrize("spell", [tidy, fold_accents, words_of])
def test_piles_of_marks_are_cut_before_they_are_normalised(
    pile: str, spell: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python takes quadratic time to put them into their order."""
    normalised_texts = []

    def normalize(form: str, text: str) -> str:
        normalised_texts.append(text)
        return unicodedata.normalize(form, text)

    own = SimpleNamespace(normalize=normalize, category=unicodedata.category)
    monkeypatch.setattr(alignment, "unicodedata", own)
    spell(pile)
    assert normalised_texts
    assert not any(re.search("[\u0300-\u036f\ufb1e\u3099]{31}", text) for text in normalised_texts)


def test_nothing_else_normalises() -> None:
    root = Path(funnelling.__file__).parent
    files = [
        path for path in root.rglob("*.py") if re.search(r"unicodedata.*normalize", path.read_text("utf-8"))
    ]
    assert files == [root / "text" / "alignment.py"]


def test_all_marks_are_known() -> None:
    """What a normal form sorts is a mark by its category, or stands for marks once it is tidy."""
    for character in map(chr, range(0x110000)):
        if unicodedata.combining(unicodedata.normalize("NFKD", character)[0]):
            assert len(normalised("NFC", compatible(character) * 100)) <= 2 * MAX_MARKS, hex(ord(character))
            assert len(tidy(character * 100)) <= 2 * MAX_MARKS, hex(ord(character))


@given(ANY_TEXT | MARKS, st.sampled_from(["NFC", "NFD"]))
def test_short_piles_stay(text: str, form) -> None:
    if not re.search(rf"[^\w\x00-\x7f]{{{MAX_MARKS + 1}}}", text):
        assert normalised(form, text) == unicodedata.normalize(form, text)


def as_before(text: str) -> str:
    """What a text without long piles was spelled as by NFKC of its shapes, run by run."""
    shapes = "\u00ad\u0640\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
    typeset = "\u2f00-\u2fd5\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffef"
    text = re.sub(
        f"[{shapes}{typeset}]+",
        lambda run: re.sub(f"[{shapes}]+", "", unicodedata.normalize("NFKC", run[0])),
        text,
    )
    return unicodedata.normalize("NFC", text)


@given(st.text(max_size=20) | MARKS.map(lambda text: text[:20]))
def test_texts_are_tidied_as_by_nfkc(text: str) -> None:
    assert tidy(text) == as_before(text)


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MAX_REDUCED_LETTERS", 8 * 3)
    monkeypatch.setattr(words, "MAX_WORD_CHARACTERS", 12)
    monkeypatch.setattr(characters, "MAX_CHUNK_BYTES", 12)


@pytest.mark.usefixtures("small_limits")
def test_words_beyond_the_limit_stay_as_they_are() -> None:
    assert analyser("en")("dogs cats mice dogs dogs") == ["dog", "cat", "mouse", "dog", "dog"]
    assert analyser("en")("dogs cats the mice dogs Cafés the") == ["dog", "cat", "mice", "dog", "cafes"]
    assert [each for each, _, _ in analyser("en").placed("dogs cats the mice dogs Cafés")] == [
        *("dog", "cat", "mice", "dog", "cafes")
    ]


@pytest.mark.usefixtures("small_limits")
def test_chunks_beyond_the_limit_are_not_cut() -> None:
    vectorizer = CharacterVectorizer(3, min_df=1)
    runs = vectorizer.count(["abc abc def ghij klm"]).words
    assert sorted(runs) == [" ab", " de", " gh", "abc", "bc ", "def", "ef ", "ghi", "hij", "ij "]


@given(ANY_TEXT, st.integers(0, 40))
def test_a_start_has_as_many_bytes_as_fit(text: str, most: int) -> None:
    start = start_within(text, most)
    assert text.startswith(start)
    assert len(start.encode("utf-8", "surrogatepass")) <= most
    assert start == text or len(text[: len(start) + 1].encode("utf-8", "surrogatepass")) > most


@settings(max_examples=30)
@given(st.lists(st.text("abcé", min_size=1, max_size=3), max_size=30))
def test_limits_leave_a_text_within_them_alone(found: list[str]) -> None:
    text = " ".join(found)
    assert analyser("en", stop_words=False)(text) == [
        feature for word in words_of(text) for feature in analyser("en", stop_words=False)(word)
    ]


def test_an_unwanted_analysis_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def unwanted() -> None:
        asked.append(len(asked))
        if len(asked) > 5:
            raise CancelledError

    monkeypatch.setattr(words, "raise_if_cancelled", unwanted)
    with pytest.raises(CancelledError):
        Analyser(words._plan("en", "lemmas", stop_words=True))(SHAPES["distinct words"](10_000))
    assert len(asked) == 6
