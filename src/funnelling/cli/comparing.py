"""What `compare` and `experiment` do alike: trials, methods, the folder that results are kept in."""

import argparse
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.cli import options
from funnelling.errors import InputError
from funnelling.reproduction.corpora.registry import CORPORA

if TYPE_CHECKING:
    from funnelling.corpus import Corpus
    from funnelling.method import Method
    from funnelling.trials.splits import Trial

SAMPLE = "sample"
CORPUS_FOLDER = "corpora"


def add_trials(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=options.count, default=1, metavar="N", help="trials a file (1)")
    parser.add_argument(
        "--source",
        action="append",
        type=Path,
        default=[],
        dest="sources",
        metavar="DIR",
        help="folder of files that a named corpus is built from; may be repeated",
    )


def read_trials(
    data: Sequence[str], arguments: argparse.Namespace, store: Path | None
) -> "tuple[list[Trial], list[str]]":
    """The trials of files and of corpora by name, and what to tell of documents left out.

    The first trial of a file takes its split, further ones redraw it; trial i of a corpus is built with
    the seed i after the first. What was built is kept in the store, so that all goes on with the same.
    """
    from funnelling.trials.splits import trial_split

    trials, notes = [], []
    named = [name for name in data if name in CORPORA and not os.path.isfile(name)]
    for name in named:
        if not CORPORA[name].labelled:
            raise InputError(f"{name} is a reference corpus, without labels. Give it as --reference instead.")
    if arguments.sources and not set(named) - {SAMPLE}:
        raise InputError("--source is for corpora that are built. Leave it out, or name one of `data list`.")
    for name in data:
        if name in named and name != SAMPLE:
            for corpus in _built(name, arguments, store):
                trials.append(trial_split(corpus, 0, arguments.seed))
        else:
            corpus, note = _read(name)
            notes.append(note)
            with options.naming(name):
                trials += [trial_split(corpus, run, arguments.seed) for run in range(arguments.runs)]
    return trials, notes


def _read(name: str) -> "tuple[Corpus, str]":
    if name == SAMPLE and not os.path.isfile(name):
        from funnelling.corpus.sample import read_sample

        return read_sample(), ""
    return options.read_labelled(name)


def _built(name: str, arguments: argparse.Namespace, store: Path | None) -> "Iterator[Corpus]":
    """The corpora of each trial's seed, built where the store does not have them."""
    from funnelling.corpus import Corpus, read_corpus
    from funnelling.formats import write_documents
    from funnelling.reproduction.corpora.registry import build_trials

    seeds = [arguments.seed + run for run in range(arguments.runs)]
    given = {"sources": arguments.sources} if arguments.sources else {}
    if store is None:
        for built in build_trials(name, seeds, **given, verbose=1):
            yield Corpus.from_documents(built.documents)
        return
    sources = "\n".join(str(source.resolve()) for source in arguments.sources)
    mark = f"-{hashlib.sha256(sources.encode()).hexdigest()[:8]}" if sources else ""
    paths = {seed: store / CORPUS_FOLDER / f"{name}{mark}-{seed}.jsonl.gz" for seed in seeds}
    missing = [seed for seed in seeds if not paths[seed].exists()]
    if missing:  # else what they were built from need not be there any more
        for seed, built in zip(missing, build_trials(name, missing, **given, verbose=1), strict=True):
            paths[seed].parent.mkdir(parents=True, exist_ok=True)
            write_documents(paths[seed], built.documents)
    for path in paths.values():
        yield read_corpus(path)


def choose_methods(
    names: list[str], resources: dict[str, Any], trials: "list[Trial]", everything: bool
) -> tuple[list[str], str]:
    """The methods whose resources are at hand, and what the others lack; one asked for by name must not."""
    from funnelling.method.registry import RESOURCES, lacking

    at_hand = set(resources)
    if has_english_versions(trials):
        at_hand.add("parallel")
    missing = {name: lacking(name, at_hand) for name in names}
    if not everything:
        for name in names:
            options.check_resources(name, at_hand)
    told = [
        f"{name} ({' and '.join(RESOURCES[need] for need in needs)})"
        for name, needs in missing.items()
        if needs
    ]
    left_out = f"Left out for what they lack: {'; '.join(told)}." if told else ""
    return [name for name in names if not missing[name]], left_out


def has_english_versions(trials: "Sequence[Trial]") -> bool:
    """Whether training documents have English versions, which UpperBound reads."""
    return all("en" in trial.parallel.languages for trial in trials)


def fingerprints(method: "Method", resources: dict[str, Any]) -> dict[str, Any]:
    """What tells the resources that a method reads from others of the same name."""
    from funnelling.embeddings.vectors import find_vectors

    marks: dict[str, Any] = {}
    parameters = method.get_params(deep=False)
    if parameters.get("zero_shot", "") is None and parameters.get("views") is None:
        return marks  # a funnel that reads none
    if "reference" in resources and "reference" in parameters:
        marks["reference"] = resources["reference"].digest()
    if "embeddings" in resources and "embeddings" in parameters:
        files = find_vectors(resources["embeddings"]).values()
        marks["embeddings"] = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    if "encoder" in resources and "encoder" in parameters:
        from funnelling.spaces.encoder import digest, find_encoder

        marks["encoder"] = digest(find_encoder(resources["encoder"]))
    return marks


def check_store(store: Path, force: bool) -> None:
    """A folder of results is added to; any other that holds something is left alone."""
    from funnelling.formats.files import check_output_folder
    from funnelling.trials.pieces import FOLDER

    ours = any((store / folder).is_dir() for folder in (FOLDER, CORPUS_FOLDER))
    if store.is_dir() and any(store.iterdir()) and not ours and not force:
        raise InputError(f"{store} exists and holds no results. Choose another path or add --force.")
    check_output_folder(store)
