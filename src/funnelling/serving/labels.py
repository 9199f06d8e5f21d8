"""What is known of a model's labels, for whoever shows them."""

from collections.abc import Iterable
from typing import Any

from funnelling.labelsets import LabelSet
from funnelling.method.base import Method


def label_rows(model: Method, further: Iterable[str] = ()) -> list[dict[str, Any]]:
    """For each label its id, its name in English or another language, all names, and what else is known.

    ``further`` are labels that the model does not have, and people have given.
    """
    label_set: LabelSet = getattr(model, "label_set_", None) or LabelSet.of([])
    rows = []
    for label in [*map(str, model.classes_.tolist()), *further]:
        known = label_set[label]
        rows.append(
            {
                "id": label,
                "name": label_set.name_of(label),
                "names": dict(known.names),
                "description": known.description,
                "parents": list(known.parents),
                "excluded": known.exclude,
            }
        )
    return rows
