"""Methods beside what a user would write instead: seconds, memory and quality, from texts to labels.

    python benchmarks/methods.py
    python benchmarks/methods.py posts titles --methods naive,pooled --peers linear-svc
    python benchmarks/methods.py documents.jsonl.gz --folds 3 --peers pipeline --encoder multilingual-model/

Learns from rows with split train and measures on rows with split test. With --folds it measures on folds of
the training rows instead, each labelled by a model that did not see it, and looks at no test row. Each method
runs in a new process. What is worse by more than a fifth than the results that were saved on a machine of the
same kind is named, as is what takes longer on posts than it may; then the status is 1.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import results
from bars import POSTS, past_bars
from drawing import Shape
from fresh import STATUS, begin_peak, peak, run_afresh
from funnelling import Corpus, InputError, read_corpus
from funnelling.commands import options, printing, values
from funnelling.evaluation.measuring import as_indicators
from funnelling.evaluation.registry import (
    MEASURES,
    PAPER_MEASURES,
    SINGLE_LABEL_MEASURES,
    measure_languages,
    paper_measures,
)
from funnelling.evaluation.splits import (
    SINGLE_LABEL_NOTICE,
    Trial,
    outer_folds,
    settle,
    sides_of,
    trial_split,
)
from funnelling.methods.registry import make_method, parse_methods, parse_settings, title
from funnelling.report.tables import Table, markdown, number
from funnelling.runtime.messages import say
from funnelling.text.words import analyser
from measuring import add_options, in_words, machine, run, short, timed
from peers import PEERS, EncoderHead, parse_peers, takes_hours
from texts import TEXTS, draw_texts

Makers = Mapping[str, Callable[[], Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "data", nargs="*", default=list(TEXTS), metavar="FILE", help=f"or drawn: {', '.join(TEXTS)} (these)"
    )
    parser.add_argument(
        "--methods", default="naive,pooled,fun-tat,fun-auto", metavar="M,…", help="(%(default)s)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="METHOD.PARAM=VALUE")
    parser.add_argument(
        "--peers", default="linear-svc,pipeline,recipe", metavar="P,…", help=f"of {', '.join(PEERS)}"
    )
    parser.add_argument("--encoder", metavar="DIR", help="of sentence-transformers: one more peer")
    parser.add_argument("--folds", type=values.count, metavar="K", help="of the training rows, to measure on")
    parser.add_argument(
        "--save", action="store_true", help="keep the results, for later runs to compare with"
    )
    parser.add_argument(
        "--results", type=Path, default=results.FOLDER, metavar="DIR", help="of saved results (of the clone)"
    )
    add_options(parser, options.Jobs, options.Seed, options.AsJson)
    arguments = parser.parse_args()
    makers, peers = makers_of(arguments)
    result: dict[str, Any] = {"corpora": {}, "machine": machine()}
    for data in arguments.data:
        name = Path(data).name
        trials = trials_of(data, arguments)
        measured = compare(name, makers, trials)
        setting = {**sizes_of(trials), "jobs": arguments.jobs, "seed": arguments.seed}
        result["corpora"][name] = {"setting": setting, "methods": measured}
        if not arguments.json:
            print(f"{name}\n\n{markdown(_table(measured))}\n", flush=True)
    if arguments.json:
        printing.print_json(result)
    else:
        print(in_words(result["machine"]))
    complaints = [
        f"{name}, {line}"
        for name, measured in result["corpora"].items()
        if name in POSTS
        for line in past_bars(measured["methods"], peers)
    ]
    if arguments.save:
        results.save(arguments.results, result)
    else:
        complaints += results.compare(arguments.results, result, peers)
    for line in complaints:
        say(line)
    sys.exit(1 if complaints else 0)


def makers_of(arguments: argparse.Namespace) -> tuple[dict[str, Callable[[], Any]], list[str]]:
    """What makes each method and each peer, and the names of the peers."""
    jobs, seed = arguments.jobs, arguments.seed
    names, peers = parse_methods(arguments.methods), parse_peers(arguments.peers)
    settings = parse_settings(arguments.set, names)
    makers: dict[str, Callable[[], Any]] = {
        name: partial(make_method, name, seed=seed, jobs=jobs, settings=settings) for name in names
    }
    makers |= {name: partial(PEERS[name], jobs, seed) for name in peers}
    if arguments.encoder:
        peers.append("encoder-head")
        makers["encoder-head"] = partial(EncoderHead, jobs, seed, arguments.encoder)
    return makers, peers


def trials_of(data: str, arguments: argparse.Namespace) -> list[Trial]:
    """What to learn from and to measure on, of a file or of a drawn corpus."""
    corpus = draw_texts(TEXTS[data], arguments.seed) if data in TEXTS else read_corpus(data).labelled()
    trials = (
        folds_of(corpus, arguments.folds, arguments.seed)
        if arguments.folds
        else [trial_split(corpus, 0, arguments.seed)]
    )
    trials, lines = settle([_in_known_languages(trial) for trial in trials])
    for line in lines:
        if line != SINGLE_LABEL_NOTICE:
            say(line)
    return trials


def folds_of(corpus: Corpus, folds: int, seed: int) -> list[Trial]:
    """Training rows alone, each fold measured on by what the others teach, groups kept together."""
    if folds < 2:
        raise InputError("--folds must be 2 or more: what is measured on is not learned from.")
    train = sides_of(corpus).train
    fold = outer_folds(train, folds, seed)
    nothing = train.select([])
    return [Trial(train.select(fold != k), train.select(fold == k), nothing) for k in np.unique(fold)]


def sizes_of(trials: list[Trial]) -> dict[str, int]:
    """The size of what is measured."""
    train = trials[0].train
    return {
        "languages": len(train.by_language()),
        "labels": len(train.label_set()),
        "documents": len(train),
        "test_documents": len(trials[0].test),
        "trials": len(trials),
    }


def compare(corpus: str, makers: Makers, trials: list[Trial]) -> dict[str, dict[str, Any]]:
    """What each method takes and reaches; peers that would take hours are left out."""
    _look_up([_few(trials), *trials])  # which may prepare lemmas, and would take memory in the first process
    measured = {}
    for name, make in makers.items():
        if takes_hours(name, trials[0].train):
            say(f"{corpus}: {name} left out, it would take hours.")
            continue
        measured[name] = run_afresh(measure, make, trials)
        say(f"{corpus}: {' '.join(_row(name, measured[name]))}")
    return measured


def measure(make: Callable[[], Any], trials: list[Trial]) -> dict[str, Any]:
    """Mean seconds of a fit and a prediction, the most memory, and the measures of all test documents."""
    one_label = trials[0].train.one_label
    _warm_up(make, trials)
    known = sorted({label for trial in trials for label in trial.train.label_set()})
    # Whoever gives one label is wrong about those that training documents lack.
    tested = {label for trial in trials for label in trial.test.label_set()}
    classes = [*known, *sorted(tested - set(known))] if one_label else known
    column_of = {label: column for column, label in enumerate(classes)}
    truth, decisions, languages, seconds = [], [], [], []
    if STATUS.exists():
        begin_peak()
    for train, test, _ in trials:
        fit_seconds, model = timed(partial(make().fit, train))
        predict_seconds, labels = timed(partial(model.predict, test.texts, languages=test.languages))
        decided = np.zeros((len(test), len(classes)), dtype=bool)
        decided[:, [column_of[label] for label in model.labels.classes]] = as_indicators(model, labels)
        truth.append(test.label_matrix(classes))
        decisions.append(decided)
        languages += test.languages
        seconds.append([fit_seconds, predict_seconds])
    fit_seconds, predict_seconds = np.mean(seconds, axis=0).tolist()
    costs = {"fit_seconds": fit_seconds, "predict_seconds": predict_seconds}
    if STATUS.exists():
        costs["peak_bytes"] = peak()
    columns = np.arange(len(known))
    measured = measure_languages(np.vstack(truth), np.vstack(decisions), languages, one_label, columns)
    measures = SINGLE_LABEL_MEASURES if one_label else PAPER_MEASURES
    return {**costs, **{name: measured["average"][name] for name in measures}}


def _warm_up(make: Callable[[], Any], trials: list[Trial]) -> None:
    """Load what is loaded at first use, so that no figure includes it: libraries, and the lemmas of words."""
    few = _few(trials)
    make().fit(few.train).predict(few.test.texts, languages=few.test.languages)
    _look_up(trials)


def _few(trials: list[Trial]) -> Trial:
    """A small trial of the same kind: one label per document, or several."""
    one_label = trials[0].train.one_label
    corpus = draw_texts(Shape(2, 30, 5, 100, one_label=one_label), seed=0)
    (few,), _ = settle([sides_of(corpus)], one_label)
    return few


def _look_up(trials: list[Trial]) -> None:
    """Reduce words to lemmas, which is done once per process: no method is to be clocked for all."""
    for train, test, _ in trials:
        for corpus in (train, test):
            for text, language in zip(corpus.texts, corpus.languages, strict=True):
                analyser(language)(text)


def _in_known_languages(trial: Trial) -> Trial:
    """A trial whose test documents are in languages of training documents, which all methods can label."""
    known = trial.train.by_language()
    rows = np.array([language in known for language in trial.test.languages], dtype=bool)
    if not rows.all():
        say(f"{(~rows).sum()} test documents left out, in languages without training documents.")
    return trial._replace(test=trial.test.select(rows))


def _table(measured: Mapping[str, Mapping[str, Any]]) -> Table:
    reached = paper_measures(next(iter(measured.values()), {}))
    header = ["", *(MEASURES[name].title for name in reached), "fit s", "predict s", "peak GB"]
    return Table(header, [_row(name, costs) for name, costs in measured.items()])


def _row(name: str, costs: Mapping[str, Any]) -> list[str]:
    return [
        title(name),
        *(number(costs[measure]) for measure in paper_measures(costs)),
        short(costs["fit_seconds"]),
        short(costs["predict_seconds"]),
        short(costs["peak_bytes"] / 1e9) if "peak_bytes" in costs else "",
    ]


if __name__ == "__main__":
    run(main)
