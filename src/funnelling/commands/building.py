"""Build corpora and word vectors, and read the trials of files and of corpora by name."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from funnelling.commands.corpora import CORPORA, build, build_trials
from funnelling.commands.measurement import CORPUS_FOLDER
from funnelling.commands.options import FilePath
from funnelling.commands.sources import prefix_errors_with_file, read_labelled
from funnelling.corpus import Corpus, read_corpus
from funnelling.corpus.reference import read_reference, read_sample
from funnelling.errors import InputError, counted
from funnelling.evaluation.splits import Trial, trial_split
from funnelling.formats import Document, write_documents
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.runtime.messages import Reporter, silent
from funnelling.runtime.progress import watched
from funnelling.spaces.learned_vectors import learn_vectors
from funnelling.spaces.word_vectors import check_folder, write_folder


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


SAMPLE = "sample"


def read_trials(
    data: Sequence[str],
    runs: int = 1,
    seed: int = 0,
    sources: Sequence[Path] = (),
    folder: Path | None = None,
    verbose: int = 0,
    layout: Layout = AS_FOUND,
    strict: bool = False,
) -> tuple[list[Trial], list[str]]:
    """The trials of files and of corpora by name, and what to report on documents that are left out.

    The first trial of a file takes its split, further ones redraw it. Trial i of a corpus is built with the
    seed i after the first, from the files in ``sources``. What was built is kept in ``folder``, so that work
    that is started again goes on with the same documents.

    >>> trials, notes = read_trials(["sample"], runs=2)
    >>> [len(trial.test) for trial in trials], notes
    ([700, 700], [])
    """
    names = [name for name in data if name in CORPORA and not os.path.isfile(name)]
    for name in names:
        if not CORPORA[name].labelled:
            raise InputError(f"{name} is a reference corpus, without labels. Give it as --reference instead.")
    if sources and not set(names) - {SAMPLE}:
        raise InputError("--source is for corpora that are built. Leave it out, or name one of `data list`.")
    trials: list[Trial] = []
    notes: list[str] = []
    for name in data:
        if name in names and name != SAMPLE:
            seeds = [seed + run for run in range(runs)]
            trials += [
                trial_split(corpus, 0, seed) for corpus in _build(name, seeds, sources, folder, verbose)
            ]
        else:
            corpus, lines = (
                (read_sample(), [])
                if name in names
                else read_labelled(name, verbose=verbose, layout=layout, strict=strict)
            )
            notes += lines
            with prefix_errors_with_file(name):
                splits = watched(range(runs), "drawing splits", bool(verbose), "splits")
                trials += [trial_split(corpus, run, seed) for run in splits]
    return trials, notes


def _build(
    name: str, seeds: Sequence[int], sources: Sequence[Path], folder: Path | None, verbose: int
) -> Iterator[Corpus]:
    """The corpora of each trial's seed, built unless the folder has them."""
    options = {"sources": sources} if sources else {}
    if folder is None:
        for built in build_trials(name, seeds, **options, verbose=verbose):
            yield Corpus.from_documents(built.documents)
        return
    places = "\n".join(str(source.resolve()) for source in sources)
    mark = f"-{hashlib.sha256(places.encode()).hexdigest()[:8]}" if places else ""
    paths = {seed: folder / CORPUS_FOLDER / f"{name}{mark}-{seed}.jsonl.gz" for seed in seeds}
    missing = [seed for seed in seeds if not paths[seed].exists()]
    if missing:  # else what they were built from need not be there any more
        for seed, built in zip(missing, build_trials(name, missing, **options, verbose=verbose), strict=True):
            paths[seed].parent.mkdir(parents=True, exist_ok=True)
            write_documents(paths[seed], built.documents)
    for path in paths.values():
        yield read_corpus(path)
