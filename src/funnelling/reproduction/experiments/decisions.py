"""What a method decides that may not know all labels of a trial."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from funnelling.corpus import Corpus
from funnelling.evaluation.measuring import as_indicators
from funnelling.matrices import Targets

if TYPE_CHECKING:
    from funnelling.methods.model import Method


def decisions_of(method: "Method", test: Corpus, classes: Sequence[str]) -> Targets:
    """A method's decisions on test documents, one column per class; it rejects what it never learned."""
    decisions = np.zeros((len(test), len(classes)), dtype=bool)
    columns = [classes.index(str(label)) for label in method.classes_]
    decisions[:, columns] = as_indicators(method, method.predict(test.texts, languages=test.languages))
    return decisions
