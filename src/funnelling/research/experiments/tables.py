"""The main table, Tables 5 and 6, and Figure 2."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.evaluation.comparison import summarise_trials
from funnelling.evaluation.measuring import as_indicators
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES
from funnelling.evaluation.significance import NOT_COMPARED
from funnelling.matrices import Targets
from funnelling.methods.registry import title
from funnelling.report.comparison import comparison_blocks, pairs_blocks
from funnelling.report.content import Bars, Section, TableBlock
from funnelling.report.measures import comparison_table, notes
from funnelling.report.tables import Table
from funnelling.research.experiments import paper
from funnelling.research.experiments.paper import compare_with_paper
from funnelling.research.experiments.setting import ExperimentContext

if TYPE_CHECKING:
    from funnelling.methods.model import Model


def run_methods(setting: ExperimentContext) -> Result:
    """Every method on every trial."""
    result = setting.compare(setting.methods).run()
    return {**result, "like": paper.like(setting.trials[0])}


def methods_section(result: Result) -> Section:
    """What a report says of it."""
    return Section(
        "methods",
        "All methods",
        [
            "Each cell is the mean over languages and trials; ± is the deviation over trials. Pooled is not "
            "in the paper: one vocabulary for all languages, a strong rival where they share words.",
        ],
        [
            *comparison_blocks(result),
            *compare_with_paper("methods-paper", result, paper.METHODS),
        ],
    )


def improvement(value: float, baseline: float) -> float | None:
    """In per cent of the baseline; None where that is nothing.

    >>> improvement(0.75, 0.5), improvement(0.5, 0)
    (50.0, None)
    """
    return 100 * (value - baseline) / baseline if baseline > 0 else None


def mean_of_known(values: Sequence[float | None]) -> float | None:
    """The mean of the values that exist; None where none does.

    >>> mean_of_known([1.0, None, 3.0]), mean_of_known([None])
    (2.0, None)
    """
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def decisions_of(model: "Model", test: Corpus, classes: Sequence[str]) -> Targets:
    """A method's decisions on test documents, one column per class; it rejects what it never learned."""
    decisions = np.zeros((len(test), len(classes)), dtype=bool)
    columns = [classes.index(str(label)) for label in model.labels.classes]
    decisions[:, columns] = as_indicators(model, model.predict(test.texts, languages=test.languages))
    return decisions


CALIBRATION_VARIANTS = {"NoProb": {"calibration": "none"}, "NoCalib": {"calibration": "fixed"}}
METHOD_TITLES = {"fun-tat": "Calib"}


def run_calibration(setting: ExperimentContext) -> Result:
    """Naive, and Fun(TAT) with tier 1's scores as they are, squashed, and calibrated."""
    if "calibration" in setting.settings.get("fun-tat", {}):
        raise InputError("calibration is what this experiment varies. Drop --set fun-tat.calibration.")
    result = setting.compare(["naive", "fun-tat"], **CALIBRATION_VARIANTS).run()
    order = ("naive", "NoProb", "NoCalib", "fun-tat")
    methods = {name: result["methods"][name] for name in order}
    return {**result, "methods": methods, "like": paper.like(setting.trials[0])}


def calibration_section(result: Result) -> Section:
    """What a report says of it."""
    scores = {name: method["average"] for name, method in result["methods"].items()}
    table = comparison_table(result, paper=True)
    name = METHOD_TITLES["fun-tat"]
    rows = [[name, *cells[1:]] if cells[0] == title("fun-tat") else cells for cells in table.rows]
    order = sorted(scores, key=lambda name: -sum(scores[name][measure] for measure in PAPER_MEASURES))
    return Section(
        "calibration",
        "Can we do without calibration?",
        [
            "Tier 2 fed with tier 1's scores as they are (NoProb), with scores squashed by a fixed logistic "
            "function (NoCalib), and with calibrated posteriors (Calib, which is Fun(TAT)). Each chooses its "
            "own C. In the paper Calib is always best and NoCalib below NoProb. Here, by the mean of the "
            "four measures: "
            f"{' > '.join(METHOD_TITLES.get(name) or title(name) for name in order)}.",
        ],
        [
            TableBlock(
                "calibration",
                "Calibrations of Fun(TAT)",
                table._replace(rows=rows),
                notes(result, paper=True),
            ),
            *pairs_blocks("calibration-significance", result, METHOD_TITLES),
            *compare_with_paper("calibration-paper", result, paper.CALIBRATION, METHOD_TITLES),
        ],
    )


def run_efficiency(setting: ExperimentContext) -> Result:
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
        reported = [f"{value:,}" for value in theirs[name]] if name in theirs else ["", ""]
        rows.append([title(name), _shown(sides["fit"]), _shown(sides["predict"]), *reported])
    names = list(seconds)
    rivals = [name for name in names if name not in NOT_COMPARED] or names
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


def run_per_language(setting: ExperimentContext) -> Result:
    """Improvement over Naive in per cent, by measure, method and language, averaged over trials.

    ``above`` has, for each method, in how many of how many pairs of language and measure it is above Naive.
    """
    rivals = [name for name in setting.methods if name not in ("naive", *NOT_COMPARED)]
    if not rivals:
        raise InputError("per-language compares methods with Naive, and there is no other. Add to --methods.")
    by_method = setting.compare(["naive", *rivals]).results()[0]
    methods = {name: summarise_trials(results) for name, results in by_method.items()}
    if "naive" not in methods:
        raise InputError(
            "per-language compares with Naive, which can label no language of the test documents. "
            "Add training documents in them."
        )
    naive = methods.pop("naive")["languages"]
    gains = {
        name: [
            values[m] - naive[tag][m] for tag, values in method["languages"].items() for m in setting.measures
        ]
        for name, method in methods.items()
    }
    return {
        "improvements": {
            measure: {
                name: {
                    language: improvement(values[measure], naive[language][measure])
                    for language, values in method["languages"].items()
                }
                for name, method in methods.items()
            }
            for measure in setting.measures
        },
        "above": {name: [sum(gain > 0 for gain in values), len(values)] for name, values in gains.items()},
    }


def per_language_section(result: Result) -> Section:
    """What a report says of it."""
    above = ", ".join(f"{title(name)} {number} of {of}" for name, (number, of) in result["above"].items())
    return Section(
        "per-language",
        "Which languages gain",
        [
            "Improvement over Naive, one classifier per language, in per cent. In the paper the two funnels "
            "are the only methods above Naive in every language. Here, of all pairs of language and measure, "
            f"above Naive: {above}.",
        ],
        [_figure(measure, methods) for measure, methods in result["improvements"].items()],
    )


def _figure(measure: str, methods: Result) -> Bars:
    languages = list(next(iter(methods.values())))
    return Bars(
        f"per-language-{measure.replace('_', '-')}",
        f"{MEASURES[measure].title}: improvement over Naive",
        f"Improvement over Naive in {MEASURES[measure].title}, per cent, for each language and method. "
        f"{_extremes(methods)}",
        languages,
        {title(name): [values[tag] for tag in languages] for name, values in methods.items()},
        "% over Naive",
        "language",
    )


def _extremes(methods: Result) -> str:
    improvements = [
        (value, f"{title(name)} on {tag}")
        for name, values in methods.items()
        for tag, value in values.items()
        if value is not None
    ]
    if not improvements:
        return ""
    (least, loser), (most, winner) = min(improvements), max(improvements)
    return f"Most: {most:+.1f} by {winner}. Least: {least:+.1f} by {loser}."
