"""What a model keeps of its training documents: enough to learn on, to correct, and to forget.

Texts are kept as bags: their pieces between blanks, sorted. Whatever counts words or runs of characters sees
in a bag what it saw in the text, so that a model fitted on bags is the one fitted on the texts, to the bit; a
method that reads words in their order needs the texts as they were written.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError
from funnelling.formats.document import LineNumber
from funnelling.matrices import (
    AnyTargets,
    Matrix,
    Rows,
    downcast_indices,
    is_sparse,
    length,
    sizes_of,
    take_rows,
)
from funnelling.methods.training_set import TrainingSet
from funnelling.randomness import is_missing
from funnelling.state import Seed, expect, expect_by, matrix, numbers

Classes = npt.NDArray[Any]
Places = npt.NDArray[np.intp]


def bag(text: str) -> str:
    """A text with its pieces between blanks sorted: what it says is gone, what it counts is not.

    >>> bag("the cat saw the dog")
    'cat dog saw the the'
    """
    return " ".join(sorted(text.split()))


@dataclass(frozen=True, kw_only=True)
class Archive:
    """Training documents by language, and their labels, in the columns that were learned.

    ``texts`` are bags unless they are ``as_written``; documents that came as vectors are in ``vectors``
    instead. ``unnamed`` says which documents have only a number for an id, and are known by their text.
    ``groups`` has "" for a document without one, ``beginnings`` for a text of which none is known. ``seed``
    is what all random choices were made with.

    An archive of texts that were too many has none of them.
    """

    seed: Seed
    ids: dict[str, list[str]]
    groups: dict[str, list[str]]
    targets: dict[str, Annotated[AnyTargets, matrix(None, None, "b")]]
    unnamed: dict[str, Annotated[Rows, numbers(None, kinds="b", least=0, most=1)]]
    vectors: dict[str, Annotated[Matrix, matrix(None, None)]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    as_written: bool = False
    beginnings: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, learned: TrainingSet, keep_texts: bool = False) -> Self:
        """What is worth keeping of a fit."""
        texts: dict[str, list[str]] = learned.documents if learned.texts else learned.prepared_texts or {}
        as_written = keep_texts and learned.as_written
        written = learned.as_written and not as_written  # and only their words are to be kept
        return cls(
            seed=learned.seed,
            ids={tag: list(map(str, ids)) for tag, ids in learned.ids.items()},
            groups={tag: group_names(learned.groups[tag], size) for tag, size in learned.sizes.items()},
            targets={tag: downcast_indices(rows) for tag, rows in learned.targets.items()},
            vectors={} if texts or learned.prepared_texts is not None else _plain(learned.documents),
            texts={tag: list(map(bag, each)) for tag, each in texts.items()} if written else texts,
            as_written=as_written,
            unnamed={tag: unnamed_rows(ids) for tag, ids in learned.ids.items()},
            beginnings=learned.beginnings(),
        )

    def check_documents(
        self, columns: int, features: Mapping[str, int] | None, sparse_labels: bool = False
    ) -> None:
        """Refuse what cannot be learned on: of each document the same, of labels in so many columns.

        ``features`` are the columns of each language's vectors, None where documents are texts.
        """
        what = "the labels of documents"
        languages = self.targets.keys()
        expect(all(is_sparse(rows) == sparse_labels for rows in self.targets.values()), what)
        sizes = {tag: length(rows) for tag, rows in self.targets.items()}
        widths = {rows.shape[1:] for rows in self.targets.values()}
        # Of two that are left of several which exclude each other, a document may have neither.
        expect(widths == {(columns,)} or (columns == 1 and widths == {(2,)}), what)
        if sparse_labels:
            expect(all(rows.has_canonical_format and rows.data.all() for rows in self.targets.values()), what)
        expect_by(self.ids, languages, "the ids of documents")
        for name in ("ids", "groups", "texts", "vectors", "unnamed", "beginnings"):
            what, kept = f"the {name} of documents", getattr(self, name)
            expect(not kept or kept.keys() == languages or name == "beginnings", what)
            expect(kept.keys() <= languages, what)
            for tag, values in kept.items():
                expect(length(values) == sizes[tag], what)
                if name == "vectors" and features is not None:
                    expect(values.shape[1] == features[tag], what)

    @property
    def documents(self) -> dict[str, Any]:
        """The documents as they can be learned again: texts, or else vectors."""
        return self.texts or self.vectors

    @property
    def sizes(self) -> dict[str, int]:
        """How many documents there are, by language."""
        return sizes_of(self.targets)

    def names(self, language: str) -> list[str]:
        """The documents' ids; those of documents without one are numbers, told apart by their type."""
        pairs = zip(self.ids[language], self.unnamed[language].tolist(), strict=True)
        return [LineNumber(name) if unnamed else name for name, unnamed in pairs]

    def given_ids(self, language: str) -> set[str]:
        """The ids that documents of a language were given."""
        return {name for name in self.names(language) if not isinstance(name, LineNumber)}

    def grouping(self) -> dict[str, Sequence[Any] | None]:
        """The documents' groups as a fit takes them: None for all where no document has one."""
        grouped = any(name for names in self.groups.values() for name in names)
        return {
            language: [name or None for name in names] if grouped else None
            for language, names in self.groups.items()
        }

    def contents(self, language: str) -> list[Any]:
        """What each document holds, in a form that can be looked up; nothing is empty."""
        return self.texts[language] if self.texts else vector_contents(self.vectors[language])

    def contents_of(self, documents: Any) -> list[Any]:
        """What other documents hold, as it would be kept here."""
        if not isinstance(documents, list):
            return vector_contents(documents)
        return documents if self.as_written else list(map(bag, documents))

    def find(self, language: str, names: Sequence[str], contents: Sequence[Any]) -> list[list[int]]:
        """For each document of a language the rows that it is known as: by its id, or by what it holds.

        Two documents that both have an id are the same if that is; others are where they hold the same. Of
        several that cannot be told apart, each goes with one in their order; one that comes alone is all of
        them. An id that several documents have does not tell which of them one is that holds something else.
        """
        if language not in self.ids:
            return [[] for _ in names]
        archived, held = self.names(language), self.contents(language)
        by_id: dict[str, list[int]] = {}
        by_content: dict[Any, list[int]] = {}
        for row, name in enumerate(archived):
            if not isinstance(name, LineNumber):
                by_id.setdefault(name, []).append(row)
            if held[row]:
                by_content.setdefault(held[row], []).append(row)
        alike: list[list[int]] = []
        for name, content in zip(names, contents, strict=True):
            rows = by_content.get(content, [])
            if not isinstance(name, LineNumber):
                known = by_id.get(name, [])
                same = [row for row in known if held[row] == content]
                if len(known) > 1 and not same:
                    raise InputError(
                        f"{len(known)} training documents have the id {name!r}, and none of them this text. "
                        "Give each document an id of its own, or none (--id-column none)."
                    )
                unnamed = [row for row in rows if isinstance(archived[row], LineNumber)]
                rows = (same if len(known) > 1 else known) or unnamed
            alike.append(rows)
        return _in_their_order(alike)

    def knows(
        self, languages: Sequence[Any], texts: Sequence[str], ids: Sequence[str], groups: Sequence[Any]
    ) -> Rows:
        """Which texts, or others of their group, are among the documents."""
        named = {name for names in self.groups.values() for name in names if name}
        known = np.array([group in named for group in groups], dtype=bool)
        codes = np.asarray(languages, dtype=object)
        for language in self.ids:
            rows = np.flatnonzero(codes == language).tolist()
            if not rows:
                continue
            held = self.contents_of([texts[row] for row in rows])
            found = self.find(language, [ids[row] for row in rows], held)
            known[rows] |= np.array([bool(places) for places in found], dtype=bool)
        return known

    def find_ids(self, ids: Sequence[str]) -> dict[str, Places]:
        """The rows of documents with these ids, by language; ids that none has are refused."""
        wanted = set(ids)
        found = {
            language: np.flatnonzero([name in wanted for name in names] & ~unnamed_rows(names))
            for language, names in ((tag, self.names(tag)) for tag in self.ids)
        }
        known = {self.ids[language][row] for language, rows in found.items() for row in rows}
        unknown = [name for name in ids if name not in known]
        if unknown:
            more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
            raise InputError(f"No document that the model learned from has the id {unknown[0]!r}{more}.")
        return {language: rows for language, rows in found.items() if len(rows)}

    def only(self, rows: Mapping[str, Places]) -> Self:
        """Some documents of each language, in this order; languages without any are left out."""

        def taken(column: Mapping[str, Any]) -> dict[str, Any]:
            present = {tag: where for tag, where in rows.items() if len(where) and tag in column}
            return {tag: take_rows(column[tag], where) for tag, where in present.items()}

        return replace(
            self,
            ids=taken(self.ids),
            groups=taken(self.groups),
            targets=taken(self.targets),
            vectors=taken(self.vectors),
            texts=taken(self.texts),
            unnamed=taken(self.unnamed),
            beginnings=taken(self.beginnings),
        )

    def training_set(self, vectors: Mapping[str, Any], labels: LabelSpace, **further: Any) -> TrainingSet:
        """The documents to be learned again, with the folds that a fit on them all at once would have."""
        return TrainingSet(
            self.documents,
            vectors,
            self.targets,
            self.grouping(),
            {language: self.names(language) for language in self.ids},
            texts=bool(self.texts),
            labels=labels,
            seed=self.seed,
            prepared_beginnings=self.beginnings,
            as_written=self.as_written,
            **further,
        )


def _in_their_order(alike: list[list[int]]) -> list[list[int]]:
    """One row for each of several documents that were found in the same ones; those left over have none."""
    comers, turns = Counter(map(tuple, alike)), Counter[tuple[int, ...]]()
    found = []
    for rows in alike:
        turn = turns[tuple(rows)]
        turns[tuple(rows)] += 1
        alone = comers[tuple(rows)] == 1 or len(rows) == 1
        found.append(rows if alone else rows[turn : turn + 1])
    return found


def _plain(vectors: Mapping[str, Any]) -> dict[str, Matrix]:
    return {tag: sparse.csr_array(X) if is_sparse(X) else X for tag, X in vectors.items() if X is not None}


def vector_contents(vectors: Any) -> list[bytes]:
    """What each vector holds, in a form that can be looked up."""
    matrix = sparse.csr_array(vectors, dtype=np.float64, copy=True)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    indices = matrix.indices.astype(np.int64)
    return [
        indices[start:end].tobytes() + matrix.data[start:end].tobytes()
        for start, end in pairwise(matrix.indptr.tolist())
    ]


def unnamed_rows(names: Sequence[str]) -> Rows:
    """Which documents have only a number for an id."""
    return np.array([isinstance(name, LineNumber) for name in names], dtype=bool)


def group_names(groups: Sequence[Any] | None, documents: int) -> list[str]:
    """The names of documents' groups, "" for a document without one."""
    if groups is None:
        return [""] * documents
    return ["" if is_missing(name) else str(name) for name in groups]
