"""Features of words: stop words, lemmas, stems, and the cache behind them."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

import funnelling.text.words as module
from funnelling.errors import InputError
from funnelling.text.words import LanguageResources, analyser, resources

LARGE = pytest.mark.slow  # dictionaries that are not in the cache yet, and take many seconds to prepare


@pytest.mark.parametrize(
    ("language", "text", "features"),
    [
        ("da", "og husene er", ["hus"]),
        ("de", "die Häuser und Bücher", ["haus", "buch"]),
        ("en", "the mice and the houses aren't", ["mouse", "house"]),
        ("es", "las casas y los libros", ["casa", "libro"]),
        pytest.param("fi", "ja taloissa", ["talo"], marks=LARGE),
        ("fr", "les chevaux et les bibliothèques", ["cheval", "bibliotheque"]),
        pytest.param("hu", "és a házakban", ["haz"], marks=LARGE),
        ("it", "le case e i libri dell'amico", ["casa", "libro", "amico"]),
        ("nl", "de huizen en de boeken", ["huis", "boek"]),
        ("pt", "as casas e os livros", ["casa", "livro"]),
        ("sv", "och böckerna", ["bok"]),
        ("bg", "къщите и книгите", ["къща", "книга"]),
        pytest.param("ru", "в домах и книги", ["дом", "книга"], marks=LARGE),
        ("el", "τα βιβλία", ["βιβλιο"]),
        ("ar", "الكتب في البيوت", ["كتاب", "بيت"]),
        ("hi", "किताबों में", ["किताब"]),
        ("tr", "ISPARTA ve kitapları", ["ısparta", "kitap"]),
    ],
)
def test_stop_words_go_and_lemmas_stay(language: str, text: str, features: list[str]) -> None:
    assert resources(language) == LanguageResources(reduced_to="lemmas", stop_words=True)
    assert analyser(language)(text) == features


@pytest.mark.parametrize("language", ["fi", "hu", "ru"])
def test_languages_of_large_dictionaries_have_lemmas_too(language: str) -> None:
    assert resources(language) == LanguageResources(reduced_to="lemmas", stop_words=True)


def test_a_regional_variant_has_its_language_s_words() -> None:
    assert analyser("pt_BR") is analyser("pt")
    assert analyser("DE-at")("Häuser") == ["haus"]


def test_languages_share_the_words_of_close_relatives() -> None:
    assert analyser("no")("og husene") == analyser("nb_NO")("og husene") == ["hus"]
    assert analyser("sr_Latn")("knjige") == analyser("hr")("knjige") == ["knjiga"]


def test_a_language_without_lemmas_has_stems() -> None:
    assert resources("eu") == LanguageResources(reduced_to="stems", stop_words=True)
    assert analyser("eu")("etxeak eta liburuak") == ["etxe", "liburu"]
    assert resources("ta") == LanguageResources(reduced_to="stems", stop_words=False)
    assert analyser("ta")("வீடுகள்") == analyser("ta")("வீடு")


def test_stems_may_be_preferred_and_lemmas_then_fill_the_gap() -> None:
    assert analyser("it", reduce_to="stems")("le biblioteche") == ["bibliotec"]
    assert resources("bg", reduce_to="stems").reduced_to == "lemmas"
    assert analyser("bg", reduce_to="stems")("книгите") == ["книга"]


def test_an_unknown_language_has_its_words() -> None:
    assert resources("tlh") == LanguageResources(reduced_to=None, stop_words=False)
    assert analyser("tlh")("tlhIngan Hol, été") == ["tlhingan", "hol", "ete"]
    assert analyser("tlh") is analyser("qya") is analyser()


def test_scripts_without_spaces_lose_their_stop_words_too() -> None:
    assert "的" not in analyser("zh")("我的书")
    assert "书" in analyser("zh")("我的书")


def test_vietnamese_keeps_its_accents() -> None:
    assert analyser("vi", stop_words=False)("má mạ") == ["má", "mạ"]


def test_options_switch_each_step_off() -> None:
    assert analyser("en", stop_words=False)("the houses") == ["the", "house"]
    assert analyser("en", reduce_to=None)("the houses") == ["houses"]
    assert analyser("en", reduce_to=None, stop_words=False)("the houses") == ["the", "houses"]


def test_a_wrong_option_is_refused() -> None:
    with pytest.raises(InputError, match="lemmas, stems or None, found 'roots'"):
        analyser("en", reduce_to="roots")  # type: ignore[arg-type]


def test_features_keep_order_and_repetition() -> None:
    assert analyser("en")("cats, dogs, cats") == ["cat", "dog", "cat"]


def test_each_word_is_analysed_once_and_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CACHED_WORDS", 50)
    fresh = module.Analyser(module._Plan())
    analysed: list[str] = []
    monkeypatch.setattr(fresh._features, "_reduce", lambda word: analysed.append(word) or word)
    assert fresh("once twice twice") == fresh("once twice twice") == ["once", "twice", "twice"]
    assert analysed == ["once", "twice"]
    stream = " ".join(f"word{number}" for number in range(1000))
    assert fresh(stream) == stream.split()
    assert len(fresh._features) <= 50


def test_what_is_too_long_for_a_word_is_dropped_and_not_remembered() -> None:
    fresh = module.Analyser(module._Plan())
    assert fresh(f"{'A' * 100_000} word") == ["word"]
    assert len(fresh._features) == 1


@pytest.mark.parametrize("language", ["de", "eu"])
def test_threads_may_share_an_analyser(language: str) -> None:
    plan = module._plan(language, "lemmas", stop_words=True)
    texts = [f"haus{number} liburuak{number} etxeak bücher" for number in range(2000)]
    with ThreadPoolExecutor(8) as pool:
        features = list(pool.map(module.Analyser(plan), texts))
    assert features == list(map(module.Analyser(plan), texts))


@given(st.text(), st.sampled_from(["en", "de", "it", "eu", "zh", "th", "tr", "hi", "vi", "tlh"]))
def test_any_text_has_features(text: str, language: str) -> None:
    features = analyser(language)(text)
    assert all(feature and "\n" not in feature for feature in features)
