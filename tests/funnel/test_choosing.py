"""fun-auto: it chooses by the training documents alone, honestly, and the same for the same seed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from funnelling import InputError, load_model
from funnelling.corpus import Corpus
from funnelling.corpus.labels import MULTILABEL, LabelSpace
from funnelling.evaluation.registry import PAPER_MEASURES
from funnelling.funnel import choosing
from funnelling.funnel.combination import Combination
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.runtime.progress import Progress
from funnelling.storage import save_model
from tests.artificial import vector_corpus
from tests.corpus.training import made_training
from tests.funnels import any_funnel
from tests.research.experiments.made import made_corpus, write_words


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return made_corpus(each=45)


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> FunnelEstimator:
    return fitted(corpus)


def fitted(corpus: Corpus, **parameters: Any) -> FunnelEstimator:
    model = any_funnel(views="auto", random_state=0, **parameters)
    return model.fit(corpus.texts, corpus.labels, languages=corpus.languages)


def scores(model: FunnelEstimator, corpus: Corpus) -> Any:
    return model.decision_function(corpus.texts, languages=corpus.languages)


def test_what_is_tried_is_told_the_simplest_first_and_it_says_why(model: FunnelEstimator) -> None:
    choice = model.choice_
    names = [row["name"] for row in choice.tried]
    assert names == [
        *(
            f"{views}{way}"
            for views in ("own + mixed", "mixed", "own + mixed + own-mixed")
            for way in ("", ", odds")
        ),
        "fun-tat",
    ]
    quality = {row["name"]: np.mean([row[measure] for measure in PAPER_MEASURES]) for row in choice.tried}
    name = str(choice.candidate)
    better = [other for other in names if quality[other] > quality[name]]
    assert all(names.index(other) > names.index(name) for other in better)
    assert quality[name] > quality["fun-tat"]
    assert f"Chose {name}" in choice.summary()
    assert "of 7 candidates" in choice.summary()
    assert model.model_.fitted.final_c == choice.C
    summary, *lines = str(choice).splitlines()
    assert summary == choice.summary()
    assert [line[2:].split(": ")[0] for line in lines] == names
    assert [line[2:].split(": ")[0] for line in lines if line.startswith("*")] == [name]


def same_funnel(model: FunnelEstimator, corpus: Corpus, **parameters: Any) -> FunnelEstimator:
    """What was chosen, asked for."""
    choice = model.choice_
    views = choice.views if choice.normalise else None
    same = any_funnel(views=views, combine=choice.combine, meta_C=choice.C, random_state=0, **parameters)
    return same.fit(corpus.texts, corpus.labels, languages=corpus.languages)


def test_it_is_the_funnel_of_the_views_chosen(model: FunnelEstimator, corpus: Corpus) -> None:
    said, again = (
        each.predict_proba(corpus.texts, languages=corpus.languages)
        for each in (model, same_funnel(model, corpus))
    )
    assert np.array_equal(said, again)


def test_with_a_goal_it_decides_alike_too(corpus: Corpus) -> None:
    model = fitted(corpus, thresholds="micro-f1")
    assert np.array_equal(
        scores(model, corpus), scores(same_funnel(model, corpus, thresholds="micro-f1"), corpus)
    )


def test_without_a_goal_thresholds_are_tuned_but_not_below_a_tenth(
    model: FunnelEstimator, corpus: Corpus
) -> None:
    thresholds = model.thresholds_["it"]
    assert (thresholds >= 0.1 - 1e-9).all()
    assert not np.allclose(thresholds, same_funnel(model, corpus).thresholds_["it"])


class TestNoise:
    """Of candidates that noise might have put in their order the simplest is taken."""

    def chosen(self, qualities: dict[str, Any], corpus: Corpus, patch: pytest.MonkeyPatch) -> str:
        """What is chosen where each document is held out with these qualities, by candidate."""

        def measure(
            _: Any, candidate: choosing.CandidateConfig
        ) -> list[tuple[float, choosing.CandidateScore]]:
            by_document = np.asarray(qualities.get(str(candidate), [0.0] * 4), dtype=float)
            measures = dict.fromkeys(PAPER_MEASURES, float(by_document.mean()))
            worse = choosing.CandidateScore(-1.0, measures, by_document)
            return [
                (1.0, worse),
                (10.0, choosing.CandidateScore(float(by_document.mean()), measures, by_document)),
            ]

        patch.setattr(choosing.OuterFold, "measure", measure)
        model = fitted(corpus)
        assert model.choice_.C == 10
        return str(model.choice_.candidate)

    def test_the_first_that_is_not_clearly_worse(
        self, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        qualities = {"own + mixed": [0.5, 0.9, 0.5, 0.9], "mixed": [0.9, 0.6, 0.9, 0.6]}
        assert self.chosen(qualities, corpus, monkeypatch) == "own + mixed"

    def test_the_best_where_it_is_clearly_better(
        self, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        qualities = {"own + mixed": [0.5, 0.9, 0.5, 0.9], "mixed": [0.6, 1.0, 0.6, 1.0]}
        assert self.chosen(qualities, corpus, monkeypatch) == "mixed"

    def test_the_first_where_all_are_alike(self, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.chosen({}, corpus, monkeypatch) == "own + mixed"

    def test_better_is_by_more_than_a_standard_error_of_the_difference(self) -> None:
        """Differences of 3, -1, 3, -1 have a mean of 1 and a standard error of 2 / √4."""
        zero = choosing.CandidateScore(0.0, {}, np.zeros(4))
        for quality, better in ((1.01, True), (0.99, False)):
            assert (
                choosing.CandidateScore(quality, {}, np.array([3.0, -1, 3, -1])).is_better_than(zero)
                == better
            )

    def test_rounds_count_together(self) -> None:
        one, two = (choosing.CandidateScore(q, {"micro_f1": q}, np.full(2, q)) for q in (0.2, 0.6))
        both = choosing.CandidateScore.over([one, two])
        assert both.quality == both.measures["micro_f1"] == pytest.approx(0.4)
        assert both.by_document.tolist() == [0.2, 0.2, 0.6, 0.6]


class TestMeasured:
    def test_several_labels_are_measured_at_the_best_threshold(self) -> None:
        truth = {"en": np.array([[1, 0], [0, 1]] * 10, dtype=bool), "it": np.array([[1, 1]], dtype=bool)}
        right = np.vstack(list(truth.values())) - 5.0  # all below 0, but in the right order
        measured = choosing.CandidateScore.of(truth, right.astype(np.float32), MULTILABEL)
        assert measured.quality == 1
        assert measured.by_document.tolist() == [1] * 21
        assert set(measured.measures) == {*PAPER_MEASURES, "macro_f1", "macro_k"}

    def test_one_label_is_measured_by_likelihood(self) -> None:
        """Both decide alike, but one is less sure where it errs."""
        truth = np.eye(3, dtype=bool)[np.arange(60) % 3]
        sure = 2 * truth.astype(np.float32)
        sure[:6] = np.roll(sure[:6], 1, axis=1)
        unsure = sure.copy()
        unsure[:6] /= 4
        trials = [
            choosing.CandidateScore.of({"en": truth}, each, LabelSpace(np.arange(3), single_label=True))
            for each in (sure, unsure)
        ]
        assert trials[0].measures == trials[1].measures
        assert trials[0].measures["accuracy"] == pytest.approx(0.9)
        assert trials[1].quality > trials[0].quality

    @pytest.mark.parametrize("two", [False, True])
    def test_languages_count_alike_and_rare_labels_more(self, two: bool) -> None:
        """In English each of three documents has a third of half its labels' weight, the fourth the other."""
        rare = np.array([[False], [False], [False], [True]])
        truth = rare if two else np.hstack([~rare, rare])
        weights = choosing._balanced({"en": truth, "it": truth[:3]})
        english, italian = weights[:4], weights[4:]
        assert english.sum() == pytest.approx(italian.sum()) == pytest.approx(3.5)
        assert english / english.mean() == pytest.approx([5 / 6, 5 / 6, 5 / 6, 3 / 2])
        assert italian / italian.mean() == pytest.approx([1, 1, 1])

    @pytest.mark.parametrize("two", [False, True])
    def test_a_likelihood_is_that_of_the_label(self, two: bool) -> None:
        second = np.array([[0.2], [0.9]])
        truth = np.array([[False], [True]])
        both = [second, truth] if two else [np.hstack([1 - second, second]), np.hstack([~truth, truth])]
        assert choosing._log_likelihoods(*both) == pytest.approx(np.log([0.8, 0.9]))


def test_features_of_each_language_are_left_out_where_they_would_be_too_many(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "MAX_WEIGHTS", 1_000)
    names = [row["name"] for row in fitted(corpus).choice_.tried]
    assert names == ["own + mixed", "own + mixed, odds", "mixed", "mixed, odds", "fun-tat"]


def test_a_round_without_any_positive_costs_nothing(corpus: Corpus) -> None:
    y = [["rare"] if number == 0 else [] for number in range(len(corpus))]
    for seed in range(4):  # in one of which the only positive is held out
        model = any_funnel(views="auto", random_state=seed).fit(corpus.texts, y, corpus.languages)
        assert model.classes_.tolist() == ["rare"]


def test_threads_and_saving_change_nothing(model: FunnelEstimator, corpus: Corpus, tmp_path: Path) -> None:
    again = fitted(corpus, n_jobs=2)
    assert again.choice_ == model.choice_
    assert np.array_equal(scores(again, corpus), scores(model, corpus))
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.choice_ == model.choice_
    assert np.array_equal(scores(loaded, corpus), scores(model, corpus))


def test_every_round_tells_what_it_is_at(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    class Told(Progress):
        def __init__(self, total: int) -> None:
            self.total, self.done, self.told = total, 0, list[str]()

        def __call__(self, steps: int) -> None:
            self.done += steps

        def reach(self, steps: int) -> None:
            assert steps >= self.done
            self.done = steps

        def doing(self, what: str) -> None:
            self.told.append(what)

    bars: list[Told] = []

    @contextmanager
    def bar(_description: str, total: int, _shown: bool, _unit: str) -> Iterator[Told]:
        bars.append(Told(total))
        yield bars[-1]

    monkeypatch.setattr(choosing, "progress_bar", bar)
    any_funnel(random_state=0).fit(corpus.texts, corpus.labels, languages=corpus.languages)
    (shown,) = bars
    rounds = {line.partition(",")[0] for line in shown.told}
    assert f"round 1 of {len(rounds)}" in rounds
    for line in ("words", "views own, mixed, own-mixed", "own + mixed, odds", "fun-tat"):
        assert f"round 1 of {len(rounds)}, {line}" in shown.told
    assert shown.done == shown.total


def test_what_is_held_out_is_not_seen(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither vocabulary nor base classifiers of a round learn from what it is measured on."""
    learned: list[set[str]] = []
    held_out: list[set[str]] = []
    begin = choosing.OuterFold.__init__

    def spy(self: Any, *given: Any) -> None:
        begin(self, *given)
        learned.append({text for part in self.training.documents.values() for text in part})
        held_out.append({text for part in self.held_out.documents.values() for text in part})
        words = {word for text in learned[-1] for word in text.split()}
        for vectorizer in self.vectorizers.values():
            assert set(vectorizer.vocabulary_) <= words

    monkeypatch.setattr(choosing.OuterFold, "__init__", spy)
    texts = [f"{text} unique{i}" for i, text in enumerate(corpus.texts)]
    any_funnel(views="auto", random_state=0).fit(texts, corpus.labels, corpus.languages)
    assert len(learned) == choosing.OUTER_FOLDS
    for inside, outside in zip(learned, held_out, strict=True):
        assert inside
        assert outside
        assert not inside & outside
        assert len(inside) + len(outside) == len(texts)


def test_groups_stay_on_one_side_and_labels_are_on_both() -> None:
    rng = np.random.default_rng(0)
    targets = {tag: rng.random((100, 6)) < [0.02, 0.05, 0.1, 0.2, 0.5, 0.9] for tag in ("en", "it")}
    groups: Any = {
        "en": [f"law {i // 2}" for i in range(100)],
        "it": np.array([f"law {i}" for i in range(100)]),
    }
    training = made_training(targets, groups=groups)
    rounds = list(choosing._splits(training))
    assert len(rounds) == choosing.OUTER_FOLDS
    for learned in rounds:
        sides = [dict(zip(groups[tag], learned[tag], strict=True)) for tag in ("en", "it")]
        assert all(sides[0][name] == sides[1][name] for name in sides[0])
        for tag, rows in learned.items():
            several = targets[tag].sum(axis=0) > 2
            assert targets[tag][rows].any(axis=0)[several].all()


@pytest.mark.parametrize("bound", ["MAX_WORK", "MAX_DOCUMENTS"])
def test_of_a_large_corpus_a_sample_is_tried(
    bound: str, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    begin = choosing.OuterFold.__init__

    def spy(self: Any, *given: Any) -> None:
        begin(self, *given)
        sizes.append(sum(map(len, (*self.training.targets.values(), *self.held_out.targets.values()))))

    monkeypatch.setattr(choosing.OuterFold, "__init__", spy)
    monkeypatch.setattr(choosing, "MIN_SAMPLE_DOCUMENTS", 1)
    monkeypatch.setattr(choosing, bound, len(corpus) * (4 if bound == "MAX_WORK" else 1) / 2)
    model = fitted(corpus)
    assert all(abs(size - len(corpus) / 2) <= 3 for size in sizes)
    assert sum(model.documents_.values()) == len(corpus)


def test_a_sample_has_documents_enough(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "MAX_WORK", 1)
    targets = {"en": np.ones((len(corpus), 2), dtype=bool)}
    documents = {"en": np.zeros((len(corpus), 1))}
    training = made_training(targets, documents, kind="vectors")
    assert choosing._sample(training).size == len(corpus)  # which is below MIN_SAMPLE_DOCUMENTS
    monkeypatch.setattr(choosing, "MIN_SAMPLE_DOCUMENTS", len(corpus) // 3)
    assert abs(choosing._sample(training).size - len(corpus) / 3) <= 3


def test_a_language_of_one_document_or_group_costs_no_round() -> None:
    sizes = {"en": 200, "it": 1, "fr": 20}
    for name in map(str, range(10)):  # of which some fall to one round and some to the other
        groups: Any = {"en": None, "it": None, "fr": [name] * 20}
        targets = {tag: np.ones((size, 1), dtype=bool) for tag, size in sizes.items()}
        training = made_training(targets, groups=groups)
        rounds = list(choosing._splits(training))
        assert len(rounds) == choosing.OUTER_FOLDS
        for learned in rounds:
            assert learned["it"].all()
            assert learned["fr"].all()
            assert not learned["en"].all()


@pytest.mark.parametrize(("documents", "rounds"), [(60, 5), (1_300, 4), (2_500, 2), (9_000, 2)])
def test_rounds_hold_out_enough_documents(documents: int, rounds: int) -> None:
    targets = {"en": np.ones((documents, 1), dtype=bool)}
    training = made_training(targets)
    assert len(list(choosing._splits(training))) == rounds


def test_too_few_documents_get_the_first(corpus: Corpus) -> None:
    few = corpus.select(np.arange(18))
    model = fitted(few)
    assert str(model.choice_.candidate) == "own + mixed"
    assert "too few documents or groups" in model.choice_.summary()
    same = same_funnel(model, few)
    said, again = (each.predict_proba(few.texts, few.languages) for each in (model, same))
    assert np.array_equal(said, again)


@pytest.mark.parametrize("documents", [3, 5, 7])
@pytest.mark.parametrize("exclusive", [False, True])
def test_a_handful_of_documents_is_enough(documents: int, exclusive: bool) -> None:
    texts = ["red wine", "vino rosso", "green tea", "tè verde", "black tea", "vino bianco", "tea"][:documents]
    labels = ["wine", "wine", "tea", "tea", "tea", "wine", "tea"][:documents]
    tags = ["en", "it", "en", "it", "en", "it", "en"][:documents]
    y = labels if exclusive else [[label] for label in labels]
    model = any_funnel(random_state=0).fit(texts, y, tags)
    assert np.isfinite(model.predict_proba(texts, tags)).all()


def test_a_label_that_a_round_does_not_see_costs_nothing(corpus: Corpus) -> None:
    y = ["rare" if number == 0 else "common" for number in range(len(corpus))]
    for seed in range(5):  # in one of which the only document is held out
        model = any_funnel(views="auto", random_state=seed)
        model.fit(corpus.texts, y, corpus.languages)
        assert model.classes_.tolist() == ["common", "rare"]


def test_vectors_are_seen_one_way() -> None:
    made = vector_corpus()
    model = any_funnel(views="auto", random_state=0).fit(made.X, made.y)
    assert model.choice_.views == ["own"]
    assert [row["name"] for row in model.choice_.tried] == ["fun-tat", "own, odds", "own"]


@pytest.mark.parametrize("classes", [2, 3])
def test_one_label_a_document(classes: int, corpus: Corpus) -> None:
    y = [str(len(labels) % classes) for labels in corpus.labels if labels is not None]
    model = any_funnel(views="auto", random_state=0).fit(corpus.texts, y, corpus.languages)
    assert set(model.predict(corpus.texts, corpus.languages)) <= set(y)
    assert all("accuracy" in row for row in model.choice_.tried)


class TestWhatIsGiven:
    """Candidates are tried with the settings that the chosen one is fitted with."""

    @pytest.mark.parametrize("combine", ["concat", "stacked"])
    def test_the_way_to_combine(self, combine: str, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
        tried = []
        points = Combination.meta_features

        def spy(self: Combination, language: str, posteriors: Any) -> Any:
            rows = points(self, language, posteriors)
            tried.append((self.how, len(posteriors), rows.shape[1]))
            return rows

        monkeypatch.setattr(Combination, "meta_features", spy)
        model = fitted(corpus, combine=combine)
        assert {way for way, views, _ in tried if views > 1} == {combine}
        assert all(width == (4 * views if combine == "concat" else 4) for _, views, width in tried)
        assert [row["name"] for row in model.choice_.tried] == [
            f"own + mixed, {combine}",
            "mixed",
            f"own + mixed + own-mixed, {combine}",
            "fun-tat",
        ]

    def test_odds(self, corpus: Corpus) -> None:
        names = [row["name"] for row in fitted(corpus, final_estimator="odds").choice_.tried]
        assert names == ["own + mixed, odds", "mixed, odds", "own + mixed + own-mixed, odds", "fun-tat"]
        made = vector_corpus()
        model = any_funnel(final_estimator="odds", random_state=0).fit(made.X, made.y)
        assert [row["name"] for row in model.choice_.tried] == ["fun-tat", "own, odds"]

    def test_another_calibration_has_no_odds(self, corpus: Corpus) -> None:
        names = [row["name"] for row in fitted(corpus, calibration="fixed").choice_.tried]
        assert names == ["own + mixed", "mixed", "own + mixed + own-mixed", "fun-tat"]

    def test_views_are_weighed_where_that_is_best(
        self, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        candidate = choosing.CandidateConfig(("pooled", "characters"), combine="stacked")
        paper = choosing.CandidateConfig(("own",), normalise=False)
        monkeypatch.setattr(choosing, "candidates", lambda *_: [paper, candidate])
        model = fitted(corpus)
        assert model.choice_.summary().startswith("Chose pooled + characters, stacked, C = ")
        assert sum(model.model_.fitted.learned.combination.weights.values()) == pytest.approx(1)
        save_model(model, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        assert np.array_equal(scores(loaded, corpus), scores(model, corpus))

    def test_one_regularisation(self, corpus: Corpus) -> None:
        """Of every tier 2 that has one; odds have none."""
        model = fitted(corpus, meta_C=1000.0)
        tried = {row["name"]: row["C"] for row in model.choice_.tried}
        assert tried == {name: None if name.endswith("odds") else 1000 for name in tried}
        assert model.choice_.C == model.model_.fitted.final_c == tried[str(model.choice_.candidate)]
        stacked = fitted(corpus, meta_C=1000.0, combine="stacked")
        assert stacked.choice_.C == stacked.model_.fitted.final_c == 1000
        assert "C = 1000," in stacked.choice_.summary()

    def test_an_estimator(self, corpus: Corpus) -> None:
        model = fitted(corpus, final_estimator=LogisticRegression())
        assert not any("odds" in row["name"] for row in model.choice_.tried)
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
        assert {
            "mixed + embeddings, odds",
            "mixed + embeddings",
            "own + mixed + own-mixed + embeddings",
        } <= set(names)

    @pytest.mark.parametrize("combine", ["mean", "concat"])
    def test_of_other_languages_they_are_left_out(self, combine: str, corpus: Corpus, tmp_path: Path) -> None:
        model = fitted(corpus, combine=combine, embeddings=write_words(tmp_path, corpus, ["fr"]))
        assert not any("embeddings" in row["name"] for row in model.choice_.tried)
        assert any("own + mixed" in row["name"] for row in model.choice_.tried)


def measured(quality: float, noise: float, documents: int = 400) -> choosing.CandidateScore:
    by_document = quality + noise * np.random.default_rng(0).normal(size=documents)
    return choosing.CandidateScore(quality, {}, by_document)


class TestRecord:
    def test_a_c_counts_that_was_tried_in_every_round(self) -> None:
        record = choosing.CandidateHistory()
        record.add({1.0: measured(0.5, 0), 10.0: measured(0.9, 0)})
        assert record.C == 10.0
        record.add({1.0: measured(0.7, 0)})
        assert (record.C, record.best.quality) == (1.0, pytest.approx(0.6))

    @pytest.mark.parametrize(
        ("quality", "noise", "documents", "may_win"),
        [(0.89, 0.5, 400, True), (0.5, 0.1, 400, False), (0.5, 0.1, 100, True)],
    )
    def test_what_is_hopelessly_behind_drops_out(
        self, quality: float, noise: float, documents: int, may_win: bool
    ) -> None:
        best, other = choosing.CandidateHistory(), choosing.CandidateHistory()
        best.add({None: measured(0.9, 0, documents)})
        other.add({None: measured(quality, noise, documents)})
        assert best.may_win([best, other])
        assert other.may_win([best, other]) is may_win

    @pytest.mark.parametrize(
        ("quality", "noise", "documents", "settled"),
        [
            (0.88, 0.1, 1200, True),
            (0.9001, 0.001, 1200, True),  # it might be ahead, but not by much
            (0.91, 0.001, 1200, False),
            (0.89, 0.5, 1200, False),  # noise might hide as much
            (0.88, 0.1, 900, False),
        ],
    )
    def test_rounds_end_when_no_other_can_be_ahead_by_what_matters(
        self, quality: float, noise: float, documents: int, settled: bool
    ) -> None:
        chosen, other = choosing.CandidateHistory(), choosing.CandidateHistory()
        chosen.add({None: measured(0.9, 0, documents)})
        other.add({None: measured(quality, noise, documents)})
        assert chosen.is_settled([chosen, other]) is settled


def test_a_sample_of_one_group_is_not_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "MAX_DOCUMENTS", 10)
    documents = {"en": np.zeros((40, 1))}
    targets = {"en": np.ones((40, 2), dtype=bool)}
    for name in "abcdef":
        groups = {"en": [name] * 40}
        training = made_training(targets, documents, groups, kind="vectors")
        assert choosing._sample(training).size == 40
