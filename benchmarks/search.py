"""The search for C, which ends where it pays no more, beside the paper's whole grid.

    python benchmarks/search.py documents.jsonl.gz --methods pooled,fun-tat

Learns from rows with split train, once each way, and measures on rows with split test.
"""

import argparse
from typing import Any

from funnelling import Corpus, read_corpus
from funnelling.commands import options
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES, SINGLE_LABEL_MEASURES
from funnelling.evaluation.splits import Trial, settle, trial_split
from funnelling.methods.learning import Method
from funnelling.methods.model import Model
from funnelling.methods.registry import make_method, parse_methods, title
from funnelling.report.tables import Table, markdown, number
from funnelling.runtime.messages import say
from funnelling.svm.learner import C_GRID
from measuring import add_options, run, short
from methods import measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", nargs="+", metavar="FILE")
    parser.add_argument("--methods", default="naive,pooled,fun-tat,lri", metavar="M,…")
    add_options(parser, options.Jobs, options.Seed)
    arguments = parser.parse_args()
    for path in arguments.data:
        (trial,), _ = settle([trial_split(read_corpus(path).labelled(), 0, arguments.seed)])
        measures = SINGLE_LABEL_MEASURES if trial.train.one_label else PAPER_MEASURES
        rows = [
            [title(name), how, *row]
            for name in parse_methods(arguments.methods)
            for how in ("search", "grid")
            for row in [compared(name, how, trial, measures, arguments)]
        ]
        heads = ["", "", "C", *(MEASURES[each].title for each in measures), "fit s"]
        print(f"{path.rpartition('/')[2]}\n\n{markdown(Table(heads, rows))}\n", flush=True)


def compared(
    name: str, how: str, trial: Trial, measures: tuple[str, ...], arguments: argparse.Namespace
) -> list[str]:
    """The Cs that a method chooses one way, its measures, and the seconds of a fit."""
    method = make_method(name, seed=arguments.seed, jobs=arguments.jobs)
    setting = "meta_C" if hasattr(method.parameters, "meta_C") else "C"
    method = method.under(**{setting: None if how == "search" else "grid"})
    found: Any = None

    class Noted(Method):
        def fit(self, documents: Corpus, label_set: Any = None) -> Model:
            nonlocal found
            model = super().fit(documents, label_set)
            found = model.fitted.final_c
            return model

    measured = measure(lambda: Noted(method.algorithm, method.parameters), [trial])
    chosen = sorted(found.values()) if isinstance(found, dict) else [found]
    counts = {C: chosen.count(C) for C in C_GRID if C in chosen}
    shown = ", ".join(f"{C:g}" + (f" × {count}" if count > 1 else "") for C, count in counts.items())
    row = [shown, *(number(measured[each]) for each in measures), short(measured["fit_seconds"])]
    say(" ".join([title(name), how, *row]))
    return row


if __name__ == "__main__":
    run(main)
