"""Why a document gets its labels, of thousands: a few labels, and what there is to be told of each."""

from pathlib import Path

import numpy as np
import pytest

from funnelling import InputError, load_model
from funnelling.funnel.estimator import ManyLabelsClassifier

TEXT = "ena5 enb5 topic5"


@pytest.fixture(scope="module")
def model(many_labels_model: Path) -> ManyLabelsClassifier:
    loaded: ManyLabelsClassifier = load_model(many_labels_model)
    return loaded


class TestExplain:
    def test_labels_are_those_assigned_the_most_probable_first(self, model: ManyLabelsClassifier) -> None:
        (row,) = model.explain([TEXT], ["en"])
        labels, probabilities = model.model_.classify([TEXT], ["en"])
        assert set(row["labels"]) == set(model.classes_[labels.indices])
        chances = [told["probability"] for told in row["labels"].values()]
        assert chances == sorted(chances, reverse=True)
        assert chances[0] == probabilities.data.max()
        assert all(
            told["assigned"] and told["probability"] > told["threshold"] for told in row["labels"].values()
        )

    def test_words_and_bias_sum_to_the_score_that_tier_two_saw(self, model: ManyLabelsClassifier) -> None:
        (row,) = model.explain([TEXT], ["en"], labels=["group 5", "group 2"], top=2)
        for told in row["labels"].values():
            for name, view in {"own": told["tier_one"], **told["other_views"]}.items():
                added = sum(amount for _, amount in view["words"]) + view["other_words"]
                assert added + view["bias"] == pytest.approx(view["score"], abs=1e-5)
                assert view["score"] == pytest.approx(told["candidate"]["scores"][name], abs=1e-5)
                assert len(view["words"]) <= 2

    def test_passages_and_what_has_no_place_are_what_the_words_added(
        self, model: ManyLabelsClassifier
    ) -> None:
        (row,) = model.explain([TEXT], ["en"], labels=["group 5"], top=1_000)
        told = row["labels"]["group 5"]
        views = [told["tier_one"], *told["other_views"].values()]
        added = sum(view["share"] * (view["score"] - view["bias"]) for view in views)
        laid = sum(amount for *_, amount in told["spans"]) + told.get("outside_text", 0)
        assert laid == pytest.approx(added, abs=1e-5)
        start, end, _ = max(told["spans"], key=lambda passage: passage[2])
        assert TEXT[start:end] == "enb5"

    def test_how_often_a_candidate_was_seen(self, model: ManyLabelsClassifier) -> None:
        (row,) = model.explain(["topic9"], ["it"], labels=["label 9"])
        seen = row["labels"]["label 9"]["candidate"]
        assert (seen["rank"], seen["documents"], seen["documents_in_language"]) == (1, 2, 1)
        assert seen["n_candidates"] <= 40

    def test_a_label_that_was_no_candidate(self, model: ManyLabelsClassifier) -> None:
        (row,) = model.explain(["enb5"], ["en"], labels=["label 1000", "label 1000"])
        told = row["labels"]["label 1000"]
        assert (told["probability"], told["assigned"]) == (0, False)
        assert "candidate" not in told

    def test_a_text_in_which_nothing_is_known(self, model: ManyLabelsClassifier) -> None:
        rows = model.explain(["zzzz", TEXT], ["en", "en"])
        assert rows[0] == {"language": "en", "labels": {}, "neighbours": [], "abstained": "out-of-vocabulary"}
        assert rows[1]["abstained"] is None


def test_of_one_label_per_document_there_is_no_threshold_to_tell() -> None:
    texts = ["the cat sleeps", "a dog barks", "il gatto dorme", "un cane abbaia"] * 5
    model = ManyLabelsClassifier(random_state=0)
    model.fit(texts, ["cat", "dog"] * 10, languages=["en", "en", "it", "it"] * 5)
    (row,) = model.explain(["the cat"], ["en"])
    assert list(row["labels"]) == ["cat"]
    assert "threshold" not in row["labels"]["cat"]


def test_vectors_are_explained_by_their_columns() -> None:
    X, y = np.eye(6)[np.arange(60) % 6], [[f"label {i % 6}"] for i in range(60)]
    model = ManyLabelsClassifier(random_state=0).fit(X, y)
    (row,) = model.explain(X[[4]], labels=["label 4"])
    assert row["labels"]["label 4"]["tier_one"]["words"][0][0] == "4"


def test_opinions_on_all_labels_are_refused(model: ManyLabelsClassifier) -> None:
    with pytest.raises(InputError, match=r"^fun-many cannot tell yet .*\. Use classify, or explain\.$"):
        model.model_.opinions([TEXT], ["en"])
    refusal = r"^fun-many cannot choose documents to label next\."
    with pytest.raises(InputError, match=refusal):
        model.next_to_label([TEXT], ["en"])
