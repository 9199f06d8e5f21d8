"""What a method learns from, after everything the user gave has been checked."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.labels import LabelSpace
from funnelling.matrices import (
    AnyTargets,
    Folds,
    Rows,
    Scores,
    Targets,
    length,
    sizes_of,
    stacked,
    take_rows,
)
from funnelling.randomness import assign_folds
from funnelling.svm import Calibration, Temperature
from funnelling.svm.calibration import fit_calibration, fit_temperature
from funnelling.text.excerpts import beginning

INNER_FOLDS = 5  # of every inner cross-validation: calibration, choice of C

NEW_DOCUMENT = -1  # the place of a document that was not there before

Calibrator = Calibration | Temperature  # what makes probabilities of final scores
ScoreThresholds = npt.NDArray[np.float64] | float


def calibrator_type(labels: LabelSpace) -> type[Calibrator]:
    """What makes probabilities of the scores of such labels."""
    return Temperature if labels.single_label else Calibration


@dataclass(frozen=True)
class PreviousFit:
    """A fitted model that is to learn on, and where today's documents were among its own, or `NEW_DOCUMENT`.

    Languages that are ``untouched`` have the same documents and labels as then; so many documents have
    ``changed``. ``exact`` asks for the bits of a fit on all documents at once.
    """

    model: Any
    places: Mapping[str, npt.NDArray[np.intp]]
    untouched: set[str]
    changed: int
    same_labels: bool
    exact: bool


@dataclass
class TrainingSet:
    """Training documents by language; ``documents`` are as given: texts, or else vectors.

    Of texts whose ``vectors`` were made before there are the ``prepared_beginnings``, and what a model is to
    keep of them (``prepared_texts``), texts ``as_written`` or bags of their words. Without ``folds`` they
    are those that follow from the seed, the language and the groups.
    """

    documents: dict[str, Any]
    vectors: Mapping[str, Any]
    targets: dict[str, AnyTargets]
    groups: dict[str, Sequence[Any] | None]
    ids: dict[str, list[str]]
    _: KW_ONLY
    texts: bool
    labels: LabelSpace
    seed: int = 0
    folds: dict[str, Folds] = field(default_factory=dict)
    prepared_beginnings: Mapping[str, list[str]] = field(default_factory=dict)
    prepared_texts: dict[str, list[str]] | None = None
    as_written: bool = True
    previous: PreviousFit | None = None  # the model that is to learn on from these documents
    label_set: LabelSet | None = None  # what labels are called, if known
    made_by: Any = None  # what made the vectors: a vectorizer for each language, or a space
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        self.folds = self.folds or {
            language: assign_folds(
                INNER_FOLDS, length(rows), self.seed, "folds", language=language, groups=self.groups[language]
            )
            for language, rows in self.targets.items()
        }

    def with_one_label(self) -> "TrainingSet":
        """These, as documents that have exactly one label each."""
        labels = replace(self.labels, single_label=True)
        targets = {language: labels.learned(rows) for language, rows in self.targets.items()}
        return replace(self, labels=labels, targets=targets)

    def beginnings(self) -> dict[str, list[str]]:
        """How the texts of each language begin, where that is known; vectors and bags do not show it."""
        known = dict(self.prepared_beginnings)
        if self.texts and self.as_written:
            others = [language for language in self.documents if language not in known]
            known |= {language: list(map(beginning, self.documents[language])) for language in others}
        return {language: known[language] for language in self.documents if language in known}

    @property
    def columns(self) -> int:
        """How many columns the targets have."""
        return int(next(iter(self.targets.values())).shape[1])

    @property
    def size(self) -> int:
        """How many documents there are, in all languages."""
        return sum(self.sizes.values())

    @property
    def sizes(self) -> dict[str, int]:
        """How many documents each language has."""
        return sizes_of(self.targets)

    def only(self, languages: Sequence[str]) -> "TrainingSet":
        """The documents of some languages."""
        return self._with_columns(
            lambda column: {language: column[language] for language in languages if language in column}
        )

    def select(self, rows: Mapping[str, Rows]) -> "TrainingSet":
        """Some documents of each language, folds as they were; languages without any are left out."""
        places = {language: np.flatnonzero(chosen) for language, chosen in rows.items() if chosen.any()}

        def selected(column: Mapping[str, Any]) -> dict[str, Any]:
            return {
                language: None if column[language] is None else take_rows(column[language], where)
                for language, where in places.items()
                if language in column
            }

        return self._with_columns(selected)

    def _with_columns(self, change: Any) -> "TrainingSet":
        columns = ["documents", "vectors", "targets", "folds", "groups", "ids", "prepared_beginnings"]
        if self.prepared_texts is not None:
            columns.append("prepared_texts")
        return replace(self, **{name: change(getattr(self, name)) for name in columns})

    def stacked_vectors(self) -> Any:
        """The vectors of all languages, which must share their columns."""
        return stacked(self.vectors)

    def stacked_targets(self) -> Targets:
        return np.vstack(list(self.targets.values()))

    def stacked_folds(self) -> Folds:
        return np.concatenate(list(self.folds.values()))

    def fit_calibrator(self, held_out: Scores, targets: Targets) -> Calibrator:
        """What makes probabilities of a method's final scores."""
        if calibrator_type(self.labels) is Temperature:
            return fit_temperature(held_out, targets)
        return fit_calibration("platt", held_out, targets, self.n_jobs)
