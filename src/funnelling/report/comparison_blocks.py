"""Methods against each other, as a report shows them."""

from collections.abc import Mapping
from typing import Any

from funnelling.evaluation.significance import NO_RIVALS
from funnelling.method.registry import title
from funnelling.report.content import Block, Curves, TableBlock
from funnelling.report.measure_tables import comparison_table, notes, side_by_side
from funnelling.report.tables import number


def comparison_blocks(result: Mapping[str, Any]) -> list[Block]:
    """The tables and figures of a comparison."""
    return [
        TableBlock("methods", "Averages over languages", comparison_table(result), notes(result)),
        TableBlock("languages", "Language by language", side_by_side(_rivals(result["methods"]))),
        *_diagrams(result["methods"]),
    ]


def _rivals(methods: Mapping[str, Any]) -> Mapping[str, Any]:
    """The methods that can be compared, all where there is no other."""
    return {name: method for name, method in methods.items() if name not in NO_RIVALS} or methods


def _diagrams(methods: Mapping[str, Any]) -> list[Block]:
    errors = {title(name): _calibration_error(method["reliability"]) for name, method in methods.items()}
    blocks: list[Block] = [
        Curves(
            "reliability",
            "Are the probabilities right?",
            "Among labels given a probability, the share that is right; on the diagonal the two are equal. "
            "Mean distance from it over all pairs of document and label: "
            f"{', '.join(f'{name} {number(error)}' for name, error in errors.items())}.",
            "probability given",
            "share that is right",
            {"": {title(name): [(x, y) for _, x, y in m["reliability"]] for name, m in methods.items()}},
            diagonal=True,
        )
    ]
    drawn = {name: method for name, method in methods.items() if method["f1_by_examples"]}
    if drawn:
        blocks.append(
            Curves(
                "examples",
                "F1 against the number of training documents of a label",
                "Mean F1 of the labels that occur in the test, by their number of training documents in all "
                f"languages. {_extremes(_rivals(drawn))}",
                "training documents of a label",
                "mean F1",
                {
                    "": {
                        title(name): [(x, y) for _, _, x, y in m["f1_by_examples"]]
                        for name, m in drawn.items()
                    }
                },
                logarithmic=True,
            )
        )
    return blocks


def _extremes(methods: Mapping[str, Any]) -> str:
    """Who is best on the rarest and on the most frequent labels."""
    ranges = {name: {row[0]: row[3] for row in method["f1_by_examples"]} for name, method in methods.items()}
    common = sorted(set.intersection(*(set(found) for found in ranges.values())))
    if not common:
        return ""
    told = []
    for start, kind in ((common[0], "rarest"), (common[-1], "most frequent")):
        best = max(ranges, key=lambda name: ranges[name][start])
        told.append(f"on the {kind} ones {title(best)} ({number(ranges[best][start])})")
    return f"Best {', '.join(told)}."


def _calibration_error(bins: list[list[float]]) -> float:
    pairs = sum(count for count, _, _ in bins)
    return sum(count * abs(x - y) for count, x, y in bins) / pairs
