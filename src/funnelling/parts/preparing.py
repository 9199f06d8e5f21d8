"""Parts to what a method learns from: one vocabulary and one matrix a language, on the disk."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.errors import InputError
from funnelling.formats.files import cannot_write
from funnelling.method.training_set import PreparedTexts
from funnelling.parts.counting import CountedLanguage, count_part, languages_in, read_counted, splits_in
from funnelling.text.tfidf import TfidfVectorizer
from funnelling.work.progress import progress_bar
from funnelling.work.spread import in_processes

TRAIN, TEST = "train", "test"


def prepare(parts: Sequence[str], work: Path, jobs: int | None = None, verbose: int = 0) -> PreparedTexts:
    """The training documents of some parts, counted in ``work``, which may hold what was counted before."""
    _count(parts, work, jobs, verbose)
    return _merged(parts, work, verbose)


def _count(parts: Sequence[str], work: Path, jobs: int | None, verbose: int) -> None:
    work.mkdir(parents=True, exist_ok=True)
    named = sorted(set[str]().union(*map(languages_in, parts)))
    if not named:
        raise InputError(
            f"{parts[0]}: no document of any part names its language. Add a column language to some at least."
        )
    pieces = [(str(part), str(work), named) for part in parts]
    with progress_bar("counting", len(parts), bool(verbose), "parts") as advance:
        for _ in in_processes(count_part, pieces, jobs):
            advance(1)


@dataclass
class _Language:
    """What is known of one language's training documents after all parts were read."""

    words: Counter[str] = field(default_factory=Counter)  # in how many documents
    ids: list[str] = field(default_factory=list)
    groups: list[str | None] = field(default_factory=list)
    labels: list[list[str]] = field(default_factory=list)


def _merged(parts: Sequence[str], work: Path, verbose: int) -> PreparedTexts:
    divided = _is_divided(parts, work)
    found: dict[str, _Language] = {}
    with progress_bar("merging", 2 * len(parts), bool(verbose), "parts") as advance:
        for part in parts:
            for language, counted in read_counted(part, str(work)):
                learned = _learned(counted, divided)
                if learned.ids:
                    _add(found.setdefault(language, _Language()), learned)
            advance(1)
        found = {language: found[language] for language in sorted(found)}
        if not found:
            raise InputError(
                'No document of any part is labelled and has split "train". Mark what to learn from.'
            )
        classes = sorted({label for each in found.values() for labels in each.labels for label in labels})
        vectorizers = {
            language: TfidfVectorizer(language).learn(
                list(each.words), list(each.words.values()), len(each.ids)
            )
            for language, each in found.items()
        }
        try:
            vectors = _vectors(parts, work, divided, vectorizers, advance)
        except OSError as error:
            raise cannot_write(work, error) from error
    column = {label: number for number, label in enumerate(classes)}
    return PreparedTexts(
        np.array(classes, dtype=object),
        vectorizers,
        vectors,
        {language: _targets(each.labels, column) for language, each in found.items()},
        {language: each.groups if any(each.groups) else None for language, each in found.items()},
        {language: each.ids for language, each in found.items()},
    )


def _is_divided(parts: Sequence[str], work: Path) -> bool:
    """Whether any document says what it is for; else all are for training."""
    return any(any(splits) for part in parts for splits in splits_in(part, str(work)))


def _learned(counted: CountedLanguage, divided: bool) -> CountedLanguage:
    """The documents of a part that are learned from."""
    if not divided:
        return counted
    rows = np.array([split == TRAIN for split in counted.splits], dtype=bool)
    where = np.flatnonzero(rows)

    def taken(values: list[Any]) -> list[Any]:
        return [values[i] for i in where]

    return CountedLanguage(
        counted.counts.select(rows),
        taken(counted.ids),
        taken(counted.splits),
        taken(counted.groups),
        taken(counted.labels),
    )


def _add(language: _Language, counted: CountedLanguage) -> None:
    frequencies = np.bincount(counted.counts.columns, minlength=len(counted.counts.words)).tolist()
    for word, documents in zip(counted.counts.words, frequencies, strict=True):
        if documents:
            language.words[word] += documents
    language.ids += counted.ids
    language.groups += counted.groups
    language.labels += counted.labels


def _targets(labels: Sequence[Sequence[str]], column: dict[str, int]) -> npt.NDArray[np.bool_]:
    matrix = np.zeros((len(labels), len(column)), dtype=bool)
    for row, carried in enumerate(labels):
        matrix[row, [column[label] for label in carried]] = True
    return matrix


def _vectors(
    parts: Sequence[str],
    work: Path,
    divided: bool,
    vectorizers: dict[str, TfidfVectorizer],
    advance: Any,
) -> dict[str, Any]:
    """The vectors of each language, written part by part and mapped into memory."""
    with ExitStack() as stack:
        matrices = {language: _Written(work, language, stack) for language in vectorizers}
        for part in parts:
            for language, counted in read_counted(part, str(work)):
                learned = _learned(counted, divided)
                if learned.ids:
                    matrices[language].append(vectorizers[language].weigh(learned.counts))
            advance(1)
    return {
        language: written.mapped(len(vectorizers[language].vocabulary_))
        for language, written in matrices.items()
    }


class _Written:
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
