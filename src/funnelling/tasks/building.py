"""Build corpora, and word vectors from a reference corpus."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from funnelling.corpus.reference import read_reference
from funnelling.errors import counted
from funnelling.formats import Document, write_documents
from funnelling.reproduction.corpora.registry import build
from funnelling.runtime.messages import Reporter, silent
from funnelling.spaces.learned_vectors import learn_vectors
from funnelling.spaces.word_vectors import check_folder, write_folder
from funnelling.tasks.sources import FilePath


def build_corpus(
    name: str,
    output: FilePath,
    *,
    force: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
    **options: Any,
) -> None:
    """Build a corpus by name and write it to a file.

    Parameters
    ----------
    name : one of the corpora that `funnelling data list` shows
    output : file of documents, or - for standard output
    force : whether a file that exists is replaced
    verbose : above 0 for progress bars
    report : what gets the size of the corpus, and a line on whatever was dropped
    options : what this corpus takes: ``sources``, ``languages``, ``seed`` …
    """
    notes: list[str] = []

    def documents() -> Iterator[Document]:
        # Within the writing, so that an output that cannot be written is refused before the work.
        corpus = build(name, **options, verbose=verbose)
        yield from corpus.documents
        notes.append(_size(corpus.documents))
        notes.extend(f"Dropped: {line}." for line in corpus.omissions)

    write_documents(output, documents(), force)
    for line in notes:
        report(line)


def _size(documents: Sequence[Document]) -> str:
    groups = {document.group for document in documents} - {None}
    languages = {document.language for document in documents}
    in_groups = f"{counted(len(groups), 'group')} in " if groups else ""
    return f"{in_groups}{counted(len(languages), 'language')}, {counted(len(documents), 'document')}."


@dataclass(frozen=True)
class EmbeddingsSize:
    """What word vectors were learned from, and how many words each language has."""

    groups: int
    words: dict[str, int]


def build_embeddings(
    reference: FilePath,
    output: FilePath,
    *,
    dimensions: int,
    min_count: int = 1,
    languages: Sequence[str] | None = None,
    seed: int = 0,
    force: bool = False,
    verbose: int = 0,
) -> EmbeddingsSize:
    """Learn vectors for the words of a reference corpus, and write one file per language in MUSE's format.

    Parameters
    ----------
    reference : file of a reference corpus
    output : folder of the vectors
    dimensions : of a vector
    min_count : times a word must occur
    languages : None for all of the reference corpus
    seed : of all random choices
    force : whether files that exist are replaced
    verbose : above 0 for progress bars
    """
    folder, show_bar = Path(output), bool(verbose)
    check_folder(folder, force)
    corpus = read_reference(reference, languages)
    vectors = learn_vectors(corpus.texts, dimensions, min_count, seed, shown=show_bar)
    write_folder(folder, vectors, force, shown=show_bar)
    return EmbeddingsSize(len(corpus.groups), {tag: len(of.words) for tag, of in vectors.items()})
