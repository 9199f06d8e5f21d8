"""Documents that come to a model: read, told apart by what they are to it, and learned."""

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
from funnelling.commands.options import FilePath, Growing
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
from funnelling.text.languages import known_as, served_by

if TYPE_CHECKING:
    from funnelling.methods.model import Model

MIN_NEW_VERSIONS = 3  # documents with another text than the one of their id are taken for new versions of it
CHOSEN_ANEW = "chosen anew"  # of views, in a model's history


@dataclass(frozen=True)
class GrownModel:
    """A model that learned on, and what has changed.

    Documents are counted by what they were to the model: ``new``, ``corrected`` (known, with other labels),
    ``replaced`` (known by their id, with another text) and ``repeated`` (nothing new). ``as_corrected`` is
    how many of the corrected ones get exactly the labels given. ``kept_scores`` says that few documents came
    to a large model, which keeps what it said of the others when they were held out. A model that became
    worse is not ``saved``.
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
    saved: bool = True

    def record(self) -> dict[str, Any]:
        """What has changed as JSON holds it."""
        counts = ("new", "corrected", "replaced", "repeated", "as_corrected", "new_labels", "new_languages")
        return {
            "documents": dict(self.model.documents),
            **{name: getattr(self, name) for name in counts},
            **self.change.record(),
            "kept_scores": self.kept_scores,
        }


def grow(how: Growing, report: Reporter, verbose: int) -> GrownModel:
    """Let a model learn on, as a command says."""
    if how.data is None and not how.choose:
        raise InputError(
            f"{how.model}: nothing to learn. Name a file of documents, or choose views anew (--choose)."
        )

    def learned(model: "Model", _: Mapping[str, Any]) -> Change[GrownModel]:
        model = ready_to_learn(model, how, verbose)
        if how.choose and model.fitted.chosen is None:
            raise InputError(f"{how.model}: its views were given, not chosen. Leave --choose out.")
        return _grown(how, model, *_read(how, model, verbose), report)

    return change_model(how, how.step, learned)


def _read(how: Growing, model: "Model", verbose: int) -> tuple[Trial, list[str]]:
    """The documents that come to a model, and lines to report on them."""
    if how.data is None:
        nothing = Corpus()
        return Trial(nothing, nothing, nothing), []
    known, layout = model.languages, layout_for(model, how.layout)
    if how.step == "update":
        trial, notes = read_sides(how.data, known, verbose, layout, how.strict, texts=False)
        served = (
            [None if tag is None else served_by(tag, known) for tag in side.languages] for side in trial
        )
        sides = (replace(side, languages=tags) for side, tags in zip(trial, served, strict=True))
        return Trial(*sides), notes
    trial, notes = read_sides(how.data, verbose=verbose, layout=layout, strict=how.strict)
    with prefix_errors_with_file(how.data):
        for language in trial.train.by_language():
            if known_as(language, known):
                raise InputError(f"the model knows {language} already. Use `funnelling update` for it.")
    return trial, notes


def _grown(
    how: Growing, before: "Model", trial: Trial, notes: Sequence[str], report: Reporter
) -> Change[GrownModel]:
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
        return Change(GrownModel(before, NOT_MEASURED, repeated=total(merged.repeated)))
    after = learning.update(before, merged, exact=how.exact, choose=how.choose)
    if how.choose:
        report(after.fitted.chosen.summary())
    test = _unlearned(merged.archive, test, report)
    test = test.select(supported_documents(test, after))
    answers = both_answers(before, after, test)
    fitted = after.fitted
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
        kept_scores=isinstance(fitted, FittedFunnel) and fitted.kept is not None and fitted.kept.changed > 0,
    )
    if growth.change.fell and not how.force:
        fell = growth.change.fell[0].described()
        cure = "Look at the documents" if not growth.kept_scores else "Try --exact, look at the documents"
        raise NegativeResultError(
            f"{source}: {fell}, which is more than noise: the old model stays. {cure}, or take the new one "
            "anyway with --force.",
            replace(growth, saved=False),
        )
    measurement = measure_changed(after, test, answers=None if answers is None else answers.after)
    return Change(growth, _facts(how, growth, merged), measurement.record(), measurement.details())


def _facts(how: Growing, growth: GrownModel, merged: Merged) -> dict[str, Any]:
    """What a model's history says of what it learned."""
    came = [merged.new, merged.corrected, merged.replaced, merged.repeated]
    rows = {tag: {row for each in came for row in each.get(tag, ())} for tag in merged.places}
    return {
        "file": how.data,
        "journal": None if how.data is None else journal_mark(how.data),
        "documents": {tag: len(each) for tag, each in rows.items()},
        "new": growth.new,
        "corrected": growth.corrected,
        "replaced": growth.replaced,
        "labels_added": len(growth.new_labels),
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


def _unlearned(archive: ByLanguage, test: Corpus, report: Reporter) -> Corpus:
    """Test documents that the model has not learned from."""
    learned = archive.knows(test.languages, test.texts, test.ids, test.groups)
    if learned.any():
        report(f"{counted(int(learned.sum()), 'test document')} left out, which the model learned from.")
    return test.select(~learned)


def check_replaced(merged: Merged) -> None:
    """Refuse documents most of which have another text than the training documents of their ids."""
    replaced = total(merged.replaced)
    alike = total(united(merged.corrected, merged.repeated))
    both = sum(len({*merged.corrected.get(tag, ())} & {*rows}) for tag, rows in merged.replaced.items())
    if replaced < MIN_NEW_VERSIONS or replaced <= alike - both:
        return
    raise InputError(
        f"{counted(replaced, 'document')} with the id of a training document and another text. Add "
        "--id-column none if ids are only numbers of rows, --text-column none if it is no text, or --force "
        "to replace them."
    )


def _said(model: "Model", merged: Merged, choose: bool, folder: FilePath) -> list[str]:
    """What is about to be learned, a line each; the new model goes to ``folder``."""
    names = {
        "new": merged.new,
        "corrected": merged.corrected,
        "replaced": merged.replaced,
        "known with these labels": merged.repeated,
    }
    counts = [f"{total(documents):,} {name}" for name, documents in names.items() if total(documents)]
    lines = [f"Learning on: {', '.join(counts)}."] if counts else []
    languages = {tag: len(rows) for tag, rows in merged.new.items() if rows and tag not in model.languages}
    if languages:
        named = ", ".join(f"{tag} ({counted(number, 'document')})" for tag, number in languages.items())
        lines.append(f"New languages: {named}.")
    if replaced := total(merged.replaced):
        cure = "add --id-column none if ids are only numbers of rows, and --text-column none if it is no text"
        lines.append(
            f"{counted(replaced, 'document')} with the id of a training document and another text, which is "
            f"replaced ({cure})."
        )
    if tuned_for_some(model) and merged.changed:
        lines.append(
            "Thresholds that were tuned for some labels are tuned with all others again: repeat `funnelling "
            "tune --labels` afterwards."
        )
    before, documents = _chosen_by(model), sum(merged.archive.sizes.values())
    if model.fitted.chosen is not None and not choose and documents > 2 * before:
        lines.append(
            f"The views were chosen by {counted(before, 'document')}, and there are {documents:,} now: "
            f"`funnelling update {folder} --choose` chooses anew, over all of them."
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
        yield f"{counted(twice, 'new document')} with the id or the text of another: each is learned."


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
