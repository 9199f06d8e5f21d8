"""How long training and testing take (the paper's Table 6)."""

import numpy as np

from funnelling.evaluation.pieces import Result
from funnelling.evaluation.significance import NO_RIVALS
from funnelling.methods.registry import title
from funnelling.report.content import Section, TableBlock
from funnelling.report.tables import Table
from funnelling.reproduction.experiments import paper
from funnelling.reproduction.experiments.setting import Setting


def run_efficiency(setting: Setting) -> Result:
    """Seconds of every method, trial by trial, as clocked when it was fitted and measured."""
    results_by_method = setting.compare(setting.methods).results()[0]
    return {
        "seconds": {
            name: {side: [result[f"{side}_seconds"] for result in results] for side in ("fit", "predict")}
            for name, results in results_by_method.items()
        },
        "like": paper.like(setting.trials[0]),
    }


def efficiency_section(result: Result) -> Section:
    """What a report says of it."""
    theirs, seconds = paper.EFFICIENCY[result["like"]], result["seconds"]
    rows = []
    for name, sides in seconds.items():
        fit, predict = theirs.get(name, (None, None))
        cells = [_shown(sides["fit"]), _shown(sides["predict"])]
        rows.append(
            [
                title(name),
                *cells,
                "" if fit is None else f"{fit:,}",
                "" if predict is None else f"{predict:,}",
            ]
        )
    names = list(seconds)
    rivals = [name for name in names if name not in NO_RIVALS] or names
    best = []
    for column, side in ((1, "fit"), (2, "predict")):
        means = {name: np.mean(seconds[name][side]) for name in rivals}
        best.append((names.index(min(means, key=lambda name: means[name])), column))
    table = Table(
        ["method", "train", "test", "train", "test"],
        rows,
        [("here", 2), (f"paper, {result['like']}", 2)],
        best,
    )
    return Section(
        "efficiency",
        "How long it takes",
        [
            "Seconds per trial, with the choice of C where a method has one, and with what makes "
            "probabilities of scores, which the paper's baselines do not have (for DCI five further fits); "
            "reducing words to lemmas, which is done once for all methods, is not counted. The paper's "
            "figures are for its own corpus on twelve cores of 2013 (MLE-LSTM on a GPU). There Fun(TAT) is "
            "among the fastest, an order of magnitude faster than LRI."
        ],
        [TableBlock("efficiency", "Seconds of training and testing", table)],
    )


def _shown(seconds: list[float]) -> str:
    text = f"{np.mean(seconds):,.1f}"
    return f"{text} ± {np.std(seconds, ddof=1):,.1f}" if len(seconds) > 1 else text
