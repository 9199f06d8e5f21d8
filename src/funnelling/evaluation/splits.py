"""Which documents are learned from and which are measured on, trial by trial."""

from collections import Counter
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.inputs import served_by
from funnelling.randomness import assign_folds, stream

TEST_SHARE = 0.3

Mask = npt.NDArray[np.bool_]


def trial_split(corpus: Corpus, trial: int, seed: int) -> tuple[Corpus, Corpus]:
    """The training and the test documents of a trial, all of them labelled, with something to learn.

    Trial 0 takes the file's split where it has one. Other trials redraw it by seed: the same sizes
    a language, groups on one side; where the file has ``parallel`` documents its test documents stay,
    and each training group takes another of its languages. Without a split 30 % of each language are
    for test.
    """
    corpus = corpus.labelled()
    splits = np.array([split or "" for split in corpus.splits])
    if (splits == "").all():
        sizes = Counter(corpus.languages)
        quota = Counter({language: round(TEST_SHARE * size) for language, size in sizes.items()})
        test = _draw_test(corpus, quota, seed, trial)
        return _checked(corpus.select(~test), corpus.select(test))
    train, test = splits == "train", splits == "test"
    if trial > 0 and (splits == "parallel").any():
        train = _draw_versions(corpus, np.isin(splits, ("train", "parallel")), seed, trial)
    elif trial > 0:
        used = corpus.select(train | test)
        quota = Counter(corpus.select(test).languages)
        test = _draw_test(used, quota, seed, trial)
        return _checked(used.select(~test), used.select(test))
    return _checked(corpus.select(train), corpus.select(test))


def outer_folds(corpus: Corpus, folds: int, seed: int) -> npt.NDArray[np.intp]:
    """A fold for each document, balanced in every language, groups together."""
    assigned = np.empty(len(corpus), dtype=np.intp)
    for language, rows in corpus.by_language().items():
        groups = [corpus.groups[row] for row in rows]
        assigned[rows] = assign_folds(folds, len(rows), seed, "outer", language=language, groups=groups)
    return assigned


def _draw_test(corpus: Corpus, quota: Counter[str | None], seed: int, trial: int) -> Mask:
    """Fill each language's quota of test documents with groups in random order.

    A group that no longer fits the quota of one of its languages goes to training.
    """
    groups = _rows_by_group(corpus)
    left = Counter(quota)
    test = np.zeros(len(corpus), dtype=bool)
    for position in stream(seed, "test", trial).permutation(len(groups)):
        need = Counter(corpus.languages[row] for row in groups[position])
        if all(left[language] >= count for language, count in need.items()):
            left.subtract(need)
            test[groups[position]] = True
    return test


def _draw_versions(corpus: Corpus, rows: Mask, seed: int, trial: int) -> Mask:
    """The documents of each group in one of its languages, drawn at random."""
    train = np.zeros(len(corpus), dtype=bool)
    for group in _rows_by_group(corpus):
        versions = [row for row in group if rows[row]]
        languages = sorted({str(corpus.languages[row]) for row in versions})
        if languages:
            name = corpus.groups[versions[0]] or corpus.ids[versions[0]]
            drawn = languages[stream(seed, "version", trial, name).integers(len(languages))]
            train[[row for row in versions if corpus.languages[row] == drawn]] = True
    return train


def _rows_by_group(corpus: Corpus) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    alone: list[list[int]] = []
    for row, group in enumerate(corpus.groups):
        if group is None:
            alone.append([row])
        else:
            groups.setdefault(group, []).append(row)
    return [*groups.values(), *alone]


def _checked(train: Corpus, test: Corpus) -> tuple[Corpus, Corpus]:
    for side, documents in (("train", train), ("test", test)):
        if not len(documents):
            raise InputError(f'no labelled document to {side} on. Mark some with "split": "{side}".')
    check_learnable(train)
    if not known_languages(test, train.by_language()).any():
        raise InputError("no test document is in a language of the training documents. Add some.")
    return train, test


def learnable(train: Corpus) -> bool:
    """Whether there is anything to learn: documents that differ in their labels."""
    return len({frozenset(labels or ()) for labels in train.labels}) > 1


def check_learnable(train: Corpus) -> None:
    """Refuse training documents that leave nothing to learn."""
    if not learnable(train):
        raise InputError(
            f"nothing to learn, all {len(train)} training documents have the same labels. "
            "Add documents with other labels."
        )


def known_languages(test: Corpus, languages: Collection[str]) -> Mask:
    """Which test documents are in a language that training has; a regional variant counts as its language."""
    known = sorted(languages)
    return np.array([served_by(language, known) in known for language in test.languages], dtype=bool)
