"""Reference corpora, whose groups exist in all of their languages; and the embedded corpus."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np

from funnelling.corpus.corpus import Corpus, read_corpus
from funnelling.errors import InputError
from funnelling.formats import Document, read_documents
from funnelling.formats.document import quoted
from funnelling.formats.files import shown_name
from funnelling.randomness import stream
from funnelling.text.languages import is_served, normalise_tag, served_by


@dataclass(frozen=True)
class Reference:
    """Versions of the same contents in several languages: ``texts[language][k]`` is that of ``groups[k]``.

    Parameters
    ----------
    groups : what the contents are called
    texts : for each language a text per group

    Examples
    --------
    >>> reference = Reference(["page 1"], {"en": ["the printer"], "it": ["la stampante"]})
    >>> reference.languages, reference.language_for("it_CH"), reference.language_for("fr")
    (['en', 'it'], 'it', None)
    """

    groups: list[str]
    texts: dict[str, list[str]]

    @property
    def languages(self) -> list[str]:
        """The languages that it has."""
        return list(self.texts)

    def language_for(self, language: str) -> str | None:
        """The language of the reference that serves documents in this one, if any does."""
        return served_by(language, self.texts) if is_served(language, self.texts) else None

    def sample(self, groups: int, seed: int) -> "Reference":
        """A random sample of so many groups, in the order they had; all of them where there are no more."""
        if groups >= len(self.groups):
            return self
        places = np.sort(stream(seed, "reference").choice(len(self.groups), groups, replace=False))
        return Reference(
            [self.groups[k] for k in places],
            {language: [texts[k] for k in places] for language, texts in self.texts.items()},
        )

    def digest(self) -> str:
        """A hash of the contents."""
        return hashlib.sha256(repr((self.groups, self.texts)).encode("utf-8", "surrogatepass")).hexdigest()


def read_reference(path: str | os.PathLike[str], languages: Sequence[str] | None = None) -> Reference:
    """The reference corpus in a file of documents with groups.

    Parameters
    ----------
    path : file or folder; documents of one ``group`` are versions of the same contents
    languages : those to read; by default all

    Examples
    --------
    >>> read_reference("nowhere.jsonl")
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere.jsonl: no such file. Check the path.
    """
    name = shown_name(path)
    versions = _versions(read_documents(path), name)
    if languages is not None:
        known, versions = versions, {}
        for language in [normalise_tag(language) for language in languages]:
            if language not in known:
                raise InputError(
                    f"{name}: no document in {quoted(language)}, only in {', '.join(sorted(known))}. Leave "
                    "it out or build a reference corpus that has it."
                )
            versions[language] = known[language]
    groups = sorted({group for of_language in versions.values() for group in of_language})
    for language, of_language in versions.items():
        for group in groups:
            if group not in of_language:
                line, other = next((v[group].line, o) for o, v in versions.items() if group in v)
                raise InputError(
                    f"{name}:{line}: group {quoted(group)} has a document in {quoted(other)}, but none in "
                    f"{quoted(language)}. Add it, or drop the group or the language."
                )
    if len(groups) < 2:
        raise InputError(f"{name}: only one group. A reference corpus needs many; is this the right file?")
    return Reference(
        groups, {tag: [versions[tag][group].text for group in groups] for tag in sorted(versions)}
    )


def _versions(documents: Iterable[Document], name: str) -> dict[str, dict[str, Document]]:
    """The documents by language and group."""
    versions: dict[str, dict[str, Document]] = {}
    for document in documents:
        where = f"{name}:{document.line}: document {quoted(document.id)}"
        if document.group is None:
            raise InputError(
                f'{where} has no "group". A reference corpus needs it, to say which documents are the same '
                "content; is this the right file?"
            )
        if document.language is None:
            raise InputError(f'{where} has no "language". Add it.')
        try:
            of_language = versions.setdefault(normalise_tag(document.language), {})
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        if document.group in of_language:
            raise InputError(
                f"{where} is the second of group {quoted(document.group)} in {quoted(document.language)}; "
                f"the first is on line {of_language[document.group].line}. Drop one of them."
            )
        of_language[document.group] = document
    if len(versions) < 2:
        raise InputError(
            f"{name}: all documents are in {', '.join(versions)}. A reference corpus has several languages."
        )
    return versions


SAMPLE_FILE = "sample.jsonl.gz"


def read_sample() -> Corpus:
    """The embedded corpus, with splits train and test.

    >>> corpus = read_sample()
    >>> len(corpus), len(corpus.by_language()), len(corpus.label_set()), sorted(set(corpus.splits))
    (2450, 7, 32, ['test', 'train'])
    """
    with as_file(files("funnelling.corpus") / SAMPLE_FILE) as path:
        return read_corpus(path)
