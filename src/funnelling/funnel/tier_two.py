"""Tier 2: one meta-classifier for all languages, in the space of posteriors."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from funnelling.funnel.tier_one import Fitted
from funnelling.matrices import Floats, one_blas_thread
from funnelling.method.training_set import Head
from funnelling.randomness import stream
from funnelling.svm import Scorer
from funnelling.svm.device import scores_on
from funnelling.svm.learner import C_GRID
from funnelling.svm.plan import gram_bytes, largest_gram
from funnelling.work.threads import in_threads

MOST_DOCUMENTS = 20_000  # that teach tier 2 where a kernel matrix of all would pass the memory limit
FEW_POSITIVES = 20  # of a label, which are taken first
NORMALISED_C = (1.0, 10.0)  # between posteriors of length 1 more says the same, more slowly


Cuts = npt.NDArray[np.float64] | float
Rows = dict[str, npt.NDArray[np.bool_]]  # some documents of each language


class FittedOnFolds(Fitted, Protocol):
    """A learner that can also score new documents without having seen a fold."""

    def scorer_without(self, fold: int) -> Scorer: ...


class TierTwo(NamedTuple):
    """A fitted meta-classifier: its C, what makes probabilities of its scores, and where they mean yes.

    ``decided`` is what it says of its training documents when it has not seen them.
    """

    scorer: Scorer
    C: float | None
    head: Head
    cuts: Cuts
    decided: npt.NDArray[np.bool_]


def teaching(targets: Mapping[str, npt.NDArray[np.bool_]], seed: int, memory_limit: float) -> Rows | None:
    """Which documents tier 2 learns from: None means all, as in the paper, while their kernel matrix fits.

    Past that a sample teaches it: languages by their share, and rare labels before all others. With many
    documents tier 1 decides how good a model is, and an exact fit on a sample beats an approximate one
    on all of them, in quality and in time.
    """
    documents = sum(map(len, targets.values()))
    if gram_bytes(documents) <= memory_limit:
        return None
    size = min(MOST_DOCUMENTS, largest_gram(memory_limit))
    turns = {
        language: (stream(seed, "tier 2", language).permutation(len(rows)) + 0.5) / max(len(rows), 1)
        for language, rows in targets.items()
    }
    turn, labels = np.concatenate(list(turns.values())), np.vstack(list(targets.values()))
    order = np.argsort(turn, kind="stable")
    first = max(1, min(FEW_POSITIVES, size // (2 * labels.shape[1])))
    rare = labels[order] & (np.cumsum(labels[order], axis=0) <= first)
    preferred = np.argsort(~rare.any(axis=1), kind="stable")
    taken = np.zeros(documents, dtype=bool)
    taken[order[preferred[:size]]] = True
    parts = np.split(taken, np.cumsum([len(rows) for rows in targets.values()])[:-1])
    return dict(zip(targets, parts, strict=True))


def grid(normalised: bool) -> Sequence[float]:
    """The Cs of the meta-classifier to choose from."""
    return NORMALISED_C if normalised else C_GRID


def aligned_scores(
    fit: FittedOnFolds,
    folds: npt.NDArray[np.intp],
    held_out: Floats,
    device: str = "cpu",
    n_jobs: int | None = None,
) -> Floats:
    """Tier 2's honest scores of its training documents.

    The posteriors of a fold come from base classifiers that did not see it (``held_out``), and are
    scored by a meta-classifier that did not see it either: the same folds in both tiers. Scores on the
    training posteriors themselves would be far too good, for tier 1 has seen those documents.
    """
    scores = np.empty((len(folds), fit.scores.shape[1]), dtype=np.float32)
    parts = np.unique(folds)

    def score(part: int) -> None:
        rows = folds == parts[part]
        scores[rows] = scores_on(device, fit.scorer_without(int(parts[part])), held_out[rows])

    with one_blas_thread():
        for _ in in_threads(score, len(parts), n_jobs):
            pass
    return scores
