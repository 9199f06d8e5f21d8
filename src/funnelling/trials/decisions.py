"""The decisions of a method on each test document, as results keep them: tests of methods read them."""

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.corpus import Corpus
from funnelling.evaluation.randomisation import Decided, Pair, randomisation
from funnelling.evaluation.ranking import Shares
from funnelling.evaluation.registry import RANKED_MEASURES, is_of_one_label, main_measures
from funnelling.matrices import AnyTargets, canonical
from funnelling.trials.indicators import truth_of
from funnelling.trials.pieces import Result

KeptShares = dict[str, list[list[float]]]  # by measure, the values and the weights of `Shares`


class Decisions(TypedDict):
    """The labels a method chose from, and the positions among them of those each test document was given.

    The documents are those it was measured on, in their order; a trial's test corpus knows all else of them.
    """

    classes: list[str]
    given: list[list[int]]


def keep_decisions(decisions: AnyTargets, classes: Sequence[str]) -> Decisions:
    """Decisions with one column per class, in a form that JSON holds in little space.

    >>> keep_decisions(np.array([[True, False], [False, False], [True, True]]), ["cat", "dog"])
    {'classes': ['cat', 'dog'], 'given': [[0], [], [0, 1]]}
    """
    ours = canonical(decisions)
    columns, starts = ours.indices.tolist(), ours.indptr.tolist()
    return {"classes": list(classes), "given": [columns[start:end] for start, end in pairwise(starts)]}


def keep_shares(ranked: Mapping[str, Shares]) -> KeptShares:
    """What each document adds to the main measures of ranked labels, and what it weighs there."""
    return {
        name: [ranked[name].values.tolist(), ranked[name].weights.tolist()] for name in main_measures(ranked)
    }


def p_over_groups(
    methods: Mapping[str, Sequence[Result]], tests: Sequence[Corpus], measures: Sequence[str], seed: int
) -> dict[str, dict[Pair, float]]:
    """The p of `randomisation` for each pair of methods whose results hold decisions on these documents.

    Documents of a group are swapped together; one without a group by itself, wherever its id occurs.
    """
    ranked = [measure for measure in measures if measure in RANKED_MEASURES]
    kept = {
        name: results
        for name, results in methods.items()
        if all("decisions" in result and set(ranked) <= set(result.get("ranked", ())) for result in results)
    }
    if len(kept) < 2:
        return {measure: {} for measure in measures}
    trials = (
        _decided(
            test,
            {name: results[number]["decisions"] for name, results in kept.items()},
            is_of_one_label(measures),
            {name: results[number].get("ranked", {}) for name, results in kept.items()},
        )
        for number, test in enumerate(tests)
    )
    return randomisation(trials, measures, seed)


def _decided(
    test: Corpus,
    methods: Mapping[str, Decisions],
    one_label: bool,
    ranked: Mapping[str, KeptShares] | None = None,
) -> Decided:
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
    labels = [*known, *unknown]
    return Decided(
        truth=truth_of(test, labels),
        given={
            name: _matrix(decisions["given"], columns[name], len(labels))
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
        ranked={
            name: {measure: Shares(*np.array(shares)) for measure, shares in of_method.items()}
            for name, of_method in (ranked or {}).items()
        },
    )


def _matrix(given: Sequence[Sequence[int]], columns: NDArray[np.intp], width: int) -> sparse.csr_array:
    """Documents by columns, from the positions among ``columns`` of the labels that each was given."""
    positions = np.fromiter(chain.from_iterable(given), dtype=np.intp)
    starts = np.cumsum([0, *map(len, given)])
    ones = np.ones(len(positions), dtype=bool)
    return sparse.csr_array((ones, columns[positions], starts), shape=(len(given), width))
