"""What is in a corpus, before anything is learned from it."""

from collections import Counter
from typing import Any

from funnelling.corpus.corpus import Corpus
from funnelling.corpus.findings import Finding, findings
from funnelling.runtime.progress import watched
from funnelling.text.words import analyser, resources


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
    found = findings(corpus)
    if wordless:
        found.append(Finding("document", "without a word that is kept", wordless))
    return [finding.line() for finding in found]
