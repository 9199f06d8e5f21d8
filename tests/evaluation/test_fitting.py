"""Fitting methods on corpora: honest folds."""

import pytest

from funnelling import Corpus, Document
from funnelling.corpus.label_set import LabelSet
from funnelling.evaluation.fitting import cross_validate
from funnelling.evaluation.splits import outer_folds
from funnelling.methods.baselines import NAIVE
from funnelling.methods.learning import Method
from funnelling.methods.model import Model
from funnelling.methods.svms import SVMParameters
from tests.evaluation.mistakes import mislabelled
from tests.evaluation.oracle import Oracle, made_corpus


def test_groups_and_ids_are_handed_on_where_there_are_any() -> None:
    method = Method(NAIVE, SVMParameters(C=10, random_state=0))
    for group, expected in ((None, ""), ("g", "g")):
        archive = method.fit(made_corpus(group=group)).archive
        assert archive is not None
        assert archive.blocks["en"].groups == [expected] * 20
        assert archive.blocks["it"].ids[:2] == ["it0", "it1"]


class TestCrossValidation:
    def test_no_fold_is_measured_by_a_method_that_saw_it(self) -> None:
        corpus, seen = made_corpus(), []  # type: ignore[var-annotated]
        result = cross_validate(Oracle(seen), corpus)  # type: ignore[arg-type]
        assert result is not None
        assert result["average"]["micro_f1"] == 0  # the oracle knows nothing it has not seen
        assert sum(values["documents"] for values in result["languages"].values()) == 40
        assert len(seen) == 5
        held_out = [set(corpus.texts) - set(texts) for texts in seen]
        assert sorted(text for fold in held_out for text in fold) == sorted(corpus.texts)

    def test_a_language_of_one_document_is_left_out(self) -> None:
        corpus = Corpus.from_documents([*made_corpus(), Document("x", "y", language="de", labels=("a",))])
        result = cross_validate(Oracle(), corpus)  # type: ignore[arg-type]
        assert result is not None
        assert list(result["languages"]) == ["en", "it"]

    def test_labels_of_one_fold_only_still_count(self) -> None:
        corpus = Corpus.from_documents([*made_corpus(), Document("x", "y", language="en", labels=("once",))])
        result = cross_validate(Oracle(), corpus)  # type: ignore[arg-type]
        assert result is not None
        assert result["unknown_labels"] == 0

    def test_errors_are_explained_by_the_method_that_made_them(self) -> None:
        corpus = mislabelled()
        fitted: list[Model] = []

        class Noted(Method):
            def fit(self, documents: Corpus, label_set: LabelSet | None = None) -> Model:
                fitted.append(super().fit(documents, label_set))
                return fitted[-1]

        result = cross_validate(Noted(NAIVE, SVMParameters(C=10, random_state=0)), corpus, errors=3)
        assert result is not None
        assert len(fitted) == 5  # none is fitted twice
        folds = outer_folds(corpus, 5, 0)
        for error in result["errors"]:
            row = corpus.ids.index(error["id"])
            judge = fitted[folds[row]]
            kind = "false_positives" if "false_positives" in error else "false_negatives"
            (explained,) = judge.explain([corpus.texts[row]], ["en"], labels=[error[kind][0]["label"]])
            assert (
                explained["labels"][error[kind][0]["label"]]["probability"] == error[kind][0]["probability"]
            )

    @pytest.mark.parametrize("corpus", [made_corpus(group="all"), made_corpus(2, ("en",)), made_corpus(1)])
    def test_none_where_no_fold_can_be_learned(self, corpus: Corpus) -> None:
        assert cross_validate(Oracle(), corpus) is None  # type: ignore[arg-type]
