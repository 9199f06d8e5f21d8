"""Table 2: what other labels bring to tier 2, and what other languages bring.

Of its columns, A is Naive and D is Fun(TAT). B is Fun(TAT) with a tier 2 for each language, which sees all
labels and no other language. C has a tier 2 for each label, which sees all languages and no other label. The
base classifiers of B, C and D are the same ones, so only tier 2 is fitted; each chooses a C of its own, as
the paper does for each of its runs.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from funnelling.evaluation.comparison import summarise_methods
from funnelling.evaluation.measures import ALL_LABELS, Counts
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import MEASURES, averaged, paper_measures
from funnelling.matrices import Floats
from funnelling.report.comparison import pairs_blocks
from funnelling.report.content import Section, TableBlock
from funnelling.report.measures import dagger_notes, score_cell
from funnelling.report.tables import Table, number
from funnelling.research.experiments import paper
from funnelling.research.experiments.setting import ExperimentContext, Funnels

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
    for measure, best_method in result["best"].items():
        cells = [MEASURES[measure].title]
        for name in result["methods"]:
            if best_method == name:
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
            *paper.compare_with_paper("mono-binary-paper", result, paper.MONO_BINARY, COLUMN_TITLES),
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
