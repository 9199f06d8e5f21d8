"""How fast each instruction set of this processor is beside scikit-learn: fits, predictions, short texts.

    python benchmarks/instructions.py
    python benchmarks/instructions.py --data documents.jsonl.gz --posts posts.jsonl.gz --json

Every figure is a ratio within one run: scikit-learn's seconds over ours. Our side is measured in rounds, the
sets in turn, and the median counts. A set that is slower than a narrower one is named, and the status is 1.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import corpora
from funnelling.commands import options, values
from funnelling.errors import counted
from funnelling.evaluation.splits import Trial
from funnelling.methods.registry import make_method
from funnelling.report.tables import Table
from funnelling.research import PaperFunnelClassifier
from funnelling.runtime.messages import say
from funnelling.svm.kernels import native
from funnelling.svm.solver import INSTALL_COMPILER
from measuring import add_options, machine, run, short, show, sizes, timed
from methods import measure, trials_of
from peers import PEERS
from recipe import META_C, Recipe

SETS = ("base", "avx2", "avx512")  # the narrowest first
PREDICTIONS = 25  # of which the median counts
NOISE = 1.1  # times as long as a narrower set: what is slower than that is named

Rounds = dict[str, list[float]]  # seconds of each figure, one per round


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    corpora.add_options(parser)
    parser.add_argument(
        "--posts", default="posts", metavar="FILE", help="short texts with one label each (drawn ones)"
    )
    parser.add_argument("--repeats", type=values.count, default=3, metavar="N", help="rounds (3)")
    add_options(parser, options.Jobs, options.Seed, options.AsJson)
    arguments = parser.parse_args()
    if native is None:
        parser.error(f"There is no compiled code to measure. {INSTALL_COMPILER}")

    work = workloads(arguments)
    ours: dict[str, Rounds] = {name: {figure: [] for figure in work} for name in available()}
    for _ in range(arguments.repeats):
        for name, rounds in ours.items():
            native.instructions(name)
            for figure, (seconds, _) in work.items():
                rounds[figure].append(seconds())
                say(f"{name}, {figure}: {short(rounds[figure][-1])} s")
    native.instructions(available()[-1])
    rivals = {}
    for figure, (_, seconds) in work.items():
        rivals[figure] = seconds()
        say(f"scikit-learn, {figure}: {short(rivals[figure])} s")

    medians = {
        name: {figure: statistics.median(seconds) for figure, seconds in rounds.items()}
        for name, rounds in ours.items()
    }
    ratios = {
        name: {figure: rivals[figure] / seconds for figure, seconds in of_set.items()}
        for name, of_set in medians.items()
    }
    result = {"seconds": medians, "scikit_learn_seconds": rivals, "ratios": ratios, "machine": machine()}
    rows = [[figure, *(short(ratios[name][figure]) for name in ratios)] for figure in work]
    caption = f"scikit-learn's seconds over ours, {counted(arguments.jobs, 'job')}"
    show(result, [(caption, Table(["", *ratios], rows))], arguments.json)
    complaints = list(slower_than_narrower(medians))
    for line in complaints:
        say(line)
    sys.exit(1 if complaints else 0)


def available() -> list[str]:
    """The instruction sets of this processor, the narrowest first."""
    found = []
    for name in SETS:
        try:
            native.instructions(name)
        except ValueError:
            continue
        found.append(name)
    return found or [native.instructions()]


def slower_than_narrower(medians: Mapping[str, Mapping[str, float]]) -> list[str]:
    """A line for each figure that a set takes longer for than a narrower one does.

    >>> slower_than_narrower({"base": {"fit": 2.0}, "avx2": {"fit": 1.0}, "avx512": {"fit": 1.5}})
    ['fit: avx512 takes 1.50 times as long as avx2, which is narrower.']
    """
    names = list(medians)
    return [
        f"{figure}: {wide} takes {medians[wide][figure] / medians[narrow][figure]:.2f} times as long as "
        f"{narrow}, which is narrower."
        for place, wide in enumerate(names)
        for narrow in names[:place]
        for figure in medians[wide]
        if medians[wide][figure] > NOISE * medians[narrow][figure]
    ]


def workloads(
    arguments: argparse.Namespace,
) -> dict[str, tuple[Callable[[], float], Callable[[], float]]]:
    """By figure, what measures our seconds, and what those of scikit-learn for the same."""
    jobs, seed = arguments.jobs, arguments.seed
    vectors = corpora.corpus_of(arguments)
    say(sizes(vectors.sizes()))
    (posts,) = trials_of(arguments.posts, argparse.Namespace(folds=None, seed=seed))

    def fun_tat(meta_C: float | None) -> PaperFunnelClassifier:
        return PaperFunnelClassifier("tat", meta_C=meta_C, n_jobs=jobs, random_state=seed)

    recipe, fitted = Recipe(META_C, jobs, seed), fun_tat(META_C).fit(vectors.train, vectors.train_labels)

    def fit(make: Callable[[], Any]) -> float:
        model = make()
        corpora.warm_up(model)
        return timed(partial(model.fit, vectors.train, vectors.train_labels))[0]

    def predict(model: Any) -> float:
        return timed(partial(model.predict, vectors.test), PREDICTIONS)[0]

    def learn(make: Callable[[], Any], trial: Trial) -> float:
        return float(measure(make, [trial])["fit_seconds"])

    def method(name: str) -> Callable[[], float]:
        return partial(learn, partial(make_method, name, seed=seed, jobs=jobs), posts)

    def peer(name: str) -> Callable[[], float]:
        return partial(learn, partial(PEERS[name], jobs, seed), posts)

    return {
        "fit, C fixed": (partial(fit, partial(fun_tat, META_C)), partial(fit, lambda: recipe)),
        "fit, C searched": (
            partial(fit, partial(fun_tat, None)),
            partial(fit, partial(Recipe, None, jobs, seed)),
        ),
        "predict": (partial(predict, fitted), partial(predict, recipe)),
        "posts, pooled beside LinearSVC": (method("pooled"), peer("linear-svc")),
        "posts, fun-auto beside the pipeline": (method("fun-auto"), peer("pipeline")),
    }


if __name__ == "__main__":
    run(main)
