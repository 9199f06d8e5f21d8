"""What a method learns from, after everything the user gave has been checked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from funnelling.matrices import Matrix, Scores, stacked, take
from funnelling.randomness import assign_folds
from funnelling.svm import SVM, Calibration, Temperature
from funnelling.svm.calibration import fit_calibration, fit_temperature
from funnelling.work.spread import for_threads, is_local
from funnelling.work.threads import in_threads, share_threads

FOLDS = 5  # of every inner cross-validation: calibration, choice of C

Head = Calibration | Temperature


@dataclass
class Prepared:
    """Labelled texts that were read and made vectors of before a fit, by language."""

    classes: npt.NDArray[Any]
    vectorizers: dict[str, Any]
    vectors: dict[str, Matrix]
    targets: dict[str, npt.NDArray[np.bool_]]
    groups: dict[str, Sequence[Any] | None]
    ids: dict[str, list[str]]


@dataclass
class Training:
    """What a method learns from, by language; ``documents`` are as given, texts or vectors."""

    documents: dict[str, Any]
    vectors: dict[str, Matrix]
    targets: dict[str, npt.NDArray[np.bool_]]
    folds: dict[str, npt.NDArray[np.intp]]
    groups: dict[str, Sequence[Any] | None]
    ids: dict[str, list[str]]
    exclusive: bool
    seed: int
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        documents: dict[str, Any],
        vectors: dict[str, Matrix],
        targets: dict[str, npt.NDArray[np.bool_]],
        groups: dict[str, Sequence[Any] | None],
        ids: dict[str, list[str]],
        exclusive: bool,
        seed: int,
        n_jobs: int | None,
    ) -> "Training":
        """With the folds that follow from the seed, the language and the groups."""
        folds = {
            language: assign_folds(
                FOLDS, len(rows), seed, "folds", language=language, groups=groups[language]
            )
            for language, rows in targets.items()
        }
        return cls(documents, vectors, targets, folds, groups, ids, exclusive, seed, n_jobs)

    @property
    def labels(self) -> int:
        return int(next(iter(self.targets.values())).shape[1])

    def only(self, languages: Sequence[str]) -> "Training":
        """The same, of some languages alone."""
        return replace(
            self,
            documents={language: self.documents[language] for language in languages},
            vectors={language: self.vectors[language] for language in languages},
            targets={language: self.targets[language] for language in languages},
            folds={language: self.folds[language] for language in languages},
            groups={language: self.groups[language] for language in languages},
            ids={language: self.ids[language] for language in languages},
        )

    def select(self, rows: Mapping[str, npt.NDArray[np.bool_]]) -> "Training":
        """Some documents of each language, folds as they were; languages without any are left out."""
        places = {language: np.flatnonzero(part) for language, part in rows.items() if part.any()}

        def taken(parts: Mapping[str, Any]) -> dict[str, Any]:
            return {
                language: None if parts[language] is None else take(parts[language], where)
                for language, where in places.items()
            }

        return replace(
            self,
            documents=taken(self.documents),
            vectors=taken(self.vectors),
            targets=taken(self.targets),
            folds=taken(self.folds),
            groups=taken(self.groups),
            ids=taken(self.ids),
        )

    def stacked_vectors(self) -> Matrix:
        """The vectors of all languages, which must share their columns."""
        return stacked(self.vectors)

    def stacked_targets(self) -> npt.NDArray[np.bool_]:
        return np.vstack(list(self.targets.values()))

    def stacked_folds(self) -> npt.NDArray[np.intp]:
        return np.concatenate(list(self.folds.values()))

    def fit_head(self, held_out: Scores, targets: npt.NDArray[np.bool_]) -> Head:
        """What makes probabilities of a method's final scores."""
        if self.exclusive:
            return fit_temperature(held_out, targets)
        return fit_calibration("platt", held_out, targets, self.n_jobs)


class _Learner(Protocol):
    """What `fit_languages` asks of a learner; `funnelling.svm.SVM` is one."""

    def with_threads(self, n_jobs: int) -> Any: ...


Fitted = TypeVar("Fitted")


def fit_languages(
    fit: Callable[[str, Any], Fitted], learners: Mapping[str, _Learner], training: Training
) -> dict[str, Fitted]:
    """What ``fit(language, learner)`` gives for each language, with the learner's threads set.

    Languages are fitted side by side where none of them needs a kernel matrix: two of those at once would
    take twice the memory.
    """
    languages = list(learners)
    small = all(_needs_no_gram(learners[language], training.vectors[language]) for language in languages)
    at_once, threads = share_threads(training.n_jobs, len(languages) if small else 1)
    if small and not is_local():  # threads of ours only hand out work, and a cluster wants all there is
        at_once, threads = len(languages), 1
    stop = np.zeros(1, dtype=np.uint8)

    def fit_one(k: int) -> Fitted:
        learner = learners[languages[k]].with_threads(threads)
        if isinstance(learner, SVM):
            learner = replace(learner, stop=stop)
        return fit(languages[k], learner)

    fitted = in_threads(for_threads(fit_one), len(languages), at_once, stop if at_once > 1 else None)
    return dict(zip(languages, fitted, strict=True))


def _needs_no_gram(learner: object, X: Matrix) -> bool:
    return isinstance(learner, SVM) and learner.plan(X, "").form == "vectors"
