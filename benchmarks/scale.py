"""How the costs of training and prediction grow with a corpus on disk.

    python benchmarks/scale.py --documents 100_000 1_000_000

Draws folders of Parquet parts (ten languages, 200 labels, 60 words per document, a Zipf vocabulary), trains
on each with ``funnelling train`` and labels it with ``funnelling predict``, each in processes of its own,
whose memory is summed as they run.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
from scipy.special import expit, ndtri

from drawing import CLEARNESS, LABEL_TOKENS, LABEL_WORDS, TOPIC_SHARE, TOPICS, Shape, draw_ranks
from funnelling import Document, write_documents
from funnelling.commands import options
from funnelling.randomness import stream
from funnelling.report.tables import Table
from funnelling.runtime.messages import say
from measuring import add_options, machine, run, short, show
from texts import spell

LANGUAGES = ("da", "de", "en", "es", "fr", "it", "nl", "pl", "pt", "sv")
LABELS, WORDS, VOCABULARY, FIRST_RANK = 200, 60, 30_000, 5
PART = 10_000  # documents per part
TEST = 0.05  # the share of documents


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure training and prediction over folders of parts.")
    parser.add_argument(
        "--documents", type=int, nargs="+", default=[10_000, 100_000], metavar="N", help="sizes of corpora"
    )
    parser.add_argument("--method", default="fun-auto", metavar="M", help="method (fun-auto)")
    parser.add_argument("--no-predict", action="store_true", help="train only")
    add_options(parser, options.Jobs, options.Seed, options.AsJson)
    arguments = parser.parse_args()
    result = {
        "sizes": {size: measure(size, arguments) for size in arguments.documents},
        "jobs": arguments.jobs,
        "machine": machine(),
    }
    show(result, [(arguments.method, _table(result))], arguments.json)


def measure(documents: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """The costs of training on so many documents, and of labelling them."""
    with TemporaryDirectory() as folder:
        data, model = Path(folder, "data"), Path(folder, "model")
        draw_parts(data, documents, arguments.seed)
        command = ["train", data, "-o", model, "--method", arguments.method, "--jobs", arguments.jobs]
        train = watch(*command)
        say(f"{documents:,}: trained in {short(train['seconds'])} s")
        result = {"train": train, **json.loads(_call("inspect", model, "--json"))["scores"]["average"]}
        if not arguments.no_predict:
            result["predict"] = watch(
                "predict", model, data, "-o", Path(folder, "out"), "--jobs", arguments.jobs
            )
        return result


def _call(*arguments: object) -> str:
    command = [sys.executable, "-m", "funnelling", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def watch(*arguments: object) -> dict[str, float]:
    """The seconds of a command, and the most memory that it and its child processes held at once."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "funnelling", *map(str, arguments)], stdout=subprocess.DEVNULL
    )
    peak = 0
    end = threading.Event()

    def sample() -> None:
        nonlocal peak
        while not end.wait(0.5):
            peak = max(peak, _memory(process.pid))

    watcher = threading.Thread(target=sample)
    watcher.start()
    status = process.wait()
    end.set()
    watcher.join()
    if status:
        sys.exit(status)
    return {"seconds": time.perf_counter() - start, "peak_bytes": peak}


def _memory(number: int) -> int:
    """The memory of a process and its children; what they share counts once, pages of files too."""
    total = 0
    try:
        process = psutil.Process(number)
        for each in (process, *process.children(recursive=True)):
            total += each.memory_full_info().pss
    except psutil.Error:
        pass
    return total


def draw_parts(folder: Path, documents: int, seed: int) -> None:
    """Draw a folder of documents; a part is the same whatever other parts are drawn."""
    folder.mkdir()
    shape = Shape(len(LANGUAGES), documents // len(LANGUAGES), LABELS, VOCABULARY)
    loadings = stream(seed, "topics").normal(size=(LABELS, TOPICS))
    loadings *= np.sqrt(TOPIC_SHARE) / np.linalg.norm(loadings, axis=1, keepdims=True)
    words = np.array(
        [[spell(len(LANGUAGES) * i + k) for i in range(VOCABULARY)] for k in range(len(LANGUAGES))],
        dtype=object,
    )
    own = np.stack(
        [stream(seed, "words", k).integers(VOCABULARY, size=(LABELS, LABEL_WORDS)) for k in range(len(words))]
    )
    names = np.array([f"label-{number:03}" for number in range(LABELS)], dtype=object)
    for number in range(-(-documents // PART)):
        rng = stream(seed, "part", number)
        size = min(PART, documents - number * PART)
        pull = rng.normal(size=(size, TOPICS)) @ loadings.T
        pull += rng.normal(scale=np.sqrt(1 - TOPIC_SHARE), size=pull.shape) + ndtri(shape.frequencies)
        has_label = pull > 0
        has_label[np.arange(size), pull.argmax(axis=1)] = True
        languages = rng.integers(len(LANGUAGES), size=size)
        tokens = words[languages[:, None], _draw_words(pull, own, languages, rng)]
        test = rng.random(size) < TEST
        write_documents(
            folder / f"part-{number:05}.parquet",
            (
                Document(
                    f"{number}-{row}",
                    " ".join(tokens[row]),
                    LANGUAGES[languages[row]],
                    tuple(names[has_label[row]]),
                    "test" if test[row] else "train",
                )
                for row in range(size)
            ),
        )


def _draw_words(pull: Any, own: Any, languages: Any, rng: np.random.Generator) -> Any:
    """The words of each document: most are of the labels that pull it, the others are the language's."""
    rows = np.repeat(np.arange(len(pull)), WORDS)
    ranks = draw_ranks(VOCABULARY, FIRST_RANK, len(rows), rng)
    of_labels = np.flatnonzero(rng.random(len(rows)) < LABEL_TOKENS)
    voices = np.cumsum(expit(CLEARNESS * pull), axis=1)
    voices = voices / voices[:, -1:] + np.arange(len(pull))[:, None]
    where = rows[of_labels]
    labels = np.searchsorted(voices.ravel(), where + rng.random(len(where))) % LABELS
    ranks[of_labels] = own[languages[where], labels, draw_ranks(LABEL_WORDS, 2, len(where), rng)]
    return ranks.reshape(len(pull), WORDS)


def _table(result: dict[str, Any]) -> Table:
    rows = []
    for size, measured in result["sizes"].items():
        steps = [measured[step] for step in ("train", "predict") if step in measured]
        rows.append(
            [
                f"{size:,}",
                *(short(step["seconds"]) for step in steps),
                *(short(step["peak_bytes"] / 1e9) for step in steps),
                *(
                    f"{measured[name]:.3f}"
                    for name in ("micro_f1", "macro_f1_paper", "micro_k", "macro_k_paper")
                ),
            ]
        )
    steps_of = ["train", "predict"][: len(steps)]
    return Table(
        [
            "documents",
            *(f"{step} s" for step in steps_of),
            *(f"{step} GB" for step in steps_of),
            *("micro-F1", "paper's macro-F1", "micro-K", "paper's macro-K"),
        ],
        rows,
    )


if __name__ == "__main__":
    run(main)
