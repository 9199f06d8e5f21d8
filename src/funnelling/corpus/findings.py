"""What is in a corpus, and what a careful person would look at before training on it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from funnelling.corpus.corpus import Corpus
from funnelling.errors import counted
from funnelling.formats.document import quoted
from funnelling.formats.layout import MARKUP
from funnelling.formats.texts import markup_in
from funnelling.runtime.progress import watched
from funnelling.text.languages import is_language
from funnelling.text.words import analyser, resources

MIN_LABEL_DOCUMENTS = 5
MIN_LANGUAGE_DOCUMENTS = 10  # of a language
MAX_EXAMPLES = 3
SEPARATORS = "|;,\n"
NO_LABEL_WORDS = frozenset({"none", "n/a", "na", "nan", "null", "-", "?", "unknown", "other/none"})
MARKUP_SAMPLE_SIZE = 20_000  # texts that are looked at for markup
MARKUP_MIN_SHARE = 0.02  # of the texts, from which on markup is worth a line


class Finding(NamedTuple):
    """Something odd: how many of what, which ones, and whether training is the worse for it."""

    noun: str
    what: str
    names: Sequence[str]
    serious: bool = True

    def line(self) -> str:
        """It in one line, with examples.

        >>> Finding("label", "with fewer than 5 documents", ["a", "b"]).line()
        '2 labels with fewer than 5 documents: "a", "b"'
        """
        examples = ", ".join(map(quoted, self.names[:MAX_EXAMPLES]))
        more = ", …" if len(self.names) > MAX_EXAMPLES else ""
        return f"{counted(len(self.names), self.noun)} {self.what}: {examples}{more}"


def findings(corpus: Corpus) -> list[Finding]:
    """All that is odd in a corpus, the worst first."""
    labels = corpus.label_set()
    counts = Counter(
        label
        for split, own in zip(corpus.splits, corpus.labels, strict=True)
        if split in (None, "train")
        for label in own or ()
    )
    found = [
        Finding(
            "label", "apparently joined (say what is between labels with --label-separator)", _joined(labels)
        ),
        Finding(
            "label", "for hardly more documents: is this the column of labels?", _too_many(corpus, labels)
        ),
        Finding("label", "alike but for case or blanks", _variants(labels)),
        Finding(
            "label",
            "that may say that there is none (--no-label WORD)",
            [label for label in labels if label.casefold() in NO_LABEL_WORDS],
        ),
        Finding("text", "both in train and in test, so that scores will be too good", _shared_texts(corpus)),
        Finding(
            "group", "both in train and in test, so that scores will be too good", _shared_groups(corpus)
        ),
        Finding("document", "with an empty text", _ids(corpus, (not text.strip() for text in corpus.texts))),
        *_markup(corpus),
        Finding(
            "code",
            "of a language that no standard knows",
            sorted(tag for tag in set(map(str, corpus.languages)) if not is_language(tag)),
        ),
        Finding("language", f"with fewer than {MIN_LANGUAGE_DOCUMENTS} documents", _small_languages(corpus)),
        Finding(
            "label",
            f"with fewer than {MIN_LABEL_DOCUMENTS} documents",
            sorted(
                (name for name in counts if counts[name] < MIN_LABEL_DOCUMENTS),
                key=lambda name: (counts[name], name),
            ),
        ),
        Finding("document", "with a text that another one of the language has too", _repeated(corpus)),
        Finding(
            "id", "used more than once", [name for name, n in Counter(corpus.ids).items() if n > 1], False
        ),
        Finding(
            "document",
            "without labels, not learned from",
            _ids(corpus, (own is None for own in corpus.labels)),
            False,
        ),
        Finding(
            "document",
            "with an empty list of labels, which counts as having no label",
            _ids(corpus, (own == () for own in corpus.labels)),
            False,
        ),
    ]
    return [finding for finding in found if finding.names]


def _ids(corpus: Corpus, flags: Iterable[bool]) -> list[str]:
    return [name for name, flag in zip(corpus.ids, flags, strict=True) if flag]


def _joined(labels: Sequence[str]) -> list[str]:
    """Labels that hold a separator, most of whose pieces are labels too, or pieces of other labels."""
    joined: list[str] = []
    for separator in SEPARATORS:
        pieces = {label: {piece.strip() for piece in label.split(separator)} - {""} for label in labels}
        labels_with = Counter(piece for each in pieces.values() for piece in each)
        joined += [
            label
            for label, own in pieces.items()
            if len(own) > 1 and 2 * sum(labels_with[piece] > 1 for piece in own) >= len(own)
        ]
    return list(dict.fromkeys(joined))


def _variants(labels: Sequence[str]) -> list[str]:
    """Labels that are the same but for case and blanks, those that are alike beside each other."""
    alike: Mapping[str, list[str]] = defaultdict(list)
    for label in labels:
        alike["".join(label.split()).casefold()].append(label)
    return [label for group in alike.values() if len(group) > 1 for label in group]


def _too_many(corpus: Corpus, labels: Sequence[str]) -> Sequence[str]:
    documents = sum(own is not None for own in corpus.labels)
    return labels if 2 * len(labels) > documents >= 2 * MIN_LANGUAGE_DOCUMENTS else []


def _shared_texts(corpus: Corpus) -> list[str]:
    """Test documents whose text is that of a training document in the same language."""
    rows = list(zip(corpus.ids, corpus.splits, corpus.languages, corpus.texts, strict=True))
    learned = {(language, text) for _, split, language, text in rows if split == "train"}
    return [
        name for name, split, tag, text in rows if split == "test" and text.strip() and (tag, text) in learned
    ]


def _shared_groups(corpus: Corpus) -> list[str]:
    pairs = dict.fromkeys(zip(corpus.groups, corpus.splits, strict=True))
    groups = dict.fromkeys(group for group in corpus.groups if group is not None)
    return [group for group in groups if (group, "train") in pairs and (group, "test") in pairs]


def _markup(corpus: Corpus) -> list[Finding]:
    """Texts that hold markup, by its kind, where they are more than a few."""
    step = max(1, len(corpus) // MARKUP_SAMPLE_SIZE)
    held: dict[str, list[str]] = {kind: [] for kind in MARKUP}
    for name, text in zip(corpus.ids[::step], corpus.texts[::step], strict=True):
        for kind in markup_in(text):
            held[kind].append(name)
    titles = {"html": "HTML", "markdown": "Markdown", "quotes": "quoted mail"}
    enough = max(2, MARKUP_MIN_SHARE * len(corpus.ids[::step]))
    return [
        Finding("text", f"with {titles[kind]} in it (--strip {kind} takes it out)", names)
        for kind, names in held.items()
        if len(names) >= enough
    ]


def _small_languages(corpus: Corpus) -> list[str]:
    counts = Counter(
        str(language)
        for language, split, labels in zip(corpus.languages, corpus.splits, corpus.labels, strict=True)
        if split in (None, "train") and labels is not None
    )
    return [language for language, documents in sorted(counts.items()) if documents < MIN_LANGUAGE_DOCUMENTS]


def _repeated(corpus: Corpus) -> list[str]:
    texts = Counter(zip(corpus.languages, corpus.texts, strict=True))
    return [
        name
        for name, language, text in zip(corpus.ids, corpus.languages, corpus.texts, strict=True)
        if text.strip() and texts[language, text] > 1
    ]


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
    found = findings(corpus)
    if wordless:
        found.append(Finding("document", "without a word that is kept", wordless))
    return {
        "documents": len(corpus),
        "splits": dict(sorted(Counter(split for split in corpus.splits if split).items())),
        "languages": languages,
        "labels": _positives(corpus),
        "labels_per_document": sum(counts) / max(1, len(counts)),
        "groups": len({group for group in corpus.groups if group is not None}),
        "shared_words": _shared_words(vocabularies),
        "odd": [finding.line() for finding in found],
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
