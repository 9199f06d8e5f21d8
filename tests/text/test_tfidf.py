"""tf-idf: the numbers by hand, and the laws of rows and vocabularies."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from math import log, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags

from funnelling.errors import InputError
from funnelling.runtime.threads import map_threads
from funnelling.text.characters import CharacterVectorizer
from funnelling.text.counts import WordCounts, counted_once, forget_counts
from funnelling.text.tfidf import TfidfVectorizer

FRUIT = ["apple apple banana", "banana cherry", "cherry cherry cherry apple", "date", "fig"]
WORDS = ["ape", "bee", "cat", "dog", "été", "γάτα", "кот", "東京", "ไทย", "the", "12"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=8)


def bits(row: csr_array[np.float32]) -> tuple[bytes, bytes]:
    return row.data.tobytes(), row.indices.tobytes()


def test_weights_worked_out_by_hand() -> None:
    vectorizer = TfidfVectorizer(min_df=1)
    vectors = vectorizer.fit_transform(FRUIT)
    assert vectorizer.vocabulary_ == ["apple", "banana", "cherry", "date", "fig"]
    assert vectorizer.idf_ == pytest.approx([log(5 / 2)] * 3 + [log(5)] * 2)
    twice, thrice = 1 + log(2), 1 + log(3)
    a, b = sqrt(twice**2 + 1), sqrt(thrice**2 + 1)
    assert vectors.toarray() == pytest.approx(
        np.array(
            [
                [twice / a, 1 / a, 0, 0, 0],
                [0, sqrt(0.5), sqrt(0.5), 0, 0],
                [1 / b, 0, thrice / b, 0, 0],
                [0, 0, 0, 1, 0],
                [0, 0, 0, 0, 1],
            ]
        )
    )


def test_idf_weighs_rare_words_more() -> None:
    vectors = TfidfVectorizer(min_df=1).fit(["rare often", "often", "other"]).transform(["rare often"])
    rare, often = log(3), log(3 / 2)
    length = sqrt(rare**2 + often**2)
    assert vectors.toarray() == pytest.approx(np.array([[often / length, 0, rare / length]]))


def test_the_matrix_is_canonical() -> None:
    vectors = TfidfVectorizer().fit_transform(FRUIT)
    assert (vectors.dtype, vectors.indices.dtype, vectors.indptr.dtype) == (np.float32, np.int32, np.int32)
    assert vectors.has_canonical_format
    assert np.linalg.norm(vectors.toarray(), axis=1) == pytest.approx(1)


def test_a_text_without_a_known_word_is_a_row_of_zeros() -> None:
    vectors = TfidfVectorizer().fit(FRUIT).transform(["", "unknown", "apple"])
    assert np.diff(vectors.indptr).tolist() == [0, 0, 1]
    assert TfidfVectorizer().fit(FRUIT).transform([]).shape == (0, 5)


@pytest.mark.parametrize(("texts", "least"), [(10, 1), (29, 1), (30, 2), (99, 2), (100, 3), (1000, 3)])
def test_rare_words_are_left_out_of_larger_corpora(texts: int, least: int) -> None:
    corpus = ["once twice thrice", "twice thrice", "thrice", *(f"filler{i % 3}" for i in range(texts - 3))]
    vocabulary = TfidfVectorizer().fit(corpus).vocabulary_
    assert [word in vocabulary for word in ("once", "twice", "thrice")] == [least <= n for n in (1, 2, 3)]


def test_min_df_is_obeyed_even_where_it_leaves_nothing() -> None:
    assert TfidfVectorizer(min_df=2).fit(FRUIT).vocabulary_ == ["apple", "banana", "cherry"]
    assert TfidfVectorizer(min_df=9).fit_transform(FRUIT).shape == (5, 0)


def test_unset_min_df_leaves_some_word() -> None:
    assert len(TfidfVectorizer().fit([f"word{i}" for i in range(200)]).vocabulary_) == 200


@pytest.mark.parametrize("min_df", [0, -1, 0.5, "3"])
def test_a_min_df_that_is_no_count_is_refused(min_df: int) -> None:
    with pytest.raises(InputError, match="min_df counts texts and must be 1 or more"):
        TfidfVectorizer(min_df=min_df).fit(FRUIT)


def test_words_of_every_text_are_left_out_unless_there_are_no_others() -> None:
    assert TfidfVectorizer().fit(["same one", "same two"]).vocabulary_ == ["one", "two"]
    alone = TfidfVectorizer().fit(["just this this"])
    assert alone.vocabulary_ == ["just", "this"]
    length = sqrt(1 + (1 + log(2)) ** 2)
    assert alone.transform(["just this this"]).toarray() == pytest.approx(
        np.array([[1 / length, (1 + log(2)) / length]])
    )


def test_texts_without_words_have_no_columns() -> None:
    assert TfidfVectorizer().fit_transform(["", "…"]).shape == (2, 0)


def test_the_language_s_lemmas_and_stop_words_are_used() -> None:
    texts = ["the houses", "a mouse and a house"]
    assert TfidfVectorizer("en").fit(texts).vocabulary_ == ["mouse"]
    assert TfidfVectorizer("en", reduce_to=None).fit(texts).vocabulary_ == ["house", "houses", "mouse"]
    assert "the" in TfidfVectorizer("en", stop_words=False).fit(texts).vocabulary_


def test_languages_may_share_a_vocabulary() -> None:
    texts, languages = ["the Linux houses", "le case Linux", "die Häuser"], np.array(["en", "it", "de"])
    vectorizer = TfidfVectorizer()
    vectors = vectorizer.fit_transform(texts, languages=languages)
    assert vectorizer.vocabulary_ == ["casa", "haus", "house", "linux"]
    assert np.diff(vectors.indptr).tolist() == [2, 2, 1]
    again = vectorizer.transform(texts[::-1], languages=languages[::-1])
    assert bits(again[[1]]) == bits(vectors[[1]])


@pytest.mark.parametrize(
    ("texts", "languages", "message"),
    [
        ("one text", None, "Put it in a list"),
        (["one", "two"], ["en"], "2 texts have 1 languages"),
        (["one", None], None, "text 2 is None"),
    ],
)
def test_misused_arguments_are_refused(texts: list[str], languages: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TfidfVectorizer().fit(texts, languages=languages)


@given(TEXTS)
def test_a_row_has_the_same_bits_alone_and_in_a_batch(texts: list[str]) -> None:
    vectorizer = TfidfVectorizer()
    fitted = vectorizer.fit_transform(texts)
    batch = vectorizer.transform(texts)
    for i, text in enumerate(texts):
        alone = bits(vectorizer.transform([text]))
        assert alone == bits(batch[[i]]) == bits(fitted[[i]])


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_texts_only_orders_rows(texts: list[str], random: Random) -> None:
    order = list(range(len(texts)))
    random.shuffle(order)
    one, other = TfidfVectorizer(), TfidfVectorizer()
    vectors = one.fit_transform(texts)
    shuffled = other.fit_transform([texts[i] for i in order])
    assert one.vocabulary_ == other.vocabulary_ == sorted(one.vocabulary_)
    assert one.idf_.tobytes() == other.idf_.tobytes()
    assert bits(vectors[order]) == bits(shuffled)


@given(st.lists(st.text(), max_size=5))
def test_any_texts_make_vectors(texts: list[str]) -> None:
    vectors = TfidfVectorizer("en").fit_transform(texts)
    assert vectors.shape[0] == len(texts)
    assert np.isfinite(vectors.data).all()


def test_two_arrays_are_the_whole_state() -> None:
    fitted = TfidfVectorizer("en").fit(FRUIT)
    restored = TfidfVectorizer("en")
    restored.vocabulary_, restored.idf_ = list(fitted.vocabulary_), fitted.idf_.copy()
    assert bits(restored.transform(FRUIT)) == bits(fitted.transform(FRUIT))
    restored.fit(["green lemon", "lime"])
    assert restored.transform(["green lemon"]).nnz == 2


def test_the_scikit_learn_contract() -> None:
    vectorizer = TfidfVectorizer("it", min_df=1, reduce_to="stems", stop_words=False)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert vectorizer.fit(FRUIT).get_feature_names_out().tolist() == vectorizer.vocabulary_
    unpickled = pickle.loads(pickle.dumps(vectorizer))
    assert bits(unpickled.transform(FRUIT)) == bits(vectorizer.transform(FRUIT))
    model = make_pipeline(TfidfVectorizer(), SVC(kernel="linear")).fit(FRUIT, [1, 1, 1, 0, 0])
    assert model.predict(["apple banana cherry"]).tolist() == [1]


def test_it_goes_where_transformers_go() -> None:
    vectorizer = TfidfVectorizer("en")
    assert get_tags(vectorizer).transformer_tags is not None
    assert make_pipeline(vectorizer, SVC()).set_output(transform="default")
    with pytest.raises(InputError, match="sparse, which pandas does not take"):
        vectorizer.set_output(transform="pandas")


class TestCountedOnce:
    """While it lasts, equal texts are counted once, by whatever counts alike; nothing is kept after it."""

    @pytest.fixture
    def counted(self, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        asked: list[list[str]] = []
        count = TfidfVectorizer.count_pieces

        def noted(self: TfidfVectorizer, texts: list[str], languages: list[str | None]) -> WordCounts:
            asked.append(list(texts))
            return count(self, texts, languages)

        monkeypatch.setattr(TfidfVectorizer, "count_pieces", noted)
        return asked

    def test_two_vocabularies_share_the_counts(self, counted: list[list[str]]) -> None:
        first, second = (TfidfVectorizer(min_df=least).fit(FRUIT[:size]) for least, size in ((1, 3), (2, 5)))
        alone = [each.transform(FRUIT) for each in (first, second)]
        counted.clear()
        with counted_once():
            shared = [each.transform(list(FRUIT)) for each in (first, second)]
        assert counted == [FRUIT]
        assert [bits(X) for X in shared] == [bits(X) for X in alone]

    def test_other_languages_and_other_ways_to_count_do_not(self, counted: list[list[str]]) -> None:
        texts = ["die the Rosen", "die the rose"]
        vectorizers = [
            TfidfVectorizer("de", min_df=1).fit(texts),
            TfidfVectorizer("en", min_df=1).fit(texts),
            TfidfVectorizer("en", min_df=1, stop_words=False).fit(texts),
            CharacterVectorizer(min_df=1).fit(texts),
            CharacterVectorizer(5, min_df=1).fit(texts),
        ]
        alone = [each.transform(texts) for each in vectorizers]
        counted.clear()
        with counted_once():
            shared = [each.transform(texts) for each in vectorizers]
            pooled = TfidfVectorizer(min_df=1).fit(texts, languages=["de", "de"])
            assert bits(pooled.transform(texts, languages=["de", "de"])) != bits(
                pooled.transform(texts, languages=["en", "en"])
            )
        assert [bits(X) for X in shared] == [bits(X) for X in alone]

    @pytest.mark.parametrize("kind", [TfidfVectorizer, CharacterVectorizer])
    def test_of_documents_that_are_known_any_are_selected(
        self, kind: type[TfidfVectorizer], counted: list[list[str]]
    ) -> None:
        def vectors() -> list[bytes]:
            everything = kind(min_df=1).fit_transform(FRUIT, languages=["en"] * len(FRUIT))
            some = kind(min_df=1)
            learned = some.fit_transform(FRUIT[3:0:-1], languages=["en"] * 3)
            others = some.transform(FRUIT[:2], languages=["en"] * 2)
            assert some.vocabulary_ == kind(min_df=1).fit(FRUIT[1:4], languages=["en"] * 3).vocabulary_
            return [bits(each) for each in (everything, learned, others)]

        alone = vectors()
        counted.clear()
        with counted_once({"en": FRUIT}):
            assert vectors() == alone
            assert counted == [FRUIT]
            kind(min_df=1).fit(["of none of them"], languages=["en"])
            assert len(counted) == 2
            forget_counts()
            assert vectors() == alone
        assert len(counted) == 3

    def test_nothing_is_kept(self, counted: list[list[str]]) -> None:
        vectorizer = TfidfVectorizer(min_df=1).fit(FRUIT)
        counted.clear()
        with counted_once(), counted_once():
            vectorizer.transform(FRUIT)
        with counted_once():
            vectorizer.transform(FRUIT)
        vectorizer.transform(FRUIT)
        assert len(counted) == 3

    def test_what_cannot_be_counted_is_refused_as_ever(self) -> None:
        vectorizer = TfidfVectorizer(min_df=1).fit(FRUIT)
        with counted_once():
            with pytest.raises(InputError, match="one text was given"):
                vectorizer.transform("apple")
            for wrong in (None, ["apple"]):
                with pytest.raises(InputError, match="text 1 is"):
                    vectorizer.transform([wrong])  # type: ignore[list-item]

    def test_other_threads_know_nothing_of_it(self, counted: list[list[str]]) -> None:
        vectorizer = TfidfVectorizer(min_df=1).fit(FRUIT)
        counted.clear()
        with counted_once(), ThreadPoolExecutor(1) as executor:
            vectorizer.transform(FRUIT)
            executor.submit(vectorizer.transform, FRUIT).result()
            assert len(counted) == 2
            assert len(list(map_threads(lambda _: vectorizer.transform(FRUIT), 3, 2))) == 3
        assert len(counted) == 2, "but those that work for it do"
