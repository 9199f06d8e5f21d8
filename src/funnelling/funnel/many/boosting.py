"""Boosted trees: tier 2, one model of all labels and languages.

They are learned by scikit-learn and kept as plain arrays, so that a model is saved without its objects and
answers without loading it.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from funnelling.matrices import Floats
from funnelling.runtime.threads import map_threads
from funnelling.state import expect, numbers
from funnelling.svm.calibration import fit_platt, sigmoid
from funnelling.svm.kernels import native

N_TREES, N_LEAVES, RATE = 150, 15, 0.06
MIN_DOCUMENTS_IN_LEAF = 50


OfNodes = Annotated[npt.NDArray[np.int32], numbers("nodes", kinds="i", least=0, dtype=np.int32)]


@dataclass(frozen=True)
class BoostedTrees:
    """Trees whose leaves' ``values`` sum up to log odds, beside the ``baseline``.

    All nodes stand behind each other, those of tree i from ``roots[i]`` on. A row whose ``features`` value
    is at most the threshold goes to the ``left`` child, else to the next one; a leaf is its own child.
    """

    features: OfNodes
    thresholds: Annotated[npt.NDArray[np.float64], numbers("nodes", dtype=np.float64)]
    left: OfNodes
    right: OfNodes
    values: Annotated[npt.NDArray[np.float64], numbers("nodes", dtype=np.float64)]
    roots: Annotated[npt.NDArray[np.int32], numbers(None, kinds="i", least=0, dtype=np.int32)]
    baseline: float
    width: int

    @classmethod
    def fitted(cls, X: Floats, y: npt.NDArray[np.bool_], seed: int) -> Self:
        """Learned from rows of features and whether each is right; at least one is, and one is not."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        learner = HistGradientBoostingClassifier(
            max_iter=N_TREES,
            learning_rate=RATE,
            max_leaf_nodes=N_LEAVES,
            min_samples_leaf=min(MIN_DOCUMENTS_IN_LEAF, max(1, len(X) // 20)),
            early_stopping=False,
            random_state=seed % 2**32,  # scikit-learn takes no more
        )
        with ThreadpoolController().limit(limits=1, user_api="openmp"):  # sums would round with threads
            learner.fit(X, y)
        return cls._of(learner, X.shape[1])

    @classmethod
    def _of(cls, learner: Any, width: int) -> Self:
        trees = [stage[0].nodes for stage in learner._predictors]  # there is no public way to them
        roots = np.cumsum([0, *map(len, trees)])[:-1]
        nodes = np.concatenate(trees)
        leaf = nodes["is_leaf"].astype(bool)
        base = np.repeat(roots, list(map(len, trees)))
        itself = np.arange(len(nodes))
        return cls(
            np.where(leaf, 0, nodes["feature_idx"]).astype(np.int32),
            np.where(leaf, 0, nodes["num_threshold"]),
            np.where(leaf, itself, base + nodes["left"]).astype(np.int32),
            np.where(leaf, itself, base + nodes["right"]).astype(np.int32),
            np.where(leaf, nodes["value"], 0),
            roots.astype(np.int32),
            float(np.ravel(learner._baseline_prediction)[0]),
            width,
        )

    def calibrated(self, slope: float, offset: float) -> Self:
        """Trees whose log odds are ``slope`` times these and ``offset`` more."""
        return replace(self, values=slope * self.values, baseline=slope * self.baseline + offset)

    def probabilities(self, X: Floats) -> npt.NDArray[np.float64]:
        """How likely each row is right."""
        return sigmoid(self.log_odds(X))

    def log_odds(self, X: Floats) -> npt.NDArray[np.float64]:
        """The logarithm of how many times likelier each row is right than wrong."""
        X = np.ascontiguousarray(X, dtype=np.float32)
        sums = np.full(len(X), self.baseline)
        if native is None:
            self._add(X, sums)
        else:
            splits = self.features, self.thresholds, self.left, self.right
            native.add_trees(X, self.width, *splits, self.values, self.roots, sums)
        return sums

    def _add(self, X: Floats, sums: npt.NDArray[np.float64]) -> None:
        rows = np.arange(len(X))
        for root in self.roots.tolist():
            at = np.full(len(X), root)
            while True:
                goes_left = X[rows, self.features[at]] <= self.thresholds[at]
                below = np.where(goes_left, self.left[at], self.right[at])
                if (below == at).all():
                    break
                at = below
            sums += self.values[at]

    def check(self, width: int) -> None:
        """Refuse a state that could not judge rows of so many features."""
        n = len(self.features)
        expect(self.width == width and n > 0, "the trees of tier 2")
        expect(self.features.max() < width and self.roots.max(initial=0) < n, "the features of trees")
        for children in (self.left, self.right):
            expect(children.max() < n, "the branches of trees")
            expect((children >= np.arange(n)).all(), "the branches of trees")  # no way leads back
        leaves = self.left == np.arange(n)
        expect(((self.right == np.arange(n)) == leaves).all(), "the branches of trees")


def fit_cross_calibrated(
    X: Floats, y: npt.NDArray[np.bool_], halves: npt.NDArray[np.int64], seed: int, n_jobs: int | None
) -> tuple[BoostedTrees, npt.NDArray[np.float64]]:
    """Trees learned from all rows, and how likely each row is right by such trees that have not seen it.

    Trees are surer of rows that they have seen than of others. By how much, the trees of either half (0 or
    1) show on the other half: all trees then have Platt's sigmoid of those scores.
    """
    in_half = [halves == 0, halves == 1]
    tell = [bool(y[rows].any() and not y[rows].all()) for rows in in_half]

    def fit(number: int) -> BoostedTrees:
        rows = in_half[number] if number < 2 else slice(None)
        return BoostedTrees.fitted(X[rows], y[rows], seed)

    if not all(tell):
        trees = fit(2)
        return trees, trees.probabilities(X)
    *of_halves, trees = map_threads(fit, 3, n_jobs)
    log_odds = np.empty(len(y))
    for rows, others in zip(in_half, reversed(of_halves), strict=True):
        log_odds[rows] = others.log_odds(X[rows])
    slope, offset = (float(each[0]) for each in fit_platt(log_odds[:, None], y[:, None], n_jobs))
    return trees.calibrated(slope, offset), sigmoid(slope * log_odds + offset)
