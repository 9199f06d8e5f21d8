"""How near tuned thresholds come to the recall and the precision that were asked for, on test rows.

Each file's model is trained once (several labels per document), then tuned for one goal after the other:
``python benchmarks/tuning.py FILE … --models FOLDER``. A model that is in the folder is taken as it is.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from funnelling import FunnellingClassifier, load_model
from funnelling.commands.sources import read_sides
from funnelling.commands.train import Train
from funnelling.corpus.corpus import label_matrix

GOALS = ("recall=.8", "precision=.8")


def shares(truth: Any, decided: Any) -> dict[str, float]:
    """Precision and recall of all labels together, nothing given being wholly right."""
    hits = np.count_nonzero(truth & decided)
    return {
        "precision": hits / max(1, np.count_nonzero(decided)),
        "recall": hits / max(1, np.count_nonzero(truth)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--models", type=Path, required=True, help="folder of the models")
    parser.add_argument("--goals", nargs="+", default=GOALS)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    print("file, goal: held-out precision, recall | test precision, recall; mean over languages | seconds")
    for data in arguments.data:
        name = data.name.partition(".")[0]
        folder = arguments.models / name
        if not folder.exists():
            method = FunnellingClassifier(random_state=0, n_jobs=arguments.jobs)
            Train(data=data, output=folder, method=method, one_label=False).run()
        test = read_sides(data)[0].test
        model = load_model(folder)
        truth = label_matrix(test.y, model.classes_.tolist()).astype(bool)
        _, probabilities = model.model_.classify(test.texts, languages=test.languages)
        tags = np.array(test.languages, dtype=object)
        for goal in arguments.goals:
            start = time.perf_counter()
            change = model.tune(goal)
            seconds = time.perf_counter() - start
            limits = {tag: model.thresholds_[tag] for tag in model.languages_}
            decided = probabilities > np.array([limits[tag] for tag in tags])
            whole = shares(truth, decided)
            each = [shares(truth[tags == tag], decided[tags == tag]) for tag in sorted(set(tags))]
            mean = {kind: np.mean([one[kind] for one in each]) for kind in whole}
            held_out = change.total()["after"]
            print(
                f"{name}, {goal}: {held_out['precision']:.3f} {held_out['recall']:.3f} | "
                f"{whole['precision']:.3f} {whole['recall']:.3f}; "
                f"{mean['precision']:.3f} {mean['recall']:.3f} | {seconds:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
