"""What a method decides that may not know all labels."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from funnelling.corpus import Corpus
from funnelling.corpus.labels import LabelSpace
from funnelling.formats import Document
from funnelling.research.experiments.tables import decisions_of


def test_a_label_that_a_method_never_learned_is_rejected() -> None:
    test = Corpus.from_documents([Document("1", "cat", "en", ("a",)), Document("2", "dog", "en", ("c",))])
    learned: Any = SimpleNamespace(
        labels=LabelSpace(np.array(["c", "a"])),
        predict=lambda _texts, **_languages: np.array([[0, 1], [1, 1]]),
    )
    assert decisions_of(learned, test, ["a", "b", "c"]).astype(int).tolist() == [[1, 0, 0], [1, 0, 1]]
