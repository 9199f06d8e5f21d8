"""Options that several commands share, and what they do alike."""

import argparse
import json
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from funnelling.errors import InputError

if TYPE_CHECKING:
    from funnelling.corpus import Corpus
    from funnelling.method import Method

Number = TypeVar("Number", int, float)
Commands = Any  # argparse keeps the type of add_subparsers() to itself

DATA_HELP = (
    "file of documents: .jsonl, .csv, .tsv (each also .gz), .parquet, a folder of such files, "
    "or - for standard input"
)


def seed(text: str) -> int:
    """Any whole number."""
    return _parsed(int, text, "a whole number")


def count(text: str) -> int:
    """A number of something: 1 or more."""
    value = _parsed(int, text, "a whole number")
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def probability(text: str) -> float:
    """A number from 0 to 1."""
    value = _parsed(float, text, "a number")
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _parsed(kind: type[Number], text: str, name: str) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {name}") from None


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of all random choices (0)")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        type=count,
        default=_cores(),
        metavar="N",
        help="threads (one a core); the results are the same",
    )


def add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="Dask cluster that does the work: tcp://HOST:PORT of its scheduler, or local:N to start N "
        "processes here; the results are the same",
    )


def add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), default="cpu", help="where funnels work in tier 2 (cpu)"
    )


def _cores() -> int:
    """The cores this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="replace an output that exists")


def add_skip_unknown(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--skip-unknown", action="store_true", help="pass documents in unknown languages through unlabelled"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="METHOD.PARAM=VALUE",
        help="set a parameter of a method, such as fun-tat.meta_C=100; may be repeated",
    )


def add_resources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reference", metavar="FILE", help="reference corpus, for clesa, kcca and the idf of mle"
    )
    parser.add_argument(
        "--embeddings",
        metavar="DIR",
        help="folder of word vectors, for mle, mle-lstm, fun-zero-shot and fun-auto",
    )
    parser.add_argument(
        "--encoder", metavar="DIR", help="folder of a sentence-transformers model, for fun-auto and fun-views"
    )


def read_resources(arguments: argparse.Namespace) -> dict[str, Any]:
    """The reference corpus, the folder of word vectors and that of the encoder, those that were given."""
    resources: dict[str, Any] = {}
    if arguments.reference is not None:
        from funnelling.corpus.reference import read_reference

        resources["reference"] = read_reference(arguments.reference)
    if arguments.embeddings is not None:
        from funnelling.embeddings.vectors import find_vectors

        find_vectors(arguments.embeddings)  # refuses a folder that holds none
        resources["embeddings"] = arguments.embeddings
    if arguments.encoder is not None:
        from funnelling.spaces.encoder import find_encoder

        find_encoder(arguments.encoder)  # refuses a folder that holds none
        resources["encoder"] = arguments.encoder
    return resources


def check_resources(name: str, resources: Collection[str]) -> None:
    """Refuse a method whose resources are not given."""
    from funnelling.method.registry import RESOURCES, lacking

    missing = lacking(name, resources)
    if missing:
        raise InputError(f"{name} needs {' and '.join(RESOURCES[need] for need in missing)}.")


def languages(text: str) -> list[str]:
    """Language tags with commas between them."""
    from funnelling.text.languages import normalise_tag

    try:
        return [normalise_tag(tag) for tag in text.split(",")]
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def tell(line: str) -> None:
    """Say what is going on; standard output is for results."""
    if line:
        print(line, file=sys.stderr, flush=True)


def program() -> str:
    """The command as it can be typed: by name where the shell finds it, else as it was typed."""
    import shutil

    typed = sys.argv[0]
    found = shutil.which("funnelling") or os.path.basename(typed) != "funnelling"
    return "funnelling" if found else typed


def print_json(value: Any) -> None:
    """Print a result as JSON, in UTF-8 whatever the terminal speaks."""
    from funnelling.formats.files import STANDARD, writing

    with writing(STANDARD) as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def read_labelled(path: str, among: Sequence[str] = ()) -> "tuple[Corpus, str]":
    """The labelled documents of a file, and what to tell of the others once all is well.

    Missing languages are detected ``among`` some, or among those that other documents name.
    """
    from funnelling.corpus import read_corpus
    from funnelling.formats.files import shown_name

    corpus = read_corpus(path, among=among, verbose=1)
    labelled = corpus.labelled()
    name = shown_name(path)
    if not len(labelled):
        raise InputError(f'{name}: no labelled document. Give documents a "labels" field.')
    skipped = len(corpus) - len(labelled)
    note = f"{name}: {skipped} of {len(corpus)} documents have no labels and are left out."
    return labelled, note if skipped else ""


@contextmanager
def naming(path: str) -> Iterator[None]:
    """A refusal that begins with the name of the file it is about."""
    from funnelling.formats.files import shown_name

    try:
        yield
    except InputError as error:
        raise InputError(f"{shown_name(path)}: {error}") from None


def load_text_model(path: str) -> "Method":
    """The model in a folder, which must be one that reads texts."""
    from funnelling.storage import load_model

    model: Method = load_model(path)
    if not model.texts_:
        raise InputError(f"{path}: the model was fitted on vectors, not on texts. Use it from Python.")
    return model
