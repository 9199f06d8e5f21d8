"""The archive of a funnel: what it keeps of its training documents, to learn on and to show them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.funnel.tier_one import Posteriors, ViewPosteriors, both_posteriors
from funnelling.funnel.views.combination import Combination
from funnelling.matrices import Floats, Matrix, Targets, is_sparse
from funnelling.method.training_set import TrainingSet
from funnelling.randomness import is_missing

NEIGHBOURS = 5


@dataclass(frozen=True)
class Archive:
    """Training documents by language: as vectors, as labels, and as the views' base classifiers see them.

    ``groups`` has "" for a document without one. ``seed`` is what all random choices were made with.
    ``training`` and ``held_out`` are posteriors, by view and language. Of the texts only ``beginnings`` are
    kept, "" where one is not known; languages without texts, and archives of earlier versions, have none.
    ``scores`` are those of tier 2 on aligned folds, by language, from which thresholds are tuned; archives of
    earlier versions have none.
    """

    seed: int
    ids: dict[str, list[str]]
    groups: dict[str, list[str]]
    vectors: dict[str, Matrix]
    targets: dict[str, Targets]
    training: dict[str, dict[str, Floats]]
    held_out: dict[str, dict[str, Floats]]
    beginnings: dict[str, list[str]] = field(default_factory=dict)
    scores: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, training: TrainingSet, posteriors: ViewPosteriors, scores: Mapping[str, Floats]) -> "Archive":
        """What is worth keeping of a fit."""
        return cls(
            training.seed,
            training.ids,
            {tag: group_names(training.groups[tag], len(rows)) for tag, rows in training.targets.items()},
            {tag: sparse.csr_array(X) if is_sparse(X) else X for tag, X in training.vectors.items()},
            training.targets,
            {view: {tag: p.training for tag, p in each.items()} for view, each in posteriors.items()},
            {view: {tag: p.held_out for tag, p in each.items()} for view, each in posteriors.items()},
            training.beginnings(),
            dict(scores),
        )

    def posteriors(self) -> dict[str, dict[str, Posteriors]]:
        """What each view's base classifiers say of each language's documents."""
        return {
            view: {tag: Posteriors(rows, self.held_out[view][tag]) for tag, rows in by_language.items()}
            for view, by_language in self.training.items()
        }

    def points(self, combination: Combination) -> dict[str, Floats]:
        """The training documents in tier 2's space, by language."""
        return {language: combination.points_in(language, self.training) for language in self.targets}

    def nearest(
        self, point: Floats, points: Mapping[str, Floats], names: Sequence[str], number: int = NEIGHBOURS
    ) -> list[dict[str, Any]]:
        """The training documents nearest to a point of tier 2's space, from any language.

        ``points`` are the training documents there, ``names`` those of the columns of labels.
        """
        neighbours = []
        for language, rows in points.items():
            distances = np.sqrt(((rows.astype(np.float64) - point) ** 2).sum(axis=1))
            for row in np.argsort(distances, kind="stable")[:number]:
                labels = [names[column] for column in np.flatnonzero(self.targets[language][row]).tolist()]
                neighbours.append(
                    {
                        "id": self.ids[language][row],
                        "language": language,
                        "labels": labels,
                        "distance": float(distances[row]),
                        **self._text(language, int(row)),
                    }
                )
        return sorted(neighbours, key=lambda neighbour: neighbour["distance"])[:number]

    def _text(self, language: str, row: int) -> dict[str, str]:
        """The beginning of a document's text, where it is known."""
        text = self.beginnings[language][row] if language in self.beginnings else ""
        return {"text": text} if text else {}

    def twins(self, language: str, ids: Sequence[str], vectors: Matrix) -> list[list[int]]:
        """For each document of a language the rows of the archive that have its id and its vector."""
        rows: dict[tuple[str, bytes], list[int]] = {}
        archived = zip(self.ids[language], _contents(self.vectors[language]), strict=True)
        for row, document in enumerate(archived):
            rows.setdefault(document, []).append(row)
        return [rows.get(document, []) for document in zip(ids, _contents(vectors), strict=True)]

    def with_labels(self, columns: npt.NDArray[np.intp], labels: int, absent: float) -> "Archive":
        """The archive under more labels: the old ones go to ``columns``, no document has the new ones."""

        def spread(matrix: Any, fill: Any) -> Any:
            wide = np.full((len(matrix), labels), fill, dtype=matrix.dtype)
            wide[:, columns] = matrix
            return wide

        return self._changed(lambda targets: spread(targets, False), lambda rows: spread(rows, absent))

    def of_both(self, calibration: str) -> "Archive":
        """The archive with a column for each of two classes, where it has one for the second."""
        return self._changed(
            lambda targets: np.hstack([~targets, targets]), lambda rows: both_posteriors(rows, calibration)
        )

    def _changed(self, targets: Callable[[Any], Any], posteriors: Callable[[Any], Any]) -> "Archive":
        def changed(views: Mapping[str, Mapping[str, Floats]]) -> dict[str, dict[str, Floats]]:
            return {
                view: {language: posteriors(rows) for language, rows in by_language.items()}
                for view, by_language in views.items()
            }

        return replace(
            self,
            targets={language: targets(rows) for language, rows in self.targets.items()},
            training=changed(self.training),
            held_out=changed(self.held_out),
        )


def _contents(vectors: Any) -> list[bytes]:
    """What each vector holds, in a form that can be looked up."""
    matrix = sparse.csr_array(vectors, dtype=np.float64)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    indices = matrix.indices.astype(np.int64)
    return [
        indices[start:end].tobytes() + matrix.data[start:end].tobytes()
        for start, end in pairwise(matrix.indptr.tolist())
    ]


def group_names(groups: Sequence[Any] | None, documents: int) -> list[str]:
    """The names of documents' groups, "" for a document without one."""
    names = [None] * documents if groups is None else groups
    return ["" if is_missing(name) else str(name) for name in names]
