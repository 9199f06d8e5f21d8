"""Which views, combined how: an ablation on the training rows of a file alone.

    python benchmarks/views.py documents.jsonl.gz
    python benchmarks/views.py documents.jsonl.gz --fold 1 --embeddings vectors/

A fifth of the training rows is held out, everything is fitted on the others, and each variant is measured on
that fifth: each view alone, all but one, other combinations, no normalisation, posteriors by cross-validation
in place of those of the documents learned from, other gammas and Cs. Test rows are not read.
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from funnelling import FunnellingClassifier
from funnelling.corpus import read_corpus
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES
from funnelling.report.tables import Table, number, plain
from funnelling.trials.fitting import fit_method
from funnelling.trials.measuring import measure_method
from funnelling.trials.splits import outer_folds, sides_of

VIEWS = ["own", "pooled", "characters", "wce"]
BEST = ["pooled", "characters"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--fold", type=int, default=0, help="which of five outer folds is held out (0)")
    parser.add_argument("--embeddings", help="folder of word vectors, for one more view")
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    train = sides_of(read_corpus(arguments.data).labelled()).train
    folds = outer_folds(train, 5, 0)
    training, held_out = (train.select(rows) for rows in (folds != arguments.fold, folds == arguments.fold))
    rows = []
    for title, parameters in variants(arguments.embeddings):
        start = time.perf_counter()
        model = FunnellingClassifier(random_state=0, n_jobs=arguments.jobs, **parameters)
        fit_method(model, training)
        average = measure_method(model, held_out)["average"]
        seconds = f"{time.perf_counter() - start:.0f}"
        rows.append([title, *(number(average[measure]) for measure in PAPER_MEASURES), seconds])
        print(*rows[-1], flush=True)
    print(plain(Table(["variant", *(MEASURES[measure].title for measure in PAPER_MEASURES), "s"], rows)))


def variants(embeddings: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    views = [*VIEWS, *(["embeddings"] if embeddings else [])]
    resources = {"embeddings": embeddings}
    yield "fun-tat, the paper's", {"views": None}
    for view in views:
        yield view, {"views": [view], **resources}
    yield "lri", {"views": ["lri"]}
    yield " + ".join(views), {"views": views, **resources}
    for left_out in views:
        yield f"all but {left_out}", {"views": [view for view in views if view != left_out], **resources}
    yield "pooled + characters", {"views": BEST}
    for combine in ("concat", "stacked"):
        yield f"… {combine}", {"views": BEST, "combine": combine}
    yield "… not normalised", {"views": BEST, "normalise": False}
    yield "… posteriors by KFCV", {"views": BEST, "variant": "kfcv", "folds": 5}
    for gamma in (0.1, 0.3, 3.0):
        yield f"… gamma {gamma:g}", {"views": BEST, "meta_gamma": gamma}
    for C in np.geomspace(0.1, 100, 4).tolist():
        yield f"… C {C:g}", {"views": BEST, "meta_C": C}


if __name__ == "__main__":
    main()
