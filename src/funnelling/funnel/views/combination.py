"""Posteriors of several views to one row per document, the space that tier 2 learns in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from funnelling.funnel.design import Design
from funnelling.funnel.odds import fit_weights, log_odds
from funnelling.funnel.tier_one import Posteriors, ViewPosteriors
from funnelling.matrices import Floats, Scores, Targets, unit_rows

COMBINATIONS = ("mean", "concat", "stacked", "odds")

Weights = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Combination:
    """How views are brought together; ``weights``, by view, are those that `stacked` or `odds` found."""

    how: str
    normalise: bool
    weights: dict[str, float] | None = None

    @classmethod
    def fit(
        cls, design: Design, targets: Mapping[str, Targets], posteriors: ViewPosteriors, exclusive: bool
    ) -> "Combination":
        """A design's combination; weights are found on languages that all views see."""
        weights = _view_weights(design.combine, targets, posteriors, exclusive)
        return cls(design.combine, design.normalise, weights)

    def points(self, posteriors: Mapping[str, Floats]) -> Floats:
        """Documents in tier 2's space, from what each view says of them."""
        weights = None
        if self.weights is not None:
            # Where a view does not see the language, the others stand in for it, even those without a weight.
            weights = np.array([self.weights[view] for view in posteriors])
            if not weights.any():
                weights = np.ones(len(weights))
            total = sum(self.weights.values()) if self.how == "odds" else 1.0
            weights = total * weights / weights.sum()
        return combined(list(posteriors.values()), self.how, self.normalise, weights)

    def points_in(self, language: str, posteriors: Mapping[str, Mapping[str, Floats]]) -> Floats:
        """A language's documents in tier 2's space, from the views that see it."""
        return self.points({view: each[language] for view, each in posteriors.items() if language in each})

    def training_points(self, posteriors: ViewPosteriors, language: str) -> Posteriors:
        """A language's training documents in tier 2's space."""
        by_view = {view: each[language] for view, each in posteriors.items() if language in each}
        return Posteriors(
            self.points({view: each.training for view, each in by_view.items()}),
            self.points({view: each.held_out for view, each in by_view.items()}),
        )


def _view_weights(
    combine: str, targets: Mapping[str, Targets], posteriors: ViewPosteriors, exclusive: bool
) -> dict[str, float] | None:
    everywhere = [tag for tag in targets if all(tag in each for each in posteriors.values())]
    if combine not in ("stacked", "odds") or len(posteriors) < 2 or not everywhere:
        return None
    held_out = [np.vstack([each[tag].held_out for tag in everywhere]) for each in posteriors.values()]
    truth = np.vstack([targets[tag] for tag in everywhere])
    if combine == "odds":
        weights = fit_weights(held_out, truth, exclusive)
    else:
        weights = stacking_weights(held_out, truth)
    return dict(zip(posteriors, weights.tolist(), strict=True))


def combined(
    posteriors: Sequence[Scores], combine: str, normalise: bool, weights: Weights | None = None
) -> Floats:
    """The posteriors of views as one: their mean, side by side, or weighted; of `odds` their log-odds."""
    if combine == "odds":
        posteriors = [log_odds(each) for each in posteriors]
    elif normalise:
        # One column, of two classes or of one label, would have the same length everywhere.
        posteriors = [each if each.shape[1] == 1 else unit_rows(each) for each in posteriors]
    if len(posteriors) == 1 and combine != "odds":  # one that stands in for others has a weight
        return posteriors[0]
    if combine == "concat":
        return np.hstack(posteriors)
    shares = np.full(len(posteriors), 1 / len(posteriors)) if weights is None else weights
    total = sum(share * each.astype(np.float64) for share, each in zip(shares, posteriors, strict=True))
    return np.asarray(total, dtype=np.float32)


def stacking_weights(held_out: Sequence[Floats], targets: Targets) -> Weights:
    """One weight per view, none negative and 1 in sum, whose mean of held-out posteriors errs least.

    Breiman's stacked regressions (1996): least squares under the bound, over all documents and labels.

    >>> truth = np.array([[True, False], [False, True]])
    >>> right, unsure = truth.astype(np.float32), np.full((2, 2), 0.5, np.float32)
    >>> stacking_weights([right, unsure], truth).round(2).tolist()
    [1.0, 0.0]
    """
    X = np.column_stack([each.ravel().astype(np.float64) for each in held_out])
    products = X.T @ X
    if not products.any():  # base classifiers that reject everything say nothing of each other
        return np.full(len(products), 1 / len(products))
    root = np.linalg.cholesky(products + 1e-9 * np.trace(products) * np.eye(len(products)))
    solution, _ = nnls(root.T, np.linalg.solve(root, X.T @ targets.ravel()))
    total = solution.sum()
    weights: Weights = solution / total if total > 0 else np.full(len(solution), 1 / len(solution))
    return weights
