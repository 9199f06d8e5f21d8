"""Languages without training documents, while languages are added one by one (the paper's Figure 4).

The zero-shot funnel learns from the first one, two, three … languages in alphabetical order, and all test
documents are labelled: below the diagonal languages that were learned from, above it those that were not.
"""

from typing import Any

import numpy as np

from funnelling.evaluation.language_averages import measure_languages
from funnelling.evaluation.registry import MEASURES
from funnelling.report.content import HeatMap, Section
from funnelling.reproduction.experiments.decisions import decisions_of
from funnelling.reproduction.experiments.improvement import mean_of_known
from funnelling.reproduction.experiments.setting import Setting
from funnelling.trials.fitting import fit_method
from funnelling.trials.measuring import servable
from funnelling.trials.pieces import Result
from funnelling.trials.splits import learnable


def run(setting: Setting) -> Result:
    """By measure: one row per number of training languages, one column per language."""
    languages = setting.languages
    mark = setting.marks.get("fun-zero-shot")
    trials = [
        [
            setting.piece(
                f"zero-shot-{count}", number, [C, mark], _measure_with, setting, number, C, languages[:count]
            )
            for count in range(1, len(languages) + 1)
        ]
        for number, C in enumerate(setting.meta_cs())
    ]
    return {
        "languages": languages,
        "scores": {
            measure: [
                [mean_of_known([rows[row].get(tag, {}).get(measure) for rows in trials]) for tag in languages]
                for row in range(len(languages))
            ]
            for measure in setting.measures
        },
    }


def _measure_with(setting: Setting, number: int, C: float, languages: list[str]) -> Result:
    """The measures of the test documents of every language that can be labelled, over all labels."""
    trial = setting.trials[number]
    train = trial.train.select([tag in languages for tag in trial.train.languages])
    classes = trial.train.label_set()
    if not learnable(train):
        return {}
    tier_two = {} if "meta_C" in setting.settings.get("fun-zero-shot", {}) else {"meta_C": C}
    method: Any = fit_method(setting.make("fun-zero-shot", setting.seed + number, **tier_two), train)
    test = trial.test.select(servable(trial.test, method))
    decisions = decisions_of(method, test, classes)
    truth = test.label_matrix(classes)
    return dict(measure_languages(truth, decisions, test.languages, setting.one_label)["languages"])


def section(result: Result) -> Section:
    """What a report says of it."""
    return Section(
        "zero-shot",
        "Languages without training documents",
        [
            "Fun(zero-shot) learns from the languages down to a row, in alphabetical order; each cell is its "
            "score on the test documents of the column's language. On and below the diagonal the language "
            "was learned from. In the paper every added language helps those still unseen, not those already "
            f"seen. {_finding(result)}",
        ],
        [_figure(measure, result) for measure in result["scores"]],
    )


def _finding(result: Result) -> str:
    """How unseen and seen languages fare as others are added."""
    scores = np.array(result["scores"]["micro_f1"], dtype=float)
    steps = np.diff(scores, axis=0)  # what the language of row r + 1 brings to that of the column
    row, column = np.indices(steps.shape)
    changes = []
    for kind, which in (("unseen", column > row + 1), ("seen", column <= row)):
        known = steps[which & np.isfinite(steps)]
        if len(known):
            changes.append(
                f"each language added changes the micro-F1 of {kind} ones by {known.mean():+.4f} in the mean "
                f"(up in {(known > 0).mean():.0%} of the cases)"
            )
    return f"Here {'; '.join(changes)}." if changes else ""


def _figure(measure: str, result: Result) -> HeatMap:
    languages = result["languages"]
    values = result["scores"][measure]
    return HeatMap(
        f"zero-shot-{measure.replace('_', '-')}",
        f"{MEASURES[measure].title} as languages are added",
        f"{MEASURES[measure].title} on each language's test documents (columns) as training languages are "
        "added (rows).",
        "learned from",
        "labelled",
        [f"{'' if not row else '+ '}{tag}" for row, tag in enumerate(languages)],
        languages,
        values,
    )
