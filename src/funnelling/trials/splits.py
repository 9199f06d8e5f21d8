"""Which documents are learned from and which are measured on, trial by trial."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.folds import deal_folds, draw_test
from funnelling.matrices import Folds, Rows
from funnelling.randomness import stream
from funnelling.runtime.progress import clock
from funnelling.text.languages import primary

TEST_SHARE = 0.3
FEWEST_TEXTS = 20  # of a language, so that folds of them can be drawn


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


def _is_of(tag: str | None, languages: Sequence[str]) -> bool:
    """Whether a tag is one of the languages, or a variant of one."""
    return tag is not None and (tag in languages or primary(tag) in languages)


def outer_folds(corpus: Corpus, folds: int, seed: int, verbose: int = 0) -> Folds:
    """A fold for each document, balanced in every language and in its labels, groups and copies together."""
    languages = corpus.known_languages()
    with clock("dealing folds", bool(verbose)):
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
        if group is None and text and copies[language, text] > 1 and texts[language] >= FEWEST_TEXTS
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
