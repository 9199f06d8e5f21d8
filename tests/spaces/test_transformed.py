"""Views of the user's own: transformers and functions, of texts or of vectors."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer as TheirVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from funnelling import InputError, load_model
from funnelling.corpus import Corpus
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.spaces import check_views, named_views
from funnelling.storage import save_model
from funnelling.text.tfidf import TfidfVectorizer
from tests.artificial import vector_corpus
from tests.funnels import any_funnel
from tests.research.experiments.made import made_corpus


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return made_corpus(each=30)


def fitted(corpus: Corpus, *views: Any, **parameters: Any) -> FunnelEstimator:
    model = any_funnel(views=list(views), random_state=0, **parameters)
    return model.fit(corpus.texts, corpus.labels, languages=corpus.languages)


def scores(model: FunnelEstimator, corpus: Corpus) -> Any:
    return model.decision_function(corpus.texts, languages=corpus.languages)


def letters(texts: Any) -> Any:
    return np.array([[len(text), *(text.count(letter) for letter in "abcd")] for text in texts], dtype=float)


class TestNames:
    def test_views_of_one_name_are_numbered(self) -> None:
        views = named_views(
            [CountVectorizer(), "pooled", CountVectorizer(binary=True), lambda _: 0, lambda _: 1]
        )
        assert list(views) == ["CountVectorizer", "pooled", "CountVectorizer-2", "<lambda>", "<lambda>-2"]

    @pytest.mark.parametrize("name", ["own", "shared", "encoder"])
    def test_names_of_ours_are_not_taken(self, name: str, corpus: Corpus) -> None:
        def function(texts: Any) -> Any:
            return letters(texts)

        function.__name__ = name
        model = fitted(corpus, function)
        assert list(model.model_.fitted.learned.views.shared) == [f"{name}-2"]
        assert not model.model_.fitted.learned.views.own
        assert scores(model, corpus).shape == (len(corpus), 4)

    def test_a_class_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"Give an object of it: CountVectorizer\(\)"):
            check_views([CountVectorizer])

    def test_what_cannot_be_cloned_is_refused(self) -> None:
        class Duck:
            transform = fit = None

        with pytest.raises(InputError, match="Duck cannot be cloned"):
            check_views([Duck()])


class TestVectors:
    def test_a_transformer_sees_them(self) -> None:
        made = vector_corpus(features=5)
        X = {tag: rows * [1, 100, 1, 1, 1] for tag, rows in made.X.items()}
        found = []
        for views in ([StandardScaler()], ["pooled"]):
            model = any_funnel(views=views, random_state=0).fit(X, made.y)
            assert not model.supports("fr")
            found.append(model.decision_function(X)["it"])
        assert not np.array_equal(*found)

    def test_a_function_sees_them(self) -> None:
        made = vector_corpus()
        model = any_funnel(views=[lambda X: X[:, :3]], random_state=0).fit(made.X, made.y)
        assert model.model_.fitted.learned.views.shared["<lambda>"].space.columns_ == 3
        assert model.predict(made.X)["it"].shape == (40, 3)

    def test_dense_and_sparse_are_the_same_to_a_shared_view(self) -> None:
        made = vector_corpus()
        model = any_funnel(views=["pooled"], random_state=0).fit(made.X, made.y)
        thin = {tag: sparse.csr_array(rows) for tag, rows in made.X.items()}
        assert np.array_equal(model.decision_function(thin)["it"], model.decision_function(made.X)["it"])


class TestWhatTheyGive:
    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            (lambda X: X[:, 0], "It must give a row each"),
            (lambda X: X[:-1], "It must give a row each"),
            (lambda X: X * np.nan, "no finite numbers"),
            (lambda X: np.full(X.shape, "a"), "no finite numbers"),
        ],
    )
    def test_what_is_no_matrix_of_numbers_is_refused(self, wrong: Any, says: str, corpus: Corpus) -> None:
        broken = False

        def view(texts: Any) -> Any:
            return wrong(letters(texts)) if broken else letters(texts)

        model = fitted(corpus, view)
        broken = True
        for call in (lambda: scores(model, corpus), lambda: fitted(corpus, view)):
            with pytest.raises(InputError, match=f"The view 'view' .*{says}"):
                call()

    def test_other_columns_than_in_training_are_refused(self, corpus: Corpus) -> None:
        model = fitted(corpus, lambda texts: np.ones((len(texts), 2 if len(texts) > 5 else 3)))
        with pytest.raises(InputError, match="gives 3 columns, and gave 2"):
            model.predict(["a"], ["it"])

    @pytest.mark.parametrize("kind", [sparse.coo_array, sparse.csc_matrix, list])
    def test_any_kind_of_matrix_will_do(self, kind: Any, corpus: Corpus) -> None:
        model = fitted(corpus, lambda texts: kind(letters(texts)))
        assert scores(model, corpus).shape == (len(corpus), 4)

    @pytest.mark.parametrize(
        "view",
        [
            HashingVectorizer(n_features=32),
            make_pipeline(CountVectorizer(), StandardScaler(with_mean=False)),
            lambda texts: sparse.csr_array(letters(texts)),
            TfidfVectorizer(),
        ],
    )
    def test_columns_without_names_are_explained_by_number(self, view: Any, corpus: Corpus) -> None:
        model = fitted(corpus, view)
        assert model.explain(corpus.texts[:2], corpus.languages[:2], ["a"])[0]["labels"]["a"]["tier_one"]


def test_what_a_function_belongs_to_is_not_copied(corpus: Corpus) -> None:
    class Encoder:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def encode(self, texts: Any) -> Any:
            return letters(texts)

    assert scores(fitted(corpus, Encoder().encode), corpus).shape == (len(corpus), 4)


def test_chance_follows_from_the_seed(corpus: Corpus) -> None:
    def view() -> Any:
        return make_pipeline(TheirVectorizer(), TruncatedSVD(3))

    one, two = fitted(corpus, view()), fitted(corpus, view())
    assert np.array_equal(scores(one, corpus), scores(two, corpus))
    assert view().get_params()["truncatedsvd__random_state"] is None


def test_transformers_are_saved_functions_are_not(corpus: Corpus, tmp_path: Path) -> None:
    model = fitted(corpus, make_pipeline(TheirVectorizer(), TruncatedSVD(3)), CountVectorizer())
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert np.array_equal(scores(loaded, corpus), scores(model, corpus))
    with pytest.raises(InputError, match="cannot be saved"):
        save_model(fitted(corpus, letters), tmp_path / "other")
