"""Train on a folder of parts."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from funnelling.corpus import Corpus, make_corpus
from funnelling.corpus.corpus import lacks_one_label
from funnelling.errors import naming
from funnelling.evaluation.splits import CURE, NOTICED
from funnelling.formats import Document, is_text_folder, parts_of, read_part
from funnelling.formats.files import shown_name
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.parquet import rows_in
from funnelling.formats.tables import PARQUET
from funnelling.funnel.design import is_auto
from funnelling.matrices import MANY as MANY_LABELS
from funnelling.methods.parts import TEST, Kept, prepare
from funnelling.methods.training_set import PreparedTexts
from funnelling.runtime.messages import Reporter, silent
from funnelling.runtime.progress import watched

if TYPE_CHECKING:
    from funnelling.methods.model import Method

MANY = 50_000  # documents, past which other views of texts are not tried: that would take many times as long


def learns_by_parts(model: "Method", path: str | os.PathLike[str]) -> bool:
    """Whether documents are counted part by part, not read into memory.

    That needs Parquet files and a method that looks at each language's own words. A method that may also
    choose other views of texts reads them into memory to try those, unless there are too many.
    """
    if not os.path.isdir(path) or is_text_folder(path) or not model.learns_own_words():
        return False
    parts = parts_of(path)
    if not all(part.lower().endswith(PARQUET) for part in parts):
        return False
    return not is_auto(getattr(model, "views", None)) or sum(map(rows_in, parts)) > MANY


def has_many_labels(path: str | os.PathLike[str], layout: Layout = AS_FOUND, verbose: int = 0) -> bool:
    """Whether the documents of a folder have more labels than are kept as a dense matrix."""
    labels: set[str] = set()
    for part in watched(parts_of(path), "looking for labels", bool(verbose), "parts"):
        for document in read_part(part, layout):
            if document.split != TEST and document.labels is not None:
                labels.update(document.labels)
            if len(labels) > MANY_LABELS:
                return True
    return False


def fit_parts(
    model: "Method",
    path: str | os.PathLike[str],
    work: Path,
    jobs: int | None = None,
    verbose: int = 0,
    one_label: bool | None = None,
    report: Reporter = silent,
    layout: Layout = AS_FOUND,
    strict: bool = True,
) -> None:
    """Fit a method on the training documents of a folder; ``work`` is the folder of counts and vectors.

    ``one_label`` says whether each document has exactly one label; None is for what they show. ``layout`` is
    that of all parts; if not ``strict``, documents whose language is none are left out.
    """
    kept: Kept = "nothing" if model.compact else "texts" if model.keep_texts else "bags"
    prepared = prepare(parts_of(path), work, jobs, verbose, layout, strict, kept)
    with naming(shown_name(path)):
        prepared, lines = _settle(prepared, one_label)
    for line in lines:
        report(line)
    model.fit_prepared(prepared)


def documents_for_test(
    path: str | os.PathLike[str], among: Sequence[str], layout: Layout = AS_FOUND, strict: bool = True
) -> Corpus:
    """The labelled documents of a folder with split test; missing languages are detected ``among`` some."""

    def documents() -> Iterator[Document]:
        for part in parts_of(path):
            for document in read_part(part, layout):
                if document.split == TEST and document.labels is not None:
                    yield document

    return make_corpus(documents(), os.fspath(path), among=among, strict=strict)


def _settle(prepared: PreparedTexts, one_label: bool | None) -> tuple[PreparedTexts, list[str]]:
    """What `trials.one_label.settle` makes of trials, of documents that were counted part by part."""
    if one_label is False:
        return prepared, []
    for language, targets in prepared.targets.items():
        others = np.flatnonzero(np.count_nonzero(targets, axis=1) != 1)
        if len(others) and one_label is None:
            return prepared, []
        if len(others):
            name, labels = prepared.ids[language][others[0]], np.count_nonzero(targets[others[0]])
            raise lacks_one_label(name, int(labels), CURE)
    return prepared.with_one_label(), [NOTICED] if one_label is None else []
