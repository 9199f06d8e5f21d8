"""What a label set makes of a model's answers: labels not to be given, and parents that a child brings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.matrices import canonical, is_sparse

MAX_DEPTH = 64  # labels above a label, one above the other

Edges = npt.NDArray[np.int64]  # (pairs, 2): the place of a label, that of its parent
Depths = npt.NDArray[np.int64]


def depths(edges: Edges, labels: Sequence[str]) -> Depths:
    """How many labels stand above each, on the longest way up; circles are refused.

    >>> depths(np.array([[0, 1], [1, 2]]), ["cats", "pets", "animals"]).tolist()
    [2, 1, 0]
    >>> depths(np.array([[0, 1], [1, 0]]), ["cats", "pets"])
    Traceback (most recent call last):
    funnelling.errors.InputError: label "cats" is among its own parents: cats > pets > cats. Break the circle.
    """
    found = np.zeros(len(labels), dtype=np.int64)
    children, parents = edges.T
    for _ in range(MAX_DEPTH + 1):
        deeper = found.copy()
        np.maximum.at(deeper, children, found[parents] + 1)
        if np.array_equal(deeper, found):
            return found
        found = deeper
    raise InputError(_too_deep(edges, found, labels))


def _too_deep(edges: Edges, found: Depths, labels: Sequence[str]) -> str:
    """What is wrong with labels that stand too deep: the way up from one ends nowhere, or where it began."""
    above: dict[int, list[int]] = {}
    for child, parent in edges.tolist():
        above.setdefault(child, []).append(parent)
    way = [int(found.argmax())]
    steps = {way[0]: 0}
    while way[-1] in above:
        higher = max(above[way[-1]], key=lambda parent: int(found[parent]))
        if higher in steps:
            circle = way[steps[higher] :]
            start = circle.index(min(circle))
            shown = [labels[place] for place in (*circle[start:], *circle[:start], circle[start])]
            named = " > ".join(shown if len(shown) <= 6 else [*shown[:3], "…", *shown[-2:]])
            return f"label {quoted(shown[0])} is among its own parents: {named}. Break the circle."
        steps[higher] = len(way)
        way.append(higher)
    return f"label {quoted(labels[way[0]])} has more than {MAX_DEPTH} labels above it. Take some out."


@dataclass(frozen=True)
class Hierarchy:
    """The labels of a model and all that stand above them.

    ``classes`` are those of the model, ``labels`` these, in its order, then the others. ``levels`` has, from
    the deepest labels up, the places of children, sorted by parent, where each parent's begin, and the
    parents. ``joined`` says whether any label of the model stands above another.
    """

    classes: tuple[str, ...]
    labels: tuple[str, ...]
    depth: Depths
    levels: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.intp]]]
    joined: bool

    @classmethod
    def of(cls, classes: Sequence[str], labels: Sequence[str], edges: Edges) -> "Hierarchy":
        """The part of a set of ``labels`` that matters to a model with some classes."""
        columns = {label: column for column, label in enumerate(classes)}
        known = np.array([label in columns for label in labels], dtype=bool)
        children, parents = edges.T
        reached = known.copy()  # from a label of the model, upwards
        while not reached[higher := parents[reached[children]]].all():
            reached[higher] = True
        for place in np.flatnonzero(reached & ~known).tolist():
            columns[labels[place]] = len(columns)
        column = np.array([columns.get(label, -1) for label in labels], dtype=np.intp)
        deep = depths(edges, labels)
        kept = edges[reached[children]]
        levels = [_level(column[kept[deep[kept[:, 0]] == d]]) for d in range(int(deep.max(initial=0)), 0, -1)]
        depth = np.zeros(len(columns), dtype=np.int64)
        depth[column[reached]] = deep[reached]
        # Below every label that was reached is one of the model's: one of these is above another one if it is
        # a parent at all.
        return cls(
            tuple(classes),
            tuple(columns),
            depth,
            [level for level in levels if len(level[0])],
            bool(known[kept[:, 1]].any()),
        )

    @cached_property
    def columns(self) -> dict[str, int]:
        """Where the model has its labels."""
        return {label: column for column, label in enumerate(self.classes)}

    @cached_property
    def special_first(self) -> npt.NDArray[np.intp]:
        """The columns of the model, those of labels with more above them first, if any has one of its own."""
        depth = self.depth[: len(self.classes)]
        return np.argsort(-depth, kind="stable") if self.joined else np.arange(len(depth))

    def raised(self, values: Any) -> Any:
        """Values of the model's labels, then of the others: each at least as large as those below it.

        Sparse values, none of them negative, stay sparse.

        >>> pets = Hierarchy.of(["cats", "animals"], ["animals", "pets", "cats"], np.array([[2, 1], [1, 0]]))
        >>> pets.labels, pets.raised(np.array([[0.7, 0.2]])).tolist()
        (('cats', 'animals', 'pets'), [[0.7, 0.7, 0.7]])
        """
        if is_sparse(values):
            return self._raised_sparse(values)
        others = np.zeros((len(values), len(self.labels) - values.shape[1]), dtype=values.dtype)
        raised = np.hstack([values, others])
        for children, starts, parents in self.levels:
            highest = np.maximum.reduceat(raised[:, children], starts, axis=1)
            raised[:, parents] = np.maximum(raised[:, parents], highest)
        return raised

    def _raised_sparse(self, values: sparse.csr_array) -> sparse.csr_array:
        shape = (values.shape[0], len(self.labels))
        raised = sparse.csr_array((values.data, values.indices, values.indptr), shape)
        for children, starts, parents in self.levels:
            above = np.repeat(parents, np.diff([*starts, len(children)]))
            own: Any = raised[:, children].tocoo()
            # Of the children of one parent, the largest last.
            order = np.lexsort((own.data, above[own.col], own.row))
            rows, columns = own.row[order], above[own.col[order]]
            last = np.append((rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1]), True)[: len(rows)]
            highest = (own.data[order][last], (rows[last], columns[last]))
            raised = raised.maximum(sparse.csr_array(highest, shape))
        return canonical(raised)


def _level(edges: npt.NDArray[np.intp]) -> Any:
    """Edges whose children stand equally deep, by their parents."""
    edges = edges[np.lexsort((edges[:, 0], edges[:, 1]))]
    parents, starts = np.unique(edges[:, 1], return_index=True)
    return edges[:, 0], starts, parents


Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LabelRules:
    """Which labels of a model are not to be assigned, and which stand above which.

    Excluded labels take no part: they bring no parents, and have the probability 0. Where each document has
    one label there are no parents to bring.
    """

    excluded: Flags
    hierarchy: Hierarchy

    def check(self) -> None:
        """Refuse rules that leave nothing to assign."""
        if self.excluded.all():
            raise InputError("Every label of the model is excluded. Leave at least one.")

    def order(self) -> npt.NDArray[np.intp]:
        """The columns that may be shown; of labels that are equally probable, the deeper one is the first."""
        by_depth = self.hierarchy.special_first
        return by_depth[~self.excluded[by_depth]]

    def several(self, assigned: Flags, probabilities: Floats, thresholds: Floats) -> tuple[Flags, Floats]:
        """Answers to documents that may have several labels, as the rules have them.

        A label is as probable as the most probable one below it, and assigned if that is above its threshold,
        or if one below it is assigned.
        """
        own = np.where(self.excluded, 0.0, probabilities)
        given = assigned & ~self.excluded
        if not self.hierarchy.joined:
            return given, own
        width = len(self.excluded)
        raised = self.hierarchy.raised(own)[:, :width]
        given |= (raised > own) & (raised > thresholds)
        given = self.hierarchy.raised(given)[:, :width]
        return given & ~self.excluded, np.where(self.excluded, 0.0, raised)

    def one(self, scores: npt.NDArray[Any], probabilities: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
        """The column of each document's one label, the best of those not excluded, and all probabilities."""
        left = ~self.excluded
        best = np.where(left, scores, -np.inf).argmax(axis=1)
        own = np.where(left, probabilities, 0.0)
        total = own.sum(axis=1, keepdims=True)
        even = np.broadcast_to(left / left.sum(), own.shape)
        with np.errstate(invalid="ignore"):
            return best, np.where(total > 0, own / total, even)
