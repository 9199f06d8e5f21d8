"""Whether methods differ by more than chance: the paper's paired t-tests, and randomisation over groups.

If two methods were equally good, it would be chance which of them decided what. So their decisions are
swapped at random, many times, and p is the share of the draws that part the two by as much as they are apart.
Documents that belong together, such as the versions of a text, are swapped together, in every language and
every trial: to see them often proves nothing more. It is approximate randomisation, after Yeh (2000).
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from funnelling.errors import InputError
from funnelling.evaluation.measures import Columns, Counts, FloatArray, ratio
from funnelling.evaluation.ranking import Shares
from funnelling.evaluation.registry import MEASURES, SINGLE_LABEL_MEASURES, is_of_one_label
from funnelling.matrices import AnyTargets, values_at
from funnelling.randomness import stream

# Scores lie between -1 and 1; differences below this are rounding.
_SCORE_ABS_TOL = 1e-12


NOT_COMPARED = ("upper-bound",)  # it reads more than others may, and is measured on English alone


class Significance(TypedDict):
    """The best method, and for each rival the p-value of its difference from it."""

    best: str | None
    p: dict[str, float | None]


def significance(scores: Mapping[str, ArrayLike], exclude: Collection[str] = NOT_COMPARED) -> Significance:
    """The method of the best mean, and p of a paired two-tailed t-test between it and each rival.

    A method's scores are those of its (trial, language) pairs, in the same order for all; fewer than
    two pairs give a p of None. Excluded methods are left out. Between equal means the first is best.

    >>> result = significance({"naive": [.5, .6, .5], "fun-tat": [.6, .8, .8], "upper-bound": [.9, .9, .9]})
    >>> result["best"], {method: round(p, 3) for method, p in result["p"].items()}
    ('fun-tat', {'naive': 0.074})
    >>> significance({"naive": [.5, .6], "fun-tat": [.6]})
    Traceback (most recent call last):
    funnelling.errors.InputError: naive has 2 scores and fun-tat 1: they must be paired.
    """
    samples = {
        method: np.asarray(values, dtype=float).ravel()
        for method, values in scores.items()
        if method not in exclude
    }
    if not samples:
        return {"best": None, "p": {}}
    _check(samples)
    best = max(samples, key=lambda method: samples[method].mean())
    return {
        "best": best,
        "p": {
            method: paired_p(samples[best], sample) for method, sample in samples.items() if method != best
        },
    }


def dagger(p: float | None) -> str:
    """The mark of a method that is not clearly different from the best: the likelier that is, the fewer.

    >>> [dagger(p) for p in (0.2, 0.05, 0.01, 0.001, 0.0001, None)]
    ['†', '†', '††', '††', '', '']
    """
    if p is None or p < 0.001:
        return ""
    return "†" if p >= 0.05 else "††"


def rivals_of(methods: Iterable[str]) -> list[str]:
    """The methods that are tested against each other."""
    return [method for method in methods if method not in NOT_COMPARED]


def paired_p(a: ArrayLike, b: ArrayLike) -> float | None:
    """The p of a paired two-tailed t-test between two methods' scores; of fewer than two pairs None.

    >>> round(paired_p([.5, .6, .5], [.6, .8, .8]), 3)
    0.074
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(first) < 2:
        return None
    differences = first - second
    if np.ptp(differences) <= _SCORE_ABS_TOL:
        # Without variance t is infinite, or 0/0 where nothing differs.
        return 1.0 if abs(differences[0]) <= _SCORE_ABS_TOL else 0.0

    from scipy.stats import ttest_rel

    return float(ttest_rel(first, second).pvalue)


def _check(samples: Mapping[str, NDArray[np.float64]]) -> None:
    first = next(iter(samples))
    for method, sample in samples.items():
        if len(sample) != len(samples[first]):
            raise InputError(
                f"{first} has {len(samples[first])} scores and {method} {len(sample)}: they must be paired."
            )
        if not len(sample) or not np.isfinite(sample).all():
            raise InputError(f"{method} needs at least one score, and every score a finite number.")


N_DRAWS = 1_000  # the first of them swaps nothing: what was observed is one of the draws
VALUES_PER_BLOCK = 100_000  # numbers that are worked on at a time: they fit into the cache of a processor
ABS_TOL = 1e-12  # differences below this are none

Pair = tuple[str, str]


@dataclass(frozen=True)
class ComparedDecisions:
    """What several methods decided on the same documents of a trial, all with the same columns of labels.

    ``known`` are the columns that a method is measured on, those it could have learned; of documents with
    one label each, accuracy and macro-F1 run over all columns. Documents of one of the ``units`` are swapped
    together. ``ranked`` are the measures of ranked labels, by method: what each document adds is swapped.
    """

    truth: AnyTargets
    given: Mapping[str, sparse.csr_array]
    known: Mapping[str, Columns]
    languages: Sequence[str]
    units: Sequence[Hashable]
    ranked: Mapping[str, Mapping[str, Shares]] = field(default_factory=dict)


def randomisation(
    trials: Iterable[ComparedDecisions], measures: Sequence[str], seed: int = 0
) -> dict[str, dict[Pair, float]]:
    """The two-sided p of each pair of methods, by each measure averaged over languages and trials.

    >>> truth = np.ones((4, 1), dtype=bool)
    >>> given = {"good": sparse.csr_array(truth), "bad": sparse.csr_array(~truth)}
    >>> known = dict.fromkeys(given, slice(None))
    >>> apart = ComparedDecisions(truth, given, known, ["en"] * 4, units=[1, 2, 3, 4])
    >>> together = ComparedDecisions(truth, given, known, ["en"] * 4, units=[1, 1, 1, 1])
    >>> [randomisation([trial], ["micro_f1"]) for trial in (apart, together)]
    [{'micro_f1': {('good', 'bad'): 0.114}}, {'micro_f1': {('good', 'bad'): 1.0}}]
    """
    differences: dict[str, dict[Pair, FloatArray]] = {measure: {} for measure in measures}
    for trial in trials:
        for pair, draws, values in _differences(trial, measures, seed):
            for measure, difference in values.items():
                differences[measure].setdefault(pair, np.zeros(N_DRAWS))[draws] += difference
    return {
        measure: {pair: _p(of_draws) for pair, of_draws in by_pair.items()}
        for measure, by_pair in differences.items()
    }


def _p(differences: FloatArray) -> float:
    """The share of the draws that differ by as much as the first, in either direction."""
    sizes = np.abs(differences)
    return float(np.mean(sizes >= sizes[0] - ABS_TOL))


def _differences(
    trial: ComparedDecisions, measures: Sequence[str], seed: int
) -> Iterator[tuple[Pair, slice, dict[str, FloatArray]]]:
    """What each language adds to the differences of each pair in a trial, some draws at a time."""
    units, unit = _numbered(trial.units)
    swaps = _swaps(units, seed)
    labels = trial.truth.shape[1]
    counted = [measure for measure in measures if measure in MEASURES]
    ranked = [measure for measure in measures if measure not in MEASURES]
    languages, language = _numbered(trial.languages)
    for rows in (np.flatnonzero(language == number) for number in range(len(languages))):
        truth = trial.truth[rows]
        positives = truth.sum(axis=0)[:, None]
        own, own_unit = np.unique(unit[rows], return_inverse=True)
        tables = {name: _table(given[rows], truth, own_unit) for name, given in trial.given.items()}
        observed = {name: table.sum(axis=1).reshape(2, labels, 1) for name, table in tables.items()}
        added = {
            name: _added([shares[measure] for measure in ranked], rows, own_unit)
            for name, shares in (trial.ranked.items() if ranked else ())
        }
        step = max(1, VALUES_PER_BLOCK // max(labels, len(own)))
        for start in range(0, N_DRAWS, step):
            draws = slice(start, start + step)
            # Counts are sums over units: those of the units that are swapped go over to the other method.
            chosen = swaps[own, draws].astype(float)
            swapped = {name: (table @ chosen).reshape(2, labels, -1) for name, table in tables.items()}
            swapped_shares = {name: table @ chosen for name, table in added.items()}
            for a, b in combinations(tables, 2):
                moved = swapped[b] - swapped[a]
                sides = []
                for name, (tp, fp) in ((a, observed[a] + moved), (b, observed[b] - moved)):
                    counts = Counts(tp, fp, positives - tp, len(rows) - positives - fp)
                    sides.append(_measured(counts, trial.known[name], counted))
                if ranked:
                    moved = swapped_shares[b] - swapped_shares[a]
                    for side, name, sign in zip(sides, (a, b), (1, -1), strict=True):
                        values, weights = np.split(added[name].sum(axis=1)[:, None] + sign * moved, 2)
                        side |= zip(ranked, np.where(weights > 0, ratio(values, weights), 0), strict=True)
                yield (a, b), draws, {m: (sides[0][m] - sides[1][m]) / len(languages) for m in measures}


def _measured(counts: Counts, known: Columns, measures: Sequence[str]) -> dict[str, FloatArray]:
    """The measures of each draw."""
    learned = counts.of_labels(known)
    whole = SINGLE_LABEL_MEASURES if is_of_one_label(measures) else ()
    return {name: MEASURES[name].of(counts if name in whole else learned) for name in measures}


def _added(measures: Sequence[Shares], rows: NDArray[np.intp], unit: NDArray[np.intp]) -> sparse.csr_array:
    """What documents of each unit add to each measure, and below that what they weigh in it."""
    columns = [each.values[rows] for each in measures] + [each.weights[rows] for each in measures]
    return sparse.csr_array(np.vstack([np.bincount(unit, weights=column) for column in columns]))


def _table(given: sparse.csr_array, truth: AnyTargets, unit: NDArray[np.intp]) -> sparse.csr_array:
    """How often each label was rightly given to documents of each unit, and below that how often wrongly."""
    document, label = given.nonzero()
    wrong = ~values_at(truth, document, label)
    row = wrong * truth.shape[1] + label
    shape = (2 * truth.shape[1], unit.max() + 1)
    return sparse.csr_array((np.ones(len(row)), (row, unit[document])), shape=shape)


def _swaps(units: Sequence[Hashable], seed: int) -> NDArray[np.bool_]:
    """Which units are swapped in which draw: each has a stream of its own, the same in every trial."""
    swaps = np.array([stream(seed, "swap", unit).integers(0, 2, N_DRAWS, dtype=bool) for unit in units])
    swaps[:, 0] = False
    return swaps


def _numbered(names: Sequence[Hashable]) -> tuple[list[Hashable], NDArray[np.intp]]:
    """What occurs, and for each name the number of it."""
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return list(places), np.array([places[name] for name in names], dtype=np.intp)
