"""What a change of a model does to its decisions on the same documents, and whether that is more than noise.

Both models decide of the same documents, so chance plays a part only where they differ. If the model were as
good as before, it would be chance which of the two decided what: decisions are swapped at random, document by
document, or group by group where there are groups, and p is the share of the draws that part the two by as
much (`funnelling.evaluation.significance`).
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scipy import sparse

from funnelling.evaluation.measures import Counts
from funnelling.evaluation.registry import MEASURE_TITLES, main_measures, measure_counts, plain_mean
from funnelling.evaluation.significance import ComparedDecisions, randomisation
from funnelling.matrices import AnyTargets, stacked

TEST, HELD_OUT = "test", "held out"  # what documents are measured on
# A fall is more than noise where p is below the one and it is above the other: folds and thresholds move
# scores a little, too. Languages are many, and each has to be surer than their average.
IN_ALL, IN_ONE = (0.01, 0.01), (0.002, 0.02)
# Times as much for K, which follows thresholds: it falls as soon as fewer labels are assigned
K_TOLERANCE_FACTOR = 3
_BEFORE, _AFTER = "before", "after"


class PairedDecisions(NamedTuple):
    """What both models decide of one language's documents, over the labels known to both.

    ``on`` says whether these are test documents or training documents that were held out. ``before`` is None
    where the model could not label the language. Documents of one of the ``units`` depend on each other.
    """

    on: str
    truth: AnyTargets
    before: AnyTargets | None
    after: AnyTargets
    units: Sequence[Hashable]


class MetricDrop(NamedTuple):
    """A score that fell by more than noise, in a language or, where that is None, on average."""

    measure: str
    language: str | None
    before: float
    after: float
    p: float

    def described(self) -> str:
        """The fall in words.

        >>> MetricDrop("micro_f1", "it", 0.8, 0.7123, 0.001).described()
        'micro-F1 of it fell from .800 to .712'
        """
        where = "on average" if self.language is None else f"of {self.language}"
        values = (f"{value:.3f}".removeprefix("0") for value in (self.before, self.after))
        return f"{MEASURE_TITLES[self.measure]} {where} fell from {' to '.join(values)}"


@dataclass(frozen=True)
class BeforeAfterMetrics:
    """Measures before and after, by language, each on the same documents; a new language has none before.

    Averages are plain means over the languages that were known before, {} where none is. ``on`` says what
    each language was measured on; ``regressions`` are the falls beyond noise, the averages' first.
    """

    before: dict[str, dict[str, float]]
    after: dict[str, dict[str, float]]
    average_before: dict[str, float]
    average_after: dict[str, float]
    on: dict[str, str]
    regressions: tuple[MetricDrop, ...] = ()

    def record(self) -> dict[str, Any]:
        """The change as JSON holds it."""
        return {
            "before": {"average": self.average_before, "languages": self.before},
            "after": {"average": self.average_after, "languages": self.after},
            "evaluated_on": self.on,
            "regressions": [fall._asdict() for fall in self.regressions],
        }


NOT_MEASURED = BeforeAfterMetrics({}, {}, {}, {}, {})


def measure_change(
    decisions: Mapping[str, PairedDecisions],
    one_label: bool,
    seed: int = 0,
    learned: Collection[str] | None = None,
) -> BeforeAfterMetrics:
    """The measures of decisions before and after, by language and on average, and what fell.

    The average, and what fell, is over languages that had been ``learned`` before; None means all.

    >>> import numpy as np
    >>> truth = np.ones((40, 1), dtype=bool)
    >>> decisions = PairedDecisions(TEST, truth, truth, ~truth, range(40))
    >>> change = measure_change({"it": decisions}, one_label=False)
    >>> change.average_after["micro_f1"], change.regressions[0].described()
    (0.0, 'micro-F1 on average fell from 1.000 to .000')
    """
    decisions = {tag: each for tag, each in decisions.items() if all(each.truth.shape)}
    both = {tag: each for tag, each in decisions.items() if each.before is not None}
    before = {tag: _measures(each.truth, each.before, one_label) for tag, each in both.items()}
    after = {tag: _measures(each.truth, each.after, one_label) for tag, each in decisions.items()}
    if learned is not None:
        both = {tag: each for tag, each in both.items() if tag in learned}
    average_before = plain_mean({tag: before[tag] for tag in both}) if both else {}
    average_after = plain_mean({tag: after[tag] for tag in both}) if both else {}
    regressions = _falls(None, average_before, average_after, both, IN_ALL, seed)
    if len(both) > 1:
        for tag, each in both.items():
            regressions += _falls(tag, before[tag], after[tag], {tag: each}, IN_ONE, seed)
    on = {tag: each.on for tag, each in decisions.items()}
    return BeforeAfterMetrics(before, after, average_before, average_after, on, tuple(regressions))


def _measures(truth: AnyTargets, decided: Any, one_label: bool) -> dict[str, float]:
    return {**measure_counts(Counts.of(truth, decided), one_label), "documents": truth.shape[0]}


def _falls(
    language: str | None,
    before: Mapping[str, float],
    after: Mapping[str, float],
    decisions: Mapping[str, PairedDecisions],
    limits: tuple[float, float],
    seed: int,
) -> list[MetricDrop]:
    """Which measures fell by more than noise."""
    most_p, least = limits
    lower = [
        name
        for name in main_measures(before)
        if before[name] - after[name] > least * (K_TOLERANCE_FACTOR if "_k" in name else 1)
    ]
    if not lower:
        return []
    p = randomisation([_decided(decisions)], lower, seed)
    return [
        MetricDrop(name, language, before[name], after[name], p[name][_BEFORE, _AFTER])
        for name in lower
        if p[name][_BEFORE, _AFTER] < most_p
    ]


def _decided(decisions: Mapping[str, PairedDecisions]) -> ComparedDecisions:
    """The decisions on documents of several languages, below each other."""
    given = {
        side: sparse.csr_array(stacked({tag: getattr(rows, side) for tag, rows in decisions.items()}))
        for side in (_BEFORE, _AFTER)
    }
    return ComparedDecisions(
        truth=stacked({tag: rows.truth for tag, rows in decisions.items()}),
        given=given,
        known=dict.fromkeys(given, slice(None)),
        languages=[tag for tag, rows in decisions.items() for _ in rows.units],
        units=[unit for rows in decisions.values() for unit in rows.units],
    )
