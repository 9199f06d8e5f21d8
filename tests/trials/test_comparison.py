"""Fitting and measuring methods: honest folds, known labels, sums over trials."""

from typing import Any

import numpy as np
import pytest

from funnelling import Corpus, Document, NaiveClassifier
from funnelling.evaluation.registry import PAPER_MEASURES
from funnelling.trials.comparison import (
    Comparison,
    cross_validate,
    fit_method,
    measure_method,
    measure_rejector,
    summarise,
)
from funnelling.trials.splits import Trial


class Oracle:
    """Knows what it was fitted on by heart and nothing else; notes what it saw."""

    exclusive_ = False
    reads_parallel = False
    seen: list[list[str]]

    def __init__(self, seen: list[list[str]] | None = None) -> None:
        self.seen = [] if seen is None else seen

    def fit(
        self,
        texts: list[str],
        labels: Any,
        languages: Any,
        groups: Any = None,
        ids: Any = None,  # noqa: ARG002
    ) -> "Oracle":
        self.seen.append(list(texts))
        self.groups = groups
        self.languages_ = sorted(set(languages))
        self.classes_ = np.array(sorted({label for row in labels for label in row}), dtype=object)
        self.known = dict(zip(texts, labels, strict=True))
        return self

    def usable(self, languages: list[str]) -> list[str]:
        return languages

    def serves_unseen(self, language: str) -> bool:  # noqa: ARG002
        return False

    def serves(self, language: str) -> bool:
        return language in self.languages_

    def final_c(self) -> None:
        return None

    def predict(self, texts: list[str], languages: Any) -> Any:
        assert len(texts) == len(languages) > 0
        return np.array(
            [[label in self.known.get(text, ()) for label in self.classes_] for text in texts], int
        )

    def classify(self, texts: list[str], languages: Any) -> Any:
        decided = self.predict(texts, languages)
        return decided, decided.astype(float)


def _corpus(count: int = 20, languages: tuple[str, ...] = ("en", "it"), **fields: Any) -> Corpus:
    return Corpus.from_documents(
        Document(
            f"{language}{i}", f"{language} {i}", language=language, labels=("a", "b")[: 1 + i % 2], **fields
        )
        for language in languages
        for i in range(count)
    )


class TestMeasuring:
    def test_by_heart_is_perfect(self) -> None:
        corpus = _corpus()
        result = measure_method(fit_method(Oracle(), corpus), corpus)  # type: ignore[arg-type]
        assert all(result["average"][measure] == 1 for measure in PAPER_MEASURES)
        assert result["languages"]["en"]["documents"] == 20
        assert result["unknown_labels"] == 0

    def test_groups_are_handed_on_where_there_are_any(self) -> None:
        assert fit_method(Oracle(), _corpus()).groups is None  # type: ignore
        assert fit_method(Oracle(), _corpus(group="g")).groups == ["g"] * 40  # type: ignore

    def test_labels_unknown_to_training_are_dropped_and_counted(self) -> None:
        train = _corpus()
        test = Corpus.from_documents(
            [Document("1", "en 1", language="en", labels=("a", "b", "new", "newer"))]
        )
        result = measure_method(fit_method(Oracle(), train), test)  # type: ignore[arg-type]
        assert result["unknown_labels"] == 2
        assert result["average"]["micro_f1"] == 1

    def test_a_single_label_method(self) -> None:
        corpus = _corpus()
        y = [labels[-1] for labels in corpus.labels if labels]
        model = NaiveClassifier(C=100, random_state=0).fit(corpus.texts, y, languages=corpus.languages)
        corpus.labels = [(label,) for label in y]
        truth = np.array(y)
        right = (model.predict(corpus.texts, languages=corpus.languages) == truth).mean()
        assert measure_method(model, corpus)["average"]["micro_f1"] == pytest.approx(right)

    def test_the_rejector_scores_where_labels_are_absent(self) -> None:
        train = _corpus()
        test = Corpus.from_documents([Document("1", "x", language="en", labels=("a",))])
        result = measure_rejector(train, test)
        assert result["average"]["micro_f1"] == 0
        assert result["average"]["macro_f1"] == 0.5  # b is absent and left alone


class TestCrossValidation:
    def test_no_fold_is_measured_by_a_method_that_saw_it(self) -> None:
        corpus, seen = _corpus(), []  # type: ignore[var-annotated]
        result = cross_validate(lambda: Oracle(seen), corpus)  # type: ignore[arg-type, return-value]
        assert result is not None
        assert result["average"]["micro_f1"] == 0  # the oracle knows nothing it has not seen
        assert sum(values["documents"] for values in result["languages"].values()) == 40
        assert len(seen) == 5
        held_out = [set(corpus.texts) - set(texts) for texts in seen]
        assert sorted(text for fold in held_out for text in fold) == sorted(corpus.texts)

    def test_a_language_of_one_document_is_left_out(self) -> None:
        corpus = Corpus.from_documents([*_corpus(), Document("x", "y", language="de", labels=("a",))])
        result = cross_validate(Oracle, corpus)  # type: ignore[arg-type]
        assert result is not None
        assert list(result["languages"]) == ["en", "it"]

    def test_labels_of_one_fold_only_still_count(self) -> None:
        corpus = Corpus.from_documents([*_corpus(), Document("x", "y", language="en", labels=("once",))])
        result = cross_validate(Oracle, corpus)  # type: ignore[arg-type]
        assert result is not None
        assert result["unknown_labels"] == 0

    @pytest.mark.parametrize("corpus", [_corpus(group="all"), _corpus(2, ("en",)), _corpus(1)])
    def test_none_where_no_fold_can_be_learned(self, corpus: Corpus) -> None:
        assert cross_validate(Oracle, corpus) is None  # type: ignore[arg-type]


def _result(**languages: float) -> dict[str, Any]:
    values = {language: dict.fromkeys(PAPER_MEASURES, score) for language, score in languages.items()}
    average = dict.fromkeys(PAPER_MEASURES, sum(languages.values()) / len(languages))
    return {
        "average": average,
        "languages": {language: {**value, "documents": 10} for language, value in values.items()},
        "fit_seconds": 2.0,
        "predict_seconds": 1.0,
    }


class TestSummary:
    def test_of_one_trial(self) -> None:
        summary = summarise([_result(en=0.4, it=0.6)])
        assert summary["average"]["micro_f1"] == 0.5
        assert summary["deviation"] is None
        assert summary["language_deviation"]["micro_f1"] == pytest.approx(np.std([0.4, 0.6], ddof=1))
        assert summary["languages"]["en"] == {**dict.fromkeys(PAPER_MEASURES, 0.4), "documents": 10}
        assert (summary["runs"], summary["fit_seconds"], summary["predict_seconds"]) == (1, 2, 1)

    def test_of_several_trials(self) -> None:
        summary = summarise([_result(en=0.4, it=0.6), _result(en=0.6, it=0.8), _result(en=0.2)])
        assert summary["average"]["macro_k"] == pytest.approx((0.5 + 0.7 + 0.2) / 3)
        assert summary["deviation"]["macro_k"] == pytest.approx(np.std([0.5, 0.7, 0.2], ddof=1))
        assert summary["languages"]["en"]["macro_k"] == pytest.approx(0.4)
        assert summary["languages"]["it"]["macro_k"] == pytest.approx(0.7)
        assert summary["language_deviation"]["macro_k"] == pytest.approx(np.std([0.4, 0.7], ddof=1))

    def test_of_one_language(self) -> None:
        assert summarise([_result(en=0.4)])["language_deviation"]["micro_f1"] is None


class TestComparison:
    def test_every_method_sees_the_same_trials(self) -> None:
        seen: dict[str, list[list[str]]] = {"first": [], "second": []}
        seeds: list[int] = []

        def make(name: str) -> Any:
            return lambda seed: seeds.append(seed) or Oracle(seen[name])

        trials = [Trial(_corpus(10), _corpus(4), Corpus()), Trial(_corpus(12), _corpus(2), Corpus())]
        told: list[str] = []
        result = Comparison(trials, {name: make(name) for name in seen}, seed=7, tell=told.append).run()
        assert seen["first"] == seen["second"] == [trial.train.texts for trial in trials]
        assert seeds.count(8) == 2, "trial 1 has the seed after trial 0's"
        assert len(told) == 4
        assert result["methods"]["first"]["runs"] == 2
        assert result["methods"]["first"]["languages"]["en"]["documents"] == 3
        assert result["significance"]["micro_f1"] == {"best": "first", "p": {"second": 1.0}}

    def test_test_documents_in_other_languages_are_left_out_and_told(self) -> None:
        told: list[str] = []
        trial = Trial(_corpus(10), _corpus(4, ("de", "en")), Corpus())
        result = Comparison([trial], {"oracle": lambda seed: Oracle()}, tell=told.append).run()  # noqa: ARG005
        assert list(result["methods"]["oracle"]["languages"]) == ["en"]
        assert told[0] == "Not measured: de, which oracle cannot label without training documents."
