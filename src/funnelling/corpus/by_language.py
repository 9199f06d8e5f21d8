"""Documents by language: what a method learns from, what a model keeps to learn again, and what it labels."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse

from funnelling.corpus.blocks import BY_LABEL, TEXTS, Block, Kind, Places, bag, rows_at
from funnelling.corpus.corpus import Corpus, label_matrix, sparse_label_matrix
from funnelling.corpus.labels import LabelSpace, check_learnable
from funnelling.errors import InputError
from funnelling.formats.document import LineNumber
from funnelling.matrices import AnyTargets, Folds, Rows, is_sparse, length, positions_of, sizes_of
from funnelling.randomness import assign_folds
from funnelling.state import Between, expect
from funnelling.text.languages import normalise_tag

INNER_FOLDS = 5  # of every inner cross-validation: calibration, choice of C


@dataclass
class Contents:
    """Documents of which nothing else is known, by language: ``texts`` in lists, or a matrix for each.

    ``positions`` says where the documents of a language stand in what the user gave, None where that
    was a mapping by language already.
    """

    documents: dict[str, Any]
    positions: dict[str, Places] | None
    texts: bool

    @classmethod
    def of_texts(cls, texts: Sequence[str], languages: Sequence[str]) -> Self:
        """Texts in languages that are known by these codes."""
        positions = positions_of(languages)
        documents = {tag: [texts[row] for row in rows.tolist()] for tag, rows in positions.items()}
        return cls(documents, positions, texts=True)

    def sizes(self) -> dict[str, int]:
        """How many documents each language has."""
        return sizes_of(self.documents)

    def gather(self, results: Mapping[str, Any]) -> Any:
        """Put results by language into the user's order, or leave them a mapping if X was one."""
        if self.positions is None:
            return dict(results)
        blocks = list(results.values())
        if any(map(is_sparse, blocks)):
            rows = np.argsort(np.concatenate([self.positions[language] for language in results]))
            return sparse.csr_array(sparse.vstack(blocks, format="csr")[rows])
        gathered = np.empty((sum(map(len, blocks)), *blocks[0].shape[1:]), dtype=blocks[0].dtype)
        for language, where in self.positions.items():
            gathered[where] = results[language]
        return gathered


@dataclass(frozen=True, kw_only=True, eq=False)
class ByLanguage:
    """Documents by language, languages sorted, documents in the order in which they came.

    The content of all is of one ``kind``. ``seed`` is what all random choices are made with.
    """

    blocks: dict[str, Block]
    seed: Annotated[int, Between(0, 2**64)] = 0
    kind: Kind = "as written"

    @classmethod
    def of_corpus(cls, corpus: Corpus, sparse_labels: bool = False, seed: int = 0) -> tuple[Self, LabelSpace]:
        """The documents of a corpus, which all have a language and labels; and which labels there are."""
        normal = {tag: normalise_tag(tag) for tag in set(corpus.known_languages())}
        if corpus.one_label:
            corpus.check_one_label()
        classes = corpus.label_set()
        labels = LabelSpace(np.array(classes, dtype=object), corpus.one_label, sparse_labels)
        encode = sparse_label_matrix if sparse_labels else label_matrix
        shown = classes[1:] if labels.has_one_column else classes
        blocks = {}
        for tag, rows in positions_of([normal[tag] for tag in corpus.known_languages()]).items():
            part = corpus.select(rows)
            targets = encode(part.label_lists(), shown)
            slots = slot_columns(part, classes)
            blocks[tag] = Block.of(part.ids, part.groups, targets, content=part.texts, **slots)
        check_learnable([block.targets for block in blocks.values()])
        return cls(blocks=blocks, seed=seed), labels

    @property
    def languages(self) -> list[str]:
        return list(self.blocks)

    @property
    def texts(self) -> bool:
        """Whether there are texts, or bags of them."""
        return self.kind in TEXTS

    @property
    def documents(self) -> dict[str, Any]:
        """The documents as they can be learned: texts, or else vectors."""
        return {tag: block.documents for tag, block in self.blocks.items()}

    @property
    def targets(self) -> dict[str, AnyTargets]:
        """The labels of documents, in the columns that are learned."""
        return {tag: block.targets for tag, block in self.blocks.items()}

    @property
    def sizes(self) -> dict[str, int]:
        """How many documents there are, by language."""
        return {tag: len(block) for tag, block in self.blocks.items()}

    def with_targets(
        self, targets: Mapping[str, AnyTargets], columns: Sequence[Sequence[int]] | None = None
    ) -> Self:
        """The same documents with other labels; ``columns`` are those of `Block.with_targets`."""
        blocks = {tag: self.blocks[tag].with_targets(rows, columns) for tag, rows in targets.items()}
        return replace(self, blocks=blocks)

    def only(self, languages: Sequence[str]) -> Self:
        """The documents of some languages."""
        return replace(self, blocks={tag: self.blocks[tag] for tag in languages})

    def select(self, rows: Mapping[str, Rows | Places]) -> Self:
        """Some documents of each language, masked or placed; languages without any are left out."""
        places = {tag: rows_at(chosen) for tag, chosen in rows.items()}
        taken = {tag: self.blocks[tag].take(where) for tag, where in places.items() if len(where)}
        return replace(self, blocks=taken)

    def kept(self, keep_texts: bool) -> "ByLanguage":
        """What a model keeps of them: texts as they were written if it is to ``keep_texts``, else bags."""
        kind: Kind = "bags" if self.kind == "as written" and not keep_texts else self.kind
        blocks = {tag: block.kept(self.kind, keep_texts) for tag, block in self.blocks.items()}
        return ByLanguage(blocks=blocks, seed=self.seed, kind=kind)

    def folds_for(self, purpose: str, number: int = INNER_FOLDS) -> dict[str, Folds]:
        """The fold of each document: it follows from the seed, the purpose, the language and the groups."""
        return {
            tag: assign_folds(number, len(block), self.seed, purpose, language=tag, groups=block.grouping)
            for tag, block in self.blocks.items()
        }

    def given_ids(self, language: str) -> set[str]:
        """The ids that documents of a language were given."""
        return {name for name in self.blocks[language].names if not isinstance(name, LineNumber)}

    def contents(self, language: str) -> list[Any]:
        """What each document holds, in a form that can be looked up; nothing is empty."""
        return self.contents_of(self.blocks[language].documents, self.kind)

    def contents_of(self, documents: Any, kind: Kind = "as written") -> list[Any]:
        """What documents of a kind hold, as it would be kept here."""
        if not isinstance(documents, list):
            return vector_contents(documents)
        return list(map(bag, documents)) if kind != self.kind else documents

    def find(self, language: str, names: Sequence[str], contents: Sequence[Any]) -> list[list[int]]:
        """For each document of a language the rows that it is known as: by its id, or by what it holds.

        Two documents that both have an id are the same if that is; others are where they hold the same. Of
        several that cannot be told apart, each goes with one in their order; one that comes alone is all of
        them. An id that several documents have does not tell which of them one is that holds something else.
        """
        if language not in self.blocks:
            return [[] for _ in names]
        archived, held = self.blocks[language].names, self.contents(language)
        by_id, by_content = defaultdict[str, list[int]](list), defaultdict[Any, list[int]](list)
        for row, name in enumerate(archived):
            if not isinstance(name, LineNumber):
                by_id[name].append(row)
            if held[row]:
                by_content[held[row]].append(row)
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
        named = {name for block in self.blocks.values() for name in block.groups if name}
        known = np.array([group in named for group in groups], dtype=bool)
        codes = np.asarray(languages, dtype=object)
        for language in self.blocks:
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
            tag: np.flatnonzero(np.array([name in wanted for name in block.ids]) & ~block.unnamed)
            for tag, block in self.blocks.items()
        }
        known = {self.blocks[tag].ids[row] for tag, rows in found.items() for row in rows}
        unknown = [name for name in ids if name not in known]
        if unknown:
            more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
            raise InputError(f"No training document has the id {unknown[0]!r}{more}. Correct the ids.")
        return {language: rows for language, rows in found.items() if len(rows)}

    def check_documents(self, labels: LabelSpace, features: Mapping[str, int] | None) -> None:
        """Refuse what cannot be learned again: of each document the same, with these labels.

        ``features`` are the columns of each language's vectors, None where documents are texts.
        """
        what, columns, sparse_labels = "the labels of documents", labels.columns, labels.sparse
        expect(all(is_sparse(rows) == sparse_labels for rows in self.targets.values()), what)
        widths = {rows.shape[1:] for rows in self.targets.values()}
        # Of two that are left of several which exclude each other, a document may have neither.
        expect(widths == {(columns,)} or (columns == 1 and widths == {(2,)}), what)
        kinds = TEXTS if features is None else ("vectors",)
        expect(self.kind in kinds or (features is None and self.kind == "none"), "the kind of documents")
        for tag, block in self.blocks.items():
            if sparse_labels:
                expect(block.targets.has_canonical_format and block.targets.data.all(), what)
            for name, values in block.columns().items():
                expect(length(values) == len(block), f"the {name} of documents")
                expect(name not in BY_LABEL or values.shape[1] == len(labels.classes), f"the {name}")
            if self.texts:
                expect(isinstance(block.content, list), "the texts of documents")
            else:
                expect((block.content is None) == (self.kind == "none"), "the kind of documents")
            if features is not None:
                expect(block.documents.shape[1] == features[tag], "the vectors of documents")


def slot_columns(corpus: Corpus, classes: Sequence[str]) -> dict[str, Any]:
    """The columns of a corpus that nothing reads yet, as a `Block` has them; None for those it lacks."""

    def by_class(values: Sequence[Mapping[str, float]] | None) -> Any:
        if values is None:
            return None
        return np.array([[row.get(label, np.nan) for label in classes] for row in values], dtype=np.float32)

    return {
        "weights": None if corpus.weights is None else np.array(corpus.weights, dtype=np.float32),
        "soft_targets": by_class(corpus.soft_labels),
        "sources": corpus.sources,
        "opinions": by_class(corpus.opinions),
    }


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
