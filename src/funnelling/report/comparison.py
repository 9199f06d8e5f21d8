"""Methods against each other as a report shows them, and the facts of how a report came about."""

import os
import platform
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from funnelling.errors import counted, join_words
from funnelling.evaluation.pieces import this_machine
from funnelling.evaluation.registry import MEASURE_TITLES, main_measures, shown_measures
from funnelling.evaluation.significance import N_DRAWS, NOT_COMPARED
from funnelling.evaluation.splits import Trial
from funnelling.methods.registry import summary, title
from funnelling.report.content import Block, Curves, TableBlock
from funnelling.report.labels import confusion_blocks, reliability_curves
from funnelling.report.measures import (
    comparison_table,
    deviating,
    dummy_row,
    few_notes,
    notes,
    side_by_side,
    weighted_table,
)
from funnelling.report.tables import Table, number

BASELINE = "naive"
SIGNIFICANCE_LEVEL = 0.05
CONSTANTS = {"assigns_nothing": "assigning no label", "most_frequent": "always the most frequent label"}
MAX_ROWS_UNFOLDED = 15  # of pairs of methods that are not folded away
T_TEST_NOTE = (
    "p: a paired two-tailed t-test, as in the paper, over all pairs of a trial and a language (the paper "
    "does not say what it pairs). It takes them for independent. Where trials share test documents, or "
    "languages have versions of the same texts, as in a parallel corpus, they are not, and p is too small"
)
GROUPS_NOTE = (
    f"p over groups: the decisions of the two methods are swapped at random, {N_DRAWS - 1} times, and p is "
    "the share of draws that differ by as much, the true one included. All documents of a group are swapped "
    "together, in every language and trial, one without a group alone: it respects that dependence"
)
WEIGHTED_NOTE = "A language counts as much as it has test documents"
CHANCE_NOTE = "Among many pairs some p are small by chance: they are not corrected for the number of pairs"


def comparison_summary(result: Mapping[str, Any]) -> dict[str, str]:
    """The first questions about a comparison: which method is best, by how much, and where it is weakest."""
    methods = _rivals(result["methods"])
    ((constant, dummy),) = result["dummy"].items()
    averages = [dummy["average"], *(method["average"] for method in methods.values())]
    measure = main_measures(set.intersection(*map(set, averages)))[0]
    best, *others = sorted(methods, key=lambda name: -methods[name]["average"][measure])
    languages = methods[best]["languages"]
    documents = sum(values["documents"] for values in languages.values())

    def against(average: Mapping[str, float], name: str) -> str:
        """Whether the best method is above something else, and by how much."""
        ours, others = methods[best]["average"][measure], average[measure]
        return f"{'Yes' if ours > others else 'No'}: {number(ours)} against {number(others)} of {name}"

    other = BASELINE if BASELINE in others else others[0] if others else None
    return {
        "What was measured": f"{counted(len(methods), 'method')} on {counted(documents, 'test document')} in "
        f"{counted(len(languages), 'language')}, by {MEASURE_TITLES[measure]}",
        "Best method": title(best),
        f"Better than {'the baseline' if other in (None, BASELINE) else 'the others'}?": "Not compared"
        if other is None
        else against(methods[other]["average"], title(other)),
        "Better than a constant?": against(averages[0], CONSTANTS[constant]),
        **weakest_language(languages, measure),
    }


def methods_table(result: Mapping[str, Any], paper: bool = False) -> Table:
    """All methods of a comparison for a terminal, best first: measures, seconds of a fit, a few words.

    ``paper`` adds the paper's measures.
    """
    methods = result["methods"]
    dummy, constant = dummy_row(result)
    measures = shown_measures(
        set(constant).intersection(*(method["average"] for method in methods.values())), paper
    )
    rows = {
        name: [
            *(deviating(method, measure) for measure in measures),
            f"{method['fit_seconds']:.1f}",
            summary(name),
        ]
        for name, method in methods.items()
    } | {dummy: [*(number(constant[measure]) for measure in measures), "", ""]}
    values = {dummy: constant, **{name: method["average"] for name, method in methods.items()}}
    order = sorted(rows, key=lambda name: -values[name][measures[0]])
    header = ["method", *(MEASURE_TITLES[measure] for measure in measures), "fit s", ""]
    return Table(header, [[name, *rows[name]] for name in order])


def shares_table(result: Mapping[str, Any], paper: bool = False) -> Table:
    """All methods of a comparison, best first, at each share of the training documents."""
    methods = {name: method for name, method in result["methods"].items() if "fractions" in method}
    averages = [share["average"] for method in methods.values() for share in method["fractions"].values()]
    measures = shown_measures(set.intersection(*map(set, averages)), paper)
    rows = [
        [
            name,
            f"{100 * float(share):g} %",
            f"{values['documents']:,}",
            *(deviating(values, measure) for measure in measures),
            f"{values['fit_seconds']:.1f}",
        ]
        for name, method in methods.items()
        for share, values in method["fractions"].items()
    ]
    header = ["method", "share", "documents", *(MEASURE_TITLES[measure] for measure in measures), "fit s"]
    return Table(header, rows)


def doubling_line(result: Mapping[str, Any]) -> str:
    """What twice as many training documents may add to the best method."""
    for method in result["methods"].values():
        for measure, (low, high) in (method.get("doubling") or {}).items():
            return (
                f"Twice as many documents may add {_gain(low)} to {_gain(high)} {MEASURE_TITLES[measure]} "
                "(extrapolated)."
            )
    return ""


def _gain(value: float) -> str:
    """A difference with two decimals.

    >>> _gain(0.034), _gain(-0.001), _gain(-0.02)
    ('.03', '.00', '-.02')
    """
    return f"{round(value, 2) + 0:.2f}".replace("0.", ".", 1)


def by_language_table(methods: Mapping[str, Any], measure: str) -> Table:
    """One measure of several methods: a row per language, then the average."""
    languages = next(iter(methods.values()))["languages"]
    rows = {tag: [method["languages"][tag][measure] for method in methods.values()] for tag in languages}
    rows["average"] = [method["average"][measure] for method in methods.values()]
    cells = [[name, *map(number, values)] for name, values in rows.items()]
    return Table(["language", *methods], cells, [(MEASURE_TITLES[measure], len(methods))])


def significance_line(result: Mapping[str, Any]) -> str:
    """Which methods the best one is significantly better than, by the first measure."""
    methods = result["methods"]
    measure = main_measures(set.intersection(*(set(method["average"]) for method in methods.values())))[0]
    best = result["best"][measure]
    p_values = {name: methods[name]["p_value"][measure] for name in _rivals(methods) if name != best}
    if not p_values:
        return ""
    if None in p_values.values():
        return "No significance test: it takes several languages or --runs."
    ranked = sorted(p_values, key=lambda name: -methods[name]["average"][measure])
    beaten = [name for name in ranked if p_values[name] < SIGNIFICANCE_LEVEL]
    if not beaten:
        return f"{best} is not significantly better than any other method (paired t-test, p ≥ .05)."
    return f"{best} is significantly better than {join_words(beaten)} (paired t-test, p < .05)."


def weakest_language(languages: Mapping[str, Mapping[str, float]], measure: str) -> dict[str, str]:
    """The language with the lowest value of a measure, beside the highest; nothing of only one."""
    if len(languages) < 2:
        return {}
    low, *_, high = sorted(languages, key=lambda tag: languages[tag][measure])
    shown = [f"{tag} {number(languages[tag][measure])}" for tag in (low, high)]
    return {"Weakest language": f"{shown[0]} (the best: {shown[1]})"}


def comparison_blocks(result: Mapping[str, Any]) -> list[Block]:
    """The tables and figures of a comparison."""
    by_documents = weighted_table(result, paper=True)
    return [
        TableBlock(
            "methods",
            "Averages over languages",
            comparison_table(result, paper=True),
            notes(result, paper=True),
        ),
        *([] if by_documents is None else [_weighted(by_documents)]),
        TableBlock(
            "languages", "Language by language", side_by_side(_rivals(result["methods"])), few_notes(result)
        ),
        *_shares(result),
        *pairs_blocks("significance", result),
        *_confusion(result),
        *_diagrams(result["methods"]),
    ]


def _weighted(table: Table) -> TableBlock:
    return TableBlock("weighted", "Averages weighted by documents", table, [WEIGHTED_NOTE], folded=True)


def _shares(result: Mapping[str, Any]) -> list[Block]:
    if not any("fractions" in method for method in result["methods"].values()):
        return []
    lines = [line for line in (doubling_line(result),) if line]
    return [TableBlock("fractions", "Shares of the training documents", shares_table(result, True), lines)]


def pairs_blocks(
    name: str, result: Mapping[str, Any], titles: Mapping[str, str] | None = None
) -> list[TableBlock]:
    """Every pair of methods, its difference and its p-values by each measure; nothing where there is no pair.

    ``titles`` are those of methods that have other ones here.
    """
    pairs = result.get("pairs", {})
    if not any(pairs.values()):
        return []
    has_groups = any(pair["p_groups"] is not None for tests in pairs.values() for pair in tests)
    columns = ["difference", "p", *(["p over groups"] if has_groups else [])]
    rows = []
    for of_measures in zip(*pairs.values(), strict=True):
        cells = [(titles or {}).get(of_measures[0][side]) or title(of_measures[0][side]) for side in "ab"]
        for pair in of_measures:
            cells += [f"{pair['difference']:.4f}", _p(pair["p"])]
            cells += [_p(pair["p_groups"])] if has_groups else []
        rows.append(cells)
    header = [f"{MEASURE_TITLES[measure]} {column}" for measure in pairs for column in columns]
    return [
        TableBlock(
            name,
            "Pairs of methods",
            Table(["method", "minus", *header], rows),
            [T_TEST_NOTE, *([GROUPS_NOTE] if has_groups else []), CHANCE_NOTE],
            folded=len(rows) > MAX_ROWS_UNFOLDED,
        )
    ]


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _rivals(methods: Mapping[str, Any]) -> Mapping[str, Any]:
    """The methods that can be compared, all where there is no other."""
    return {name: method for name, method in methods.items() if name not in NOT_COMPARED} or methods


def _confusion(result: Mapping[str, Any]) -> list[Block]:
    """Which labels the most accurate method takes for which, where it gives one to each document."""
    best = result["best"].get("accuracy")
    cells = result["methods"].get(best, {}).get("confusion")
    return confusion_blocks(cells, title(best)) if cells else []


def _diagrams(methods: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = [
        reliability_curves({title(name): method["reliability"] for name, method in methods.items()})
    ]
    with_examples = {name: method for name, method in methods.items() if method["f1_by_examples"]}
    if with_examples:
        blocks.append(
            Curves(
                "examples",
                "F1 against the number of training documents of a label",
                "Mean F1 of the labels that occur in the test, by their number of training documents in all "
                f"languages. {_extremes(_rivals(with_examples))}",
                "training documents of a label",
                "mean F1",
                {
                    "": {
                        title(name): [(x, y) for _, _, x, y in m["f1_by_examples"]]
                        for name, m in with_examples.items()
                    }
                },
                logarithmic=True,
            )
        )
    return blocks


def _extremes(methods: Mapping[str, Any]) -> str:
    """Which method is best on the rarest and on the most frequent labels."""
    ranges = {name: {row[0]: row[3] for row in method["f1_by_examples"]} for name, method in methods.items()}
    common = sorted(set.intersection(*map(set, ranges.values())))
    if not common:
        return ""
    winners = []
    for start, kind in ((common[0], "rarest"), (common[-1], "most frequent")):
        best = max(ranges, key=lambda name: ranges[name][start])
        winners.append(f"on the {kind} ones {title(best)} ({number(ranges[best][start])})")
    return f"Best {', '.join(winners)}."


_PACKAGES = ("funnelling", "numpy", "scipy", "scikit-learn")


def facts(
    data: str,
    trials: Sequence[Trial],
    seed: int,
    seconds: float,
    machines: Sequence[str] = (),
    more: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What stands at the end of a report; the machine at hand did the work where none is named."""
    return run_facts(
        {
            "Data": f"{data}: {described(trials[0])}",
            "Trials": str(len(trials)),
            "Seed": str(seed),
            **(more or {}),
            "Time": f"{seconds:,.0f} seconds" + (f" ({seconds / 60:.0f} minutes)" if seconds > 120 else ""),
        },
        machines,
    )


def run_facts(more: Mapping[str, str], machines: Sequence[str] = ()) -> dict[str, str]:
    """What is said of any command that was run, around what there is ``more`` to say of this one."""
    return {
        **_command(),
        **more,
        "Date": time.strftime("%Y-%m-%d"),
        "Versions": ", ".join(
            [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in _PACKAGES)]
        ),
        "Machine": "; ".join(machines or [this_machine()]),
    }


def _command() -> dict[str, str]:
    """The command as it was typed, where it was one: Python users call the same functions."""
    typed = os.path.basename(sys.argv[0])
    ours = typed.startswith("funnelling") or typed == "__main__.py"
    return {"Command": shlex.join(["funnelling", *sys.argv[1:]])} if ours else {}


def described(trial: Trial) -> str:
    """The documents of a trial in a line."""
    languages = trial.train.by_language()
    one_each = ", one per document" if trial.train.one_label else ""
    parallel = f", {counted(len(trial.parallel), 'further version')} of them" if len(trial.parallel) else ""
    return (
        f"{counted(len(trial.train), 'training document')}{parallel}, {len(trial.test):,} for test, "
        f"{counted(len(languages), 'language')} ({', '.join(languages)}), "
        f"{counted(len(trial.train.label_set()), 'label')}{one_each}"
    )
