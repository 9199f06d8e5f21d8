"""Look at a model."""

from typing import Any

from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError
from funnelling.methods.rows import names_of_labels, thresholds_of
from funnelling.storage import describe_model, load
from funnelling.tasks.changes import possible_changes
from funnelling.tasks.sources import FilePath

Description = dict[str, Any]


def inspect_model(model: FilePath, names: str | None = None) -> Description:
    """What `describe_model` says of a model, and what is known once it is loaded.

    ``thresholds`` are those that are not .5, by language, and ``keeps`` has what `possible_changes` gives,
    too. Where the model has a label set, ``label_set`` tells of it, and with the language of ``names``,
    ``label_names`` what each label is called. Of a model that cannot be loaded here, the thresholds are None
    and ``keeps`` has no more.
    """
    description = describe_model(model)
    try:
        loaded = load(model, mapped=True)
    except InputError:
        return {**description, "thresholds": None}
    keeps = {**description["keeps"], **possible_changes(loaded)}
    told = {**description, "keeps": keeps, "thresholds": thresholds_of(loaded)}
    if loaded.label_set is not None:
        told["label_set"] = _describe_label_set(loaded.label_set)
    if names is not None:
        called = names_of_labels(loaded, names)
        told["label_names"] = {str(label): called.get(str(label), str(label)) for label in told["labels"]}
    return told


def _describe_label_set(label_set: LabelSet) -> dict[str, Any]:
    """How many labels a set has, in which languages it names them, and what it says of them."""
    labels = list(label_set)
    return {
        "labels": len(labels),
        "names": sorted(label_set.names),
        "with_parents": sum(bool(label.parents) for label in labels),
        "excluded": [label.id for label in labels if label.exclude],
        "roll_up": bool(label_set.roll_up),
    }
