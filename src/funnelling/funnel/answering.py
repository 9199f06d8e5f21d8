"""A fitted funnel that answers, and what it kept of its fit: held-out measures, and other thresholds."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.evaluation.measures import ALL_LABELS, Counts
from funnelling.evaluation.registry import measure_counts
from funnelling.funnel.choosing import Choice
from funnelling.funnel.design import FunnelConfig, is_auto
from funnelling.funnel.fitted import (
    ZERO_SHOT,
    FittedFunnel,
    counts_under,
    funnel_of,
    is_joint,
    zero_shot_funnel_of,
)
from funnelling.funnel.inheritance import FunnelArchive
from funnelling.funnel.thresholds import PER_LABEL, parse_goal
from funnelling.funnel.tier_two import ScoreThresholds
from funnelling.funnel.tuning import ThresholdChange, ThresholdTuningData, change_thresholds, tuned_columns
from funnelling.funnel.views import SharedView
from funnelling.funnel.zero_shot import language_folds
from funnelling.matrices import Scored, Scores
from funnelling.methods.explanation import Attribution, mean_posterior
from funnelling.methods.learning import Relabelling
from funnelling.methods.model import Method
from funnelling.methods.training_set import Calibrator
from funnelling.plain import check_fitted
from funnelling.spaces import Space
from funnelling.svm.scorers import SelectedScorer

logger = logging.getLogger(__name__)

# What a fitted funnel is built of: set afterwards, these hold from the next fit on.
BUILT_OF = ("views", "combine", "normalise", "zero_shot", "zero_shot_joint")


class FunnelMethod(Method):
    """A method whose fitted state is a funnel, or two: of languages learned, and of others."""

    encoder: Any
    choice_: Choice
    training_: FunnelArchive
    head_: Calibrator
    cuts_: ScoreThresholds
    shared_head_: Calibrator
    shared_cuts_: ScoreThresholds
    _KEPT = ("training_", f"{ZERO_SHOT}scores_", "_funnels")
    space_: Space
    shared_views_: dict[str, SharedView]
    held_out_: dict[str, npt.NDArray[np.int64]]

    def design(self) -> FunnelConfig:
        """What the parameters ask for, with what was chosen where ``views="auto"`` has been fitted."""
        chosen = is_auto(self._built_of()["views"]) and hasattr(self, "choice_")
        return self.choice_.applied_to(self._asked()) if chosen else self._asked()

    def _asked(self) -> FunnelConfig:
        """What the parameters ask for, before anything is chosen."""
        return FunnelConfig.of(self.get_params(deep=False) | self._built_of())

    def _built_of(self) -> dict[str, Any]:
        """The parameters that the funnel was, or is to be, built of."""
        return getattr(self, "_built", None) or {name: getattr(self, name) for name in BUILT_OF}

    def _remember(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def _assemble(self) -> None:
        self._funnels = self._assembled()  # when they are complete: another thread may be waiting for them

    def _assembled(self) -> list[FittedFunnel]:
        """Put funnels together from what was remembered, or loaded: that of known languages comes first."""
        check_fitted(self, "meta_")
        design, attributes = self.design(), vars(self)
        funnels = [funnel_of(design, attributes)]
        if hasattr(self, "space_"):
            funnels.append(zero_shot_funnel_of(attributes))
        return funnels

    def funnel(self, language: str) -> FittedFunnel:
        """The funnel of a language: that of all languages learned, or that which ``zero_shot`` asks for."""
        if not hasattr(self, "_funnels"):
            self._assemble()
        if self.encoder is not None and "encoder" in self.shared_views_:
            space: Any = self.shared_views_["encoder"].space
            space.found_at(self.encoder)  # it may have moved since the fit
        known = language in self.languages_ or len(self._funnels) == 1
        return self._funnels[0 if known else 1]

    def _scores(self, language: str, documents: Any) -> Scored:
        return self.funnel(language).scores(language, documents)

    def _scores_and_posteriors(self, language: str, documents: Any) -> tuple[Scored, Mapping[str, Scores]]:
        return self.funnel(language).scores_and_posteriors(language, documents)

    def _evidence(self, language: str, documents: Any) -> Attribution:
        return self.funnel(language).evidence(language, documents)

    def _calibrator(self, language: str) -> Calibrator:
        return self.funnel(language).tier_two.calibrator

    def _score_thresholds(self, language: str) -> ScoreThresholds:
        return self.funnel(language).tier_two.thresholds

    def tune(
        self, optimise: str, labels: Sequence[Any] | None = None, per_label: bool = False
    ) -> ThresholdChange:
        """Set thresholds for another goal, from what the model kept of its fit, and say what that changes.

        Thresholds are those of a fit with the same ``optimise``, to the bit, and it is remembered: a later
        `extend` goes by it. ``labels`` limits it to some, and other labels keep their thresholds; a later
        `extend` tunes all labels for the model's own goal again. ``per_label`` asks recall or precision of
        every label on its own instead of all together, which is the same as ``"recall=.9 per label"``.

        Returns
        -------
        change
            Its ``overall()`` and ``by_language()`` give precision, recall and F1 before and after, on
            documents that were held out.

        Examples
        --------
        >>> from funnelling import FunnellingClassifier
        >>> texts = ["the cat sleeps", "a dog barks", "the cat barks"] * 9
        >>> model = FunnellingClassifier(views=None, random_state=0)
        >>> _ = model.fit(texts, [["cat"], ["dog"], ["cat", "dog"]] * 9, ["en"] * 27)
        >>> change = model.tune("recall=.9")
        >>> change.goal, change.tuned
        ('recall=.9', ['cat', 'dog'])
        >>> model.tune("recall=.9", labels=["cats"])
        Traceback (most recent call last):
        funnelling.errors.InputError: The model has no label 'cats'. Near it: 'cat'.
        """
        text = optimise + PER_LABEL * (per_label and not optimise.endswith(PER_LABEL))
        goal = parse_goal(text)
        check_fitted(self, "classes_")
        self.check_tunable()
        columns = tuned_columns(self.classes_, labels)
        training = self.training_.training_set(dict.fromkeys(self.training_.targets), self.label_space)
        held_out = ThresholdTuningData.of(
            self.head_, self.training_.scores, training, training.stacked_folds()
        )
        before, cuts = self.design().goal, getattr(self, "cuts_", 0.0)
        cuts, change = change_thresholds(held_out, self.classes_, cuts, before, text, columns)
        tuned = {"cuts_": cuts, "held_out_": held_out.counts(held_out.scores - cuts > 0)}
        scores = getattr(self, "shared_scores_", {})
        if scores and all(len(rows) == len(training.targets[tag]) for tag, rows in scores.items()):
            seen = training.only(list(scores))
            unseen = ThresholdTuningData.of(self.shared_head_, scores, seen, language_folds(seen))
            tuned["shared_cuts_"] = unseen.with_tuned(self.shared_cuts_, unseen.tuned(goal, columns), columns)
        elif hasattr(self, "space_"):
            logger.warning("Thresholds of languages without training documents stay as they were.")
        if labels is None:
            tuned |= {"optimise": text, "calibrated": False}
        self._remember(tuned)  # all at once: a call that fails leaves the model as it was
        self.__dict__.pop("_funnels", None)
        return change

    def check_tunable(self) -> None:
        """Refuse a model whose thresholds cannot be tuned, whatever the goal is."""
        if self.label_space.single_label:
            raise InputError("The model gives one label per document, and has no thresholds to tune.")
        if is_joint(vars(self)):
            raise InputError("A model with zero_shot_joint cannot be tuned. Train it anew with optimise.")
        if not hasattr(self, "training_") or not self.training_.scores:
            raise InputError(
                "The model is compact, of a large corpus or of an earlier version: it keeps no scores of its "
                "training documents to tune thresholds on. Train it anew with --optimise."
            )

    def held_out_measures(self, labels: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
        """How good the model is on training documents that were held out from both tiers, by language.

        Vocabularies, and thresholds that were tuned, saw those documents.

        Parameters
        ----------
        labels : those to measure; by default all

        Returns
        -------
        dict
            For each language the measures by name, and the number of ``documents``.
        """
        check_fitted(self, "held_out_")
        columns = ALL_LABELS if labels is None else np.isin(self.classes_, labels)
        measures: dict[str, dict[str, float]] = {}
        for language, table in self.held_out_.items():
            counts = Counts.from_table(table)
            if table.shape[1] < len(self.classes_):  # one column stands for two classes
                counts = counts.of_both()
            by_name = measure_counts(counts, self.label_space.single_label, columns)
            measures[language] = {**by_name, "documents": int(counts.documents)}
        return measures

    def measures_under(self, relabelling: Relabelling) -> dict[str, dict[str, float]]:
        """What `held_out_measures` are where labels that are to be merged are taken for one.

        Nothing, where the model has not kept its scores of documents that were held out.
        """
        archive: FunnelArchive | None = getattr(self, "training_", None)
        if archive is None or not archive.scores:
            return {}
        thresholds = self._score_thresholds(self.languages_[0])
        labels = self.label_space
        return {
            language: {**measure_counts(counts, labels.single_label), "documents": int(counts.documents)}
            for language, counts in counts_under(relabelling, archive, thresholds, labels).items()
        }

    def held_out_posteriors(self) -> dict[str, npt.NDArray[np.float64]]:
        """The mean posterior that views gave training documents which they had not seen, by language.

        Nothing, where the model has not kept what it made of them.
        """
        archive: FunnelArchive | None = getattr(self, "training_", None)
        views = [] if archive is None else list(archive.held_out.values())
        languages = [] if archive is None else archive.sizes
        scorer = getattr(self, "meta_", None)
        selection = scorer.selection if isinstance(scorer, SelectedScorer) else None  # some were dropped

        def shown(posteriors: Scores) -> npt.NDArray[np.float64]:
            return self.label_space.probabilities(
                posteriors if selection is None else selection.of_posteriors(posteriors)
            )

        found = {tag: [shown(view[tag]) for view in views if tag in view] for tag in languages}
        return {tag: mean_posterior(each) for tag, each in found.items() if each}
