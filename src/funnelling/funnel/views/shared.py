"""A fitted view that all languages share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from funnelling.funnel.foreign import EstimatorLearner
from funnelling.funnel.tier_one import Posteriors, TierOne, fit_tier_one
from funnelling.inputs import check_vectors
from funnelling.spaces import Space
from funnelling.svm import SVM
from funnelling.svm.kernels import is_sparse, scaled_gamma
from funnelling.svm.path import Folds
from funnelling.training import Training, stacked

# C of base classifiers under an RBF kernel, where 1 is too small; like other base classifiers' it is not
# searched for. The best of 1, 10 and 100 over embeddings, on training documents of the Debian corpus.
DENSE_C = 10.0


@dataclass(frozen=True)
class SharedView:
    """A space, and one set of base classifiers in it, which learned from some languages."""

    space: Space
    tier: TierOne
    languages: list[str]

    def serves(self, language: str) -> bool:
        """Whether it can see documents in a language."""
        return language in self.languages or self.space.serves(language)

    def with_labels(self, columns: npt.NDArray[np.intp], labels: int) -> "SharedView":
        """The same under more labels: the old ones go to ``columns``, the new ones are always rejected."""
        return replace(self, tier=self.tier.with_labels(columns, labels))


def fit_shared_view(
    space: Space,
    training: Training,
    learner: SVM | EstimatorLearner,
    folds: Folds,
    calibration: str,
    kfcv: Folds | None = None,
) -> tuple[SharedView, dict[str, Posteriors]]:
    """Fit a space and its base classifiers, and tell what they say of each language's documents."""
    X = check_vectors(stacked(space.fit(training.documents, training.targets))).astype(np.float32)
    if isinstance(learner, SVM) and not is_sparse(X):
        learner = replace(learner, C=DENSE_C, gamma=scaled_gamma(X))
    problem = learner.problem(X, training.stacked_targets(), "tier 1")
    tier, posteriors = fit_tier_one(problem, folds, calibration, kfcv, learner.n_jobs)
    return SharedView(space, tier, list(training.targets)), _by_language(posteriors, training)


def _by_language(posteriors: Posteriors, training: Training) -> dict[str, Posteriors]:
    ends = np.cumsum([len(rows) for rows in training.targets.values()])[:-1]
    parts: Sequence[Sequence[npt.NDArray[np.float32]]] = (
        np.split(posteriors.training, ends),
        np.split(posteriors.held_out, ends),
    )
    return {
        language: Posteriors(*found)
        for language, found in zip(training.targets, zip(*parts, strict=True), strict=True)
    }
