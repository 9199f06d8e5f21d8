"""What a set of labels makes of a model's answers: some are not given, and a child brings its parents."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.labelsets.hierarchy import Hierarchy

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LabelRules:
    """Which labels of a model are not to be assigned, and which stand above which.

    Excluded labels take no part: they bring no parents, and have the probability 0. Where each document has
    one label there are no parents to bring.
    """

    excluded: Flags
    hierarchy: Hierarchy

    def check(self) -> None:
        """Refuse rules that leave nothing to assign."""
        if self.excluded.all():
            raise InputError("Every label of the model is excluded. Leave at least one.")

    def change(self, one_label: bool) -> bool:
        """Whether they change any answer, of a model that gives one label per document or several."""
        return bool(self.excluded.any()) or (self.hierarchy.joined and not one_label)

    def order(self) -> npt.NDArray[np.intp]:
        """The columns that may be shown; of labels that are equally probable, the deeper one is the first."""
        by_depth = self.hierarchy.special_first
        columns: npt.NDArray[np.intp] = by_depth[~self.excluded[by_depth]]
        return columns

    def several(self, assigned: Flags, probabilities: Floats, thresholds: Floats) -> tuple[Flags, Floats]:
        """Answers to documents that may have several labels, as the rules have them.

        A label is as probable as the most probable one below it, and assigned if that is above its threshold,
        or if one below it is assigned.
        """
        own = np.where(self.excluded, 0.0, probabilities)
        given = assigned & ~self.excluded
        if not self.hierarchy.joined:
            return given, own
        width = len(self.excluded)
        raised = self.hierarchy.raised(own)[:, :width]
        given |= (raised > own) & (raised > thresholds)
        given = self.hierarchy.raised(given)[:, :width]
        return given & ~self.excluded, np.where(self.excluded, 0.0, raised)

    def one(self, scores: npt.NDArray[Any], probabilities: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
        """The column of each document's one label, the best of those not excluded, and all probabilities."""
        left = ~self.excluded
        best = np.where(left, scores, -np.inf).argmax(axis=1)
        own = np.where(left, probabilities, 0.0)
        total = own.sum(axis=1, keepdims=True)
        even = np.broadcast_to(left / left.sum(), own.shape)
        with np.errstate(invalid="ignore"):
            return best, np.where(total > 0, own / total, even)


def rules_of(model: Any) -> LabelRules | None:
    """What the label set of a fitted model makes of its answers; None where it leaves them as they are."""
    label_set = getattr(model, "label_set_", None)
    if label_set is None:
        return None
    rules: LabelRules = label_set.rules(model.classes_)
    return rules if rules.change(bool(model.exclusive_)) else None
