"""The words, labels and splits of a part, by language, as a file of arrays."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from funnelling.corpus import Corpus, make_corpus
from funnelling.errors import InputError
from funnelling.formats import read_part
from funnelling.formats.files import writing_bytes
from funnelling.text.tfidf import TfidfVectorizer, WordCounts

FORMAT = 1


@dataclass
class CountedLanguage:
    """The labelled documents of one language in a part."""

    counts: WordCounts
    ids: list[str]
    splits: list[str | None]
    groups: list[str | None]
    labels: list[list[str]]


def count_part(path: str, folder: str, among: Sequence[str]) -> None:
    """Count a part, unless its counts stand in the folder already; languages not told are found ``among``."""
    target = _counted(path, folder)
    stamp = _stamp(path, among)
    if target.exists() and _stamp_of(target) == stamp:
        return
    corpus = make_corpus(read_part(path), path, among=among).labelled()
    by_language = corpus.by_language()
    arrays: dict[str, npt.NDArray[Any]] = {"stamp": _packed(stamp), "languages": _packed(list(by_language))}
    for language, rows in by_language.items():
        part = corpus.select(rows)
        counts = TfidfVectorizer(language).count(part.texts)
        arrays |= {
            f"{language}/documents": _packed(_columns(part)),
            f"{language}/words": _packed(counts.words),
            f"{language}/rows": counts.rows.astype(np.int32),
            f"{language}/columns": counts.columns.astype(np.int32),
            f"{language}/frequencies": counts.frequencies.astype(np.int32),
        }
    with writing_bytes(target, force=True) as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def read_counted(path: str, folder: str) -> Iterator[tuple[str, CountedLanguage]]:
    """What was counted of a part, language by language."""
    with np.load(_counted(path, folder), allow_pickle=False) as arrays:
        for language in _unpacked(arrays["languages"]):
            ids, splits, groups, labels = _unpacked(arrays[f"{language}/documents"])
            counts = WordCounts(
                len(ids),
                _unpacked(arrays[f"{language}/words"]),
                arrays[f"{language}/rows"].astype(np.intp),
                arrays[f"{language}/columns"],
                arrays[f"{language}/frequencies"],
            )
            yield language, CountedLanguage(counts, ids, splits, groups, labels)


def splits_in(path: str, folder: str) -> Iterator[list[str | None]]:
    """The splits of a part's documents, language by language."""
    with np.load(_counted(path, folder), allow_pickle=False) as arrays:
        for language in _unpacked(arrays["languages"]):
            yield _unpacked(arrays[f"{language}/documents"])[1]


def _columns(part: Corpus) -> list[list[Any]]:
    return [part.ids, part.splits, part.groups, part.labels]


def _counted(path: str, folder: str) -> Path:
    return Path(folder) / f"{Path(path).name}.counts"


def _stamp(path: str, among: Sequence[str]) -> list[Any]:
    """What counts depend on: they are made anew where any of it has changed."""
    from importlib.metadata import version

    state = os.stat(path)
    place = os.path.abspath(path)
    return [FORMAT, version("funnelling"), place, state.st_size, state.st_mtime_ns, sorted(among)]


def _stamp_of(target: Path) -> Any:
    try:
        with np.load(target, allow_pickle=False) as arrays:
            return _unpacked(arrays["stamp"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


def _packed(value: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _unpacked(array: npt.NDArray[Any]) -> Any:
    return json.loads(array.tobytes())


def languages_in(path: str) -> set[str]:
    """The languages that a part's documents name."""
    from funnelling.formats.parquet import distinct_values
    from funnelling.text.languages import normalise_tag

    named = {str(tag) for tag in distinct_values(path, "language") if tag}
    try:
        return {normalise_tag(tag) for tag in named}
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
