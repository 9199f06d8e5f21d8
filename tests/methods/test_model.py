"""What every method promises: the forms it takes, the forms it gives, and the same bits every time."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.utils.metadata_routing import get_routing_for_object

from funnelling.errors import InputError
from funnelling.methods.classifiers import NaiveClassifier, PooledClassifier
from funnelling.methods.model import warn_of_languages
from tests.artificial import VectorCorpus, text_corpus, vector_corpus
from tests.funnels import any_funnel

METHODS: dict[str, Any] = {
    "fun-auto": any_funnel(meta_C=1.0, random_state=0),
    "fun-tat": any_funnel(views=None, meta_C=1.0, random_state=0),
    "fun-kfcv": any_funnel("kfcv", views=None, folds=3, meta_C=1.0, random_state=0),
    "naive": NaiveClassifier(C=1.0, random_state=0),
    "pooled": PooledClassifier(C=1.0, random_state=0),
}


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> Any:
    return clone(METHODS[request.param])


@pytest.fixture(scope="module")
def corpus() -> VectorCorpus:
    return vector_corpus()


def scores_of(model: Any, corpus: VectorCorpus) -> npt.NDArray[np.floating[Any]]:
    scores: npt.NDArray[np.floating[Any]] = model.decision_function(corpus.stacked, corpus.languages)
    return scores


class TestForms:
    def test_texts_and_label_lists(self, method: Any) -> None:
        texts, labels, languages = text_corpus(90)
        model = method.fit(texts, labels, languages=languages)
        assert model.classes_.tolist() == ["birds", "cats", "dogs", "horses"]
        assert model.languages_ == ["en", "it"]
        assert model.documents_ == {"en": 45, "it": 45}
        predicted = model.predict(
            ["the cat, the house, the river", "casa, fiume e cane"], languages=["en", "it"]
        )
        assert predicted.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]
        probabilities = model.predict_proba(texts, languages=languages)
        assert probabilities.shape == (90, 4)
        assert ((probabilities >= 0) & (probabilities <= 1)).all()
        assert not hasattr(model, "n_features_in_")

    def test_languages_of_texts_are_detected(self, method: Any) -> None:
        texts, labels, languages = text_corpus(60)
        model = method.fit(texts, labels, languages=languages)
        new = ["the cat sleeps in the garden of the house", "il gatto dorme nel giardino della casa"]
        np.testing.assert_array_equal(
            model.decision_function(new), model.decision_function(new, languages=["en", "it"])
        )
        np.testing.assert_array_equal(
            model.decision_function(new, languages=["EN", None]),
            model.decision_function(new, languages=["en", "it"]),
        )

    def test_a_regional_variant_is_classified_by_its_language(self, method: Any) -> None:
        texts, labels, languages = text_corpus()
        model = method.fit(texts, labels, languages=languages)
        np.testing.assert_array_equal(
            model.decision_function(["cat"], languages=["en-GB"]),
            model.decision_function(["cat"], languages=["en"]),
        )

    def test_a_mapping_gives_mappings(self, method: Any, corpus: VectorCorpus) -> None:
        model = method.fit(corpus.X, corpus.y)
        for give in (model.predict, model.predict_proba, model.decision_function):
            given = give(corpus.X)
            assert {language: part.shape for language, part in given.items()} == {
                "en": (40, 3),
                "it": (40, 3),
            }
        assert set(model.predict({"it": corpus.X["it"][:2]})) == {"it"}

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.coo_array, np.ndarray.tolist])
    def test_a_matrix_with_languages_is_the_same(self, method: Any, corpus: VectorCorpus, form: Any) -> None:
        by_mapping = clone(method).fit(corpus.X, corpus.y).decision_function(corpus.X)
        model = method.fit(form(corpus.stacked), corpus.indicator, languages=corpus.languages)
        scores = model.decision_function(form(corpus.stacked), languages=corpus.languages)
        assert model.n_features_in_ == 12
        np.testing.assert_allclose(scores, np.vstack(list(by_mapping.values())), atol=1e-2)

    def test_classes_are_predicted_one_a_document(self, method: Any, corpus: VectorCorpus) -> None:
        first, second, _ = corpus.indicator.T
        classes = np.select([first == 1, second == 1], ["first", "second"], "neither")
        model = method.fit(corpus.stacked, classes, languages=corpus.languages)
        assert model.classes_.tolist() == ["first", "neither", "second"]
        predicted = model.predict(corpus.stacked, corpus.languages)
        scores = scores_of(model, corpus)
        assert scores.shape == (80, 3)
        np.testing.assert_array_equal(predicted, model.classes_[scores.argmax(axis=1)])
        probabilities = model.predict_proba(corpus.stacked, corpus.languages)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        np.testing.assert_array_equal(probabilities.argmax(axis=1), scores.argmax(axis=1))
        assert np.mean(predicted == classes) > 0.6

    def test_two_classes_have_one_score(self, method: Any, corpus: VectorCorpus) -> None:
        classes = np.where(corpus.indicator[:, 0] == 1, "yes", "no")
        model = method.fit(corpus.stacked, classes, languages=corpus.languages)
        scores = scores_of(model, corpus)
        assert scores.shape == (80,)
        predicted = model.predict(corpus.stacked, corpus.languages)
        np.testing.assert_array_equal(predicted, np.where(scores > 0, "yes", "no"))
        probabilities = model.predict_proba(corpus.stacked, corpus.languages)
        assert probabilities.shape == (80, 2)
        np.testing.assert_array_equal(probabilities[:, 1] > 0.5, scores > 0)

    def test_one_label(self, method: Any, corpus: VectorCorpus) -> None:
        column = corpus.indicator[:, :1]
        by_matrix = clone(method).fit(corpus.stacked, column, languages=corpus.languages)
        lists = [["only"] if one else [] for one in column[:, 0]]
        by_lists = method.fit(corpus.stacked, lists, languages=corpus.languages)
        assert by_lists.classes_.tolist() == ["only"]
        assert scores_of(by_matrix, corpus).shape == (80, 1)
        np.testing.assert_array_equal(scores_of(by_matrix, corpus), scores_of(by_lists, corpus))
        assert by_lists.predict(corpus.stacked, corpus.languages).shape == (80, 1)

    def test_one_language(self, method: Any, corpus: VectorCorpus) -> None:
        model = method.fit(corpus.X["it"], corpus.y["it"])
        assert model.predict(corpus.X["it"]).shape == (40, 3)
        assert len(model.languages_) == 1

    def test_texts_without_any_word(self, method: Any) -> None:
        texts = ["", "...", "cat", "dog"] * 3
        model = method.fit(texts, [["a"], [], ["b"], ["c"]] * 3, languages=["de", "de", "en", "en"] * 3)
        assert np.isfinite(model.predict_proba(["", "cat", "chat"], languages=["en", "de", "de"])).all()

    @pytest.mark.parametrize(
        "vectorizer",
        [
            CountVectorizer(dtype=np.int8),
            TfidfVectorizer(analyzer="char", ngram_range=(1, 3), dtype=np.float32),
        ],
    )
    def test_any_vectorizer(self, method: Any, vectorizer: Any) -> None:
        if "vectorizer" not in method.get_params():
            pytest.skip("its views are its vectorizers")
        texts, labels, languages = text_corpus(60)
        model = method.set_params(vectorizer=vectorizer).fit(texts, labels, languages=languages)
        assert model.predict(["cat house river", "casa fiume cane"], languages=["en", "it"]).tolist() == [
            [0, 1, 0, 0],
            [0, 0, 1, 0],
        ]
        assert not hasattr(vectorizer, "vocabulary_"), "the user's own is left alone"


class TestDecisions:
    def test_yes_is_a_score_above_zero(self, method: Any, corpus: VectorCorpus) -> None:
        model = method.fit(corpus.X, corpus.y)
        for language, scores in model.decision_function(corpus.X).items():
            predicted = model.predict(corpus.X)[language]
            assert set(np.unique(predicted)) <= {0, 1}
            np.testing.assert_array_equal(predicted, scores > 0)

    def test_yes_is_a_probability_above_the_threshold(self, method: Any, corpus: VectorCorpus) -> None:
        model = method.fit(corpus.X, corpus.y)
        decided, probabilities = model.model_.classify(corpus.X)
        for language in model.languages_:
            thresholds = model.thresholds_[language]
            assert thresholds.shape == (3,)
            clear = np.abs(probabilities[language] - thresholds) > 1e-6
            np.testing.assert_array_equal(
                (probabilities[language] > thresholds)[clear], decided[language].astype(bool)[clear]
            )
            assert clear.mean() > 0.9

    def test_classify_is_predict_and_predict_proba(self, method: Any, corpus: VectorCorpus) -> None:
        model = method.fit(corpus.stacked, corpus.indicator, languages=corpus.languages)
        decided, probabilities = model.model_.classify(corpus.stacked, corpus.languages)
        np.testing.assert_array_equal(decided, model.predict(corpus.stacked, corpus.languages))
        np.testing.assert_array_equal(probabilities, model.predict_proba(corpus.stacked, corpus.languages))

    def test_a_label_that_all_have_is_always_given(self, method: Any, corpus: VectorCorpus) -> None:
        y = np.hstack([corpus.indicator, np.ones((80, 1), int), np.zeros((80, 1), int)])
        model = method.fit(corpus.stacked, y, languages=corpus.languages)
        decided, probabilities = model.model_.classify(corpus.stacked, corpus.languages)
        assert decided[:, 3].all()
        assert not decided[:, 4].any()
        assert (probabilities[:, 3] == 1).all()
        assert (probabilities[:, 4] == 0).all()
        assert model.thresholds_["it"][3:].tolist() == [0.5, 0.5]

    def test_an_empty_label_changes_nothing_else(self, method: Any, corpus: VectorCorpus) -> None:
        padded = {language: np.insert(part, 1, 0, axis=1) for language, part in corpus.y.items()}
        plain = clone(method).fit(corpus.X, corpus.y).decision_function(corpus.X)
        more = method.fit(corpus.X, padded).decision_function(corpus.X)
        for language, scores in plain.items():
            np.testing.assert_allclose(np.delete(more[language], 1, axis=1), scores, atol=2e-2)

    def test_the_score_is_the_share_of_documents_all_right(self, method: Any, corpus: VectorCorpus) -> None:
        model = method.fit(corpus.stacked, corpus.indicator, languages=corpus.languages)
        right = (model.predict(corpus.stacked, corpus.languages) == corpus.indicator).all(axis=1)
        score = model.score(corpus.stacked, corpus.indicator, languages=corpus.languages)
        assert score == pytest.approx(right.mean())
        assert model.score(corpus.X, corpus.y) == pytest.approx(right.mean())
        weights = np.arange(80)
        weighted = model.score(corpus.stacked, corpus.indicator, weights, corpus.languages)
        assert weighted == pytest.approx(np.average(right, weights=weights))

    def test_the_score_takes_label_lists(self, method: Any) -> None:
        texts, labels, languages = text_corpus(60)
        model = method.fit(texts, labels, languages=languages)
        assert model.score(texts, labels, languages=languages) > 0.9
        assert model.score(texts, [["unknown"]] * 60, languages=languages) == 0


class TestBits:
    def test_a_seed_makes_a_fit_repeatable(self, method: Any, corpus: VectorCorpus) -> None:
        first = clone(method).fit(corpus.X, corpus.y).predict_proba(corpus.X)
        second = method.fit(corpus.X, corpus.y).predict_proba(corpus.X)
        for language in first:
            np.testing.assert_array_equal(first[language], second[language])

    def test_a_second_fit_forgets_the_first(self, method: Any, corpus: VectorCorpus) -> None:
        texts, labels, languages = text_corpus()
        fresh = clone(method).fit(corpus.X, corpus.y)
        method.fit(texts, labels, languages=languages)
        method.fit(corpus.stacked, corpus.indicator, languages=corpus.languages)
        method.fit(corpus.X, corpus.y)
        assert set(vars(method)) == set(vars(fresh))

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_threads_change_no_bit(self, method: Any, corpus: VectorCorpus, form: Any) -> None:
        X = {language: form(part) for language, part in corpus.X.items()}
        one = clone(method).set_params(n_jobs=1).fit(X, corpus.y).predict_proba(X)
        two = method.set_params(n_jobs=2).fit(X, corpus.y).predict_proba(X)
        for language in one:
            np.testing.assert_array_equal(one[language], two[language])

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize("exclusive", [False, True])
    def test_permuting_documents_permutes_predictions(
        self, method: Any, corpus: VectorCorpus, form: Any, exclusive: bool
    ) -> None:
        y = corpus.indicator.sum(axis=1) if exclusive else corpus.indicator
        languages = np.array(corpus.languages)
        model = method.fit(form(corpus.stacked), y, languages=languages)
        order = np.random.default_rng(0).permutation(80)
        for give in (model.predict, model.predict_proba, model.decision_function):
            together = give(form(corpus.stacked), languages)
            np.testing.assert_array_equal(
                give(form(corpus.stacked[order]), languages[order]), together[order]
            )

    @pytest.mark.parametrize("exclusive", [False, True])
    def test_a_document_alone_is_classified_as_in_company(
        self, method: Any, corpus: VectorCorpus, exclusive: bool
    ) -> None:
        y = corpus.indicator.sum(axis=1) if exclusive else corpus.indicator
        model = method.fit(corpus.stacked, y, languages=corpus.languages)
        for give in (model.predict_proba, model.decision_function):
            together = give(corpus.stacked, corpus.languages)
            alone = [give(corpus.stacked[[i]], [corpus.languages[i]])[0] for i in range(80)]
            np.testing.assert_array_equal(alone, together)

    def test_a_text_alone_is_classified_as_in_company(self, method: Any) -> None:
        texts, labels, languages = text_corpus()
        model = method.fit(texts, labels, languages=languages)
        together = model.predict_proba(texts, languages)
        alone = [model.predict_proba([texts[i]], [languages[i]])[0] for i in range(len(texts))]
        np.testing.assert_array_equal(alone, together)

    def test_a_pickle_changes_no_bit(self, method: Any, corpus: VectorCorpus) -> None:
        model = method.fit(corpus.X, corpus.y)
        again = pickle.loads(pickle.dumps(model))
        for language, probabilities in model.predict_proba(corpus.X).items():
            np.testing.assert_array_equal(again.predict_proba(corpus.X)[language], probabilities)


class TestOddCorpora:
    def test_documents_without_labels(self, method: Any, corpus: VectorCorpus) -> None:
        y = {language: part.copy() for language, part in corpus.y.items()}
        y["it"][:35] = 0
        model = method.fit(corpus.X, y)
        assert np.isfinite(model.predict_proba(corpus.X)["it"]).all()

    def test_a_language_of_one_document(self, method: Any, corpus: VectorCorpus) -> None:
        X = {"en": corpus.X["en"], "it": corpus.X["it"][:1]}
        model = method.fit(X, {"en": corpus.y["en"], "it": corpus.y["it"][:1]})
        assert np.isfinite(model.predict_proba(corpus.X)["it"]).all()

    def test_a_language_without_positives(self, method: Any, corpus: VectorCorpus) -> None:
        model = method.fit(corpus.X, {"en": corpus.y["en"], "it": np.zeros((40, 3), int)})
        probabilities = model.predict_proba(corpus.X)
        assert np.isfinite(probabilities["it"]).all()
        assert not model.predict(corpus.X)["it"].any()

    def test_one_positive_of_a_label(self, method: Any, corpus: VectorCorpus) -> None:
        y = {language: part.copy() for language, part in corpus.y.items()}
        y["en"][:, 0] = np.arange(40) == 0
        y["it"][:, 0] = 0
        assert np.isfinite(method.fit(corpus.X, y).predict_proba(corpus.X)["en"]).all()

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_zero_vectors(self, method: Any, corpus: VectorCorpus, form: Any) -> None:
        X = {language: part.copy() for language, part in corpus.X.items()}
        X["en"][:] = 0
        X["it"][::2] = 0
        X = {language: form(part) for language, part in X.items()}
        assert np.isfinite(method.fit(X, corpus.y).predict_proba(X)["en"]).all()

    def test_nothing_but_constant_labels(self, method: Any, corpus: VectorCorpus) -> None:
        y = {language: np.tile([1, 0], (40, 1)) for language in corpus.X}
        assert method.fit(corpus.X, y).predict(corpus.X)["en"].tolist() == [[1, 0]] * 40

    def test_as_many_labels_as_documents(self, method: Any) -> None:
        X = np.eye(4)
        model = method.fit(X, [["a"], ["b"], ["c"], ["d"]], languages=["en", "it"] * 2)
        assert np.isfinite(model.predict_proba(X, ["en", "it"] * 2)).all()


class TestParameters:
    def test_clone_keeps_every_parameter(self, method: Any) -> None:
        for name, value in clone(method).get_params().items():
            assert getattr(method, name) == value

    def test_fitting_changes_no_parameter(self, method: Any, corpus: VectorCorpus) -> None:
        before = method.get_params()
        method.fit(corpus.X, corpus.y)
        assert method.get_params() == before

    def test_nothing_is_checked_before_fit(self, method: Any) -> None:
        assert type(method)(n_jobs="many", memory_limit=-1, random_state="?").n_jobs == "many"

    @pytest.mark.parametrize("limit", [0, -1, None, "8GB", float("nan")])
    def test_a_memory_limit_is_a_number_of_bytes(self, method: Any, corpus: VectorCorpus, limit: Any) -> None:
        with pytest.raises(InputError, match=r"^memory_limit must be a number of bytes, not "):
            method.set_params(memory_limit=limit).fit(corpus.X, corpus.y)

    def test_a_corpus_over_the_memory_limit_is_refused(self, method: Any, corpus: VectorCorpus) -> None:
        with pytest.raises(InputError, match=r"needs? .* KB, over the memory_limit of 1\.0 KB\. Raise "):
            method.set_params(memory_limit=1000).fit(corpus.X, corpus.y)

    def test_groups_are_cut_like_documents(self, method: Any, corpus: VectorCorpus) -> None:
        groups = [f"law {i % 40}" for i in range(80)]
        stacked = clone(method).fit(corpus.stacked, corpus.indicator, corpus.languages, groups)
        mapped = method.fit(corpus.X, corpus.y, groups={"en": groups[:40], "it": groups[40:]})
        np.testing.assert_array_equal(
            scores_of(stacked, corpus)[40:], mapped.decision_function(corpus.X)["it"]
        )
        with pytest.raises(InputError, match=r"^groups has 3 entries for 80 documents\.$"):
            method.fit(corpus.stacked, corpus.indicator, corpus.languages, ["a"] * 3)


class TestUnknownLanguages:
    """They get what is most frequent, so that a fold without a language does not end a cross-validation."""

    def test_several_labels(self, method: Any) -> None:
        texts, _, languages = text_corpus(60)
        labels = [
            ["often", "rare"] if row % 10 == 0 else ["often"] if row % 10 < 7 else [] for row in range(60)
        ]
        model = method.fit(texts, labels, languages=languages)
        warn_of_languages.cache_clear()
        with pytest.warns(UserWarning, match=r"does not know the language 'xx'\. It knows"):
            predicted = model.predict(["le chat", "a cat", "un chien"], languages=["xx", "en", "xx"])
        assert predicted[[0, 2]].tolist() == [[1, 0], [1, 0]]
        probabilities = model.predict_proba(["le chat"], languages=["xx"])
        np.testing.assert_allclose(probabilities, [[0.7, 0.1]])
        assert (model.decision_function(["le chat"], languages=["xx"]) > 0).tolist() == [[True, False]]

    @pytest.mark.parametrize("shares", [(0.7, 0.3), (0.2, 0.5, 0.3)])
    def test_one_label_each(self, method: Any, shares: tuple[float, ...]) -> None:
        texts, _, languages = text_corpus(60)
        y = np.repeat(np.array(["x", "y", "z"])[: len(shares)], [round(60 * share) for share in shares])
        model = method.fit(texts, np.random.default_rng(0).permutation(y), languages=languages)
        assert model.predict(["le chat"], languages=["xx"]).tolist() == ["xyz"[int(np.argmax(shares))]]
        np.testing.assert_allclose(model.predict_proba(["le chat"], languages=["xx"]), [shares])

    def test_a_dropped_label_is_not_given(self, method: Any) -> None:
        texts, _, languages = text_corpus(60)
        model = method.fit(texts, np.array(["x", "y", "z", "x"] * 15), languages=languages)
        model.relabel({"x": None})
        assert model.predict(["le chat"], languages=["xx"]).tolist() == ["y"]

    def test_a_fold_without_a_language_does_not_end_a_search(self, method: Any) -> None:
        texts, labels, languages = text_corpus(60)
        order = np.argsort(languages, kind="stable")
        X = np.array(texts, dtype=object)[order]
        y = np.array([row[0] if row else "none" for row in labels], dtype=object)[order]
        with sklearn.config_context(enable_metadata_routing=True):
            routed = clone(method).set_fit_request(languages=True).set_score_request(languages=True)
            found = cross_val_score(routed, X, y, cv=KFold(2), params={"languages": np.sort(languages)})
        assert np.isfinite(found).all()


class TestRefusals:
    def test_documents_in_an_unknown_language_are_not_explained(
        self, method: Any, corpus: VectorCorpus
    ) -> None:
        model = method.fit(corpus.X, corpus.y)
        expected = r"^The model does not know the language 'fr'\. It knows en, it\.$"
        with pytest.raises(InputError, match=expected):
            model.explain(corpus.X["it"][:1], languages=["fr"])
        with pytest.raises(InputError, match=expected):
            model.model_.opinions({"fr": corpus.X["it"]})

    def test_vectors_without_a_language(self, method: Any, corpus: VectorCorpus) -> None:
        model = method.fit(corpus.stacked, corpus.indicator, languages=corpus.languages)
        with pytest.raises(InputError, match=r"^The model knows en, it: give each vector's language\.$"):
            model.predict(corpus.stacked)

    def test_texts_for_vectors_and_vectors_for_texts(self, method: Any, corpus: VectorCorpus) -> None:
        texts, labels, languages = text_corpus()
        on_texts = clone(method).fit(texts, labels, languages=languages)
        on_vectors = method.fit(corpus.X, corpus.y)
        for X in (corpus.X, corpus.stacked):
            with pytest.raises(InputError, match=r"^The model was fitted on texts, and X holds vectors\.$"):
                on_texts.predict(X)
        for X in (["cat"], {"en": ["cat"]}):
            with pytest.raises(InputError, match=r"^The model was fitted on vectors, and X holds texts\.$"):
                on_vectors.predict(X)

    def test_another_number_of_features(self, method: Any, corpus: VectorCorpus) -> None:
        model = method.fit(corpus.X, corpus.y)
        with pytest.raises(
            InputError, match=r"^X has 5 features in language 'it', where the model was fitted"
        ):
            model.predict({"it": corpus.X["it"][:, :5]})

    def test_prediction_before_fit(self, method: Any, corpus: VectorCorpus) -> None:
        for give in (method.predict, method.predict_proba, method.decision_function, method.predict_labels):
            with pytest.raises(sklearn.exceptions.NotFittedError):
                give(corpus.X)

    def test_no_labels(self, method: Any, corpus: VectorCorpus) -> None:
        with pytest.raises(ValueError, match="requires y to be passed"):
            method.fit(corpus.X, None)


class TestRouting:
    """Languages reach the method through scikit-learn's own tools."""

    @pytest.fixture(autouse=True)
    def _routing(self) -> Any:
        with sklearn.config_context(enable_metadata_routing=True):
            yield

    def test_requests(self, method: Any) -> None:
        method.set_fit_request(languages=True, groups="laws", ids="names")
        method.set_predict_request(languages=True)
        method.set_predict_proba_request(languages=True).set_decision_function_request(languages=True)
        routing = get_routing_for_object(method)
        assert routing.fit.requests == {
            "languages": True,
            "groups": "laws",
            "ids": "names",
        }
        assert routing.predict.requests == {"languages": True}

    def test_cross_validation(self, method: Any, corpus: VectorCorpus) -> None:
        method.set_fit_request(languages=True).set_score_request(languages=True)
        scores = cross_val_score(
            method, corpus.stacked, corpus.indicator, cv=3, params={"languages": np.array(corpus.languages)}
        )
        assert scores.shape == (3,)
        assert (scores > 0).all()

    def test_grid_search_over_texts(self, method: Any) -> None:
        texts, labels, languages = text_corpus(40)
        indicator = np.array([[name in row for name in ("cats", "dogs")] for row in labels]).astype(int)
        method.set_fit_request(languages=True).set_score_request(languages=True)
        search = GridSearchCV(method, {"memory_limit": [8e9, 7e9]}, cv=2)
        search.fit(texts, indicator, languages=languages)
        assert search.predict(["cat"]).shape == (1, 2)


def test_every_way_in_refuses_what_a_fit_refuses(corpus: VectorCorpus) -> None:
    model = clone(METHODS["fun-tat"]).fit(corpus.stacked, corpus.indicator, corpus.languages)
    damaged = sparse.csr_array(corpus.stacked)
    damaged.indices[0] = 2**28
    large = corpus.stacked * 1e300
    ways: list[Any] = [model.predict, model.predict_proba, model.decision_function, model.explain]
    for X, reason in ((damaged, "damaged sparse matrix"), (large, "Scale the features")):
        for way in ways:
            with pytest.raises(InputError, match=reason):
                way(X, corpus.languages)
        for learn in (model.update, clone(model).fit):
            with pytest.raises(InputError, match=reason):
                learn(X, corpus.indicator, corpus.languages)
        with pytest.raises(InputError, match=reason):
            model.score(X, corpus.indicator, languages=corpus.languages)
