"""Trials: which documents are learned from and which are measured on, under one label each or several."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from funnelling.corpus import Corpus
from funnelling.errors import InputError, counted, prefix_errors
from funnelling.evaluation.ranking import LabelFrequencies
from funnelling.folds import deal_folds, draw_test
from funnelling.matrices import Folds, Rows
from funnelling.randomness import stream
from funnelling.runtime.progress import timed
from funnelling.text.languages import primary

if TYPE_CHECKING:
    from funnelling.methods.model import Model


TEST_SHARE = 0.3
MIN_LANGUAGE_DOCUMENTS = 20  # of a language, so that folds of them can be drawn


class Trial(NamedTuple):
    """What a trial learns from and measures on; ``parallel`` are further versions of training documents."""

    train: Corpus
    test: Corpus
    parallel: Corpus


def trial_split(corpus: Corpus, trial: int, seed: int) -> Trial:
    """The documents of a trial, all of them labelled, with something to learn.

    Trial 0 takes the file's split where it has one. Other trials redraw it by seed: the same sizes per
    language, each group on one side, labels shared out; where the file has ``parallel`` documents its test
    documents stay, and each training group takes another of its languages. Without a split 30 % of each
    language are for test.
    """
    corpus = corpus.labelled()
    splits = np.array([split or "" for split in corpus.splits])
    if (splits == "").all():
        sizes = Counter(corpus.languages)
        quota = Counter({language: round(TEST_SHARE * size) for language, size in sizes.items()})
        test = draw_test(quota, corpus.languages, with_copies(corpus), corpus.labels, seed, "test", trial)
        return _make_trial(corpus, ~test, test)
    train, test = splits == "train", splits == "test"
    if trial > 0 and (splits == "parallel").any():
        train = _draw_versions(corpus, np.isin(splits, ("train", "parallel")), seed, trial)
    elif trial > 0:
        used = corpus.select(train | test)
        quota = Counter(corpus.select(test).languages)
        test = draw_test(quota, used.languages, used.groups, used.labels, seed, "test", trial)
        return _make_trial(used, ~test, test)
    return _make_trial(corpus, train, test)


def sides_of(corpus: Corpus) -> Trial:
    """The split that a file states; all documents of one that states none are for training."""
    if any(corpus.splits):
        return Trial(corpus.split("train"), corpus.split("test"), corpus.split("parallel"))
    return Trial(corpus, corpus.select([]), corpus.select([]))


def hold_out(trial: Trial, languages: Sequence[str]) -> Trial:
    """A trial without training documents in some languages, measured on those languages alone.

    A language is held out with its variants, which would teach it.
    """
    train, test, parallel = (
        np.array([_is_of(tag, languages) for tag in corpus.languages], dtype=bool) for corpus in trial
    )
    for language in languages:
        if not any(_is_of(tag, [language]) for tag in trial.test.languages):
            raise InputError(f"no test document is in {language!r}, which is to be held out.")
    if train.all():
        raise InputError("nothing is left to learn from: all training documents are held out.")
    return Trial(trial.train.select(~train), trial.test.select(test), trial.parallel.select(~parallel))


def shares_of(trial: Trial, shares: Sequence[float], seed: int) -> dict[float, Trial]:
    """A trial with shares of its training documents, each share a part of the larger ones.

    A share has its part of each language and of each label, groups stay together. The test documents are the
    same.

    >>> from funnelling.formats import Document
    >>> documents = [Document(str(i), f"text {i}", "en", labels=("ab"[i % 2],)) for i in range(8)]
    >>> corpus = Corpus.from_documents(documents)
    >>> trials = shares_of(Trial(corpus, corpus, Corpus()), [0.25, 0.5, 1], seed=0)
    >>> [len(trials[share].train) for share in (0.25, 0.5, 1)]
    [2, 4, 8]
    >>> {*trials[0.25].train.ids} < {*trials[0.5].train.ids}
    True
    """
    sizes = Counter(trial.train.languages)
    train, drawn = trial.train, {}
    for share in sorted(shares, reverse=True):
        quota = {language: min(size, max(2, round(share * size))) for language, size in sizes.items()}
        rows = draw_test(quota, train.languages, with_copies(train), train.labels, seed, "share", share)
        train = train.select(rows)
        with prefix_errors(f"{share:g} of the training documents"):
            check_labels_differ(train)
        groups = {*train.groups}
        further = [group is None or group in groups for group in trial.parallel.groups]
        drawn[share] = Trial(train, trial.test, trial.parallel.select(np.array(further, dtype=bool)))
    return drawn


def _is_of(tag: str | None, languages: Sequence[str]) -> bool:
    """Whether a tag is one of the languages, or a variant of one."""
    return tag is not None and (tag in languages or primary(tag) in languages)


def outer_folds(corpus: Corpus, folds: int, seed: int, verbose: int = 0) -> Folds:
    """A fold for each document, balanced in every language and in its labels, groups and copies together."""
    languages = corpus.known_languages()
    with timed("dealing folds", bool(verbose)):
        return deal_folds(folds, languages, with_copies(corpus), corpus.labels, seed, "outer")


def with_copies(corpus: Corpus) -> list[str | None]:
    """The groups of documents; those without one form a group with others of the same text and language.

    A copy on the other side would be known by heart. Where a language has few texts in all, they stay apart.
    """
    keys = [
        (language, " ".join(text.casefold().split()))
        for language, text in zip(corpus.languages, corpus.texts, strict=True)
    ]
    copies = Counter(keys)
    texts = Counter(language for language, _ in copies)
    return [
        f"copies of {language} {text}"
        if group is None and text and copies[language, text] > 1 and texts[language] >= MIN_LANGUAGE_DOCUMENTS
        else group
        for group, (language, text) in zip(corpus.groups, keys, strict=True)
    ]


def _draw_versions(corpus: Corpus, rows: Rows, seed: int, trial: int) -> Rows:
    """The documents of each group in one of its languages, drawn at random."""
    train = np.zeros(len(corpus), dtype=bool)
    for group in _rows_by_group(corpus):
        versions = [row for row in group if rows[row]]
        languages = sorted({str(corpus.languages[row]) for row in versions})
        if languages:
            name = corpus.groups[versions[0]] or corpus.ids[versions[0]]
            language = languages[stream(seed, "version", trial, name).integers(len(languages))]
            train[[row for row in versions if corpus.languages[row] == language]] = True
    return train


def _rows_by_group(corpus: Corpus) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    single: list[list[int]] = []
    for row, group in enumerate(corpus.groups):
        if group is None:
            single.append([row])
        else:
            groups.setdefault(group, []).append(row)
    return [*groups.values(), *single]


def _make_trial(corpus: Corpus, train: Rows, test: Rows) -> Trial:
    further = (
        np.array([split in ("train", "parallel") for split in corpus.splits], dtype=bool) & ~train & ~test
    )
    trial = Trial(corpus.select(train), corpus.select(test), corpus.select(further))
    for side, documents in (("train", trial.train), ("test", trial.test)):
        if not len(documents):
            raise InputError(f'no labelled document to {side} on. Mark some with "split": "{side}".')
    check_labels_differ(trial.train)
    return trial


def learnable(train: Corpus) -> bool:
    """Whether there is anything to learn: documents that differ in their labels."""
    return len({frozenset(labels or ()) for labels in train.labels}) > 1


def check_labels_differ(train: Corpus) -> None:
    """Refuse training documents that leave nothing to learn."""
    if not learnable(train):
        raise InputError(
            f"nothing to learn, all {len(train)} training documents have the same labels. "
            "Add documents with other labels."
        )


SINGLE_LABEL_NOTICE = (
    "Every training document has exactly one label: learning to give one label each "
    "(--several-labels if documents may have several or none)."
)
SINGLE_LABEL_HINT = "Give it one, or leave --one-label out."


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
        return marked, [SINGLE_LABEL_NOTICE, *lines]
    return _mark(trials, SINGLE_LABEL_HINT) if one_label else (list(trials), [])


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


def examples_of(model: "Model") -> LabelFrequencies:
    """Those that a model learned from, of each class."""
    return LabelFrequencies(sum(model.documents.values()), np.asarray(model.label_documents))


def examples_in(train: Corpus, classes: Sequence[str]) -> LabelFrequencies:
    """Those of a corpus, of each class.

    >>> corpus = Corpus(["1", "2"], ["en", "en"], ["", ""], [("cat",), ("cat", "dog")])
    >>> examples_in(corpus, ["cat", "dog", "pet"])
    LabelFrequencies(documents=2, of_labels=array([2, 1, 0]))
    """
    counts = Counter(chain.from_iterable(map(set, train.label_lists())))
    return LabelFrequencies(len(train), np.array([counts[label] for label in classes], dtype=np.int64))
