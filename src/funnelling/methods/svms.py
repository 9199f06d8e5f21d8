"""What methods of plain SVMs share: their parameters, their learner, and one fit per language."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from funnelling.matrices import Floats, Matrix, Rows, Scored, check_vectors, in_vocabulary_rows, stacked
from funnelling.methods.explanation import Attribution, TierOneAttribution
from funnelling.methods.learning import scores_after_learning
from funnelling.methods.model import Method
from funnelling.methods.parameters import c_setting
from funnelling.methods.training_set import INNER_FOLDS, Calibrator, TrainingSet, calibrator_type
from funnelling.plain import clone
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.spread import for_threads, is_local
from funnelling.runtime.threads import map_threads, share_threads
from funnelling.spaces import Space
from funnelling.state import HasShape, expect, expect_number
from funnelling.svm import SVM, CSetting, Fit, LinearScorer, Scorer
from funnelling.svm.calibration import REJECTED
from funnelling.svm.scorers import SelectedScorer, Selection, alone
from funnelling.text.tfidf import FeatureSpans


@dataclass(eq=False, repr=False)
class SVMBaseline(Method):
    """A method whose classifiers are SVMs of one C, given or chosen."""

    C: CSetting = c_setting(None)
    _: KW_ONLY
    vectorizer: Any = None

    @abstractmethod
    def _scorer(self, language: str) -> Scorer:
        """What scores a language's vectors."""

    def _check_scorer(
        self, scorer: Scorer, C: Any, calibrator: Calibrator, example: HasShape | None, columns: int
    ) -> None:
        """Refuse classifiers, and what makes probabilities of their scores, that do not fit together."""
        expect(scorer.check_scores(example) == columns, "the labels of classifiers")
        expect_number(C, "the C of classifiers", least=0)
        expect(isinstance(calibrator, calibrator_type(self.label_space)), "the probabilities")
        calibrator.check_labels(columns)

    def _learner(self, training: TrainingSet) -> SVM:
        return SVM(self.C, labels=training.labels, memory_limit=self.memory_limit, n_jobs=self.n_jobs)

    def _scores(self, language: str, documents: Any) -> Scored:
        X, evident = self._vectors_and_evidence(language, documents)
        return Scored(self._scorer(language).scores(X), evident)

    def _vectors_and_evidence(self, language: str, documents: Any) -> tuple[Matrix, Rows]:
        """One language's documents as vectors, and in which of them anything is known."""
        X = self._vectors(language, documents)
        return X, in_vocabulary_rows(documents, X)

    def _evidence(self, language: str, documents: Any) -> Attribution:
        X, evident = self._vectors_and_evidence(language, documents)
        scorer = self._scorer(language)
        scores = scorer.scores(X)
        linear = alone(scorer)
        if not isinstance(linear, LinearScorer):
            return Attribution(scores, evident)
        posteriors = self._calibrator(language)(scores)
        texts = documents if self.texts_ else None

        words = TierOneAttribution(
            linear, self._feature_names(language), X, scores, posteriors, partial(self._places, language)
        )
        return Attribution(scores, evident, {"": words}, texts=texts)


class SharedSpaceBaseline(SVMBaseline):
    """One set of SVMs for all languages, in a space that they share."""

    @abstractmethod
    def _space(self, seed: int) -> Space:
        """The space, not yet fitted."""

    def usable(self, languages: Sequence[str]) -> list[str]:
        return self._space(0).usable(languages)

    def serves_unseen(self, language: str) -> bool:
        space: Space = getattr(self, "space_", None) or self._space(0)
        return space.serves(language)

    def _fit_vectors(self, documents: dict[str, Any], targets: dict[str, Any], seed: int) -> dict[str, Any]:
        self.space_ = self._space(seed)
        return dict(self.space_.fit(documents, targets))

    def _vectors(self, language: str, documents: Any) -> Any:
        return self.space_.vectors(language, documents)

    def _vectors_and_evidence(self, language: str, documents: Any) -> tuple[Matrix, Rows]:
        if not self.texts_ or not self.space_.dense:
            return super()._vectors_and_evidence(language, documents)
        # A dense space may be centred: texts without known words are where an empty one is, not at 0.
        X = self._vectors(language, [*documents, ""])
        return X[:-1], in_vocabulary_rows(documents, X[:-1] - X[-1])

    def _fit(self, training: TrainingSet) -> None:
        fit = self._fit_shared(training)
        self.C_ = fit.C
        self.scorer_: Scorer = fit.scorer()
        held_out = self._refitted_scores(fit, training) if self.space_.supervised else fit.held_out
        self.head_ = training.fit_calibrator(held_out, training.stacked_targets())

    def _refitted_scores(self, fit: Fit, training: TrainingSet) -> Floats:
        """Scores of each fold's documents by a space and SVMs that did not see them."""
        name, learner = self._name(), replace(self._learner(training), C=fit.C)

        def learn(space: Space, learning: TrainingSet) -> Fit:
            X = check_vectors(stacked(space.fit(learning.documents, learning.targets)))
            return learner.over_dense(X).problem(X, learning.stacked_targets(), name).fit_whole()

        folds = training.stacked_folds()
        held_out = np.full_like(fit.held_out, REJECTED)  # where there is nothing to learn from
        numbers = np.unique(folds)
        with progress_bar(f"{name} without a fold", len(numbers), bool(self.verbose), "folds") as advance:
            for fold in numbers:
                others = folds != fold
                if others.any():
                    scores, _ = scores_after_learning(clone(self.space_), training, others, learn)
                    held_out[~others] = scores[~others]
                advance(1)
        return held_out

    def _fit_shared(self, training: TrainingSet) -> Fit:
        X = training.stacked_vectors()
        learner = self._learner(training)
        if self.space_.dense:
            learner = learner.over_dense(X)
        total = learner.problems_solved(training.columns, INNER_FOLDS)
        name = self._name()
        with progress_bar(name, total, bool(self.verbose), "problems") as advance:
            problem = learner.reporting(advance).problem(X, training.stacked_targets(), name)
            return problem.fit(training.stacked_folds())

    def _check_fitted(self, columns: int) -> None:
        expect(isinstance(self.space_, Space), "the space of a model")
        features = None if self.texts_ else next(iter(self.features_.values()))
        example = self.space_.check_space(self.languages_, features)
        self._check_scorer(self.scorer_, self.C_, self.head_, example, columns)

    def _scorer(self, language: str) -> Scorer:  # noqa: ARG002
        return self.scorer_

    def _select_labels(self, selection: Selection) -> None:
        self.scorer_ = SelectedScorer.of(self.scorer_, selection)
        self.head_ = self.head_.of_labels(selection.columns)

    def _feature_names(self, language: str) -> Sequence[str] | None:  # noqa: ARG002
        return self.space_.feature_names()

    def _places(self, language: str, text: str) -> FeatureSpans | None:
        return self.space_.places(language, text)

    def _calibrator(self, language: str) -> Calibrator:  # noqa: ARG002
        return self.head_


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

    results = map_threads(for_threads(fit_one), len(languages), at_once, stop if at_once > 1 else None)
    return dict(zip(languages, results, strict=True))


def _needs_no_gram(learner: object, X: Matrix) -> bool:
    return isinstance(learner, SVM) and learner.plan(X, "").form == "vectors"
