"""Fun(TAT) on many choices of one trial's training documents, no part of it fitted twice.

Where only one language's documents change, the base classifiers of all others stay; where a language is
left out, even the kernel matrix of tier 2 does, and with it its gamma, though a label that only that language
has would not count in it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.corpus import Corpus
from funnelling.evaluation.counts import Counts
from funnelling.funnel.tier_one import fit_tier_one
from funnelling.matrices import Floats
from funnelling.method.training_set import FOLDS
from funnelling.randomness import assign_folds, stream
from funnelling.svm import SVM, Scorer
from funnelling.svm.learner import Problem
from funnelling.text.vocabularies import fit_own
from funnelling.trials.splits import Trial

Targets = npt.NDArray[np.bool_]


class Base(NamedTuple):
    """One language's documents as its base classifiers see them; it may have none for test."""

    training: Floats
    targets: Targets
    test: Floats
    truth: Targets


class Funnels:
    """A trial's funnels, all with the same parameters and the same C of tier 2.

    ``template`` is an unfitted Fun(TAT). A funnel over all documents decides as the template itself would
    with that ``meta_C``.
    """

    def __init__(self, trial: Trial, template: Any, C: float, seed: int) -> None:
        self.classes = trial.train.label_set()
        self.languages = list(trial.train.by_language())
        self._trial = trial
        self._template = template
        self._C = C
        self._seed = seed
        self._bases: dict[tuple[str, float], Base] = {}

    def documents(self, language: str, fraction: float = 1.0) -> Corpus:
        """A share of a language's training documents, at least two; smaller shares lie within larger ones."""
        rows = self._trial.train.by_language()[language]
        order = stream(self._seed, "fraction", language).permutation(len(rows))
        kept = max(round(fraction * len(rows)), 2)
        return self._trial.train.select(rows[np.sort(order[:kept])])

    def tests(self, language: str) -> Corpus:
        """A language's test documents."""
        return self._trial.test.select([tag == language for tag in self._trial.test.languages])

    def base(self, language: str, fraction: float = 1.0) -> Base:
        """A language's documents through base classifiers that learned from a share of them."""
        key = (language, fraction)
        if key not in self._bases:
            self._bases[key] = self._fit_base(language, self.documents(language, fraction))
        return self._bases[key]

    def _fit_base(self, language: str, train: Corpus) -> Base:
        template = self._template
        vectorizers, vectors = fit_own({language: train.texts}, template.vectorizer)
        targets = train.label_matrix(self.classes)
        groups = train.groups if any(train.groups) else None
        folds = assign_folds(FOLDS, len(train), self._seed, "folds", language=language, groups=groups)
        learner = SVM(template.base_C, memory_limit=template.memory_limit, n_jobs=template.n_jobs)
        problem = learner.problem(vectors[language], targets, f"language {language!r}")
        tier_one, posteriors = fit_tier_one(problem, folds, template.calibration, None, template.n_jobs)
        test = self.tests(language)
        vectors_of_test = vectorizers[language].transform(test.texts)
        return Base(
            posteriors.training,
            targets,
            tier_one.posteriors(vectors_of_test),
            test.label_matrix(self.classes),
        )

    def tier_two(self, shares: Mapping[str, float]) -> "TierTwo":
        """The problem of tier 2 over these shares of the languages' documents."""
        return TierTwo(self, {language: self.base(language, share) for language, share in shares.items()})

    def problem(self, training: Floats, targets: Targets) -> Problem:
        """What tier 2 learns from posteriors."""
        template = self._template
        labels = int(targets.any(axis=0).sum())
        gamma = 1 / max(labels, 1) if template.meta_gamma is None else template.meta_gamma
        learner = SVM(self._C, gamma=gamma, memory_limit=template.memory_limit, n_jobs=template.n_jobs)
        return learner.problem(training, targets, "tier 2")


class TierTwo:
    """Tier 2 over some documents of some languages."""

    def __init__(self, funnels: Funnels, bases: Mapping[str, Base]) -> None:
        self._bases = bases
        self._rows = np.repeat(list(bases), [len(base.targets) for base in bases.values()])
        self._problem = funnels.problem(
            np.vstack([base.training for base in bases.values()]),
            np.vstack([base.targets for base in bases.values()]),
        )
        self._whole = self._problem.fit_whole()

    def counts(self, language: str, without: str | None = None) -> Counts:
        """How a language's test documents are decided, by a tier 2 that may have to do without another's."""
        fit = self._whole
        if without is not None:
            fit = self._problem.fit_whole(self._rows != without, start=self._whole)
        return decided(fit.scorer(), self._bases[language])


def decided(scorer: Scorer, base: Base) -> Counts:
    """The counts of a meta-classifier's decisions on a language's test documents."""
    return Counts.of(base.truth, scorer.scores(base.test) > 0)
