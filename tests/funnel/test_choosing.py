"""fun-auto: it chooses by the training documents alone, honestly, and the same for the same seed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from funnelling import FunnellingClassifier, InputError, load_model, save_model
from funnelling.corpus import Corpus
from funnelling.evaluation.registry import PAPER_MEASURES
from funnelling.funnel import choosing
from funnelling.funnel.views.combination import Combination
from funnelling.method.training_set import TrainingSet
from funnelling.randomness import assign_folds
from tests.artificial import vector_corpus
from tests.reproduction.experiments.made import made_corpus, write_words


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return made_corpus(each=45)


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> FunnellingClassifier:
    return fitted(corpus)


def fitted(corpus: Corpus, **parameters: Any) -> FunnellingClassifier:
    model = FunnellingClassifier(views="auto", random_state=0, **parameters)
    return model.fit(corpus.texts, corpus.labels, languages=corpus.languages)


def scores(model: FunnellingClassifier, corpus: Corpus) -> Any:
    return model.decision_function(corpus.texts, languages=corpus.languages)


def test_the_best_candidate_is_taken_and_it_says_why(model: FunnellingClassifier) -> None:
    choice = model.choice_
    quality = {row["name"]: np.mean([row[measure] for measure in PAPER_MEASURES]) for row in choice.tried}
    name = str(choosing.Candidate(tuple(choice.views), choice.normalise, choice.combine))
    assert quality[name] == max(quality.values()) >= quality["fun-tat"]
    assert len(quality) == 7
    assert name in choice.summary()
    assert model.meta_C_ == choice.C


def test_it_is_the_funnel_of_the_views_chosen(model: FunnellingClassifier, corpus: Corpus) -> None:
    choice = model.choice_
    views = None if not choice.normalise else choice.views
    same = FunnellingClassifier(views=views, combine=choice.combine, meta_C=choice.C, random_state=0)
    same.fit(corpus.texts, corpus.labels, languages=corpus.languages)
    assert np.array_equal(scores(model, corpus), scores(same, corpus))


def test_threads_and_saving_change_nothing(
    model: FunnellingClassifier, corpus: Corpus, tmp_path: Path
) -> None:
    assert np.array_equal(scores(fitted(corpus, n_jobs=2), corpus), scores(model, corpus))
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.choice_ == model.choice_
    assert np.array_equal(scores(loaded, corpus), scores(model, corpus))


def test_what_is_held_out_is_not_seen(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither vocabulary nor base classifiers of a round learn from what it is measured on."""
    learned: list[set[str]] = []
    held_out: list[set[str]] = []
    begin = choosing.Round.__init__

    def spy(self: Any, *given: Any) -> None:
        begin(self, *given)
        learned.append({text for part in self.training.documents.values() for text in part})
        held_out.append({text for part in self.held_out.documents.values() for text in part})
        words = {word for text in learned[-1] for word in text.split()}
        for vectorizer in self.vectorizers.values():
            assert set(vectorizer.vocabulary_) <= words

    monkeypatch.setattr(choosing.Round, "__init__", spy)
    texts = [f"{text} unique{i}" for i, text in enumerate(corpus.texts)]
    FunnellingClassifier(views="auto", random_state=0).fit(texts, corpus.labels, corpus.languages)
    assert len(learned) == choosing.ROUNDS
    for inside, outside in zip(learned, held_out, strict=True):
        assert inside
        assert outside
        assert not inside & outside
        assert len(inside) + len(outside) == len(texts)


def test_groups_stay_on_one_side(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def spy(parts: int, documents: int, *keys: Any, language: str = "", groups: Any = None) -> Any:
        asked.append((keys[1], list(groups)))
        return assign_folds(parts, documents, *keys, language=language, groups=groups)

    monkeypatch.setattr(choosing, "assign_folds", spy)
    groups = [f"law {i // 6}" for i in range(len(corpus))]
    FunnellingClassifier(views="auto", random_state=0).fit(
        corpus.texts, corpus.labels, corpus.languages, groups=groups
    )
    assert {purpose for purpose, _ in asked} == {"choice"}
    assert sorted(name for _, names in asked for name in names) == sorted(groups)


@pytest.mark.parametrize("bound", ["MOST_WORK", "MOST_DOCUMENTS"])
def test_of_a_large_corpus_a_sample_is_tried(
    bound: str, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    begin = choosing.Round.__init__

    def spy(self: Any, *given: Any) -> None:
        begin(self, *given)
        sizes.append(sum(map(len, (*self.training.targets.values(), *self.held_out.targets.values()))))

    monkeypatch.setattr(choosing.Round, "__init__", spy)
    monkeypatch.setattr(choosing, bound, len(corpus) * (4 if bound == "MOST_WORK" else 1) / 2)
    model = fitted(corpus)
    assert all(abs(size - len(corpus) / 2) <= 3 for size in sizes)
    assert sum(model.documents_.values()) == len(corpus)


def test_a_language_of_one_document_or_group_costs_no_round() -> None:
    sizes = {"en": 200, "it": 1, "fr": 20}
    for name in map(str, range(10)):  # of which some fall to one round and some to the other
        groups: Any = {"en": None, "it": None, "fr": [name] * 20}
        targets = {tag: np.ones((size, 1), dtype=bool) for tag, size in sizes.items()}
        training = TrainingSet.of({}, {}, targets, groups, {}, texts=True, exclusive=False, seed=0)
        rounds = list(choosing._splits(training))
        assert len(rounds) == choosing.ROUNDS
        for learned in rounds:
            assert learned["it"].all()
            assert learned["fr"].all()
            assert not learned["en"].all()


def test_few_documents_get_the_papers_funnel(corpus: Corpus) -> None:
    few = corpus.select(np.arange(40))
    model = fitted(few)
    assert model.choice_.views == ["own"]
    assert "too few documents or groups" in model.choice_.summary()
    paper = FunnellingClassifier(views=None, random_state=0).fit(few.texts, few.labels, few.languages)
    assert np.array_equal(scores(model, few), scores(paper, few))


def test_a_label_that_a_round_does_not_see_costs_nothing(corpus: Corpus) -> None:
    y = ["rare" if number == 0 else "common" for number in range(len(corpus))]
    for seed in range(5):  # in one of which the only document is held out
        model = FunnellingClassifier(views="auto", random_state=seed)
        model.fit(corpus.texts, y, corpus.languages)
        assert model.classes_.tolist() == ["common", "rare"]


def test_vectors_are_seen_one_way() -> None:
    made = vector_corpus()
    model = FunnellingClassifier(views="auto", random_state=0).fit(made.X, made.y)
    assert model.choice_.views == ["own"]
    assert [row["name"] for row in model.choice_.tried] == ["fun-tat", "own"]


@pytest.mark.parametrize("classes", [2, 3])
def test_one_label_a_document(classes: int, corpus: Corpus) -> None:
    y = [str(len(labels) % classes) for labels in corpus.labels if labels is not None]
    model = FunnellingClassifier(views="auto", random_state=0).fit(corpus.texts, y, corpus.languages)
    assert set(model.predict(corpus.texts, corpus.languages)) <= set(y)


class TestWhatIsGiven:
    """Candidates are tried with the settings that the chosen one is fitted with."""

    @pytest.mark.parametrize("combine", ["concat", "stacked"])
    def test_the_way_to_combine(self, combine: str, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
        tried = []
        points = Combination.points

        def spy(self: Combination, posteriors: Any) -> Any:
            rows = points(self, posteriors)
            tried.append((self.how, len(posteriors), rows.shape[1]))
            return rows

        monkeypatch.setattr(Combination, "points", spy)
        model = fitted(corpus, combine=combine)
        assert {way for way, views, _ in tried if views > 1} == {combine}
        assert all(width == (4 * views if combine == "concat" else 4) for _, views, width in tried)
        assert f"own + pooled + characters, {combine}" in [row["name"] for row in model.choice_.tried]

    def test_views_are_weighed_where_that_is_best(
        self, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        candidate = choosing.Candidate(("pooled", "characters"), combine="stacked")
        paper = choosing.Candidate(("own",), normalise=False)
        monkeypatch.setattr(choosing, "candidates", lambda *_: [paper, candidate])
        model = fitted(corpus)
        assert model.choice_.summary().startswith("Chose pooled + characters, stacked, C = ")
        assert sum(model.weights_.values()) == pytest.approx(1)
        save_model(model, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        assert np.array_equal(scores(loaded, corpus), scores(model, corpus))

    def test_one_regularisation(self, corpus: Corpus) -> None:
        model = fitted(corpus, meta_C=1000.0)
        assert model.choice_.C == model.meta_C_ == 1000
        assert "C = 1000," in model.choice_.summary()

    def test_an_estimator(self, corpus: Corpus) -> None:
        model = fitted(corpus, meta_estimator=LogisticRegression())
        assert model.choice_.C is None
        assert "C =" not in model.choice_.summary()

    def test_the_variant(self, corpus: Corpus) -> None:
        model = fitted(corpus, variant="kfcv", folds=2)
        assert "fun-kfcv" in model.choice_.summary()
        assert "fun-tat" not in model.choice_.summary()

    def test_whether_to_normalise_is_chosen(self, corpus: Corpus) -> None:
        with pytest.raises(InputError, match="Leave normalise out"):
            fitted(corpus, normalise=False)


class TestWordVectors:
    def test_a_language_without_them_is_measured_by_the_other_views(
        self, corpus: Corpus, tmp_path: Path
    ) -> None:
        model = fitted(corpus, embeddings=write_words(tmp_path, corpus, ["de", "en"]))
        names = [row["name"] for row in model.choice_.tried]
        assert "embeddings" not in names  # nobody would see Italian
        assert "pooled + characters + embeddings" in names

    @pytest.mark.parametrize("combine", ["mean", "concat"])
    def test_of_other_languages_they_are_left_out(self, combine: str, corpus: Corpus, tmp_path: Path) -> None:
        model = fitted(corpus, combine=combine, embeddings=write_words(tmp_path, corpus, ["fr"]))
        assert not any("embeddings" in row["name"] for row in model.choice_.tried)
        assert any("own + pooled + characters" in row["name"] for row in model.choice_.tried)
