"""New names for a model's labels: which are renamed, which become one, and which are dropped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus.labels import label_columns
from funnelling.errors import InputError
from funnelling.matrices import AnyTargets, canonical, is_sparse
from funnelling.svm.scorers import Selection


@dataclass(frozen=True)
class Relabelling:
    """What becomes of labels: for each new one the ``columns`` of those that it stands for.

    New labels stand where the first of their old ones stood.
    """

    old: list[Any]
    new: list[Any]
    columns: list[list[int]]

    @classmethod
    def of(cls, classes: Sequence[Any], mapping: Mapping[Any, Any]) -> "Relabelling":
        """What a mapping from labels to new ones makes of a model's classes; None or "" drops a label.

        All happens at once, so that labels may swap their names. Labels that are not mapped stay.

        >>> Relabelling.of(["a", "b", "c"], {"a": "b", "b": "a"}).renamed
        {'a': 'b', 'b': 'a'}
        >>> Relabelling.of(["a", "b", "c"], {"a": "b"}).merged
        {'b': ['a', 'b']}
        >>> Relabelling.of(["cat", "dog"], {"cot": "cats"})
        Traceback (most recent call last):
        funnelling.errors.InputError: The model has no label 'cot'. Near it: 'cat'.
        """
        old = list(classes)
        label_columns(old, list(mapping))  # refuses labels that do not exist
        by_name = {str(label): _stripped(new) for label, new in mapping.items()}
        targets = [by_name.get(str(label), label) for label in old]
        if any(isinstance(new, str) for new in targets):  # then all labels are names
            targets = [None if new is None else str(new) for new in targets]
        columns: dict[Any, list[int]] = {}
        for column, new in enumerate(targets):
            if new is not None:
                columns.setdefault(new, []).append(column)
        if len(columns) < min(2, len(old)):
            left = "no label" if not columns else "one label"
            raise InputError(f"That leaves the model {left}, and nothing to decide. Keep two or more.")
        return cls(old, list(columns), list(columns.values()))

    @property
    def renamed(self) -> dict[Any, Any]:
        """The labels that get another name and stay by themselves."""
        pairs = ((self.old[each[0]], new) for new, each in self._pairs() if len(each) == 1)
        return {old: new for old, new in pairs if old != new}

    @property
    def merged(self) -> dict[Any, list[Any]]:
        """The new labels that stand for several old ones, which share a name from now on."""
        return {new: [self.old[column] for column in each] for new, each in self._pairs() if len(each) > 1}

    @property
    def dropped(self) -> list[Any]:
        """The labels that the model gives no more."""
        kept = {column for each in self.columns for column in each}
        return [label for column, label in enumerate(self.old) if column not in kept]

    def _pairs(self) -> list[tuple[Any, list[int]]]:
        return list(zip(self.new, self.columns, strict=True))

    def selection(self, exclusive: bool) -> Selection:
        """The labels that are left, where none are merged."""
        columns = np.array([each[0] for each in self.columns], dtype=np.int64)
        return Selection(columns, margin=exclusive and len(columns) == 2)

    def in_order(self) -> "Relabelling":
        """The same with the new labels sorted, as a fit has them, where the old ones were."""
        if self.old != sorted(self.old):
            return self
        places = sorted(range(len(self.new)), key=self.new.__getitem__)
        return Relabelling(
            self.old, [self.new[place] for place in places], [self.columns[place] for place in places]
        )

    def classes(self, before: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The new labels as an array of the kind that they came in before, where that can hold them."""
        strings = all(isinstance(label, str) for label in self.new)
        return np.array(self.new, dtype=object if strings and before.dtype.kind != "U" else None)

    def of_targets(self, targets: AnyTargets) -> AnyTargets:
        """Which documents have the new labels: those that have any of the old ones."""
        if is_sparse(targets):
            news = np.repeat(np.arange(len(self.new)), list(map(len, self.columns)))
            olds = np.concatenate(self.columns)
            cells = np.ones(len(olds), dtype=np.int32), (olds, news)
            becomes = sparse.csr_array(cells, (len(self.old), len(self.new)))
            return canonical(targets.astype(np.int32) @ becomes).astype(bool)
        return np.column_stack([targets[:, each].any(axis=1) for each in self.columns])


def with_selected_labels(archive: Any, selection: Selection) -> Any:
    """What a model keeps of its documents, under the labels that are left; a document may have none of them.

    Two that exclude each other keep a column each, for a document of a dropped one has neither.
    """
    changed = {"targets": {tag: rows[:, selection.columns] for tag, rows in archive.targets.items()}}
    if getattr(archive, "scores", None):  # tier 2's, of documents that were held out
        changed["scores"] = {tag: selection.of(rows) for tag, rows in archive.scores.items()}
    return replace(archive, **changed)


def _stripped(new: Any) -> Any:
    """A new label without blanks around it, None where nothing is left."""
    return (new.strip() or None) if isinstance(new, str) else new
