"""The labels of a model as a page shows them: each with its names, by which it can be searched."""

from collections.abc import Iterable
from typing import Any


def named_labels(labels: Iterable[Any]) -> list[dict[str, Any]]:
    """Labels with what they are called: ``name`` where no language is asked for, else ``names`` by language.

    >>> named_labels(["food"])
    [{'id': 'food', 'name': 'food', 'names': {}, 'description': ''}]
    """
    return [{"id": str(label), "name": str(label), "names": {}, "description": ""} for label in labels]
