"""The labels that documents may have: what kind they are, how many columns that means, and their names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from funnelling.corpus.label_rules import Floats, LabelRules
from funnelling.errors import InputError, did_you_mean, listed
from funnelling.matrices import (
    AnyTargets,
    Rows,
    Scored,
    Targets,
    canonical,
    count_true,
    dense,
    filled_columns,
    is_sparse,
    length,
    n_cells,
    one_each,
)
from funnelling.state import ANY_ARRAY


@dataclass(frozen=True, eq=False)
class LabelSpace:
    """The labels that documents may have: any number each, or, where ``single_label``, exactly one.

    Targets and scores have one column per label. Of two labels of which each document has exactly one, only
    the second has a column: above its threshold a score means the second label, below it the first. Where
    targets are ``sparse``, each label has a column in any case.
    """

    classes: Annotated[npt.NDArray[Any], ANY_ARRAY]
    single_label: bool = False
    sparse: bool = False

    @property
    def columns(self) -> int:
        """How many columns scores have."""
        return 1 if self.has_one_column else len(self.classes)

    @property
    def has_one_column(self) -> bool:
        """Whether one column stands for two labels."""
        return self.single_label and len(self.classes) == 2 and not self.sparse

    @property
    def has_thresholds(self) -> bool:
        """Whether each label is assigned by a threshold, and not by the highest score of a document."""
        return not self.single_label

    def under(self, classes: npt.NDArray[Any]) -> "LabelSpace":
        """Other labels of the same kind."""
        return replace(self, classes=classes)

    def learned(self, targets: AnyTargets) -> AnyTargets:
        """The columns to learn of targets with a column per label.

        >>> LabelSpace(np.array(["cat", "dog"]), single_label=True).learned(np.eye(2, dtype=bool)).tolist()
        [[False], [True]]
        """
        both = self.single_label and targets.shape[1] == 2 and not is_sparse(targets)
        return targets[:, 1:] if both else targets

    def by_class(self, targets: Mapping[str, AnyTargets]) -> dict[str, AnyTargets]:
        """Learned targets of each language, with a column per label again.

        Two labels that are left of several have two columns as it is: a document may have had a third.
        """
        if not (self.single_label and len(self.classes) == 2):
            return dict(targets)
        return {
            language: rows if rows.shape[1] == 2 else np.hstack([~rows, rows])
            for language, rows in targets.items()
        }

    def learnable(self, targets: AnyTargets) -> npt.NDArray[np.intp]:
        """The documents to learn from, of targets with a column per label: a single label must be there."""
        return np.flatnonzero(targets.sum(axis=1)) if self.single_label else np.arange(length(targets))

    def decide(self, scores: npt.NDArray[Any]) -> Targets:
        """Yes where the score is above 0; of single labels, at the highest score of each document.

        >>> LabelSpace(np.arange(3), single_label=True).decide(np.array([[-3, -1, -2]])).tolist()
        [[False, True, False]]
        """
        if not self.single_label or scores.shape[1] == 1:
            return scores > 0
        decisions = np.zeros(scores.shape, dtype=bool)
        decisions[np.arange(len(scores)), scores.argmax(axis=1)] = True
        return decisions

    def answers(self, margins: Scored) -> npt.NDArray[Any]:
        """What scores less their thresholds answer: an indicator matrix, or the one label of each document.

        Documents that are not ``in_vocabulary`` get no label, unless each gets one.
        """
        if not self.single_label:
            return (self.decide(margins.scores) & margins.in_vocabulary[:, None]).astype(int)
        scores = margins.scores
        chosen = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes[chosen]
        return labels

    def indicators(self, answers: Any) -> AnyTargets:
        """Answers with a column per label."""
        if self.single_label:
            column_of = {label: column for column, label in enumerate(self.classes.tolist())}
            columns = np.array([column_of[label] for label in answers.tolist()], dtype=np.intp)
            answers = one_each(columns, len(self.classes))
        return canonical(answers).astype(bool) if self.sparse else dense(answers).astype(bool)

    def brings_parents(self, rules: LabelRules) -> bool:
        """Whether a label that is assigned brings those above it, which takes room for more than one."""
        return rules.hierarchy.joined and not self.single_label

    def answers_under(
        self, rules: LabelRules, margins: Scored, probabilities: Floats, thresholds: Floats
    ) -> tuple[npt.NDArray[Any], Floats]:
        """What `answers` and probabilities become under a label set."""
        if not self.single_label:
            assigned, raised = rules.several(self.answers(margins).astype(bool), probabilities, thresholds)
            return (assigned & margins.in_vocabulary[:, None]).astype(int), raised
        scores = margins.scores
        if scores.shape[1] == 1:
            scores = np.hstack([-scores, scores])
        best, left = rules.one(scores, probabilities)
        return self.classes[best], left

    def probabilities_under(self, rules: LabelRules, probabilities: Floats) -> Floats:
        """What probabilities become under a label set where nothing has been assigned."""
        if self.single_label:
            return rules.one(probabilities, probabilities)[1]
        none, sure = np.zeros(probabilities.shape, dtype=bool), np.ones(probabilities.shape[1])
        return rules.several(none, probabilities, sure)[1]

    def named(self, answers: Any, known: Rows) -> list[Any]:
        """The label of each document, or a list of labels; None, or no label, where nothing is known."""
        if self.single_label and not self.sparse:
            return [label if has else None for label, has in zip(answers.tolist(), known, strict=True)]
        rows = [
            self.classes[filled_columns(answers, row)].tolist() if has else []
            for row, has in enumerate(known)
        ]
        return [row[0] if row else None for row in rows] if self.single_label else rows

    def probabilities(self, calibrated: Any) -> npt.NDArray[np.float64]:
        """Calibrated scores with a column per label."""
        if self.single_label and calibrated.shape[1] == 1:
            calibrated = np.hstack([1 - calibrated, calibrated])
        return np.asarray(calibrated, dtype=np.float64)

    def sparse_answers(
        self,
        rules: LabelRules | None,
        probabilities: Any,
        threshold: Any,
        documents: Sequence[int],
    ) -> tuple[Any, Any]:
        """The labels of documents and the probabilities of their candidates, of many labels.

        ``documents`` are how many each label has: a document without candidates gets the most frequent label
        where it must have one.
        """
        if rules is not None:
            probabilities = self._sparse_under(rules, probabilities)
        if self.single_label:
            frequencies = np.asarray(documents)
            if rules is not None:
                frequencies = np.where(rules.excluded, -1, frequencies)
            best = _most_probable(probabilities, int(frequencies.argmax()))
            return self.classes[best], _summing_to_one(probabilities)
        labels: Any = probabilities.copy()
        labels.data = (labels.data > threshold).astype(int)
        labels.eliminate_zeros()
        return labels, probabilities

    def _sparse_under(self, rules: LabelRules, probabilities: Any) -> Any:
        """Probabilities as a label set has them: excluded labels have none, parents at least as much."""
        kept = _less_excluded(rules, probabilities)
        if not self.brings_parents(rules):
            return kept
        return _less_excluded(rules, rules.hierarchy.raised(kept)[:, : len(rules.excluded)])

    def squeeze(self, scores: Any) -> Any:
        """Scores as scikit-learn has them: one number per document where one column stands for two labels."""
        return scores[:, 0] if self.single_label and scores.shape[1] == 1 else scores


def check_learnable(matrices: Iterable[AnyTargets]) -> None:
    """Refuse labels that no document has, or all have."""
    together = [(count_true(matrix) > 0, count_true(matrix) == n_cells(matrix)) for matrix in matrices]
    if not any(some for some, _ in together) or all(every for _, every in together):
        raise InputError(
            "Nothing to learn: y has only one class. Every document has the same labels; "
            "training needs documents with a label and documents without it."
        )


MULTILABEL = LabelSpace(np.empty(0))  # for who need not know which labels there are


def _less_excluded(rules: LabelRules, probabilities: Any) -> Any:
    kept: Any = probabilities.copy()
    kept.data[rules.excluded[kept.indices]] = 0
    kept.eliminate_zeros()
    return kept


def _most_probable(probabilities: Any, usual: int) -> npt.NDArray[np.intp]:
    """The column of each document's most probable label; without any the ``usual`` one."""
    best = np.full(probabilities.shape[0], usual, dtype=np.intp)
    rows = np.repeat(np.arange(len(best)), np.diff(probabilities.indptr))
    order = np.lexsort((-probabilities.indices, probabilities.data, rows))  # the best comes last
    best[rows[order]] = probabilities.indices[order]
    return best


def _summing_to_one(probabilities: Any) -> Any:
    """Probabilities of labels of which each document has one; a document without candidates has none."""
    sizes = np.diff(probabilities.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.bincount(rows, probabilities.data, minlength=len(sizes))
    shares: Any = probabilities.copy()
    shares.data /= sums[rows]
    return shares


def label_columns(classes: Iterable[Any], labels: Sequence[Any]) -> npt.NDArray[np.intp]:
    """Where a model has these labels; one that it does not have is refused.

    >>> label_columns([10, 20, 30], ["30", 10]).tolist()
    [2, 0]
    >>> label_columns(["Cat", "dog"], ["cats"])
    Traceback (most recent call last):
    funnelling.errors.InputError: The model has no label 'cats'. Did you mean Cat?
    """
    return known_columns({str(label): column for column, label in enumerate(classes)}, labels)


def known_columns(known: Mapping[str, int], labels: Sequence[Any]) -> npt.NDArray[np.intp]:
    """What `label_columns` gives, where the columns of a model's labels have been looked up before."""
    for label in listed(labels, "labels"):
        if str(label) not in known:
            raise InputError(unknown_label(str(label), known))
    return np.array([known[str(label)] for label in labels], dtype=np.intp)


def unknown_label(label: str, known: Iterable[str]) -> str:
    """The refusal of a label that a model does not have, with the one that may be meant."""
    hint = did_you_mean(label, known) or ". See `funnelling inspect` for those it has."
    return f"The model has no label {label!r}{hint}"
