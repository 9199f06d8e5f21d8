"""The decisions of a method on each test document, as results keep them: tests of methods read them."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.corpus import Corpus
from funnelling.evaluation.randomisation import Decided, Pair, randomisation
from funnelling.evaluation.registry import is_of_one_label
from funnelling.matrices import Targets
from funnelling.trials.pieces import Result


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


def p_over_groups(
    methods: Mapping[str, Sequence[Result]], tests: Sequence[Corpus], measures: Sequence[str], seed: int
) -> dict[str, dict[Pair, float]]:
    """The p of `randomisation` for each pair of methods whose results hold decisions on these documents.

    Documents of a group are swapped together; one without a group by itself, wherever its id occurs.
    """
    kept: dict[str, list[Decisions]] = {
        name: [result["decisions"] for result in results]
        for name, results in methods.items()
        if all("decisions" in result for result in results)
    }
    if len(kept) < 2:
        return {measure: {} for measure in measures}
    trials = (
        _decided(
            test,
            {name: decisions[number] for name, decisions in kept.items()},
            is_of_one_label(measures),
        )
        for number, test in enumerate(tests)
    )
    return randomisation(trials, measures, seed)


def _decided(test: Corpus, methods: Mapping[str, Decisions], one_label: bool) -> Decided:
    """The decisions of several methods on the same documents, with columns for all labels any of them knows.

    With ``one_label`` there are columns for those that none knows too: a document of theirs is never right.
    """
    known = sorted({label for decisions in methods.values() for label in decisions["classes"]})
    unknown = sorted(set(test.label_set()) - set(known)) if one_label else []
    place = {label: column for column, label in enumerate(known)}
    columns = {
        name: np.array([place[label] for label in decisions["classes"]], dtype=np.intp)
        for name, decisions in methods.items()
    }
    return Decided(
        truth=test.label_matrix([*known, *unknown]),
        given={
            name: _matrix(decisions["given"], columns[name], len(known) + len(unknown))
            for name, decisions in methods.items()
        },
        known={
            # A slice copies nothing, and most methods know all labels.
            name: slice(len(known)) if len(own) == len(known) else own.tolist()
            for name, own in columns.items()
        },
        languages=[str(language) for language in test.languages],
        units=[
            ("document", name) if group is None else ("group", group)
            for name, group in zip(test.ids, test.groups, strict=True)
        ],
    )


def _matrix(given: Sequence[Sequence[int]], columns: NDArray[np.intp], width: int) -> sparse.csr_array:
    """Documents by columns, from the positions among ``columns`` of the labels that each was given."""
    positions = np.fromiter(chain.from_iterable(given), dtype=np.intp)
    starts = np.cumsum([0, *map(len, given)])
    ones = np.ones(len(positions), dtype=bool)
    return sparse.csr_array((ones, columns[positions], starts), shape=(len(given), width))
