"""How fast documents are labelled: one at a time, in growing batches, all at once.

    python benchmarks/predict.py
    python benchmarks/predict.py --shape rcv --documents 100

Both sides are fitted on some of the training documents, since the recipe would take long to fit on all. That
flatters the recipe, whose prediction takes longer the more it was trained on.
"""

import argparse
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import corpora
from funnelling.commands import options, values
from funnelling.report.tables import Table
from funnelling.research import PaperFunnelClassifier
from funnelling.runtime.messages import say
from measuring import add_options, machine, run, short, show, sizes, timed
from recipe import META_C, Recipe
from vectors import Vectors

Batch = dict[str, Any]  # from language to vectors
Model = PaperFunnelClassifier | Recipe

REPEATS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description="Time predictions against the scikit-learn recipe.")
    corpora.add_options(parser)
    parser.add_argument(
        "--documents", type=values.count, default=250, metavar="N", help="per language to train on (250)"
    )
    parser.add_argument(
        "--calls", type=values.count, default=200, metavar="N", help="with one document each (200)"
    )
    add_options(parser, options.Jobs, options.Seed, options.AsJson)
    arguments = parser.parse_args()

    corpus = corpora.corpus_of(arguments).reduced(arguments.documents, arguments.seed)
    jobs, seed = arguments.jobs, arguments.seed
    models: dict[str, Model] = {
        "funnelling": PaperFunnelClassifier("tat", meta_C=META_C, n_jobs=jobs, random_state=seed),
        "recipe": Recipe(META_C, jobs, seed),
    }
    for side, model in models.items():
        seconds, _ = timed(partial(model.fit, corpus.train, corpus.train_labels))
        say(f"{side}: fitted in {short(seconds)} s")
    result = {
        "latency_ms": {side: latency(model, corpus, arguments.calls) for side, model in models.items()},
        "batches": [throughput(models, batch) for batch in growing_batches(corpus)],
        "corpus": corpus.sizes(),
        "machine": machine(),
    }
    show(result, _tables(result), arguments.json)


def latency(model: Model, corpus: Vectors, calls: int) -> dict[str, float]:
    """The milliseconds of a call with one document, languages by turns: median and 99th percentile."""
    languages = list(corpus.test.items())
    seconds = []
    for call in range(calls):
        turn, place = divmod(call, len(languages))
        language, X = languages[place]
        document = {language: X[[turn % X.shape[0]]]}
        seconds.append(timed(partial(model.predict, document))[0])
    return {f"p{percent}": 1_000 * float(np.percentile(seconds, percent)) for percent in (50, 99)}


def growing_batches(corpus: Vectors) -> Iterator[Batch]:
    """Ten test documents, a hundred and so on, all languages alike, then all there are."""
    total = sum(X.shape[0] for X in corpus.test.values())
    documents = 10
    while documents < total:
        each = math.ceil(documents / len(corpus.by_language))
        yield {language: X[:each] for language, X in corpus.test.items()}
        documents *= 10
    yield corpus.test


def throughput(models: dict[str, Model], batch: Batch) -> dict[str, Any]:
    """How long each side takes for a batch."""
    documents = sum(X.shape[0] for X in batch.values())
    seconds = {side: timed(partial(model.predict, batch), REPEATS)[0] for side, model in models.items()}
    say(f"{documents:,} documents predicted")
    return {"documents": documents, "seconds": seconds, "ratio": seconds["recipe"] / seconds["funnelling"]}


def _tables(result: dict[str, Any]) -> list[tuple[str, Table]]:
    ours, theirs = result["latency_ms"].values()
    alone = [[name, *map(short, (ours[name], theirs[name], theirs[name] / ours[name]))] for name in ours]
    batches = []
    for batch in result["batches"]:
        rates = [batch["documents"] / seconds for seconds in batch["seconds"].values()]
        batches.append([f"{batch['documents']:,}", *map(short, rates), short(batch["ratio"])])
    sides = list(result["latency_ms"])
    return [
        (f"{sizes(result['corpus'])}\n\none document, milliseconds", Table(["", *sides, "ratio"], alone)),
        ("batches, documents per second", Table(["documents", *sides, "ratio"], batches)),
    ]


if __name__ == "__main__":
    run(main)
