"""One label per document: what the training documents show decides, unless the user does."""

from dataclasses import replace

import pytest

from funnelling import Corpus, Document, InputError
from funnelling.evaluation.fitting import cross_validate
from funnelling.evaluation.measuring import (
    evaluate_classifier,
    evaluate_dummies,
    evaluate_in_detail,
    model_scores,
)
from funnelling.evaluation.pieces import corpus_digest
from funnelling.evaluation.splits import SINGLE_LABEL_NOTICE, Trial, settle
from funnelling.methods.learning import Method
from funnelling.research import NaiveClassifier


def made(*labels: tuple[str, ...], language: str = "en") -> Corpus:
    """Documents with these labels, each of which has a word of its own."""
    return Corpus.from_documents(
        Document(f"{i}", f"word{''.join(own)} text", language, own) for i, own in enumerate(labels)
    )


NONE = Corpus()
ONE = made(("a",), ("b",), ("c",))
SEVERAL = made(("a",), ("a", "b"), ())


def test_it_is_noticed_and_said() -> None:
    (trial,), lines = settle([Trial(ONE, ONE, NONE)])
    assert lines == [SINGLE_LABEL_NOTICE]
    assert trial.train.one_label
    assert trial.train.y.tolist() == ["a", "b", "c"]  # type: ignore[union-attr]
    assert trial.train.select([2]).one_label


def test_only_training_documents_decide() -> None:
    (trial,), lines = settle([Trial(ONE, SEVERAL, NONE)])
    assert trial.train.one_label
    assert trial.test.ids == ["0"]
    assert lines == [SINGLE_LABEL_NOTICE, "2 test documents left out, for want of exactly one label."]
    (trial,), lines = settle([Trial(SEVERAL, ONE, NONE)])
    assert (trial.train.one_label, trial.train.y, lines) == (False, SEVERAL.labels, [])


def test_all_trials_and_all_versions_must_have_it() -> None:
    for trials in ([Trial(ONE, ONE, NONE), Trial(SEVERAL, ONE, NONE)], [Trial(ONE, ONE, SEVERAL)]):
        settled, lines = settle(trials)
        assert not any(trial.train.one_label for trial in settled)
        assert lines == []


def test_the_user_may_say_it() -> None:
    (trial,), lines = settle([Trial(ONE, ONE, NONE)], one_label=False)
    assert (trial.train.one_label, lines) == (False, [])
    (trial,), lines = settle([Trial(ONE, ONE, NONE)], one_label=True)
    assert (trial.train.one_label, lines) == (True, [])
    with pytest.raises(InputError, match=r'^document "1" has 2 labels, not exactly one\. Give it one'):
        settle([Trial(SEVERAL, ONE, NONE)], one_label=True)
    with pytest.raises(InputError, match=r'^document "0" has no label, not exactly one'):
        settle([Trial(made((), ("a",)), ONE, NONE)], one_label=True)


def test_nothing_to_measure_on_is_refused() -> None:
    with pytest.raises(InputError, match="no test document has exactly one label"):
        settle([Trial(ONE, made(("a", "b")), NONE)])


def test_results_of_either_kind_are_kept_apart() -> None:
    (trial,), _ = settle([Trial(ONE, ONE, NONE)])
    assert corpus_digest(trial.train) != corpus_digest(ONE)


@pytest.fixture(params=[("a", "b"), ("a", "b", "c")], ids=["two classes", "three"])
def train(request: pytest.FixtureRequest) -> Corpus:
    corpus = made(*[(label,) for label in request.param] * 8)
    return replace(corpus, one_label=True)


def test_a_label_unknown_to_training_is_wrong(train: Corpus) -> None:
    from sklearn.metrics import accuracy_score, f1_score

    method = Method.of(NaiveClassifier(C=10, random_state=0)).fit(train)
    assert method.labels.single_label
    test = made(("a",), ("b",), ("b",), ("new",), ("newer",))
    result = evaluate_in_detail(method, test)
    truth = [label for (label,) in test.label_lists()]
    answers = method.predict(test.texts, languages=test.languages)
    assert result["average"]["accuracy"] == accuracy_score(truth, answers) == 3 / 5
    expected = f1_score(truth, answers.tolist(), average="macro", labels=sorted({*truth}), zero_division=0)
    assert result["average"]["macro_f1"] == pytest.approx(expected)
    assert result["unknown_labels"] == 2
    assert sum(documents for _, _, documents in result["confusion"]) == 5
    assert {truth for truth, _, _ in model_scores(result)["confused"]} == {"new", "newer"}
    # Over fewer labels the paper's measures change; whether a document is right does not.
    assert evaluate_classifier(method, test, ["a"])["average"]["accuracy"] == 3 / 5


def test_the_floor_is_the_most_frequent_label() -> None:
    train = made(("a",), ("b",), ("b",))
    train = replace(train, one_label=True)
    assert evaluate_dummies(train, made(("a",), ("b",)))["average"]["accuracy"] == 0.5


def test_outer_folds(train: Corpus) -> None:
    scores = cross_validate(Method.of(NaiveClassifier(C=10, random_state=0)), train)
    assert scores is not None
    assert scores["average"]["accuracy"] == 1
    assert scores["confused"] == []
    assert "errors" not in scores
