"""The main table, Tables 5 and 6, Figure 2, and Table 2's columns A to D.

Of Table 2, A is Naive and D is Fun(TAT). B is Fun(TAT) with a tier 2 for each language, which sees all labels
and no other language. C has a tier 2 for each label, which sees all languages and no other label. The base
classifiers of B, C and D are the same ones, so only tier 2 is fitted; each chooses a C of its own, as the
paper does for each of its runs.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.evaluation.comparison import summarise_methods, summarise_trials
from funnelling.evaluation.measures import ALL_LABELS, Counts
from funnelling.evaluation.measuring import as_indicators
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES, averaged, paper_measures
from funnelling.evaluation.significance import NOT_COMPARED
from funnelling.matrices import Floats, Targets
from funnelling.methods.registry import title
from funnelling.report.comparison import comparison_blocks, pairs_blocks
from funnelling.report.content import Bars, Section, TableBlock
from funnelling.report.measures import comparison_table, dagger_notes, notes, score_cell
from funnelling.report.tables import Table, number
from funnelling.research.experiments import paper
from funnelling.research.experiments.funnels import Funnels
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
    scores = {name: method["average"] for name, method in result["methods"].items()}
    return Section(
        "methods",
        "All methods",
        [
            "Each cell is the mean over languages and trials; ± is the deviation over trials. Pooled is not "
            "in the paper: one vocabulary for all languages, a strong rival where they share words.",
        ],
        [
            *comparison_blocks(result),
            *compare_with_paper("methods-paper", scores, paper.METHODS[result["like"]], result["like"]),
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
    table = comparison_table(result)
    rows = [
        [METHOD_TITLES["fun-tat"], *cells[1:]] if cells[0] == "Fun(TAT)" else cells for cells in table.rows
    ]
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
            TableBlock("calibration", "Calibrations of Fun(TAT)", table._replace(rows=rows), notes(result)),
            *pairs_blocks("calibration-significance", result, METHOD_TITLES),
            *compare_with_paper(
                "calibration-paper", scores, paper.CALIBRATION[result["like"]], result["like"], METHOD_TITLES
            ),
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


COLUMN_TITLES = {
    "A": "A: Naive",
    "B": "B: all labels, one language",
    "C": "C: one label, all languages",
    "D": "D: all labels, all languages",
}
LABELS_PER_BLOCK = 16  # labels per piece
# Where the ranges of numbers of training documents, of a label in a language, begin.
EXAMPLE_RANGES = (0, 1, 4, 11, 31, 101)


def run_mono_binary(setting: ExperimentContext) -> Result:
    """The four columns, over all trials."""
    by_method, floor, _ = setting.compare(["naive", "fun-tat"]).results()
    columns: dict[str, list[Result]] = {"A": by_method["naive"], "B": [], "C": [], "D": by_method["fun-tat"]}
    by_examples = {name: np.zeros((len(EXAMPLE_RANGES), 3), dtype=int) for name in "BCD"}
    for trial, C in enumerate(setting.meta_cs()):
        funnels = setting.funnels(trial)
        monolingual = {
            tag: setting.piece(f"monolingual-{tag}", trial, None, _monolingual, funnels, tag)
            for tag in setting.languages
        }
        size = len(funnels.classes) if setting.one_label else LABELS_PER_BLOCK  # one label is chosen from all
        blocks = [
            setting.piece(f"binary-{start}", trial, size, _binary, funnels, start, size)
            for start in range(0, len(funnels.classes), size)
        ]
        binary = {tag: _joined([block[tag] for block in blocks]) for tag in setting.languages}
        multilingual = setting.piece("multilingual", trial, C, _multilingual, funnels, setting.languages)
        columns["B"].append(_measures(funnels, monolingual))
        columns["C"].append(_measures(funnels, binary))
        for name, counts in zip("BCD", (monolingual, binary, multilingual), strict=True):
            by_examples[name] += _sums_by_examples(funnels, counts)
    plain = {
        name: [{key: result[key] for key in ("average", "languages")} for result in results]
        for name, results in columns.items()
    }
    return {
        **summarise_methods(plain, floor),
        "by_examples": {name: sums.tolist() for name, sums in by_examples.items()},
        "like": paper.like(setting.trials[0]),
    }


def _monolingual(funnels: Funnels, language: str) -> Result:
    base = funnels.base(language)
    return _as_lists(funnels.counts(base.truth, funnels.own_tier_two([base]).scores(base.test)))


def _multilingual(funnels: Funnels, languages: Sequence[str]) -> Result:
    tier_two = funnels.tier_two(dict.fromkeys(funnels.languages, 1.0))
    return {tag: _as_lists(tier_two.counts(tag)) for tag in languages}


def _binary(funnels: Funnels, start: int, size: int) -> Result:
    """Tier 2 of each label of a block over that label's posteriors alone; counts by language."""
    bases = {language: funnels.base(language) for language in funnels.languages}
    learned = next(iter(bases.values())).targets.shape[1]
    scores: dict[str, list[Floats]] = {language: [] for language, base in bases.items() if len(base.test)}
    for label in range(start, min(start + size, learned)):
        column = slice(label, label + 1)
        scorer = funnels.own_tier_two(list(bases.values()), column)
        for language, columns in scores.items():
            columns.append(scorer.scores(bases[language].test[:, column]))
    shown = ALL_LABELS if funnels.labels.single_label else slice(start, start + size)
    return {
        language: _as_lists(funnels.counts(bases[language].truth[:, shown], np.hstack(columns)))
        for language, columns in scores.items()
    }


def _as_lists(counts: Counts) -> Result:
    return {name: getattr(counts, name).tolist() for name in ("tp", "fp", "fn", "tn")}


def _joined(blocks: Sequence[Result]) -> Result:
    """The counts of several blocks of labels, one after the other."""
    return {name: [value for block in blocks for value in block[name]] for name in blocks[0]}


def _sums_by_examples(funnels: Funnels, by_language: dict[str, Result]) -> npt.NDArray[np.int_]:
    """True and false positives and false negatives, by how many training documents the language has."""
    sums = np.zeros((len(EXAMPLE_RANGES), 3), dtype=int)
    for language, counts in by_language.items():
        examples = funnels.documents(language).label_matrix(funnels.classes).sum(axis=0)
        place = np.searchsorted(EXAMPLE_RANGES, examples, side="right") - 1
        for column, name in enumerate(("tp", "fp", "fn")):
            np.add.at(sums[:, column], place, np.array(counts[name])[: len(place)])
    return sums


def _measures(funnels: Funnels, by_language: dict[str, Result]) -> Result:
    languages: dict[str, dict[str, float]] = {}
    for language, counts in by_language.items():
        arrays = Counts(**{name: np.array(values) for name, values in counts.items()})
        languages[language] = {**funnels.measure(arrays), "documents": int(arrays.documents)}
    return dict(averaged(languages))


def mono_binary_section(result: Result) -> Section:
    """What a report says of it."""
    rows: list[list[str]] = []
    best = []
    for measure, tests in result["significance"].items():
        cells = [MEASURES[measure].title]
        for name in result["methods"]:
            if tests["best"] == name:
                best.append((len(rows), len(cells)))
            cells.append(score_cell(result, name, measure))
        rows.append(cells)
    scores = {name: column["average"] for name, column in result["methods"].items()}
    return Section(
        "mono-binary",
        "Other labels, or other languages?",
        [
            "B may only learn from other labels, C only from other languages, D from both; each "
            "meta-classifier chooses its own C. In the paper both help, and the other languages help more: B "
            "is below C, and D almost always above both (C has .002 more micro-F1 on JRC-Acquis).",
            _finding(scores),
        ],
        [
            TableBlock(
                "mono-binary",
                "Columns A to D",
                Table(["measure", *COLUMN_TITLES.values()], rows, best=best),
                dagger_notes(result),
            ),
            *pairs_blocks("mono-binary-significance", result, COLUMN_TITLES),
            _examples_table(result["by_examples"]),
            *compare_with_paper(
                "mono-binary-paper", scores, paper.MONO_BINARY[result["like"]], result["like"], COLUMN_TITLES
            ),
        ],
    )


def _examples_table(by_examples: Result) -> TableBlock:
    """How columns B to D decide on labels that the language has few documents of, and many."""
    ends = [*(f" to {start - 1}" for start in EXAMPLE_RANGES[1:]), " and more"]
    rows = []
    for row, (start, end) in enumerate(zip(EXAMPLE_RANGES, ends, strict=True)):
        tp, _, fn = by_examples["D"][row]
        cells = ["none" if start == 0 else f"{start}{end}", f"{tp + fn:,}"]
        for sums in by_examples.values():
            tp, fp, fn = sums[row]
            cells += [number(right / of) if of else "" for right, of in ((tp, tp + fp), (tp, tp + fn))]
        rows.append(cells)
    return TableBlock(
        "mono-binary-examples",
        "By the training documents of a label in the language",
        Table(
            ["training documents", "labels", *["precision", "recall"] * len(by_examples)],
            rows,
            [("true", 1), *((COLUMN_TITLES[name], 2) for name in by_examples)],
        ),
        ["All languages and trials together; true labels are those of the test documents."],
    )


def _finding(scores: Result) -> str:
    measures = paper_measures(scores["A"])
    higher = {
        (a, b): sum(scores[a][m] > scores[b][m] for m in measures) for a, b in ("BA", "CA", "CB", "DB", "DC")
    }
    comparisons = [
        f"{a} is above {b} on {number} of {len(measures)} measures" for (a, b), number in higher.items()
    ]
    return f"Here {', '.join(comparisons)}."
