"""The labels that a model has, looked up by their names."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError, listed

NEAR = 3  # labels that are named where one is not known


def label_columns(classes: Iterable[Any], labels: Sequence[Any]) -> npt.NDArray[np.intp]:
    """Where a model has these labels; one that it does not have is refused.

    >>> label_columns([10, 20, 30], ["30", 10]).tolist()
    [2, 0]
    >>> label_columns(["Cat", "dog"], ["cats"])
    Traceback (most recent call last):
    funnelling.errors.InputError: The model has no label 'cats'. Near it: 'Cat'.
    """
    return known_columns({str(label): column for column, label in enumerate(classes)}, labels)


def known_columns(known: Mapping[str, int], labels: Sequence[Any]) -> npt.NDArray[np.intp]:
    """What `label_columns` gives, where the columns of a model's labels have been looked up before."""
    for label in listed(labels, "labels"):
        if str(label) not in known:
            raise InputError(unknown_label(str(label), known))
    return np.array([known[str(label)] for label in labels], dtype=np.intp)


def unknown_label(label: str, known: Iterable[str]) -> str:
    """The refusal of a label that a model does not have, with those that it may be meant for."""
    near = near_labels(label, known)
    meant = ", ".join(map(repr, near))
    cure = f"Near it: {meant}." if near else "See `funnelling inspect` for those it has."
    return f"The model has no label {label!r}. {cure}"


def near_labels(label: str, known: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """Those of a model's labels that one may be meant for, the likeliest first.

    >>> near_labels("sprot", ["sport", "money"])
    ['sport']
    """
    by_case = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(label.casefold(), by_case, n=NEAR, cutoff=cutoff)
    return [by_case[name] for name in near]
