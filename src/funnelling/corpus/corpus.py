"""Corpus: documents in several languages under one label set, held as parallel columns."""

import logging
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike, NDArray

from funnelling.errors import InputError, counted
from funnelling.formats import Document, read_documents
from funnelling.formats.document import SPLITS, quoted
from funnelling.formats.files import shown_name
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.matrices import positions_of
from funnelling.text.detection import LanguageNames, detect_missing, normalise_tags

if TYPE_CHECKING:
    from scipy import sparse


def label_matrix(label_lists: Sequence[Iterable[str]], classes: Collection[str]) -> npt.NDArray[np.bool_]:
    """Which document has which of the classes; other labels are passed over.

    >>> label_matrix([["cat"], [], ["dog", "bird"]], ["cat", "dog"]).astype(int).tolist()
    [[1, 0], [0, 0], [0, 1]]
    """
    column = {label: number for number, label in enumerate(classes)}
    matrix = np.zeros((len(label_lists), len(column)), dtype=bool)
    for row, labels in enumerate(label_lists):
        matrix[row, [column[label] for label in labels if label in column]] = True
    return matrix


def sparse_label_matrix(
    label_lists: Sequence[Iterable[str]], classes: Collection[str]
) -> "sparse.csr_array[np.bool_]":
    """The same as a sparse matrix, which takes space for the labels that documents have alone.

    >>> sparse_label_matrix([["cat"], [], ["dog", "bird"]], ["cat", "dog"]).toarray().astype(int).tolist()
    [[1, 0], [0, 0], [0, 1]]
    """
    from scipy import sparse

    column = {label: number for number, label in enumerate(classes)}
    columns = [sorted({column[label] for label in labels if label in column}) for labels in label_lists]
    starts = np.cumsum([0, *map(len, columns)])
    places = np.fromiter(chain.from_iterable(columns), dtype=np.intp, count=int(starts[-1]))
    ones = np.ones(len(places), dtype=bool)
    return sparse.csr_array((ones, places, starts), shape=(len(columns), len(column)))


logger = logging.getLogger(__name__)

# What stands in a column that nothing reads yet for a document that has nothing there.
BLANK_SLOTS: dict[str, Any] = {"weights": 1.0, "soft_labels": {}, "sources": "", "opinions": {}}


@dataclass(frozen=True, slots=True, repr=False)
class Corpus:
    """Documents as parallel columns, one list per field.

    ``one_label`` says that each document has exactly one label, and that ``y`` is to be learned so. Nothing
    in a file says it: whoever sets out to learn from the documents does, and selections keep it.

    Parameters
    ----------
    ids, languages, texts : lists of strings; a language that is not known is None
    labels : a tuple of labels for each document, None where they are not known
    splits : "train", "test", "parallel" or None for each document
    groups : what documents belong together, such as the translations of one text; None where nothing does
    one_label : whether each document has exactly one label
    weights, soft_labels, sources, opinions : columns for what nothing reads yet, None where there are none:
        what each document counts, probabilities of its labels, where it comes from, and what others predict

    Examples
    --------
    >>> corpus = Corpus.from_documents([
    ...     Document("1", "The cat sleeps", language="en", labels=("animals",), split="train"),
    ...     Document("2", "Il gatto dorme", language="it", labels=("animals", "rest"), split="test"),
    ...     Document("3", "The sun", language="en"),
    ... ])
    >>> corpus.by_language()
    {'en': array([0, 2]), 'it': array([1])}
    >>> corpus.split("test").texts
    ['Il gatto dorme']
    >>> corpus.labelled().label_matrix(["animals", "rest"]).astype(int)
    array([[1, 0],
           [1, 1]])
    >>> corpus.label_matrix(["animals"])
    Traceback (most recent call last):
    funnelling.errors.InputError: document "3" is unlabelled. Leave such documents out with labelled().
    """

    ids: list[str] = field(default_factory=list)
    languages: list[str | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    labels: list[tuple[str, ...] | None] = field(default_factory=list)
    splits: list[str | None] = field(default_factory=list)
    groups: list[str | None] = field(default_factory=list)
    one_label: bool = False
    weights: list[float] | None = None
    soft_labels: list[Mapping[str, float]] | None = None
    sources: list[str] | None = None
    opinions: list[Mapping[str, float]] | None = None

    @classmethod
    def from_documents(cls, documents: Iterable[Document], one_label: bool = False) -> "Corpus":
        """A corpus of these documents, which are read one at a time."""
        corpus = cls(one_label=one_label)
        for document in documents:
            corpus.ids.append(document.id)
            corpus.languages.append(document.language)
            corpus.texts.append(document.text)
            corpus.labels.append(document.labels)
            corpus.splits.append(document.split)
            corpus.groups.append(document.group)
        return corpus

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        text: str | Sequence[str] = (),
        labels: str | Sequence[str] = (),
        language: str | None = None,
        *,
        id: str | None = None,  # noqa: A002
        split: str | None = None,
        group: str | None = None,
        label_separator: str | None = None,
        no_label: str | None = None,
        detect: bool = False,
    ) -> "Corpus":
        """The documents of a data frame of pandas or polars, or of a dataset of Hugging Face.

        Columns that are not named are found as in a file: ``text``, ``label``, ``lang`` and the like.
        Languages are named as `read_corpus` does; one that is missing stays so, for `fit` detects it.

        Parameters
        ----------
        frame : data frame, dataset or table, one row per document
        text : the column of the text, or several that are joined
        labels : the column of the labels (lists, or strings as in a file), or one column of 0 and 1 per label
        language, id, split, group : the columns of these fields
        label_separator : what joins labels in a string, where that is not clear; "none" where nothing does
        no_label : what a string says of a document that has no label; a missing one is unlabelled
        detect : whether a missing language is detected here already

        Examples
        --------
        >>> class Frame:  # pandas and polars are not needed
        ...     columns = ["Body", "Category", "lang"]
        ...     def __len__(self):
        ...         return 1
        ...     def __getitem__(self, name):
        ...         return {"Body": ["Buongiorno a tutti"], "Category": ["hello"], "lang": [None]}[name]
        >>> corpus = Corpus.from_frame(Frame())
        >>> corpus.texts, corpus.labels, corpus.languages
        (['Buongiorno a tutti'], [('hello',)], [None])
        """
        from funnelling.formats.frames import NAME, read_frame

        layout = Layout(
            text=text,
            labels=labels,
            language=language,
            id=id,
            split=split,
            group=group,
            label_separator=label_separator,
            no_label=no_label,
        )
        return make_corpus(read_frame(frame, layout), NAME, detect)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        languages = len({language for language in self.languages if language is not None})
        counts = (counted(len(self), "document"), counted(languages, "language"))
        return f"Corpus({', '.join(counts)}, {counted(len(self.label_set()), 'label')})"

    def __iter__(self) -> Iterator[Document]:
        columns = (self.ids, self.texts, self.languages, self.labels, self.splits, self.groups)
        return map(Document, *columns)

    def select(self, rows: ArrayLike) -> "Corpus":
        """The documents at these positions, in this order, or those where a boolean mask is true."""
        positions = self._positions(rows)
        columns = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "one_label"}
        filled = {name: values for name, values in columns.items() if values is not None}
        selected: dict[str, Any] = {name: [values[i] for i in positions] for name, values in filled.items()}
        return replace(self, **selected)

    def followed_by(self, further: "Corpus") -> "Corpus":
        """These documents, and further ones after them; what one side alone has is blank in the other."""
        joined: dict[str, Any] = {}
        for each in fields(self):
            own, others = getattr(self, each.name), getattr(further, each.name)
            if each.name != "one_label" and (own is not None or others is not None):
                blank = BLANK_SLOTS.get(each.name)
                own, others = own or [blank] * len(self), others or [blank] * len(further)
                joined[each.name] = [*own, *others]
        return replace(self, **joined)

    def split(self, name: str) -> "Corpus":
        """The documents of a split: train, test or parallel."""
        if name not in SPLITS:
            raise InputError(f"split {quoted(name)} is unknown. Use one of {', '.join(SPLITS)}.")
        return self.select([split == name for split in self.splits])

    def labelled(self) -> "Corpus":
        """The documents whose labels are known, even where they have none."""
        return self.select([labels is not None for labels in self.labels])

    def by_language(self) -> dict[str, NDArray[np.intp]]:
        """The positions of each language's documents, languages in alphabetical order."""
        return positions_of(self.known_languages())

    def known_languages(self) -> list[str]:
        """The language of each document; a document without one is refused."""
        known = [language for language in self.languages if language is not None]
        if len(known) < len(self):
            name = self.ids[self.languages.index(None)]
            raise InputError(f"document {quoted(name)} has no language. Add or detect it.")
        return known

    @property
    def y(self) -> NDArray[np.object_] | list[tuple[str, ...] | None]:
        """The labels as a method learns them: lists, or one label per document in a 1-D array.

        >>> documents = [Document("1", "The cat sleeps", labels=("animals",))]
        >>> [Corpus.from_documents(documents, one_label).y for one_label in (False, True)]
        [[('animals',)], array(['animals'], dtype=object)]
        """
        if not self.one_label:
            return self.labels
        self.check_one_label()
        return np.array([label for (label,) in self.label_lists()], dtype=object)

    def check_one_label(self, cure: str = "Give it one.") -> None:
        """Refuse documents that have several labels, or none."""
        for name, labels in zip(self.ids, self.labels, strict=True):
            if labels is None or len(labels) != 1:
                raise lacks_one_label(name, len(labels or ()), cure)

    def has_one_label(self) -> NDArray[np.bool_]:
        """Which documents have exactly one label."""
        return np.array([labels is not None and len(labels) == 1 for labels in self.labels], dtype=bool)

    def label_set(self) -> list[str]:
        """All labels that occur, in alphabetical order."""
        return sorted({label for labels in self.labels for label in labels or ()})

    @property
    def X(self) -> NDArray[np.object_]:  # noqa: N802
        """An array of two columns, text and language, which scikit-learn's tools take."""
        columns = np.empty((len(self), 2), dtype=object)
        columns[:, 0], columns[:, 1] = self.texts, self.languages
        return columns

    def label_matrix(self, classes: Collection[str] | None = None) -> NDArray[np.bool_]:
        """Which document has which of the classes, by default of all its labels; others are passed over."""
        return label_matrix(self.label_lists(), self.label_set() if classes is None else classes)

    def sparse_label_matrix(self, classes: Collection[str]) -> "sparse.csr_array[np.bool_]":
        """What `label_matrix` gives, sparse: for thousands of classes."""
        return sparse_label_matrix(self.label_lists(), classes)

    def label_lists(self) -> list[tuple[str, ...]]:
        """The labels of each document, all of which must be labelled."""
        label_lists = [labels for labels in self.labels if labels is not None]
        if len(label_lists) < len(self):
            name = self.ids[self.labels.index(None)]
            raise InputError(
                f"document {quoted(name)} is unlabelled. Leave such documents out with labelled()."
            )
        return label_lists

    def _positions(self, rows: ArrayLike) -> list[int]:
        selection = np.asarray(rows)
        if selection.size == 0:
            return []
        if selection.dtype == bool:
            if selection.shape != (len(self),):
                raise InputError(f"the mask has shape {selection.shape}, the corpus {len(self)} documents.")
            selection = np.flatnonzero(selection)
        if selection.ndim != 1 or selection.dtype.kind not in "iu":
            raise InputError("rows must be a list of positions or a boolean mask.")
        positions: list[int] = selection.tolist()
        return positions


def lacks_one_label(name: str, labels: int, cure: str) -> InputError:
    """The refusal of a document that has not exactly one label."""
    number = f"{labels} labels" if labels else "no label"
    return InputError(f"document {quoted(name)} has {number}, not exactly one. {cure}")


def read_corpus(
    path: str | os.PathLike[str],
    detect: bool = True,
    among: Sequence[str] = (),
    verbose: int = 0,
    layout: Layout = AS_FOUND,
    strict: bool = True,
) -> Corpus:
    """The documents of a file or a folder, language tags in their normal form and missing ones detected.

    Parameters
    ----------
    path : file or folder, in any form that `read_documents` takes, or - for standard input
    detect : whether missing languages are detected; where not, they stay None
    among : the languages that may be detected; by default those that other documents name, else all that are
        not rare in the file
    verbose : above 0 shows a progress bar on a terminal
    layout : where the fields are in the file, as far as that should not be found
    strict : whether a document whose language is none is refused; where not, it is left out, which is said

    Returns
    -------
    Corpus
        The documents as columns, in the order of the file.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "docs.jsonl")
    ...     with open(path, "w") as file:
    ...         _ = file.write('{"language": "it", "text": "Il gatto dorme", "labels": ["animals"]}')
    ...     corpus = read_corpus(path)
    >>> corpus.languages, corpus.texts, corpus.labels
    (['it'], ['Il gatto dorme'], [('animals',)])
    >>> read_corpus("nowhere.jsonl")
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere.jsonl: no such file. Check the path.
    """
    among = among or layout.detect_among
    return make_corpus(read_documents(path, layout), shown_name(path), detect, among, verbose, strict)


def make_corpus(
    documents: Iterable[Document],
    name: str,
    detect: bool = True,
    among: Sequence[str] = (),
    verbose: int = 0,
    strict: bool = True,
) -> Corpus:
    """A corpus of documents, made as `read_corpus` makes it; ``name`` is their file, for messages."""
    corpus = Corpus.from_documents(documents)
    corpus, names = name_languages(corpus, name, detect, among, verbose, strict)
    for line in names.lines():
        logger.info("%s: %s", name, line)
    return corpus


def name_languages(
    corpus: Corpus,
    name: str,
    detect: bool = True,
    among: Sequence[str] = (),
    verbose: int = 0,
    strict: bool = True,
    others: bool = False,
) -> tuple[Corpus, LanguageNames]:
    """The documents with the one tag of each one's language, as `read_corpus` gives them.

    What is no tag of a language is refused; if not ``strict``, its documents are left out. ``others`` is that
    of `detect_missing`.
    """
    languages, names = normalise_tags(corpus.languages, corpus.ids, name, strict)
    corpus = replace(corpus, languages=languages)
    if names.unknown:
        corpus = corpus.select([tag not in names.unknown for tag in languages])
    if detect:
        found, detected, merged = detect_missing(corpus.languages, corpus.texts, name, among, verbose, others)
        corpus = replace(corpus, languages=found)
        names = names._replace(detected=detected, merged=merged)
    return corpus, names
