"""The corpora that can be built, by name, and the trials of such corpora and of files.

Light enough to be imported for ``--help``: a module is loaded when its corpus is built.
"""

import hashlib
import inspect
import os
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple

from funnelling.errors import InputError
from funnelling.runtime.progress import watched

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from funnelling.corpus import Corpus
    from funnelling.evaluation.splits import Trial
    from funnelling.formats.layout import Layout
    from funnelling.research.corpora.builders import BuiltCorpus


class CorpusSpec(NamedTuple):
    """What builds a corpus, what it is, where it comes from, how large it is and under which licence."""

    builder: str
    summary: str
    origin: str
    size: str
    licence: str
    labelled: bool = True


_INDICES = "apt, or index files (Packages, Translation-XX) in --source"
_OF_PACKAGES = "each text under the licence of its package"

CORPORA = {
    "sample": CorpusSpec(
        "funnelling.research.corpora.debian:build_sample",
        "the embedded corpus: a cut of debian-comparable",
        _INDICES,
        "2,450 documents, 7 languages, 32 labels",
        _OF_PACKAGES,
    ),
    "debian-comparable": CorpusSpec(
        "funnelling.research.corpora.debian:build_debian_comparable",
        "descriptions of Debian packages with debtags as labels, each package in one language",
        _INDICES,
        "11,200 documents, 11 languages, 240 labels",
        _OF_PACKAGES,
    ),
    "debian-parallel": CorpusSpec(
        "funnelling.research.corpora.debian:build_debian_parallel",
        "as debian-comparable, of packages described in all of its languages: training packages in one of "
        "them, test packages in all",
        _INDICES,
        "18,000 documents, 5 languages, 150 labels",
        _OF_PACKAGES,
    ),
    "jrc-acquis": CorpusSpec(
        "funnelling.research.corpora.jrc_acquis:build_jrc_acquis",
        "laws of the European Union with EuroVoc descriptors, the paper's parallel corpus",
        "files jrc-XX.tgz of JRC-Acquis 3.0 in --source",
        "59,000 documents in training and test, 11 languages, 300 labels (in the paper)",
        "free for research, see the JRC's page",
    ),
    "rcv": CorpusSpec(
        "funnelling.research.corpora.rcv:build_rcv",
        "news of Reuters with topics, the paper's comparable corpus",
        "zip archives of RCV1 and RCV2 in --source",
        "18,000 documents, 9 languages, 73 labels (in the paper)",
        "by agreement with NIST",
    ),
    "libreoffice-help": CorpusSpec(
        "funnelling.research.corpora.libreoffice:build_libreoffice_help",
        "reference corpus: LibreOffice's help, one group per page",
        "apt, or .deb files in --source",
        "1,000 to 1,900 pages per language",
        "MPL-2.0",
        labelled=False,
    ),
    "debian-untagged": CorpusSpec(
        "funnelling.research.corpora.debian:build_debian_untagged",
        "reference corpus: descriptions of packages without debtags, one group per source package",
        _INDICES,
        "249 groups in 5 languages",
        _OF_PACKAGES,
        labelled=False,
    ),
    "wikipedia": CorpusSpec(
        "funnelling.research.corpora.wikipedia:build_wikipedia",
        "reference corpus: articles in several languages, aligned by --alignments",
        "what WikiExtractor --json put into --source, one folder per language",
        "5,000 articles per language",
        "CC BY-SA",
        labelled=False,
    ),
}

SAMPLE = "sample"


def build(name: str, *, seed: int = 0, **options: Any) -> "BuiltCorpus":
    """Build a corpus from what its builder takes; an option it does not take is refused, but for a seed.

    >>> build("libreoffice-help", documents=10)
    Traceback (most recent call last):
    funnelling.errors.InputError: libreoffice-help takes no --documents. Leave it out.
    """
    return next(build_trials(name, [seed], **options))


def build_trials(name: str, seeds: "Sequence[int]", **options: Any) -> "Iterator[BuiltCorpus]":
    """The corpora of several seeds, one at a time; what they are made of is read once where possible."""
    function = resolve_name(CORPORA[name].builder)
    parameters = inspect.signature(function).parameters
    for option in options:
        if option not in parameters:
            shown = "source" if option == "sources" else option.replace("_", "-")
            raise InputError(f"{name} takes no --{shown}. Leave it out.")
    if "seeds" in parameters:
        yield from function(**options, seeds=seeds)
        return
    for seed in seeds:  # where nothing is drawn at random it does no harm
        yield function(**options, **({"seed": seed} if "seed" in parameters else {}))


def read_trials(
    data: "Sequence[str]",
    runs: int = 1,
    seed: int = 0,
    sources: "Sequence[Path]" = (),
    folder: Path | None = None,
    verbose: int = 0,
    layout: "Layout | None" = None,
    strict: bool = False,
) -> "tuple[list[Trial], list[str]]":
    """The trials of files and of corpora by name, and what to report on documents that are left out.

    The first trial of a file takes its split, further ones redraw it. Trial i of a corpus is built with the
    seed i after the first, from the files in ``sources``. What was built is kept in ``folder``, so that work
    that is started again goes on with the same documents.

    >>> trials, notes = read_trials(["sample"], runs=2)
    >>> [len(trial.test) for trial in trials], notes
    ([700, 700], [])
    """
    from funnelling.commands.sources import prefix_errors_with_file, read_labelled
    from funnelling.corpus.reference import read_sample
    from funnelling.evaluation.splits import trial_split
    from funnelling.formats.layout import AS_FOUND

    names = [name for name in data if name in CORPORA and not os.path.isfile(name)]
    for name in names:
        if not CORPORA[name].labelled:
            raise InputError(f"{name} is a reference corpus, without labels. Give it as --reference instead.")
    if sources and not set(names) - {SAMPLE}:
        raise InputError(
            "--source is for corpora that are built. Leave it out, or name one of `research corpora`."
        )
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
                else read_labelled(name, verbose=verbose, layout=layout or AS_FOUND, strict=strict)
            )
            notes += lines
            with prefix_errors_with_file(name):
                splits = watched(range(runs), "drawing splits", bool(verbose), "splits")
                trials += [trial_split(corpus, run, seed) for run in splits]
    return trials, notes


def _build(
    name: str, seeds: "Sequence[int]", sources: "Sequence[Path]", folder: Path | None, verbose: int
) -> "Iterator[Corpus]":
    """The corpora of each trial's seed, built unless the folder has them."""
    from funnelling.corpus import Corpus, read_corpus
    from funnelling.evaluation.pieces import CORPUS_FOLDER
    from funnelling.formats import write_documents

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
