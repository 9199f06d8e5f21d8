"""Tables of measures: by language, before and after a change, of methods side by side and compared.

Their columns follow the registry of measures, so far as a result has them: a model may have been measured
before a measure was added.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.evaluation.registry import MEASURES, is_of_one_label, main_measures
from funnelling.evaluation.significance import dagger
from funnelling.method.registry import title
from funnelling.report.tables import Table, number
from funnelling.wording import counted

DAGGERS = "† not different from the best method (p ≥ .05), †† barely (.001 ≤ p < .05); paired t-test"
PRESENT_NOTE = "* over the labels that occur in the test documents of the language"
SKLEARN_NOTE = (
    "sklearn macro-F1 is scikit-learn's: over the labels that occur in the language, in truth or as an answer"
)
FLOORS = {"rejector": "(rejects all)", "most_frequent": "(most frequent)"}  # by where a result has them
MOST_CONFUSED = 3


def _titles(*averages: Mapping[str, float]) -> dict[str, str]:
    """The titles of the measures that a table of these averages shows, by name."""
    shown = [
        name
        for name, measure in MEASURES.items()
        if measure.in_tables and all(name in average for average in averages)
    ]
    # Over the labels that occur there is scikit-learn's macro-F1 then.
    return {
        name: MEASURES[name].title for name in (main_measures(shown) if is_of_one_label(shown) else shown)
    }


def notes(result: Mapping[str, Any]) -> list[str]:
    """What stands below a table of measures."""
    unknown, one_label = result.get("unknown_labels", 0), is_of_one_label(_an_average(result))
    fate = "never right" if one_label else "not counted"
    not_known = f"{counted(unknown, 'label')} of the test documents unknown to training: {fate}"
    return [
        SKLEARN_NOTE if one_label else PRESENT_NOTE,
        *([not_known] if unknown else []),
        *_confused(result.get("confused", [])),
        *dagger_notes(result),
    ]


def _an_average(result: Mapping[str, Any]) -> Mapping[str, float]:
    """The average of a result, or of any of its methods."""
    average: Mapping[str, float] = (
        result["average"] if "average" in result else next(iter(result["methods"].values()))["average"]
    )
    return average


def _confused(pairs: Sequence[Sequence[Any]]) -> list[str]:
    """The labels that are most often taken for others, if any are."""
    most = ", ".join(
        f"{truth} taken for {given} ({documents:,})" for truth, given, documents in pairs[:MOST_CONFUSED]
    )
    return [f"Most often confused: {most}"] if most else []


def rates(result: Mapping[str, Any]) -> str:
    """What a model's measures say beside the table: calibration and recall."""
    return (
        f"Calibration error of the probabilities {number(result['calibration_error'])}, share of the labels "
        f"found (recall) {number(result['recall'])}"
    )


def dagger_notes(result: Mapping[str, Any]) -> list[str]:
    """What daggers mean, where there are any."""
    tests = result.get("significance", {}).values()
    return [DAGGERS] if any(dagger(p) for test in tests for p in test["p"].values()) else []


def languages_table(result: Mapping[str, Any]) -> Table:
    """One method: one row per language, then the average; all measures."""
    titles = _titles(result["average"])
    rows = [
        [language, str(values["documents"]), *(number(values[measure]) for measure in titles)]
        for language, values in result["languages"].items()
    ]
    total = sum(values["documents"] for values in result["languages"].values())
    rows.append(["average", str(total), *(number(result["average"][measure]) for measure in titles)])
    return Table(["language", "documents", *titles.values()], rows)


def change_table(before: Mapping[str, Any], after: Mapping[str, Any]) -> Table:
    """Measures by language, before and after; a language that is new has none before."""
    rows = []
    measures = main_measures(next(iter(after.values())))
    for language, new in after.items():
        old = before.get(language)
        cells = [("–" if old is None else number(old[m]), number(new[m])) for m in measures]
        rows.append([language, *(cell for pair in cells for cell in pair)])
    groups = [(MEASURES[measure].title, 2) for measure in measures]
    return Table(["language", *["before", "after"] * len(measures)], rows, groups)


def side_by_side(methods: Mapping[str, Any]) -> Table:
    """Several methods: one row per language, then the average; for each measure one column per method."""
    languages = next(iter(methods.values()))["languages"]
    values_by_row = {
        **{tag: [method["languages"][tag] for method in methods.values()] for tag in languages},
        "average": [method["average"] for method in methods.values()],
    }
    measures = main_measures(next(iter(methods.values()))["average"])
    rows: list[list[str]] = []
    best: list[tuple[int, int]] = []
    for row, values in values_by_row.items():
        cells = [row]
        for measure in measures:
            highest = max(value[measure] for value in values)
            for value in values:
                if value[measure] == highest and len(values) > 1:
                    best.append((len(rows), len(cells)))
                cells.append(number(value[measure]))
        rows.append(cells)
    header = ["language", *(title(name) for _ in measures for name in methods)]
    groups = [(MEASURES[measure].title, len(methods)) for measure in measures]
    return Table(header, rows, groups, best)


def comparison_table(result: Mapping[str, Any]) -> Table:
    """All methods of a comparison: averages with deviations over trials, daggers, times."""
    methods = result["methods"]
    floor_key, floor_title = next((key, row) for key, row in FLOORS.items() if key in result)
    floor = result[floor_key]["average"]
    titles = _titles(floor, *(method["average"] for method in methods.values()))
    rows: list[list[str]] = []
    best: list[tuple[int, int]] = []
    for name, method in methods.items():
        best += [
            (len(rows), column)
            for column, measure in enumerate(titles, start=1)
            if len(methods) > 1 and result["significance"].get(measure, {}).get("best") == name
        ]
        cells = [score_cell(result, name, measure) for measure in titles]
        rows.append([title(name), *cells, f"{method['fit_seconds']:.1f}", f"{method['predict_seconds']:.1f}"])
    rows.append([floor_title, *(number(floor[measure]) for measure in titles), "", ""])
    return Table(["method", *titles.values(), "fit s", "predict s"], rows, best=best)


def score_cell(result: Mapping[str, Any], name: str, measure: str) -> str:
    """A method's average, its deviation over trials and its dagger, where there are such."""
    method = result["methods"][name]
    text = number(method["average"][measure])
    if method["deviation"] is not None:
        text += f" ± {number(method['deviation'][measure])}"
    tests = result["significance"].get(measure)
    return text if tests is None else text + dagger(tests["p"].get(name))
