"""Tables of measures: by language, before and after a change, of methods side by side and compared.

Their columns follow the registry of measures, so far as a result has them: a model may have been measured
before a measure was added.
"""

from collections.abc import Mapping
from typing import Any

from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES
from funnelling.evaluation.significance import dagger
from funnelling.method.registry import title
from funnelling.report.tables import Table, number
from funnelling.wording import counted

DAGGERS = "† not different from the best method (p ≥ .05), †† barely (.001 ≤ p < .05); paired t-test"
PRESENT_NOTE = "* over the labels that occur in the test documents of the language"


def _titles(*averages: Mapping[str, float]) -> dict[str, str]:
    """The titles of the measures that a table of these averages shows, by name."""
    return {
        name: measure.title
        for name, measure in MEASURES.items()
        if measure.in_tables and all(name in average for average in averages)
    }


def notes(result: Mapping[str, Any]) -> list[str]:
    """What stands below a table of measures."""
    unknown = result.get("unknown_labels", 0)
    not_counted = f"{counted(unknown, 'label')} of the test documents unknown to training: not counted"
    return [PRESENT_NOTE, *([not_counted] if unknown else []), *dagger_notes(result)]


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
    for language, new in after.items():
        old = before.get(language)
        cells = [("–" if old is None else number(old[m]), number(new[m])) for m in PAPER_MEASURES]
        rows.append([language, *(cell for pair in cells for cell in pair)])
    groups = [(MEASURES[measure].title, 2) for measure in PAPER_MEASURES]
    return Table(["language", *["before", "after"] * len(PAPER_MEASURES)], rows, groups)


def side_by_side(methods: Mapping[str, Any]) -> Table:
    """Several methods: one row per language, then the average; for each measure one column per method."""
    languages = next(iter(methods.values()))["languages"]
    values_by_row = {
        **{tag: [method["languages"][tag] for method in methods.values()] for tag in languages},
        "average": [method["average"] for method in methods.values()],
    }
    rows: list[list[str]] = []
    best: list[tuple[int, int]] = []
    for row, values in values_by_row.items():
        cells = [row]
        for measure in PAPER_MEASURES:
            highest = max(value[measure] for value in values)
            for value in values:
                if value[measure] == highest and len(values) > 1:
                    best.append((len(rows), len(cells)))
                cells.append(number(value[measure]))
        rows.append(cells)
    header = ["language", *(title(name) for _ in PAPER_MEASURES for name in methods)]
    groups = [(MEASURES[measure].title, len(methods)) for measure in PAPER_MEASURES]
    return Table(header, rows, groups, best)


def comparison_table(result: Mapping[str, Any]) -> Table:
    """All methods of a comparison: averages with deviations over trials, daggers, times."""
    methods, floor = result["methods"], result["rejector"]["average"]
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
    rows.append(["(rejects all)", *(number(floor[measure]) for measure in titles), "", ""])
    return Table(["method", *titles.values(), "fit s", "predict s"], rows, best=best)


def score_cell(result: Mapping[str, Any], name: str, measure: str) -> str:
    """A method's average, its deviation over trials and its dagger, where there are such."""
    method = result["methods"][name]
    text = number(method["average"][measure])
    if method["deviation"] is not None:
        text += f" ± {number(method['deviation'][measure])}"
    tests = result["significance"].get(measure)
    return text if tests is None else text + dagger(tests["p"].get(name))
