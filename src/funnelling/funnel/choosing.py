"""Which views, and which tier 2: decided on outer folds over the training documents alone.

In each round everything is refitted without a fifth of the documents, vocabulary, base classifiers and
calibration, and each candidate is measured on that fifth. A view is fitted once per round, however many
candidates it takes part in, and a candidate costs one small fit of tier 2 for each C. Candidates that are
hopelessly behind after a round take no part in the next, and where no other can be ahead by an amount that
matters, there is none. Work is bounded, not time: the same seed chooses the same.

Of candidates that noise might have put in their order the first is taken: with sixty documents per
language the best of seven is luck. Where documents have one label each, the likelihood of the held-out ones
decides, languages weighing alike and rare labels more; else the mean of the paper's four measures.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.corpus.labels import LabelSpace
from funnelling.evaluation.measures import Counts
from funnelling.evaluation.registry import MEASURES, mean_measures, mean_of_four, measures_to_test_by
from funnelling.folds import deal_folds
from funnelling.funnel.choice import CandidateConfig, Choice
from funnelling.funnel.combination import Combination
from funnelling.funnel.design import AUTO, ODDS, FunnelConfig
from funnelling.funnel.learners import balance, by_class
from funnelling.funnel.tier_one import ViewPosteriors
from funnelling.funnel.tier_two import tier_two_meta_features
from funnelling.funnel.views import fit_views
from funnelling.matrices import Floats, Rows, Targets, by_language
from funnelling.methods.training_set import TrainingSet
from funnelling.runtime.progress import HIDDEN_PROGRESS, Progress, progress_bar
from funnelling.spaces import OWN, make_space, named_views
from funnelling.svm import SVM
from funnelling.svm.calibration import fit_temperature
from funnelling.svm.learner import Problem, Search
from funnelling.text.counts import counted_once
from funnelling.text.tfidf import fit_own

OUTER_FOLDS = 5  # a round holds one of so many out
MIN_ROUNDS = 2
MIN_HELD_OUT_DOCUMENTS = 1_000  # further rounds run until so many documents were held out
MIN_DOCUMENTS = 20  # with fewer, candidates cannot be compared
MAX_WORK = 7e5  # documents times labels of a round; of a larger corpus a sample is taken
MIN_SAMPLE_DOCUMENTS = 1_500  # documents
MAX_DOCUMENTS = 20_000  # of a round: tier 2 takes the square of them
MAX_WEIGHTS = 5e7  # of base classifiers over each language's features, 4 bytes each: models stay small
MONOLINGUAL_FEATURE_FACTOR = 3  # how many more features there are where each language has its own, about
N_THRESHOLDS = 15  # that a candidate's scores are tried with
DROP_AFTER_SE = 3.0  # standard errors behind another candidate: no further round is run
MIN_DOCUMENTS_TO_DROP = 300  # documents held out, from which on a candidate may be dropped
TIE_MARGIN = 0.003  # of what they go by: a candidate that might be ahead by less is not waited for

MIXED, OWN_MIXED = "mixed", "own-mixed"

Array = npt.NDArray[np.float64]


def candidates(design: FunnelConfig, texts: bool, languages: Sequence[str]) -> list[CandidateConfig]:
    """What may be chosen, in the order in which ties are decided.

    Of texts, own words with what all languages share come first, since such a model also learns a further
    language well, and the paper's funnel, which knows least, comes last. The SVM is before odds: with a few
    dozen documents it does better.
    """
    paper = CandidateConfig((OWN,), normalise=False, variant=design.variant)
    if not texts:
        return [paper, *_with_odds(design, (OWN,)), CandidateConfig((OWN,), combine=design.combine)]

    def visible(views: Sequence[str]) -> list[str]:
        return replace(design, views=named_views(views)).visible_languages(languages)

    needed = len(languages) if design.combine == "concat" else 1
    resources = design.resources
    further = [
        view
        for view, resource in (("embeddings", resources.embeddings), ("encoder", resources.encoder))
        if resource is not None and len(visible([view])) >= needed
    ]
    views: list[tuple[str, ...]] = [(OWN, MIXED), (MIXED,), (OWN, MIXED, OWN_MIXED)]
    for view in further:
        views += [(view,), (MIXED, view), (OWN, MIXED, OWN_MIXED, view)]
    if len(further) > 1:
        views.append((MIXED, *further))
    return [
        *(
            candidate
            for each in views
            if len(visible(each)) == len(languages)
            for candidate in (CandidateConfig(each, combine=design.combine), *_with_odds(design, each))
        ),
        paper,
    ]


def _with_odds(design: FunnelConfig, views: tuple[str, ...]) -> list[CandidateConfig]:
    """The views under a tier 2 of odds, unless the user asked for something that this is not."""
    given = design.final_estimator
    auto = isinstance(given, str) and given == AUTO and design.combine == "mean"
    return [CandidateConfig(views, combine=ODDS)] if auto and design.calibration == "platt" else []


def choose(design: FunnelConfig, training: TrainingSet) -> Choice:
    """The first candidate that noise does not tell from the best one."""
    pool = candidates(design, training.texts, list(training.targets))
    training = _sample(training)
    splits = list(_splits(training))
    if not splits:
        return _choice(pool[0], None)
    racing = pool
    records: dict[CandidateConfig, CandidateHistory] = {}
    steps = len({view for candidate in pool for view in candidate.views}) + len(pool)  # of a round
    total, texts = len(splits) * steps, training.documents if training.texts else {}
    with counted_once(texts), progress_bar("choosing", total, bool(design.verbose), "steps") as progress:
        for number, learning in enumerate(splits, 1):
            round_ = OuterFold(design, training, learning, progress, f"round {number} of {len(splits)}")
            if not records:
                racing = [candidate for candidate in pool if round_.is_worthwhile(candidate)]
            round_.fit(list(dict.fromkeys(view for each in racing for view in each.views)))
            for candidate in racing:
                records.setdefault(candidate, CandidateHistory()).add(dict(round_.measure(candidate)))
            progress.reach(number * steps)
            # The paper's funnel stays: the choice is reported beside it.
            rivals = [records[each] for each in racing]
            racing = [each for each in racing if not each.normalise or records[each].may_win(rivals)]
            best = max((records[each].best for each in racing), key=lambda measured: measured.quality)
            chosen = next(each for each in racing if not best.is_better_than(records[each].best))
            if records[chosen].is_settled(rivals):
                break
    rows = [{"name": str(each), "C": record.C, **record.best.measures} for each, record in records.items()]
    return _choice(chosen, records[chosen].C, rows)


class CandidateHistory:
    """What a candidate has reached so far, with each C that was tried in every round."""

    C: float | None  # the best one
    best: "CandidateScore"  # what it reaches

    def __init__(self) -> None:
        self._rounds: list[dict[float | None, CandidateScore]] = []

    def add(self, measured: dict[float | None, "CandidateScore"]) -> None:
        """Take down a further round."""
        self._rounds.append(measured)
        everywhere = [C for C in self._rounds[0] if all(C in each for each in self._rounds)]
        over_rounds = [(C, CandidateScore.over([each[C] for each in self._rounds])) for C in everywhere]
        self.C, self.best = max(over_rounds, key=lambda pair: pair[1].quality)

    def may_win(self, others: Iterable["CandidateHistory"]) -> bool:
        """Whether noise might still have put it behind others, who ran the same rounds."""
        enough = len(self.best.by_document) >= MIN_DOCUMENTS_TO_DROP
        return not (enough and any(other.best.is_better_than(self.best, DROP_AFTER_SE) for other in others))

    def is_settled(self, others: Iterable["CandidateHistory"]) -> bool:
        """Whether no other, who ran the same rounds, can be ahead of it by an amount that matters."""
        enough = len(self.best.by_document) >= MIN_HELD_OUT_DOCUMENTS
        return enough and not any(
            other.best.may_lead(self.best, TIE_MARGIN, DROP_AFTER_SE) for other in others
        )


@dataclass(frozen=True)
class CandidateScore:
    """How good a candidate is on documents held out: ``by_document`` is what its noise is judged by."""

    quality: float
    measures: dict[str, float]
    by_document: Array

    @classmethod
    def of(cls, targets: Mapping[str, Targets], scores: Floats, labels: LabelSpace) -> "CandidateScore":
        """That of scores, the languages below each other: at the temperature, or the threshold, that suits
        these documents best. That flatters all candidates a little, the more the fewer the documents.
        """
        truth = np.vstack(list(targets.values()))
        if labels.single_label:
            decided = labels.decide(scores)
            probabilities = fit_temperature(scores, truth)(scores)
            by_document = _log_likelihoods(probabilities, truth) * _balanced(targets)
        else:
            decided = scores > _best_threshold(scores, truth)
            hits = 2 * (decided & truth).sum(axis=1)
            assigned = decided.sum(axis=1) + truth.sum(axis=1)
            by_document = np.where(assigned, hits / np.maximum(assigned, 1), 1.0)
        measures = mean_measures(targets, decided, one_label=labels.single_label)
        quality = float(by_document.mean()) if labels.single_label else mean_of_four(measures)
        return cls(quality, {name: measures[name] for name in measures_to_test_by(measures)}, by_document)

    @classmethod
    def over(cls, rounds: Sequence["CandidateScore"]) -> "CandidateScore":
        """The mean over rounds."""
        measures = {
            name: float(np.mean([each.measures[name] for each in rounds])) for name in rounds[0].measures
        }
        return cls(
            float(np.mean([each.quality for each in rounds])),
            measures,
            np.concatenate([each.by_document for each in rounds]),
        )

    def is_better_than(self, other: "CandidateScore", errors: float = 1.0) -> bool:
        """Whether this is better by more than so many standard errors."""
        return self.quality - other.quality > errors * self._error_beside(other)

    def may_lead(self, other: "CandidateScore", amount: float, errors: float) -> bool:
        """Whether this may be better by more than an amount, if the difference is wrong by so many errors."""
        return self.quality - other.quality + errors * self._error_beside(other) > amount

    def _error_beside(self, other: "CandidateScore") -> float:
        """The standard error of the difference, document by document."""
        difference = self.by_document - other.by_document
        return float(np.std(difference) / np.sqrt(len(difference)))


def _log_likelihoods(probabilities: Array, truth: Targets) -> Array:
    """Compute the log probability of each document's own label."""
    logs: Array = np.log(np.maximum((by_class(probabilities) * by_class(truth)).sum(axis=1), 1e-12))
    return logs


def _balanced(targets: Mapping[str, Targets]) -> Array:
    """What each document counts, 1 in the mean: languages count alike, as they do in reports."""
    weights = np.concatenate([balance(truth) / len(truth) for truth in targets.values()])
    return weights * (len(weights) / len(targets))


def _best_threshold(scores: Floats, truth: Targets) -> float:
    """The score above which the answer yes gives the best F1, micro and macro, of all documents together."""
    density = max(float(truth.mean()), 1 / truth.size)
    thresholds = np.quantile(scores, np.clip(1 - density * np.geomspace(0.4, 2.5, N_THRESHOLDS), 0, 1))

    def f1(threshold: float) -> float:
        counts = Counts.of(truth, scores > threshold)
        return float(MEASURES["micro_f1"].of(counts) + MEASURES["macro_f1_paper"].of(counts))

    return max(map(float, thresholds), key=f1)


def _choice(chosen: CandidateConfig, C: float | None, tried: Sequence[dict[str, Any]] = ()) -> Choice:
    return Choice(list(chosen.views), chosen.normalise, C, list(tried), chosen.combine, chosen.variant)


def _sample(training: TrainingSet) -> TrainingSet:
    """The training documents, or so many that a round stays within its work; groups stay whole."""
    documents = training.size
    shares = min(int(np.ceil(documents * training.columns / MAX_WORK)), documents // MIN_SAMPLE_DOCUMENTS)
    shares = max(shares, int(np.ceil(documents / MAX_DOCUMENTS)))
    if shares < 2:
        return training
    assigned = training.folds_for("sample", shares)
    sizes = np.bincount(np.concatenate(list(assigned.values())), minlength=shares)
    # A large group may leave a share almost empty.
    chosen = 0 if sizes[0] >= documents / shares / 2 else int(sizes.argmax())
    return training.select({tag: share == chosen for tag, share in assigned.items()})


def _splits(training: TrainingSet) -> Iterator[dict[str, Rows]]:
    """Which documents each round learns from; none where there is too little to hold out.

    Folds have a fair share of each label, and groups are together.
    """
    if training.size < MIN_DOCUMENTS:
        return
    sizes = training.sizes
    languages = [language for language, size in sizes.items() for _ in range(size)]
    own_groups = ((training.blocks[tag].grouping, size) for tag, size in sizes.items())
    groups = [group for own, size in own_groups for group in ([None] * size if own is None else own)]
    labels = [np.flatnonzero(row).tolist() for row in training.stacked_targets()]
    dealt = deal_folds(OUTER_FOLDS, languages, groups, labels, training.seed, "choice")
    folds = by_language(dealt, sizes)
    rounds = int(np.ceil(MIN_HELD_OUT_DOCUMENTS * OUTER_FOLDS / training.size))
    for number in range(min(max(MIN_ROUNDS, rounds), OUTER_FOLDS)):
        learning = {language: fold != number for language, fold in folds.items()}
        for rows in learning.values():
            if not rows.any():  # a language of which nothing would be left stays whole
                rows[:] = True
        if any((~rows).any() for rows in learning.values()):
            yield learning


class OuterFold:
    """One split: views fitted on one side, and their posteriors of both."""

    def __init__(
        self,
        design: FunnelConfig,
        training: TrainingSet,
        learning: Mapping[str, Rows],
        progress: Progress = HIDDEN_PROGRESS,
        name: str = "",
    ) -> None:
        self._progress, self._name = progress, name
        progress.doing(f"{name}, words")
        self.design = replace(design, verbose=0, resources=replace(design.resources, verbose=0, begun={}))
        self.training = training.select(learning)
        self.held_out = training.select({language: ~rows for language, rows in learning.items()})
        self.vectorizers: dict[str, Any] | None = None
        vectors = self.training.documents
        if training.texts:
            self.vectorizers, vectors = fit_own(self.training.documents, design.vectorizer)
        self.training = replace(self.training, vectors=vectors)
        self._posteriors: ViewPosteriors = {}
        self._held_out_posteriors: dict[str, dict[str, Floats]] = {}

    def is_worthwhile(self, candidate: CandidateConfig) -> bool:
        """Whether the base classifiers of a candidate would have a size that a model should have."""
        learner = self.design.base_learner(MIXED, self.training.seed)
        if OWN_MIXED not in candidate.views or not isinstance(learner, SVM):
            return True
        space = make_space(MIXED, self.design.resources, self.training.seed)  # the view takes it over
        width = next(iter(space.fit(self.training.documents, self.training.targets).values())).shape[1]
        return width * self.training.columns * MONOLINGUAL_FEATURE_FACTOR <= MAX_WEIGHTS

    def fit(self, views: Collection[str]) -> None:
        """Fit views, for posteriors of the documents learned from and of those held out."""
        self._progress.doing(f"{self._name}, views {', '.join(views)}")
        design = replace(self.design, views=named_views(list(views)))
        fitted, self._posteriors = fit_views(design, self.training, self.vectorizers)
        for view, known in self._posteriors.items():
            asked = {tag: each for tag, each in self.held_out.documents.items() if tag in known}
            self._held_out_posteriors[view] = fitted.posteriors_in(view, asked)
        self.design.resources.begun.clear()  # tier 2 needs the memory
        self._progress(len(views))

    def measure(self, candidate: CandidateConfig) -> Iterator[tuple[float | None, CandidateScore]]:
        """How good a candidate is with each C that is tried; None is that of a tier 2 without one."""
        self._progress.doing(f"{self._name}, {candidate}")
        design = candidate.applied_to(self.design)
        posteriors = {view: self._posteriors[view] for view in candidate.views}
        labels, targets = self.training.labels, self.training.stacked_targets()
        combination, taught = Combination.fit(design, self.training.targets, posteriors, labels)
        held_out = {view: self._held_out_posteriors[view] for view in candidate.views}
        asking = np.vstack([combination.points_in(tag, held_out) for tag in self.held_out.targets])
        learner = design.meta_learner(int(targets.any(axis=0).sum()), labels, self.training.seed)
        problem = learner.problem(tier_two_meta_features(design, taught), targets)
        fits: Iterable[Any]
        if isinstance(problem, Problem) and problem.learner.given_c is None:
            fits = problem.path()
        else:
            fits = [problem.fit_whole()]
        learned = np.flatnonzero(targets.any(axis=0) | labels.single_label)  # others say nothing
        if not len(learned):  # the only positives there are may all be held out
            learned = np.arange(targets.shape[1])
        held_out_targets = {tag: rows[:, learned] for tag, rows in self.held_out.targets.items()}
        search = Search()
        for fit in fits:
            scores = fit.scorer().scores(asking)[:, learned]
            measured = CandidateScore.of(held_out_targets, scores, labels)
            yield getattr(fit, "C", None), measured
            search.improves(measured.quality)
            if search.is_over and design.meta_C != "grid":
                break
        self._progress(1)
