"""The measures by name, and taking them all.

A new measure is a function of `Counts` in a file of its own under `measures/`, and one line here. It then
appears wherever results do: in `measure`, in what commands print as JSON, and in tables.
"""

from collections.abc import Callable
from typing import NamedTuple

from numpy.typing import ArrayLike

from funnelling.evaluation.counts import Counts
from funnelling.evaluation.label_averages import macro, macro_present, micro
from funnelling.evaluation.measures.f1 import f1_of_labels
from funnelling.evaluation.measures.k import k_of_labels


class Measure(NamedTuple):
    """A measure: its title in tables, and its value for decisions that were counted, the higher the better.

    It is 1 where all decisions are right, so a loss is registered as 1 minus the loss.

    Methods are chosen and tested by the paper's measures alone, and those are all that fits where a table has
    several columns per measure; other tables show every measure that is ``in_tables``.
    """

    title: str
    of: Callable[[Counts], float]
    in_paper: bool = False
    in_tables: bool = True


MEASURES = {
    "micro_f1": Measure("micro-F1", micro(f1_of_labels), in_paper=True),
    "macro_f1": Measure("macro-F1", macro(f1_of_labels), in_paper=True),
    "micro_k": Measure("micro-K", micro(k_of_labels), in_paper=True),
    "macro_k": Measure("macro-K", macro(k_of_labels), in_paper=True),
    "macro_f1_present": Measure("macro-F1*", macro_present(f1_of_labels)),
    "macro_k_present": Measure("macro-K*", macro_present(k_of_labels)),
}
PAPER_MEASURES = tuple(name for name, measure in MEASURES.items() if measure.in_paper)


def measure(truth: ArrayLike, predicted: ArrayLike) -> dict[str, float]:
    """Every measure, by name: the paper's four, and the macro averages over labels with a positive in truth.

    >>> measures = measure([[1, 0], [1, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]])
    >>> {name: round(measures[name], 3) for name in ("micro_f1", "macro_f1", "micro_k", "macro_k")}
    {'micro_f1': 0.667, 'macro_f1': 0.833, 'micro_k': 0.5, 'macro_k': 0.75}
    >>> {name: round(measures[name], 3) for name in ("macro_f1_present", "macro_k_present")}
    {'macro_f1_present': 0.667, 'macro_k_present': 0.5}
    >>> measure([[1, 0]], [[1]])
    Traceback (most recent call last):
    funnelling.errors.InputError: truth has shape (1, 2) and prediction (1, 1): they must be alike.
    """
    return measure_counts(Counts.of(truth, predicted))


def measure_counts(counts: Counts) -> dict[str, float]:
    """Every measure of decisions that were counted, by name."""
    return {name: each.of(counts) for name, each in MEASURES.items()}
