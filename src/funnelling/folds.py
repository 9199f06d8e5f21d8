"""Folds and test sets with a fair share of every label in every language, groups kept together.

Iterative stratification (Sechidis, Tsoumakas and Vlahavas, 2011), of groups in place of documents and within
the sizes that each language is to have. A stratum is the documents of one language that have one label, or no
label; all documents of a language are one, too. Groups are dealt one by one, those with the rarest stratum
first, each to the side that has room and least of its share of that stratum, then of all strata of the group,
then by lot. Groups of several documents precede single ones, which fit into any place that is left.

A label of a single group cannot be on two sides and has no say: its documents are drawn like any others.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.matrices import Folds, Rows
from funnelling.randomness import is_missing, stream

Numbers = npt.NDArray[np.intp]
Labels = Sequence[Collection[Hashable] | None]  # of each document

TRAIN, TEST = 0, 1


def deal_folds(
    k: int, languages: Sequence[str | None], groups: Iterable[Hashable], labels: Labels, *keys: object
) -> Folds:
    """Give each document a fold from 0 to k - 1, by the random stream of these keys.

    In every language folds differ in size by one document at most, as far as groups allow it.

    >>> folds = deal_folds(2, ["en"] * 6, [None] * 6, [["rare"], ["rare"], [], [], [], []], 0)
    >>> sorted(folds.tolist()), sorted(folds[:2].tolist())
    ([0, 0, 0, 1, 1, 1], [0, 1])
    """
    rng = stream(*keys)
    quotas = [size // k + (rng.permutation(k) < size % k) for size in Counter(languages).values()]
    # All are due the same of a label: else the larger folds would be first in every one of them.
    shares = np.full((len(quotas), k), 1 / k)
    dealing = _Dealing(np.array(quotas).reshape(-1, k), shares, languages, groups, labels, rng)
    for group in dealing.order:
        dealing.place(group, dealing.neediest(group))
    return dealing.sides()


def draw_test(
    quota: Mapping[str | None, int],
    languages: Sequence[str | None],
    groups: Iterable[Hashable],
    labels: Labels,
    *keys: object,
) -> Rows:
    """Which documents are for test: so many of each language, fewer only where groups leave no choice.

    >>> labels = [["rare"], ["rare"], [], []]
    >>> draw_test({"en": 2}, ["en"] * 4, [None] * 4, labels, 0)[:2].tolist().count(True)
    1
    """
    sizes = Counter(languages)
    quotas = np.array([(size - quota[tag], quota[tag]) for tag, size in sizes.items()]).reshape(-1, 2)
    shares = quotas / quotas.sum(axis=1, keepdims=True)
    dealing = _Dealing(quotas, shares, languages, groups, labels, stream(*keys))
    for group in dealing.order:
        is_test = dealing.neediest(group) == TEST and dealing.fits(group, TEST)
        dealing.place(group, TEST if is_test else TRAIN)
    # A group without room leaves places to others: first to what was dealt last, which is not rare.
    for group in reversed(dealing.order):
        if dealing.side_of_group[group] == TRAIN and dealing.fits(group, TEST):
            dealing.place(group, TEST)
    test: Rows = dealing.sides() == TEST
    return test


class _Dealing:
    """Groups that are dealt to sides in an order, and how full each side is of each stratum so far.

    ``quotas`` say how many documents of each language, as these appear, each side is to have, ``shares``
    which part of each of its labels. What a group holds stands from ``_first`` to ``_end`` in ``_stratum``
    and ``_count``: the rarest stratum first, from ``_whole`` on its languages. The first strata are the
    languages.
    """

    def __init__(
        self,
        quotas: Numbers,
        shares: npt.NDArray[np.float64],
        languages: Sequence[str | None],
        groups: Iterable[Hashable],
        labels: Labels,
        rng: np.random.Generator,
    ) -> None:
        # A document without a group is a group of its own.
        names = [("alone", i) if is_missing(name) else ("group", name) for i, name in enumerate(groups)]
        self._group = _numbered(names)
        document, stratum, language_of = _memberships(_numbered(languages), labels)
        holder, stratum, count = _counted(self._group[document], stratum)
        strata, sides = len(language_of), quotas.shape[1]
        holders = np.bincount(stratum, minlength=strata)
        documents = np.bincount(stratum, weights=count, minlength=strata)
        is_language = np.arange(strata) < len(quotas)
        rank = _rank(rng.permutation(strata), holders, is_language)
        with np.errstate(divide="ignore"):  # a side that is due nothing is always full
            part = 1 / (shares[language_of] * documents[:, None])
        self._part: list[list[float]] = part.tolist()  # of what a side is due, that one document is
        self._full: list[list[float]] = (part / 2).tolist()  # with half a document more
        self._left: list[list[int]] = quotas.tolist()

        has_a_say = (holders > 1) | is_language
        at = np.lexsort((rank[stratum], holder))
        at = at[has_a_say[stratum[at]]]
        holder, stratum, count = holder[at], stratum[at], count[at]
        sizes = np.bincount(self._group)
        first, end = (np.searchsorted(holder, np.arange(len(sizes)), side) for side in ("left", "right"))
        self._first: list[int] = first.tolist()
        self._end: list[int] = end.tolist()
        self._whole: list[int] = (end - np.bincount(holder[is_language[stratum]])).tolist()
        self._stratum: list[int] = stratum.tolist()
        self._count: list[int] = count.tolist()
        lots = rng.permutation(len(sizes))
        self._lot: list[int] = (lots % sides).tolist()
        self._turns = [[(side - lot) % sides for side in range(sides)] for lot in range(sides)]
        self.order: list[int] = np.lexsort((lots, rank[stratum[first]], sizes == 1)).tolist()
        self.side_of_group = [TRAIN] * len(sizes)

    def neediest(self, group: int) -> int:
        """The side with room, or where it is exceeded least, that has least of what it is due."""
        full = [self._full[stratum] for stratum in self._stratum[self._first[group] : self._end[group]]]
        of_all = map(fsum, zip(*full, strict=True))
        turns = self._turns[self._lot[group]]
        return min(zip(self._excess(group), full[0], of_all, turns, range(len(turns)), strict=True))[-1]

    def fits(self, group: int, side: int) -> bool:
        """Whether a side has room for a group, in all its languages."""
        whole, end = self._whole[group], self._end[group]
        held = zip(self._stratum[whole:end], self._count[whole:end], strict=True)
        return all(count <= self._left[language][side] for language, count in held)

    def place(self, group: int, side: int) -> None:
        """Give a group to a side."""
        self.side_of_group[group] = side
        first, whole, end = self._first[group], self._whole[group], self._end[group]
        for stratum, count in zip(self._stratum[first:end], self._count[first:end], strict=True):
            self._full[stratum][side] += count * self._part[stratum][side]
        for stratum, count in zip(self._stratum[whole:end], self._count[whole:end], strict=True):
            self._left[stratum][side] -= count

    def sides(self) -> Numbers:
        """The side of each document."""
        return np.array(self.side_of_group, dtype=np.intp)[self._group]

    def _excess(self, group: int) -> list[int]:
        """How many documents of a group each side has no room for, in the language where it is most."""
        whole, end = self._whole[group], self._end[group]
        excess = [
            [count - left if count > left else 0 for left in self._left[language]]
            for language, count in zip(self._stratum[whole:end], self._count[whole:end], strict=True)
        ]
        return excess[0] if len(excess) == 1 else list(map(max, *excess))


def _memberships(language: Numbers, labels: Labels) -> tuple[Numbers, Numbers, Numbers]:
    """Which document is in which stratum, in two columns, and the language of each stratum."""
    of_document = [own or (None,) for own in labels]
    document = np.repeat(np.arange(len(language)), list(map(len, of_document)))
    label = _numbered(list(chain.from_iterable(of_document)))
    tags = int(language.max(initial=-1)) + 1
    of_label, stratum = np.unique(label * tags + language[document], return_inverse=True)
    return (
        np.concatenate([np.arange(len(language)), document]),
        np.concatenate([language, tags + stratum]),
        np.concatenate([np.arange(tags), of_label % max(tags, 1)]),
    )


def _counted(group: Numbers, stratum: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Each stratum of each group, and how many documents it has there."""
    strata = int(stratum.max(initial=-1)) + 1
    pairs, count = np.unique(group * strata + stratum, return_counts=True)
    return pairs // max(strata, 1), pairs % max(strata, 1), count


def _rank(*keys: npt.NDArray[Any]) -> Numbers:
    """The place of each in the order of several keys, the last of which counts most."""
    rank = np.empty(len(keys[0]), dtype=np.intp)
    rank[np.lexsort(keys)] = np.arange(len(rank))
    return rank


def _numbered(values: Sequence[Hashable]) -> Numbers:
    """A number for each value, as they appear."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return np.array([numbers[value] for value in values], dtype=np.intp)
