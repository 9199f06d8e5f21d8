"""One fit per language, side by side where memory allows it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np

from funnelling.matrices import Matrix
from funnelling.method.training_set import TrainingSet
from funnelling.runtime.spread import for_threads, is_local
from funnelling.runtime.threads import in_threads, share_threads
from funnelling.svm import SVM

Result = TypeVar("Result")


class _Learner(Protocol):
    """What `fit_languages` asks of a learner; `funnelling.svm.SVM` is one."""

    def with_threads(self, n_jobs: int) -> Any: ...


def fit_languages(
    fit: Callable[[str, Any], Result], learners: Mapping[str, _Learner], training: TrainingSet
) -> dict[str, Result]:
    """What ``fit(language, learner)`` gives for each language; the learner has its share of the threads.

    Languages are fitted side by side where none of them needs a kernel matrix: two of those at once would
    take twice the memory.
    """
    languages = list(learners)
    small = all(_needs_no_gram(learners[language], training.vectors[language]) for language in languages)
    at_once, threads = share_threads(training.n_jobs, len(languages) if small else 1)
    if small and not is_local():  # threads of ours only hand out work, and a cluster wants all there is
        at_once, threads = len(languages), 1
    stop = np.zeros(1, dtype=np.uint8)

    def fit_one(k: int) -> Result:
        learner = learners[languages[k]].with_threads(threads)
        if isinstance(learner, SVM):
            learner = replace(learner, stop=stop)
        return fit(languages[k], learner)

    results = in_threads(for_threads(fit_one), len(languages), at_once, stop if at_once > 1 else None)
    return dict(zip(languages, results, strict=True))


def _needs_no_gram(learner: object, X: Matrix) -> bool:
    return isinstance(learner, SVM) and learner.plan(X, "").form == "vectors"
