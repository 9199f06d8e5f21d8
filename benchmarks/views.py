"""Which views under which tier 2: an ablation on the training rows of a file alone.

    python benchmarks/views.py documents.jsonl.gz
    python benchmarks/views.py documents.jsonl.gz --fold 1 --embeddings vectors/

A fifth of the training rows is held out, everything is fitted on the others, and each variant is measured on
that fifth: each view alone, runs of other lengths, views together; under a tier 2 of odds and under the SVM.
Test rows are not read.
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

from funnelling import Corpus, read_corpus
from funnelling.evaluation.measuring import evaluate_classifier
from funnelling.evaluation.registry import MEASURES, paper_measures
from funnelling.evaluation.splits import Trial, outer_folds, settle, sides_of
from funnelling.funnel.design import FunnelParameters
from funnelling.funnel.learning import FUNNEL
from funnelling.methods.learning import Method
from funnelling.report.tables import Table, number, plain
from funnelling.spaces.words import CharacterSpace

VIEWS = ["own", "pooled", "characters", "mixed", "own-mixed", "wce"]
TOGETHER = [["pooled", "characters"], ["own", "mixed"], ["mixed", "own-mixed"], ["own", "mixed", "own-mixed"]]
RUNS = [(4, 4, False), (2, 5, False), (2, 5, True), (3, 5, True), (3, 6, False)]  # the view has 3 to 6, Latin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--fold", type=int, default=0, help="which of five outer folds is held out (0)")
    parser.add_argument("--embeddings", help="folder of word vectors, for one more view")
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    train = sides_of(read_corpus(arguments.data).labelled()).train
    folds = outer_folds(train, 5, 0)
    sides = (train.select(rows) for rows in (folds != arguments.fold, folds == arguments.fold))
    (trial,), _ = settle([Trial(*sides, Corpus())])
    rows, measures = [], []
    for title, parameters in variants(arguments.embeddings):
        start = time.perf_counter()
        model = FunnelParameters(random_state=0, n_jobs=arguments.jobs, **parameters)
        average = evaluate_classifier(Method(FUNNEL, model).fit(trial.train), trial.test)["average"]
        seconds = f"{time.perf_counter() - start:.0f}"
        measures = paper_measures(average)
        rows.append([title, *(number(average[measure]) for measure in measures), seconds])
        print(*rows[-1], flush=True)
    print(plain(Table(["variant", *(MEASURES[measure].title for measure in measures), "s"], rows)))


def variants(embeddings: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    resources = {"embeddings": embeddings}
    yield "fun-tat, the paper's", {"views": None}
    alone = [[view] for view in (*VIEWS, *(["embeddings"] if embeddings else []))]
    for views in (*alone, *TOGETHER):
        for final, name in (("odds", "odds"), ("svm", "SVM")):
            yield f"{' + '.join(views)}, {name}", {"views": views, "final_estimator": final, **resources}
    for shortest, longest, latin in RUNS:
        space = CharacterSpace(shortest, longest=longest, latin=latin)
        title = f"runs of {shortest} to {longest}, {'Latin' if latin else 'own script'}, odds"
        yield title, {"views": [space], "final_estimator": "odds"}


if __name__ == "__main__":
    main()
