"""The decisions of a method on each test document, as results keep them: tests of methods read them."""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from funnelling.matrices import Targets


class Decisions(TypedDict):
    """The labels a method chose from, and the positions among them of those each test document was given.

    The documents are those it was measured on, in their order; a trial's test corpus knows all else of them.
    """

    classes: list[str]
    given: list[list[int]]


def keep_decisions(decisions: Targets, classes: Sequence[str]) -> Decisions:
    """Decisions with one column per class, in a form that JSON holds in little space.

    >>> keep_decisions(np.array([[True, False], [False, False], [True, True]]), ["cat", "dog"])
    {'classes': ['cat', 'dog'], 'given': [[0], [], [0, 1]]}
    """
    return {"classes": list(classes), "given": [np.flatnonzero(row).tolist() for row in decisions]}
