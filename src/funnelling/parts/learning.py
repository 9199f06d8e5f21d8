"""Train on a folder of parts."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from funnelling.corpus import Corpus, make_corpus
from funnelling.formats import Document, parts_of, read_part
from funnelling.formats.parquet import rows_in
from funnelling.funnel.design import is_auto
from funnelling.parts.preparing import TEST, prepare

if TYPE_CHECKING:
    from funnelling.method.base import Method

PARQUET = ".parquet"
MANY = 50_000  # documents, past which other views of texts are not tried: that would take many times as long


def learns_by_parts(model: "Method", path: str | os.PathLike[str]) -> bool:
    """Whether documents are counted part by part, not read into memory.

    That needs Parquet files and a method that looks at each language's own words. A method that may also
    choose other views of texts reads them into memory to try those, unless there are too many.
    """
    if not os.path.isdir(path) or not model.learns_own_words():
        return False
    parts = parts_of(path)
    if not all(part.lower().endswith(PARQUET) for part in parts):
        return False
    return not is_auto(getattr(model, "views", None)) or sum(map(rows_in, parts)) > MANY


def fit_parts(
    model: "Method", path: str | os.PathLike[str], work: Path, jobs: int | None = None, verbose: int = 0
) -> None:
    """Fit a method on the training documents of a folder; ``work`` is the folder of counts and vectors."""
    model.fit_prepared(prepare(parts_of(path), work, jobs, verbose))


def documents_for_test(path: str | os.PathLike[str], among: Sequence[str]) -> Corpus:
    """The labelled documents of a folder with split test; missing languages are detected ``among`` some."""

    def documents() -> Iterator[Document]:
        for part in parts_of(path):
            for document in read_part(part):
                if document.split == TEST and document.labels is not None:
                    yield document

    return make_corpus(documents(), os.fspath(path), among=among)
