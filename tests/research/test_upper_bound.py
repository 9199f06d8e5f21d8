"""UpperBound: Naive on English, given the English versions of all training documents."""

import numpy as np
import pytest

from funnelling.errors import InputError
from funnelling.methods.classifiers import NaiveClassifier
from funnelling.research.classifiers import UpperBoundClassifier
from tests.artificial import text_corpus


def test_it_learns_from_english_alone() -> None:
    texts, labels, languages = text_corpus(60)
    model = UpperBoundClassifier(C=1.0, random_state=0).fit(texts, labels, languages)
    assert model.languages_ == ["en"]
    rows = [i for i, language in enumerate(languages) if language == "en"]
    naive = NaiveClassifier(C=1.0, random_state=0).fit(texts, labels, languages)
    english = [texts[i] for i in rows]
    np.testing.assert_array_equal(
        model.decision_function(english, ["en"] * len(rows)),
        naive.decision_function(english, ["en"] * len(rows)),
    )
    with pytest.raises(InputError, match="does not know the language 'it'"):
        model.explain(["x"], ["it"])


def test_without_english_it_says_what_it_lacks() -> None:
    with pytest.raises(
        InputError, match=r'^upper-bound learns from English versions .* "split": "parallel"\.$'
    ):
        UpperBoundClassifier().fit(["a", "b"], [["x"], ["y"]], ["it", "it"])
