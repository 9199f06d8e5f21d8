"""Languages of texts, found offline."""

from collections.abc import Iterator
from pathlib import Path

import py3langid.langid
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from funnelling import read_sample
from funnelling.errors import InputError
from funnelling.runtime.messages import CACHE
from funnelling.text.detection import _identifier, detect_for_model, detect_in_file, detect_languages

GREETINGS = {
    "da": "Jeg vil gerne bestille en kop kaffe og et stykke kage, tak.",
    "de": "Ich möchte gerne eine Tasse Kaffee und ein Stück Kuchen bestellen.",
    "en": "I would like to order a cup of coffee and a piece of cake, please.",
    "es": "Me gustaría pedir una taza de café y un trozo de pastel, por favor.",
    "fi": "Haluaisin tilata kupin kahvia ja palan kakkua, kiitos.",
    "fr": "Je voudrais commander une tasse de café et un morceau de gâteau.",
    "hu": "Szeretnék rendelni egy csésze kávét és egy szelet süteményt.",
    "it": "Vorrei ordinare una tazza di caffè e una fetta di torta, grazie.",
    "ja": "コーヒーとケーキを注文したいのですが。",
    "nl": "Ik wil graag een kopje koffie en een stuk taart bestellen.",
    "pt": "Eu gostaria de pedir uma xícara de café e um pedaço de bolo.",
    "sv": "Jag skulle vilja beställa en kopp kaffe och en bit tårta, tack.",
    "th": "ฉันต้องการสั่งกาแฟหนึ่งแก้วและเค้กหนึ่งชิ้น",
}
TEXTS, LANGUAGES = list(GREETINGS.values()), list(GREETINGS)


def test_each_text_gets_its_language() -> None:
    assert detect_languages(TEXTS, LANGUAGES) == LANGUAGES
    assert detect_languages(TEXTS) == LANGUAGES


def test_a_text_s_language_does_not_depend_on_its_neighbours() -> None:
    shorts = ["kaffe", "cake", "torta", "tårta", "12"]
    together = detect_languages(shorts, LANGUAGES)
    assert together == [detect_languages([text], LANGUAGES)[0] for text in shorts]


def test_only_candidates_are_given() -> None:
    assert set(detect_languages(TEXTS, ["en", "it"])) == {"en", "it"}


@pytest.mark.parametrize(
    ("candidates", "answer"),
    [
        (["en", "pt_BR"], "pt_BR"),
        (["en", "pt_BR", "pt"], "pt"),
        (["pt-pt", "EN", "pt-br"], "pt_BR"),
        (["en", "pt", "tlh"], "pt"),
    ],
)
def test_regional_variants_stand_for_their_language(candidates: list[str], answer: str) -> None:
    assert detect_languages([GREETINGS["pt"]], candidates) == [answer]


def test_norwegian_is_found_under_either_name() -> None:
    text = "Jeg vil gjerne bestille en kopp kaffe og et stykke kake, takk skal du ha."
    assert detect_languages([text], ["en", "nb"]) == ["nb"]
    assert detect_languages([text], ["en", "no"]) == ["no"]


def test_a_single_candidate_is_the_answer_even_if_unknown() -> None:
    assert detect_languages(["Qapla'", ""], ["tlh"]) == ["tlh", "tlh"]


def test_candidates_that_cannot_be_detected_are_refused() -> None:
    with pytest.raises(InputError, match="none of tlh, qya can be detected"):
        detect_languages(["Qapla'"], ["tlh", "qya"])


def test_a_text_without_any_clue_gets_the_first_candidate() -> None:
    assert detect_languages([""], ["it", "en"]) == ["it"]


def test_a_few_odd_texts_make_no_languages_of_their_own() -> None:
    texts = [GREETINGS["en"]] * 100 + [GREETINGS["it"]] * 5 + [GREETINGS["sv"]] * 4 + ["", "123 456"]
    languages = detect_languages(texts)
    assert languages[:105] == ["en"] * 100 + ["it"] * 5
    assert set(languages) == {"en", "it"}
    assert languages[-2:] == ["en", "en"]


@pytest.mark.parametrize("copies", [1, 2, 3, 4, 5, 10])
def test_small_files_may_have_many_languages(copies: int) -> None:
    assert detect_languages(TEXTS[:9] * copies) == LANGUAGES[:9] * copies


def test_texts_without_language_are_refused() -> None:
    with pytest.raises(InputError, match="no language was recognised"):
        detect_languages(["", " "])


def test_no_texts_have_no_languages() -> None:
    assert detect_languages([]) == []
    assert detect_languages([], ["en", "de"]) == []


def test_py3langid_s_own_identifier_is_left_alone() -> None:
    before = py3langid.langid.IDENTIFIER
    detect_languages(TEXTS, ["en", "it"])
    assert py3langid.langid.IDENTIFIER is before
    assert py3langid.classify(GREETINGS["hu"])[0] == "hu"


def test_a_huge_text_is_judged_by_its_beginning() -> None:
    assert detect_languages([GREETINGS["fi"] * 200_000], LANGUAGES) == ["fi"]


def titles(words: int = 5) -> tuple[list[str], list[str]]:
    """The first words of 200 documents in three languages, and their languages."""
    sample = read_sample()
    rows = [sample.languages.index(tag) + i for tag in ("da", "de", "en") for i in range(67)][:200]
    short = [" ".join(sample.texts[row].split()[:words]) for row in rows]
    return short, [str(sample.languages[row]) for row in rows]


class TestShortTitles:
    def test_among_some_languages_no_other_appears(self) -> None:
        texts, languages = titles()
        found = detect_languages(texts, ["da", "de", "en"])
        assert set(found) == {"da", "de", "en"}
        assert right(found, languages) > 0.9

    def test_rare_languages_are_merged_into_the_likeliest_others(self) -> None:
        texts, languages = titles()
        found, merged = detect_in_file(texts)
        assert set(found) == {"da", "de", "en"}
        assert right(found, languages) > 0.9
        assert merged["no", "da"] > 0
        assert {new for _, new in merged} <= {"da", "de", "en"}

    def test_twenty_documents_or_one_percent_make_a_language(self) -> None:
        others = [GREETINGS["de"]] * 1_990
        assert set(detect_in_file([*others, *[GREETINGS["fi"]] * 20])[0]) == {"de", "fi"}
        found, merged = detect_in_file([*others, *[GREETINGS["fi"]] * 19])
        assert (set(found), merged) == ({"de"}, {("fi", "de"): 19})

    def test_a_minority_in_longer_texts_stays(self) -> None:
        found, _ = detect_in_file([GREETINGS["sv"]] * 190 + [GREETINGS["da"]] * 10)
        assert found == ["sv"] * 190 + ["da"] * 10


def right(found: list[str], languages: list[str]) -> float:
    """The share of languages that are right."""
    return sum(a == b for a, b in zip(found, languages, strict=True)) / len(languages)


class TestForModel:
    def test_other_languages_are_found_and_the_model_s_preferred(self) -> None:
        tags = {
            text: found.language
            for text, found in zip(TEXTS, detect_for_model(TEXTS, ["it", "sv"]), strict=True)
        }
        assert tags == dict(zip(TEXTS, LANGUAGES, strict=True))
        texts, languages = titles(3)
        found = [each.language for each in detect_for_model(texts, ["da", "de", "en"])]
        assert right(found, languages) > 0.85
        assert sum(tag not in ("da", "de", "en") for tag in found) < 0.06 * len(found)

    def test_a_text_s_language_does_not_depend_on_its_neighbours(self) -> None:
        together = detect_for_model(TEXTS, ["it"])
        assert together == [detect_for_model([text], ["it"])[0] for text in TEXTS]
        assert all(0 < found.probability <= 1 for found in together if found.probability is not None)

    def test_among_some(self) -> None:
        assert {found.language for found in detect_for_model(TEXTS, ["it"], ["fi", "en"])} == {"fi", "en"}

    def test_variants_and_other_names_of_a_language_are_the_models(self) -> None:
        text = "Jeg vil gjerne bestille en kopp kaffe og et stykke kake, takk skal du ha."
        assert detect_for_model([text], ["en", "nb"])[0].language == "nb"
        assert detect_for_model([text], ["en", "no"])[0].language == "no"
        assert detect_for_model([GREETINGS["pt"]], ["en", "pt_BR"])[0].language == "pt_BR"

    def test_languages_that_cannot_be_detected(self) -> None:
        assert [found.language for found in detect_for_model(TEXTS[:2], ["tlh"])] == ["tlh", "tlh"]
        with pytest.raises(InputError, match="none of tlh, qya can be detected"):
            detect_for_model(TEXTS, ["tlh", "qya"])


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(categories=["L", "M", "N", "P", "Z", "C"])), max_size=3))
def test_any_text_gets_a_candidate(texts: list[str]) -> None:
    assert all(language in ("de", "en") for language in detect_languages(texts, ["de", "en"]))


class TestItsModel:
    """From the cache it is that of the library, and works without one too."""

    TEXTS = ("Guten Morgen", "Bom dia, minha gente", "東京都", "Добрий день", "", "12", "\x00", "Qapla'")

    @pytest.fixture(autouse=True)
    def _fresh(self) -> Iterator[None]:
        _identifier.cache_clear()
        yield
        _identifier.cache_clear()

    def test_mapped(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(CACHE, str(tmp_path))
        theirs = LanguageIdentifier.from_model_file(MODEL_FILE)
        for _ in range(2):  # made, then found
            assert [_identifier().rank(text) for text in self.TEXTS] == [
                theirs.rank(text) for text in self.TEXTS
            ]
            _identifier.cache_clear()
        (made,) = tmp_path.iterdir()
        made.write_bytes(made.read_bytes()[:1_000])
        assert _identifier().rank("Guten Morgen") == theirs.rank("Guten Morgen")

    def test_where_nothing_can_be_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv(CACHE, str(tmp_path / "file"))
        assert detect_languages(["Guten Morgen, liebe Leute"], ["en", "de"]) == ["de"]
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
