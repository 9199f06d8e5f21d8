"""Scores in a space that learns from labels, after learning from some documents only.

Its vectors of documents that it learned from betray their labels, so that a classifier which is held out from
them is not enough: the space is fitted anew as well.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from funnelling.matrices import Floats, Rows, by_language, take
from funnelling.method.training_set import TrainingSet
from funnelling.spaces import Space
from funnelling.svm import Scorer
from funnelling.svm.calibration import REJECTED


class FitOnAll(Protocol):
    """A learner fitted on documents; `funnelling.svm.Fit` is one."""

    @property
    def scores(self) -> Floats: ...
    def scorer(self) -> Scorer: ...


def scores_after_learning(
    space: Space, training: TrainingSet, rows: Rows, fit: Callable[[Space, TrainingSet], FitOnAll]
) -> tuple[Floats, Scorer]:
    """Scores of all training documents after a space and ``fit`` learned from some, and what gave them.

    Documents that the space cannot see then are rejected.
    """
    learning = training.select(by_language(rows, training.sizes))
    fitted = fit(space, learning)
    scores = np.full((len(rows), training.labels), REJECTED, dtype=np.float32)
    scores[rows] = fitted.scores
    others = by_language(~rows, training.sizes)
    for language, of_language in by_language(scores, training.sizes).items():
        places = np.flatnonzero(others[language])
        if len(places) and (language in learning.targets or space.serves(language)):
            documents = take(training.documents[language], places)
            of_language[places] = fitted.scorer().scores(space.vectors(language, documents))
    return scores, fitted.scorer()
