"""What goes wrong label by label: tables of labels and errors, figures of confusion and reliability."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.errors import printable
from funnelling.evaluation.labels import Confusion, calibration_error, most_confused
from funnelling.evaluation.registry import are_ranked, is_of_one_label
from funnelling.report.content import Block, Curves, HeatMap, MarkedText, TableBlock, Texts
from funnelling.report.passages import signed
from funnelling.report.tables import DASH, Table, number
from funnelling.text.excerpts import beginning

BY_LABEL = "Labels, the worst first"
CONFUSED = "Labels that are taken for others"
MISSED_TOGETHER = "Labels missed in the same document"
MAX_LANGUAGES_NAMED = 3  # languages that a row names


def mistakes(scores: Mapping[str, Any], most: int | None = None) -> dict[str, Table]:
    """What a model's scores hold of its mistakes: a table under each heading, with so many rows at most.

    Those of training documents that were held out hold nothing of it.
    """
    tables = {
        BY_LABEL: by_label_table(scores.get("by_label", [])[:most]),
        CONFUSED: confused_table(scores.get("confused", [])[:most], is_of_one_label(scores["average"])),
        MISSED_TOGETHER: missed_together_table(scores.get("co_missed", [])[:most]),
    }
    return {heading: table for heading, table in tables.items() if table.rows}


def by_label_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The labels of `measure_labels`, one per row; thresholds only where labels have them."""
    has_thresholds = any(row["threshold"] is not None for row in rows)
    header = ["label", "documents", "predicted", "correct", "precision", "recall", "F1"]
    return Table(
        [*header, *(["threshold"] if has_thresholds else []), "fails in"],
        [
            [
                row["label"],
                *(f"{row[count]:,}" for count in ("support", "n_predicted", "n_correct")),
                *(_share(row[share]) for share in ("precision", "recall", "f1")),
                *([_range(row["threshold"])] if has_thresholds else []),
                _failing(row["languages"]),
            ]
            for row in rows
        ],
    )


def confused_table(pairs: Sequence[Sequence[Any]], one_label: bool) -> Table:
    """Pairs of a label that is true and one that was given instead, one per row."""
    header = ["label", "taken for"] if one_label else ["missed", "given instead"]
    return Table([*header, "documents"], _rows(pairs))


def missed_together_table(pairs: Sequence[Sequence[Any]]) -> Table:
    """Pairs of labels that were missed in the same document, one per row."""
    return Table(["missed", "together with", "documents"], _rows(pairs))


def confusion_matrix(cells: Sequence[Sequence[Any]]) -> Table:
    """All labels by all labels: the true one in rows, the one given in columns, right on the diagonal.

    Columns have the numbers that stand before the labels of the rows, so that many fit beside each other.
    """
    labels = sorted({label for truth, given, _ in cells for label in (truth, given)})
    documents = {(truth, given): count for truth, given, count in cells}
    return Table(
        ["true \\ given", *(str(place) for place in range(1, len(labels) + 1))],
        [
            [f"{place} {truth}", *(_count(documents.get((truth, given), 0)) for given in labels)]
            for place, truth in enumerate(labels, start=1)
        ],
        best=[(place, place + 1) for place in range(len(labels))],
    )


def _rows(pairs: Sequence[Sequence[Any]]) -> list[list[str]]:
    return [[str(a), str(b), f"{documents:,}"] for a, b, documents in pairs]


def _count(documents: int) -> str:
    return f"{documents:,}" if documents else "·"


def _share(value: float | None) -> str:
    return DASH if value is None else number(value)


def _range(limits: Sequence[float] | None) -> str:
    if limits is None:
        return DASH
    low, high = map(number, limits)
    return low if low == high else f"{low}–{high}"


def _failing(languages: Sequence[Mapping[str, Any]]) -> str:
    """The worst languages of a label with its F1 there."""
    shown = [f"{each['language']} {number(each['f1'])}" for each in languages[:MAX_LANGUAGES_NAMED]]
    return ", ".join([*shown, "…"] if len(languages) > MAX_LANGUAGES_NAMED else shown)


SIDES = {  # of errors: what they are called, and which words are named
    "false_positives": ("wrong", "for it"),
    "false_negatives": ("missed", "against it"),
}
NOTHING_KNOWN = "the model knows nothing in this text"
ERRORS_NOTE = (
    "The documents that the model was surest about, and wrong: wrong labels with a high probability take "
    "turns with missed labels with a low one."
)
MARKS_NOTE = "The marks show what contributed to the wrong label or, where there is none, to the missed one."


def errors_table(errors: Sequence[Mapping[str, Any]]) -> Table:
    """One document per row, with all that is known of its error."""
    return Table(
        [
            "document",
            "language",
            "true",
            "predicted",
            "wrong",
            "probability of wrong",
            "words for wrong",
            "missed",
            "probability of missed",
            "words against missed",
            "text",
        ],
        [
            [
                error["id"],
                error["language"],
                _listed(error["labels"]),
                _listed(error["predicted"]),
                *_cells(error, "false_positives"),
                *_cells(error, "false_negatives"),
                error["text"],
            ]
            for error in errors
        ],
    )


def errors_listing(errors: Sequence[Mapping[str, Any]], width: int) -> str:
    """The same for a terminal: below each document what is wrong with it and why, in lines of some width.

    >>> blamed = {"label": "sport", "probability": 0.9, "words": [["match", 0.5]], "spans": []}
    >>> document = {"id": "a", "language": "en", "labels": ["fire"], "predicted": ["sport"]}
    >>> print(errors_listing([{**document, "false_positives": [blamed], "text": "A match"}], 60))
     1. a (en)
        wrong      sport .900; for it: match +0.50
        true       fire
        predicted  sport
        text       A match
    """
    lines = []
    for place, error in enumerate(errors, start=1):
        lines.append(printable(f"{place:2}. {error['id']} ({error['language']})"))
        facts = {name: _blamed(error, kind) for kind, (name, _) in SIDES.items() if kind in error}
        facts |= {"true": _listed(error["labels"]), "predicted": _listed(error["predicted"])}
        lines += _wrapped({**facts, "text": error["text"]}, 11, width)
    return "\n".join(lines)


def audit_listing(rows: Sequence[Mapping[str, Any]], width: int) -> str:
    """For a terminal: below each document of an audit its doubtful label, and why, in lines of some width.

    >>> row = {"id": "a", "language": "en", "text": "A match", "labels": ["fire"], "issue": "swapped"}
    >>> row |= {"questioned_label": "fire", "suggested_label": "sport", "probability": 0.1, "words_for": []}
    >>> row |= {"words_against": ["match"], "labels_against": [], "duplicates": [], "issue_score": 0.9}
    >>> print(audit_listing([row], 60))
     1. a (en), issue score .900
        swapped: fire .100, suggested sport
        labels   fire
        against  match
        text     A match
    """
    lines = []
    for place, row in enumerate(rows, start=1):
        chance = "" if row["probability"] is None else f" {number(row['probability'])}"
        named = (row["questioned_label"], row["suggested_label"])
        first, *others = [label for label in named if label is not None] or [DASH]
        doubt = f"{row['issue']}: " + ", suggested ".join([f"{first}{chance}", *others])
        score = number(row["issue_score"])
        lines.append(printable(f"{place:2}. {row['id']} ({row['language']}), issue score {score}"))
        lines.append(printable(f"    {doubt}"))
        facts = {
            "labels": ", ".join(row["labels"]) or "none",
            "for": ", ".join(row["words_for"]),
            "against": ", ".join([*row["words_against"], *row["labels_against"]]),
            "beside": ", ".join(row["duplicates"]),
            "text": beginning(row.get("text", row.get("beginning", ""))),
        }
        lines += _wrapped({name: value for name, value in facts.items() if value}, 9, width)
    return "\n".join(lines)


def _wrapped(facts: Mapping[str, str], column: int, width: int) -> list[str]:
    """Names, and their values from a column on, in lines of some width."""
    return [
        textwrap.fill(
            " ".join(printable(value).split()),
            width,
            initial_indent=f"    {name:<{column}}",
            subsequent_indent=" " * (4 + column),
        ).rstrip()
        for name, value in facts.items()
    ]


def error_texts(errors: Sequence[Mapping[str, Any]]) -> Texts:
    """The texts of errors, each with what is wrong, and with marks where it went wrong."""
    has_passages = any(_first(error)["spans"] for error in errors)
    return Texts(
        "errors",
        "The worst errors",
        [_marked_text(error) for error in errors],
        errors_table(errors),
        [ERRORS_NOTE, *([MARKS_NOTE] if has_passages else [])],
    )


def _marked_text(error: Mapping[str, Any]) -> MarkedText:
    facts = {name.capitalize(): _blamed(error, kind) for kind, (name, _) in SIDES.items() if kind in error}
    facts |= {"True labels": _listed(error["labels"]), "Predicted labels": _listed(error["predicted"])}
    return MarkedText(
        f"{error['id']} ({error['language']})",
        error["language"],
        facts,
        error["text"],
        _first(error)["spans"],
    )


def _first(error: Mapping[str, Any]) -> Mapping[str, Any]:
    """The label whose passages are marked."""
    first: Mapping[str, Any] = next(error[kind][0] for kind in SIDES if kind in error)
    return first


def _blamed(error: Mapping[str, Any], kind: str) -> str:
    """A label that is wrong, or missed, its probability and the reason."""
    (blamed,) = error[kind]
    words = _words(blamed["words"])
    reason = f"; {SIDES[kind][1]}: {words}" if words else ""
    if "abstained" in error:
        reason = f"; {NOTHING_KNOWN}"
    return f"{blamed['label']} {number(blamed['probability'])}{reason}"


def _cells(error: Mapping[str, Any], kind: str) -> list[str]:
    if kind not in error:
        return [DASH, "", ""]
    (blamed,) = error[kind]
    return [blamed["label"], number(blamed["probability"]), _words(blamed["words"])]


def _words(words: Sequence[Sequence[Any]]) -> str:
    shown = [(word, signed(contribution)) for word, contribution in words]
    return ", ".join(f"{word} {amount}" for word, amount in shown if amount != signed(0))


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(labels) or DASH


MAX_MATRIX_LABELS = 25  # that a matrix shows; of more, the pairs that are most confused are listed
MAX_PAIRS_SHOWN = 30


def confusion_blocks(cells: Confusion, name: str) -> list[Block]:
    """Which labels a method, or a model, of this name takes for which; it gives each document one."""
    wrong = most_confused(cells, MAX_PAIRS_SHOWN)
    labels = sorted({label for cell in cells for label in cell[:2]})
    heading = f"Which labels {name} takes for which"
    if len(labels) > MAX_MATRIX_LABELS:
        notes = ["The pairs of labels with the most documents."]
        return [TableBlock("confusion", heading, confused_table(wrong, one_label=True), notes)]
    documents = {(truth, given): count for truth, given, count in cells}
    most = f"Most: {wrong[0][2]:,} of {wrong[0][0]} taken for {wrong[0][1]}." if wrong else "None is wrong."
    return [
        HeatMap(
            "confusion",
            heading,
            f"Test documents of all languages: the label that is true (rows) and the one that {name} gives "
            f"(columns); right on the diagonal. {most}",
            "true",
            "given",
            labels,
            labels,
            [[documents.get((truth, given), 0) for given in labels] for truth in labels],
        )
    ]


def reliability_table(bins: Sequence[Sequence[float]]) -> Table:
    """The labels of all documents by their probability, how many are correct, and their mean probability."""
    rows = [
        [
            f"{place / len(bins):.1f} to {(place + 1) / len(bins):.1f}",
            *(f"{number:,.0f}" for number in (pairs, correct)),
            *(_share(number / pairs) for number in (expected, correct)),
        ]
        for place, (pairs, expected, correct) in enumerate(bins)
        if pairs
    ]
    return Table(["probability", "labels", "correct", "mean probability", "share correct"], rows)


def reliability_curves(bins: Mapping[str, Sequence[Sequence[float]]]) -> Curves:
    """How far the probabilities of each series can be trusted.

    ``bins`` are rows of the number of pairs, their mean probability and the share of those that are right.
    """
    errors = {
        name: calibration_error([(pairs, pairs * x, pairs * y) for pairs, x, y in rows])
        for name, rows in bins.items()
    }
    return Curves(
        "reliability",
        "Are the probabilities right?",
        "Among labels given a probability, the share that is right; on the diagonal the two are equal. "
        "Mean distance from it over all pairs of document and label: "
        f"{', '.join(f'{name} {number(error)}' for name, error in errors.items())}.",
        "probability given",
        "share that is right",
        {"": {name: [(x, y) for _, x, y in rows] for name, rows in bins.items()}},
        diagonal=True,
    )


def most_often_missed(result: Mapping[str, Any]) -> str:
    """The labels that were not assigned to most documents which have them.

    >>> most_often_missed({"most_missed": [{"label": "cat", "n_missed": 12, "support": 25}]})
    'Most often missed: cat (12 of 25).'
    """
    missed = ", ".join(
        f"{printable(row['label'])} ({row['n_missed']:,} of {row['support']:,})"
        for row in result.get("most_missed", ())
    )
    return f"Most often missed: {missed}." if missed else ""


def calibration(result: Mapping[str, Any]) -> str:
    """How far the probabilities of a model can be trusted; nothing where that is not known.

    Of many labels nearly all are as improbable as they are wrong, and the calibration error says nothing.
    """
    if "calibration_error" not in result or are_ranked(result["average"]):
        return ""
    return f"Calibration error: {number(result['calibration_error'])}."


def calibration_lines(result: Mapping[str, Any]) -> list[str]:
    """How many of the labels assigned at some probability are correct, a line for each bin.

    >>> calibration_lines({"calibration": [{"from": 0.8, "to": 0.9, "n_predicted": 258, "n_correct": 214}]})
    ['Labels assigned at .8 to .9: .83 were correct (214 of 258).']
    """
    lines = []
    for each in result.get("calibration", ()):
        low, high = (f"{bound:.1f}".removeprefix("0") for bound in (each["from"], each["to"]))
        share = f"{each['n_correct'] / each['n_predicted']:.2f}".removeprefix("0")
        counts = f"{each['n_correct']:,} of {each['n_predicted']:,}"
        lines.append(f"Labels assigned at {low} to {high}: {share} were correct ({counts}).")
    return lines
