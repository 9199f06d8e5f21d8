"""What experiments run on: trials with kept results, and the funnels of a trial, no part fitted twice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from funnelling.corpus import Corpus
from funnelling.corpus.blocks import Block
from funnelling.corpus.labels import MULTILABEL, LabelSpace
from funnelling.evaluation.comparison import Comparison
from funnelling.evaluation.measures import ALL_LABELS, Counts
from funnelling.evaluation.pieces import Result, ResultCache, trial_digest
from funnelling.evaluation.registry import PAPER_MEASURES, SINGLE_LABEL_MEASURES, measure_counts
from funnelling.evaluation.splits import Trial
from funnelling.funnel.design import FunnelConfig
from funnelling.funnel.tier_one import fit_own_words
from funnelling.matrices import Floats, Folds, Scores, Targets, dense
from funnelling.methods.learning import Method
from funnelling.methods.registry import Settings, make_method
from funnelling.methods.training_set import TrainingSet
from funnelling.randomness import stream
from funnelling.runtime.messages import Reporter, silent
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
        block = Block.of(train.ids, train.groups, targets, content=vectors[language])
        training = TrainingSet(
            blocks={language: block},
            kind="vectors",
            labels=self.labels,
            vectors=vectors,
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


FRACTIONS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)


@dataclass
class ExperimentContext:
    """Trials, methods and their settings; ``pieces`` keep every result as it comes.

    ``marks`` say for each method what its results depend on beside the documents and the seed.
    """

    trials: Sequence[Trial]
    methods: Sequence[str]
    fractions: Sequence[float] = FRACTIONS
    seed: int = 0
    jobs: int | None = None
    pieces: ResultCache = field(default_factory=ResultCache)
    settings: Settings = field(default_factory=dict)
    resources: Mapping[str, Any] = field(default_factory=dict)
    marks: Mapping[str, Any] = field(default_factory=dict)
    report: Reporter = silent
    verbose: int = 0
    _funnels: dict[int, Funnels] = field(default_factory=dict, init=False)
    _results: dict[str, list[Result]] = field(default_factory=dict, init=False)
    _reported: set[str] = field(default_factory=set, init=False)

    def make(self, name: str, seed: int, **parameters: Any) -> Method:
        """An unfitted method by name, with parameters that the experiment is about."""
        method = make_method(
            name,
            seed=seed,
            jobs=self.jobs,
            verbose=self.verbose,
            settings=self.settings,
            resources=self.resources,
        )
        return method.under(**parameters)

    def compare(self, names: Sequence[str], **variants: Mapping[str, Any]) -> Comparison:
        """Methods, and variants of Fun(TAT) by a name of their own, on every trial."""
        makers = {name: partial(self.make, name) for name in names}
        makers |= {name: partial(self.make, "fun-tat", **parameters) for name, parameters in variants.items()}
        marks = {
            name: [self.marks.get(name if name in names else "fun-tat"), variants.get(name)]
            for name in makers
        }
        return Comparison(self.trials, makers, self.seed, self.pieces, marks, self._report_once)

    def _report_once(self, line: str, more: str = "") -> None:
        """Report a line, unless it was before: several experiments read the same results."""
        if line not in self._reported:
            self._reported.add(line)
            self.report(line + more)

    def piece(self, name: str, number: int, key: Any, make: Callable[..., Result], *arguments: Any) -> Result:
        """A result of an experiment on a trial: the one that is kept, or else ``make(*arguments)``."""
        is_kept = True

        def make_and_note() -> Result:
            nonlocal is_kept
            is_kept = False
            return make(*arguments)

        depends_on = [self._digests[number], self.seed + number, self.marks.get("fun-tat"), name, key]
        result = self.pieces.get(f"{name}-{number}", depends_on, make_and_note)
        self._report_once(f"trial {number + 1}/{len(self.trials)} {name}", " (kept)" if is_kept else "")
        return result

    @property
    def one_label(self) -> bool:
        """Whether each document has exactly one label and is given one."""
        return self.trials[0].train.one_label

    @property
    def measures(self) -> Sequence[str]:
        """The measures of figures and tables."""
        return (*SINGLE_LABEL_MEASURES, *PAPER_MEASURES) if self.one_label else PAPER_MEASURES

    @cached_property
    def languages(self) -> list[str]:
        """The languages that every trial has documents in, to learn from and for test."""
        sides = [set(side.by_language()) for trial in self.trials for side in (trial.train, trial.test)]
        return sorted(set.intersection(*sides))

    def funnels(self, number: int) -> Funnels:
        """A trial's funnels, with the C that it chose; only those of one trial are held."""
        if number not in self._funnels:
            self._funnels.clear()
            design: Any = self.make("fun-tat", self.seed + number).parameters
            self._funnels[number] = Funnels(
                self.trials[number], FunnelConfig.of(design), self.meta_cs()[number], self.seed + number
            )
        return self._funnels[number]

    def results(self, name: str) -> list[Result]:
        """What a method by itself scored, trial by trial."""
        if name not in self._results:
            self._results[name] = self.compare([name]).results()[0][name]
        return self._results[name]

    def meta_cs(self) -> list[float]:
        """Tier 2's C of each trial, chosen once, by Fun(TAT) on all training documents."""
        return [float(result["C"]) for result in self.results("fun-tat")]

    @cached_property
    def _digests(self) -> list[str]:
        return [trial_digest(trial) for trial in self.trials]
