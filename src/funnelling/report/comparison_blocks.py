"""Methods against each other, as a report shows them."""

from collections.abc import Mapping
from typing import Any

from funnelling.evaluation.registry import TITLES
from funnelling.evaluation.significance import DRAWS, NO_RIVALS
from funnelling.methods.registry import title
from funnelling.report.content import Block, Curves, TableBlock
from funnelling.report.diagrams import confusion_blocks, reliability_curves
from funnelling.report.measure_tables import comparison_table, few_notes, notes, side_by_side, weighted_table
from funnelling.report.tables import Table, number

MOST_ROWS = 15  # of pairs of methods that are not folded away
T_TEST_NOTE = (
    "p: a paired two-tailed t-test, as in the paper, over all pairs of a trial and a language (the paper "
    "does not say what it pairs). It takes them for independent. Where trials share test documents, or "
    "languages have versions of the same texts, as in a parallel corpus, they are not, and p is too small"
)
GROUPS_NOTE = (
    f"p over groups: the decisions of the two methods are swapped at random, {DRAWS - 1} times, and p is the "
    "share of draws that differ by as much, the true one included. All documents of a group are swapped "
    "together, in every language and trial, one without a group alone: it respects that dependence"
)
WEIGHTED_NOTE = "A language counts as much as it has test documents"
CHANCE_NOTE = "Among many pairs some p are small by chance: they are not corrected for the number of pairs"


def comparison_blocks(result: Mapping[str, Any]) -> list[Block]:
    """The tables and figures of a comparison."""
    by_documents = weighted_table(result)
    return [
        TableBlock("methods", "Averages over languages", comparison_table(result), notes(result)),
        *([] if by_documents is None else [_weighted(by_documents)]),
        TableBlock(
            "languages", "Language by language", side_by_side(_rivals(result["methods"])), few_notes(result)
        ),
        *pairs_blocks("significance", result),
        *_confusion(result),
        *_diagrams(result["methods"]),
    ]


def _weighted(table: Table) -> TableBlock:
    return TableBlock("weighted", "Averages weighted by documents", table, [WEIGHTED_NOTE], folded=True)


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
    header = [f"{TITLES[measure]} {column}" for measure in pairs for column in columns]
    return [
        TableBlock(
            name,
            "Pairs of methods",
            Table(["method", "minus", *header], rows),
            [T_TEST_NOTE, *([GROUPS_NOTE] if has_groups else []), CHANCE_NOTE],
            folded=len(rows) > MOST_ROWS,
        )
    ]


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _rivals(methods: Mapping[str, Any]) -> Mapping[str, Any]:
    """The methods that can be compared, all where there is no other."""
    return {name: method for name, method in methods.items() if name not in NO_RIVALS} or methods


def _confusion(result: Mapping[str, Any]) -> list[Block]:
    """Which labels the most accurate method takes for which, where it gives one to each document."""
    best = result["significance"].get("accuracy", {}).get("best")
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
