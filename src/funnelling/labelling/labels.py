"""Labels to choose from before there is a model: as they are given, and where texts name them."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from funnelling.commands.values import names
from funnelling.corpus.label_files import label_set_for
from funnelling.corpus.label_set import Label, LabelSet
from funnelling.errors import InputError
from funnelling.formats import read_documents
from funnelling.formats.layout import Layout

LABEL_SET_ENDINGS = frozenset(("csv", "tsv", "jsonl", "json", "xlsx", "ods", "parquet", "ttl", "nt", "rdf"))
MAX_NAME_WORDS = 6  # of a name that is looked for in a text

_word = re.compile(r"\w+")


def read_labels(given: str, known: Sequence[str] = ()) -> LabelSet:
    """The labels of a file, a label set or one name per line; or names with commas between them.

    A label set must have some of the labels that are ``known``, if any are.

    >>> read_labels("sport, politics").ids
    ['sport', 'politics']
    >>> read_labels("lables.txt")
    Traceback (most recent call last):
    funnelling.errors.InputError: lables.txt: no such file. Name a file of labels, or two or more: a,b,c.
    """
    if not os.path.exists(given):
        found = names(given)
        if len(found) < 2:
            raise InputError(f"{given}: no such file. Name a file of labels, or two or more: a,b,c.")
    elif Path(given).name.lower().removesuffix(".gz").rpartition(".")[2] in LABEL_SET_ENDINGS:
        return label_set_for(given, known)
    else:
        lines = read_documents(given, Layout(file_format="lines"), labels=False)
        found = [line.text.strip() for line in lines if line.text.strip()]
        if len(found) < 2:
            raise InputError(f"{given}: a line for each label is needed, and two labels or more.")
    return LabelSet.of(map(Label, found))


@dataclass(frozen=True)
class ColdStart:
    """What there is before the first model: the labels, and whether a document has exactly one.

    >>> cold = ColdStart(LabelSet.of([Label("sport"), Label("pets", {"en": "Cats and dogs"})]), False)
    >>> cold.suggest("Cats and dogs hate water sport.")
    ['pets', 'sport']
    >>> cold.spans("Sport!", "sport")
    [(0, 5)]
    """

    label_set: LabelSet
    single_label: bool
    _names: dict[tuple[str, ...], str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        found: dict[tuple[str, ...], str] = {}
        for label in map(self.label_set.__getitem__, self.label_set.ids):
            for name in (label.id, *label.id.split("/"), *label.names.values()):
                found.setdefault(tuple(words.casefold() for words in _words(name)), label.id)
        found.pop((), None)
        object.__setattr__(self, "_names", found)

    def suggest(self, text: str) -> list[str]:
        """The labels whose names occur in a text; the one that occurs most where a document has one."""
        found = Counter(label for label, _, _ in self._occurrences(text)).most_common()
        return [label for label, _ in (found[:1] if self.single_label else found)]

    def spans(self, text: str, label: str) -> list[tuple[int, int]]:
        """Where a text has the names of a label."""
        return [(start, stop) for each, start, stop in self._occurrences(text) if each == label]

    def _occurrences(self, text: str) -> Iterator[tuple[str, int, int]]:
        words = [(word[0].casefold(), word.start(), word.end()) for word in _word.finditer(text)]
        place = 0
        while place < len(words):
            for length in range(MAX_NAME_WORDS, 0, -1):
                label = self._names.get(tuple(word for word, _, _ in words[place : place + length]))
                if label is not None:
                    length = min(length, len(words) - place)
                    yield label, words[place][1], words[place + length - 1][2]
                    place += length
                    break
            else:
                place += 1


def _words(name: str) -> list[str]:
    return _word.findall(name.replace("_", " "))
