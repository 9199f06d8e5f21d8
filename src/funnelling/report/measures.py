"""Tables of measures: by language, before and after a change, method by method, and of other thresholds.

Their columns follow the registry of measures, so far as a result has them: a model may have been measured
before a measure was added.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from funnelling.errors import counted, printable
from funnelling.evaluation.registry import (
    MEASURE_TITLES,
    MEASURES,
    PAPER_PREFIX,
    are_ranked,
    is_of_one_label,
    shown_measures,
    weighted_mean,
)
from funnelling.evaluation.significance import dagger
from funnelling.formats.document import join_labels
from funnelling.methods.registry import title
from funnelling.report.tables import DASH, Table, number

DAGGERS = "† not different from the best method (p ≥ .05), †† barely (.001 ≤ p < .05); paired t-test"
MACRO_NOTE = (
    "macro: over the labels that occur in the test documents of the language; the paper's: over all, "
    "where one that is absent and not given is right"
)
RANKED_NOTE = (
    "P@k: the share of the k most probable labels that are true; nDCG@k: the higher they stand, the more "
    "they count"
)
PROPENSITY_NOTE = "PSP@k: the rarer in training, the more they count"
DUMMY_NOTE = "{}: the labels that are most frequent in training are its most probable ones"
DUMMIES = {"assigns_nothing": "(assigns nothing)", "most_frequent": "(most frequent)"}
MIN_TEST_DOCUMENTS = 30  # documents of a language below which its scores are marked
FEW_MARK = " !"
MAX_ROWS_ABOVE_AVERAGE = 12  # languages; below more of them the average would be out of sight


def _common(methods: Iterable[Mapping[str, Any]]) -> set[str]:
    """The measures that all methods have."""
    return set.intersection(*(set(method["average"]) for method in methods))


def _titles(measures: Sequence[str]) -> list[str]:
    """The titles of columns; those of the paper's averages have its name above them, in `_groups`."""
    return [_title(measure).removeprefix(PAPER_PREFIX) for measure in measures]


def _title(measure: str) -> str:
    """The title of a measure, which may have been added after the import."""
    return MEASURES[measure].title if measure in MEASURES else MEASURE_TITLES[measure]


def _groups(measures: Sequence[str], before: int = 0) -> list[tuple[str, int]]:
    """Whose the averages at the end are, over ``before`` other columns and those of the measures."""
    papers = sum(_title(measure).startswith(PAPER_PREFIX) for measure in measures)
    return [("", before + len(measures) - papers), (PAPER_PREFIX.strip(), papers)] if papers else []


def notes(result: Mapping[str, Any], paper: bool = False) -> list[str]:
    """What stands below a table of measures, of which ``paper`` adds the paper's."""
    average = (result if "average" in result else next(iter(result["methods"].values())))["average"]
    one_label, ranked = is_of_one_label(average), are_ranked(average)
    fate = "never right" if one_label else "not counted"
    unknown, excluded = result.get("unknown_labels", 0), result.get("excluded_labels", 0)
    propensity = [PROPENSITY_NOTE] if any(measure.startswith("psp_at_") for measure in average) else []
    return [
        *few_notes(result),
        *(["; ".join([RANKED_NOTE, *propensity])] if ranked else []),
        *(
            DUMMY_NOTE.format(row)
            for key, row in DUMMIES.items()
            if ranked and key in result.get("dummy", ())
        ),
        *([MACRO_NOTE] if paper and not ranked else []),
        *(
            [f"{counted(unknown, 'label')} of the test documents unknown to training: {fate}"]
            if unknown
            else []
        ),
        *([f"{counted(excluded, 'label')} of the test documents excluded: {fate}"] if excluded else []),
        *_rolled_up(result),
        *dagger_notes(result),
    ]


def _rolled_up(result: Mapping[str, Any]) -> list[str]:
    """The measures where labels bring all their ancestors, if they were taken."""
    if "rolled_up" not in result:
        return []
    average = result["rolled_up"]["average"]
    names = ("micro_f1", "macro_f1", "micro_k", "macro_k")
    figures = ", ".join(
        f"{MEASURE_TITLES[name]} {f'{average[name]:.3f}'.removeprefix('0')}"
        for name in names
        if name in average
    )
    return [f"rolled up, with all labels above those of a document and those given: {figures}"]


def few_notes(result: Mapping[str, Any]) -> list[str]:
    """What the mark of languages with few test documents means, if a result or any of its methods has one."""
    few = any(
        values["documents"] < MIN_TEST_DOCUMENTS
        for each in (result, *result.get("methods", {}).values())
        for values in each.get("languages", {}).values()
    )
    mark = FEW_MARK.strip()
    return (
        [f"{mark} Fewer than {MIN_TEST_DOCUMENTS} test documents: these metrics are unreliable."]
        if few
        else []
    )


def _marked(language: str, documents: float) -> str:
    """A language, marked where there are few documents to measure on."""
    return f"{language}{FEW_MARK}" if documents < MIN_TEST_DOCUMENTS else language


def _differ(languages: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether an average weighted by documents is another than the plain one."""
    return len({values["documents"] for values in languages.values()}) > 1


def dagger_notes(result: Mapping[str, Any]) -> list[str]:
    """What daggers mean, where there are any."""
    methods = result.get("methods", {}).values()
    return [DAGGERS] if any(dagger(p) for each in methods for p in each["p_value"].values()) else []


def languages_table(result: Mapping[str, Any], paper: bool = False) -> Table:
    """One model: one row per language, and their average; ``paper`` adds the paper's measures."""
    languages = result["languages"]
    measures = shown_measures(result["average"], paper, one_model=True)
    rows = [
        [_marked(language, values["documents"]), f"{values['documents']:,}", *_cells(values, measures)]
        for language, values in languages.items()
    ]
    documents = sum(values["documents"] for values in languages.values())
    average = ["average", f"{documents:,}", *_cells(result["average"], measures)]
    rows.insert(len(rows) if len(rows) <= MAX_ROWS_ABOVE_AVERAGE else 0, average)
    return Table(["language", "documents", *_titles(measures)], rows, _groups(measures, before=1))


def _cells(values: Mapping[str, float], measures: Sequence[str]) -> list[str]:
    return [number(values[measure]) for measure in measures]


def change_table(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    averages: tuple[Mapping[str, float], Mapping[str, float]] | None = None,
    on: Mapping[str, str] | None = None,
) -> Table:
    """Measures by language, before and after; a language that is new has none before.

    ``averages`` are those of the languages that have both, ``on`` what the documents of each are.
    """
    measures = shown_measures(next(iter(after.values())))
    pairs = {tag: (before.get(tag), new) for tag, new in after.items()}
    if averages is not None and averages[0]:
        pairs["average"] = averages
    documents = {tag: f"{after[tag]['documents']:,} {what}" for tag, what in (on or {}).items()}
    rows = [
        [
            name,
            *([documents.get(name, "")] if on else []),
            *(DASH if values is None else number(values[m]) for m in measures for values in pair),
        ]
        for name, pair in pairs.items()
    ]
    groups = [*([("", 1)] if on else []), *((MEASURE_TITLES[measure], 2) for measure in measures)]
    header = ["language", *(["documents"] if on else []), *["before", "after"] * len(measures)]
    return Table(header, rows, groups)


def side_by_side(methods: Mapping[str, Any]) -> Table:
    """Several methods: one row per language, then the averages; for each measure one column per method."""
    languages = next(iter(methods.values()))["languages"]
    values_by_row = {
        **{
            _marked(tag, values["documents"]): [method["languages"][tag] for method in methods.values()]
            for tag, values in languages.items()
        },
        "average": [method["average"] for method in methods.values()],
    }
    measures = shown_measures(_common(methods.values()))
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
    groups = [(MEASURE_TITLES[measure], len(methods)) for measure in measures]
    return Table(header, rows, groups, best)


def weighted(method: Mapping[str, Any]) -> Mapping[str, float]:
    """A method's averages weighted by documents, where there are any."""
    averages: Mapping[str, float] = method.get("weighted") or weighted_mean(method["languages"])
    return averages


def comparison_table(result: Mapping[str, Any], paper: bool = False) -> Table:
    """All methods of a comparison: averages with deviations over trials, daggers, times.

    ``paper`` adds the paper's measures.
    """
    methods = result["methods"]
    dummy, constant = dummy_row(result)
    measures = shown_measures(_common([*methods.values(), {"average": constant}]), paper)
    rows: list[list[str]] = []
    best: list[tuple[int, int]] = []
    for name, method in methods.items():
        best += [
            (len(rows), column)
            for column, measure in enumerate(measures, start=1)
            if len(methods) > 1 and result["best"].get(measure) == name
        ]
        cells = [score_cell(result, name, measure) for measure in measures]
        rows.append([title(name), *cells, f"{method['fit_seconds']:.1f}", f"{method['predict_seconds']:.1f}"])
    rows.append([dummy, *_cells(constant, measures), "", ""])
    header = ["method", *_titles(measures), "fit s", "predict s"]
    return Table(header, rows, _groups(measures), best)


def weighted_table(result: Mapping[str, Any], paper: bool = False) -> Table | None:
    """All methods of a comparison: averages weighted by documents; None where these are the plain ones."""
    methods = result["methods"]
    if not any(_differ(method.get("languages", {})) for method in methods.values()):
        return None
    measures = shown_measures(_common(methods.values()), paper)
    averages = {title(name): weighted(method) for name, method in methods.items()}
    averages |= {
        DUMMIES[key]: values["weighted"] for key, values in result["dummy"].items() if "weighted" in values
    }
    rows = [[name, *_cells(values, measures)] for name, values in averages.items()]
    return Table(["method", *_titles(measures)], rows, _groups(measures))


def score_cell(result: Mapping[str, Any], name: str, measure: str) -> str:
    """A method's average, its deviation over trials and its dagger, where there are such."""
    method = result["methods"][name]
    return deviating(method, measure) + dagger(method["p_value"].get(measure))


def deviating(method: Mapping[str, Any], measure: str) -> str:
    """A method's average and, over several trials, its deviation."""
    text = number(method["average"][measure])
    deviation = method["deviation"]
    return text if deviation is None else f"{text} ± {number(deviation[measure])}"


def dummy_row(result: Mapping[str, Any]) -> tuple[str, Mapping[str, float]]:
    """What a comparison calls the constant that it has, and the measures of that."""
    ((kind, values),) = result["dummy"].items()
    return DUMMIES[kind], values["average"]


Row = dict[str, object]


def evaluation_rows(scores: Mapping[str, Any]) -> dict[str, list[Row]]:
    """The tables that scores hold, under the names of the options that ask for them.

    >>> scores = {"languages": {"it": {"micro_f1": 0.5, "documents": 2}}, "average": {"micro_f1": 0.5}}
    >>> evaluation_rows(scores)["languages"]
    [{'language': 'it', 'micro_f1': 0.5, 'documents': 2}, {'language': 'average', 'micro_f1': 0.5}]
    """
    pairs = {"confused": "taken for", "co_missed": "missed together with"}
    return {
        "languages": [
            {"language": name, **values}
            for name, values in (*scores["languages"].items(), ("average", scores["average"]))
        ],
        "by-label": [_label_row(row) for row in scores.get("by_label", [])],
        "confused": [
            {"kind": kind, "label": a, "other": b, "documents": documents}
            for key, kind in pairs.items()
            for a, b, documents in scores.get(key, [])
        ],
        "errors": [_error_row(error) for error in scores.get("errors", [])],
        "calibration": [dict(each) for each in scores.get("calibration", [])],
    }


def _label_row(row: Mapping[str, Any]) -> Row:
    lowest, highest = row["threshold"] or (None, None)
    return {
        **{
            key: row[key]
            for key in ("label", "support", "n_predicted", "n_correct", "precision", "recall", "f1")
        },
        "lowest_threshold": lowest,
        "highest_threshold": highest,
        "fails_in": ", ".join(each["language"] for each in row["languages"]),
    }


def _error_row(error: Mapping[str, Any]) -> Row:
    row: Row = {
        "id": error["id"],
        "language": error["language"],
        "labels": join_labels(error["labels"]),
        "predicted": join_labels(error["predicted"]),
    }
    for kind, name in (("false_positives", "false_positive"), ("false_negatives", "false_negative")):
        blamed = error.get(kind, [{}])[0]
        words = ", ".join(f"{word} {amount:+.2f}" for word, amount in blamed.get("words", []))
        row |= {
            name: blamed.get("label"),
            f"{name}_probability": blamed.get("probability"),
            f"{name}_because": words,
        }
    return row | {"text": error["text"]}


THRESHOLD_TITLES = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "labels_per_document": "labels per document",
}
MAX_LABELS_SHOWN = 10
ALL_TOGETHER = "all together"


def language_changes(record: Mapping[str, Any]) -> Table:
    """One row for each language and one for all, before and after."""
    rows = {ALL_TOGETHER: record["total"], **record["languages"]}
    return Table(
        ["language", *["before", "after"] * len(THRESHOLD_TITLES)],
        [[name, *_threshold_pairs(row)] for name, row in rows.items()],
        [(title, 2) for title in THRESHOLD_TITLES.values()],
    )


def label_changes(labels: Sequence[Mapping[str, Any]]) -> Table:
    """One row for each of the labels that changed most, before and after."""
    shown = labels[:MAX_LABELS_SHOWN]
    return Table(
        ["label", "documents", *["before", "after"] * (1 + len(THRESHOLD_TITLES))],
        [
            [
                printable(row["label"]),
                f"{row['documents']:,}",
                *(number(row["threshold"][when]) for when in ("before", "after")),
                *_threshold_pairs(row),
            ]
            for row in shown
        ],
        [("", 1), ("threshold", 2), *((title, 2) for title in THRESHOLD_TITLES.values())],
    )


def _threshold_pairs(row: Mapping[str, Mapping[str, float]]) -> list[str]:
    return [
        f"{row[when][name]:.2f}" if name == "labels_per_document" else number(row[when][name])
        for name in THRESHOLD_TITLES
        for when in ("before", "after")
    ]
