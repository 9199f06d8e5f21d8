"""Train a model on documents or on a folder of parts: a model folder and an honest measurement out."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from funnelling.commands.measurement import (
    Measurement,
    measure_by_folds,
    measure_held_out,
    measure_on_test,
    shown_errors,
)
from funnelling.commands.options import FilePath
from funnelling.commands.sources import (
    label_set_to_learn,
    prefix_errors_with_file,
    read_sides,
    remember_layout,
    rolled_up_sides,
    warnings,
    without_parents,
)
from funnelling.corpus import Corpus, make_corpus
from funnelling.corpus.corpus import lacks_one_label
from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError, counted, prefix_errors
from funnelling.evaluation.fitting import fit_method, training_documents
from funnelling.evaluation.splits import (
    SINGLE_LABEL_HINT,
    SINGLE_LABEL_NOTICE,
    Trial,
    check_labels_differ,
    measurable,
    settle,
)
from funnelling.formats import Document, is_text_folder, parts_of, read_part, settle_labels
from funnelling.formats.files import shown_name
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.parquet import rows_in
from funnelling.formats.tables import PARQUET
from funnelling.funnel.design import is_auto
from funnelling.funnel.fitted import FittedFunnel
from funnelling.funnel.many.candidates import MAX_CANDIDATES
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.learning import learn_from_own_words
from funnelling.methods.merging import remember_step
from funnelling.methods.parts import TEST, Kept, prepare
from funnelling.methods.registry import DEFAULT_METHOD, DEFAULT_XMC_METHOD, make_method, name_of
from funnelling.methods.training_set import TrainingSet
from funnelling.runtime.alone import has_locks, write_lock
from funnelling.runtime.messages import Reporter, silent
from funnelling.runtime.progress import timed, watched
from funnelling.storage import check_writable, save

if TYPE_CHECKING:
    from funnelling.methods.estimator import MethodEstimator
    from funnelling.methods.model import Model


# Documents, past which other views of texts are not tried: that would take many times as long
MAX_DOCUMENTS_FOR_VIEW_SEARCH = 50_000


def learns_by_parts(method: "MethodEstimator", path: str | os.PathLike[str]) -> bool:
    """Whether documents are counted part by part, not read into memory.

    That needs Parquet files and a method that looks at each language's own words. A method that may also
    choose other views of texts reads them into memory to try those, unless there are too many.
    """
    if not os.path.isdir(path) or is_text_folder(path) or not method.algorithm.learns_own_words(method):
        return False
    parts = parts_of(path)
    if not all(part.lower().endswith(PARQUET) for part in parts):
        return False
    chooses = is_auto(getattr(method, "views", None))
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
    method: "MethodEstimator",
    path: str | os.PathLike[str],
    work: Path,
    jobs: int | None = None,
    verbose: int = 0,
    one_label: bool | None = None,
    report: Reporter = silent,
    layout: Layout = AS_FOUND,
    strict: bool = True,
) -> "Model":
    """Fit a method on the training documents of a folder; ``work`` is the folder of counts and vectors.

    ``one_label`` says whether each document has exactly one label; None is for what they show. ``layout`` is
    that of all parts; if not ``strict``, documents whose language is none are left out.
    """
    kept: Kept = "nothing" if method.compact else "texts" if method.keep_texts else "bags"
    prepared = prepare(parts_of(path), work, jobs, verbose, layout, strict, kept)
    with prefix_errors(shown_name(path)):
        prepared, lines = _settle(prepared, one_label)
    for line in lines:
        report(line)
    return learn_from_own_words(method.algorithm, method.parameters, prepared)


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


def _settle(prepared: TrainingSet, one_label: bool | None) -> tuple[TrainingSet, list[str]]:
    """What `trials.one_label.settle` makes of trials, of documents that were counted part by part."""
    if one_label is False:
        return prepared, []
    for language, targets in prepared.targets.items():
        others = np.flatnonzero(np.count_nonzero(targets, axis=1) != 1)
        if len(others) and one_label is None:
            return prepared, []
        if len(others):
            name, labels = prepared.ids[language][others[0]], np.count_nonzero(targets[others[0]])
            raise lacks_one_label(name, int(labels), SINGLE_LABEL_HINT)
    return prepared.with_one_label(), [SINGLE_LABEL_NOTICE] if one_label is None else []


@dataclass(frozen=True)
class TrainedModel:
    """A model that was trained and saved, and how good it is."""

    model: "Model"
    measurement: Measurement


def train(
    method: "str | MethodEstimator | None",
    data: FilePath,
    output: FilePath,
    *,
    if_many: "MethodEstimator | None" = None,
    seed: int = 0,
    one_label: bool | None = None,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    outer_folds: bool = True,
    texts: bool = True,
    label_set: FilePath | None = None,
    roll_up: bool = False,
    force: bool = False,
    report: Reporter = silent,
) -> TrainedModel:
    """Fit a method on the training documents of a file, measure it, and save the model with a report on it.

    Parameters
    ----------
    method : an unfitted method, which is fitted, or the name of one; None for fun-auto, and for fun-many
        where the training documents have more than 1,000 labels
    data : file of documents; a folder of Parquet files is counted file by file, where the method allows it
    output : folder of the model
    if_many : an unfitted method that is fitted instead, where there are more than 1,000 labels
    seed : of the outer folds, and of a method that is given by name
    one_label : whether each document has exactly one label and is to be given one; None for what the training
        documents show
    layout : where the fields of documents are in the file, as far as that is not to be found
    strict : whether a document with a language that is none is refused, or else left out
    outer_folds : whether a file without test documents is measured by five outer folds
    texts : whether the report in the model's folder, ``report.html``, may show documents: those of the worst
        errors. A compact model keeps none
    label_set : file of what the labels are called, which belong to which, and which are not to be assigned
        (see `read_label_set`); the model keeps it
    roll_up : whether documents get the parents of their labels, from then on whenever the model learns or is
        measured
    force : whether a model that exists is replaced
    report : what gets a line on each step

    >>> import tempfile
    >>> from funnelling import Document, write_documents
    >>> texts = {"en": ["loan", "game", "loan game"], "it": ["prestito", "gioco", "prestito gioco"]}
    >>> labels = [("money",), ("sport",), ("money", "sport")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = os.path.join(folder, "docs.jsonl")
    ...     write_documents(data, [
    ...         Document(f"{tag}{i}", texts[tag][i % 3], tag, labels[i % 3], "train" if i < 9 else "test")
    ...         for tag in texts for i in range(12)
    ...     ])
    ...     trained = train("fun-tat", data, os.path.join(folder, "model"))
    >>> trained.model.languages, trained.measurement.how
    (['en', 'it'], 'Measured on 6 test documents.')
    """
    if method is None:
        method, if_many = DEFAULT_METHOD, if_many or make_method(DEFAULT_XMC_METHOD, seed=seed)
    method = make_method(method, seed=seed) if isinstance(method, str) else method
    check_writable(Path(output), force)
    if (
        learns_by_parts(method, data)
        and if_many is not None
        and has_many_labels(data, layout, method.verbose)
    ):
        method = if_many
    errors = shown_errors(method) if texts else 0
    if learns_by_parts(method, data):
        if roll_up:
            raise InputError(f"{data}: --roll-up is for files, not for folders of parts. Leave it out.")
        layout = settle_labels(data, layout)
        label_set_to_learn(label_set, [], roll_up)  # refused before the work begins, if at all
        model, measurement = _fit_parts(
            method, data, output, one_label, layout, strict, errors, label_set, report
        )
    else:
        trial, notes = read_sides(data, verbose=method.verbose, layout=layout, strict=strict)
        labels = label_set_to_learn(label_set, trial.train.label_set(), roll_up)
        trial = rolled_up_sides(trial, labels)
        if labels is not None:
            labels.rules(trial.train.label_set()).check()
        notes += without_parents(trial.train, labels, label_set)
        number = len(trial.train.label_set())
        if number > XMC_MIN_LABELS and (if_many is not None or not method.algorithm.sparse_labels):
            method = if_many or method
            notes.append(_on_many(number, method))
        nameable = labels.assignable().difference(trial.train.label_set()) if labels is not None else ()
        if nameable and method.algorithm.learns_names:
            notes.append(f"{counted(len(nameable), 'label')} without training documents: learned by name.")
        crowded = (
            sum(len(own) > MAX_CANDIDATES for own in trial.train.label_lists())
            if method.algorithm.sparse_labels
            else 0
        )
        if crowded:
            notes.append(
                f"{counted(crowded, 'training document')} with more than {MAX_CANDIDATES} labels: "
                f"{method.algorithm.name} gives a document {MAX_CANDIDATES} at most."
            )
        model, measurement = _fit_file(
            method, trial, notes, data, seed, one_label, outer_folds, errors, labels, report
        )
    model = remember_layout(model, layout)
    goal = getattr(method, "optimise", None)
    model = remember_step(model, "train", file=data, documents=model.documents, goal=goal)
    with timed("saving", model.shows_progress):
        save(model, output, scores=measurement.record(), details=measurement.details(), force=force)
    return TrainedModel(model, measurement)


def _fit_file(
    method: "MethodEstimator",
    trial: Trial,
    notes: Sequence[str],
    data: FilePath,
    seed: int,
    one_label: bool | None,
    outer_folds: bool,
    errors: int,
    label_set: LabelSet | None,
    report: Reporter,
) -> "tuple[Model, Measurement]":
    """Fit on the documents of a file, read into memory."""
    with prefix_errors_with_file(data):
        check_labels_differ(trial.train)
        (trial,), kind = settle([trial], one_label)
        _check_goal(method, trial.train.one_label)
    train = trial.train
    for line in (*notes, *warnings(trial), *kind):
        report(line)
    report(
        f"Training {name_of(method.algorithm, method)} on {counted(len(train), 'document')} in "
        f"{counted(len(train.by_language()), 'language')} with {counted(len(train.label_set()), 'label')}."
    )
    model = fit_method(method, training_documents(method, trial), label_set)
    _report_choice(model, report)
    if len(trial.test):
        return model, measure_on_test(model, trial.test, errors=errors)
    if not outer_folds:
        return model, Measurement(None, "Not measured.")
    report("Measuring by five outer folds.")
    return model, measure_by_folds(method, model, train, seed, errors)


def _fit_parts(
    method: "MethodEstimator",
    data: FilePath,
    output: FilePath,
    one_label: bool | None,
    layout: Layout,
    strict: bool,
    errors: int,
    label_set: FilePath | None,
    report: Reporter,
) -> "tuple[Model, Measurement]":
    """Fit on a folder of parts, counted one by one and never read into memory as a whole."""
    work = Path(f"{os.path.abspath(output)}.work")
    with _sole_worker_in(work):
        report(f"Counting words part by part in {work}. A run that is cut short goes on from there.")
        model = fit_parts(
            method, data, work, method.n_jobs, method.verbose, one_label, report, layout, strict
        )
        labels = [str(label) for label in model.labels.classes.tolist()]
        named = label_set_to_learn(label_set, labels, roll_up=False)
        if named is not None:
            named.rules(model.labels.classes).check()
            model = replace(model, label_set=named)
        _report_choice(model, report)
        measurement = _measure_parts(model, data, layout, strict, errors, report)
        shutil.rmtree(work)
    return model, measurement


def _on_many(number: int, method: "MethodEstimator") -> str:
    """A line on so many labels: what is trained for them, or what should be."""
    name = name_of(method.algorithm, method)
    if method.algorithm.sparse_labels:
        return f"{number:,} labels: {name} is trained, which is made for so many."
    return f"{number:,} labels: {name} will take long. {DEFAULT_XMC_METHOD} is made for so many."


@contextmanager
def _sole_worker_in(work: Path) -> Iterator[None]:
    """Wait until nobody else trains in a folder, which whoever does removes in the end."""
    while True:
        work.mkdir(exist_ok=True)
        with write_lock(work) as alone:
            if work.is_dir() and (alone or not has_locks(work)):  # else it was removed before it was locked
                yield
                return


def _measure_parts(
    model: "Model", data: FilePath, layout: Layout, strict: bool, errors: int, report: Reporter
) -> Measurement:
    test = documents_for_test(data, model.languages, layout, strict)
    if model.labels.single_label:
        test, left_out = measurable(test)
        for line in left_out:
            report(line)
    if len(test):
        return measure_on_test(model, test, errors=errors)
    if isinstance(model.fitted, FittedFunnel):
        return measure_held_out(model, "Measured on training documents held out from both tiers.")
    return Measurement(None, "Not measured: no document has split test.")


def _check_goal(method: "MethodEstimator", one_label: bool) -> None:
    """Refuse to tune thresholds where there are none."""
    if one_label and getattr(method, "optimise", None) is not None:
        raise InputError(
            "--optimise tunes thresholds, and one label per document has none. Leave it out, or add "
            "--several-labels."
        )


def _report_choice(model: "Model", report: Reporter) -> None:
    """Say which views a funnel chose, where it had the choice."""
    if model.fitted.chosen is not None:
        report(model.fitted.chosen.summary())
