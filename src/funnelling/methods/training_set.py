"""What a method learns from, after everything the user gave has been checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.labels import LabelSpace
from funnelling.matrices import (
    AnyTargets,
    Folds,
    Matrix,
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


@dataclass
class PreparedTexts:
    """Labelled texts whose vectors were made before a fit, by language.

    Of the texts themselves there are only the ``beginnings``, and what a model is to keep of them, if
    anything: bags of their words, or ``texts`` that are ``as_written``.
    """

    labels: LabelSpace
    vectorizers: dict[str, Any]
    vectors: dict[str, Matrix]
    targets: dict[str, Targets]
    groups: dict[str, Sequence[Any] | None]
    ids: dict[str, list[str]]
    beginnings: dict[str, list[str]]
    texts: dict[str, list[str]] = field(default_factory=dict)
    as_written: bool = False

    def with_one_label(self) -> "PreparedTexts":
        """These, as documents that have exactly one label each."""
        labels = replace(self.labels, single_label=True)
        targets: Any = {language: labels.learned(rows) for language, rows in self.targets.items()}
        return replace(self, labels=labels, targets=targets)


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
    """Training documents by language; ``documents`` are as given: texts, or else vectors."""

    documents: dict[str, Any]
    vectors: dict[str, Any]
    targets: dict[str, AnyTargets]
    folds: dict[str, Folds]
    groups: dict[str, Sequence[Any] | None]
    ids: dict[str, list[str]]
    texts: bool
    labels: LabelSpace
    seed: int
    prepared_beginnings: dict[str, list[str] | None]  # of texts that are not here, None where they are
    prepared_texts: dict[str, list[str]] | None = None  # what is kept of texts whose vectors are here
    as_written: bool = True  # whether texts are, and not bags of their words
    previous: PreviousFit | None = None  # the model that is to learn on from these documents
    label_set: LabelSet | None = None  # what labels are called, if known
    made_by: Any = None  # what made the vectors: a vectorizer for each language, or a space
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        documents: dict[str, Any],
        vectors: Mapping[str, Any],
        targets: dict[str, AnyTargets],
        groups: dict[str, Sequence[Any] | None],
        ids: dict[str, list[str]],
        *,
        texts: bool,
        labels: LabelSpace,
        seed: int,
        beginnings: Mapping[str, list[str]] | None = None,
        prepared_texts: dict[str, list[str]] | None = None,
        as_written: bool = True,
        earlier: PreviousFit | None = None,
        label_set: LabelSet | None = None,
        made_by: Any = None,
        n_jobs: int | None = None,
    ) -> "TrainingSet":
        """Add the folds that follow from the seed, the language and the groups."""
        folds = {
            language: assign_folds(
                INNER_FOLDS, length(rows), seed, "folds", language=language, groups=groups[language]
            )
            for language, rows in targets.items()
        }
        return cls(
            documents,
            dict(vectors),
            targets,
            folds,
            groups,
            ids,
            texts,
            labels,
            seed,
            {language: (beginnings or {}).get(language) for language in targets},
            prepared_texts,
            as_written,
            earlier,
            label_set,
            made_by,
            n_jobs,
        )

    def beginnings(self) -> dict[str, list[str]]:
        """How the texts of each language begin, where that is known; vectors and bags do not show it."""
        known = {language: each for language, each in self.prepared_beginnings.items() if each is not None}
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
        return self._with_columns(lambda column: {language: column[language] for language in languages})

    def select(self, rows: Mapping[str, Rows]) -> "TrainingSet":
        """Some documents of each language, folds as they were; languages without any are left out."""
        places = {language: np.flatnonzero(chosen) for language, chosen in rows.items() if chosen.any()}

        def selected(column: Mapping[str, Any]) -> dict[str, Any]:
            return {
                language: None if column[language] is None else take_rows(column[language], where)
                for language, where in places.items()
            }

        return self._with_columns(selected)

    def _with_columns(self, change: Any) -> "TrainingSet":
        columns = ("documents", "vectors", "targets", "folds", "groups", "ids", "prepared_beginnings")
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
