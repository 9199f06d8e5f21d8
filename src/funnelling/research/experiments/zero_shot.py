"""Languages without training documents, while languages are added one by one (the paper's Figure 4).

The zero-shot funnel learns from the first one, two, three … languages in alphabetical order, and all test
documents are labelled: below the diagonal languages that were learned from, above it those that were not.
Variants of a language are added with it, as ``--hold-out`` takes them away with it: once Portuguese is
learned, Brazilian documents are labelled by its classifiers.
"""

from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.evaluation.measuring import supported_documents
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import MEASURES, measure_languages
from funnelling.evaluation.splits import learnable
from funnelling.methods.registry import method_of, title
from funnelling.report.content import HeatMap, Section, TableBlock
from funnelling.report.tables import Table, number
from funnelling.research.experiments.setting import ExperimentContext
from funnelling.research.experiments.tables import decisions_of, mean_of_known
from funnelling.text.languages import primary

METHOD = "fun-zero-shot"


def run_zero_shot(setting: ExperimentContext) -> Result:
    """By method and measure: one row per number of training languages, one column per language.

    The methods are `METHOD` and its variants, those that the tables show.
    """
    methods = [name for name in setting.methods if method_of(name) == METHOD] or [METHOD]
    steps = [list(variants) for _, variants in groupby(sorted(setting.languages, key=primary), primary)]
    return {
        "languages": [tag for tags in steps for tag in tags],
        "steps": steps,
        "trials": len(setting.trials),
        "methods": {name: _scores(setting, name, steps) for name in methods},
    }


def _scores(setting: ExperimentContext, name: str, steps: Sequence[list[str]]) -> dict[str, Any]:
    """One method's measures, averaged over trials."""
    learned = list(accumulate(steps))
    languages = learned[-1]
    trials = [
        [
            setting.piece(
                f"{name}-{len(tags)}",
                number,
                [setting.marks.get(name), tags],
                _measure_with,
                setting,
                name,
                number,
                tags,
            )
            for tags in learned
        ]
        for number in range(len(setting.trials))
    ]
    return {
        measure: [
            [mean_of_known([rows[row].get(tag, {}).get(measure) for rows in trials]) for tag in languages]
            for row in range(len(steps))
        ]
        for measure in setting.measures
    }


def _measure_with(setting: ExperimentContext, name: str, number: int, languages: list[str]) -> Result:
    """The measures of the test documents of every language that can be labelled, over all labels."""
    trial = setting.trials[number]
    train = trial.train.select([tag in languages for tag in trial.train.languages])
    classes = trial.train.label_set()
    if not learnable(train):
        return {}
    model = setting.make(name, setting.seed + number).fit(train)
    test = trial.test.select(supported_documents(trial.test, model))
    decisions = decisions_of(model, test, classes)
    truth = test.label_matrix(classes)
    return dict(measure_languages(truth, decisions, test.languages, setting.one_label)["languages"])


def zero_shot_section(result: Result) -> Section:
    """What a report says of it."""
    several = len(result["methods"]) > 1
    return Section(
        "zero-shot",
        "Languages without training documents",
        [
            "Fun(zero-shot) learns from the languages down to a row, in alphabetical order, each with its "
            "variants, and chooses its C from them alone; a cell is its score on the test documents of the "
            "column's language. On and below the diagonal the language was learned from. In the paper, whose "
            "funnel has one tier 2 for both kinds of posteriors and word vectors (zero_shot_joint), added "
            "languages help those still unseen, and do not clearly help those already seen.",
            *filter(None, (_finding(name, result) for name in result["methods"])),
        ],
        [
            _means(result),
            *(
                _figure(name, measure, result, several)
                for name, scores in result["methods"].items()
                for measure in scores
            ),
        ],
    )


def _means(result: Result) -> TableBlock:
    """The methods beside each other, over the cells that all of them fill."""
    scores = {
        name: np.array(list(by_measure.values()), dtype=float)  # measures × rows × languages
        for name, by_measure in result["methods"].items()
    }
    filled = np.isfinite(list(scores.values())).all(axis=(0, 1))
    learned_at = _rows_of_languages(result["steps"])
    unseen = learned_at > np.arange(len(result["steps"]))[:, None]
    rows = [
        [title(name), kind, str(which.sum()), *(number(mean) for mean in cells[:, which].mean(axis=1))]
        for kind, which in (("unseen", unseen & filled), ("seen", ~unseen & filled))
        if which.any()
        for name, cells in scores.items()
    ]
    measures = next(iter(result["methods"].values()))
    return TableBlock(
        "zero-shot",
        "Means over the cells of the figures",
        Table(["method", "languages", "cells", *(MEASURES[measure].title for measure in measures)], rows),
        ["Cells of languages that every method can label; on and below the diagonal a language is seen"],
    )


def _finding(name: str, result: Result) -> str:
    """How unseen and seen languages fare as others are added."""
    scores = np.array(result["methods"][name]["micro_f1"], dtype=float)
    changes = np.diff(scores, axis=0)  # what the languages of row r + 1 bring to that of the column
    row = np.arange(len(changes))[:, None]
    learned_at = _rows_of_languages(result["steps"])
    texts = []
    for kind, which in (("unseen", learned_at > row + 1), ("seen", learned_at <= row)):
        known = changes[which & np.isfinite(changes)]
        if len(known):
            texts.append(
                f"each language added changes the micro-F1 of {kind} ones by {known.mean():+.4f} in the mean "
                f"(up in {(known > 0).sum()} of {len(known)} cells)"
            )
    trials = "one trial" if result["trials"] == 1 else f"the mean of {result['trials']} trials"
    return f"{title(name)}, {trials}: {'; '.join(texts)}." if texts else ""


def _rows_of_languages(steps: Sequence[Sequence[str]]) -> npt.NDArray[np.intp]:
    """The row from which on each language, one per column, is learned from."""
    return np.repeat(np.arange(len(steps)), [len(tags) for tags in steps])


def _figure(name: str, measure: str, result: Result, several: bool) -> HeatMap:
    file_name = f"{name.replace(':', '-')}-{measure}" if several else f"zero-shot-{measure}"
    return HeatMap(
        file_name.replace("_", "-"),
        f"{title(name)}: {MEASURES[measure].title} as languages are added",
        f"{MEASURES[measure].title} on each language's test documents (columns) as training languages are "
        "added (rows).",
        "learned from",
        "labelled",
        [f"{'' if not row else '+ '}{', '.join(tags)}" for row, tags in enumerate(result["steps"])],
        result["languages"],
        result["methods"][name][measure],
    )
