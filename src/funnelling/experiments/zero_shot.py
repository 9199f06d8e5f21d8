"""Languages without training documents, while languages are added one by one (the paper's Figure 4).

The zero-shot funnel learns from the first one, two, three … languages in alphabetical order, and all test
documents are labelled: below the diagonal languages that were learned from, above it those that were not.
"""

from typing import Any

import numpy as np

from funnelling.evaluation.comparison import fit_method
from funnelling.evaluation.measures import MEASURES, measure_languages
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.splits import Trial, learnable
from funnelling.experiments.setting import Setting
from funnelling.report.content import HeatMap, Section
from funnelling.report.tables import MEASURE_TITLES


def run(setting: Setting) -> Result:
    """By measure: a row for each number of languages learned from, a column for each language."""
    trials = []
    languages: list[str] = []
    for number, C in enumerate(setting.meta_cs()):
        trial = setting.trials[number]
        languages = sorted(set(trial.train.by_language()) & set(trial.test.by_language()))
        trials.append(
            [
                setting.piece(
                    f"zero-shot-{count}",
                    number,
                    [C, setting.marks.get("fun-zero-shot")],
                    _learned_from,
                    setting,
                    trial,
                    number,
                    C,
                    languages[:count],
                )
                for count in range(1, len(languages) + 1)
            ]
        )
    return {
        "languages": languages,
        "scores": {
            measure: np.mean(
                [[[row[tag][measure] for tag in languages] for row in rows] for rows in trials], axis=0
            ).tolist()
            for measure in MEASURES
        },
    }


def _learned_from(setting: Setting, trial: Trial, number: int, C: float, languages: list[str]) -> Result:
    """The measures of every language's test documents, over the labels of all training documents."""
    train = trial.train.select([tag in languages for tag in trial.train.languages])
    classes = trial.train.label_set()
    decided = np.zeros((len(trial.test), len(classes)), dtype=bool)
    if learnable(train):
        method: Any = fit_method(setting.make("fun-zero-shot", setting.seed + number, meta_C=C), train)
        columns = [classes.index(str(label)) for label in method.classes_]
        decided[:, columns] = method.predict(trial.test.texts, languages=trial.test.languages)
    measured = measure_languages(trial.test.label_matrix(classes), decided, trial.test.languages)
    return dict(measured["languages"])


def section(result: Result) -> Section:
    """What a report says of it."""
    return Section(
        "zero-shot",
        "Languages without training documents",
        [
            "Fun(zero-shot) learns from the languages down to a row, in alphabetical order; each cell is its "
            "score on the test documents of the column's language. On and below the diagonal the language "
            "was learned from. In the paper every added language helps those still unseen, not those already "
            f"seen. {_told(result)}",
        ],
        [_figure(measure, result) for measure in MEASURES],
    )


def _told(result: Result) -> str:
    """How unseen and seen languages fare as others are added."""
    scores = np.array(result["scores"]["micro_f1"])
    n = len(scores)
    if n < 3:
        return ""
    unseen = [
        scores[row, column] - scores[row - 1, column] for column in range(n) for row in range(1, column)
    ]
    seen = [
        scores[row, column] - scores[row - 1, column] for column in range(n) for row in range(column + 1, n)
    ]
    told = [
        f"each language added changes the micro-F1 of {kind} ones by {np.mean(steps):+.4f} in the mean "
        f"(up in {np.mean(np.array(steps) > 0):.0%} of the cases)"
        for kind, steps in (("unseen", unseen), ("seen", seen))
        if steps
    ]
    return f"Here {'; '.join(told)}."


def _figure(measure: str, result: Result) -> HeatMap:
    languages = result["languages"]
    values = result["scores"][measure]
    return HeatMap(
        f"zero-shot-{measure.replace('_', '-')}",
        f"{MEASURE_TITLES[measure]} as languages are added",
        f"{MEASURE_TITLES[measure]} on each language's test documents (columns) as training languages are "
        f"added (rows): {values[0][-1]:.3f} on {languages[-1]} from {languages[0]} alone, "
        + (f"{values[-2][-1]:.3f} from all others, " if len(values) > 1 else "")
        + f"{values[-1][-1]:.3f} with its own.",
        "learned from",
        "labelled",
        [f"{'' if not row else '+ '}{tag}" for row, tag in enumerate(languages)],
        languages,
        values,
    )
