"""Thresholds of a fitted funnel for another goal, from out-of-fold scores, or from those of new documents.

What is shown of them is out of fold, too: each fold's documents are decided by thresholds of the other folds.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.corpus import Corpus
from funnelling.corpus.blocks import Block
from funnelling.corpus.labels import label_columns
from funnelling.errors import InputError
from funnelling.evaluation.measures import ALL_LABELS, Columns, Counts, IntArray
from funnelling.evaluation.registry import MEASURES, counts_by_language
from funnelling.funnel.design import FunnelConfig
from funnelling.funnel.fitted import FittedFunnel
from funnelling.funnel.ranking import LabelThresholdCurves
from funnelling.funnel.thresholds import (
    PER_LABEL,
    Goal,
    ThresholdTuning,
    TunedThresholds,
    parse_goal,
    tuned_as,
    tuned_for,
)
from funnelling.funnel.zero_shot import language_folds
from funnelling.matrices import Floats, Folds, Targets
from funnelling.methods.model import Model
from funnelling.methods.training_set import Calibrator, TrainingSet
from funnelling.svm import Calibration

logger = logging.getLogger(__name__)

MAX_LABELS_SHOWN = 5
MISS_TOLERANCE_SE = 2.0  # standard errors by which a share may miss its goal
FIGURES = ("precision", "recall", "f1", "labels_per_document")

Figures = dict[str, float]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ThresholdChange:
    """What other thresholds change: counts by language, and each label's probability above which it is given.

    ``tuned`` are the labels that the ``goal`` is for, all or some of ``labels``. Counts are of documents that
    neither tier has seen, decided by thresholds that were tuned without them.
    """

    goal: str
    labels: list[str]
    tuned: list[str]
    thresholds_before: Array
    thresholds_after: Array
    before: dict[str, IntArray]
    after: dict[str, IntArray]

    def total(self) -> dict[str, Figures]:
        """Precision, recall, F1 and labels per document, before and after, of all languages together."""
        return {when: figures(counts) for when, counts in self._counts(self._columns()).items()}

    def by_language(self) -> dict[str, dict[str, Figures]]:
        """The same of each language."""
        columns = self._columns()
        return {
            language: {when: figures(counts) for when, counts in self._counts(columns, language).items()}
            for language in self.after
        }

    def per_label(self) -> list[dict[str, Any]]:
        """The same of each label that was tuned, with its thresholds; those that changed most come first."""
        rows = []
        for column in self._columns():
            counts = self._counts([column])
            rows.append(
                {
                    "label": self.labels[column],
                    "documents": int((counts["after"].tp + counts["after"].fn).item()),
                    "threshold": {
                        "before": float(self.thresholds_before[column]),
                        "after": float(self.thresholds_after[column]),
                    },
                    **{when: figures(each) for when, each in counts.items()},
                }
            )
        return sorted(rows, key=lambda row: (-_difference(row), row["label"]))

    def unreached(self) -> list[str]:
        """In lines, where the goal is missed by more than chance would have it; none where it is reached."""
        goal = parse_goal(self.goal)
        if goal.share is None:
            return []
        kind, share = goal.share
        if not goal.per_label:
            reached = _misses(self._counts(self._columns())["after"], goal)
            return [] if reached is None else [f"{self.goal} is not reached: {kind} is {reached:.3f}."]
        short = {
            self.labels[column]: reached
            for column in self._columns()
            if (reached := _misses(self._counts([column])["after"], goal)) is not None
        }
        worst = sorted(short, key=lambda label: (short[label], label))[:MAX_LABELS_SHOWN]
        named = ", ".join(f"{label} {short[label]:.3f}" for label in worst)
        more = ", …" if len(short) > len(worst) else ""
        counted = f"{len(short)} of {len(self.tuned)} labels"
        return [f"{kind}={share:g} is not reached by {counted}: {named}{more}."] if short else []

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "goal": self.goal,
            "labels": self.tuned,
            "total": self.total(),
            "languages": self.by_language(),
            "by_label": self.per_label(),
            "unreached": self.unreached(),
        }

    def _columns(self) -> list[int]:
        tuned = set(self.tuned)
        return [column for column, label in enumerate(self.labels) if label in tuned]

    def _counts(self, columns: list[int], language: str | None = None) -> dict[str, Counts]:
        """The counts of some labels before and after, in one language or in all together."""
        both = {"before": self.before, "after": self.after}
        if language is not None:
            both = {when: {language: tables[language]} for when, tables in both.items()}
        return {when: sum_of(tables).of_labels(columns) for when, tables in both.items()}


def sum_of(tables: Mapping[str, IntArray]) -> Counts:
    """The counts of all languages together."""
    return Counts.from_table(np.sum(list(tables.values()), axis=0))


def figures(counts: Counts) -> Figures:
    """Precision, recall and F1 of all labels together, and labels per document."""
    micro = {name: float(MEASURES[name].of(counts)) for name in ("precision", "recall", "micro_f1")}
    assigned = float((counts.tp + counts.fp).sum() / max(1, int(counts.documents)))
    return dict(zip(FIGURES, [*micro.values(), assigned], strict=True))


def _difference(row: Mapping[str, Any]) -> float:
    """How many more labels are given than before, or fewer, and whether right or wrong, per document."""
    before, after = row["before"], row["after"]
    return float(
        abs(after["labels_per_document"] - before["labels_per_document"])
        + row["documents"] * 1e-9 * abs(after["recall"] - before["recall"])
    )


def _misses(counts: Counts, goal: Goal) -> float | None:
    """The share that is reached, where it is less than was asked for by more than chance."""
    assert goal.share is not None
    kind, share = goal.share
    number = int((counts.tp + (counts.fn if kind == "recall" else counts.fp)).sum())
    reached = float(MEASURES[kind].of(counts))
    error = np.sqrt(share * (1 - share) / max(1, number))
    return reached if number and reached < share - MISS_TOLERANCE_SE * error else None


def tuned_columns(classes: npt.NDArray[Any], labels: Sequence[Any] | None) -> npt.NDArray[np.intp]:
    """Where a model has these labels, all by default; one that it does not have is refused."""
    if labels is None:
        return np.arange(len(classes))
    if not labels:
        raise InputError("No label to tune is named. Name some, or leave them out for all.")
    return np.unique(label_columns(classes, labels))


@dataclass(frozen=True)
class ThresholdTuningData:
    """Out-of-fold scores of documents, their truth, and what makes probabilities of them."""

    calibration: Calibration
    scores: Floats
    targets: dict[str, Targets]
    folds: Folds

    @classmethod
    def of(
        cls, calibrator: Calibrator, scores: Mapping[str, Floats], training: TrainingSet, folds: Folds
    ) -> "ThresholdTuningData":
        """``scores`` by language; training documents of the same languages, and their folds."""
        assert isinstance(calibrator, Calibration)
        stacked = np.vstack([scores[language] for language in training.targets])
        return cls(calibrator, stacked, training.targets, folds)

    def tuned(
        self, thresholds: Any, goal: Goal, columns: npt.NDArray[np.intp]
    ) -> tuple[Array, TunedThresholds]:
        """Thresholds in scores, those of some labels tuned for a goal, and what these labels' decide."""
        sizes = [len(rows) for rows in self.targets.values()]
        languages = np.repeat(np.arange(len(sizes)), sizes)
        whole = len(columns) == self.scores.shape[1]
        tuned = tuned_for(self._ranking if whole else self._ranked(columns.tolist()), languages, goal)
        after = np.array(np.broadcast_to(np.asarray(thresholds, dtype=np.float64), self.scores.shape[1]))
        after[columns] = tuned.in_scores(self.calibration, columns)
        return after, tuned

    @cached_property
    def _ranking(self) -> LabelThresholdCurves:
        return self._ranked(ALL_LABELS)

    def _ranked(self, columns: Columns) -> LabelThresholdCurves:
        targets = np.vstack(list(self.targets.values()))[:, columns]
        return LabelThresholdCurves(self.calibration(self.scores)[:, columns], targets, self.folds)

    def decided(self, thresholds: Any, goal: Goal | None) -> Targets:
        """What thresholds decide; those that were tuned on these documents, by those of the other folds."""

        def are_these(tuned: TunedThresholds) -> bool:
            return np.array_equal(tuned.in_scores(self.calibration), thresholds)

        tuned = None if goal is None else tuned_as(self._ranking, goal, are_these)
        decided: Targets = self.scores - thresholds > 0 if tuned is None else tuned.decided
        return decided

    def probabilities(self, thresholds: Any) -> Array:
        """Thresholds in scores as probabilities; .5 for a label that training left no choice about."""
        scores = np.broadcast_to(np.asarray(thresholds, dtype=np.float64), (1, self.scores.shape[1]))
        probabilities: Array = self.calibration(scores)[0]
        probabilities[self.calibration.trivial] = 0.5
        return probabilities


def check_tunable(model: Model, needs_scores: bool = True) -> FittedFunnel:
    """What a model fitted; refused where it has no thresholds to tune, or stores no scores to tune on."""
    fitted = model.fitted
    if model.labels.sparse:
        raise InputError(
            "fun-many has one threshold for all labels of a language, and none to tune yet. Set another with "
            "predict --threshold."
        )
    if not isinstance(fitted, FittedFunnel):
        raise InputError("Only funnels have thresholds to tune. Train one with --goal.")
    if not model.labels.has_thresholds:
        raise InputError("The model gives one label per document, and has no thresholds to tune.")
    if fitted.zero_shot is not None and fitted.zero_shot.tier_two is None:
        raise InputError(
            "A model with zero_shot_joint cannot be tuned. Train it again with thresholds for the goal."
        )
    if needs_scores and (model.archive is None or fitted.kept is None):
        raise InputError(
            "The model is compact, or of a large corpus: it stores no scores of its training documents. Name "
            "a file of other labelled documents, or train it again with --goal."
        )
    return fitted


def _with_scores(model: Model, documents: Corpus) -> tuple[TrainingSet, dict[str, Floats]]:
    """Documents that the model has not seen, in languages that it has, and its scores of them."""
    blocks, scores = {}, {}
    for language, rows in documents.by_language().items():
        part = documents.select(rows)
        blocks[language] = Block.of(part.ids, part.groups, part.label_matrix(model.labels.classes.tolist()))
        scores[language] = model.fitted.scores(language, part.texts, model.run).scores
    return TrainingSet(blocks=blocks, kind="none", labels=model.labels), scores


def tune(
    model: Model,
    goal: str,
    labels: Sequence[Any] | None = None,
    per_label: bool = False,
    documents: Corpus | None = None,
) -> tuple[Model, ThresholdChange]:
    """A model with thresholds for another goal, and what that changes.

    ``labels`` are those to tune, None for all; ``per_label`` asks recall or precision of each on its own.
    Thresholds are tuned on ``documents`` that the model has not seen, or else on what it kept of its fit.
    """
    fitted, archive = check_tunable(model, documents is None), model.archive
    goal += PER_LABEL * (per_label and not goal.endswith(PER_LABEL))
    parameters: Any = model.parameters.copied(**model.built)
    before = FunnelConfig.of(parameters).goal
    kept, unseen, tier_two = fitted.kept, fitted.zero_shot, fitted.learned.tier_two
    columns = tuned_columns(model.labels.classes, labels)
    stored = None if archive is None or kept is None else TrainingSet.of(archive, model.labels)
    if documents is not None:
        (training, scores), before = _with_scores(model, documents), None
    else:
        assert stored is not None
        assert kept is not None
        training, scores = stored, dict(kept.scores)
    held_out = ThresholdTuningData.of(tier_two.calibrator, scores, training, training.stacked_folds())
    after, tuned = held_out.tuned(tier_two.thresholds, parse_goal(goal), columns)
    decided = held_out.decided(tier_two.thresholds, before)
    decided_after = decided.copy()
    decided_after[:, columns] = tuned.decided
    names = [str(label) for label in model.labels.classes]
    change = ThresholdChange(
        goal,
        names,
        [names[column] for column in columns.tolist()],
        held_out.probabilities(tier_two.thresholds),
        held_out.probabilities(after),
        counts_by_language(training.targets, decided),
        counts_by_language(training.targets, decided_after),
    )
    counts = change.after
    if stored is not None and kept is not None:
        out_of_fold = np.vstack([kept.scores[language] for language in stored.targets])
        counts = counts_by_language(stored.targets, out_of_fold - after > 0)
    tier_two = replace(tier_two, thresholds=after, held_out=counts)
    others = None if kept is None or documents is not None else kept.zero_shot_scores
    if (
        unseen is not None
        and unseen.tier_two is not None
        and others
        and all(len(rows) == len(training.targets[tag]) for tag, rows in others.items())
    ):
        seen = training.only(list(others))
        other = ThresholdTuningData.of(unseen.tier_two.calibrator, others, seen, language_folds(seen))
        their, _ = other.tuned(unseen.tier_two.thresholds, parse_goal(goal), columns)
        unseen = replace(unseen, tier_two=replace(unseen.tier_two, thresholds=their))
    elif unseen is not None:
        logger.warning("Thresholds of languages without training documents stay as they were.")
    fitted = replace(fitted, learned=replace(fitted.learned, tier_two=tier_two), zero_shot=unseen)
    if labels is not None:
        return replace(model, fitted=fitted), change
    stays = ThresholdTuning(goal.removesuffix(PER_LABEL), per_label=PER_LABEL in goal, min_threshold=0.0)
    remembered = model.parameters.copied(thresholds=stays)
    built = {name: value for name, value in model.built.items() if name not in model.algorithm.tuned_by}
    return replace(model, fitted=fitted, parameters=remembered, built=built), change
