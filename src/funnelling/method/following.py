"""What a model is told of its labels after its fit: a label set, and labels that it is not to assign."""

import os
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, TypeVar

from funnelling.corpus.label_files import read_label_set
from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.labels import known_columns
from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.formats.files import shown_name

if TYPE_CHECKING:
    from funnelling.method.base import Method

AnyMethod = TypeVar("AnyMethod", bound="Method")


def follow_label_set(
    model: AnyMethod, given: str | os.PathLike[str] | LabelSet | None = None, exclude: Sequence[str] = ()
) -> AnyMethod:
    """The model with a label set, or that of a file, in place of its own, and further labels excluded.

    It shares everything else with the model that was given.
    """
    own: LabelSet | None = getattr(model, "label_set_", None)
    label_set = own
    if given is not None:
        labels = [str(label) for label in model.classes_.tolist()]
        label_set = given if isinstance(given, LabelSet) else label_set_for(given, labels)
        label_set = label_set.rolled_up() if own is not None and own.roll_up else label_set
    if exclude:
        label_set = LabelSet.of([]) if label_set is None else label_set
        known_columns(label_set.rules(model.classes_).hierarchy.columns, exclude)  # refuses what it has not
        label_set = label_set.excluding(exclude)
    if label_set is None:
        return model
    label_set.rules(model.classes_).check()
    following = copy(model)
    following.label_set_ = label_set
    return following


def label_set_for(path: str | os.PathLike[str], labels: Sequence[str]) -> LabelSet:
    """The label set of a file, which must have something to say of the labels of documents, or of a model."""
    label_set = read_label_set(path, labels)
    if labels and not any(label in label_set for label in labels):
        raise InputError(
            f"{shown_name(path)}: its ids ({quoted(label_set.ids[0])}, …) have nothing in common with the "
            f"labels that they are for ({quoted(labels[0])}, …). Check the ids."
        )
    return label_set


def names_of_labels(model: "Method", language: str) -> dict[str, str]:
    """What a model's labels are called in a language; refused where it has no names for them."""
    label_set = getattr(model, "label_set_", None)
    if label_set is None or not label_set.names:
        raise InputError("The model has no names of its labels. Add --label-set FILE, or leave --names out.")
    names: dict[str, str] = label_set.names_in(language)
    return names
