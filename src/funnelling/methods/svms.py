"""Methods of plain SVMs: one set for each language, or one for all in a space that they share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal, Protocol, Self, TypeVar

import numpy as np

from funnelling.corpus.by_language import INNER_FOLDS, ByLanguage
from funnelling.corpus.labels import LabelSpace
from funnelling.matrices import (
    Floats,
    Matrix,
    Rows,
    Scored,
    by_language,
    check_vectors,
    in_vocabulary_rows,
    stacked,
    take_rows,
)
from funnelling.methods.algorithm import Algorithm, Fitted, Parameters, Run
from funnelling.methods.explanation import Attribution, TierOneAttribution
from funnelling.methods.parameters import c_setting
from funnelling.methods.training_set import Calibrator, ScoreThresholds, TrainingSet, calibrator_type
from funnelling.plain import clone
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.spread import for_threads, is_local
from funnelling.runtime.threads import map_threads, share_threads
from funnelling.spaces import AnySpace, Space
from funnelling.state import Between, HasShape, empty_row, expect, expect_by
from funnelling.svm import SVM, Calibration, CSetting, Fit, LinearScorer, Scorer
from funnelling.svm.calibration import REJECTED
from funnelling.svm.scorers import SelectedScorer, Selection, SVMScorer, alone
from funnelling.text.characters import Template, Vectorizer
from funnelling.text.tfidf import FeatureSpans, check_vectorizer, feature_names, feature_places, fit_own


@dataclass(eq=False, repr=False)
class SVMParameters(Parameters):
    """The parameters of a method whose classifiers are SVMs of one C, given or chosen."""

    C: CSetting = c_setting(None)
    _: KW_ONLY
    vectorizer: Template = None

    def learner(self, training: TrainingSet) -> SVM:
        """What the classifiers learn with."""
        return SVM(self.C, labels=training.labels, memory_limit=self.memory_limit, n_jobs=self.n_jobs)

    @property
    def yes_above(self) -> Literal["zero", "half"]:
        """Where labels are assigned: above a score of zero, or above a probability of one half."""
        return "zero"


def _attribution(
    scorer: Scorer,
    X: Matrix,
    evident: Rows,
    calibrator: Calibrator,
    documents: Any,
    names: Sequence[str] | None,
    places: Callable[[str], FeatureSpans | None],
) -> Attribution:
    """Scores of vectors, and what their features add to them."""
    scores = scorer.scores(X)
    linear = alone(scorer)
    if not isinstance(linear, LinearScorer):
        return Attribution(scores, evident)
    words = TierOneAttribution(linear, names, X, scores, calibrator(scores), places)
    return Attribution(scores, evident, {"": words}, texts=documents if isinstance(documents, list) else None)


def _check_classifiers(
    scorer: Scorer, calibrator: Calibrator, example: HasShape | None, labels: LabelSpace
) -> None:
    """Refuse classifiers, and what makes probabilities of their scores, that do not fit together."""
    expect(scorer.check_scores(example) == labels.columns, "the labels of classifiers")
    expect(isinstance(calibrator, calibrator_type(labels)), "the probabilities")
    calibrator.check_labels(labels.columns)


@dataclass(frozen=True)
class LanguageClassifiers:
    """One language's classifiers, over its own vectors; ``vectorizer`` is None where those are given."""

    vectorizer: Vectorizer | None
    scorer: Annotated[Scorer, SVMScorer | SelectedScorer[SVMScorer]]
    C: Annotated[float, Between(0)]
    calibrator: Calibrator

    def vectors(self, documents: Any) -> Any:
        """Documents as the classifiers see them."""
        return documents if self.vectorizer is None else self.vectorizer.transform(documents)


@dataclass(frozen=True)
class PerLanguage(Fitted):
    """The classifiers of each language."""

    by_language: dict[str, LanguageClassifiers]

    def scores(self, language: str, documents: Any, run: Run) -> Scored:
        own = self.by_language[language]
        X = own.vectors(documents)
        return Scored(own.scorer.scores(X), in_vocabulary_rows(documents, X))

    def calibrator(self, language: str) -> Calibrator:
        return self.by_language[language].calibrator

    def evidence(
        self, language: str, documents: Any, run: Run, archive: ByLanguage | None = None
    ) -> Attribution:
        own = self.by_language[language]
        X = own.vectors(documents)
        return _attribution(
            own.scorer,
            X,
            in_vocabulary_rows(documents, X),
            own.calibrator,
            documents,
            feature_names(own.vectorizer),
            partial(feature_places, own.vectorizer),
        )

    def selecting(self, selection: Selection, labels: LabelSpace, archive: ByLanguage | None) -> Self:
        return replace(
            self,
            by_language={
                tag: replace(
                    own,
                    scorer=SelectedScorer.of(own.scorer, selection),
                    calibrator=own.calibrator.of_labels(selection.columns),
                )
                for tag, own in self.by_language.items()
            },
        )

    @property
    def final_c(self) -> dict[str, float]:
        return {language: own.C for language, own in self.by_language.items()}

    def check(
        self, documents: Mapping[str, int], features: Mapping[str, int] | None, labels: LabelSpace
    ) -> None:
        for tag, own in expect_by(self.by_language, documents, "the classifiers of languages").items():
            expect((own.vectorizer is None) == (features is not None), "the vocabularies of languages")
            example = check_vectorizer(own.vectorizer) if features is None else empty_row(features[tag])
            _check_classifiers(own.scorer, own.calibrator, example, labels)


@dataclass(frozen=True, kw_only=True)
class SVMsPerLanguage(Algorithm[SVMParameters]):
    """One set of SVMs for each language, in its own feature space."""

    fitted = PerLanguage

    def vectors(self, parameters: SVMParameters, training: TrainingSet) -> tuple[Any, dict[str, Any]]:
        return own_vectors(parameters, training)

    def fit(self, parameters: SVMParameters, training: TrainingSet) -> PerLanguage:
        learner = parameters.learner(training)
        total = len(training.vectors) * learner.problems_solved(training.columns, INNER_FOLDS)

        def fit_language(language: str, learner: SVM) -> LanguageClassifiers:
            targets = training.targets[language]
            problem = learner.problem(training.vectors[language], targets, f"language {language!r}")
            fit = problem.fit(training.folds[language])
            return LanguageClassifiers(
                None if training.made_by is None else training.made_by[language],
                fit.scorer(),
                fit.C,
                training.fit_calibrator(fit.held_out, targets),
            )

        with progress_bar(self.name, total, bool(parameters.verbose), "problems") as advance:
            learners = dict.fromkeys(training.vectors, replace(learner, advance=advance))
            return PerLanguage(fit_languages(fit_language, learners, training))

    def learns_own_words(self, parameters: SVMParameters) -> bool:
        return parameters.vectorizer is None


def own_vectors(parameters: Any, training: TrainingSet) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """What makes vectors of each language's own words, and the documents' vectors; given ones stay."""
    if not training.texts:
        return None, training.documents
    return fit_own(training.documents, parameters.vectorizer, bool(parameters.verbose))


@dataclass(frozen=True)
class InSpace(Fitted):
    """One set of classifiers for all languages, in a space that they share."""

    space: AnySpace
    scorer: Annotated[Scorer, SVMScorer | SelectedScorer[SVMScorer]]
    C: Annotated[float, Between(0)]
    calibration: Calibrator
    yes_above: Literal["zero", "half"] = "zero"

    def scores(self, language: str, documents: Any, run: Run) -> Scored:
        X, evident = self._vectors_and_evidence(language, documents)
        return Scored(self.scorer.scores(X), evident)

    def _vectors_and_evidence(self, language: str, documents: Any) -> tuple[Matrix, Rows]:
        """One language's documents as vectors, and in which of them anything is known."""
        if not isinstance(documents, list) or not self.space.dense:
            X = self.space.vectors(language, documents)
            return X, in_vocabulary_rows(documents, X)
        # A dense space may be centred: texts without known words are where an empty one is, not at 0.
        X = self.space.vectors(language, [*documents, ""])
        return X[:-1], in_vocabulary_rows(documents, X[:-1] - X[-1])

    def calibrator(self, language: str) -> Calibrator:
        return self.calibration

    def score_thresholds(self, language: str) -> ScoreThresholds:
        if self.yes_above == "half" and isinstance(self.calibration, Calibration):
            return self.calibration.even_scores
        return 0.0

    def evidence(
        self, language: str, documents: Any, run: Run, archive: ByLanguage | None = None
    ) -> Attribution:
        X, evident = self._vectors_and_evidence(language, documents)
        names, places = self.space.feature_names(), partial(self.space.places, language)
        return _attribution(self.scorer, X, evident, self.calibration, documents, names, places)

    def serves(self, language: str) -> bool:
        return self.space.serves(language)

    @property
    def spaces(self) -> list[Space]:
        return [self.space]

    @property
    def final_c(self) -> float:
        return self.C

    def selecting(self, selection: Selection, labels: LabelSpace, archive: ByLanguage | None) -> Self:
        return replace(
            self,
            scorer=SelectedScorer.of(self.scorer, selection),
            calibration=self.calibration.of_labels(selection.columns),
        )

    def check(
        self, documents: Mapping[str, int], features: Mapping[str, int] | None, labels: LabelSpace
    ) -> None:
        width = None if features is None else next(iter(features.values()))
        example = self.space.check_space(list(documents), width)
        _check_classifiers(self.scorer, self.calibration, example, labels)


P = TypeVar("P", bound=SVMParameters)


@dataclass(frozen=True, kw_only=True)
class SVMsInSpace(Algorithm[P]):
    """One set of SVMs for all languages, in a space that they share."""

    fitted = InSpace

    space: Callable[[P, int], Space]  # not yet fitted, from the parameters and a seed

    def vectors(self, parameters: P, training: TrainingSet) -> tuple[Any, dict[str, Any]]:
        space = self.space(parameters, training.seed)
        return space, dict(space.fit(training.documents, training.targets))

    def fit(self, parameters: P, training: TrainingSet) -> InSpace:
        space: Space = training.made_by
        space, fit = self.fit_in(parameters, space, training)
        held_out = fit.held_out
        if space.supervised:
            held_out = self._refitted_scores(parameters, space, fit, training)
        head = training.fit_calibrator(held_out, training.stacked_targets())
        return InSpace(space, fit.scorer(), fit.C, head, parameters.yes_above)

    def fit_in(self, parameters: P, space: Space, training: TrainingSet) -> tuple[Space, Fit]:
        """Fit the SVMs in the space, or in another one like it that suits the documents better."""
        X = training.stacked_vectors()
        learner = parameters.learner(training)
        if space.dense:
            learner = learner.over_dense(X)
        total = learner.problems_solved(training.columns, INNER_FOLDS)
        with progress_bar(self.name, total, bool(parameters.verbose), "problems") as advance:
            problem = replace(learner, advance=advance).problem(X, training.stacked_targets(), self.name)
            return space, problem.fit(training.stacked_folds())

    def _refitted_scores(self, parameters: P, space: Space, fit: Fit, training: TrainingSet) -> Floats:
        """Scores of each fold's documents by a space and SVMs that did not see them."""
        learner = replace(parameters.learner(training), C=fit.C)

        def learn(space: Space, learning: TrainingSet) -> Fit:
            X = check_vectors(stacked(space.fit(learning.documents, learning.targets)))
            return learner.over_dense(X).problem(X, learning.stacked_targets(), self.name).fit_whole()

        folds = training.stacked_folds()
        held_out = np.full_like(fit.held_out, REJECTED)  # where there is nothing to learn from
        numbers = np.unique(folds)
        shown = bool(parameters.verbose)
        with progress_bar(f"{self.name} without a fold", len(numbers), shown, "folds") as advance:
            for fold in numbers:
                others = folds != fold
                if others.any():
                    scores, _ = scores_after_learning(clone(space), training, others, learn)
                    held_out[~others] = scores[~others]
                advance(1)
        return held_out

    def usable(self, parameters: P, languages: Sequence[str], chosen: Any = None) -> list[str]:
        return self.space(parameters, 0).usable(languages)

    def serves_unseen(self, parameters: P, language: str) -> bool:
        return self.space(parameters, 0).serves(language)


class FitOnAll(Protocol):
    """A learner fitted on documents; `funnelling.svm.Fit` is one."""

    @property
    def scores(self) -> Floats: ...
    def scorer(self) -> Scorer: ...


def scores_after_learning(
    space: Space, training: TrainingSet, rows: Rows, fit: Callable[[Space, TrainingSet], FitOnAll]
) -> tuple[Floats, Scorer]:
    """Scores of all training documents after a space and ``fit`` learned from some, and what gave them.

    This is for supervised spaces: their vectors of training documents betray the labels, so a classifier
    that is held out from the documents is not enough, and the space is fitted anew as well. Documents that
    the space cannot see then are rejected.
    """
    learning = training.select(by_language(rows, training.sizes))
    fitted = fit(space, learning)
    scores = np.full((len(rows), training.columns), REJECTED, dtype=np.float32)
    scores[rows] = fitted.scores
    others = by_language(~rows, training.sizes)
    for language, of_language in by_language(scores, training.sizes).items():
        places = np.flatnonzero(others[language])
        if len(places) and (language in learning.targets or space.serves(language)):
            documents = take_rows(training.documents[language], places)
            of_language[places] = fitted.scorer().scores(space.vectors(language, documents))
    return scores, fitted.scorer()


Result = TypeVar("Result")


def fit_languages(
    fit: Callable[[str, Any], Result], learners: Mapping[str, Any], training: TrainingSet
) -> dict[str, Result]:
    """What ``fit(language, learner)`` gives for each language; the learner has its share of the threads.

    Languages are fitted side by side where none of them needs a kernel matrix: two of those at once would
    take twice the memory.
    """
    languages = list(learners)
    small = all(
        isinstance(learner, SVM) and learner.plan(training.vectors[language], "").form == "vectors"
        for language, learner in learners.items()
    )
    at_once, threads = share_threads(training.n_jobs, len(languages) if small else 1)
    if small and not is_local():  # threads of ours only hand out work, and a cluster wants all there is
        at_once, threads = len(languages), 1
    stop = np.zeros(1, dtype=np.uint8)

    def fit_one(k: int) -> Result:
        learner = learners[languages[k]]
        further = {"stop": stop} if isinstance(learner, SVM) else {}
        return fit(languages[k], replace(learner, n_jobs=threads, **further))

    results = map_threads(for_threads(fit_one), len(languages), at_once, stop if at_once > 1 else None)
    return dict(zip(languages, results, strict=True))
