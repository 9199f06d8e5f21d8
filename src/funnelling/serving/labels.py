"""What is known of a model's labels, for whoever shows them."""

from collections.abc import Iterable
from typing import Any

from funnelling.corpus.label_set import LabelSet
from funnelling.methods.model import Method

Row = dict[str, Any]


def label_rows(model: Method) -> list[Row]:
    """For each label its id, its name in English or another language, all names, and what else is known."""
    return _rows(_label_set(model), map(str, model.classes_.tolist()))


class KnownLabels:
    """The labels of a model, and what is known of them and of others, looked up once: they may be many.

    ``ids`` are those of the model.
    """

    def __init__(self, model: Method) -> None:
        self._label_set = _label_set(model)
        self._own = label_rows(model)
        self.ids = frozenset(row["id"] for row in self._own)
        self._others = _rows(self._label_set, (each for each in self._label_set.ids if each not in self.ids))

    def __contains__(self, label: str) -> bool:
        return label in self.ids or label in self._label_set

    def rows(self, given: set[str]) -> list[Row]:
        """All that may be given or were ``given`` by people: the model's, then others by their ids."""
        further = (label for label in given if label not in self.ids and label not in self._label_set)
        others = [*self._others, *_rows(self._label_set, further)]
        rows = [*self._own, *sorted(others, key=lambda row: str(row["id"]))]
        return [row for row in rows if not row["excluded"] or row["id"] in given]


def _label_set(model: Method) -> LabelSet:
    label_set: LabelSet | None = getattr(model, "label_set_", None)
    return LabelSet.of([]) if label_set is None else label_set


def _rows(label_set: LabelSet, labels: Iterable[str]) -> list[Row]:
    return [
        {
            "id": known.id,
            "name": known.name,
            "names": dict(known.names),
            "description": known.description,
            "parents": list(known.parents),
            "excluded": known.exclude,
        }
        for known in map(label_set.__getitem__, labels)
    ]
