"""Fun(TAT) on many choices of one trial's training documents, no part of it fitted twice.

Where only one language's documents change, the base classifiers of all others stay; where a language is
left out, even the kernel matrix of tier 2 does, and with it its gamma, though a label that only that language
has would not count in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from funnelling.corpus import Corpus
from funnelling.corpus.labels import MULTILABEL, LabelSpace
from funnelling.evaluation.measures import ALL_LABELS, Counts
from funnelling.evaluation.registry import measure_counts
from funnelling.evaluation.splits import Trial
from funnelling.funnel.design import FunnelConfig
from funnelling.funnel.tier_one import fit_own_words
from funnelling.matrices import Floats, Folds, Scores, Targets, dense
from funnelling.methods.training_set import TrainingSet
from funnelling.randomness import stream
from funnelling.svm import CSetting, Scorer
from funnelling.svm.learner import Problem
from funnelling.text.tfidf import fit_own


class Base(NamedTuple):
    """One language's documents as its base classifiers see them; it may have none for test."""

    training: Floats
    targets: Targets
    folds: Folds
    test: Floats
    truth: Targets


class Funnels:
    """A trial's funnels, all with the same parameters.

    ``design`` is that of Fun(TAT). A `tier_two` has the given ``C``: over all documents it decides as an
    estimator of that design would with it as ``meta_C``. A tier 2 of its own chooses its own. A text without
    any known word, to which estimators give no label, is decided by its scores like the others.
    """

    def __init__(self, trial: Trial, design: FunnelConfig, C: float, seed: int) -> None:
        self.classes = trial.train.label_set()
        self.labels = LabelSpace(np.array(self.classes, dtype=object), trial.train.one_label)
        # Whoever gives one label is wrong about those that are unknown to training.
        self._unknown = (
            sorted(set(trial.test.label_set()) - set(self.classes)) if trial.train.one_label else []
        )
        self.languages = list(trial.train.by_language())
        self._trial = trial
        self._design = replace(design, verbose=0)
        self.C = C
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
        vectorizers, vectors = fit_own({language: train.texts}, self._design.vectorizer)
        targets = dense(self.labels.learned(train.label_matrix(self.classes)))
        training = TrainingSet(
            vectors,
            vectors,
            {language: targets},
            {language: train.groups if any(train.groups) else None},
            {language: train.ids},
            texts=False,
            labels=self.labels,
            seed=self._seed,
            n_jobs=self._design.n_jobs,
        )
        tier_one, posteriors = fit_own_words(self._design, training)[language]
        test = self.tests(language)
        vectors_of_test = vectorizers[language].transform(test.texts)
        return Base(
            posteriors.training,
            targets,
            training.folds[language],
            tier_one.posteriors(vectors_of_test),
            self.truth(test),
        )

    def truth(self, test: Corpus) -> Targets:
        """The labels of test documents, as `counts` takes them."""
        return test.label_matrix([*self.classes, *self._unknown])

    def counts(self, truth: Targets, scores: Scores) -> Counts:
        """How documents are decided that have these scores, one column per label that was learned."""
        (decisions,) = self.labels.by_class({"": self.labels.decide(scores)}).values()
        return self.count(truth, dense(decisions))

    def count(self, truth: Targets, decisions: Targets) -> Counts:
        """The counts of decisions on the classes."""
        unknown = np.zeros((len(truth), truth.shape[1] - decisions.shape[1]), dtype=bool)
        return Counts.of(truth, np.hstack([decisions, unknown]))

    def measure(self, counts: Counts) -> dict[str, float]:
        """Every measure of decisions, over the classes."""
        return measure_counts(counts, self.labels.single_label, slice(len(self.classes)))

    def tier_two(self, shares: Mapping[str, float]) -> "SharedGram":
        """Tier 2 over these shares of the languages' documents."""
        return SharedGram(self, {language: self.base(language, share) for language, share in shares.items()})

    def problem(
        self, training: Floats, targets: Targets, C: CSetting, labels: LabelSpace = MULTILABEL
    ) -> Problem:
        """What tier 2 learns from posteriors; ``labels`` are how C is chosen where it is not given."""
        learner = replace(self._design.meta_svm(int(targets.any(axis=0).sum()), labels), C=C)
        return learner.problem(training, targets, "tier 2")

    def own_tier_two(self, bases: Sequence[Base], labels: slice = ALL_LABELS) -> Scorer:
        """A meta-classifier of some languages and labels alone, with a C of its own."""
        training = np.vstack([base.training[:, labels] for base in bases])
        targets = np.vstack([base.targets[:, labels] for base in bases])
        folds = np.concatenate([base.folds for base in bases])
        space = self.labels if labels == ALL_LABELS else MULTILABEL
        return self.problem(training, targets, self._design.meta_C, space).fit(folds).scorer()


class SharedGram:
    """Tier 2 over some documents of some languages, its kernel matrix made once for all choices of them."""

    def __init__(self, funnels: Funnels, bases: Mapping[str, Base]) -> None:
        self._funnels, self._bases = funnels, bases
        self._rows = np.repeat(list(bases), [len(base.targets) for base in bases.values()])
        self._problem = funnels.problem(
            np.vstack([base.training for base in bases.values()]),
            np.vstack([base.targets for base in bases.values()]),
            funnels.C,
        )
        self._whole = self._problem.fit_whole()

    def counts(self, language: str, without: str | None = None) -> Counts:
        """How a language's test documents are decided, by a tier 2 that may have to do without another's."""
        fit = self._whole
        if without is not None:
            fit = self._problem.fit_whole(self._rows != without, start=self._whole)
        base = self._bases[language]
        return self._funnels.counts(base.truth, fit.scorer().scores(base.test))
