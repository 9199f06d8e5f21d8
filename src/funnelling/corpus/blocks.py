"""One language's documents in columns of one length, which selections and merging pass on as a whole.

A model keeps texts as bags: their pieces between blanks, sorted. Words and character n-grams are counted in a
bag as in its text, so that a model fitted on bags is the one fitted on the texts, to the bit. A method that
reads words in their order needs the texts as they were written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.formats.document import LineNumber
from funnelling.matrices import (
    AnyTargets,
    Floats,
    Rows,
    downcast_indices,
    is_sparse,
    length,
    stacked,
    take_rows,
)
from funnelling.randomness import is_missing
from funnelling.state import matrix, numbers
from funnelling.text.excerpts import beginning

Places = npt.NDArray[np.intp]

Kind = Literal["as written", "bags", "vectors", "none"]  # of what stands for documents
TEXTS = ("as written", "bags")
SLOTS = ("weights", "soft_targets", "sources", "opinions")  # columns that nobody fills yet
BY_LABEL = ("soft_targets", "opinions")  # those that have a number for each label
# What stands in a column for a document that has nothing there.
BLANK: dict[str, Any] = {
    **dict.fromkeys(("groups", "beginnings", "sources"), ""),
    "weights": 1,
    "soft_targets": np.nan,
    "opinions": np.nan,
}


def bag(text: str) -> str:
    """A text with its pieces between blanks sorted: what it says is gone, what it counts is not.

    >>> bag("the cat saw the dog")
    'cat dog saw the the'
    """
    return " ".join(sorted(text.split()))


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """One language's documents, in columns of one length.

    ``unnamed`` documents have only a number for an id, and are known by their ``content``: texts, bags or
    vectors, None where nothing is kept. ``targets`` have the columns that are learned. ``groups`` has "" for
    a document without one, ``beginnings`` for a text of which none is known. There may be the ``weights`` of
    documents, the probabilities of their labels (``soft_targets``), where they come from (``sources``), and
    what others predict for them (``opinions``), NaN where nothing is known of a label.
    """

    ids: list[str]
    unnamed: Annotated[Rows, numbers("documents", kinds="b", least=0, most=1)]
    groups: list[str]
    targets: Annotated[AnyTargets, matrix("documents", None, "b")]
    content: list[str] | Annotated[Any, matrix("documents", None)] | None = None
    beginnings: list[str] | None = None
    weights: Annotated[Floats, numbers("documents", least=0)] | None = None
    soft_targets: Annotated[Floats, numbers("documents", None, nan=True)] | None = None
    sources: list[str] | None = None
    opinions: Annotated[Floats, numbers("documents", None, nan=True)] | None = None

    @classmethod
    def of(
        cls, ids: Sequence[str], groups: Sequence[Any] | None, targets: AnyTargets, **columns: Any
    ) -> Self:
        """Documents whose ids may be a `LineNumber`, and which may have no group."""
        return cls(
            ids=list(map(str, ids)),
            unnamed=np.array([isinstance(name, LineNumber) for name in ids], dtype=bool),
            groups=[""] * len(ids) if groups is None else ["" if is_missing(g) else str(g) for g in groups],
            targets=targets,
            **columns,
        )

    def __len__(self) -> int:
        return length(self.targets)

    @property
    def documents(self) -> Any:
        """The content, for whoever knows of what kind it is."""
        return self.content

    @property
    def names(self) -> list[str]:
        """The documents' ids; those of documents without one are numbers, told apart by their type."""
        pairs = zip(self.ids, self.unnamed.tolist(), strict=True)
        return [LineNumber(name) if unnamed else name for name, unnamed in pairs]

    @property
    def grouping(self) -> list[str | None] | None:
        """The documents' groups as folds take them: None where no document has one."""
        return [name or None for name in self.groups] if any(self.groups) else None

    def columns(self) -> dict[str, Any]:
        """The columns that there are, by name."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: values for name, values in found.items() if values is not None}

    def take(self, rows: Places) -> Self:
        """Some documents, in this order."""
        return replace(self, **{name: take_rows(values, rows) for name, values in self.columns().items()})

    def followed_by(self, further: "Block") -> Self:
        """These documents, and further ones after them."""
        own, others = self.columns(), further.columns()
        return replace(
            self,
            **{
                name: _joined(
                    _or_blank(name, own.get(name), len(self), others.get(name)),
                    _or_blank(name, others.get(name), len(further), own.get(name)),
                )
                for name in {**own, **others}
            },
        )

    def updated(self, other: "Block", names: Sequence[str], rows: Mapping[int, int]) -> Self:
        """These documents with some columns of others, where those have them: at each place the row there."""
        own, others = self.columns(), other.columns()
        order = np.arange(len(self))
        order[list(rows)] = [len(self) + row for row in rows.values()]
        changed = {}
        for name in names if rows else ():
            if name in others:
                before = _or_blank(name, own.get(name), len(self), others[name])
                changed[name] = take_rows(_joined(before, others[name]), order)
        return replace(self, **changed)

    def with_targets(self, targets: AnyTargets, columns: Sequence[Sequence[int]] | None = None) -> Self:
        """The same documents with other labels, each of which stands for those of some earlier ``columns``.

        What is known by label follows: a new label has no number, and one that stands for several has the
        highest of theirs, as it has the documents of all of them.
        """
        moved = {"targets": targets}
        for name in BY_LABEL if columns is not None else ():
            if (values := getattr(self, name)) is not None:
                moved[name] = _pooled(values, columns or ())
        return replace(self, **moved)

    def kept(self, kind: Kind, keep_texts: bool) -> Self:
        """What a model is to keep of documents of some kind."""
        beginnings, content = self.beginnings, self.documents
        if kind == "as written":
            beginnings = list(map(beginning, content)) if beginnings is None else beginnings
            content = content if keep_texts else list(map(bag, content))
        elif kind == "vectors":
            content = sparse.csr_array(content) if is_sparse(content) else content
        return replace(self, targets=downcast_indices(self.targets), content=content, beginnings=beginnings)


def _or_blank(name: str, values: Any, size: int, like: Any) -> Any:
    """A column, filled up with blanks where there is none."""
    if values is not None:
        return values
    if isinstance(like, list):
        return [BLANK[name]] * size
    return np.full((size, *like.shape[1:]), BLANK[name], dtype=like.dtype)


def _pooled(values: Floats, columns: Sequence[Sequence[int]]) -> Floats:
    """For each list of columns their highest numbers, NaN where there are none."""
    pooled = np.full((len(values), len(columns)), np.nan, dtype=values.dtype)
    for place, some in enumerate(columns):
        if some:
            pooled[:, place] = np.fmax.reduce(values[:, list(some)], axis=1)
    return pooled


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, list):
        return [*first, *second]
    return np.concatenate([first, second]) if first.ndim == 1 else stacked({"first": first, "second": second})


def rows_at(chosen: Rows | Places) -> Places:
    """The places of rows that are chosen by a mask or by their places."""
    return np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.intp, copy=False)
