"""One label per document or several: the training documents decide, or the user does."""

from collections.abc import Sequence
from dataclasses import replace

from funnelling.corpus import Corpus
from funnelling.errors import InputError, counted
from funnelling.trials.splits import Trial

NOTICED = (
    "Every training document has exactly one label: learning to give one label each "
    "(--several-labels if documents may have several or none)."
)
CURE = "Give it one, or leave --one-label out."


def settle(trials: Sequence[Trial], one_label: bool | None = None) -> tuple[list[Trial], list[str]]:
    """Trials whose documents have one label each, where that is so, marked as such; and lines to report.

    It is so where all training documents of all trials have exactly one label. ``one_label`` says it
    outright: True refuses training documents with several labels or none.

    >>> from funnelling.formats import Document
    >>> def corpus(**labels):
    ...     return Corpus.from_documents(Document(name, "text", labels=own) for name, own in labels.items())
    >>> train, test = corpus(a=("cat",), b=("dog",)), corpus(c=("cat",), d=())
    >>> (trial,), lines = settle([Trial(train, test, Corpus())])
    >>> trial.train.one_label, trial.test.ids, lines[1:]
    (True, ['c'], ['1 test document left out, for want of exactly one label.'])
    """
    if one_label is None:
        noticed = all(have_one_label(side) for trial in trials for side in (trial.train, trial.parallel))
        if not noticed:
            return list(trials), []
        marked, lines = _mark(trials, "Add --several-labels.")
        return marked, [NOTICED, *lines]
    return _mark(trials, CURE) if one_label else (list(trials), [])


def have_one_label(corpus: Corpus) -> bool:
    """Whether every document has exactly one label."""
    return bool(corpus.has_one_label().all())


def as_one_label(trial: Trial, cure: str) -> tuple[Trial, list[str]]:
    """A trial of a task that gives each document one label: others are refused, and not measured on."""
    for side in (trial.train, trial.parallel):
        side.check_one_label(cure)
    test, lines = measurable(trial.test)
    return Trial(_marked(trial.train), _marked(test), _marked(trial.parallel)), lines


def measurable(test: Corpus) -> tuple[Corpus, list[str]]:
    """The documents that one label each can be measured on, and a line to report on the others."""
    rows = test.has_one_label()
    if rows.all():
        return test, []
    left_out = f"{counted(int((~rows).sum()), 'test document')} left out, for want of exactly one label."
    return test.select(rows), [left_out]


def _mark(trials: Sequence[Trial], cure: str) -> tuple[list[Trial], list[str]]:
    marked: list[Trial] = []
    lines: dict[str, None] = {}
    for trial in trials:
        settled, of_trial = as_one_label(trial, cure)
        if len(trial.test) and not len(settled.test):
            raise InputError(f"no test document has exactly one label, as those for training do. {cure}")
        marked.append(settled)
        lines |= dict.fromkeys(of_trial)
    return marked, list(lines)


def _marked(corpus: Corpus) -> Corpus:
    return replace(corpus, one_label=True)
