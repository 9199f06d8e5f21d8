"""Documents that come to a model: read, told apart by what they are to it, and added."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from funnelling.commands.change import (
    Change,
    both_answers,
    change_model,
    change_of,
    come_out_as_given,
    measure_changed,
    ready_to_learn,
)
from funnelling.commands.declaring import NegativeResultError
from funnelling.commands.options import FilePath, Updating
from funnelling.commands.sources import layout_for, prefix_errors_with_file, read_sides, rolled_up_sides
from funnelling.corpus import Corpus
from funnelling.corpus.by_language import ByLanguage
from funnelling.errors import InputError, counted
from funnelling.evaluation.change import NOT_MEASURED, BeforeAfterMetrics
from funnelling.evaluation.measuring import supported_documents
from funnelling.evaluation.splits import Trial, as_one_label
from funnelling.formats.document import NO_TEXT, LineNumber, quoted
from funnelling.formats.files import shown_name
from funnelling.formats.jsonl import journal_mark
from funnelling.funnel.fitted import FittedFunnel
from funnelling.methods import learning
from funnelling.methods.learning import check_extensible
from funnelling.methods.merging import DocumentRows, Merged, tuned_for_some, with_targets
from funnelling.methods.model import FIRST_STEP
from funnelling.methods.training_set import NEW_DOCUMENT
from funnelling.runtime.messages import Reporter
from funnelling.text.languages import served_by

if TYPE_CHECKING:
    from funnelling.methods.model import Model

MIN_NEW_VERSIONS = 3  # documents with another text than the one of their id are taken for new versions of it
CHOSEN_ANEW = "chosen anew"  # of views, in a model's history


@dataclass(frozen=True)
class UpdateResult:
    """An updated model, and what has changed.

    Documents are counted by what they were to the model: ``new``, ``corrected`` (known, with other labels),
    ``replaced`` (known by their id, with another text) and ``unchanged``. ``corrections_learned`` counts the
    corrected ones that get exactly the labels given. ``reused_folds`` says that few documents came to a large
    model, which keeps the out-of-fold scores of the others. A model that became worse is not ``saved``.
    """

    model: "Model"
    change: BeforeAfterMetrics
    new: int = 0
    corrected: int = 0
    replaced: int = 0
    unchanged: int = 0
    corrections_learned: int = 0
    new_labels: list[str] = field(default_factory=list)
    new_languages: list[str] = field(default_factory=list)
    reused_folds: bool = False
    saved: bool = True

    def record(self) -> dict[str, Any]:
        """What has changed as JSON holds it."""
        counts = ("new", "corrected", "replaced", "unchanged", "corrections_learned")
        return {
            "documents": dict(self.model.documents),
            **{name: getattr(self, name) for name in (*counts, "new_labels", "new_languages")},
            **self.change.record(),
            "reused_folds": self.reused_folds,
        }


def update_model(how: Updating, report: Reporter, verbose: int) -> UpdateResult:
    """Update a model as a command says."""
    if how.data is None and not how.choose:
        raise InputError(
            f"{how.model}: nothing to add. Name a file of documents, or choose the views again (--choose)."
        )

    def updated(model: "Model", _: Mapping[str, Any]) -> Change[UpdateResult]:
        model = ready_to_learn(model, how, verbose)
        if how.choose and model.fitted.chosen is None:
            raise InputError(f"{how.model}: its views were given, not chosen. Leave --choose out.")
        return _updated(how, model, *_read(how, model, verbose), report)

    return change_model(how, "update", updated)


def _read(how: Updating, model: "Model", verbose: int) -> tuple[Trial, list[str]]:
    """The documents that come to a model, and lines to report on them."""
    if how.data is None:
        nothing = Corpus()
        return Trial(nothing, nothing, nothing), []
    known, layout = model.languages, layout_for(model, how.layout)
    trial, notes = read_sides(how.data, known, verbose, layout, how.strict, texts=False, others=True)
    served = ([None if tag is None else served_by(tag, known) for tag in side.languages] for side in trial)
    sides = (replace(side, languages=tags) for side, tags in zip(trial, served, strict=True))
    return Trial(*sides), notes


def _updated(
    how: Updating, before: "Model", trial: Trial, notes: Sequence[str], report: Reporter
) -> Change[UpdateResult]:
    """What a model becomes with these documents; the model itself, where nothing is new."""
    source = shown_name(how.model if how.data is None else how.data)
    trial = rolled_up_sides(trial, before.label_set)
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
    lines += [*_said(before, merged, how.choose, how.target), *_ids_there_twice(archive, merged)]
    for line in lines:
        report(line)
    if not merged.changed and not how.choose and how.output is None:
        report("Nothing is new: the model stays as it is.")
        return Change(UpdateResult(before, NOT_MEASURED, unchanged=total(merged.unchanged)))
    after = learning.update(before, merged, exact=how.exact, choose=how.choose)
    if how.choose:
        report(after.fitted.chosen.summary())
    test = without_training_documents(merged.archive, test, report)
    test = test.select(supported_documents(test, after))
    answers = both_answers(before, after, test)
    fitted = after.fitted
    result = UpdateResult(
        after,
        change_of(before, after, merged.places, test, merged.replaced, answers),
        new=total(merged.new),
        corrected=total(merged.corrected),
        replaced=total(merged.replaced),
        unchanged=total(merged.unchanged),
        corrections_learned=come_out_as_given(after, merged.corrected),
        new_labels=sorted(set(map(str, after.labels.classes)) - set(map(str, before.labels.classes))),
        new_languages=sorted(set(after.languages) - set(before.languages)),
        reused_folds=isinstance(fitted, FittedFunnel) and fitted.kept is not None and fitted.kept.changed > 0,
    )
    if result.change.regressions and not how.force:
        fell = result.change.regressions[0].described()
        cure = "Check the documents" if not result.reused_folds else "Try --exact, check the documents"
        raise NegativeResultError(
            f"{source}: {fell}, which is more than noise. The model is not saved. {cure}, or save it anyway "
            "with --force.",
            replace(result, saved=False),
        )
    measurement = measure_changed(after, test, answers=None if answers is None else answers.after)
    return Change(result, _facts(how, result, merged), measurement.record(), measurement.details())


def _facts(how: Updating, result: UpdateResult, merged: Merged) -> dict[str, Any]:
    """What a model's history says of an update."""
    came = [merged.new, merged.corrected, merged.replaced, merged.unchanged]
    rows = {tag: {row for each in came for row in each.get(tag, ())} for tag in merged.places}
    return {
        "file": how.data,
        "journal": None if how.data is None else journal_mark(how.data),
        "documents": {tag: len(each) for tag, each in rows.items()},
        "new": result.new,
        "corrected": result.corrected,
        "replaced": result.replaced,
        "labels_added": len(result.new_labels),
        "views": CHOSEN_ANEW if how.choose else None,
    }


def _sorted(archive: ByLanguage, train: Corpus) -> tuple[Corpus, Corpus]:
    """The documents that bring a text, and those that bring labels for one that the model has."""
    known = set[str]().union(*map(archive.given_ids, archive.blocks))
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
            f"no training document has the id {quoted(unknown[0])}{more}. Correct the ids, or add the texts "
            "of new documents."
        )
    if unknown:
        number = "has no text" if len(unknown) == 1 else f"and {len(unknown) - 1:,} more have no text"
        raise InputError(
            f"document {quoted(unknown[0])} {number}, and no training document has that id. Name the column "
            "of the text with --text-column, or leave it out."
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
            corrected, documents.texts, documents.y, documents.languages, groups, documents.ids, documents
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
    unchanged = united(first.unchanged, second.unchanged)
    return replace(
        second,
        places=places,
        corrected=corrected,
        unchanged={
            tag: sorted({*rows} - {*corrected.get(tag, ()), *second.replaced.get(tag, ())})
            for tag, rows in unchanged.items()
        },
    )


def without_training_documents(archive: ByLanguage, test: Corpus, report: Reporter) -> Corpus:
    """The test documents that are no training documents of the model."""
    learned = archive.knows(test.languages, test.texts, test.ids, test.groups)
    if learned.any():
        number = counted(int(learned.sum()), "test document")
        report(f"{number} left out: training documents, or others of their groups.")
    return test.select(~learned)


def check_replaced(merged: Merged) -> None:
    """Refuse documents most of which have another text than the training documents of their ids."""
    replaced = total(merged.replaced)
    alike = total(united(merged.corrected, merged.unchanged))
    both = sum(len({*merged.corrected.get(tag, ())} & {*rows}) for tag, rows in merged.replaced.items())
    if replaced < MIN_NEW_VERSIONS or replaced <= alike - both:
        return
    raise InputError(
        f"{counted(replaced, 'document')} with the id of a training document and another text. Add "
        "--id-column none if ids are only numbers of rows, --text-column none if it is no text, or --force "
        "to replace them."
    )


def _said(model: "Model", merged: Merged, choose: bool, folder: FilePath) -> list[str]:
    """What is about to be added, a line each; the new model goes to ``folder``."""
    names = {
        "new": merged.new,
        "corrected": merged.corrected,
        "replaced": merged.replaced,
        "unchanged": merged.unchanged,
    }
    counts = [f"{total(documents):,} {name}" for name, documents in names.items() if total(documents)]
    lines = [f"Documents: {', '.join(counts)}."] if counts else []
    languages = {tag: len(rows) for tag, rows in merged.new.items() if rows and tag not in model.languages}
    if languages:
        named = ", ".join(f"{tag} ({counted(number, 'document')})" for tag, number in languages.items())
        lines.append(f"New languages: {named}.")
    if replaced := total(merged.replaced):
        cure = "add --id-column none if ids are only numbers of rows, and --text-column none if it is no text"
        lines.append(
            f"{counted(replaced, 'document')} with the id of a training document and another text: its text "
            f"is replaced ({cure})."
        )
    if tuned_for_some(model) and merged.changed:
        lines.append(
            "Thresholds tuned for some labels are tuned again with all others. Repeat `funnelling tune "
            "--labels` afterwards."
        )
    before, documents = _chosen_by(model), sum(merged.archive.sizes.values())
    if model.fitted.chosen is not None and not choose and documents > 2 * before:
        lines.append(
            f"The views were chosen on {counted(before, 'document')}, and there are {documents:,} now. "
            f"Choose again over all of them with `funnelling update {folder} --choose`."
        )
    return lines


def _ids_there_twice(archive: ByLanguage, merged: Merged) -> Iterator[str]:
    """Lines on new documents whose id another language has, and on those that came more than once.

    Documents without an id are compared by their words.
    """
    given = {tag: archive.given_ids(tag) for tag in archive.blocks}
    elsewhere, seen = 0, Counter[tuple[str, str]]()
    for tag, rows in merged.new.items():
        others = set[str]().union(*(names for other, names in given.items() if other != tag))
        names, contents = merged.archive.blocks[tag].names, merged.archive.contents(tag)
        for row in rows:
            unnamed = isinstance(names[row], LineNumber)
            elsewhere += names[row] in others and not unnamed
            seen[tag, str(contents[row]) if unnamed else names[row]] += 1
    if elsewhere:
        yield f"{counted(elsewhere, 'new document')} with the id of a training document in another language."
    if twice := sum(times for times in seen.values() if times > 1):
        yield f"{counted(twice, 'new document')} with the id or the text of another: each is added."


def _chosen_by(model: "Model") -> int:
    """How many documents there were when the views of a model were chosen, as far as it remembers."""
    for step in reversed(model.history):
        if step["step"] in (FIRST_STEP, "forget") or step.get("views") == CHOSEN_ANEW:
            return int(step["after"]["documents"])
    return sum(model.documents.values())


def united(first: DocumentRows, second: DocumentRows) -> DocumentRows:
    """Documents that are among the first or the second."""
    return {tag: sorted({*first.get(tag, ()), *second.get(tag, ())}) for tag in sorted({*first, *second})}


def total(documents: DocumentRows) -> int:
    """How many documents there are."""
    return sum(map(len, documents.values()))
