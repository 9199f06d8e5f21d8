"""What is in a corpus, before anything is learned from it."""

from collections import Counter
from typing import Any

from funnelling.corpus.corpus import Corpus
from funnelling.formats.document import quoted
from funnelling.text.words import analyser, resources
from funnelling.work.progress import watched

FEW_POSITIVES = 5
EXAMPLES = 3


def describe(corpus: Corpus, verbose: int = 0) -> dict[str, Any]:
    """Documents, words and labels by language, words shared between languages, and odd rows.

    ``verbose`` above 0 shows progress bars on a terminal.
    """
    positions = corpus.by_language()
    vocabularies: dict[str, set[str]] = {}
    languages: dict[str, dict[str, Any]] = {}
    wordless: list[str] = []
    for language, rows in positions.items():
        analyse = analyser(language)
        words: Counter[str] = Counter()
        for row in watched(rows.tolist(), f"words of {language}", bool(verbose)):
            of_document = analyse(corpus.texts[row])
            words.update(of_document)
            if not of_document and corpus.texts[row].strip():
                wordless.append(corpus.ids[row])
        vocabularies[language] = set(words)
        labels = {label for row in rows for label in corpus.labels[row] or ()}
        languages[language] = {
            "documents": len(rows),
            "labelled": sum(corpus.labels[row] is not None for row in rows),
            "words": words.total(),
            "distinct_words": len(words),
            "labels": len(labels),
            **resources(language)._asdict(),
        }
    counts = [len(labels) for labels in corpus.labels if labels is not None]
    return {
        "documents": len(corpus),
        "splits": dict(sorted(Counter(split for split in corpus.splits if split).items())),
        "languages": languages,
        "labels": _positives(corpus),
        "labels_per_document": sum(counts) / max(1, len(counts)),
        "groups": len({group for group in corpus.groups if group is not None}),
        "shared_words": _shared_words(vocabularies),
        "odd": _odd(corpus, wordless),
    }


def _positives(corpus: Corpus) -> dict[str, dict[str, int]]:
    """Documents by label and language, the most frequent label first."""
    counts: dict[str, Counter[str]] = {}
    for language, labels in zip(corpus.languages, corpus.labels, strict=True):
        for label in labels or ():
            counts.setdefault(label, Counter())[str(language)] += 1
    order = sorted(counts, key=lambda label: (-counts[label].total(), label))
    return {label: dict(sorted(counts[label].items())) for label in order}


def _shared_words(vocabularies: dict[str, set[str]]) -> dict[str, dict[str, float]]:
    """The share of the smaller vocabulary that two languages have in common."""
    return {
        a: {
            b: len(mine & others) / max(1, min(len(mine), len(others)))
            for b, others in vocabularies.items()
            if a != b
        }
        for a, mine in vocabularies.items()
    }


def _odd(corpus: Corpus, wordless: list[str]) -> list[str]:
    """What a careful person would look at before training, one line per finding."""
    empty = [name for name, text in zip(corpus.ids, corpus.texts, strict=True) if not text.strip()]
    unlabelled = [name for name, labels in zip(corpus.ids, corpus.labels, strict=True) if labels is None]
    bare = [name for name, labels in zip(corpus.ids, corpus.labels, strict=True) if labels == ()]
    texts = Counter(zip(corpus.languages, corpus.texts, strict=True))
    repeated = [
        name
        for name, language, text in zip(corpus.ids, corpus.languages, corpus.texts, strict=True)
        if text.strip() and texts[language, text] > 1
    ]
    ids = [name for name, count in Counter(corpus.ids).items() if count > 1]
    rare = [label for label, counts in _positives(corpus).items() if sum(counts.values()) < FEW_POSITIVES]
    leaking = _groups_on_both_sides(corpus)
    findings = [
        ("document", "with an empty text", empty),
        ("document", "without a word that is kept", wordless),
        ("document", "without a labels field, not learned from", unlabelled),
        ("document", "with an empty list of labels, which counts as having no label", bare),
        ("document", "with a text that another one of the language has too", repeated),
        ("id", "used more than once", ids),
        ("label", f"with fewer than {FEW_POSITIVES} documents", rare),
        ("group", "both in train and in test, so that scores will be too good", leaking),
    ]
    return [_line(noun, what, names) for noun, what, names in findings if names]


def _groups_on_both_sides(corpus: Corpus) -> list[str]:
    sides: dict[str, set[str | None]] = {}
    for group, split in zip(corpus.groups, corpus.splits, strict=True):
        if group is not None:
            sides.setdefault(group, set()).add(split)
    return [group for group, splits in sides.items() if {"train", "test"} <= splits]


def _line(noun: str, what: str, names: list[str]) -> str:
    examples = ", ".join(map(quoted, names[:EXAMPLES])) + (", …" if len(names) > EXAMPLES else "")
    return f"{len(names):,} {noun}{'s' if len(names) > 1 else ''} {what}: {examples}"
