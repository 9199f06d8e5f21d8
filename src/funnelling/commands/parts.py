"""Models that learn from a folder of Parquet parts, and label one, part by part."""

import hashlib
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from funnelling.commands.options import FilePath, Predicting
from funnelling.commands.predictions import Counts, counting, say_renamed, table_of, thresholds_shown
from funnelling.commands.sources import label_set_to_learn
from funnelling.corpus import Corpus, make_corpus
from funnelling.corpus.corpus import lacks_one_label
from funnelling.errors import InputError, prefix_errors
from funnelling.evaluation.measurement import (
    Measurement,
    measure_held_out,
    measure_on_test,
    report_choice,
    with_baseline,
)
from funnelling.evaluation.splits import SINGLE_LABEL_HINT, SINGLE_LABEL_NOTICE, measurable
from funnelling.formats import Document, is_text_folder, parts_of, read_part
from funnelling.formats.files import shown_name, writing
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.parquet import rows_in
from funnelling.formats.tables import PARQUET, write_table
from funnelling.funnel.design import is_auto
from funnelling.funnel.fitted import FittedFunnel
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.learning import Method
from funnelling.methods.model import Model
from funnelling.methods.parts import TEST, prepare
from funnelling.methods.rows import Predictor, batches
from funnelling.methods.training_set import TrainingSet
from funnelling.runtime.alone import has_locks, write_lock
from funnelling.runtime.messages import MODEL, Reporter, silent
from funnelling.runtime.progress import progress_bar, watched
from funnelling.runtime.spread import map_processes
from funnelling.storage import load
from funnelling.storage.places import folder_of, lasting

# Documents, past which other views of texts are not tried: that would take many times as long
MAX_DOCUMENTS_FOR_VIEW_SEARCH = 50_000
MANIFEST = "_predictions.json"  # what the predictions in a folder were made with


def learns_by_parts(method: Method, path: str | os.PathLike[str]) -> bool:
    """Whether documents are counted part by part, not read into memory.

    That needs Parquet files and a method that looks at each language's own words. A method that may also
    choose other views of texts reads them into memory to try those, unless there are too many.
    """
    if (
        not os.path.isdir(path)
        or is_text_folder(path)
        or not method.algorithm.learns_own_words(method.parameters)
    ):
        return False
    parts = parts_of(path)
    if not all(part.lower().endswith(PARQUET) for part in parts):
        return False
    chooses = is_auto(getattr(method.parameters, "views", None))
    return not chooses or sum(map(rows_in, parts)) > MAX_DOCUMENTS_FOR_VIEW_SEARCH


def has_many_labels(path: str | os.PathLike[str], layout: Layout = AS_FOUND, verbose: int = 0) -> bool:
    """Whether the documents of a folder have more labels than are kept as a dense matrix."""
    labels: set[str] = set()
    for part in watched(parts_of(path), "looking for labels", bool(verbose), "parts"):
        for document in read_part(part, layout):
            if document.split != TEST and document.labels is not None:
                labels.update(document.labels)
            if len(labels) > XMC_MIN_LABELS:
                return True
    return False


def fit_parts(
    method: Method,
    path: str | os.PathLike[str],
    work: Path,
    jobs: int | None = None,
    verbose: int = 0,
    one_label: bool | None = None,
    report: Reporter = silent,
    layout: Layout = AS_FOUND,
    strict: bool = True,
) -> Model:
    """Fit a method on the training documents of a folder; ``work`` is the folder of counts and vectors.

    ``one_label`` says whether each document has exactly one label; None is for what they show. ``layout`` is
    that of all parts; if not ``strict``, documents whose language is none are left out.
    """
    parameters = method.parameters
    prepared = prepare(parts_of(path), work, jobs, verbose, layout, strict, parameters.keep)
    with prefix_errors(shown_name(path)):
        prepared, lines = _settle(prepared, one_label)
    for line in lines:
        report(line)
    return method.fit_prepared(prepared)


def documents_for_test(
    path: str | os.PathLike[str], among: Sequence[str], layout: Layout = AS_FOUND, strict: bool = True
) -> Corpus:
    """The labelled documents of a folder with split test; missing languages are detected ``among`` some."""

    def documents() -> Iterator[Document]:
        for part in parts_of(path):
            for document in read_part(part, layout):
                if document.split == TEST and document.labels is not None:
                    yield document

    return make_corpus(documents(), os.fspath(path), among=layout.detect_among or among, strict=strict)


def _settle(prepared: TrainingSet, one_label: bool | None) -> tuple[TrainingSet, list[str]]:
    """What `trials.one_label.settle` makes of trials, of documents that were counted part by part."""
    if one_label is False:
        return prepared, []
    for language, targets in prepared.targets.items():
        others = np.flatnonzero(np.count_nonzero(targets, axis=1) != 1)
        if len(others) and one_label is None:
            return prepared, []
        if len(others):
            name, labels = prepared.blocks[language].names[others[0]], np.count_nonzero(targets[others[0]])
            raise lacks_one_label(name, int(labels), SINGLE_LABEL_HINT)
    return prepared.with_one_label(), [SINGLE_LABEL_NOTICE] if one_label is None else []


def train_on_parts(
    method: Method,
    data: FilePath,
    output: FilePath,
    one_label: bool | None,
    layout: Layout,
    strict: bool,
    errors: int,
    label_set: FilePath | None,
    report: Reporter,
) -> tuple[Model, Measurement, float]:
    """Fit on a folder of parts, counted one by one and never read into memory as a whole; and the seconds."""
    work = Path(f"{os.path.abspath(output)}.work")
    with _sole_worker_in(work):
        report(f"Counting words part by part in {work}. A run that is cut short goes on from there.")
        jobs, verbose = method.parameters.n_jobs, method.parameters.verbose
        start = time.perf_counter()
        model = fit_parts(method, data, work, jobs, verbose, one_label, report, layout, strict)
        seconds = time.perf_counter() - start
        labels = [str(label) for label in model.labels.classes.tolist()]
        named = label_set_to_learn(label_set, labels, roll_up=False)
        if named is not None:
            named.rules(model.labels.classes).check()
            model = replace(model, label_set=named)
        report_choice(model, report)
        test = documents_for_test(data, model.languages, layout, strict)
        if model.labels.single_label:
            test, left_out = measurable(test)
            for line in left_out:
                report(line)
        measurement = Measurement(None, "Not measured: no document has split test.")
        if len(test):
            measurement = with_baseline(measure_on_test(model, test, errors=errors), model, test)
        elif isinstance(model.fitted, FittedFunnel):
            how = "Measured on training documents held out from both tiers."
            measurement = measure_held_out(model, how)
        shutil.rmtree(work)
    return model, measurement, seconds


@contextmanager
def _sole_worker_in(work: Path) -> Iterator[None]:
    """Wait until nobody else trains in a folder, which whoever does removes in the end."""
    while True:
        work.mkdir(exist_ok=True)
        with write_lock(work) as alone:
            if work.is_dir() and (alone or not has_locks(work)):  # else it was removed before it was locked
                yield
                return


def predict_parts(
    model: str,
    data: str,
    output: str,
    how: Predicting,
    *,
    force: bool = False,
    layout: Layout = AS_FOUND,
    jobs: int | None = None,
    verbose: int = 0,
) -> Counts:
    """Write the predictions for each part of ``data`` to a part of the same name in ``output``, as Parquet.

    Parts that are there already stay as they are, if the same model made them with the same options. Return
    the counts of the rows of the others.
    """
    folder = Path(output)
    parts = parts_of(data)
    path = lasting(model)
    shown = ("top", "threshold", "strict", "probabilities", "names", "label_set")
    origin: dict[str, Any] = {
        "model": _digest(path),
        **{name: getattr(how, name) for name in shown},
        "exclude": sorted(how.exclude),  # as it is read again
        "layout": repr(layout),
    }
    if how.label_set is not None:
        origin["label_set"] = hashlib.sha256(Path(how.label_set).read_bytes()).hexdigest()
    _claim(folder, origin, force)
    missing = [part for part in parts if not _target(folder, part).exists()]
    calls = [(path, part, str(_target(folder, part)), how, layout) for part in missing]
    renamed: dict[str, str] = {}
    counts: Counts = Counter()
    with progress_bar("predict", len(parts), bool(verbose), "parts") as advance:
        advance(len(parts) - len(missing))
        for _, (found, own) in map_processes(_predict_part, calls, jobs):
            renamed |= found
            counts += own
            advance(1)
    say_renamed(renamed)
    return counts


def _predict_part(
    model: str, part: str, target: str, how: Predicting, layout: Layout
) -> tuple[dict[str, str], Counts]:
    """Label a part; gives the columns of the input that had to be renamed, and the counts of its rows."""
    fitted = _load(model, _digest(model)).following(how.label_set, how.exclude)
    predictor = Predictor(
        fitted, how.top, how.threshold, how.strict, names=how.names, languages=how.languages
    )
    table, counts = table_of(how, PARQUET, fitted), Counts()

    def rows() -> Iterator[dict[str, object]]:
        for batch in batches(read_part(part, layout, labels=False, keep_fields=True)):
            yield from table.rows(batch, counting(predictor(batch, part), counts))

    thresholds = thresholds_shown(how, fitted)
    write_table(target, rows(), table.columns, force=True, attached={"thresholds": thresholds})
    return table.renamed, counts


@lru_cache(maxsize=1)
def _load(model: str, _digest: str) -> Model:
    return load(model, mapped=True)


def _digest(model: str) -> str:
    try:
        return hashlib.sha256((folder_of(model) / MODEL).read_bytes()).hexdigest()
    except OSError:
        load(model)  # says what is wrong
        raise


def _target(folder: Path, part: str) -> Path:
    name = os.path.basename(part).lower().removesuffix(".gz")
    return folder / f"{Path(name).stem}.parquet"


def _claim(folder: Path, origin: dict[str, Any], force: bool) -> None:
    """Make the folder ours: it is new, or its parts were made the same way, or they are removed."""
    manifest = folder / MANIFEST
    folder.mkdir(parents=True, exist_ok=True)
    old_parts = [path for path in folder.iterdir() if path.suffix == ".parquet"]
    made: Any = None
    with suppress(OSError, ValueError):
        made = json.loads(manifest.read_text())
    if old_parts and made != origin:
        if not force or not manifest.exists():
            raise InputError(
                f"{folder}: holds files that this model did not make with these options. "
                "Choose another folder" + (" or add --force." if manifest.exists() else ".")
            )
        for path in old_parts:
            path.unlink()
    with writing(manifest, force=True) as stream:
        json.dump(origin, stream)
