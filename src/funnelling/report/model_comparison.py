"""What makes two models differ, and the scores of several, as lines and tables.

Models are called A, B, … in the order in which they were named.
"""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from funnelling.evaluation.registry import TITLES, main_measures
from funnelling.report.history_table import step_line
from funnelling.report.measure_tables import WEIGHTED
from funnelling.report.tables import Table, number
from funnelling.wording import counted, printable

NONE = "–"
AB = ("A", "B")
CHANGE = "B − A"
LABELS_SHOWN = 20
MOST_MOVED = 10  # thresholds
KINDS = ("several labels per document", "one label per document")
NOT_ALIKE = "They were not measured alike: a difference may be one of documents, not of models."
OTHER_LABELS = "Their labels are not the same, and each is measured over its own."
OTHER_LANGUAGES = "Their averages are over different languages; those of both are beside them."
OF_SHARED = "average, languages of both"

Comparison = Mapping[str, Any]  # what `compare_models` gives


def who(comparison: Comparison) -> list[str]:
    """A line on each model."""
    lines = []
    for i, name in enumerate(AB):
        documents = [numbers[i] for numbers in comparison["documents"].values() if numbers[i] is not None]
        labels = comparison["labels"]["shared"] + len(comparison["labels"]["only"][i])
        lines.append(
            f"{name}  {comparison['models'][i]}: {comparison['method'][i]}, "
            f"{counted(sum(documents), 'document')} in {counted(len(documents), 'language')}, "
            f"{counted(labels, 'label')}"
        )
    return lines


def differences(comparison: Comparison) -> list[str]:
    """What is to be said of two models beside tables: history, kind, labels, choice, what they keep."""
    lines = _history(comparison)
    if len(set(comparison["exclusive"])) > 1:
        kinds = [KINDS[flag] for flag in comparison["exclusive"]]
        lines.append(f"A gives {kinds[0]}, B {kinds[1]}: what both were measured by is compared.")
    only = comparison["labels"]["only"]
    lines += [f"Labels only in {name}: {_some(only[i])}" for i, name in enumerate(AB) if only[i]]
    if not any(only):
        lines.append(f"Both have the same {counted(comparison['labels']['shared'], 'label')}.")
    if comparison["choice"][0] != comparison["choice"][1]:
        chosen = zip(AB, comparison["choice"], strict=True)
        lines += [f"Choice of {name}: {choice or 'none was made'}" for name, choice in chosen]
    kept = [_kept(keeps) for keeps in comparison["keeps"]]
    if kept[0] != kept[1]:
        lines.append(f"Of each document A keeps {kept[0]}, B {kept[1]}.")
    return lines


def _history(comparison: Comparison) -> list[str]:
    shared, only = comparison["history"]["shared"], comparison["history"]["only"]
    told = [", then ".join(map(step_line, steps)) for steps in only]
    if not shared and not any(only):
        return ["What they learned from is not known."]
    if not any(only):
        return [f"Both learned from the same, by what they remember ({counted(shared, 'step')})."]
    if not shared:
        return [f"{name} learned from: {steps or 'not known'}" for name, steps in zip(AB, told, strict=True)]
    longer = 0 if only[0] else 1
    if not only[1 - longer] and comparison["method"][0] == comparison["method"][1]:
        return [f"{AB[longer]} is {AB[1 - longer]} after: {told[longer]}"]
    lines = [f"Both learned from the same at first, by what they remember ({counted(shared, 'step')})."]
    return lines + [f"{name} after that: {steps}" for name, steps in zip(AB, told, strict=True) if steps]


def _some(labels: Sequence[Any]) -> str:
    shown = ", ".join(printable(str(label)) for label in labels[:LABELS_SHOWN])
    return shown if len(labels) <= LABELS_SHOWN else f"{shown} and {len(labels) - LABELS_SHOWN:,} more"


def _kept(keeps: Mapping[str, Any]) -> str:
    names = (f"texts ({keeps['texts']})" if name == "texts" else name for name in keeps["bytes"])
    return ", ".join(names) or "nothing"


def documents_table(comparison: Comparison) -> Table:
    """Training documents by language."""
    rows = [
        [language, *(NONE if value is None else f"{value:,}" for value in values), _grown(values)]
        for language, values in comparison["documents"].items()
    ]
    return Table(["language", *AB, CHANGE], rows)


def _grown(values: Sequence[int | None]) -> str:
    old, new = (value or 0 for value in values)
    return f"{new - old:+,}" if new != old else ""


def scores_table(scores: Mapping[str, Any]) -> Table:
    """The main measures of both models side by side, with their differences."""
    measures = list(scores["average"])
    rows = [[tag, *_triples(values, measures)] for tag, values in scores["languages"].items()]
    rows += [["average", *_triples(scores["average"], measures)]]
    if _other_languages(scores):
        rows += [[OF_SHARED, *_triples(scores["average_of_shared"], measures)]]
    rows += [[WEIGHTED, *_triples(scores["weighted"], measures)]]
    groups = [(TITLES[measure], 3) for measure in measures]
    return Table(["language", *[*AB, CHANGE] * len(measures)], rows, groups)


def _triples(values: Mapping[str, Sequence[float | None]], measures: Sequence[str]) -> list[str]:
    return [cell for measure in measures for cell in _triple(*values[measure])]


def _triple(old: float | None, new: float | None) -> list[str]:
    cells = [NONE if value is None else number(value) for value in (old, new)]
    return [*cells, NONE if old is None or new is None else _signed(new - old)]


def _signed(difference: float) -> str:
    """A difference of scores.

    >>> _signed(0.0123), _signed(-0.5), _signed(-0.00001)
    ('+.012', '-.500', '.000')
    """
    return f"{'+' if difference >= 0.0005 else ''}{number(difference if abs(difference) >= 0.0005 else 0.0)}"


def scores_notes(comparison: Comparison) -> list[str]:
    """How both were measured, and what to mind."""
    scores = comparison["scores"]
    how = [each or "It was not measured, or how is not known." for each in scores["how"]]
    lines = how[:1] if scores["alike"] else [f"A: {how[0]}", f"B: {how[1]}"]
    if _both_measured(scores):
        lines += [] if scores["alike"] else [NOT_ALIKE]
        lines += [OTHER_LANGUAGES] if _other_languages(scores) else []
        lines += [OTHER_LABELS] if any(comparison["labels"]["only"]) else []
    return lines


def _both_measured(scores: Mapping[str, Any]) -> bool:
    return all(map(any, _documents_measured_on(scores)))


def _other_languages(scores: Mapping[str, Any]) -> bool:
    """Whether both were measured, but not in the same languages."""
    return _both_measured(scores) and any(None in side for side in _documents_measured_on(scores))


def _documents_measured_on(scores: Mapping[str, Any]) -> list[tuple[int | None, ...]]:
    """For each model the numbers of documents, by language."""
    return list(zip(*(values["documents"] for values in scores["languages"].values()), strict=True))


def settings_table(comparison: Comparison) -> Table | None:
    """Settings and versions that are not the same."""
    differing = {**comparison["settings"], **comparison["versions"]}
    if not differing:
        return None
    rows = [[name, *(_setting(value) for value in pair)] for name, pair in differing.items()]
    return Table(["setting", *AB], rows)


def _setting(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return NONE if value is None else str(value)


def thresholds_table(comparison: Comparison) -> Table | None:
    """The thresholds that moved most."""
    moved = comparison["thresholds"]
    if not moved:
        return None
    rows = [
        [str(row["label"]), ", ".join(row["languages"]), *_triple(*row["values"])]
        for row in moved[:MOST_MOVED]
    ]
    return Table(["label", "languages", *AB, CHANGE], rows)


def overview_table(models: Sequence[Mapping[str, Any]]) -> Table:
    """Several models: one row each, with their averages over languages."""
    measured = [set(model["average"]) for model in models if model["average"]]
    measures = main_measures(set.intersection(*measured)) if measured else []
    rows = [
        [
            ascii_uppercase[i] if i < len(ascii_uppercase) else str(i + 1),
            model["method"],
            *(f"{model[name]:,}" for name in ("languages", "documents", "labels")),
            *(number(model["average"][name]) if model["average"] else NONE for name in measures),
        ]
        for i, model in enumerate(models)
    ]
    header = ["model", "method", "languages", "documents", "labels"]
    return Table([*header, *(TITLES[name] for name in measures)], rows)
