"""Results as tables of plain text and of Markdown."""

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from funnelling.evaluation.measures import MEASURES
from funnelling.evaluation.significance import dagger
from funnelling.method.registry import title
from funnelling.wording import counted

MEASURE_TITLES = {
    "micro_f1": "micro-F1",
    "macro_f1": "macro-F1",
    "micro_k": "micro-K",
    "macro_k": "macro-K",
    "macro_f1_present": "macro-F1*",
    "macro_k_present": "macro-K*",
}
DAGGERS = "† not different from the best method (p ≥ .05), †† barely (.001 ≤ p < .05); paired t-test"
PRESENT_NOTE = "* over the labels that occur in the test documents of the language"


class Table(NamedTuple):
    """Cells as text. ``groups`` are titles over several columns each, beginning with the second.

    ``best`` are the positions (row, column) of cells to be marked.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    groups: Sequence[tuple[str, int]] = ()
    best: Collection[tuple[int, int]] = ()


def plain(table: Table) -> str:
    """A table in aligned columns, the first to the left, numbers to the right.

    >>> rows = [["it", ".5", ".6"], ["average", ".5", ".6"]]
    >>> print(plain(Table(["language", "Naive", "Fun"], rows, [("F1", 2)])))
                  F1
    language  Naive  Fun
    --------  -----  ---
    it           .5   .6
    average      .5   .6
    """
    shown = [[_printable(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(map(_width, column)) for column in zip(*shown, strict=True)]
    header, *rows = (_line(row, widths) for row in shown)
    lines = [_groups_line(table.groups, widths), header, "  ".join("-" * width for width in widths), *rows]
    return "\n".join(line.rstrip() for line in (lines if table.groups else lines[1:]))


def markdown(table: Table) -> str:
    """The same table in Markdown, the best cells in bold.

    >>> print(markdown(Table(["language", "Naive"], [["it", ".5"]], [("F1", 1)])))
    | language | F1 Naive |
    | --- | ---: |
    | it | .5 |
    """
    header = full_header(table)
    rule = ["---"] + ["---:"] * (len(header) - 1)
    rows = [
        [f"**{cell}**" if (row, column) in table.best else cell for column, cell in enumerate(cells)]
        for row, cells in enumerate(table.rows)
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])


def full_header(table: Table) -> list[str]:
    """A title for each column, that of its group before it."""
    titles = ["", *(f"{text} " for text, columns in table.groups for _ in range(columns))]
    return [text + cell for text, cell in zip_longest(titles, table.header, fillvalue="")]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padding = [" " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join([cells[0] + padding[0], *map("".join, zip(padding[1:], cells[1:], strict=True))])


def _groups_line(groups: Sequence[tuple[str, int]], widths: Sequence[int]) -> str:
    cells, start = [" " * widths[0]], 1
    for text, columns in groups:
        cells.append(text.center(sum(widths[start : start + columns]) + 2 * (columns - 1)))
        start += columns
    return "  ".join(cells)


def _printable(cell: str) -> str:
    """A cell without the line ends and tabs that a label may hold."""
    return " ".join(cell.split()) if not cell.isprintable() else cell


def _width(text: str) -> int:
    """The columns of a terminal that a text takes: two for wide characters, none for accents of their own."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def number(value: float) -> str:
    """A score as the paper prints it.

    >>> number(0.6214), number(1.0), number(-0.05)
    ('.621', '1.000', '-.050')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.3f}"


def notes(result: Mapping[str, Any]) -> list[str]:
    """What stands below a table of measures."""
    unknown = result.get("unknown_labels", 0)
    dropped = f"{counted(unknown, 'label')} of the test documents unknown to training: not counted"
    return [PRESENT_NOTE, *([dropped] if unknown else []), *dagger_notes(result)]


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
    """One method: a row a language, then the average; all measures."""
    shown = list(MEASURE_TITLES)
    rows = [
        [language, str(values["documents"]), *(number(values[measure]) for measure in shown)]
        for language, values in result["languages"].items()
    ]
    total = sum(values["documents"] for values in result["languages"].values())
    rows.append(["average", str(total), *(number(result["average"][measure]) for measure in shown)])
    return Table(["language", "documents", *MEASURE_TITLES.values()], rows)


def change_table(before: Mapping[str, Any], after: Mapping[str, Any]) -> Table:
    """Measures by language, before and after; a language that is new has none before."""
    rows = []
    for language, new in after.items():
        old = before.get(language)
        cells = [("–" if old is None else number(old[m]), number(new[m])) for m in MEASURES]
        rows.append([language, *(cell for pair in cells for cell in pair)])
    groups = [(MEASURE_TITLES[measure], 2) for measure in MEASURES]
    return Table(["language", *["before", "after"] * len(MEASURES)], rows, groups)


def side_by_side(methods: Mapping[str, Any]) -> Table:
    """Several methods: a row a language, then the average; for each measure a column a method."""
    languages = next(iter(methods.values()))["languages"]
    parts = {
        **{tag: [method["languages"][tag] for method in methods.values()] for tag in languages},
        "average": [method["average"] for method in methods.values()],
    }
    rows: list[list[str]] = []
    best: list[tuple[int, int]] = []
    for part, values in parts.items():
        cells = [part]
        for measure in MEASURES:
            highest = max(value[measure] for value in values)
            for value in values:
                if value[measure] == highest and len(values) > 1:
                    best.append((len(rows), len(cells)))
                cells.append(number(value[measure]))
        rows.append(cells)
    header = ["language", *(title(name) for _ in MEASURES for name in methods)]
    groups = [(MEASURE_TITLES[measure], len(methods)) for measure in MEASURES]
    return Table(header, rows, groups, best)


def comparison_table(result: Mapping[str, Any]) -> Table:
    """All methods of a comparison: averages with deviations over trials, daggers, times."""
    rows: list[list[str]] = []
    best: list[tuple[int, int]] = []
    for name, method in result["methods"].items():
        best += [
            (len(rows), 1 + column)
            for column, measure in enumerate(MEASURES)
            if len(result["methods"]) > 1 and result["significance"][measure]["best"] == name
        ]
        cells = [score_cell(result, name, measure) for measure in MEASURE_TITLES]
        rows.append([title(name), *cells, f"{method['fit_seconds']:.1f}", f"{method['predict_seconds']:.1f}"])
    floor = result["rejector"]["average"]
    rows.append(["(rejects all)", *(number(floor[measure]) for measure in MEASURE_TITLES), "", ""])
    return Table(["method", *MEASURE_TITLES.values(), "fit s", "predict s"], rows, best=best)


def score_cell(result: Mapping[str, Any], name: str, measure: str) -> str:
    """A method's average, its deviation over trials and its dagger, where there are such."""
    method = result["methods"][name]
    text = number(method["average"][measure])
    if method["deviation"] is not None:
        text += f" ± {number(method['deviation'][measure])}"
    tests = result["significance"].get(measure)
    return text if tests is None else text + dagger(tests["p"].get(name))
