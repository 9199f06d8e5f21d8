"""What the other labels of a document say of each of its labels, beside what its text says.

People give labels that go together, and often the text does not show which. For each label, a logistic
regression weighs the log-odds that the text gives it, how usual it is in the language, and which other labels
the document has. It is fitted on other documents than those it judges, and never sees the label that it
judges.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.matrices import Folds, Rows, Targets
from funnelling.runtime.progress import watched

STEPS = 60  # of the optimiser: it is then near its end, and more change the order of documents little
TEXT, USUAL = 0.5, 0.3  # the weights of text and language where a label's documents say nothing else
TIGHT, LOOSE = 5.0, 0.1  # the priors around those and around no intercept, beside 1 around no weight
MOST_SEEN = 1_000  # labels, the most frequent ones, that are weighed as other labels
INTERCEPT, OF_TEXT, OF_LANGUAGE, FIRST_LABEL = range(4)  # rows of weights

Array = NDArray[np.float64]
Cells = NDArray[np.float32]  # (documents, labels): half the memory, and twice the speed


class Beliefs(NamedTuple):
    """What is known of documents before their other labels are looked at: log-odds (documents, labels)."""

    text: Cells
    usual: Cells

    def of(self, rows: Rows) -> "Beliefs":
        """Those of some documents."""
        return Beliefs(self.text[rows], self.usual[rows])


class OtherLabels:
    """The regressions of all labels, one set of them per fold, fitted on the other folds."""

    def __init__(self, beliefs: Beliefs, given: Targets, folds: Folds, verbose: int = 0) -> None:
        self._beliefs, self._folds = beliefs, folds
        self.seen = np.sort(np.argsort(-given.sum(axis=0), kind="stable")[:MOST_SEEN])
        numbers = np.unique(folds).tolist()
        self._weights = {
            fold: _fitted(beliefs.of(folds != fold), given[folds != fold], self.seen)
            for fold in watched(numbers, "labels beside labels", bool(verbose), "folds")
        }

    def log_odds(self, given: Targets) -> Cells:
        """The log-odds of each label of each document, if its labels were those given."""
        odds = np.empty(given.shape, dtype=np.float32)
        for fold, weights in self._weights.items():
            rows = self._folds == fold
            odds[rows] = _log_odds(weights, self._beliefs.of(rows), _ones(given[rows][:, self.seen]))
        return odds

    def spoken(self, row: int, column: int) -> Cells:
        """What each of the labels seen adds to the log-odds of a label, where a document has it."""
        weights: Cells = self._weights[int(self._folds[row])][FIRST_LABEL:, column]
        return weights


def _ones(given: Targets) -> Any:
    return sparse.csr_array(given.astype(np.float32))


def _log_odds(weights: Cells, beliefs: Beliefs, others: Any) -> Cells:
    odds: Cells = others @ weights[FIRST_LABEL:]
    odds += weights[OF_TEXT] * beliefs.text
    odds += weights[OF_LANGUAGE] * beliefs.usual
    odds += weights[INTERCEPT]
    return odds


def _fitted(beliefs: Beliefs, given: Targets, seen: NDArray[np.intp]) -> Cells:
    """The weights of the regressions of all labels, which share nothing but their prior."""
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits

    others = _ones(given[:, seen])
    turned = sparse.csr_array(others.T)
    truth = given.astype(np.float32)
    centre = np.zeros((FIRST_LABEL + len(seen), given.shape[1]))
    tightness = np.ones(centre.shape)
    centre[OF_TEXT], centre[OF_LANGUAGE] = TEXT, USUAL
    tightness[INTERCEPT], tightness[[OF_TEXT, OF_LANGUAGE]] = LOOSE, TIGHT
    own = (FIRST_LABEL + np.arange(len(seen)), seen)  # a label says nothing of itself

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(centre.shape)
        odds = _log_odds(weights.astype(np.float32), beliefs, others)
        small = np.exp(-np.abs(odds))
        away = weights - centre
        lost = (np.log1p(small) + np.maximum(odds, 0) - truth * odds).sum(dtype=np.float64)
        lost += (tightness * away * away).sum() / 2
        error = np.where(odds >= 0, np.float32(1), small) / (1 + small) - truth
        slope = tightness * away
        slope[INTERCEPT] += error.sum(axis=0, dtype=np.float64)
        slope[OF_TEXT] += (error * beliefs.text).sum(axis=0, dtype=np.float64)
        slope[OF_LANGUAGE] += (error * beliefs.usual).sum(axis=0, dtype=np.float64)
        slope[FIRST_LABEL:] += turned @ error
        slope[own] = 0
        return float(lost), slope.ravel()

    with threadpool_limits(
        1, "blas"
    ):  # for the same bits; `one_blas_thread` may not know scipy's own library
        found = minimize(loss, centre.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return np.asarray(found.x, dtype=np.float32).reshape(centre.shape)
