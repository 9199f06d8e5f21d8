"""Folders of Parquet parts: counted, and turned into one vocabulary and one matrix per language, on disk."""

import json
import logging
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus import make_corpus
from funnelling.corpus.blocks import Block, bag
from funnelling.corpus.corpus import label_matrix
from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError, prefix_errors
from funnelling.formats import read_part
from funnelling.formats.columns import find_columns
from funnelling.formats.document import LineNumber, is_undetermined
from funnelling.formats.files import cannot_write, writing_bytes
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.parquet import ParquetRows, distinct_values
from funnelling.methods.algorithm import NOTHING, TEXTS
from funnelling.methods.training_set import TrainingSet
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.spread import map_processes
from funnelling.text.counts import WordCounts
from funnelling.text.excerpts import beginning
from funnelling.text.languages import is_tag, normalise_tag
from funnelling.text.tfidf import TfidfVectorizer

FORMAT = 4


def count_part(
    path: str, folder: Path, among: Sequence[str], layout: Layout, strict: bool, kept: str
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
        unnamed = [isinstance(name, LineNumber) for name in documents.ids]
        beginnings = ["" if kept == NOTHING else beginning(text) for text in documents.texts]
        columns = [documents.ids, unnamed, documents.splits, documents.groups, documents.labels, beginnings]
        texts = {NOTHING: [], "words": map(bag, documents.texts), TEXTS: documents.texts}[kept]
        arrays |= {
            f"{language}/documents": _pack(columns),
            f"{language}/texts": _pack(list(texts)),
            f"{language}/words": _pack(counts.words),
            f"{language}/rows": counts.rows.astype(np.int32),
            f"{language}/columns": counts.columns.astype(np.int32),
            f"{language}/frequencies": counts.frequencies.astype(np.int32),
        }
    with writing_bytes(target, force=True) as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def _learned(part: str, work: Path, has_splits: bool) -> Iterator[tuple[str, WordCounts, list[list[Any]]]]:
    """The documents of a part to learn from, by language: their words; ids, groups, labels, beginnings."""
    with np.load(_counts_path(part, work), allow_pickle=False) as arrays:
        for language in _unpack(arrays["languages"]):
            names, unnamed, splits, *columns = _unpack(arrays[f"{language}/documents"])
            rows = _rows_to_learn(splits, has_splits)
            if not rows:
                continue
            counts = WordCounts(
                len(names),
                _unpack(arrays[f"{language}/words"]),
                arrays[f"{language}/rows"].astype(np.intp),
                arrays[f"{language}/columns"],
                arrays[f"{language}/frequencies"],
            )
            ids = [LineNumber(names[row]) if unnamed[row] else names[row] for row in rows]
            yield (
                language,
                counts.take(np.array(rows)),
                [ids, *([each[row] for row in rows] for each in columns)],
            )


def _rows_to_learn(splits: Sequence[str | None], has_splits: bool) -> list[int]:
    return [row for row, split in enumerate(splits) if split == TRAIN or not has_splits]


def _stored(part: str, work: Path, name: str) -> Iterator[tuple[str, Any]]:
    """What is stored of a part under a name, language by language."""
    with np.load(_counts_path(part, work), allow_pickle=False) as arrays:
        for language in _unpack(arrays["languages"]):
            yield language, _unpack(arrays[f"{language}/{name}"])


def _counts_path(path: str, folder: Path) -> Path:
    return folder / f"{Path(path).name}.counts"


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
    kept: str = "words",
) -> TrainingSet:
    """The training documents of some parts; ``work`` is a folder of counts, which may hold some already.

    ``kept`` says what a model is to keep of their texts, to learn on.
    """
    work.mkdir(parents=True, exist_ok=True)
    given = {layout.default_language} if layout.default_language else set()
    languages = list(layout.detect_among) or sorted(
        given.union(*(languages_in(part, layout, strict) for part in parts))
    )
    if not languages:
        raise InputError(
            f"{parts[0]}: no document of any part names its language. Name them with --languages, or add a "
            "column language to some at least."
        )
    calls = [(str(part), work, languages, layout, strict, kept) for part in parts]
    with progress_bar("counting", len(parts), bool(verbose), "parts") as advance:
        for _ in map_processes(count_part, calls, jobs):
            advance(1)
    return _merge(parts, work, verbose, kept)


def _merge(parts: Sequence[str], work: Path, verbose: int, kept: str) -> TrainingSet:
    stored = (columns for part in parts for _, columns in _stored(part, work, "documents"))
    has_splits = any(any(splits) for _, _, splits, *_ in stored)  # else all are for training
    words: defaultdict[str, Counter[str]] = defaultdict(Counter)  # in how many documents each occurs
    columns: defaultdict[str, list[list[Any]]] = defaultdict(lambda: [[], [], [], []])
    with progress_bar("merging", 2 * len(parts), bool(verbose), "parts") as advance:
        for part in parts:
            for language, counts, further in _learned(part, work, has_splits):
                frequencies = zip(counts.words, counts.texts_with().tolist(), strict=True)
                words[language].update({word: documents for word, documents in frequencies if documents})
                for own, more in zip(columns[language], further, strict=True):
                    own += more
            advance(1)
        languages = sorted(words)
        if not languages:
            raise InputError(
                'No document of any part is labelled and has split "train". Mark what to learn from.'
            )
        classes = sorted({label for _, _, lists, _ in columns.values() for each in lists for label in each})
        vectorizers = {
            tag: TfidfVectorizer(tag).learn(list(words[tag]), list(words[tag].values()), len(columns[tag][0]))
            for tag in languages
        }
        try:
            vectors = _vectors(parts, work, has_splits, vectorizers, advance)
        except OSError as error:
            raise cannot_write(work, error) from error
    texts = {} if kept == NOTHING else _texts(parts, work, has_splits)
    blocks = {}
    for tag in languages:
        ids, groups, labels, beginnings = columns[tag]
        targets = label_matrix(labels, classes)
        blocks[tag] = Block.of(ids, groups, targets, content=texts.get(tag), beginnings=beginnings)
    return TrainingSet(
        blocks=blocks,
        kind="none" if not texts else "as written" if kept == TEXTS else "bags",
        labels=LabelSpace(np.array(classes, dtype=object)),
        vectors=vectors,
        prepared=True,
        made_by=vectorizers,
    )


def _texts(parts: Sequence[str], work: Path, has_splits: bool) -> dict[str, list[str]]:
    """What is kept of the training documents' texts; of too many nothing is."""
    texts: dict[str, list[str]] = {}
    size = 0
    for part in parts:
        stored = zip(_stored(part, work, "documents"), _stored(part, work, "texts"), strict=True)
        for (language, columns), (_, kept) in stored:
            learned = [kept[row] for row in _rows_to_learn(columns[2], has_splits)]
            texts.setdefault(language, []).extend(learned)
            size += sum(map(len, learned))
            if size > MAX_STORED_CHARACTERS:
                logger.warning(
                    "The documents have more than %s characters, so the model keeps none of their words and "
                    "cannot learn on. To teach it more, add documents as a further part and train again.",
                    f"{MAX_STORED_CHARACTERS:,.0f}",
                )
                return {}
    return texts


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
            for language, counts, _ in _learned(part, work, has_splits):
                matrices[language].append(vectorizers[language].weigh(counts))
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
