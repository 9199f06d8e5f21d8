"""What a method learns from, after everything the user gave has been checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from funnelling.corpus.blocks import Places, rows_at
from funnelling.corpus.by_language import ByLanguage
from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.labels import LabelSpace
from funnelling.matrices import Folds, Rows, Scores, Targets, stacked, take_rows
from funnelling.svm import Calibration, Temperature
from funnelling.svm.calibration import fit_calibration, fit_temperature

NEW_DOCUMENT = -1  # the place of a document that was not there before

Calibrator = Calibration | Temperature  # what makes probabilities of final scores
ScoreThresholds = npt.NDArray[np.float64] | float


def calibrator_type(labels: LabelSpace) -> type[Calibrator]:
    """What makes probabilities of the scores of such labels."""
    return Temperature if labels.single_label else Calibration


@dataclass(frozen=True)
class PreviousFit:
    """A fitted model that is updated, and where today's documents were among its own, or `NEW_DOCUMENT`.

    Languages that are ``untouched`` have the same documents and labels as then; so many documents have
    ``changed``. ``exact`` asks for the bits of a fit on all documents at once.
    """

    model: Any
    places: Mapping[str, npt.NDArray[np.intp]]
    untouched: set[str]
    changed: int
    same_labels: bool
    exact: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingSet(ByLanguage):
    """Training documents with their ``vectors``, by language, and all else that a fit takes.

    ``made_by`` made the vectors: a vectorizer for each language, or a space. Vectors that are ``prepared``
    are all that may be learned from, even if texts are kept. ``previous`` is the model that is to learn on
    from these documents. Inner folds are ``dealt`` when they are asked for; a selection keeps those of the
    whole.
    """

    labels: LabelSpace
    vectors: Mapping[str, Any] = field(default_factory=dict)
    dealt: Mapping[str, Folds] = field(default_factory=dict)
    prepared: bool = False
    made_by: Any = None
    previous: PreviousFit | None = None
    label_set: LabelSet | None = None  # what labels are called, if known
    n_jobs: int | None = None

    @classmethod
    def of(cls, documents: ByLanguage, labels: LabelSpace, **further: Any) -> Self:
        """Documents to learn from, which have labels of this kind."""
        given = {each.name: getattr(documents, each.name) for each in fields(ByLanguage)}
        return cls(**given, labels=labels, **further)

    @property
    def texts(self) -> bool:
        return super().texts and not self.prepared

    @property
    def documents(self) -> dict[str, Any]:
        return dict(self.vectors) if self.prepared else super().documents

    @cached_property
    def folds(self) -> Mapping[str, Folds]:
        """The inner fold of each document."""
        return self.dealt or self.folds_for("folds")

    def with_one_label(self) -> Self:
        """These, as documents that have exactly one label each."""
        labels = replace(self.labels, single_label=True)
        learned = {language: labels.learned(rows) for language, rows in self.targets.items()}
        return replace(self.with_targets(learned), labels=labels)

    @property
    def columns(self) -> int:
        """How many columns the targets have."""
        return int(next(iter(self.blocks.values())).targets.shape[1])

    @property
    def size(self) -> int:
        """How many documents there are, in all languages."""
        return sum(self.sizes.values())

    def only(self, languages: Sequence[str]) -> Self:
        vectors, dealt = (
            {tag: column[tag] for tag in languages if tag in column} for column in (self.vectors, self.dealt)
        )
        return replace(super().only(languages), vectors=vectors, dealt=dealt)

    def select(self, rows: Mapping[str, Rows | Places]) -> Self:
        some = super().select(rows)
        places = {tag: rows_at(rows[tag]) for tag in some.blocks}
        vectors = {
            tag: None if X is None else take_rows(X, places[tag])
            for tag, X in self.vectors.items()
            if tag in places
        }
        return replace(some, vectors=vectors, dealt={tag: self.folds[tag][places[tag]] for tag in places})

    def stacked_vectors(self) -> Any:
        """The vectors of all languages, which must share their columns."""
        return stacked(self.vectors)

    def stacked_targets(self) -> Targets:
        return np.vstack(list(self.targets.values()))

    def stacked_folds(self) -> Folds:
        return np.concatenate(list(self.folds.values()))

    def fit_calibrator(self, held_out: Scores, targets: Targets) -> Calibrator:
        """What makes probabilities of a method's final scores."""
        if self.labels.single_label:
            return fit_temperature(held_out, targets)
        return fit_calibration("platt", held_out, targets, self.n_jobs)
