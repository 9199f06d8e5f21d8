"""Posteriors of several views to one row per document, the space that tier 2 learns in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from funnelling.corpus.labels import LabelSpace
from funnelling.funnel.design import Combine, FunnelConfig
from funnelling.funnel.learners import ANY_LANGUAGE, fit_offsets, fit_weights, log_odds
from funnelling.funnel.tier_one import Posteriors, ViewPosteriors
from funnelling.matrices import Floats, Folds, Matrix, Rows, Scores, Targets, unit_rows
from funnelling.state import Between, empty_row, expect, expect_by, numbers

Weights = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Combination:
    """How views are brought together.

    ``weights``, by view, are those that `stacked` or `odds` found, ``offsets``, by language, what `odds` adds
    where labels exclude each other.
    """

    how: Annotated[str, Combine]
    normalise: bool
    weights: dict[str, Annotated[float, Between(0)]] | None = None
    offsets: dict[str, Annotated[Floats, numbers("labels")]] | None = None

    @classmethod
    def fit(
        cls,
        design: FunnelConfig,
        targets: Mapping[str, Targets],
        posteriors: ViewPosteriors,
        labels: LabelSpace,
        folds: Mapping[str, Folds] | None = None,
    ) -> tuple["Combination", Posteriors]:
        """A design's combination, and the training documents in its space, languages below each other.

        Weights are found on languages that all views see. Offsets are also learned without each of ``folds``,
        if given, for the documents of that fold: those held out owe nothing to it. The weights of views, one
        number each, are those of all documents there, too.
        """
        held_out = {
            view: {language: each.held_out for language, each in by_language.items()}
            for view, by_language in posteriors.items()
        }
        single_label = labels.single_label
        weights = _view_weights(design.combine, targets, held_out, single_label)
        combination = cls(design.combine, design.normalise, weights)
        without: dict[int, Combination] = {}
        folds = folds or {}
        if design.combine == "odds" and single_label:
            points = {language: combination.points_in(language, held_out) for language in targets}
            shares = weights or {view: 1 / len(posteriors) for view in posteriors}

            def learned_from(rows: Mapping[str, Rows]) -> Combination:
                factor, offsets = fit_offsets(
                    {language: points[language][each] for language, each in rows.items()},
                    {language: targets[language][each] for language, each in rows.items()},
                )
                scaled = {view: factor * each for view, each in shares.items()}
                return cls(design.combine, design.normalise, scaled, offsets)

            combination = learned_from({tag: np.ones(len(rows), dtype=bool) for tag, rows in targets.items()})
            for fold in sorted({fold for each in folds.values() for fold in each.tolist()}):
                others = {tag: each != fold for tag, each in folds.items() if (each != fold).any()}
                if others:
                    without[fold] = learned_from(others)

        blocks = []
        for language in targets:
            seen = {view: each[language] for view, each in posteriors.items() if language in each}
            apart = combination.points_in(language, held_out)
            for fold, other in without.items():
                rows = folds[language] == fold
                in_fold = {view: each.held_out[rows] for view, each in seen.items()}
                apart[rows] = other.meta_features(language, in_fold)
            training = combination.meta_features(
                language, {view: each.training for view, each in seen.items()}
            )
            blocks.append(Posteriors(training, apart))
        return combination, Posteriors.stacked(blocks)

    def check_combination(self, views: Sequence[str], labels: int) -> Matrix:
        """Refuse a state that could not combine views of so many labels; gives what a document becomes."""
        if self.weights is not None:
            expect_by(self.weights, views, "the weights of views")
        if self.offsets is not None:
            expect(ANY_LANGUAGE in self.offsets, "the offsets of languages")
            expect(all(len(each) == labels for each in self.offsets.values()), "the offsets of a language")
        return empty_row(labels * len(views) if self.how == "concat" else labels, dense=True)

    def meta_features(self, language: str, posteriors: Mapping[str, Floats]) -> Floats:
        """A language's documents in tier 2's space, from each view's posteriors of them."""
        weights = None
        if self.weights is not None:
            weights = self._weights(list(posteriors))
            total = sum(self.weights.values()) if self.how == "odds" else 1.0
            weights = total * weights / weights.sum()
        points = combined(list(posteriors.values()), self.how, self.normalise, weights)
        if self.offsets is None:
            return points
        return points + self.offsets.get(language, self.offsets[ANY_LANGUAGE])

    def shares(self, views: Sequence[str]) -> dict[str, float]:
        """What each of the views that see a document counts in tier 2's space; 1 in sum."""
        weights = self._weights(views)
        return dict(zip(views, (weights / weights.sum()).tolist(), strict=True))

    def _weights(self, views: Sequence[str]) -> Weights:
        """The weights of views that see a language: where others do not, these stand in, even without one."""
        weights = np.array([1.0 if self.weights is None else self.weights[view] for view in views])
        return weights if weights.any() else np.ones(len(weights))

    def points_in(self, language: str, posteriors: Mapping[str, Mapping[str, Floats]]) -> Floats:
        """A language's documents in tier 2's space, from the views that see it."""
        by_view = {view: each[language] for view, each in posteriors.items() if language in each}
        return self.meta_features(language, by_view)


def _view_weights(
    combine: str,
    targets: Mapping[str, Targets],
    held_out: Mapping[str, Mapping[str, Floats]],
    single_label: bool,
) -> dict[str, float] | None:
    everywhere = {
        language: rows
        for language, rows in targets.items()
        if all(language in each for each in held_out.values())
    }
    if combine not in ("stacked", "odds") or len(held_out) < 2 or not everywhere:
        return None
    if combine == "odds":
        weights = fit_weights(list(held_out.values()), everywhere, single_label)
    else:
        views = [np.vstack([each[language] for language in everywhere]) for each in held_out.values()]
        weights = stacking_weights(views, np.vstack(list(everywhere.values())))
    return dict(zip(held_out, weights.tolist(), strict=True))


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
    from scipy.optimize import nnls

    X = np.column_stack([each.ravel().astype(np.float64) for each in held_out])
    products = X.T @ X
    if not products.any():  # base classifiers that reject everything say nothing of each other
        return np.full(len(products), 1 / len(products))
    root = np.linalg.cholesky(products + 1e-9 * np.trace(products) * np.eye(len(products)))
    solution, _ = nnls(root.T, np.linalg.solve(root, X.T @ targets.ravel()))
    total = solution.sum()
    weights: Weights = solution / total if total > 0 else np.full(len(solution), 1 / len(solution))
    return weights
