"""Folders of Parquet parts: counted, and turned into one vocabulary and one matrix per language, on disk."""

import json
import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, Literal
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus import Corpus, make_corpus
from funnelling.corpus.blocks import Block, bag
from funnelling.corpus.corpus import label_matrix
from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError, prefix_errors
from funnelling.formats import read_part
from funnelling.formats.columns import find_columns
from funnelling.formats.document import LineNumber
from funnelling.formats.files import cannot_write, writing_bytes
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.parquet import ParquetRows, distinct_values
from funnelling.methods.training_set import TrainingSet
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.spread import map_processes
from funnelling.text.counts import WordCounts
from funnelling.text.excerpts import beginning
from funnelling.text.languages import is_tag, is_undetermined, normalise_tag
from funnelling.text.tfidf import TfidfVectorizer

FORMAT = 4

Kept = Literal["nothing", "bags", "texts"]  # of documents: their words, or also in which order they are


@dataclass
class CountedLanguage:
    """The labelled documents of one language in a part."""

    counts: WordCounts
    ids: list[str]
    splits: list[str | None]
    groups: list[str | None]
    labels: list[list[str]]
    beginnings: list[str]  # of their texts; "" where nothing is kept


def count_part(
    path: str, folder: str, among: Sequence[str], layout: Layout, strict: bool, kept: Kept
) -> None:
    """Count a part, unless the folder has its counts; missing languages are detected ``among`` some.

    A document whose language is none is refused, or if not ``strict`` left out. What is ``kept`` of texts
    stands beside their counts.
    """
    target = _counts_path(path, folder)
    stamp = _stamp(path, [sorted(among), repr(layout), strict, kept])
    if target.exists() and _stamp_of(target) == stamp:
        return
    corpus = make_corpus(read_part(path, layout), path, among=among, strict=strict).labelled()
    by_language = corpus.by_language()
    arrays: dict[str, npt.NDArray[Any]] = {"stamp": _pack(stamp), "languages": _pack(list(by_language))}
    for language, rows in by_language.items():
        documents = corpus.select(rows)
        counts = TfidfVectorizer(language).count(documents.texts)
        arrays |= {
            f"{language}/documents": _pack(_columns(documents, kept)),
            f"{language}/texts": _pack(_kept(documents.texts, kept)),
            f"{language}/words": _pack(counts.words),
            f"{language}/rows": counts.rows.astype(np.int32),
            f"{language}/columns": counts.columns.astype(np.int32),
            f"{language}/frequencies": counts.frequencies.astype(np.int32),
        }
    with writing_bytes(target, force=True) as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def read_counts(path: str, folder: str) -> Iterator[tuple[str, CountedLanguage]]:
    """The counts of a part, language by language."""
    with np.load(_counts_path(path, folder), allow_pickle=False) as arrays:
        for language in _unpack(arrays["languages"]):
            names, unnamed, splits, groups, labels, beginnings = _unpack(arrays[f"{language}/documents"])
            named = zip(names, unnamed, strict=True)
            ids = [LineNumber(name) if numbered else name for name, numbered in named]
            counts = WordCounts(
                len(ids),
                _unpack(arrays[f"{language}/words"]),
                arrays[f"{language}/rows"].astype(np.intp),
                arrays[f"{language}/columns"],
                arrays[f"{language}/frequencies"],
            )
            yield language, CountedLanguage(counts, ids, splits, groups, labels, beginnings)


def splits_in(path: str, folder: str) -> Iterator[tuple[str, list[str | None]]]:
    """The splits of a part's documents, language by language."""
    with np.load(_counts_path(path, folder), allow_pickle=False) as arrays:
        for language in _unpack(arrays["languages"]):
            yield language, _unpack(arrays[f"{language}/documents"])[2]


def texts_in(path: str, folder: str, language: str) -> list[str]:
    """What is kept of a language's texts in a part."""
    with np.load(_counts_path(path, folder), allow_pickle=False) as arrays:
        texts: list[str] = _unpack(arrays[f"{language}/texts"])
    return texts


def _columns(documents: Corpus, kept: Kept) -> list[list[Any]]:
    unnamed = [isinstance(name, LineNumber) for name in documents.ids]
    beginnings = ["" if kept == "nothing" else beginning(text) for text in documents.texts]
    return [documents.ids, unnamed, documents.splits, documents.groups, documents.labels, beginnings]


def _kept(texts: Sequence[str], kept: Kept) -> list[str]:
    if kept == "nothing":
        return []
    return list(texts) if kept == "texts" else list(map(bag, texts))


def _counts_path(path: str, folder: str) -> Path:
    return Path(folder) / f"{Path(path).name}.counts"


def _stamp(path: str, options: Sequence[Any]) -> list[Any]:
    """What counts depend on: the part is counted again where any of it has changed."""
    state = os.stat(path)
    place = os.path.abspath(path)
    return [FORMAT, version("funnelling"), place, state.st_size, state.st_mtime_ns, *options]


def _stamp_of(target: Path) -> Any:
    try:
        with np.load(target, allow_pickle=False) as arrays:
            return _unpack(arrays["stamp"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


def _pack(value: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _unpack(array: npt.NDArray[Any]) -> Any:
    return json.loads(array.tobytes())


def languages_in(path: str, layout: Layout, strict: bool) -> set[str]:
    """The languages that a part's documents name; if not ``strict``, what is none is passed over."""
    column = find_columns(ParquetRows(path, path).columns, layout, path).language
    values = [] if column is None else distinct_values(path, column)
    tags = {str(tag) for tag in values if tag and not is_undetermined(str(tag))}
    with prefix_errors(path):
        return {normalise_tag(tag) for tag in tags if strict or is_tag(tag)}


TRAIN, TEST = "train", "test"
MAX_STORED_CHARACTERS = 1e9  # characters of all texts together, past which a model keeps none of them

logger = logging.getLogger(__name__)


def prepare(
    parts: Sequence[str],
    work: Path,
    jobs: int | None = None,
    verbose: int = 0,
    layout: Layout = AS_FOUND,
    strict: bool = True,
    kept: Kept = "bags",
) -> TrainingSet:
    """The training documents of some parts; ``work`` is a folder of counts, which may hold some already.

    ``kept`` says what a model is to keep of their texts, to learn on.
    """
    work.mkdir(parents=True, exist_ok=True)
    languages = sorted(set[str]().union(*(languages_in(part, layout, strict) for part in parts)))
    if not languages:
        raise InputError(
            f"{parts[0]}: no document of any part names its language. Add a column language to some at least."
        )
    calls = [(str(part), str(work), languages, layout, strict, kept) for part in parts]
    with progress_bar("counting", len(parts), bool(verbose), "parts") as advance:
        for _ in map_processes(count_part, calls, jobs):
            advance(1)
    return _merge(parts, work, verbose, kept)


@dataclass
class _Language:
    """One language's training documents, gathered from all parts."""

    words: Counter[str] = field(default_factory=Counter)  # in how many documents each occurs
    ids: list[str] = field(default_factory=list)
    groups: list[str | None] = field(default_factory=list)
    labels: list[list[str]] = field(default_factory=list)
    beginnings: list[str] = field(default_factory=list)


def _merge(parts: Sequence[str], work: Path, verbose: int, kept: Kept) -> TrainingSet:
    has_splits = _has_splits(parts, work)
    languages: dict[str, _Language] = {}
    with progress_bar("merging", 2 * len(parts), bool(verbose), "parts") as advance:
        for part in parts:
            for language, counted in read_counts(part, str(work)):
                training = _for_training(counted, has_splits)
                if training.ids:
                    _add(languages.setdefault(language, _Language()), training)
            advance(1)
        languages = {language: languages[language] for language in sorted(languages)}
        if not languages:
            raise InputError(
                'No document of any part is labelled and has split "train". Mark what to learn from.'
            )
        classes = sorted({label for each in languages.values() for labels in each.labels for label in labels})
        vectorizers = {
            language: TfidfVectorizer(language).learn(
                list(each.words), list(each.words.values()), len(each.ids)
            )
            for language, each in languages.items()
        }
        try:
            vectors = _vectors(parts, work, has_splits, vectorizers, advance)
        except OSError as error:
            raise cannot_write(work, error) from error
    texts = {} if kept == "nothing" else _texts(parts, work, has_splits, list(languages))
    blocks = {
        language: Block.of(
            each.ids,
            each.groups,
            label_matrix(each.labels, classes),
            content=texts.get(language),
            beginnings=each.beginnings,
        )
        for language, each in languages.items()
    }
    return TrainingSet(
        blocks=blocks,
        kind="none" if not texts else "as written" if kept == "texts" else "bags",
        labels=LabelSpace(np.array(classes, dtype=object)),
        vectors=vectors,
        prepared=True,
        made_by=vectorizers,
    )


def _texts(
    parts: Sequence[str], work: Path, has_splits: bool, languages: Sequence[str]
) -> dict[str, list[str]]:
    """What is kept of the training documents' texts; of too many nothing is."""
    texts: dict[str, list[str]] = {language: [] for language in languages}
    size = 0
    for part in parts:
        for language, splits in splits_in(part, str(work)):
            kept = texts_in(part, str(work), language)
            learned = [text for text, split in zip(kept, splits, strict=True) if split == TRAIN]
            texts.setdefault(language, []).extend(learned if has_splits else kept)
            size += sum(map(len, learned if has_splits else kept))
            if size > MAX_STORED_CHARACTERS:
                logger.warning(
                    "The documents have more than %s characters, so the model keeps none of their words and "
                    "cannot learn on. To teach it more, add documents as a further part and train again.",
                    f"{MAX_STORED_CHARACTERS:,.0f}",
                )
                return {}
    return {language: texts[language] for language in languages}


def _has_splits(parts: Sequence[str], work: Path) -> bool:
    """Whether any document says what it is for; else all are for training."""
    return any(any(splits) for part in parts for _, splits in splits_in(part, str(work)))


def _for_training(counted: CountedLanguage, has_splits: bool) -> CountedLanguage:
    """The documents of a part and language that are learned from."""
    if not has_splits:
        return counted
    places = np.flatnonzero([split == TRAIN for split in counted.splits])

    def select(values: list[Any]) -> list[Any]:
        return [values[i] for i in places]

    return CountedLanguage(
        counted.counts.take(places),
        select(counted.ids),
        select(counted.splits),
        select(counted.groups),
        select(counted.labels),
        select(counted.beginnings),
    )


def _add(language: _Language, counted: CountedLanguage) -> None:
    frequencies = np.bincount(counted.counts.columns, minlength=len(counted.counts.words)).tolist()
    for word, documents in zip(counted.counts.words, frequencies, strict=True):
        if documents:
            language.words[word] += documents
    language.ids += counted.ids
    language.groups += counted.groups
    language.labels += counted.labels
    language.beginnings += counted.beginnings


def _vectors(
    parts: Sequence[str],
    work: Path,
    has_splits: bool,
    vectorizers: dict[str, TfidfVectorizer],
    advance: Any,
) -> dict[str, Any]:
    """The vectors of each language, written part by part and mapped into memory."""
    with ExitStack() as stack:
        matrices = {language: _GrowingMatrix(work, language, stack) for language in vectorizers}
        for part in parts:
            for language, counted in read_counts(part, str(work)):
                training = _for_training(counted, has_splits)
                if training.ids:
                    matrices[language].append(vectorizers[language].weigh(training.counts))
            advance(1)
    return {
        language: matrix.mapped(len(vectorizers[language].vocabulary_))
        for language, matrix in matrices.items()
    }


class _GrowingMatrix:
    """A sparse matrix that grows on the disk."""

    def __init__(self, folder: Path, name: str, stack: ExitStack) -> None:
        self._paths = [folder / f"{name}.{kind}" for kind in ("data", "indices")]
        self._files: list[BinaryIO] = [stack.enter_context(path.open("wb")) for path in self._paths]
        self._lengths: list[npt.NDArray[Any]] = []

    def append(self, rows: Any) -> None:
        self._files[0].write(rows.data.astype(np.float32, copy=False).tobytes())
        self._files[1].write(rows.indices.astype(np.int32, copy=False).tobytes())
        self._lengths.append(np.diff(rows.indptr))

    def mapped(self, width: int) -> Any:
        starts = np.concatenate([[0], np.cumsum(np.concatenate(self._lengths))])
        if starts[-1] < 2**31:
            starts = starts.astype(np.int32)
        if not starts[-1]:
            return sparse.csr_array((len(starts) - 1, width), dtype=np.float32)
        data, indices = (
            np.memmap(path, dtype=kind, mode="r")
            for path, kind in zip(self._paths, (np.float32, np.int32), strict=True)
        )
        return sparse.csr_array((data, indices, starts), shape=(len(starts) - 1, width))
