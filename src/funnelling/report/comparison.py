"""Methods against each other, as a report shows them."""

from collections.abc import Mapping
from typing import Any

from funnelling.methods import title
from funnelling.report.content import Block, Curves, TableBlock
from funnelling.report.tables import (
    comparison_table,
    notes,
    number,
    side_by_side,
)


def comparison_blocks(result: Mapping[str, Any]) -> list[Block]:
    """The tables and figures of a comparison."""
    rivals = {
        name: method for name, method in result["methods"].items() if _labels_all(method, result["methods"])
    }
    return [
        TableBlock("methods", "Averages over languages", comparison_table(result), notes(result)),
        TableBlock("languages", "Language by language", side_by_side(rivals)),
        *_diagrams(result["methods"]),
    ]


def _labels_all(method: Mapping[str, Any], methods: Mapping[str, Any]) -> bool:
    """Whether a method was measured on all languages, as UpperBound is not."""
    return len(method["languages"]) == max(len(other["languages"]) for other in methods.values())


def _diagrams(methods: Mapping[str, Any]) -> list[Block]:
    drawn = {name: method for name, method in methods.items() if method.get("reliability")}
    if not drawn:
        return []
    errors = {name: _calibration_error(method["reliability"]) for name, method in drawn.items()}
    best = min(errors, key=lambda name: errors[name])
    return [
        Curves(
            "reliability",
            "Are the probabilities right?",
            "Among labels given a probability, the share that is right; on the diagonal the two are equal. "
            f"Mean distance from it over all pairs of document and label: "
            f"{', '.join(f'{title(name)} {number(error)}' for name, error in errors.items())}; "
            f"the best is {title(best)}.",
            "probability given",
            "share that is right",
            {"": {title(name): [(x, y) for _, x, y in m["reliability"]] for name, m in drawn.items()}},
            diagonal=True,
        ),
        Curves(
            "examples",
            "F1 against the number of training documents of a label",
            "Mean F1 of the labels that occur in the test, by their number of training documents in all "
            f"languages. {_rare(drawn)}",
            "training documents of a label",
            "mean F1",
            {"": {title(name): [(x, y) for _, _, x, y in m["f1_by_examples"]] for name, m in drawn.items()}},
            logarithmic=True,
        ),
    ]


def _rare(methods: Mapping[str, Any]) -> str:
    """Who is best on the rarest and on the most frequent labels."""
    told = []
    for position, kind in ((0, "rarest"), (-1, "most frequent")):
        scores = {name: method["f1_by_examples"][position][3] for name, method in methods.items()}
        best = max(scores, key=lambda name: scores[name])
        told.append(f"the {kind} labels {title(best)} is best ({number(scores[best])})")
    return f"On {told[0]}, on {told[1]}."


def _calibration_error(bins: list[list[float]]) -> float:
    pairs = sum(count for count, _, _ in bins)
    return sum(count * abs(x - y) for count, x, y in bins) / pairs
