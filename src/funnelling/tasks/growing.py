"""Let a model learn on: further languages, further documents and corrected labels, without starting over."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from funnelling.corpus import Corpus
from funnelling.errors import InputError, counted
from funnelling.evaluation.change import NOT_MEASURED, BeforeAfterMetrics
from funnelling.evaluation.measuring import supported_documents
from funnelling.evaluation.splits import Trial, as_one_label
from funnelling.formats.document import NO_TEXT, LineNumber, quoted
from funnelling.formats.files import shown_name
from funnelling.formats.jsonl import journal_mark
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.funnel.fitted import FittedFunnel
from funnelling.methods import learning
from funnelling.methods.archive import Archive
from funnelling.methods.learning import check_extensible
from funnelling.methods.merging import Merged, remember_step, with_targets
from funnelling.methods.training_set import NEW_DOCUMENT
from funnelling.runtime.messages import Reporter, silent
from funnelling.storage import check_writable, load_to_change, save_changes
from funnelling.storage.folders import Document
from funnelling.tasks.arrivals import CHOSEN_ANEW, arrival_lines, check_replaced, total, united
from funnelling.tasks.changes import both_answers, change_of, come_out_as_given
from funnelling.tasks.measurement import Measurement, measure_held_out, measure_on_test, shown_errors
from funnelling.tasks.resources import NO_RESOURCES, ResourcePaths, give_resources, rolled_up_sides
from funnelling.tasks.sources import (
    FilePath,
    check_reads_texts,
    layout_for,
    prefix_errors_with_file,
    read_sides,
)
from funnelling.text.languages import known_as, served_by

if TYPE_CHECKING:
    from funnelling.methods.model import Model


@dataclass(frozen=True)
class GrownModel:
    """A model that learned on, and what has changed.

    Documents are counted by what they were to the model: ``new``, ``corrected`` (known, with other labels),
    ``replaced`` (known by their id, with another text) and ``repeated`` (nothing new). ``as_corrected`` is
    how many of the corrected ones get exactly the labels given. ``kept_scores`` says that few documents came
    to a large model, which keeps what it said of the others when they were held out.
    """

    model: "Model"
    change: BeforeAfterMetrics
    new: int = 0
    corrected: int = 0
    replaced: int = 0
    repeated: int = 0
    as_corrected: int = 0
    new_labels: list[str] = field(default_factory=list)
    new_languages: list[str] = field(default_factory=list)
    kept_scores: bool = False

    def record(self) -> dict[str, Any]:
        """What has changed as JSON holds it."""
        counts = ("new", "corrected", "replaced", "repeated", "as_corrected", "new_labels", "new_languages")
        return {
            "documents": dict(self.model.documents),
            **{name: getattr(self, name) for name in counts},
            **self.change.record(),
            "kept_scores": self.kept_scores,
        }


class ScoreFellError(InputError):
    """A model that learned on became worse by more than noise, and was not saved; ``growth`` tells how."""

    def __init__(self, message: str, growth: GrownModel) -> None:
        super().__init__(message)
        self.growth = growth


@dataclass(frozen=True)
class _Growing:
    """How a model is to learn on, by which command, and where to; see `update`."""

    step: str
    model: FilePath
    output: FilePath | None
    layout: Layout
    strict: bool
    resources: ResourcePaths
    exact: bool
    choose: bool
    jobs: int | None
    force: bool
    verbose: int
    report: Reporter
    overwrite: bool = False


def add_language(
    model: FilePath,
    data: FilePath,
    output: FilePath | None = None,
    *,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    resources: ResourcePaths = NO_RESOURCES,
    exact: bool = False,
    choose: bool = False,
    jobs: int | None = None,
    force: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> GrownModel:
    """Teach a model languages that it does not know.

    Takes what `update` takes, and refuses documents in languages that the model knows.
    """
    how = _Growing(
        "add-language", model, output, layout, strict, resources, exact, choose, jobs, force, verbose, report
    )
    method, document = _loaded(how)
    trial, notes = read_sides(data, verbose=verbose, layout=layout_for(method, layout), strict=strict)
    with prefix_errors_with_file(data):
        for language in trial.train.by_language():
            if known_as(language, method.languages):
                raise InputError(f"the model knows {language} already. Use `funnelling update` for it.")
    return _grow(how, method, document, trial, notes, data)


def update(
    model: FilePath,
    data: FilePath | None = None,
    output: FilePath | None = None,
    *,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    resources: ResourcePaths = NO_RESOURCES,
    exact: bool = False,
    choose: bool = False,
    jobs: int | None = None,
    force: bool = False,
    overwrite: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> GrownModel:
    """Teach a model further documents, or other labels of documents that it knows.

    Documents are known by their ids, or by their texts where they have none. A document that is known gets
    the labels that it comes with, and for that its id is enough: it needs no text. Documents in a regional
    variant of a known language count as that one's. A model that has become worse by more than noise is not
    saved: `ScoreFellError`.

    Parameters
    ----------
    model : folder of the model
    data : file of labelled documents; those with split test are measured on, before and after. None where the
        views are only to be chosen anew
    output : folder of the new model; None replaces the old one
    layout : where the fields of documents are in the file, as far as that is not to be found
    strict : whether a document with a language that is none is refused, or else left out
    resources : where those resources are now that the model learns from beside documents
    exact : whether all is solved anew, which takes longer and gives the bits of a fit on everything
    choose : whether the views are chosen anew, over all documents
    jobs : threads, or None for one
    force : whether another model in ``output`` is replaced, and a model saved that has become worse
    overwrite : whether another model in ``output`` is replaced
    verbose : above 0 for progress bars
    report : what gets a line on each step
    """
    how = _Growing(
        "update",
        model,
        output,
        layout,
        strict,
        resources,
        exact,
        choose,
        jobs,
        force,
        verbose,
        report,
        overwrite,
    )
    if data is None and not choose:
        raise InputError(
            f"{model}: nothing to learn. Name a file of documents, or choose views anew (--choose)."
        )
    method, document = _loaded(how)
    if data is None:
        nothing = Corpus()
        return _grow(how, method, document, Trial(nothing, nothing, nothing), [], None)
    known = method.languages
    trial, notes = read_sides(data, known, verbose, layout_for(method, layout), strict, texts=False)
    for side in trial:
        side.languages = [None if tag is None else served_by(tag, known) for tag in side.languages]
    return _grow(how, method, document, trial, notes, data)


def load_extensible(
    path: FilePath, output: FilePath | None, resources: ResourcePaths = NO_RESOURCES, force: bool = False
) -> tuple["Model", Document]:
    """A model that can learn again from what it keeps, with its resources, and be written to the output.

    With the document that `save_changes` takes.
    """
    model, document = load_to_change(path)
    check_reads_texts(model, path)
    with prefix_errors_with_file(path):
        model = give_resources(model, resources)
        check_extensible(model)
    check_writable(Path(output or path), force or output is None)
    return model, document


def _loaded(how: _Growing) -> tuple["Model", Document]:
    model, document = load_extensible(how.model, how.output, how.resources, how.force or how.overwrite)
    if how.choose and model.fitted.chosen is None:
        raise InputError(f"{how.model}: its views were given, not chosen. Leave --choose out.")
    return model.running(n_jobs=how.jobs, verbose=how.verbose), document


def _grow(
    how: _Growing,
    before: "Model",
    document: Document,
    trial: Trial,
    notes: Sequence[str],
    data: FilePath | None,
) -> GrownModel:
    report, source = how.report, shown_name(how.model if data is None else data)
    trial = rolled_up_sides(trial, before)
    archive = check_extensible(before)
    with prefix_errors_with_file(source):
        lines = list(notes)
        if before.labels.single_label and len(trial.train):
            trial, left_out = as_one_label(trial, "Give it one, as the model does.")
            lines += left_out
        documents, corrections = _sorted(archive, trial.train)
        merged = _merged(before, documents, corrections)
        if not how.force:
            check_replaced(merged)
    test = trial.test.select([text is not NO_TEXT for text in trial.test.texts])
    if len(test) < len(trial.test):
        lines.append(f"{counted(len(trial.test) - len(test), 'test document')} left out, for want of a text.")
    for line in (*lines, *arrival_lines(before, merged, how.choose, how.output or how.model)):
        report(line)
    if not merged.changed and not how.choose and how.output is None:
        report("Nothing is new: the model stays as it is.")
        return GrownModel(before, NOT_MEASURED, repeated=total(merged.repeated))
    after = learning.update(before, merged, exact=how.exact, choose=how.choose)
    if how.choose:
        report(after.fitted.chosen.summary())
    test = _unlearned(merged.archive, test, report)
    test = test.select(supported_documents(test, after))
    answers = both_answers(before, after, test)
    growth = GrownModel(
        after,
        change_of(before, after, merged.places, test, merged.replaced, answers),
        new=total(merged.new),
        corrected=total(merged.corrected),
        replaced=total(merged.replaced),
        repeated=total(merged.repeated),
        as_corrected=come_out_as_given(after, merged.corrected),
        new_labels=sorted(set(map(str, after.labels.classes)) - set(map(str, before.labels.classes))),
        new_languages=sorted(set(after.languages) - set(before.languages)),
        kept_scores=_kept_scores(after),
    )
    growth = replace(growth, model=_remembering(how, growth, merged, data))
    if growth.change.fell and not how.force:
        fell = growth.change.fell[0].described()
        cure = "Look at the documents" if not growth.kept_scores else "Try --exact, look at the documents"
        raise ScoreFellError(
            f"{source}: {fell}, which is more than noise: the old model stays. {cure}, or take the new one "
            "anyway with --force.",
            growth,
        )
    measurement = measure_changed(growth.model, test, answers=None if answers is None else answers.after)
    save_changes(
        growth.model,
        how.model,
        how.output,
        document=document,
        scores=measurement.record(),
        details=measurement.details(),
        force=how.force or how.overwrite,
    )
    return growth


def _kept_scores(model: "Model") -> bool:
    """Whether few documents came to a funnel of many, so that what was held out before stayed."""
    fitted = model.fitted
    return isinstance(fitted, FittedFunnel) and fitted.kept is not None and fitted.kept.changed > 0


def _remembering(how: _Growing, growth: GrownModel, merged: Merged, data: FilePath | None) -> "Model":
    """The model that remembers what it learned from now."""
    came = [merged.new, merged.corrected, merged.replaced, merged.repeated]
    rows = {tag: {row for each in came for row in each.get(tag, ())} for tag in merged.places}
    return remember_step(
        growth.model,
        how.step,
        file=data,
        journal=None if data is None else journal_mark(data),
        documents={tag: len(each) for tag, each in rows.items()},
        new=growth.new,
        corrected=growth.corrected,
        replaced=growth.replaced,
        labels_added=len(growth.new_labels),
        views=CHOSEN_ANEW if how.choose else None,
    )


def _sorted(archive: Archive, train: Corpus) -> tuple[Corpus, Corpus]:
    """The documents that bring a text, and those that bring labels for one that the model has."""
    known = set[str]().union(*map(archive.given_ids, archive.ids))
    bare = np.array(
        [
            text is NO_TEXT or (not text.strip() and not isinstance(name, LineNumber) and name in known)
            for name, text in zip(train.ids, train.texts, strict=True)
        ],
        dtype=bool,
    )
    corrections = train.select(bare)
    unknown = [name for name in corrections.ids if name not in known]
    if unknown and bare.all():
        more = f", nor {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise InputError(
            f"the model learned from no document with the id {quoted(unknown[0])}{more}. Correct the ids, or "
            "give the texts of new documents, too."
        )
    if unknown:
        number = "has no text" if len(unknown) == 1 else f"and {len(unknown) - 1:,} more have no text"
        raise InputError(
            f"document {quoted(unknown[0])} {number}, and the model learned from none of that id. Name the "
            "column of the text with --text-column, or leave it out."
        )
    return train.select(~bare), corrections


def _merged(model: "Model", documents: Corpus, corrections: Corpus) -> Merged:
    """What the model's documents become: corrected first, then with those that bring a text."""
    archive, labels = check_extensible(model), model.labels
    merged = with_targets(archive, labels.by_class(archive.targets), labels)
    if len(corrections):
        merged = learning.correction(model, corrections.ids, corrections.y, corrections.languages)
    if len(documents):
        corrected = replace(model, archive=merged.archive, labels=labels.under(merged.classes))
        groups = documents.groups if any(documents.groups) else None
        further = learning.further(
            corrected, documents.texts, documents.y, documents.languages, groups, documents.ids
        )
        merged = _both(merged, further)
    return merged


def _both(first: Merged, second: Merged) -> Merged:
    """What two steps made of an archive."""
    before = {tag: rows for tag, rows in first.places.items() if tag in second.places}
    places = {
        tag: np.where(rows == NEW_DOCUMENT, NEW_DOCUMENT, before[tag][rows]) if tag in before else rows
        for tag, rows in second.places.items()
    }
    corrected = united(first.corrected, second.corrected)
    repeated = united(first.repeated, second.repeated)
    return replace(
        second,
        places=places,
        corrected=corrected,
        repeated={
            tag: sorted({*rows} - {*corrected.get(tag, ()), *second.replaced.get(tag, ())})
            for tag, rows in repeated.items()
        },
    )


def _unlearned(archive: Archive, test: Corpus, report: Reporter) -> Corpus:
    """Test documents that the model has not learned from."""
    learned = archive.knows(test.languages, test.texts, test.ids, test.groups)
    if learned.any():
        report(f"{counted(int(learned.sum()), 'test document')} left out, which the model learned from.")
    return test.select(~learned)


def measure_changed(
    model: "Model",
    test: Corpus,
    when: str = "after it learned on",
    answers: tuple[Any, Any] | None = None,
) -> Measurement:
    """What the card of a changed model shows: test documents only where all languages have some."""
    if len(test) and set(test.by_language()) >= set(model.languages):
        return measure_on_test(model, test, f" {when}", shown_errors(model.parameters), answers)
    if model.held_out_measures():
        return measure_held_out(model, f"Measured by inner folds over the training documents {when}.")
    return Measurement(None, f"Not measured {when}: there are no test documents in every language.")
