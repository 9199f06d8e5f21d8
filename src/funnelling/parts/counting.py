"""The words, labels and splits of a part, by language, as a file of arrays."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from funnelling.corpus import Corpus, make_corpus
from funnelling.errors import naming
from funnelling.formats import read_part
from funnelling.formats.columns import find_columns
from funnelling.formats.document import LineNumber
from funnelling.formats.files import writing_bytes
from funnelling.formats.layout import Layout
from funnelling.formats.parquet import ParquetRows, distinct_values
from funnelling.method.archive import bag
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
    with naming(path):
        return {normalise_tag(tag) for tag in tags if strict or is_tag(tag)}
