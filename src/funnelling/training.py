"""What a method learns from, after everything the user gave has been checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.svm import Calibration, Temperature
from funnelling.svm.calibration import fit_calibration, fit_temperature
from funnelling.svm.kernels import Matrix

FOLDS = 5  # of every inner cross-validation: calibration, choice of C

Scores = npt.NDArray[np.floating[Any]]
Head = Calibration | Temperature


@dataclass
class Training:
    """What a method learns from: vectors, targets, folds and groups by language."""

    vectors: dict[str, Matrix]
    targets: dict[str, npt.NDArray[np.bool_]]
    folds: dict[str, npt.NDArray[np.intp]]
    groups: dict[str, Sequence[Any] | None]
    exclusive: bool
    seed: int

    @property
    def labels(self) -> int:
        return int(next(iter(self.targets.values())).shape[1])

    def stacked_targets(self) -> npt.NDArray[np.bool_]:
        return np.vstack(list(self.targets.values()))

    def stacked_folds(self) -> npt.NDArray[np.intp]:
        return np.concatenate(list(self.folds.values()))

    def fit_head(self, held_out: Scores, targets: npt.NDArray[np.bool_]) -> Head:
        """What makes probabilities of a method's final scores."""
        if self.exclusive:
            return fit_temperature(held_out, targets)
        return fit_calibration("platt", held_out, targets)
