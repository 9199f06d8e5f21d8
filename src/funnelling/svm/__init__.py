"""The multilabel SVM: one Gram, all labels, all folds at once.

`SVM` states the learner, `SVM.problem` binds it to documents and labels, `Problem.fit` solves.
"""

from funnelling.svm.calibration import Calibration, Temperature
from funnelling.svm.learner import SVM, CSetting, Fit, Problem
from funnelling.svm.scorers import KernelScorer, LinearScorer, Scorer
from funnelling.svm.solver import solver_name

__all__ = [
    "SVM",
    "CSetting",
    "Calibration",
    "Fit",
    "KernelScorer",
    "LinearScorer",
    "Problem",
    "Scorer",
    "Temperature",
    "solver_name",
]
