"""Let a model learn on: further languages, or further documents, without starting over."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.funnel import FunnellingClassifier
from funnelling.method.archive import Archive
from funnelling.method.history import remember_step
from funnelling.storage import check_writable, save_model
from funnelling.tasks.measurement import Measurement, measure_held_out, measure_on_test, shown_errors
from funnelling.tasks.sources import FilePath, layout_for, load_text_model, naming_file, read_sides
from funnelling.text.languages import known_as, served_by
from funnelling.trials.measuring import measure_method, servable
from funnelling.trials.one_label import as_one_label
from funnelling.trials.reporting import Reporter, silent
from funnelling.trials.splits import Trial
from funnelling.wording import counted


class Change(NamedTuple):
    """Measures by language before and after, over the labels known before; a new language has none before."""

    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True)
class GrownModel:
    """A model that learned on and was saved, and what has changed.

    ``on_test`` is the change on so many ``test_documents``, ``on_held_out`` that on training documents that
    were held out. ``corrected`` documents were known already, and have the labels given now.
    """

    model: FunnellingClassifier
    test_documents: int
    on_test: Change
    on_held_out: Change
    corrected: int
    new_labels: int


def add_language(
    model: FilePath,
    data: FilePath,
    output: FilePath | None = None,
    *,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    jobs: int | None = None,
    force: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> GrownModel:
    """Teach a model languages that it does not know; all other base classifiers stay untouched.

    Parameters
    ----------
    model : folder of a funnel
    data : file of labelled documents; those with split test are measured on, before and after
    output : folder of the new model; None replaces the old one
    layout : where the fields of documents are in the file, as far as that is not to be found
    strict : whether a document with a language that is none is refused, or else left out
    jobs : threads, or None for one
    force : whether another model in ``output`` is replaced
    verbose : above 0 for progress bars
    report : what gets a line on each step
    """
    funnel = _load(model, output, force)
    trial, notes = read_sides(data, verbose=verbose, layout=layout_for(funnel, layout), strict=strict)
    with naming_file(data):
        for language in trial.train.by_language():
            if known_as(language, funnel.languages_):
                raise InputError(f"the model knows {language} already. Use `funnelling update` for it.")
    return _grow(funnel, trial, notes, data, output or model, jobs, verbose, report)


def update(
    model: FilePath,
    data: FilePath,
    output: FilePath | None = None,
    *,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    jobs: int | None = None,
    force: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> GrownModel:
    """Teach a model further documents in languages that it knows; vocabularies stay as they were.

    Takes what `add_language` takes. Documents in a regional variant of a known language count as that one's.
    """
    funnel = _load(model, output, force)
    known = funnel.languages_
    trial, notes = read_sides(data, known, verbose, layout_for(funnel, layout), strict)
    for side in trial:
        side.languages = [served_by(str(language), known) for language in side.languages]
    with naming_file(data):
        for language in trial.train.by_language():
            if language not in known:
                raise InputError(
                    f"the model does not know {language}, only {', '.join(known)}. "
                    "Use `funnelling add-language` for it."
                )
    return _grow(funnel, trial, notes, data, output or model, jobs, verbose, report)


def _load(path: FilePath, output: FilePath | None, force: bool) -> FunnellingClassifier:
    """A model that can learn on, and be written to the output."""
    model = load_text_model(path)
    if not isinstance(model, FunnellingClassifier):
        raise InputError(f"{path}: only funnels learn on. Train the model anew.")
    with naming_file(path):
        model.check_extensible()
    check_writable(Path(output or path), force or output is None)
    return model


def _grow(
    model: FunnellingClassifier,
    trial: Trial,
    notes: Sequence[str],
    data: FilePath,
    output: FilePath,
    jobs: int | None,
    verbose: int,
    report: Reporter,
) -> GrownModel:
    left_out: list[str] = []
    if model.exclusive_:
        with naming_file(data):
            trial, left_out = as_one_label(trial, "Give it one, as the model does.")
    train = trial.train
    for line in (*notes, *left_out):
        report(line)
    report(f"Learning from {counted(len(train), 'document')} in {', '.join(train.by_language())}.")
    before = copy(model)
    model.set_params(n_jobs=jobs, verbose=verbose)
    has_groups = any(train.groups) or any(map(any, before.training_.groups.values()))
    groups = train.groups if has_groups else None
    model.extend(train.texts, train.y, languages=train.languages, groups=groups, ids=train.ids)
    # A model that outgrew its archive goes by the one it had.
    archive: Archive = getattr(model, "training_", before.training_)
    is_learned = archive.knows(trial.test.languages, trial.test.texts, trial.test.ids, trial.test.groups)
    if is_learned.any():
        report(f"{counted(int(is_learned.sum()), 'test document')} left out, which the model learned from.")
    test = trial.test.select(~is_learned)
    measurable = test.select(servable(test, model))
    growth = GrownModel(
        model,
        len(measurable),
        _change_on_test(before, model, measurable),
        _change_on_held_out(before, model),
        corrected=sum(before.documents_.values()) + len(train) - sum(model.documents_.values()),
        new_labels=len(model.classes_) - len(before.classes_),
    )
    documents = {language: len(rows) for language, rows in train.by_language().items()}
    remember_step(
        model,
        "update" if documents.keys() <= before.documents_.keys() else "add-language",
        file=data,
        before=before,
        documents=documents,
        new=len(train) - growth.corrected,
        corrected=growth.corrected,
        labels_added=growth.new_labels,
    )
    measurement = _measure(model, test)
    save_model(model, output, scores=measurement.record(), details=measurement.details(), force=True)
    return growth


def _change_on_test(before: FunnellingClassifier, after: FunnellingClassifier, test: Corpus) -> Change:
    known = test.select(servable(test, before))
    return Change(
        measure_method(before, known)["languages"] if len(known) else {},
        measure_method(after, test, _labels(before))["languages"] if len(test) else {},
    )


def _change_on_held_out(before: FunnellingClassifier, after: FunnellingClassifier) -> Change:
    old = before.held_out_measures() if hasattr(before, "held_out_") else {}  # models of earlier versions
    return Change(old, after.held_out_measures(_labels(before)))


def _labels(model: FunnellingClassifier) -> list[str]:
    return [str(label) for label in model.classes_]


def _measure(model: FunnellingClassifier, test: Corpus) -> Measurement:
    """What the model's card shows: all languages alike, so test documents only where all have some."""
    if set(test.by_language()) == set(model.languages_):
        return measure_on_test(model, test, " after it learned on", shown_errors(model))
    how = "Measured by inner folds over the training documents after it learned on."
    return measure_held_out(model, how)
