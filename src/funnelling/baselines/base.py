"""What the baselines share: their parameters and their learner. Think twice before adding anything."""

from typing import Any

from funnelling.method import Method
from funnelling.svm import SVM
from funnelling.training import Training


class SVMBaseline(Method):
    """A method whose classifiers are SVMs of one C, given or chosen."""

    def __init__(
        self,
        C: float | None = None,
        *,
        vectorizer: Any = None,
        memory_limit: float = 8e9,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.vectorizer = vectorizer
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        self._check_positive("C")

    def _learner(self, training: Training) -> SVM:
        return SVM(self.C, exclusive=training.exclusive, memory_limit=self.memory_limit, n_jobs=self.n_jobs)
