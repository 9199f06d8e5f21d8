"""The frame of every command that changes a model: load, check, change, compare, remember, save."""

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from funnelling.commands.options import Changing, Learning
from funnelling.commands.sources import check_reads_texts, give_resources, prefix_errors_with_file
from funnelling.corpus import Corpus
from funnelling.corpus.blocks import Places
from funnelling.evaluation.change import HELD_OUT, TEST, BeforeAfterMetrics, PairedDecisions, measure_change
from funnelling.evaluation.measurement import Measurement, measure_held_out, measure_on_test, shown_errors
from funnelling.evaluation.measuring import as_indicators, spread, supported_documents, truth_of
from funnelling.funnel.fitted import FittedFunnel
from funnelling.matrices import AnyTargets, Rows, Targets, match_format, set_difference
from funnelling.methods.learning import check_extensible
from funnelling.methods.merging import DocumentRows, remember_step
from funnelling.methods.training_set import NEW_DOCUMENT
from funnelling.runtime.alone import sole_writer_of_all
from funnelling.storage import check_writable, load_to_change, save_changes
from funnelling.text.counts import counted_once

if TYPE_CHECKING:
    from funnelling.methods.model import Model

Result = TypeVar("Result", bound=Any)  # a dataclass with the new model as ``model``


@dataclass(frozen=True)
class Change(Generic[Result]):
    """What a command made of a model: the result to give back, and what is kept of the step.

    ``facts`` are for the model's history, None where the model stays as it is. ``scores`` are for its card,
    ``details`` for its report. ``places`` are those of the model that have changed, None for all.
    """

    result: Result
    facts: Mapping[str, Any] | None = None
    scores: Any = None
    details: Mapping[str, Any] | None = None
    places: Sequence[str] | None = None


def change_model(
    command: Changing,
    step: str,
    change: Callable[["Model", Mapping[str, Any]], Change[Result]],
    *,
    mapped: bool = False,
) -> Result:
    """Load a model, change it, and save it, while other commands that change it wait.

    ``change`` takes the model and the document of its folder. ``step`` is the name of the change in the
    model's history.
    """
    written = [Path(command.output)] if command.output is not None and os.path.isdir(command.output) else []
    with sole_writer_of_all(Path(command.model), *written):
        before, document = load_to_change(command.model, mapped)
        check_writable(Path(command.target), command.replaces or command.output is None)
        made = change(before, document)
        if made.facts is None:
            return made.result
        model = remember_step(made.result.model, step, **made.facts)
        save_changes(
            model,
            command.model,
            command.output,
            made.places,
            document=document,
            scores=made.scores,
            details=made.details,
            force=command.replaces,
        )
        result: Result = replace(made.result, model=model)
        return result


def ready_to_learn(model: "Model", command: Learning, verbose: int) -> "Model":
    """A model that has all it takes to learn again, but for documents; any other is refused."""
    check_reads_texts(model, command.model)
    with prefix_errors_with_file(command.model):
        model = give_resources(model, command)
        check_extensible(model)
    return model.running(n_jobs=command.jobs, verbose=verbose)


Answers = tuple[Any, Any]  # what `Model.classify` gives: labels and probabilities


def change_of(
    before: "Model",
    after: "Model",
    places: Mapping[str, Places],
    test: Corpus,
    left_out: DocumentRows | None = None,
    answers: "BothAnswers | None" = None,
) -> BeforeAfterMetrics:
    """The change from one model to another, each language on test documents, or on training documents.

    Test documents are ones that neither has learned from. Where a language has none, its training documents
    are measured on, held out from both tiers: those that the earlier model knew by its scores of them when it
    had not seen them, the others as it labels them, for it never saw them. ``places`` says where it had those
    of ``after``. Documents that are ``left_out`` are not measured on. A method that is no funnel holds no
    document out, and is measured on test documents alone. ``answers`` are what both say of the test
    documents, where there are any.
    """
    pair = _Comparison(before, after)
    decisions = pair.on_test(test, answers)
    held_out = held_out_decisions(before), held_out_decisions(after)
    for language in held_out[1]:
        if language not in decisions:
            gone = (left_out or {}).get(language, ())
            decisions[language] = pair.on_held_out(language, places[language], gone, *held_out)
    return measure_change(
        {language: pair.measurable(decisions[language]) for language in sorted(decisions)},
        after.labels.single_label,
        learned=before.languages,
    )


class BothAnswers(NamedTuple):
    """What two models say of test documents: the later one of all, the earlier one of those it serves."""

    after: Answers
    before: Any
    served: Rows


def both_answers(before: "Model", after: "Model", test: Corpus) -> BothAnswers | None:
    """What two models say of test documents, whose words are counted once; None where there are none."""
    if not len(test):
        return None
    served = supported_documents(test, before)
    known = test.select(served)
    with counted_once():
        answers = after.classify(test.texts, languages=test.languages)
        earlier = before.predict(known.texts, languages=known.languages) if len(known) else None
    return BothAnswers(answers, earlier, served)


def held_out_decisions(model: "Model") -> dict[str, Targets]:
    """What a funnel decides of its training documents when neither tier has seen them, by language."""
    fitted = model.fitted
    if not isinstance(fitted, FittedFunnel) or fitted.kept is None:
        return {}
    thresholds, labels = fitted.learned.tier_two.thresholds, model.labels
    decisions = {tag: labels.decide(scores - thresholds) for tag, scores in fitted.kept.scores.items()}
    shown: dict[str, Targets] = labels.by_class(decisions)
    return shown


class _Comparison:
    """Two models, compared over the labels that both know."""

    def __init__(self, before: "Model", after: "Model") -> None:
        self._before, self._after = before, after
        labels = [set(map(str, model.labels.classes)) for model in (before, after)]
        self._labels = sorted(set.intersection(*labels))

    def on_test(self, test: Corpus, answers: BothAnswers | None) -> dict[str, PairedDecisions]:
        if answers is None:
            return {}
        after, served = self._given(self._after, answers.after[0]), answers.served
        before = spread(self._given(self._before, answers.before), served) if served.any() else None
        truth = truth_of(test, self._labels)
        return {
            language: PairedDecisions(
                TEST,
                truth[rows],
                before[rows] if before is not None and served[rows].all() else None,
                after[rows],
                _units(language, [test.ids[row] for row in rows], [test.groups[row] for row in rows]),
            )
            for language, rows in test.by_language().items()
        }

    def on_held_out(
        self,
        language: str,
        places: Places,
        left_out: Sequence[int],
        before: Mapping[str, Targets],
        after: Mapping[str, Targets],
    ) -> PairedDecisions:
        archive = self._after.archive
        assert archive is not None
        truth = self._after.labels.by_class({language: archive.targets[language]})[language]
        old, new = np.flatnonzero(places != NEW_DOCUMENT), np.flatnonzero(places == NEW_DOCUMENT)
        decided: Targets | None = None
        # A model that held nothing out, as one whose tier 2 a sample taught, tells nothing of old documents.
        if language in before or (not len(old) and self._before.serves(language)):
            decided = np.zeros((len(places), len(self._labels)), dtype=bool)
            if len(old):
                decided[old] = self._shown(self._before, before[language])[places[old]]
            if len(new):
                texts = [archive.documents[language][row] for row in new]
                labels = self._before.predict(texts, languages=[language] * len(texts))
                decided[new] = self._given(self._before, labels)
        kept = np.setdiff1d(np.arange(len(places)), left_out)
        units = _units(language, archive.blocks[language].ids, archive.blocks[language].groups)
        return PairedDecisions(
            HELD_OUT,
            self._shown(self._after, truth)[kept],
            None if decided is None else decided[kept],
            self._shown(self._after, after[language])[kept],
            [units[row] for row in kept],
        )

    def _given(self, model: "Model", labels: Any) -> AnyTargets:
        """What a model gave, in the columns of the labels that both know."""
        return self._shown(model, as_indicators(model, labels).astype(bool))

    def _shown(self, model: "Model", decisions: AnyTargets) -> AnyTargets:
        """The columns of the labels that both know."""
        place = {str(label): column for column, label in enumerate(model.labels.classes)}
        return decisions[:, [place[label] for label in self._labels]]

    def measurable(self, decisions: PairedDecisions) -> PairedDecisions:
        """Without documents whose one label is not known to both."""
        if not self._after.labels.single_label:
            return decisions
        rows = np.flatnonzero(decisions.truth.sum(axis=1)).tolist()
        return decisions._replace(
            truth=decisions.truth[rows],
            before=None if decisions.before is None else decisions.before[rows],
            after=decisions.after[rows],
            units=[decisions.units[row] for row in rows],
        )


def _units(language: str, ids: Sequence[str], groups: Sequence[str | None]) -> list[Hashable]:
    """What each document depends on: its group, or else nothing but itself."""
    return [
        ("group", group) if group else ("document", language, row, name)
        for row, (name, group) in enumerate(zip(ids, groups, strict=True))
    ]


def come_out_as_given(model: "Model", documents: DocumentRows) -> int:
    """How many of some training documents get exactly the labels that they were given."""
    archive, right = model.archive, 0
    assert archive is not None
    targets = model.labels.by_class(archive.targets)
    for language, rows in documents.items():
        if not rows or language not in targets:
            continue
        texts = [archive.documents[language][row] for row in rows]
        truth = targets[language][rows]
        labels = model.predict(texts, languages=[language] * len(rows))
        given = match_format(truth, as_indicators(model, labels).astype(bool))
        wrong = set_difference(given, truth).sum(axis=1) + set_difference(truth, given).sum(axis=1)
        right += int((wrong == 0).sum())
    return right


def measure_changed(
    model: "Model",
    test: Corpus,
    when: str = "after the update",
    answers: tuple[Any, Any] | None = None,
) -> Measurement:
    """What the card of a changed model shows: test documents only where all languages have some."""
    if len(test) and set(test.by_language()) >= set(model.languages):
        return measure_on_test(model, test, f" {when}", shown_errors(model.parameters), answers)
    if model.held_out_measures():
        return measure_held_out(model, f"Measured by inner folds over the training documents {when}.")
    return Measurement(None, f"Not measured {when}: there are no test documents in every language.")
