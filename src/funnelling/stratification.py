"""Folds and test sets with a fair share of every label in every language, groups kept together.

Iterative stratification (Sechidis, Tsoumakas and Vlahavas, 2011), of groups in place of documents and within
the sizes that each language is to have. A stratum is the documents of one language that have one label, or no
label; all documents of a language are one, too. Groups are dealt one by one, those with the rarest stratum
first, each to the side that has least of its share of that stratum, then of all strata of the group, then by
lot. Groups of several documents precede single ones, which fit into any place that is left.

A label of a single group cannot be on two sides and has no say: its documents are drawn like any others.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.matrices import Folds, Rows
from funnelling.randomness import is_missing, stream

Numbers = npt.NDArray[np.intp]
Labels = Iterable[Collection[Hashable] | None]  # of each document

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
    dealing = _Dealing(np.array(quotas).reshape(-1, k), languages, groups, labels, rng)
    for group in dealing.order:
        sides = dealing.open_to(group)
        dealing.place(group, dealing.neediest(group, sides) if sides else dealing.roomiest(group))
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
    quotas = [(size - quota[tag], quota[tag]) for tag, size in Counter(languages).items()]
    dealing = _Dealing(np.array(quotas).reshape(-1, 2), languages, groups, labels, stream(*keys))
    for group in dealing.order:
        dealing.place(group, dealing.neediest(group, dealing.open_to(group) or [TRAIN]))
    # A group without room leaves places to others: first to what was dealt last, which is not rare.
    for group in reversed(dealing.order):
        if dealing.side_of_group[group] == TRAIN and TEST in dealing.open_to(group):
            dealing.place(group, TEST)
    test: Rows = dealing.sides() == TEST
    return test


class _Dealing:
    """Groups that are dealt to sides in an order, and what each side has got so far of each stratum.

    ``quotas`` say how many documents of each language, as these appear, each side is to have. What a group
    holds stands from ``_first`` to ``_end`` in ``_stratum`` and ``_count``: the rarest stratum first, from
    ``_whole`` on its languages. The first strata are the languages.
    """

    def __init__(
        self,
        quotas: Numbers,
        languages: Sequence[str | None],
        groups: Iterable[Hashable],
        labels: Labels,
        rng: np.random.Generator,
    ) -> None:
        language = _numbered(languages)
        # A document without a group is a group of its own.
        names = (("alone", i) if is_missing(name) else ("group", name) for i, name in enumerate(groups))
        self._group = _numbered(names)
        document, stratum, language_of = _memberships(language, labels)
        holder, stratum, count = _counted(self._group[document], stratum)
        strata, sides = len(language_of), quotas.shape[1]
        holders = np.bincount(stratum, minlength=strata)
        is_language = np.arange(strata) < len(quotas)
        rank = _rank(rng.permutation(strata), holders, is_language)
        shares = quotas / quotas.sum(axis=1, keepdims=True)
        documents = np.bincount(stratum, weights=count, minlength=strata)
        self._due: list[list[float]] = (shares[language_of] * documents[:, None]).tolist()
        self._has = [[0] * sides for _ in range(strata)]
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
        self._lot: list[int] = lots.tolist()
        self.order: list[int] = np.lexsort((lots, rank[stratum[first]], sizes == 1)).tolist()
        self.side_of_group = [TRAIN] * len(sizes)

    def open_to(self, group: int) -> list[int]:
        """The sides that have room for a group, in all its languages."""
        return [side for side, room in enumerate(self._rooms(group)) if room >= 0]

    def roomiest(self, group: int) -> int:
        """The side where a group that fits nowhere exceeds the room least."""
        rooms = self._rooms(group)
        most = max(rooms)
        return self._one_of([side for side, room in enumerate(rooms) if room == most], group)

    def neediest(self, group: int, sides: list[int]) -> int:
        """The side that has least of what it is due."""
        first, end = self._first[group], self._end[group]
        for last in (first + 1, end):
            if len(sides) == 1:
                break
            filled = [0.0] * len(sides)
            for at in range(first, last):
                has, due = self._has[self._stratum[at]], self._due[self._stratum[at]]
                half = self._count[at] / 2
                filled = [
                    so_far + (has[side] + half) / due[side]
                    for so_far, side in zip(filled, sides, strict=True)
                ]
            least = min(filled)
            sides = [side for side, share in zip(sides, filled, strict=True) if share == least]
        return self._one_of(sides, group)

    def place(self, group: int, side: int) -> None:
        """Give a group to a side."""
        self.side_of_group[group] = side
        for at in range(self._first[group], self._end[group]):
            self._has[self._stratum[at]][side] += self._count[at]
        for at in range(self._whole[group], self._end[group]):
            self._left[self._stratum[at]][side] -= self._count[at]

    def sides(self) -> Numbers:
        """The side of each document."""
        return np.array(self.side_of_group, dtype=np.intp)[self._group]

    def _rooms(self, group: int) -> list[int]:
        """How many documents more each side could take beside a group, in the language where it is least."""
        languages = range(self._whole[group], self._end[group])
        rooms = [[left - self._count[at] for left in self._left[self._stratum[at]]] for at in languages]
        return rooms[0] if len(rooms) == 1 else list(map(min, *rooms))

    def _one_of(self, sides: list[int], group: int) -> int:
        return sides[self._lot[group] % len(sides)]


def _memberships(language: Numbers, labels: Labels) -> tuple[Numbers, Numbers, Numbers]:
    """Which document is in which stratum, in two columns, and the language of each stratum."""
    pairs = [(place, label) for place, own in enumerate(labels) for label in own or (None,)]
    document = np.array([place for place, _ in pairs], dtype=np.intp)
    tags = int(language.max(initial=-1)) + 1
    label = _numbered(label for _, label in pairs)
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


def _numbered(values: Iterable[Hashable]) -> Numbers:
    """A number for each value, as they appear."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.intp)
